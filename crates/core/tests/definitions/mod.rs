//! Transforms of real data from their definitions, in f64.

use std::f64::consts::{PI, SQRT_2};

use num_complex::Complex;
use warpfft_core::problem::{Kind, Problem, RealKind, half};

type C64 = Complex<f64>;

/// What is done along a dimension.
#[derive(Clone, Copy)]
enum Along {
    Nothing,
    Complex(f64),
    ToSpectrum(f64),
    FromSpectrum(f64),
    Reals(RealKind, bool),
}

/// A dimension with its points and strides on both sides.
struct Axis {
    points: [usize; 2],
    strides: [i64; 2],
    along: Along,
}

/// The problem's transform in f64: `output` with the transformed elements replaced; reals in real parts.
pub fn reference(problem: &Problem, input: &[C64], output: &[C64]) -> Vec<C64> {
    let sign = problem.direction.sign();
    let plain = |dim: &warpfft_core::problem::Dim, along| Axis {
        points: [dim.n as usize; 2],
        strides: [dim.is, dim.os],
        along,
    };
    let mut axes: Vec<Axis> = problem.batch.iter().map(|dim| plain(dim, Along::Nothing)).collect();
    let complex = problem.transform.iter().map(|dim| plain(dim, Along::Complex(sign)));
    match &problem.kind {
        Kind::Zoom(_) => panic!("bands have tests of their own"),
        Kind::Complex => axes.extend(complex),
        Kind::RealToComplex(dim) => {
            let points = [dim.n as usize, half(dim.n) as usize];
            axes.push(Axis { points, strides: [dim.is, dim.os], along: Along::ToSpectrum(sign) });
            axes.extend(complex);
        }
        Kind::ComplexToReal(dim) => {
            axes.extend(complex);
            let points = [half(dim.n) as usize, dim.n as usize];
            axes.push(Axis { points, strides: [dim.is, dim.os], along: Along::FromSpectrum(sign) });
        }
        Kind::RealToReal(dims) => {
            axes.extend(dims.iter().map(|real| plain(&real.dim, Along::Reals(real.kind, real.orthogonal))));
        }
    }
    let place = |axes: &[Axis], side: usize, offset: u64| {
        axes.iter().fold(vec![offset as i64], |all, axis| {
            let steps = 0..axis.points[side] as i64;
            all.iter().flat_map(|&at| steps.clone().map(move |i| at + i * axis.strides[side])).collect()
        })
    };
    let from: Vec<i64> = place(&axes, 0, problem.input_offset);
    let mut data: Vec<C64> = from.iter().map(|&at| input[at as usize]).collect();
    if problem.kind.reals()[0] {
        data.iter_mut().for_each(|x| x.im = 0.0);
    }
    let mut shape: Vec<usize> = axes.iter().map(|axis| axis.points[0]).collect();
    for (d, axis) in axes.iter().enumerate() {
        let inner: usize = shape[d + 1..].iter().product();
        let (n, m) = (axis.points[0], axis.points[1]);
        let outer: usize = shape[..d].iter().product();
        let mut next = vec![C64::default(); outer * m * inner];
        for o in 0..outer {
            for i in 0..inner {
                let line: Vec<C64> = (0..n).map(|j| data[(o * n + j) * inner + i]).collect();
                for (k, y) in transformed(&line, axis.along, m).into_iter().enumerate() {
                    next[(o * m + k) * inner + i] = y;
                }
            }
        }
        data = next;
        shape[d] = m;
    }
    let mut out = output.to_vec();
    for (at, x) in place(&axes, 1, problem.output_offset).into_iter().zip(data) {
        let x = x * problem.scale;
        out[at as usize] = if problem.kind.reals()[1] { Complex::new(x.re, 0.0) } else { x };
    }
    out
}

/// `exp(i pi x / y)` for all `x`, the angle reduced as an integer.
struct Turns(Vec<C64>);

impl Turns {
    fn new(y: usize) -> Self {
        let angle = |x: usize| PI * x as f64 / y as f64;
        Self((0..2 * y).map(|x| Complex::new(angle(x).cos(), angle(x).sin())).collect())
    }

    fn at(&self, x: i64) -> C64 {
        self.0[x.rem_euclid(self.0.len() as i64) as usize]
    }

    fn cos(&self, x: i64) -> f64 {
        self.at(x).re
    }

    fn sin(&self, x: i64) -> f64 {
        self.at(x).im
    }
}

/// Of how many parts of half a turn the angles of a kind are multiples.
fn parts(kind: RealKind, n: usize) -> usize {
    match kind {
        RealKind::Dct1 => n - 1,
        RealKind::Dst1 => n + 1,
        RealKind::Dct2 | RealKind::Dct3 | RealKind::Dst2 | RealKind::Dst3 => 2 * n,
        RealKind::Dct4 | RealKind::Dst4 => 4 * n,
        RealKind::Dht | RealKind::HalfComplex | RealKind::FromHalfComplex => n,
    }
}

fn transformed(x: &[C64], along: Along, points: usize) -> Vec<C64> {
    let dft = |x: &[C64], sign: f64, count: usize| -> Vec<C64> {
        let turns = Turns::new(x.len());
        let term = |j: usize, k: usize| {
            let w = turns.at(2 * (j * k) as i64);
            x[j] * if sign < 0.0 { w.conj() } else { w }
        };
        (0..count).map(|k| (0..x.len()).map(|j| term(j, k)).sum()).collect()
    };
    match along {
        Along::Nothing => x.to_vec(),
        Along::Complex(sign) | Along::ToSpectrum(sign) => dft(x, sign, points),
        Along::FromSpectrum(sign) => {
            let mut whole = x.to_vec();
            whole[0].im = 0.0;
            if points.is_multiple_of(2) {
                whole[points / 2].im = 0.0;
            }
            let mirrored: Vec<C64> = (whole.len()..points).map(|k| whole[points - k].conj()).collect();
            whole.extend(mirrored);
            dft(&whole, sign, points).into_iter().map(|y| Complex::new(y.re, 0.0)).collect()
        }
        Along::Reals(kind, orthogonal) => {
            let x: Vec<f64> = x.iter().map(|x| x.re).collect();
            reals(&x, kind, orthogonal).into_iter().map(|y| Complex::new(y, 0.0)).collect()
        }
    }
}

fn reals(x: &[f64], kind: RealKind, orthogonal: bool) -> Vec<f64> {
    let mut x = x.to_vec();
    let (n, last) = (x.len() as i64, x.len() - 1);
    let turns = Turns::new(parts(kind, x.len()));
    if orthogonal {
        match kind {
            RealKind::Dct1 => [0, last].into_iter().for_each(|i| x[i] *= SQRT_2),
            RealKind::Dct3 => x[0] *= SQRT_2,
            RealKind::Dst3 => x[last] *= SQRT_2,
            _ => {}
        }
    }
    let value = |k: i64| -> f64 {
        let ends = |j: usize, both: bool| if j == 0 || (both && j == last) { 1.0 } else { 2.0 };
        let terms = x.iter().enumerate().map(|(at, x)| {
            let j = at as i64;
            x * match kind {
                RealKind::Dct1 => ends(at, true) * turns.cos(j * k),
                RealKind::Dct2 => 2.0 * turns.cos((2 * j + 1) * k),
                RealKind::Dct3 => ends(at, false) * turns.cos(j * (2 * k + 1)),
                RealKind::Dct4 => 2.0 * turns.cos((2 * j + 1) * (2 * k + 1)),
                RealKind::Dst1 => 2.0 * turns.sin((j + 1) * (k + 1)),
                RealKind::Dst2 => 2.0 * turns.sin((2 * j + 1) * (k + 1)),
                RealKind::Dst3 if at == last => {
                    if k % 2 == 0 {
                        1.0
                    } else {
                        -1.0
                    }
                }
                RealKind::Dst3 => 2.0 * turns.sin((j + 1) * (2 * k + 1)),
                RealKind::Dst4 => 2.0 * turns.sin((2 * j + 1) * (2 * k + 1)),
                RealKind::Dht => turns.cos(2 * j * k) + turns.sin(2 * j * k),
                RealKind::HalfComplex if k <= n / 2 => turns.cos(2 * j * k),
                // The imaginary part of frequency n - k.
                RealKind::HalfComplex => -turns.sin(2 * j * (n - k)),
                RealKind::FromHalfComplex if j == 0 => 1.0,
                RealKind::FromHalfComplex if 2 * j == n => turns.cos(n * k),
                RealKind::FromHalfComplex if j <= n / 2 => 2.0 * turns.cos(2 * j * k),
                RealKind::FromHalfComplex => -2.0 * turns.sin(2 * (n - j) * k),
            }
        });
        terms.sum()
    };
    let mut y: Vec<f64> = (0..n).map(value).collect();
    if orthogonal {
        match kind {
            RealKind::Dct1 => [0, last].into_iter().for_each(|i| y[i] /= SQRT_2),
            RealKind::Dct2 => y[0] /= SQRT_2,
            RealKind::Dst2 => y[last] /= SQRT_2,
            _ => {}
        }
    }
    y
}
