//! Windows (padding, cropping, shifts) of real data on the simulator: against plain loops around a whole transform.

mod common;
mod definitions;

use common::limits::{lengths, small_browser as small};
use common::{C64, build};
use rand::Rng;
use rand::prelude::IndexedRandom;
use warpfft_core::error::{Error, Side};
use warpfft_core::lower::{self, tile::Tile};
use warpfft_core::math::reference;
use warpfft_core::pass::{Method, Pass};
use warpfft_core::problem::{Dim, Format, Kind, Placement, Problem, RealKind, Storage, Window, half};
use warpfft_core::program::{Compiled, Program};
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

/// Points of the dimensions to transform on both sides, were all of them in memory.
fn points(problem: &Problem) -> Vec<[u64; 2]> {
    let own = problem.kind.dims().map(|(_, points)| points);
    problem.transform.iter().map(|dim| [dim.n; 2]).chain(own).collect()
}

/// The same transform of packed arrays in which nothing is missing.
fn whole(problem: &Problem) -> Problem {
    let points = points(problem);
    let stride = |d: usize, side: usize| points[d + 1..].iter().map(|own| own[side]).product::<u64>() as i64;
    let mut d = 0;
    let mut packed = |n: u64| {
        let dim = Dim::new(n, stride(d, 0), stride(d, 1));
        d += 1;
        dim
    };
    let transform = problem.transform.iter().map(|dim| packed(dim.n)).collect();
    let kind = match problem.kind.clone() {
        Kind::RealToComplex(dim) => Kind::RealToComplex(packed(dim.n)),
        Kind::ComplexToReal(dim) => Kind::ComplexToReal(packed(dim.n)),
        Kind::RealToReal(mut dims) => {
            dims.iter_mut().for_each(|real| real.dim = packed(real.dim.n));
            Kind::RealToReal(dims)
        }
        other => other,
    };
    let [input_offset, output_offset] = [0, 0];
    let (batch, windows) = (Vec::new(), Vec::new());
    Problem { kind, transform, batch, windows, input_offset, output_offset, ..problem.clone() }
}

/// Elements of one transform on a side, each with its place in the whole array.
fn places(problem: &Problem, side: Side) -> Vec<(i64, usize)> {
    let output = usize::from(side == Side::Output);
    let own: Vec<Dim> =
        problem.transform.iter().copied().chain(problem.kind.dims().map(|(dim, _)| dim)).collect();
    let mut all = vec![(0, 0)];
    for (d, (dim, points)) in own.iter().zip(points(problem)).enumerate() {
        let (n, window, stride) = (points[output], problem.window(d, side), [dim.is, dim.os][output]);
        let each = |&(at, place): &(i64, usize)| {
            let point = move |i: u64| place * n as usize + ((window.start + i) % n) as usize;
            (0..window.len).map(move |i| (at + i as i64 * stride, point(i))).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(each).collect();
    }
    all
}

/// What lies in the output behind a run; and the sum of the squares of as many numbers as are written, by the mean over those
/// that the transforms have: what is wanted may cancel, and rounding errors are as large as the rest makes them.
fn expected(problem: &Problem, input: &[C64], before: &[C64]) -> (Vec<C64>, f64) {
    let plain = whole(problem);
    let count = |side: usize| points(problem).iter().map(|own| own[side]).product::<u64>() as usize;
    let (mut out, mut size) = (before.to_vec(), 0.0);
    for (from, to) in common::addresses(&problem.batch) {
        let mut data = vec![C64::ZERO; count(0)];
        for (at, place) in places(problem, Side::Input) {
            data[place] = input[(problem.input_offset as i64 + from + at) as usize];
        }
        let data = definitions::reference(&plain, &data, &vec![C64::ZERO; count(1)]);
        let kept = places(problem, Side::Output);
        size += data.iter().map(C64::norm_sqr).sum::<f64>() / data.len() as f64 * kept.len() as f64;
        for (at, place) in kept {
            out[(problem.output_offset as i64 + to + at) as usize] = data[place];
        }
    }
    (out, size)
}

fn check(problem: &Problem, limits: &Limits) -> Vec<Pass> {
    let compiled = Compiled::of(problem, limits)
        .unwrap_or_else(|error| panic!("{problem:?} on {}: {error}", limits.name));
    check_program(problem, &compiled.program, limits);
    compiled.schedule.passes
}

fn check_program(problem: &Problem, program: &Program, limits: &Limits) {
    let what = format!("{problem:?} on {}", limits.name);
    let real = |all: Vec<C64>, format: Format| -> Vec<C64> {
        all.into_iter().map(|x| if format == Format::Real { C64::from(x.re) } else { x }).collect()
    };
    let [read, written] = problem.stored();
    let input = real(common::random_in(problem.input_span().end as usize, read), problem.input);
    let before = match problem.placement {
        Placement::InPlace => input.clone(),
        Placement::OutOfPlace => {
            real(common::random_in(problem.output_span().end as usize + 3, written), problem.output)
        }
    };
    let (want, size) = expected(problem, &input, &before);
    let run = common::run(program, limits, &input, &before);
    let (got, _) = run.unwrap_or_else(|fault| panic!("{what}: {fault}"));
    let error = common::error_beside(&got, &want, size);
    // What lies between elements is compared as well, and is not the transform's: it is larger than its own.
    let tolerance = problem.error_bound() * 2.0;
    assert!(error < tolerance, "{what}: relative error {error:.2e}, {tolerance:.2e} allowed");
}

#[test]
fn every_window_of_short_rows() {
    let limits = Limits::h200();
    for n in [2, 5, 8, 11, 12] {
        for batch in [1, 3] {
            let rows = || Fft::new([n]).batch(batch);
            for len in 1..=n {
                for start in [0, 1, n / 2, n - n / 2, n - 1].map(|start| start % n) {
                    let window = Window::new(start, len);
                    check(&build(rows().r2c().window(Side::Input, 0, window)), &limits);
                    check(&build(rows().c2r().window(Side::Output, 0, window)), &limits);
                    if batch == 3 && (len + start) % 3 == 0 {
                        for kind in RealKind::ALL {
                            let [read, written] = [Side::Input, Side::Output]
                                .map(|side| build(rows().r2r([kind]).window(side, 0, window)));
                            check(&read, &limits);
                            check(&written, &limits);
                        }
                    }
                }
                if len <= half(n) {
                    check(&build(rows().r2c().crop(&[len])), &limits);
                    check(&build(rows().c2r().pad(&[len])), &limits);
                }
            }
        }
    }
}

#[test]
fn rows_of_one_pass_and_of_several() {
    for (n, limits) in lengths(&[64, 77, 1018], &small(), &[1024, 1215, 1022]) {
        let rows = || Fft::new([n]).batch(3);
        let half = half(n);
        for fft in [
            rows().r2c().pad(&[n / 2]),
            rows().r2c().pad(&[n / 2 - 1]).crop(&[half / 3]),
            rows().r2c().shift_input().formats(Format::Real, Format::Planar),
            rows().r2c().window(Side::Input, 0, Window::new(n - 7, 20)).f64_where(&limits),
            rows().c2r().pad(&[half / 2]).crop(&[n - 5]),
            rows().c2r().shift_output(),
            rows().c2r().crop(&[n / 4 * 2]),
        ] {
            check(&build(fft), &limits);
        }
        for kind in RealKind::ALL {
            check(&build(rows().r2r([kind]).pad(&[n / 2]).crop(&[n / 3])), &limits);
            check(&build(rows().r2r([kind]).shift_input().shift_output().in_place()), &limits);
            check(&build(rows().r2r([kind]).pad(&[n - 1])), &limits);
        }
    }
}

/// Double precision where a device has it.
trait Where {
    fn f64_where(self, limits: &Limits) -> Self;
}

impl Where for Fft {
    fn f64_where(self, limits: &Limits) -> Self {
        if limits.f64 { self.f64() } else { self }
    }
}

#[test]
fn rows_that_are_zero_are_not_transformed() {
    let limits = small();
    let passes = check(&build(Fft::new([64, 60]).r2c().pad(&[16, 20]).crop(&[8, 11])), &limits);
    assert_eq!(
        passes.iter().map(Pass::repeats).collect::<Vec<_>>(),
        [16, 11],
        "of what is there and is wanted"
    );
    let passes = check(&build(Fft::new([64, 60]).c2r().pad(&[16, 11]).crop(&[8, 20])), &limits);
    assert_eq!(passes.iter().map(Pass::repeats).collect::<Vec<_>>(), [11, 8]);
    let reals = Fft::new([64, 60]).r2r([RealKind::Dct2]).pad(&[16, 20]).crop(&[8, 30]);
    let passes = check(&build(reals), &limits);
    assert_eq!(passes.iter().map(Pass::repeats).collect::<Vec<_>>(), [20, 8]);
}

#[test]
fn no_pass_is_added() {
    let passes = |fft: Fft, limits: &Limits| check(&build(fft), limits).len();
    for limits in [Limits::h200(), small()] {
        // Blocks of the small device hold few columns of 64 points, which take a pass more where no window keeps them in one.
        let split = usize::from(limits.name == small().name);
        for (plain, windowed, spared) in [
            (Fft::new([60]).batch(4).r2c(), Fft::new([60]).batch(4).r2c().pad(&[31]).crop(&[7]), 0),
            (Fft::new([1018]).batch(4).r2c(), Fft::new([1018]).batch(4).r2c().pad(&[508]).crop(&[100]), 0),
            (Fft::new([1018]).batch(4).c2r(), Fft::new([1018]).batch(4).c2r().pad(&[100]).crop(&[508]), 0),
            (Fft::new([12, 10]).r2c(), Fft::new([12, 10]).r2c().pad(&[6, 5]), 0),
            (Fft::new([64, 60]).r2c(), Fft::new([64, 60]).r2c().pad(&[10, 20]), split),
            (Fft::new([64, 60]).c2r(), Fft::new([64, 60]).c2r().pad(&[10, 20]).crop(&[64, 9]), split),
            (
                Fft::new([16, 12]).r2r([RealKind::Dct2]),
                Fft::new([16, 12]).r2r([RealKind::Dct2]).pad(&[5, 7]),
                0,
            ),
        ] {
            assert_eq!(passes(windowed, &limits) + spared, passes(plain, &limits));
        }
    }
    // The two passes of a long line know no windows of the caller's: what has them folds by itself.
    for n in [1024, 1026] {
        let long = Fft::new([n]).r2c();
        assert_eq!([passes(long.clone(), &small()), passes(long.pad(&[512]), &small())], [2, 3]);
    }
}

/// A random problem: kind, lengths, windows, layout.
fn random_problem(rng: &mut impl Rng) -> Option<Problem> {
    let rank = rng.random_range(1..=3_usize);
    let lengths: &[u64] = match rank {
        1 => &[7, 16, 30, 61, 100, 144, 509, 1024],
        2 => &[4, 9, 11, 16, 25, 32, 37],
        _ => &[2, 3, 5, 8, 12],
    };
    let shape: Vec<u64> = (0..rank).map(|_| *lengths.choose(rng).expect("some")).collect();
    let which = rng.random_range(0..4);
    let own = rng.random_range(0..rank);
    let counts = [rng.random_range(1..4_u64), rng.random_range(1..3_u64)];
    let mut sides = [shape.clone(), shape.clone()];
    if which < 2 {
        sides[1 - which][own] = half(shape[own]);
    }
    let window = |rng: &mut dyn rand::RngCore, n: u64, spectrum: bool| match rng.random_range(0..4) {
        0 => Window::whole(n),
        _ if spectrum => Window::new(0, rng.random_range(1..=n)),
        1 => Window::new(0, rng.random_range(1..=n)),
        2 => Window::new((n - n / 2) % n, n),
        _ => Window::new(rng.random_range(0..n), rng.random_range(1..=n)),
    };
    let mut pair = |d: usize| [0, 1].map(|side| window(rng, sides[side][d], which == 1 - side && d == own));
    let windows: Vec<[Window; 2]> = (0..rank).map(&mut pair).collect();
    let mut order: Vec<usize> = (0..rank + 2).collect();
    let mut strides = |rng: &mut dyn rand::RngCore, side: usize| {
        rand::seq::SliceRandom::shuffle(&mut order[..], rng);
        let mut strides = vec![0; rank + 2];
        let mut next = rng.random_range(1..3_i64);
        for &d in &order {
            let n = if d < rank { windows[d][side].len } else { counts[d - rank] };
            strides[d] = next;
            next = next * n as i64 + rng.random_range(0..3_i64);
        }
        strides
    };
    let (is, os) = (strides(rng, 0), strides(rng, 1));
    let mut fft = Fft::new(shape).strides(&is[..rank], &os[..rank]).offsets(2, 2);
    fft = match which {
        0 => fft.r2c().halved_axis(own as i64),
        1 => fft.c2r().halved_axis(own as i64),
        _ => {
            let kinds = (0..rank).map(|_| *RealKind::ALL.choose(rng).expect("some"));
            fft.r2r(kinds.collect::<Vec<_>>())
        }
    };
    for (d, &[read, written]) in windows.iter().enumerate() {
        fft = fft.window(Side::Input, d as i64, read).window(Side::Output, d as i64, written);
    }
    for (d, &n) in counts.iter().enumerate() {
        fft = fft.batch_strided(n, is[rank + d], os[rank + d]);
    }
    fft.build().ok()
}

#[test]
fn random_windows_in_random_layouts() {
    let mut rng = rand::rng();
    let mut done = 0;
    while done < 200 {
        let Some(problem) = random_problem(&mut rng) else { continue };
        let little = Limits { shared_bytes: 4096, ..small() };
        check(&problem, &if done % 2 == 0 { Limits::h200() } else { little });
        done += 1;
    }
}

#[test]
fn the_reference_knows_windows() {
    let mut rng = rand::rng();
    for _ in 0..60 {
        let Some(problem) = random_problem(&mut rng) else { continue };
        let input = common::random(problem.input_span().end as usize, problem.precision);
        let before = vec![C64::ZERO; problem.output_span().end as usize];
        let (want, size) = expected(&problem, &input, &before);
        let mut got = before.clone();
        for (at, value) in reference::reference(&problem, |at| input[at as usize]) {
            got[at as usize] = value;
        }
        // Of one point, all that is wanted may be zero but for its rounding.
        assert!(common::error_beside(&got, &want, size) < 1e-12, "{problem:?}");
    }
}

#[test]
fn clusters() {
    for (fft, radices) in [
        (Fft::new([256]).r2c().pad(&[100]).crop(&[77]), vec![vec![8, 4, 4]]),
        (Fft::new([256]).c2r().pad(&[77]).crop(&[100]), vec![vec![8, 4, 4]]),
        (Fft::new([16, 32]).r2c().pad(&[9, 20]).crop(&[11, 10]), vec![vec![4, 4], vec![4, 4]]),
        (Fft::new([16, 32]).c2r().pad(&[9, 10]).crop(&[11, 20]), vec![vec![4, 4], vec![4, 4]]),
    ] {
        let (problem, limits) = (build(fft.batch(5)), Limits::h200());
        let mut passes = Compiled::of(&problem, &limits).expect("it compiles").schedule.passes;
        assert_eq!(passes.len(), 1, "{problem:?}");
        let mut pass = passes.swap_remove(0);
        for (axis, radices) in pass.axes.iter_mut().zip(radices) {
            axis.method = Method::MixedRadix(radices);
        }
        let tile = Tile::new(48, 4, vec![2; pass.batch.len()]);
        let lowered = lower::lower(&pass, &tile, lower::Walk::Rising, &limits, "forced");
        let program = Program::of_pass(&problem, &pass, lowered, &limits).expect("it is well formed");
        assert_eq!(program.kernels[0].cluster, 4);
        check_program(&problem, &program, &limits);
    }
}

#[test]
fn numbers_kept_in_other_types_and_pairs_of_singles() {
    for n in [30, 31] {
        let rows = || Fft::new([n]).batch(3);
        for fft in
            [rows().storage(Storage::F16).scale(0.25), rows().storage(Storage::F64), rows().double_single()]
        {
            check(&build(fft.clone().r2c().pad(&[17]).crop(&[9])), &Limits::h200());
            check(&build(fft.clone().c2r().pad(&[9]).shift_output()), &Limits::h200());
            check(&build(fft.r2r([RealKind::Dst2]).pad(&[9]).crop(&[20])), &Limits::h200());
        }
    }
}

#[test]
fn what_has_no_meaning_is_refused() {
    let error = |fft: Fft| fft.build().expect_err("it is impossible");
    assert_eq!(
        error(Fft::new([6, 8]).r2c().shift_output()),
        Error::WindowHalved { side: Side::Output, n: 5, start: 3 }
    );
    let wrapping = Fft::new([8]).c2r().window(Side::Input, 0, Window::new(4, 3));
    assert_eq!(error(wrapping), Error::WindowHalved { side: Side::Input, n: 5, start: 4 });
    let long = Fft::new([8]).r2c().crop(&[8]);
    assert_eq!(error(long), Error::Window { side: Side::Output, axis: 0, n: 5, start: 0, len: 8 });
    assert_eq!(error(Fft::new([8]).r2c().in_place().pad(&[4])), Error::WindowInPlace);
    assert_eq!(error(Fft::new([8]).zoom(0.0, 0.5, 4).pad(&[4])), Error::WindowKind);
    // The other axes shift, and what is whole is none.
    assert!(Fft::new([6, 8]).r2c().window(Side::Output, 0, Window::new(3, 6)).build().is_ok());
    assert_eq!(build(Fft::new([6, 8]).r2c().pad(&[6, 8]).crop(&[6, 5])), build(Fft::new([6, 8]).r2c()));
    let in_place = Fft::new([6, 8]).r2c().in_place();
    assert_eq!(build(in_place.clone().pad(&[6, 8])), build(in_place));
}

/// Where memory holds one point of a dimension, its stride may be that of another.
#[test]
fn one_point_of_a_dimension() {
    let one = Window::new(0, 1);
    for fft in [Fft::new([2, 4]), Fft::new([2, 2, 4]), Fft::new([2, 12, 8]), Fft::new([3, 3, 5])] {
        for (from, to) in [(0, 0), (0, 1), (1, 0)] {
            for fft in [fft.clone().batch(2).r2c(), fft.clone().batch(2).c2r()] {
                let fft = fft.window(Side::Input, from, one);
                // The last one is halved.
                let last = Fft::window(fft.clone(), Side::Output, to, one).build();
                let Ok(problem) = last else { continue };
                check(&problem, &Limits::h200());
                check(&problem, &small());
            }
        }
    }
}
