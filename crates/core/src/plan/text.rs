//! Plans as text: s-expressions, printed and parsed.

use std::fmt;

use super::{Plan, Twins};
use crate::math::factor;

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MixedRadix(radices) => {
                write!(f, "(mixed-radix")?;
                radices.iter().try_for_each(|r| write!(f, " {r}"))?;
            }
            Self::Split(parts) => {
                write!(f, "(split")?;
                parts.iter().try_for_each(|part| write!(f, " {part}"))?;
            }
            Self::InPlace { parts, early } => {
                write!(f, "(in-place")?;
                early.iter().try_for_each(|factor| write!(f, " {factor}"))?;
                parts.iter().try_for_each(|part| write!(f, " {part}"))?;
            }
            Self::PrimeFactor(parts) => {
                write!(f, "(prime-factor")?;
                parts.iter().try_for_each(|part| write!(f, " {part}"))?;
            }
            Self::Decimated { radix, rows } => write!(f, "(decimated {radix} {rows}")?,
            Self::Bluestein { n, inner } => write!(f, "(bluestein {n} {inner}")?,
            Self::Rader { p, inner } => write!(f, "(rader {p} {inner}")?,
        }
        write!(f, ")")
    }
}

/// Why a text is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParsePlanError {
    /// Something else stands where a piece of a plan was expected.
    #[error(
        "expected {expected} at byte {at} of the plan, got {got:?}; a plan reads like (split (mixed-radix 16 16) (mixed-radix 16))"
    )]
    Unexpected {
        /// What would have been right.
        expected: &'static str,
        /// Where.
        at: usize,
        /// What stood there.
        got: String,
    },
    /// A convolution is too short for its transform.
    #[error("bluestein over {inner} points cannot convolve {n}; at least {least} are needed")]
    TooShort {
        /// Length of the transform.
        n: u64,
        /// Length of the convolution.
        inner: u64,
        /// Least length that works.
        least: u64,
    },
    /// Rader's method asks for a prime and a transform of one point less, or of half of that.
    #[error(
        "rader {p} over {inner} points: it takes a prime and a transform of one point less, or of half of that"
    )]
    NotRader {
        /// What should be the prime.
        p: u64,
        /// Length of the transform.
        inner: u64,
    },
    /// Digits that do not read the same both ways.
    #[error(
        "in-place passes of {lengths:?} points, of which {early:?} move early, have no twins; digits read the same \
         both ways, as in 8 x 5 x 8"
    )]
    NotTwins {
        /// Points of each pass.
        lengths: Vec<u64>,
        /// Factors that move early.
        early: Vec<u64>,
    },
    /// Parts of a prime-factor plan share a factor.
    #[error("the parts {a} and {b} share a factor; a prime-factor plan takes coprime parts")]
    NotCoprime {
        /// Length of one part.
        a: u64,
        /// Length of the other.
        b: u64,
    },
    /// A codelet before rows that there is none of, or whose rows do not convolve.
    #[error(
        "at byte {at}: decimated {radix} takes the points of a codelet and a plan of rows that is one convolution, \
         as in (decimated 10 (rader 131 (mixed-radix 26 5)))"
    )]
    NotDecimated {
        /// Where.
        at: usize,
        /// Points of the codelet.
        radix: u32,
    },
    /// A length beyond what can be counted.
    #[error("the plan from byte {at} on has more points than 64 bits count")]
    TooLong {
        /// Where it begins.
        at: usize,
    },
    /// Plans within plans within plans.
    #[error("at byte {at} the plan is more than {most} deep; no solver makes such plans")]
    TooDeep {
        /// Where.
        at: usize,
        /// How deep a plan may be.
        most: u32,
    },
}

/// Plans within one another at most: text from outside must not use up the stack.
const MOST_DEEP: u32 = 32;

impl std::str::FromStr for Plan {
    type Err = ParsePlanError;

    fn from_str(text: &str) -> Result<Self, ParsePlanError> {
        let mut parser = Parser { text, at: 0, deep: 0 };
        let plan = parser.plan()?;
        match parser.peek() {
            "" => Ok(plan),
            _ => Err(parser.unexpected("the end")),
        }
    }
}

/// Reads a plan token by token: parentheses and words.
struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// Plans that are open.
    deep: u32,
}

/// A plan's length, if 64 bits hold it; its parts are known to have one.
fn length(plan: &Plan) -> Option<u64> {
    match plan {
        Plan::MixedRadix(radices) => radices.iter().map(|&r| u64::from(r)).try_fold(1, u64::checked_mul),
        Plan::Split(parts) | Plan::PrimeFactor(parts) | Plan::InPlace { parts, .. } => {
            parts.iter().map(Plan::len).try_fold(1, u64::checked_mul)
        }
        Plan::Bluestein { n, .. } | Plan::Rader { p: n, .. } => Some(*n),
        Plan::Decimated { radix, rows } => u64::from(*radix).checked_mul(rows.len()),
    }
}

impl<'a> Parser<'a> {
    fn peek(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        let len = match trimmed.chars().next() {
            Some('(' | ')') => 1,
            _ => trimmed.find(|c: char| c.is_whitespace() || c == '(' || c == ')').unwrap_or(trimmed.len()),
        };
        &trimmed[..len]
    }

    fn unexpected(&mut self, expected: &'static str) -> ParsePlanError {
        let got = self.peek().to_string();
        ParsePlanError::Unexpected { expected, at: self.at, got }
    }

    fn take(&mut self, token: &str, expected: &'static str) -> Result<(), ParsePlanError> {
        if self.peek() != token {
            return Err(self.unexpected(expected));
        }
        self.at += token.len();
        Ok(())
    }

    /// A number of at least 2.
    fn number<T: std::str::FromStr + PartialOrd + From<u8>>(&mut self) -> Result<T, ParsePlanError> {
        self.number_from(2, "a number of at least 2")
    }

    fn number_from<T: std::str::FromStr + PartialOrd + From<u8>>(
        &mut self,
        least: u8,
        expected: &'static str,
    ) -> Result<T, ParsePlanError> {
        let token = self.peek();
        match token.parse::<T>() {
            Ok(n) if n >= T::from(least) => {
                self.at += token.len();
                Ok(n)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    fn plans(&mut self) -> Result<Vec<Plan>, ParsePlanError> {
        let mut parts = Vec::new();
        while self.peek() == "(" {
            parts.push(self.plan()?);
        }
        Ok(parts)
    }

    fn plan(&mut self) -> Result<Plan, ParsePlanError> {
        self.peek();
        let at = self.at;
        if self.deep == MOST_DEEP {
            return Err(ParsePlanError::TooDeep { at, most: MOST_DEEP });
        }
        self.deep += 1;
        let plan = self.form()?;
        self.deep -= 1;
        length(&plan).map(|_| plan).ok_or(ParsePlanError::TooLong { at })
    }

    fn form(&mut self) -> Result<Plan, ParsePlanError> {
        self.take("(", "\"(\"")?;
        let word = self.peek();
        let plan = match word {
            "mixed-radix" => {
                self.at += word.len();
                let mut radices = Vec::new();
                while self.peek() != ")" {
                    radices.push(self.number()?);
                }
                Plan::MixedRadix(radices)
            }
            "split" => {
                self.at += word.len();
                Plan::Split(self.plans()?)
            }
            "in-place" => {
                self.at += word.len();
                let mut early = Vec::new();
                while self.peek() != "(" {
                    early.push(self.number_from(1, "a number of at least 1, or \"(\"")?);
                }
                let parts = self.plans()?;
                let lengths: Vec<u64> = parts.iter().map(Plan::len).collect();
                if Twins::new(&lengths, &early).is_none() {
                    return Err(ParsePlanError::NotTwins { lengths, early });
                }
                Plan::InPlace { parts, early }
            }
            "prime-factor" => {
                self.at += word.len();
                let parts = self.plans()?;
                let lengths: Vec<u64> = parts.iter().map(Plan::len).collect();
                for (i, &a) in lengths.iter().enumerate() {
                    if let Some(&b) = lengths[..i].iter().find(|&&b| factor::gcd(a, b) > 1) {
                        return Err(ParsePlanError::NotCoprime { a: b, b: a });
                    }
                }
                Plan::PrimeFactor(parts)
            }
            "decimated" => {
                self.at += word.len();
                let at = self.at;
                let (radix, rows) = (self.number::<u32>()?, self.plan()?);
                if !crate::codelet::has_codelet(radix.into()) || !rows.convolves_on_chip() {
                    return Err(ParsePlanError::NotDecimated { at, radix });
                }
                Plan::Decimated { radix, rows: Box::new(rows) }
            }
            "rader" => {
                self.at += word.len();
                let p = self.number::<u64>()?;
                let inner = Box::new(self.plan()?);
                if !factor::is_prime(p) || ![p - 1, (p - 1) / 2].contains(&inner.len()) {
                    return Err(ParsePlanError::NotRader { p, inner: inner.len() });
                }
                Plan::Rader { p, inner }
            }
            "bluestein" => {
                self.at += word.len();
                let n = self.number::<u64>()?;
                let inner = Box::new(self.plan()?);
                // What fits on the chip may have half the points, and be transformed twice.
                let on_chip = matches!(*inner, Plan::MixedRadix(_));
                let least = if on_chip { n } else { super::least_padded(n) };
                if inner.len() < least {
                    return Err(ParsePlanError::TooShort { n, inner: inner.len(), least });
                }
                Plan::Bluestein { n, inner }
            }
            _ => {
                return Err(self.unexpected(
                    "mixed-radix, split, in-place, bluestein, rader, prime-factor or decimated",
                ));
            }
        };
        self.take(")", "\")\"")?;
        Ok(plan)
    }
}
