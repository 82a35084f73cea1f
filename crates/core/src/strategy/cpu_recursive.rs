//! `cpu-recursive`: the transform as it is taught, in one thread of the processor.
//!
//! Scarpaci, *FFT GPGPU*, starts from such a program, and its kernels are measured against it. A line is split into its even
//! and its odd points, both are transformed by the same function, and with `E` and `O` what comes of them
//!
//! ```text
//! X[k] = E[k] + w^k O[k],  X[k + n/2] = E[k] - w^k O[k],  w = exp(-2 pi i / n)
//! ```
//!
//! Nothing is kept from one call to the next: each allocates its halves and its result, and computes a sine and a cosine for
//! every k, as the author's program does (file `src/FFT.cpp`, see [`scarpaci`](super::scarpaci)). Angles are in f64 here,
//! whatever the points are in.

use std::f64::consts::TAU;

use num_complex::Complex;

use super::host::{HostLine, HostReal};
use super::packed::Packed;
use super::{Algorithm, Facts, scarpaci};
use crate::problem::Direction;

/// The strategy.
pub(super) struct CpuRecursive;

impl Algorithm for CpuRecursive {
    fn facts(&self) -> Facts {
        Facts {
            name: "cpu-recursive",
            source: scarpaci::SOURCE,
            about: "even and odd points by recursion, which allocates and computes its sines as it goes; one thread of the processor",
            covers: "powers of two from 2 on, in any number of dimensions, on device 'cpu'",
        }
    }

    fn covers(&self, packed: &Packed) -> bool {
        packed.powers_of_two()
    }

    /// Angles are rounded before their sines are taken.
    fn errors(&self, _: &Packed) -> f64 {
        1.5
    }

    fn line(&self) -> Option<HostLine> {
        Some(HostLine::new(transform, transform))
    }
}

fn transform<T: HostReal>(line: &mut [Complex<T>], direction: Direction) {
    if line.len().is_power_of_two() {
        let transformed = recursive(line, direction.sign() * TAU);
        line.copy_from_slice(&transformed);
    }
}

/// The transform of a line; `turn` is a whole turn in the direction's sense.
fn recursive<T: HostReal>(x: &[Complex<T>], turn: f64) -> Vec<Complex<T>> {
    let n = x.len();
    if n == 1 {
        return x.to_vec();
    }
    let every_other = |first| x.iter().skip(first).step_by(2).copied().collect::<Vec<_>>();
    let even = recursive(&every_other(0), turn);
    let odd = recursive(&every_other(1), turn);
    let mut whole = vec![Complex::new(T::zero(), T::zero()); n];
    for k in 0..n / 2 {
        let (sin, cos) = (turn * k as f64 / n as f64).sin_cos();
        let odd = Complex::new(T::rounded_from(cos), T::rounded_from(sin)) * odd[k];
        whole[k] = even[k] + odd;
        whole[k + n / 2] = even[k] - odd;
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::reference::dft_direct;

    #[test]
    fn it_is_the_transform_and_its_inverse() {
        for bits in 0..8 {
            let n = 1_usize << bits;
            let x: Vec<Complex<f64>> =
                (0..n).map(|j| Complex::new((j * j % 7) as f64, 0.5 - j as f64)).collect();
            let mut y = x.clone();
            transform(&mut y, Direction::Forward);
            let size: f64 = y.iter().map(Complex::norm_sqr).sum::<f64>().sqrt();
            for (got, wanted) in y.iter().zip(dft_direct(&x)) {
                assert!((got - wanted).norm() < 1e-14 * size, "{n}: {got}, not {wanted}");
            }
            transform(&mut y, Direction::Inverse);
            for (got, wanted) in y.iter().zip(&x) {
                assert!((got / n as f64 - wanted).norm() < 1e-14 * size, "{n}: {got} / {n}, not {wanted}");
            }
        }
    }

    #[test]
    fn other_lengths_are_left_alone() {
        let mut x = [1.0_f32, 2.0, 3.0].map(Complex::from);
        transform(&mut x, Direction::Forward);
        assert_eq!(x, [1.0, 2.0, 3.0].map(Complex::from));
        transform::<f32>(&mut [], Direction::Forward);
    }
}
