//! A convolution's check of itself: random data through the plan, and sums in double-double precision.

use num_complex::Complex;
use rayon::prelude::*;
use warpfft_core::function::Function;
use warpfft_core::math::dd::{Cdd, Dd};
use warpfft_core::problem::{Format, Precision};
use warpfft_core::request::Mode;

use super::ConvolutionPlan;
use crate::error::Error;
use crate::host::{Planes, PlanesMut};
use crate::room;
use crate::verify::numbers::{Numbers, Sample, fresh_seed};

/// Products that are summed at most, unless a few results alone have more.
const PRODUCTS: u64 = 1 << 22;
/// Results that are compared at least, and at most.
const RESULTS: [u64; 2] = [16, 1 << 14];
/// Reals behind the results, which no plan may touch. Even, so that they are pairs too.
const BEYOND: u64 = 16;
/// Which array numbers are for.
const IMAGES: usize = 0;
const KERNELS: usize = 1;
const OUTPUT: usize = 2;
const CHOICE: usize = 3;

/// What [`ConvolutionPlan::verify`] found.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ConvolutionCheck {
    /// Relative error in the Euclidean norm, over all results that were compared. Where they are few, which may cancel, it is
    /// relative to what as many products of random numbers come to.
    pub error: f64,
    /// What it may be, for data that is like random numbers.
    pub bound: f64,
    /// What the data was made from: [`ConvolutionPlan::verify_with`] repeats it.
    pub seed: u64,
    /// Results that were compared with sums.
    pub checked: u64,
    /// Results that there are.
    pub results: u64,
}

impl ConvolutionCheck {
    /// Whether the error is within the bound. An error that is not a number is not.
    pub fn holds(&self) -> bool {
        self.error <= self.bound
    }
}

impl std::fmt::Display for ConvolutionCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { error, bound, seed, checked, results } = self;
        let verdict = if self.holds() { "within" } else { "beyond" };
        write!(f, "error {error:.2e}, {verdict} {bound:.2e}; {checked} of {results} results, seed {seed}")
    }
}

impl ConvolutionPlan {
    /// What the relative error in the Euclidean norm may be, for data that is like random numbers: that of three
    /// transforms, and what their products add.
    pub fn error_bound(&self) -> f64 {
        2.0 * (self.prepare.error_bound() + 2.0 * self.part.error_bound())
    }

    /// Runs the plan on random data and compares some of the results with their sums in double-double precision; makes sure
    /// that nothing behind them was written.
    ///
    /// ```
    /// use warpfft::Device;
    /// use warpfft::core::request::Convolution;
    ///
    /// let plan = Device::cpu().convolution(&Convolution::new([40, 50], [5, 7]).real().batch(3))?;
    /// let found = plan.verify()?;
    /// assert!(found.holds(), "{found}");
    /// # Ok::<(), warpfft::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// There is not the memory, or the device failed; [`Error::Stray`] where something was written behind the results. That the
    /// error is beyond the bound is no `Err`: ask [`ConvolutionCheck::holds`].
    pub fn verify(&self) -> Result<ConvolutionCheck, Error> {
        self.verify_with(fresh_seed())
    }

    /// [`ConvolutionPlan::verify`] on the data of that seed, the same on every machine.
    ///
    /// # Errors
    ///
    /// As [`ConvolutionPlan::verify`].
    pub fn verify_with(&self, seed: u64) -> Result<ConvolutionCheck, Error> {
        match self.prepare.problem().precision {
            Precision::F32 => self.checked::<f32>(seed),
            Precision::F64 | Precision::DoubleSingle => self.checked::<f64>(seed),
        }
    }

    fn checked<T: Sample>(&self, seed: u64) -> Result<ConvolutionCheck, Error> {
        let [images, kernels, _, results] = self.elements;
        let formats = self.request.formats();
        let numbers = |array: usize| Numbers::new(seed, array, 0);
        let counts = [images, kernels, results];
        let [from, with, reals] = [0, 1, 2].map(|which| counts[which].saturating_mul(formats[which].step()));
        let all = [from, with, reals].into_iter().fold(0, u64::saturating_add);
        room::ask(all.saturating_mul(size_of::<T>() as u64), "processor")?;
        let image: Vec<T> = numbers(IMAGES).vec(from)?;
        let kernel: Vec<T> = numbers(KERNELS).vec(with)?;
        let mut after: Vec<T> = numbers(OUTPUT).vec(reals + BEYOND)?;
        self.convolve_host(
            planes(formats[0], &image),
            planes(formats[1], &kernel),
            match formats[2] {
                Format::Real => PlanesMut::Real(&mut after),
                _ => PlanesMut::Interleaved(bytemuck::cast_slice_mut(&mut after)),
            },
        )?;
        let strayed = |&at: &u64| {
            let before: T = numbers(OUTPUT).real(at);
            bytemuck::bytes_of(&before) != bytemuck::bytes_of(&after[at as usize])
        };
        if let Some(at) = (reals..reals + BEYOND).find(strayed) {
            let element = at / formats[2].step();
            return Err(Error::Stray { plane: 0, unit: "element", element, inside: results });
        }
        let chosen = self.chosen(seed);
        let read = |data: &[T], format, at| element(data, format, at);
        let each: Vec<[f64; 3]> = (chosen.par_iter())
            .map(|&at| {
                let (wanted, products) =
                    self.sum(at, |at| read(&image, formats[0], at), |at| read(&kernel, formats[1], at));
                let got = read(&after, formats[2], at);
                [(got - wanted).norm_sqr(), wanted.norm_sqr(), products]
            })
            .collect();
        let [wrong, size, expected] = [0, 1, 2].map(|which| each.iter().map(|one| one[which]).sum::<f64>());
        let error = if wrong == 0.0 { 0.0 } else { f64::sqrt(wrong / size.max(expected)) };
        let checked = chosen.len() as u64;
        Ok(ConvolutionCheck { error, bound: self.error_bound(), seed, checked, results })
    }

    /// Results to compare: all, or one from each of as many parts of them as there is time for.
    fn chosen(&self, seed: u64) -> Vec<u64> {
        let (results, [_, kernel]) = (self.elements[3], self.request.shapes());
        let products: u64 = kernel.iter().product();
        let most = (PRODUCTS / products).clamp(RESULTS[0], RESULTS[1]);
        if results <= most {
            return (0..results).collect();
        }
        let chance = Numbers::new(seed, CHOICE, 0);
        let start = |part: u64| (u128::from(results) * u128::from(part) / u128::from(most)) as u64;
        (0..most).map(|part| start(part) + chance.bits(part) % (start(part + 1) - start(part))).collect()
    }

    /// One result by its definition, and the sum of the squares of its products.
    fn sum(
        &self,
        at: u64,
        image: impl Fn(u64) -> Complex<f64>,
        kernel: impl Fn(u64) -> Complex<f64>,
    ) -> (Complex<f64>, f64) {
        let ([n, k], [_, kernels]) = (self.request.shapes(), self.request.counts());
        let (mode, correlate) = self.request.kind();
        let shape = &self.convolved.shape;
        let (mut rest, mut index) = (at, vec![0_i64; shape.len()]);
        for (i, &len) in index.iter_mut().zip(shape).rev() {
            (*i, rest) = ((rest % len) as i64, rest / len);
        }
        let (own_kernel, own_image) = (rest % kernels, rest / kernels);
        let [load, store] = self.request.functions();
        let behind = [own_image, own_kernel];
        let result: Vec<u64> = index.iter().map(|&i| i as u64).chain(behind).collect();
        for (i, &k) in index.iter_mut().zip(k) {
            *i += match mode {
                Mode::Full | Mode::Periodic => 0,
                Mode::Same => (k as i64 - 1) / 2,
                Mode::Valid => k as i64 - 1,
            };
        }
        let points: u64 = k.iter().product();
        let (mut sum, mut squares) = (Cdd::ZERO, 0.0);
        let mut place = [vec![0; k.len()], behind.to_vec()].concat();
        'points: for point in 0..points {
            let (mut rest, mut from, mut stride) = (point, own_image, 1);
            let mut inside = 0;
            for d in (0..k.len()).rev() {
                let (h, length) = ((rest % k[d]) as i64, n[d] as i64);
                rest /= k[d];
                let mut i = index[d] - h;
                if mode == Mode::Periodic {
                    i = i.rem_euclid(length);
                }
                if i < 0 || i >= length {
                    continue 'points;
                }
                place[d] = i as u64;
                inside += i as u64 * stride;
                stride *= n[d];
            }
            from = from * stride + inside;
            // A correlation is a convolution with the conjugate kernel, turned round.
            let of_kernel = if correlate { points - 1 - point } else { point };
            let w = kernel(own_kernel * points + of_kernel);
            let w = if correlate { w.conj() } else { w };
            let z = applied(load, image(from), &place);
            squares += z.norm_sqr() * w.norm_sqr();
            sum = sum + exact(z) * exact(w);
        }
        // Results that are real are so before the function as well.
        let real = self.request.formats()[2] == Format::Real;
        let part = |z: Complex<f64>| if real { Complex::from(z.re) } else { z };
        let sum = part(sum.round());
        // What a function makes of few results that cancel is its own affair.
        store.map_or((sum, squares), |store| (part(applied(Some(store), sum, &result)), 0.0))
    }
}

fn applied(function: Option<&Function>, z: Complex<f64>, place: &[u64]) -> Complex<f64> {
    let Some(function) = function else { return z };
    let (re, im) = function.evaluate((z.re, z.im), place);
    Complex::new(re, im)
}

fn exact(z: Complex<f64>) -> Cdd {
    Cdd { re: Dd::from(z.re), im: Dd::from(z.im) }
}

fn planes<T: Sample>(format: Format, data: &[T]) -> Planes<'_, T> {
    match format {
        Format::Real => Planes::Real(data),
        _ => Planes::Interleaved(bytemuck::cast_slice(data)),
    }
}

fn element<T: Sample>(data: &[T], format: Format, at: u64) -> Complex<f64> {
    let real = |at: u64| data[at as usize].into();
    if format == Format::Real {
        Complex::new(real(at), 0.0)
    } else {
        Complex::new(real(2 * at), real(2 * at + 1))
    }
}
