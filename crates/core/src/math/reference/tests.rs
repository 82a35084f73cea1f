//! Tests of the complex reference.

use super::*;
use crate::error::Side;
use crate::request::{Fft, Norm};
use proptest::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng};

fn random(n: usize, seed: u64) -> Vec<Complex<f64>> {
    let mut rng = StdRng::seed_from_u64(seed);
    (0..n).map(|_| Complex::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0))).collect()
}

fn distance(a: &[Cdd], b: &[Cdd]) -> f64 {
    let part = |z: Cdd| z.re.hi.powi(2) + z.im.hi.powi(2);
    let error: f64 = a.iter().zip(b).map(|(&a, &b)| part(a - b)).sum();
    (error / b.iter().map(|&b| part(b)).sum::<f64>()).sqrt()
}

fn direct_dd(x: &[Cdd]) -> Vec<Cdd> {
    let n = x.len();
    let table = roots_dd(n as u64);
    let point = |k| x.iter().enumerate().fold(Cdd::ZERO, |sum, (j, &v)| sum + table[j * k % n] * v);
    (0..n).map(point).collect()
}

#[test]
fn fast_agrees_with_direct_to_28_digits() {
    for n in (1..=70).chain([96, 121, 128, 210, 251, 331, 360, 2 * 331, 1000, 1024]) {
        let x: Vec<Cdd> = random(n, n as u64).into_iter().map(Cdd::from).collect();
        let error = distance(&dft_dd(&x), &direct_dd(&x));
        assert!(error < 1e-29, "{n}: {error}");
    }
    assert!(dft_dd(&[]).is_empty());
}

#[test]
fn long_transforms_have_the_spectrum_of_their_tones() {
    // Beyond the reach of the direct sum: exp(2 pi i j f / n) is one peak of height n at f.
    for n in [1u64 << 14, 3 * 5 * 7 * 11 * 13, 10_007] {
        for f in [1, n / 3, n - 1] {
            let index = |j: u64| (u128::from(j) * u128::from(f) % u128::from(n)) as u64;
            let x: Vec<Cdd> = (0..n).map(|j| root_dd(index(j), n).conj()).collect();
            let mut want = vec![Cdd::ZERO; n as usize];
            want[f as usize] = Cdd::ONE.scaled(n as f64);
            let error = distance(&dft_dd(&x), &want);
            assert!(error < 1e-28, "{n} {f}: {error}");
        }
    }
}

#[test]
fn agrees_with_rustfft_to_its_precision() {
    for n in [1usize, 7, 60, 97, 512, 1201] {
        let x = random(n, 3);
        let mut fast = x.clone();
        rustfft::FftPlanner::new().plan_fft_forward(n).process(&mut fast);
        let want = dft_direct(&x);
        assert!(relative_l2(&fast, &want) < 2e-15, "{n}");
        let problem = Fft::new([n as u64]).build().unwrap();
        let whole: Vec<_> = reference(&problem, |i| x[i as usize]).into_iter().map(|p| p.1).collect();
        assert_eq!(whole, want, "{n}");
    }
}

/// Output index by output index from the definition, f64 arithmetic, sharing nothing with the code above.
fn by_definition(problem: &Problem, x: &[Complex<f64>]) -> Vec<(u64, Complex<f64>)> {
    let all: Vec<(u64, u64)> = problem.addresses().collect();
    let points = problem.points() as usize;
    let unravel = |mut i: usize| {
        let mut index = vec![0; problem.transform.len()];
        for (at, dim) in index.iter_mut().zip(&problem.transform).rev() {
            (*at, i) = (i as u64 % dim.n, i / dim.n as usize);
        }
        index
    };
    let value = |one: &[(u64, u64)], k: usize| {
        let k = unravel(k);
        let term = |j: usize| {
            let turns: f64 = unravel(j)
                .iter()
                .zip(&k)
                .zip(&problem.transform)
                .map(|((&j, &k), dim)| (j * k % dim.n) as f64 / dim.n as f64)
                .sum();
            x[one[j].0 as usize]
                * Complex::from_polar(1.0, problem.direction.sign() * std::f64::consts::TAU * turns)
        };
        (0..points).map(term).sum::<Complex<f64>>() * problem.scale
    };
    all.chunks(points).flat_map(|one| (0..points).map(move |k| (one[k].1, value(one, k)))).collect()
}

proptest! {
    #[test]
    fn whole_problems_follow_the_definition(
        shape in proptest::collection::vec(1u64..7, 1..4),
        pads in proptest::collection::vec((1i64..3, 1i64..3), 5),
        inverse: bool,
        seed: u64,
    ) {
        // Growing strides with gaps on both sides, the output in the opposite order of the input.
        let mut dims: Vec<Dim> = shape.iter().chain(&[2, 3]).map(|&n| Dim::new(n, 0, 0)).collect();
        let (mut is, mut os) = (1, 1);
        for (dim, pad) in dims.iter_mut().zip(&pads) {
            dim.is = is * pad.0;
            is = dim.is * dim.n as i64;
        }
        for (dim, pad) in dims.iter_mut().rev().zip(&pads) {
            dim.os = os * pad.1;
            os = dim.os * dim.n as i64;
        }
        let (transform, batch) = dims.split_at(shape.len());
        let fft = Fft::guru(transform, batch).offsets(3, 5).scale(0.7).norm(Norm::Ortho);
        let problem = if inverse { fft.inverse() } else { fft }.build().unwrap();
        let x = random(problem.input_span().end as usize, seed);
        let got = reference(&problem, |i| x[i as usize]);
        let want = by_definition(&problem, &x);
        prop_assert_eq!(got.iter().map(|p| p.0).collect::<Vec<_>>(), want.iter().map(|p| p.0).collect::<Vec<_>>());
        let values = |all: &[(u64, Complex<f64>)]| all.iter().map(|p| p.1).collect::<Vec<_>>();
        prop_assert!(relative_l2(&values(&got), &values(&want)) < 1e-14);

        let first: Vec<u64> = problem.transform.iter().map(|dim| dim.n - 1).collect();
        let last = problem.points() as usize - 1;
        let one = point(&problem, problem.input_offset, &first, |i| x[i as usize]);
        prop_assert!((one - got[last].1).norm() < 1e-15);
    }
}

#[test]
fn errors_are_measured_as_they_say() {
    let z = |re: f64, im: f64| Complex::new(re, im);
    assert_eq!(relative_l2(&[z(3.0, 0.0), z(0.0, 5.0)], &[z(3.0, 0.0), z(0.0, 4.0)]), 0.2);
    assert_eq!(relative_l2(&[], &[]), 0.0);
    assert_eq!(relative_l2(&[z(0.0, 0.0)], &[z(0.0, 0.0)]), 0.0);
    assert_eq!(relative_l2(&[z(1.0, 0.0)], &[z(0.0, 0.0)]), f64::INFINITY);
    assert_eq!(relative_l2(&[], &[z(0.0, 0.0)]), f64::INFINITY);
    assert!(relative_l2(&[z(f64::NAN, 0.0)], &[z(1.0, 0.0)]).is_nan());
}

#[test]
fn few_results_that_cancel_are_as_large_as_what_they_are_of() {
    // Nearly all of it lies in frequency 0, which is not wanted.
    let x: Vec<Complex<f64>> = random(8, 3).into_iter().map(|z| z * 1e-3 + 1.0).collect();
    let asked = || Fft::new([8]).window(Side::Output, 0, Window::new(2, 3));
    let size = |fft: Fft| {
        let problem = fft.build().expect("it is possible");
        let (written, size) = Reference::new(&problem).transform_with_size(0, |at| x[at as usize]);
        (written.iter().map(|(_, z)| z.norm_sqr()).sum::<f64>(), size)
    };
    let (written, mean) = size(asked());
    assert!(written < 1e-3 && (mean - 64.0 / 8.0 * 3.0).abs() < 0.5, "{written} {mean}");
    let (after, expected) = size(asked().on_store(|x, _| x * 2.0));
    assert!(
        (after / written - 4.0).abs() < 1e-9 && (expected / mean - 4.0).abs() < 1e-9,
        "{after} {expected}"
    );
    assert_eq!(size(Fft::new([8]).on_store(|x, _| x * 2.0)).1, 0.0);
}
