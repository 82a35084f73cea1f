//! The mathematics of one axis as a tree of rewrites, printed and parsed as an s-expression. A plan knows no
//! memory and no threads.

use std::fmt;

use num_complex::Complex;

use crate::math::twiddle;

/// How a transform of one length is computed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Plan {
    /// Stages on the chip, one codelet each: Cooley-Tukey with the given radices.
    MixedRadix(Vec<u32>),
    /// Several passes over memory: the length is the product of the parts' lengths; twiddles between them
    /// (four-step, Gentleman and Sande 1966).
    Split(Vec<Plan>),
    /// A convolution with a chirp through transforms of length `inner.len()` (Bluestein 1970).
    Bluestein {
        /// Length.
        n: u64,
        /// The transform that convolves, at least `2 n - 1` long.
        inner: Box<Plan>,
    },
}

impl Plan {
    /// Length of the transform.
    pub fn len(&self) -> u64 {
        match self {
            Self::MixedRadix(radices) => radices.iter().map(|&r| u64::from(r)).product(),
            Self::Split(parts) => parts.iter().map(Self::len).product(),
            Self::Bluestein { n, .. } => *n,
        }
    }

    /// Whether the transform is of no points: never.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Passes over memory that it takes when each on-chip part is one.
    pub fn passes(&self) -> u64 {
        match self {
            Self::MixedRadix(_) => 1,
            Self::Split(parts) => parts.iter().map(Self::passes).sum(),
            Self::Bluestein { inner, .. } => match **inner {
                Self::MixedRadix(_) => 1,
                _ => 2 * inner.passes(),
            },
        }
    }

    /// The transform of `x`, evaluated by the tree's own identities with plain sums as leaves: checks the
    /// mathematics without a device. Cost O(n sum of radices).
    pub fn evaluate(&self, x: &[Complex<f64>]) -> Vec<Complex<f64>> {
        match self {
            Self::MixedRadix(radices) => {
                split_evaluate(x, radices.len(), &|i, y| direct(y, radices[i]), &|i| u64::from(radices[i]))
            }
            Self::Split(parts) => {
                split_evaluate(x, parts.len(), &|i, y| parts[i].evaluate(y), &|i| parts[i].len())
            }
            Self::Bluestein { n, inner } => bluestein_evaluate(x, *n, inner),
        }
    }
}

fn direct(x: &[Complex<f64>], radix: u32) -> Vec<Complex<f64>> {
    let n = u64::from(radix);
    (0..n).map(|k| x.iter().zip(0..).map(|(&x, j)| x * root(j * k, n)).sum()).collect()
}

fn root(k: u64, n: u64) -> Complex<f64> {
    let (re, im) = twiddle::root(k % n, n);
    Complex::new(re, im)
}

/// Transforms the data by the part of that number.
type LeafTransform<'a> = dyn Fn(usize, &[Complex<f64>]) -> Vec<Complex<f64>> + 'a;

/// One part, twiddles, the rest: the recursion of Cooley and Tukey with digits as the lowering cuts them.
fn split_evaluate(
    x: &[Complex<f64>],
    parts: usize,
    leaf: &LeafTransform<'_>,
    len: &dyn Fn(usize) -> u64,
) -> Vec<Complex<f64>> {
    fn rest(
        x: &[Complex<f64>],
        part: usize,
        parts: usize,
        leaf: &LeafTransform<'_>,
        len: &dyn Fn(usize) -> u64,
    ) -> Vec<Complex<f64>> {
        if part == parts || x.len() == 1 {
            return x.to_vec();
        }
        let n1 = len(part) as usize;
        let n2 = x.len() / n1;
        let mut rows = vec![Vec::with_capacity(n2); n1];
        for m in 0..n2 {
            let column: Vec<_> = (0..n1).map(|i| x[i * n2 + m]).collect();
            for (k, value) in leaf(part, &column).into_iter().enumerate() {
                rows[k].push(value * root((k * m) as u64, x.len() as u64));
            }
        }
        let mut out = vec![Complex::default(); x.len()];
        for (k1, row) in rows.iter().enumerate() {
            for (k2, value) in rest(row, part + 1, parts, leaf, len).into_iter().enumerate() {
                out[k1 + n1 * k2] = value;
            }
        }
        out
    }
    rest(x, 0, parts, leaf, len)
}

fn bluestein_evaluate(x: &[Complex<f64>], n: u64, inner: &Plan) -> Vec<Complex<f64>> {
    let m = inner.len();
    let chirp: Vec<Complex<f64>> = (0..n).map(|k| root(twiddle::chirp_index(k, n), 2 * n)).collect();
    let mut padded = vec![Complex::default(); m as usize];
    let mut filter = padded.clone();
    for (k, &c) in chirp.iter().enumerate() {
        padded[k] = x[k] * c;
        filter[k] = c.conj();
        filter[(m as usize - k) % m as usize] = c.conj();
    }
    let product: Vec<_> =
        inner.evaluate(&padded).iter().zip(inner.evaluate(&filter)).map(|(a, b)| (a * b).conj()).collect();
    inner.evaluate(&product).iter().zip(chirp).map(|(y, c)| y.conj() * c / m as f64).collect()
}

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
            Self::Bluestein { n, inner } => write!(f, "(bluestein {n} {inner}")?,
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
}

impl std::str::FromStr for Plan {
    type Err = ParsePlanError;

    fn from_str(text: &str) -> Result<Self, ParsePlanError> {
        let mut parser = Parser { text, at: 0 };
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
        let token = self.peek();
        match token.parse::<T>() {
            Ok(n) if n >= T::from(2) => {
                self.at += token.len();
                Ok(n)
            }
            _ => Err(self.unexpected("a number of at least 2")),
        }
    }

    fn plan(&mut self) -> Result<Plan, ParsePlanError> {
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
                let mut parts = Vec::new();
                while self.peek() == "(" {
                    parts.push(self.plan()?);
                }
                Plan::Split(parts)
            }
            "bluestein" => {
                self.at += word.len();
                let n = self.number::<u64>()?;
                let inner = Box::new(self.plan()?);
                let least = n.saturating_mul(2) - 1;
                if inner.len() < least {
                    return Err(ParsePlanError::TooShort { n, inner: inner.len(), least });
                }
                Plan::Bluestein { n, inner }
            }
            _ => return Err(self.unexpected("mixed-radix, split or bluestein")),
        };
        self.take(")", "\")\"")?;
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planner::Planner;
    use crate::problem::Precision;
    use crate::target::Limits;
    use rand::Rng;

    fn tight() -> Limits {
        Limits { shared_bytes: 2048, ..Limits::h200() }
    }

    #[test]
    fn every_planned_tree_computes_the_transform() {
        let mut rng = rand::rng();
        for limits in [Limits::h200(), tight()] {
            let planner = Planner::new(&limits, Precision::F32);
            for n in (1..200).chain([240, 251, 256, 360, 521, 600, 1024, 1111]) {
                let plan = planner.best(n).expect("every length has a plan");
                assert_eq!(plan.len(), n);
                let x: Vec<Complex<f64>> = (0..n)
                    .map(|_| Complex::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0)))
                    .collect();
                let got = plan.evaluate(&x);
                let want = direct(&x, n as u32);
                let error: f64 = got.iter().zip(&want).map(|(a, b)| (a - b).norm_sqr()).sum();
                let size: f64 = want.iter().map(Complex::norm_sqr).sum();
                assert!(error <= 1e-26 * size, "{plan}: {}", (error / size).sqrt());
            }
        }
    }

    #[test]
    fn plans_read_back_as_written() {
        for limits in [Limits::h200(), tight(), Limits::webgpu_min()] {
            let planner = Planner::new(&limits, Precision::F32);
            for n in [1, 2, 97, 1000, 4099, 65536, 100_003, 1 << 22] {
                let plan = planner.best(n).expect("every length has a plan");
                assert_eq!(plan.to_string().parse(), Ok(plan));
            }
        }
    }

    #[test]
    fn nonsense_is_refused_where_it_stands() {
        let at = |text: &str| match text.parse::<Plan>() {
            Err(ParsePlanError::Unexpected { at, .. }) => at,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(at("mixed-radix 4"), 0);
        assert_eq!(at("(mixed-radix 4 x)"), 15);
        assert_eq!(at("(mixed-radix 1)"), 13);
        assert_eq!(at("(mixed-radix 4) 5"), 16);
        assert_eq!(at("(winograd 4)"), 1);
        assert_eq!(at("(split (mixed-radix 4)"), 22);
        let short = "(bluestein 37 (mixed-radix 8 8))".parse::<Plan>();
        assert_eq!(short, Err(ParsePlanError::TooShort { n: 37, inner: 64, least: 73 }));
    }
}
