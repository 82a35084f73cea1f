//! Windows (padding, cropping, shifts) on the simulator: against plain loops around a whole transform, with guards around
//! all that is not the problem's to write.

mod common;

use common::limits::{lengths, pairs, small};
use common::{C64, build, packed};
use rand::Rng;
use rand::prelude::IndexedRandom;
use warpfft_core::error::{Error, Side};
use warpfft_core::kernel::simulate::Report;
use warpfft_core::math::reference;
use warpfft_core::pass::Pass;
use warpfft_core::problem::{Dim, Direction, Format, Placement, Precision, Problem, Window};
use warpfft_core::program::Compiled;
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

/// Indices of an array, the last one fastest.
fn indices(shape: &[u64]) -> Vec<Vec<u64>> {
    let empty = vec![Vec::new()];
    shape.iter().fold(empty, |all, &n| {
        all.iter().flat_map(|head| (0..n).map(move |i| [&head[..], &[i]].concat())).collect()
    })
}

/// What a problem with windows writes, by a whole transform of each of its arrays.
fn expected(problem: &Problem, input: &[C64], before: &[C64]) -> Vec<C64> {
    let lengths: Vec<u64> = problem.transform.iter().map(|dim| dim.n).collect();
    let whole =
        Problem { direction: problem.direction, scale: problem.scale, ..packed(&lengths, 1, Precision::F64) };
    let held = |side| (0..lengths.len()).map(|d| problem.window(d, side).len).collect::<Vec<u64>>();
    let place = |index: &[u64], side: Side| {
        let points = index.iter().enumerate().map(|(d, &i)| (i + problem.window(d, side).start) % lengths[d]);
        points.zip(&lengths).fold(0, |at, (point, n)| at * n + point) as usize
    };
    let mut out = before.to_vec();
    for (from, to) in common::addresses(&problem.batch) {
        let mut data = vec![C64::ZERO; lengths.iter().product::<u64>() as usize];
        for index in indices(&held(Side::Input)) {
            let at: i64 = index.iter().zip(&problem.transform).map(|(&i, dim)| i as i64 * dim.is).sum();
            data[place(&index, Side::Input)] = input[(problem.input_offset as i64 + from + at) as usize];
        }
        let data = common::reference(&whole, &data, &data.clone());
        for index in indices(&held(Side::Output)) {
            let at: i64 = index.iter().zip(&problem.transform).map(|(&i, dim)| i as i64 * dim.os).sum();
            out[(problem.output_offset as i64 + to + at) as usize] = data[place(&index, Side::Output)];
        }
    }
    out
}

fn check(problem: &Problem, limits: &Limits) -> Report {
    let what = format!("{problem:?} on {}", limits.name);
    let compiled = Compiled::of(problem, limits).unwrap_or_else(|error| panic!("{what}: {error}"));
    let [read, written] = problem.stored();
    let input = common::random_in(problem.input_span().end as usize, read);
    let before = match problem.placement {
        Placement::InPlace => input.clone(),
        Placement::OutOfPlace => common::random_in(problem.output_span().end as usize + 3, written),
    };
    let want = expected(problem, &input, &before);
    let run = common::run(&compiled.program, limits, &input, &before);
    let (got, report) = run.unwrap_or_else(|fault| panic!("{what}: {fault}"));
    let error = common::error(&got, &want);
    let computed: f64 = if problem.precision == Precision::F32 { 1.5e-6 } else { 3e-15 };
    let tolerance = computed.max(written.unit());
    assert!(error < tolerance, "{what}: relative error {error:.2e}");
    report
}

#[test]
fn every_window_of_short_rows() {
    let limits = Limits::h200();
    for n in [2, 5, 8, 12] {
        for start in 0..n {
            for len in [1, n / 2, n - 1, n].into_iter().filter(|&len| len > 0) {
                for side in [Side::Input, Side::Output] {
                    let window = Window::new(start, len);
                    check(&build(Fft::new([n]).batch(3).window(side, 0, window)), &limits);
                }
            }
        }
    }
}

#[test]
fn shifts_pads_and_crops_of_every_kind_of_pass() {
    // One pass, parts that are coprime, Rader, Bluestein, two passes, a chirp in three.
    let all = lengths(&[64, 77, 37, 1013, 8192], &small(), &[1024, 960, 331]);
    // A prime that two blocks share.
    let halves = Compiled::of(&build(Fft::new([521]).batch(5)), &pairs()).expect("it is possible");
    assert_eq!(halves.parts.iter().map(|part| part.tile.cluster).collect::<Vec<_>>(), [2]);
    assert!(halves.schedule.plans[0].to_string().starts_with("(rader 521"), "{}", halves.schedule.plans[0]);
    for (batch, (n, limits)) in all.into_iter().map(|own| (2, own)).chain([(5, (521, pairs()))]) {
        let rows = || Fft::new([n]).batch(batch);
        let problems = [
            rows().shift_input(),
            rows().shift_output(),
            rows().shift_input().shift_output().inverse(),
            rows().pad(&[n / 2]),
            rows().crop(&[n / 3]).scale(0.5),
            rows().pad(&[n / 3]).shift_input().crop(&[n - 5]).planar(),
            rows().shift_input().shift_output().in_place(),
            rows().window(Side::Input, 0, Window::new(n - 7, 20)).window(
                Side::Output,
                0,
                Window::new(n - 1, n - 1),
            ),
        ];
        for problem in problems {
            check(&build(problem), &limits);
        }
    }
}

#[test]
fn rows_that_are_zero_are_not_transformed() {
    let limits = small();
    let padded = build(Fft::new([64, 64]).pad(&[16, 20]).crop(&[8, 64]));
    let compiled = Compiled::of(&padded, &limits).expect("it is possible");
    let passes = &compiled.schedule.passes;
    assert_eq!(passes.len(), 2);
    let repeats: Vec<u64> = passes.iter().map(Pass::repeats).collect();
    assert_eq!(repeats, [16, 64], "only the rows that are not zero");
    assert_eq!([0, 1].map(|i| passes[i].bytes(false)), [16 * 20 * 8, 16 * 64 * 8]);
    assert_eq!(passes[1].bytes(true), 8 * 64 * 8, "only the rows that are wanted");
    check(&padded, &limits);
    // What is dropped of the columns is dropped before the other rows are transformed.
    let cropped = build(Fft::new([64, 64]).crop(&[64, 10]));
    let compiled = Compiled::of(&cropped, &limits).expect("it is possible");
    assert_eq!(compiled.schedule.passes[1].repeats(), 10);
    check(&cropped, &limits);
}

#[test]
fn a_window_reads_nothing_outside() {
    let limits = Limits::h200();
    let whole = check(&build(Fft::new([4096]).batch(4)), &limits);
    let half = check(&build(Fft::new([4096]).pad(&[2048]).batch(4)), &limits);
    assert!(
        half.global_sectors_read < whole.global_sectors_read,
        "{} of {}",
        half.global_sectors_read,
        whole.global_sectors_read
    );
}

/// A random problem: lengths, windows, layout, placement.
fn random_problem(rng: &mut impl Rng) -> Option<Problem> {
    let rank = rng.random_range(1..=3_usize);
    let lengths: &[u64] = match rank {
        1 => &[7, 16, 30, 61, 100, 128, 144, 360, 1009, 1024],
        2 => &[4, 9, 11, 16, 25, 32, 37],
        _ => &[2, 3, 5, 8, 12],
    };
    let shape: Vec<u64> = (0..rank).map(|_| *lengths.choose(rng).expect("some")).collect();
    let placement = if rng.random_bool(0.25) { Placement::InPlace } else { Placement::OutOfPlace };
    let window = |rng: &mut dyn rand::RngCore, n: u64| match rng.random_range(0..4) {
        0 => Window::whole(n),
        1 => Window::new(0, rng.random_range(1..=n)),
        2 => Window::new(n - n / 2 - n % 2 / 2, n),
        _ => Window::new(rng.random_range(0..n), rng.random_range(1..=n)),
    };
    let mut windows: Vec<[Window; 2]> = shape.iter().map(|&n| [window(rng, n), window(rng, n)]).collect();
    if placement == Placement::InPlace {
        windows.iter_mut().for_each(|own| own[1].len = own[0].len);
    }
    windows.iter_mut().zip(&shape).for_each(|(own, &n)| own.iter_mut().for_each(|own| own.start %= n));
    let counts = [rng.random_range(1..4_u64), rng.random_range(1..3_u64)];
    // The dimensions in a random order, with gaps.
    let mut order: Vec<usize> = (0..rank + 2).collect();
    let strides = |rng: &mut dyn rand::RngCore, order: &[usize], side: usize| {
        let mut strides = vec![0; rank + 2];
        let mut next = rng.random_range(1..3_i64);
        for &d in order {
            let n = if d < rank { windows[d][side].len } else { counts[d - rank] };
            strides[d] = next;
            next = next * n as i64 + rng.random_range(0..3_i64);
        }
        strides
    };
    rand::seq::SliceRandom::shuffle(&mut order[..], rng);
    let is = strides(rng, &order, 0);
    if placement == Placement::OutOfPlace {
        rand::seq::SliceRandom::shuffle(&mut order[..], rng);
    }
    let os = if placement == Placement::InPlace { is.clone() } else { strides(rng, &order, 1) };
    let dim = |d: usize, n| Dim::new(n, is[d], os[d]);
    let formats = [Format::Interleaved, Format::Planar];
    let format = *formats.choose(rng).expect("some");
    let output = if placement == Placement::InPlace { format } else { *formats.choose(rng).expect("some") };
    Problem {
        transform: (0..rank).map(|d| dim(d, shape[d])).collect(),
        batch: (0..2).map(|d| dim(rank + d, counts[d])).collect(),
        windows,
        input: format,
        output,
        placement,
        input_offset: 2,
        output_offset: 2,
        direction: if rng.random() { Direction::Forward } else { Direction::Inverse },
        precision: if rng.random_bool(0.8) { Precision::F32 } else { Precision::F64 },
        ..packed(&[1], 1, Precision::F32)
    }
    .validated()
    .ok()
}

#[test]
fn random_windows_in_random_layouts() {
    let mut rng = rand::rng();
    let mut done = 0;
    while done < 150 {
        let Some(problem) = random_problem(&mut rng) else { continue };
        check(&problem, &if done % 2 == 0 { Limits::h200() } else { small() });
        done += 1;
    }
}

#[test]
fn the_reference_knows_windows() {
    let mut rng = rand::rng();
    for _ in 0..60 {
        let Some(problem) = random_problem(&mut rng) else { continue };
        let problem = Problem { placement: Placement::OutOfPlace, ..problem };
        let input = common::random(problem.input_span().end as usize, Precision::F64);
        let before = common::random(problem.output_span().end as usize, Precision::F64);
        let want = expected(&problem, &input, &before);
        let mut got = before.clone();
        for (at, value) in reference::reference(&problem, |at| input[at as usize]) {
            got[at as usize] = value;
        }
        assert!(common::error(&got, &want) < 1e-13, "{problem:?}");
    }
}

#[test]
fn a_window_of_everything_is_none() {
    let whole = build(Fft::new([6, 8]).pad(&[6, 8]).crop(&[6, 8]));
    assert_eq!(whole, build(Fft::new([6, 8])));
    let points = build(Fft::new([1, 8]).shift_output());
    assert_eq!((points.transform.len(), points.windows.len()), (1, 1));
}

#[test]
fn what_is_no_window_is_refused() {
    let error = |fft: Fft| fft.build().expect_err("it is impossible");
    let n = 8;
    let refused = |window| error(Fft::new([n]).window(Side::Input, 0, window));
    for (start, len) in [(0, 0), (0, 9), (8, 1)] {
        let want = Error::Window { side: Side::Input, axis: 0, n, start, len };
        assert_eq!(refused(Window::new(start, len)), want);
    }
    assert_eq!(error(Fft::new([8, 8]).pad(&[4])), Error::WindowCount { expected: 2, got: 1 });
    assert_eq!(error(Fft::axes([8, 6], [0]).crop(&[8, 4])), Error::WindowAxis { axis: 1, n: 6 });
    let axis = error(Fft::new([8]).window(Side::Output, 1, Window::whole(8)));
    assert_eq!(axis, Error::AxisOutOfRange { axis: 1, rank: 1 });
    // In place the window's elements count.
    let shorter = error(Fft::new([8]).pad(&[4]).in_place());
    assert!(matches!(shorter, Error::InPlaceAddresses { side: Side::Output, .. }), "{shorter}");
    assert!(Fft::new([8]).pad(&[4]).crop(&[4]).in_place().build().is_ok());
}

#[test]
fn strides_that_no_index_can_be_multiplied_by_are_refused() {
    // One point of four in memory: its stride reaches nothing, and is multiplied by the others' indices all the same.
    for stride in [i64::MAX, i64::MIN, 1 << 61] {
        let dim = Dim::new(4, stride, 1);
        let windows = vec![[Window::new(1, 1), Window::whole(4)]];
        let problem = Problem { transform: vec![dim], windows, ..packed(&[4], 2, Precision::F32) };
        let refused = problem.validated();
        assert!(matches!(refused, Err(Error::AddressOverflow { side: Side::Input, .. })), "{refused:?}");
    }
}

/// Neighbours that move together are there together: not where a window holds one of them.
#[test]
fn short_numbers() {
    for n in [16, 60, 64, 256] {
        for fft in [Fft::new([n]).f16(), Fft::new([n]).bf16().planar(), Fft::new([n]).f16().inverse()] {
            let asked = fft.batch(4).scale(1.0 / 8.0);
            check(&build(asked.clone().pad(&[n / 2 - 1]).crop(&[n / 2 + 1])), &Limits::h200());
            check(&build(asked.clone().shift_input().shift_output()), &Limits::h200());
            check(&build(asked.pad(&[n / 2]).crop(&[n / 4])), &Limits::h200());
        }
    }
}
