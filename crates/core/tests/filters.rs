//! Convolutions and correlations on the simulator: prepared spectra and all parts, against sums.

mod common;

use common::{C64, Workspace, limits::small};
use rand::Rng;
use rand::prelude::IndexedRandom;
use warpfft_core::error::Error;
use warpfft_core::kernel::simulate::{Options, Report};
use warpfft_core::pass::{Method, PartKind};
use warpfft_core::problem::{Format, Precision, Problem};
use warpfft_core::program::Compiled;
use warpfft_core::request::{Convolution, Convolved, Mode};
use warpfft_core::target::Limits;

/// Indices of an array, the last one fastest.
fn indices(shape: &[u64]) -> Vec<Vec<i64>> {
    let empty = vec![Vec::new()];
    shape.iter().fold(empty, |all, &n| {
        all.iter().flat_map(|head| (0..n as i64).map(move |i| [&head[..], &[i]].concat())).collect()
    })
}

fn at(index: &[i64], shape: &[u64]) -> Option<usize> {
    let inside = index.iter().zip(shape).all(|(&i, &n)| i >= 0 && i < n as i64);
    inside.then(|| index.iter().zip(shape).fold(0, |at, (&i, &n)| at * n as usize + i as usize))
}

/// One result, by its definition as scipy has it.
fn direct(asked: &Convolution, shape: &[u64], image: &[C64], kernel: &[C64]) -> Vec<C64> {
    let ([n, k], (mode, correlate)) = (asked.shapes(), asked.kind());
    let kernels = indices(k);
    let sum = |index: &Vec<i64>| {
        let full: Vec<i64> = (index.iter().zip(k))
            .map(|(&i, &k)| match mode {
                Mode::Full | Mode::Periodic => i,
                Mode::Same => i + (k as i64 - 1) / 2,
                Mode::Valid => i + k as i64 - 1,
            })
            .collect();
        let term = |h: &Vec<i64>| {
            // A correlation is a convolution with the conjugate kernel, turned round.
            let turned: Vec<i64> = h.iter().zip(k).map(|(&h, &k)| k as i64 - 1 - h).collect();
            let mut from: Vec<i64> = full.iter().zip(h).map(|(&j, &h)| j - h).collect();
            if mode == Mode::Periodic {
                from.iter_mut().zip(n).for_each(|(i, &n)| *i = i.rem_euclid(n as i64));
            }
            let x = image[at(&from, n)?];
            let w = if correlate { kernel[at(&turned, k)?].conj() } else { kernel[at(h, k)?] };
            Some(x * w)
        };
        kernels.iter().filter_map(term).sum::<C64>()
    };
    indices(shape).iter().map(sum).collect()
}

fn run(problem: &Problem, limits: &Limits, data: (&[C64], &[C64]), out: &[C64]) -> (Vec<C64>, Report) {
    let what = format!("{problem:?} on {}", limits.name);
    let compiled = Compiled::of(problem, limits).unwrap_or_else(|error| panic!("{what}: {error}"));
    let result = common::run_filtered(
        &compiled.program,
        limits,
        data,
        out,
        &mut Workspace::new(),
        &Options::default(),
    );
    result.unwrap_or_else(|fault| panic!("{what}: {fault}"))
}

fn random(len: u64, precision: Precision, format: Format) -> Vec<C64> {
    let mut data = common::random(len as usize, precision);
    if format == Format::Real {
        data.iter_mut().for_each(|z| z.im = 0.0);
    }
    data
}

/// Convolves on the simulator and compares; gives the problems, and what all parts cost.
fn check(asked: &Convolution, precision: Precision, limits: &Limits) -> (Convolved, Report) {
    let problems = asked.problems(Some(limits)).unwrap_or_else(|error| panic!("{asked:?}: {error}"));
    let [images, kernels, spectra, results] = asked.elements(&problems).expect("few");
    let formats = asked.formats();
    let image = random(images, precision, formats[0]);
    let kernel = random(kernels, precision, formats[1]);
    let empty = vec![C64::ZERO; spectra as usize];
    let (spectrum, _) = run(&problems.prepare, limits, (&kernel, &[]), &empty);
    let beyond = 5;
    let before = random(results + beyond, precision, formats[2]);
    let (out, report) = run(&problems.part, limits, (&image, &spectrum), &before);
    let [batch, count] = asked.counts();
    let (one, other) = (images / batch, kernels / count);
    let mut want = Vec::new();
    for b in 0..batch {
        for c in 0..count {
            let image = &image[(b * one) as usize..((b + 1) * one) as usize];
            let kernel = &kernel[(c * other) as usize..((c + 1) * other) as usize];
            want.extend(direct(asked, &problems.shape, image, kernel));
        }
    }
    assert_eq!(want.len(), results as usize);
    assert_eq!(out[want.len()..], before[want.len()..], "what lies behind is as it was");
    let error = common::error(&out[..want.len()], &want);
    let tolerance = if precision == Precision::F32 { 2e-6 } else { 4e-15 };
    assert!(error < tolerance, "{asked:?} on {} as {problems:?}: {error:.2e}", limits.name);
    (problems, report)
}

const MODES: [Mode; 4] = [Mode::Full, Mode::Same, Mode::Valid, Mode::Periodic];

#[test]
fn lines_of_every_mode_and_parity() {
    let limits = Limits::h200();
    for (n, k) in [(1, 1), (2, 1), (7, 2), (8, 3), (16, 16), (100, 29), (60, 60), (243, 4)] {
        for mode in MODES {
            for correlate in [false, true] {
                let asked = Convolution::new([n], [k]).mode(mode).batch(3);
                if mode == Mode::Periodic && n == 1 {
                    continue;
                }
                let asked = if correlate { asked.correlate() } else { asked };
                check(&asked, Precision::F32, &limits);
                check(&asked.real(), Precision::F32, &limits);
            }
        }
    }
}

#[test]
fn what_fits_the_chip_is_one_pass_and_an_image_three() {
    let limits = Limits::h200();
    let passes = |asked: Convolution| {
        let problems = asked.problems(Some(&limits)).expect("it is possible");
        Compiled::of(&problems.part, &limits).expect("it is possible").schedule.passes
    };
    let line = passes(Convolution::new([8192], [129]).blocks(0).real().batch(8));
    assert_eq!(line.len(), 1);
    let Method::Coprime(parts) = &line[0].axes[0].method else { panic!("it convolves") };
    assert_eq!(parts[0].kind, PartKind::Filter);
    assert!(matches!(line[0].src.format, Format::Apart(8192)), "lines of reals go in pairs");
    assert_eq!(line[0].bytes(false), 8 * 8192 * 4, "padding is not read");
    let weighed = Convolution::new([8192], [129]).blocks(0).real().batch(9);
    let weighed = passes(weighed.on_load(|x, at| x * (at.axis(0) + at.batch(0))));
    assert_eq!(weighed.len(), 2, "one of nine goes alone");
    assert!(matches!(weighed[0].src.format, Format::Apart(8192)), "with functions too");
    let image = passes(Convolution::new([1024, 1024], [9, 9]).mode(Mode::Same).real().batch(2).blocks(0));
    assert_eq!(image.len(), 3);
    assert!(image[0].bytes(true) < 2 * 4 * 1024 * 1200, "rows that are zero are not moved");
    let small = passes(Convolution::new([50, 60], [9, 9]).mode(Mode::Same).real().batch(200));
    assert_eq!((small.len(), small[0].axes.len()), (1, 2), "it goes there and back along both");
    let blocks = passes(Convolution::new([1024, 1024], [9, 9]).mode(Mode::Same).real().batch(64));
    assert_eq!((blocks.len(), blocks[0].axes.len()), (1, 2), "blocks of it fit the chip");
}

#[test]
fn images_and_volumes() {
    for limits in [Limits::h200(), small()] {
        for mode in MODES {
            let asked = Convolution::new([24, 20], [5, 8]).mode(mode).batch(3);
            check(&asked, Precision::F32, &limits);
            check(&asked.clone().real().correlate(), Precision::F32, &limits);
            let volume = Convolution::new([6, 9, 8], [3, 2, 4]).mode(mode).batch(2);
            check(&volume.clone().correlate(), Precision::F32, &limits);
            check(&volume.real().f64(), Precision::F64, &limits);
        }
    }
}

#[test]
fn many_kernels_and_mixed_formats() {
    let limits = Limits::h200();
    for (batch, kernels) in [(1, 5), (4, 3), (3, 1)] {
        for (image, kernel) in [(false, false), (true, false), (false, true), (true, true)] {
            let asked = |asked: Convolution| asked.batch(batch).kernels(kernels).reals(image, kernel);
            check(&asked(Convolution::new([50], [9])), Precision::F32, &limits);
            check(&asked(Convolution::new([12, 10], [3, 5]).mode(Mode::Same)), Precision::F32, &limits);
        }
    }
}

#[test]
fn lines_that_do_not_fit_on_the_chip() {
    for (n, k) in [(400, 100), (700, 333), (1500, 20)] {
        for mode in [Mode::Full, Mode::Same, Mode::Valid] {
            let asked = Convolution::new([n], [k]).mode(mode).blocks(0).batch(2);
            let (problems, _) = check(&asked, Precision::F32, &small());
            let compiled = Compiled::of(&problems.part, &small()).expect("it is possible");
            assert_eq!(compiled.schedule.passes.len(), 3, "{n} {k}");
            check(&asked.correlate().real(), Precision::F32, &small());
        }
    }
    check(&Convolution::new([300, 12], [40, 5]).batch(2).real(), Precision::F32, &small());
}

#[test]
fn long_signals_go_in_blocks() {
    let limits = Limits::h200();
    for (n, k, points) in [(1000, 17, 64), (1000, 16, 60), (333, 30, 64), (100, 2, 16), (5, 9, 32)] {
        for mode in [Mode::Full, Mode::Same, Mode::Valid] {
            if mode == Mode::Valid && k > n {
                continue;
            }
            for batch in [1, 2] {
                let asked = Convolution::new([n], [k]).mode(mode).blocks(points).batch(batch);
                let (problems, _) = check(&asked, Precision::F32, &limits);
                assert_eq!(problems.padded, [points]);
                check(&asked.clone().correlate(), Precision::F32, &limits);
                check(&asked.clone().real().kernels(2), Precision::F32, &limits);
                check(&asked.real().correlate(), Precision::F32, &limits);
            }
        }
    }
    // Cut without having been asked: a kernel of 64 over a million points.
    let long = Convolution::new([1 << 20], [64]).real();
    let problems = long.problems(Some(&limits)).expect("it is possible");
    assert!(problems.padded[0] <= 4096, "{:?}", problems.padded);
    let blocks = problems.part.blocks().expect("it is cut")[0].count;
    assert!(blocks > 200, "{blocks}");
}

#[test]
fn images_and_volumes_in_blocks() {
    for limits in [Limits::h200(), small()] {
        for mode in [Mode::Full, Mode::Same, Mode::Valid] {
            for (image, kernel, points) in
                [([40, 37], [5, 8], 16), ([9, 50], [4, 1], 12), ([33, 16], [1, 3], 8), ([14, 12], [3, 3], 32)]
            {
                let asked = Convolution::new(image, kernel).mode(mode).blocks(points).batch(2);
                let (problems, _) = check(&asked, Precision::F32, &limits);
                assert!(problems.part.blocks().is_some());
                check(&asked.clone().correlate(), Precision::F32, &limits);
                check(&asked.clone().real().kernels(2), Precision::F32, &limits);
                check(&asked.real().correlate(), Precision::F32, &limits);
            }
            if limits.name != Limits::h200().name {
                continue;
            }
            let image = Convolution::new([40, 37], [5, 8]).mode(mode).blocks(20).batch(2);
            check(&image.f64().real(), Precision::F64, &limits);
            let volume = Convolution::new([11, 9, 12], [3, 2, 4]).mode(mode).blocks(8).batch(3);
            check(&volume, Precision::F32, &limits);
            check(&volume.real().correlate(), Precision::F32, &limits);
        }
    }
}

#[test]
fn random_requests() {
    let mut rng = rand::rng();
    for round in 0..60 {
        let rank = rng.random_range(1..=3_usize);
        let most = [200, 30, 9][rank - 1];
        let image: Vec<u64> = (0..rank).map(|_| rng.random_range(1..=most)).collect();
        let kernel: Vec<u64> = image.iter().map(|&n| rng.random_range(1..=n.min(12))).collect();
        let mode = *MODES[..3].choose(&mut rng).expect("some");
        let mut asked = Convolution::new(image, kernel)
            .mode(mode)
            .batch(rng.random_range(1..=3))
            .kernels(rng.random_range(1..=2))
            .reals(rng.random(), rng.random());
        if rng.random() {
            asked = asked.correlate();
        }
        let precision = if rng.random_bool(0.2) { Precision::F64 } else { Precision::F32 };
        let limits = if round % 2 == 0 { Limits::h200() } else { small() };
        // A block must fit the chip.
        if round % 4 == 0 {
            asked = asked.blocks([32, 30, 24][rank - 1]);
        }
        check(&asked.precision(precision), precision, &limits);
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let refused = |asked: Convolution| asked.problems(None).expect_err("it is impossible");
    for asked in [
        Convolution::new([8, 8], [3]),
        Convolution::new([0], [3]),
        Convolution::new([8], [9]).mode(Mode::Valid),
        Convolution::new([8], [9]).mode(Mode::Periodic),
        Convolution::new([8], [3]).batch(0),
        Convolution::new([800], [30]).blocks(20),
        Convolution::new([80, 80], [3, 12]).blocks(20),
    ] {
        let error = refused(asked);
        assert!(matches!(error, Error::Convolution { .. }), "{error}");
    }
    let huge = refused(Convolution::new([1 << 40, 1 << 40], [3, 3]));
    assert!(matches!(huge, Error::TooManyElements { .. }), "{huge}");
}
