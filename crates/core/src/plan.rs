//! The mathematics of one axis as a tree of rewrites, printed and parsed as an s-expression. A plan knows no
//! memory and no threads.

mod evaluate;
mod text;
mod twins;

use num_complex::Complex;

use evaluate::{bluestein, direct, prime_factor, rader, split};
pub use text::ParsePlanError;
pub(crate) use twins::Twins;

/// How a transform of one length is computed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Plan {
    /// Stages on the chip, one codelet each: Cooley-Tukey with the given radices.
    MixedRadix(Vec<u32>),
    /// Several passes over memory: the length is the product of the parts' lengths; twiddles between them
    /// (four-step, Gentleman and Sande 1966).
    Split(Vec<Plan>),
    /// Several passes that need no memory beside the data: the length as digits that read the same both ways, each of
    /// which changes places with its twin in one of the passes (see [`crate::solve`]).
    InPlace {
        /// A pass each.
        parts: Vec<Plan>,
        /// For each pair of twins, the outermost first, the factor that changes places in the pass of the earlier
        /// one; the rest does in the pass of the later one.
        early: Vec<u64>,
    },
    /// A convolution with a chirp through transforms of length `inner.len()` (Bluestein 1970).
    Bluestein {
        /// Length.
        n: u64,
        /// The transform that convolves, at least [`least_padded`] long; or at least `n`, of the even frequencies of twice as many
        /// points and of the odd ones.
        inner: Box<Plan>,
    },
    /// A prime length as a cyclic convolution of one point less (Rader, *Discrete Fourier transforms when the
    /// number of data samples is prime*, 1968).
    Rader {
        /// The prime.
        p: u64,
        /// The transform that convolves, of length `p - 1`; or of half as many points, of the even frequencies and of the odd ones.
        inner: Box<Plan>,
    },
    /// Coprime parts as the dimensions of one transform, without twiddles between them (Good 1958, Thomas 1963).
    PrimeFactor(Vec<Plan>),
    /// One codelet of points that stand far apart, twiddles, and the transforms of as many rows, which convolve
    /// (decimation in frequency, Gentleman and Sande 1966): the codelet runs on what comes from memory.
    Decimated {
        /// Points of the codelet.
        radix: u32,
        /// The transform of each row.
        rows: Box<Plan>,
    },
}

/// Points of the shortest convolution with a chirp of length `n`: it takes the chirp at `1 - n` to `n - 1`, but at both
/// ends the chirp is the same, so that they may fall on one point.
pub const fn least_padded(n: u64) -> u64 {
    n.saturating_mul(2).saturating_sub(2)
}

impl Plan {
    /// Length of the transform.
    pub fn len(&self) -> u64 {
        match self {
            Self::MixedRadix(radices) => radices.iter().map(|&r| u64::from(r)).product(),
            Self::Split(parts) | Self::PrimeFactor(parts) | Self::InPlace { parts, .. } => {
                parts.iter().map(Self::len).product()
            }
            Self::Bluestein { n, .. } => *n,
            Self::Rader { p, .. } => *p,
            Self::Decimated { radix, rows } => u64::from(*radix) * rows.len(),
        }
    }

    /// Whether the transform is of no points: never.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Passes over memory that it takes when each on-chip part is one.
    pub fn passes(&self) -> u64 {
        match self {
            Self::MixedRadix(_) | Self::Rader { .. } | Self::PrimeFactor(_) | Self::Decimated { .. } => 1,
            Self::Split(parts) | Self::InPlace { parts, .. } => parts.iter().map(Self::passes).sum(),
            Self::Bluestein { inner, .. } => match **inner {
                Self::MixedRadix(_) => 1,
                _ => 2 * inner.passes() - 1,
            },
        }
    }

    /// Whether a pass of its own puts frequencies in order: a last part of one point.
    pub(crate) fn puts_in_order(&self) -> bool {
        matches!(self, Self::Split(parts) if parts.last().is_some_and(|last| last.len() == 1))
    }

    /// Whether it is one convolution whose stages are on the chip.
    pub(crate) fn convolves_on_chip(&self) -> bool {
        match self {
            Self::Bluestein { inner, .. } | Self::Rader { inner, .. } => {
                matches!(**inner, Self::MixedRadix(_))
            }
            _ => false,
        }
    }

    /// The transform of `x`, evaluated by the tree's own identities with plain sums as leaves: checks the
    /// mathematics without a device. Cost O(n sum of radices).
    pub fn evaluate(&self, x: &[Complex<f64>]) -> Vec<Complex<f64>> {
        match self {
            Self::MixedRadix(radices) => {
                split(x, radices.len(), &|i, y| direct(y, radices[i]), &|i| u64::from(radices[i]))
            }
            Self::Split(parts) | Self::InPlace { parts, .. } => {
                split(x, parts.len(), &|i, y| parts[i].evaluate(y), &|i| parts[i].len())
            }
            Self::Bluestein { n, inner } => bluestein(x, *n, inner),
            Self::Rader { p, inner } => rader(x, *p, inner),
            Self::PrimeFactor(parts) => prime_factor(x, parts),
            Self::Decimated { radix, rows } => {
                split(x, 2, &|i, y| if i == 0 { direct(y, *radix) } else { rows.evaluate(y) }, &|i| {
                    if i == 0 { u64::from(*radix) } else { rows.len() }
                })
            }
        }
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
        let short = "(bluestein 37 (split (mixed-radix 8) (mixed-radix 8)))".parse::<Plan>();
        assert_eq!(short, Err(ParsePlanError::TooShort { n: 37, inner: 64, least: 72 }));
        // On the chip halves of what it is padded to are enough.
        let short = "(bluestein 37 (mixed-radix 6 6))".parse::<Plan>();
        assert_eq!(short, Err(ParsePlanError::TooShort { n: 37, inner: 36, least: 37 }));
        let odd = "(rader 37 (mixed-radix 7 5))".parse::<Plan>();
        assert_eq!(odd, Err(ParsePlanError::NotRader { p: 37, inner: 35 }));
        // Twice as many points are more than a number holds.
        let long = "(rader 37 (mixed-radix 4294967295 4294967295))".parse::<Plan>();
        assert!(matches!(long, Err(ParsePlanError::NotRader { p: 37, .. })), "{long:?}");
        let shared = "(prime-factor (mixed-radix 6) (mixed-radix 9))".parse::<Plan>();
        assert_eq!(shared, Err(ParsePlanError::NotCoprime { a: 6, b: 9 }));
        let long = "(split (mixed-radix 8) (mixed-radix 4294967295 4294967295 4294967295))".parse::<Plan>();
        assert_eq!(long, Err(ParsePlanError::TooLong { at: 23 }));
        let twice = "(prime-factor (mixed-radix 4294967295 4294967295) (mixed-radix 8))".parse::<Plan>();
        assert_eq!(twice, Err(ParsePlanError::TooLong { at: 0 }));
        let deep = "(split ".repeat(100_000).parse::<Plan>();
        assert!(matches!(deep, Err(ParsePlanError::TooDeep { .. })), "{deep:?}");
    }
}
