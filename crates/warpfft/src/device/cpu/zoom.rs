//! Lines of samples into the frequencies of a band: Bluestein's convolution by hand, with rustfft's transforms.

use std::sync::Arc;

use bytemuck::cast_slice_mut;
use num_complex::Complex;
use rustfft::{Fft, FftPlanner};
use warpfft_core::math::chirp;
use warpfft_core::math::dd::Cdd;
use warpfft_core::problem::{Band, Direction};

use super::real::RealLine;
use super::{CpuReal, Own};

/// Samples into frequencies.
pub(super) struct ZoomLine<T> {
    there: Arc<dyn Fft<T>>,
    back: Arc<dyn Fft<T>>,
    /// What samples and frequencies are multiplied by.
    ends: [Vec<Complex<T>>; 2],
    /// The transform of what is convolved with, over its length.
    spectrum: Vec<Complex<T>>,
    reals: bool,
    /// With exp(+).
    conjugated: bool,
}

impl<T: CpuReal> ZoomLine<T> {
    pub fn new(planners: &mut Own<T>, band: Band, reals: bool, direction: Direction) -> Self {
        let length = (band.samples + band.points - 1).next_power_of_two() as usize;
        let narrow = |z: Complex<f64>| Complex::new(T::nearest(z.re), T::nearest(z.im));
        // In f64 whatever the precision of the line: it is rounded once.
        let mut spectrum = chirp::filter(&band, length);
        FftPlanner::new().plan_fft_forward(length).process(&mut spectrum);
        let table = |end: fn(&Band, u64) -> Cdd, count| -> Vec<Complex<T>> {
            (0..count).map(|at| narrow(end(&band, at).round())).collect()
        };
        Self {
            there: planners.complex.plan_fft_forward(length),
            back: planners.complex.plan_fft_inverse(length),
            ends: [table(chirp::sample, band.samples), table(chirp::point, band.points)],
            spectrum: spectrum.into_iter().map(|z| narrow(z / length as f64)).collect(),
            reals,
            conjugated: direction == Direction::Inverse,
        }
    }

    fn fft_scratch(&self) -> usize {
        self.there.get_inplace_scratch_len().max(self.back.get_inplace_scratch_len())
    }
}

impl<T: CpuReal> RealLine<T> for ZoomLine<T> {
    fn scratch_len(&self) -> usize {
        2 * (self.spectrum.len() + self.fft_scratch())
    }

    fn process(&self, source: &mut [T], target: &mut [T], scratch: &mut [T]) {
        let (padded, work) = cast_slice_mut::<T, Complex<T>>(scratch).split_at_mut(self.spectrum.len());
        let turned = |z: Complex<T>| if self.conjugated { z.conj() } else { z };
        let [samples, points] = &self.ends;
        let (own, rest) = padded.split_at_mut(samples.len());
        rest.fill(Complex::default());
        let reals = self.reals;
        for (j, (own, &factor)) in own.iter_mut().zip(samples).enumerate() {
            let x =
                if reals { Complex::from(source[j]) } else { Complex::new(source[2 * j], source[2 * j + 1]) };
            *own = turned(x) * factor;
        }
        self.there.process_with_scratch(padded, work);
        padded.iter_mut().zip(&self.spectrum).for_each(|(x, &h)| *x = *x * h);
        self.back.process_with_scratch(padded, work);
        let target = cast_slice_mut::<T, Complex<T>>(target);
        for ((to, &x), &factor) in target.iter_mut().zip(&*padded).zip(points) {
            *to = turned(x * factor);
        }
    }
}
