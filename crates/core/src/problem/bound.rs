//! How large a rounding error may be, from the problem alone.
//!
//! Each stage of a fast transform rounds anew, and since it keeps lengths, what it adds is as large, beside the data, at
//! its output as at the end. Such errors have no common direction: their squares add up, and the relative error in the
//! Euclidean norm grows as the root of the number of stages, `epsilon sqrt(log2 n)` (Schatzman, *Accuracy of the
//! discrete Fourier transform and the fast Fourier transform*, SIAM J. Sci. Comput. 17(5), 1996).
//!
//! The bound takes the problem and not the plan: which radices and how many passes a plan has moves its error far less
//! than whether there is a convolution in it, and that there may be one follows from the length (primes from 37 to 73 are
//! codelets where registers are many, and convolutions elsewhere). So it does not change when a recipe
//! does, and holds for programs that were tuned, cached, or made elsewhere.

use super::{Kind, Problem, RealKind, Storage};
use crate::math::factor::factorise;

/// Squares of errors, in squares of half the distance from 1 to the next number: what [`Problem::error_bound_by`]
/// adds up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// For each doubling of a length that is a power of two.
    pub two: f64,
    /// The same where the largest prime factor is 3 to 11, and for every other length up to 31.
    pub small: f64,
    /// The same where it is 13 to 31, the longest that kernels have codelets for everywhere, in a length of more than 31.
    pub codelet: f64,
    /// The same where it is larger: a convolution, or what may be one.
    pub convolved: f64,
    /// Once for each transform from reals to reals, whose first and last stages are its own.
    pub own: f64,
    /// Once.
    pub once: f64,
}

impl Growth {
    /// That of kernels, whose factors are right to the last bit, in any precision: as an error, about a third more than
    /// was ever seen of them in the simulator and by software drivers.
    pub const KERNELS: Self =
        Self { two: 0.75, small: 0.85, codelet: 0.85, convolved: 11.7, own: 2.0, once: 0.7 };

    /// That of errors so many times as large.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        let square = factor * factor;
        Self {
            two: self.two * square,
            small: self.small * square,
            codelet: self.codelet * square,
            convolved: self.convolved * square,
            own: self.own * square,
            once: self.once * square,
        }
    }
}

/// What a scale adds that is no power of two: it is rounded, and then each product.
const SCALED: f64 = 1.4;
/// Standard deviations by which the error of few points may differ from that of many.
const CHANCE: f64 = 5.0;

impl Problem {
    /// What the relative error in the Euclidean norm, over all transforms, may be where kernels compute it, for data
    /// that is like random numbers of about 1. Rounding the output to the type that it is kept in is part of it; that of
    /// the input to its type is not. Data chosen to round badly can have an error several times as large.
    ///
    /// ```
    /// use warpfft_core::request::Fft;
    /// let bound = Fft::new([1024]).batch(100).build()?.error_bound();
    /// assert!((1e-7..3e-7).contains(&bound));
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    pub fn error_bound(&self) -> f64 {
        self.error_bound_by(&Growth::KERNELS)
    }

    /// The same where errors grow in that way.
    pub fn error_bound_by(&self, growth: &Growth) -> f64 {
        let unit = self.precision.unit();
        let [input, output] = self.stored();
        let halved = match &self.kind {
            Kind::RealToComplex(dim) | Kind::ComplexToReal(dim) => Some(dim.n),
            Kind::Complex | Kind::RealToReal(_) | Kind::Zoom(_) => None,
        };
        let complex = self.transform.iter().map(|dim| dim.n).chain(halved);
        let mut squares: f64 = growth.once + complex.map(|n| growth.of(n)).sum::<f64>();
        if let Kind::RealToReal(dims) = &self.kind {
            squares +=
                dims.iter().map(|real| growth.own + growth.of(within(real.kind, real.dim.n))).sum::<f64>();
        }
        if let Kind::Zoom(zoom) = &self.kind {
            // Samples and frequencies count alike in the length of the convolution.
            let length = (zoom.band.samples + zoom.band.points).max(2);
            squares += growth.convolved * (length as f64).log2();
        }
        if !is_power_of_two(self.scale) {
            squares += SCALED;
        }
        // What is kept in a wider type than it is computed in is rounded as it is read.
        if input.unit() < unit {
            squares += 1.0;
        }
        // What is read for several transforms, or for several points of one, has its say once.
        let repeated: u64 = self.input_dims().filter(|&(_, stride)| stride == 0).map(|(n, _)| n).product();
        let chance = 1.0 + CHANCE / ((self.elements() / repeated.max(1)) as f64).sqrt();
        // What functions do to errors is their own affair; those that square double them.
        let functions = if self.functions.is_empty() { 1.0 } else { 4.0 };
        functions * (unit.powi(2) * squares * chance + self.kept(output, unit)).sqrt()
    }

    /// Square of the relative error of rounding once more, to the type that the output is kept in.
    fn kept(&self, output: Storage, unit: f64) -> f64 {
        if output.unit() <= unit {
            return 0.0;
        }
        // Numbers too small for their type are rounded to a fixed step; how large they are follows from the scale, for
        // numbers of about 1.
        let least = match output {
            Storage::F16 => f64::from(half::f16::MIN_POSITIVE) * output.unit(),
            Storage::Bf16 | Storage::F32 => f64::from(f32::MIN_POSITIVE) * output.unit(),
            Storage::F64 => 0.0,
        };
        let size = self.scale.abs() * (self.points() as f64).sqrt() / 2.0;
        let small = if size > 0.0 { least / size } else { 0.0 };
        output.unit().powi(2) + small.powi(2)
    }
}

impl Growth {
    /// All doublings of one length.
    fn of(&self, n: u64) -> f64 {
        let n = n.max(1);
        let largest = factorise(n).last().map_or(1, |&(prime, _)| prime);
        let each = match largest {
            0..=2 => self.two,
            3..=11 => self.small,
            12..=31 if n > 31 => self.codelet,
            12..=31 => self.small,
            _ => self.convolved,
        };
        each * (n as f64).log2()
    }
}

/// The length that a real transform's stages are of: types I are of a period that has other factors than the line.
const fn within(kind: RealKind, n: u64) -> u64 {
    match kind {
        RealKind::Dct1 | RealKind::Dst1 => kind.period(n),
        _ => n,
    }
}

fn is_power_of_two(scale: f64) -> bool {
    const FRACTION: u64 = (1 << 52) - 1;
    scale.to_bits() & FRACTION == 0
}

#[cfg(test)]
mod tests {
    use crate::problem::{Kind, RealKind};
    use crate::request::{Fft, Norm};

    fn bound(asked: Fft) -> f64 {
        asked.batch(1000).build().expect("it can be").error_bound()
    }

    #[test]
    fn it_grows_with_what_there_is_to_round() {
        let line = |n| bound(Fft::new([n]));
        assert!(line(1) < line(16) && line(16) < line(1 << 20));
        // The root of the stages: 4 times as many, at most twice the error.
        assert!(line(1 << 20) < 2.0 * line(1 << 5));
        assert!(line(61) > 2.0 * line(60));
        assert!(bound(Fft::new([64, 64])) > 0.99 * line(4096));
        assert!(bound(Fft::new([100]).scale(0.3)) > line(100));
        assert_eq!(bound(Fft::new([128]).scale(1.0 / 128.0)), line(128));
        assert_eq!(bound(Fft::new([128]).norm(Norm::Forward)), line(128));
        // The period of 36 points by the DST-I is 74.
        assert!(
            bound(Fft::new([36]).r2r([RealKind::Dst1])) > 2.0 * bound(Fft::new([36]).r2r([RealKind::Dst2]))
        );
        assert!(bound(Fft::new([30]).f64()) < 1e-15 && bound(Fft::new([30])) > 1e-8);
    }

    /// Of 4000 runs of four cosine transforms of 12 times the same value, by the simulator, 32 were off by more than 3.71e-16, the bound
    /// of 48 data, and none by more than 4.54e-16; one in a test by 4.56e-16.
    #[test]
    fn a_value_for_several_points_has_its_say_once() {
        let asked = Fft::new([12]).r2r([RealKind::Dct1]).f64().batch(4);
        let packed = asked.build().expect("it can be");
        let mut repeated = packed.clone();
        let Kind::RealToReal(dims) = &mut repeated.kind else { panic!("it is of reals") };
        dims[0].dim.is = 0;
        repeated.batch[0].is = 1;
        assert!(
            packed.error_bound() < 3.8e-16 && repeated.error_bound() > 4.6e-16,
            "{}",
            repeated.error_bound()
        );
    }

    #[test]
    fn few_points_leave_more_to_chance() {
        let one = Fft::new([8]).build().expect("it can be").error_bound();
        assert!(one > 1.2 * bound(Fft::new([8])) && one < 2.0 * bound(Fft::new([8])));
    }
}
