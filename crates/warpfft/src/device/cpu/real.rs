//! Lines with reals on one side or both: realfft for halves of spectra and what is made of them, rustdct for the cosines
//! and sines of types II to IV. (Its DST-I wants scratch that is zero, which it does not say, and its transforms of
//! type I are complex ones of twice the length.)

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};
use std::sync::Arc;

use bytemuck::cast_slice_mut;
use num_complex::Complex;
use realfft::{ComplexToReal, RealToComplex};
use rustdct::{TransformType2And3, TransformType4};
use warpfft_core::problem::RealKind;

use super::{CpuReal, Own};

/// A transform of a line with reals on one side or both. Complex numbers lie as pairs (re, im).
pub(super) trait RealLine<T>: Send + Sync {
    /// Reals of memory that it needs beside the line.
    fn scratch_len(&self) -> usize;

    /// Transforms `source`, whose contents are lost, into `target`.
    fn process(&self, source: &mut [T], target: &mut [T], scratch: &mut [T]);
}

/// `n` reals into half of their spectrum, with exp(-) or, conjugated, with exp(+).
pub(super) struct ToSpectrum<T> {
    pub fft: Arc<dyn RealToComplex<T>>,
    pub conjugated: bool,
}

impl<T: CpuReal> RealLine<T> for ToSpectrum<T> {
    fn scratch_len(&self) -> usize {
        2 * self.fft.get_scratch_len()
    }

    fn process(&self, source: &mut [T], target: &mut [T], scratch: &mut [T]) {
        let target = cast_slice_mut::<T, Complex<T>>(target);
        let done = self.fft.process_with_scratch(source, target, cast_slice_mut(scratch));
        debug_assert!(done.is_ok(), "it refuses wrong lengths only");
        if self.conjugated {
            target.iter_mut().for_each(|x| x.im = -x.im);
        }
    }
}

/// `n` reals into all of their spectrum.
pub(super) struct ToWholeSpectrum<T> {
    pub half: ToSpectrum<T>,
}

impl<T: CpuReal> RealLine<T> for ToWholeSpectrum<T> {
    fn scratch_len(&self) -> usize {
        self.half.scratch_len()
    }

    fn process(&self, source: &mut [T], target: &mut [T], scratch: &mut [T]) {
        let n = source.len();
        let (known, mirrored) = target.split_at_mut(2 * (n / 2 + 1));
        self.half.process(source, known, scratch);
        // Frequency n - k is the conjugate of frequency k.
        let known = cast_slice_mut::<T, Complex<T>>(known);
        let mirrored = cast_slice_mut::<T, Complex<T>>(mirrored).iter_mut().rev();
        mirrored.zip(&known[1..]).for_each(|(to, x)| *to = x.conj());
    }
}

/// Reals as complex numbers.
pub(super) struct Widened;

impl<T: CpuReal> RealLine<T> for Widened {
    fn scratch_len(&self) -> usize {
        0
    }

    fn process(&self, source: &mut [T], target: &mut [T], _scratch: &mut [T]) {
        let target = cast_slice_mut::<T, Complex<T>>(target);
        target.iter_mut().zip(source).for_each(|(to, &mut x)| *to = Complex::from(x));
    }
}

/// Half of a spectrum into its reals, with exp(+) or, of the conjugated spectrum, with exp(-).
pub(super) struct FromSpectrum<T> {
    pub fft: Arc<dyn ComplexToReal<T>>,
    pub conjugated: bool,
}

impl<T: CpuReal> RealLine<T> for FromSpectrum<T> {
    fn scratch_len(&self) -> usize {
        2 * self.fft.get_scratch_len()
    }

    fn process(&self, source: &mut [T], target: &mut [T], scratch: &mut [T]) {
        let source = cast_slice_mut::<T, Complex<T>>(source);
        if self.conjugated {
            source.iter_mut().for_each(|x| x.im = -x.im);
        }
        // It complains of imaginary parts that have no part in the result, and leaves them out, as it should.
        let _ = self.fft.process_with_scratch(source, target, cast_slice_mut(scratch));
    }
}

/// `n` reals into as many numbers that say their spectrum.
struct FromReals<T> {
    fft: Arc<dyn RealToComplex<T>>,
    /// Hartley's sums of real and imaginary parts, and not the parts themselves.
    hartley: bool,
}

impl<T: CpuReal> RealLine<T> for FromReals<T> {
    fn scratch_len(&self) -> usize {
        2 * (self.fft.complex_len() + self.fft.get_scratch_len())
    }

    fn process(&self, source: &mut [T], target: &mut [T], scratch: &mut [T]) {
        let n = source.len();
        let (spectrum, rest) = cast_slice_mut::<T, Complex<T>>(scratch).split_at_mut(self.fft.complex_len());
        let done = self.fft.process_with_scratch(source, spectrum, rest);
        debug_assert!(done.is_ok(), "it refuses wrong lengths only");
        // The last frequency of even lengths is its own mirror image, and real.
        for (k, x) in spectrum.iter().enumerate() {
            let (here, mirrored) = if self.hartley { (x.re - x.im, x.re + x.im) } else { (x.re, x.im) };
            if k > 0 && n - k != k {
                target[n - k] = mirrored;
            }
            target[k] = here;
        }
    }
}

/// The reals of a spectrum in half-complex order.
struct FromHalfComplex<T> {
    fft: Arc<dyn ComplexToReal<T>>,
}

impl<T: CpuReal> RealLine<T> for FromHalfComplex<T> {
    fn scratch_len(&self) -> usize {
        2 * (self.fft.complex_len() + self.fft.get_scratch_len())
    }

    fn process(&self, source: &mut [T], target: &mut [T], scratch: &mut [T]) {
        let n = source.len();
        let (spectrum, rest) = cast_slice_mut::<T, Complex<T>>(scratch).split_at_mut(self.fft.complex_len());
        for (k, x) in spectrum.iter_mut().enumerate() {
            let im = if k > 0 && n - k != k { source[n - k] } else { T::default() };
            *x = Complex::new(source[k], im);
        }
        let done = self.fft.process_with_scratch(spectrum, target, rest);
        debug_assert!(done.is_ok(), "lengths are right, and imaginary parts 0 where they should be");
    }
}

/// The DCT-I or DST-I: the spectrum of the line continued evenly, or oddly, is real or imaginary.
struct Continued<T> {
    fft: Arc<dyn RealToComplex<T>>,
    odd: bool,
}

impl<T: CpuReal> Continued<T> {
    fn scratch_len(&self) -> usize {
        self.fft.len() + 2 * (self.fft.complex_len() + self.fft.get_scratch_len())
    }

    fn process(&self, line: &mut [T], scratch: &mut [T]) {
        // Pairs first: they come out even.
        let pairs = 2 * (self.fft.complex_len() + self.fft.get_scratch_len());
        let (pairs, whole) = scratch.split_at_mut(pairs);
        let (spectrum, rest) = cast_slice_mut::<T, Complex<T>>(pairs).split_at_mut(self.fft.complex_len());
        let (n, period) = (line.len(), whole.len());
        // An odd continuation is 0 before the line and behind it; of an even one, neither end is repeated.
        let first = usize::from(self.odd);
        whole.fill(T::default());
        whole[first..first + n].copy_from_slice(line);
        for at in 1..period.div_ceil(2) {
            whole[period - at] = if self.odd { -whole[at] } else { whole[at] };
        }
        let done = self.fft.process_with_scratch(whole, spectrum, rest);
        debug_assert!(done.is_ok(), "it refuses wrong lengths only");
        for (x, y) in spectrum[first..].iter().zip(line) {
            *y = if self.odd { -x.im } else { x.re };
        }
    }
}

/// Transforms by cosines and sines; those of rustdct are half of what FFTW defines.
enum Waves<T> {
    Type1(Continued<T>),
    Dct2(Arc<dyn TransformType2And3<T>>),
    Dct3(Arc<dyn TransformType2And3<T>>),
    Dst2(Arc<dyn TransformType2And3<T>>),
    Dst3(Arc<dyn TransformType2And3<T>>),
    Dct4(Arc<dyn TransformType4<T>>),
    Dst4(Arc<dyn TransformType4<T>>),
}

impl<T: CpuReal> Waves<T> {
    fn scratch_len(&self) -> usize {
        match self {
            Self::Type1(it) => it.scratch_len(),
            Self::Dct2(it) | Self::Dct3(it) | Self::Dst2(it) | Self::Dst3(it) => it.get_scratch_len(),
            Self::Dct4(it) | Self::Dst4(it) => it.get_scratch_len(),
        }
    }

    fn process(&self, line: &mut [T], scratch: &mut [T]) {
        match self {
            Self::Type1(it) => return it.process(line, scratch),
            Self::Dct2(it) => it.process_dct2_with_scratch(line, scratch),
            Self::Dct3(it) => it.process_dct3_with_scratch(line, scratch),
            Self::Dst2(it) => it.process_dst2_with_scratch(line, scratch),
            Self::Dst3(it) => it.process_dst3_with_scratch(line, scratch),
            Self::Dct4(it) => it.process_dct4_with_scratch(line, scratch),
            Self::Dst4(it) => it.process_dst4_with_scratch(line, scratch),
        }
        line.iter_mut().for_each(|x| *x = *x + *x);
    }
}

/// A cosine or sine transform.
struct Trigonometric<T> {
    waves: Waves<T>,
    /// Points with a weight of sqrt(2) in the input, and of 1 / sqrt(2) in the output.
    weighted: [Vec<usize>; 2],
}

impl<T: CpuReal> RealLine<T> for Trigonometric<T> {
    fn scratch_len(&self) -> usize {
        self.waves.scratch_len()
    }

    fn process(&self, source: &mut [T], target: &mut [T], scratch: &mut [T]) {
        let weigh = |line: &mut [T], side: usize, weight: f64| {
            self.weighted[side].iter().for_each(|&at| line[at] = line[at] * T::nearest(weight));
        };
        target.copy_from_slice(source);
        weigh(target, 0, SQRT_2);
        self.waves.process(target, scratch);
        weigh(target, 1, FRAC_1_SQRT_2);
    }
}

/// The points that weights make orthogonal: in the input, then in the output.
fn weighted(kind: RealKind, n: usize) -> [Vec<usize>; 2] {
    let last = n - 1;
    match kind {
        RealKind::Dct1 => [vec![0, last], vec![0, last]],
        RealKind::Dct2 => [vec![], vec![0]],
        RealKind::Dct3 => [vec![0], vec![]],
        RealKind::Dst2 => [vec![], vec![last]],
        RealKind::Dst3 => [vec![last], vec![]],
        _ => [vec![], vec![]],
    }
}

/// The transform of `n` reals into reals of that kind.
pub(super) fn line<T: CpuReal>(
    planners: &mut Own<T>,
    kind: RealKind,
    orthogonal: bool,
    n: usize,
) -> Arc<dyn RealLine<T>> {
    let trig = &mut planners.trigonometric;
    let waves = match kind {
        RealKind::Dht | RealKind::HalfComplex => {
            let fft = planners.real.plan_fft_forward(n);
            return Arc::new(FromReals { fft, hartley: kind == RealKind::Dht });
        }
        RealKind::FromHalfComplex => {
            return Arc::new(FromHalfComplex { fft: planners.real.plan_fft_inverse(n) });
        }
        RealKind::Dct1 => {
            Waves::Type1(Continued { fft: planners.real.plan_fft_forward(2 * (n - 1)), odd: false })
        }
        RealKind::Dst1 => {
            Waves::Type1(Continued { fft: planners.real.plan_fft_forward(2 * (n + 1)), odd: true })
        }
        RealKind::Dct2 => Waves::Dct2(trig.plan_dct2(n)),
        RealKind::Dct3 => Waves::Dct3(trig.plan_dct3(n)),
        RealKind::Dst2 => Waves::Dst2(trig.plan_dst2(n)),
        RealKind::Dst3 => Waves::Dst3(trig.plan_dst3(n)),
        RealKind::Dct4 => Waves::Dct4(trig.plan_dct4(n)),
        RealKind::Dst4 => Waves::Dst4(trig.plan_dst4(n)),
    };
    let weighted = if orthogonal { weighted(kind, n) } else { [vec![], vec![]] };
    Arc::new(Trigonometric { waves, weighted })
}
