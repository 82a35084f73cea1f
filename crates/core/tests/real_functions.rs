//! Functions on load and store of real data on the simulator: against functions around a plain transform, in every way in
//! which lines of reals are carried.

mod common;
mod definitions;

use common::limits::{small_browser as small, small_cache};
use common::{C64, build, with_shared_launches};
use warpfft_core::emit;
use warpfft_core::error::Side;
use warpfft_core::function::{Function, Place, Real, Value};
use warpfft_core::lower::{self, tile::Tile};
use warpfft_core::math::reference;
use warpfft_core::pass::Method;
use warpfft_core::problem::{Dim, Format, Problem, RealKind, Storage, half};
use warpfft_core::program::{Compiled, Program, compile};
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

/// What looks at every index, and is not linear: whoever applies it twice, or at another place, is found out.
fn every(x: Value, at: &Place, axes: usize, batches: usize) -> Value {
    let place = |axis: usize| if axis < axes { at.axis(axis) } else { at.batch(axis - axes) };
    let sum = |start: Real| (0..axes + batches).fold(start, |sum, axis| sum * 0.5 + place(axis));
    let weight = (sum(x.re.clone().abs()) + 1.0).sqrt() * 0.25;
    let sign = 1.0 - 2.0 * at.axis_modulo(0, 3).if_less(0.5, 1.0, 0.0);
    let bent = Value::new(x.re.clone() * weight.clone() * sign + 0.25, x.im.clone() * weight + x.re * 0.5);
    if axes > 1 { bent * (1.0 - at.axis_modulo(axes - 1, 2)) } else { bent }
}

/// A request with functions on both sides that look at these axes and batch dimensions.
fn applied(fft: Fft, axes: usize, batches: usize) -> Fft {
    fft.on_load(move |x, at| every(x, &at, axes, batches))
        .on_store(move |x, at| every(x.conj(), &at, axes, batches))
}

/// A side's elements with their indices: complex dimensions, those of the kind, those to repeat over.
fn places(problem: &Problem, side: Side) -> Vec<(usize, Vec<u64>)> {
    let output = usize::from(side == Side::Output);
    let stride = |dim: &Dim| [dim.is, dim.os][output];
    let plain = |dim: &Dim| (dim.n, stride(dim));
    let own = problem.kind.dims().map(|(dim, points)| (points[output], stride(&dim)));
    let dims = problem.transform.iter().map(plain).chain(own).chain(problem.batch.iter().map(plain));
    let start = [problem.input_offset, problem.output_offset][output] as i64;
    let all = dims.fold(vec![(start, Vec::new())], |all, (n, stride)| {
        let each = |(at, index): &(i64, Vec<u64>)| {
            let (at, index) = (*at, index.clone());
            (0..n).map(move |i| (at + i as i64 * stride, [&index[..], &[i]].concat())).collect::<Vec<_>>()
        };
        all.iter().flat_map(each).collect()
    });
    all.into_iter().map(|(at, index)| (at as usize, index)).collect()
}

fn through(problem: &Problem, function: &Function, side: Side, data: &mut [C64]) {
    let real = problem.kind.reals()[usize::from(side == Side::Output)];
    for (at, index) in places(problem, side) {
        let im = if real { 0.0 } else { data[at].im };
        let (re, im) = function.evaluate((data[at].re, im), &index);
        data[at] = C64::new(re, if real { 0.0 } else { im });
    }
}

fn expected(problem: &Problem, input: &[C64], output: &[C64]) -> Vec<C64> {
    let mut read = input.to_vec();
    let functions = problem.functions.clone();
    functions.load.iter().for_each(|load| through(problem, load, Side::Input, &mut read));
    let plain = Problem { functions: Default::default(), ..problem.clone() };
    let mut written = definitions::reference(&plain, &read, output);
    functions.store.iter().for_each(|store| through(problem, store, Side::Output, &mut written));
    written
}

fn check(problem: &Problem, limits: &Limits) {
    let program = compile(problem, limits).unwrap_or_else(|error| panic!("{problem:?}: {error}"));
    check_program(problem, &program, limits);
}

fn check_program(problem: &Problem, program: &Program, limits: &Limits) {
    let what = format!("{problem:?} on {}", limits.name);
    let [read, written] = problem.stored();
    let input = common::random_in(problem.input_span().end as usize, read);
    let output = common::random_in(problem.output_span().end as usize + 3, written);
    let want = expected(problem, &input, &output);
    let run = common::run(program, limits, &input, &output);
    let (got, _) = run.unwrap_or_else(|fault| panic!("{what}: {fault}"));
    let held = |all: &[C64]| -> Vec<C64> {
        let real = problem.output == Format::Real;
        all.iter().map(|x| if real { C64::new(x.re, 0.0) } else { *x }).collect()
    };
    let error = common::error(&got, &held(&want));
    let tolerance = problem.error_bound().max(1e-14);
    assert!(error < tolerance, "{what}: relative error {error:.2e}, {tolerance:.2e} allowed");
}

#[test]
fn the_reference_knows_them() {
    for fft in [
        Fft::new([5, 6]).r2c(),
        Fft::new([5, 6]).c2r(),
        Fft::new([6, 5]).r2c().halved_axis(0).inverse(),
        Fft::new([4, 5]).c2r().halved_axis(0).scale(0.5),
        Fft::new([5, 6]).r2r([RealKind::Dct2, RealKind::Dst1]),
    ] {
        let problem = build(applied(fft.batch(3).f64(), 2, 1));
        let input = common::random(problem.input_span().end as usize, problem.precision);
        let before = common::random(problem.output_span().end as usize, problem.precision);
        let (want, mut got) = (expected(&problem, &input, &before), before.clone());
        for (at, value) in reference::reference(&problem, |at| input[at as usize]) {
            got[at as usize] = value;
        }
        assert!(common::error(&got, &want) < 1e-13, "{problem:?}");
    }
}

#[test]
fn rows_of_every_kind_and_length() {
    let limits = Limits::h200();
    for n in (1..=17).chain([31, 32, 33, 64, 97, 254, 1001, 1018]) {
        for batch in if n < 20 { vec![1, 2, 3, 7] } else { vec![3] } {
            let rows = || Fft::new([n]).batch(batch);
            check(&build(applied(rows().r2c(), 1, 1)), &limits);
            check(&build(applied(rows().c2r().scale(0.25), 1, 1)), &limits);
            for kind in RealKind::ALL.into_iter().filter(|kind| n >= kind.least() && !(9..=30).contains(&n)) {
                check(&build(applied(rows().r2r([kind]).f64(), 1, 1)), &limits);
                check(&build(applied(rows().r2r([kind]).orthogonal(), 1, 1)), &limits);
            }
        }
    }
}

#[test]
fn several_dimensions() {
    for limits in [Limits::h200(), small()] {
        for shape in [[4, 6], [5, 6], [6, 5], [5, 7], [1, 8], [8, 1]] {
            for axis in [0, 1] {
                let fft = || Fft::new(shape).batch(3);
                check(&build(applied(fft().r2c().halved_axis(axis), 2, 1)), &limits);
                check(&build(applied(fft().c2r().halved_axis(axis), 2, 1)), &limits);
                let one = || Fft::axes(shape, [axis]).batch(3);
                check(&build(applied(one().r2c(), 2, 1)), &limits);
                check(&build(applied(one().c2r(), 2, 1)), &limits);
                check(&build(applied(one().r2r([RealKind::Dct3]), 2, 1)), &limits);
            }
            check(
                &build(applied(Fft::new(shape).batch(3).r2r([RealKind::Dct2, RealKind::Dst3]), 2, 1)),
                &limits,
            );
        }
        for shape in [[4, 6, 8], [3, 5, 7], [16, 8, 12]] {
            check(&build(applied(Fft::new(shape).batch(2).r2c(), 3, 1)), &limits);
            check(&build(applied(Fft::new(shape).batch(2).c2r(), 3, 1)), &limits);
            check(&build(applied(Fft::new(shape).r2r([RealKind::Dht]), 3, 0)), &limits);
            // The order of dimensions changes on the way.
            let [a, b, c] = shape.map(|n| n as i64);
            let half = c / 2 + 1;
            let turned = Fft::new(shape).strides(&[b * c, c, 1], &[half, a * half, 1]);
            check(&build(applied(turned.r2c(), 3, 0)), &limits);
            let turned = Fft::new(shape).strides(&[half, a * half, 1], &[b * c, c, 1]);
            check(&build(applied(turned.c2r(), 3, 0)), &limits);
        }
    }
}

#[test]
fn layouts() {
    let limits = Limits::h200();
    for n in [9, 10, 12] {
        let half = half(n);
        let strided = |is: [i64; 2], os: [i64; 2]| {
            Fft::guru(&[Dim::new(n, is[0], os[0])], &[Dim::new(5, is[1], os[1])])
        };
        let (rows, back) = (n as i64, half as i64);
        check(&build(applied(strided([3, 40], [2, 17]).offsets(7, 3).r2c(), 1, 1)), &limits);
        check(&build(applied(strided([3, 40], [2, 31]).offsets(7, 3).c2r(), 1, 1)), &limits);
        let turned = strided([-1, rows], [-1, back]).offsets(n - 1, half - 1);
        check(&build(applied(turned.r2c(), 1, 1)), &limits);
        // Rows that run backwards keep their numbers.
        let turned = strided([1, -rows], [1, -back]).offsets(4 * n, 4 * half);
        check(&build(applied(turned.r2c(), 1, 1)), &limits);
        check(&build(applied(strided([5, 1], [5, 1]).c2r(), 1, 1)), &limits);
        let planar = Fft::new([3, n]).r2c().formats(Format::Real, Format::Planar);
        check(&build(applied(planar, 2, 0)), &limits);
        let planar = Fft::new([3, n]).c2r().formats(Format::Planar, Format::Real);
        check(&build(applied(planar, 2, 0)), &limits);
        for kind in RealKind::ALL {
            check(&build(applied(strided([3, 40], [2, 31]).offsets(7, 3).r2r([kind]), 1, 1)), &limits);
        }
    }
    // Two batch dimensions that would be one.
    for fft in [Fft::new([7]), Fft::new([8])] {
        check(&build(applied(fft.clone().batch(3).batch(5).r2c(), 1, 2)), &limits);
        check(&build(applied(fft.clone().batch(3).batch(5).c2r(), 1, 2)), &limits);
        check(&build(applied(fft.batch(3).batch(5).r2r([RealKind::HalfComplex]), 1, 2)), &limits);
    }
}

#[test]
fn lines_beyond_the_chip() {
    let limits = small();
    for n in [1024, 1215, 1021, 1022] {
        let rows = || Fft::new([n]).batch(3);
        check(&build(applied(rows().r2c(), 1, 1)), &limits);
        check(&build(applied(rows().c2r(), 1, 1)), &limits);
        let strided = Fft::guru(&[Dim::new(n, 3, 2)], &[Dim::new(2, 4000, 3001)]).offsets(5, 6);
        for kind in RealKind::ALL {
            check(&build(applied(rows().r2r([kind]), 1, 1)), &limits);
            check(&build(applied(strided.clone().r2r([kind]), 1, 1)), &limits);
        }
    }
    for shape in [[1200, 5], [3, 1215]] {
        check(&build(applied(Fft::new(shape).r2c(), 2, 0)), &limits);
        check(&build(applied(Fft::new(shape).c2r(), 2, 0)), &limits);
        check(&build(applied(Fft::new(shape).r2r([RealKind::Dct4]), 2, 0)), &limits);
    }
}

/// Has clusters of one size hold the tiles of a problem that takes one pass, in stages of these radices.
fn check_cluster(fft: Fft, radices: &[&[u32]], cluster: u32) {
    let (problem, limits) = (build(fft), Limits::h200());
    let mut passes = Compiled::of(&problem, &limits).expect("it compiles").schedule.passes;
    assert_eq!(passes.len(), 1, "{problem:?}");
    let mut pass = passes.swap_remove(0);
    for (axis, radices) in pass.axes.iter_mut().zip(radices) {
        axis.method = Method::MixedRadix(radices.to_vec());
    }
    let tile = Tile::new(48, cluster, vec![2; pass.batch.len()]);
    let lowered = lower::lower(&pass, &tile, lower::Walk::Rising, &limits, "forced");
    let program = Program::of_pass(&problem, &pass, lowered, &limits).expect("it is well formed");
    assert_eq!(program.kernels[0].cluster, cluster);
    check_program(&problem, &program, &limits);
}

#[test]
fn clusters() {
    let both = |fft: Fft, axes: usize, radices: &[&[u32]], cluster: u32| {
        check_cluster(applied(fft.clone().r2c().batch(5), axes, 1), radices, cluster);
        check_cluster(applied(fft.c2r().batch(5), axes, 1), radices, cluster);
    };
    both(Fft::new([256]), 1, &[&[8, 4, 4]], 4);
    both(Fft::new([320]), 1, &[&[5, 4, 4, 2]], 4);
    both(Fft::new([1024]), 1, &[&[2, 16, 16]], 16);
    both(Fft::new([16, 32]), 2, &[&[4, 4], &[4, 4]], 4);
    both(Fft::new([8, 4, 16]), 3, &[&[2, 4], &[4], &[4, 2]], 4);
}

#[test]
fn a_launch_that_two_passes_share() {
    let limits = small_cache();
    let rows = || Fft::new([128, 64]).batch(7);
    let problems = [rows().r2c(), rows().c2r()].map(|fft| build(applied(fft, 2, 1)));
    let programs = problems.into_iter().flat_map(|problem| with_shared_launches(problem, &limits));
    let mut shared = 0;
    for program in programs.take(4) {
        check_program(&program.problem, &program, &limits);
        shared += 1;
    }
    assert!(shared >= 2, "{shared} were offered");
    // Reals lie between these, and each pass folds at both ends.
    for kind in [RealKind::Dct2, RealKind::Dst3, RealKind::Dct4] {
        let problem = build(applied(Fft::new([64, 64]).batch(9).r2r([kind]), 2, 1));
        let program = with_shared_launches(problem.clone(), &limits).next().expect("one is offered");
        check_program(&problem, &program, &limits);
    }
}

#[test]
fn no_pass_is_added() {
    let passes = |problem: &Problem, limits: &Limits| {
        Compiled::of(problem, limits).expect("it compiles").schedule.passes.len()
    };
    for limits in [Limits::h200(), small()] {
        for (fft, axes) in [
            (Fft::new([1018]).batch(6).r2c(), 1),
            (Fft::new([135]).batch(6).c2r(), 1),
            (Fft::new([1215]).batch(6).r2r([RealKind::Dct2]), 1),
            (Fft::new([12, 10]).batch(6).r2c(), 2),
            (Fft::new([64, 60]).batch(6).c2r(), 2),
            (Fft::new([16, 12]).batch(6).r2r([RealKind::Dct2]), 2),
            (Fft::new([1200, 30]).batch(6).r2r([RealKind::Dst4]), 2),
        ] {
            let plain = build(fft.clone());
            assert_eq!(passes(&build(applied(fft, axes, 1)), &limits), passes(&plain, &limits), "{plain:?}");
        }
    }
    // The two passes of a long line know no functions: what has them folds by itself.
    for (n, folded) in [(1024, 3), (1026, 3), (1215, 4)] {
        for fft in [Fft::new([n]).batch(2).r2c(), Fft::new([n]).batch(2).c2r()] {
            let counts =
                [build(fft.clone()), build(applied(fft, 1, 1))].map(|problem| passes(&problem, &small()));
            assert_eq!(counts, [2, folded]);
        }
    }
}

#[test]
fn numbers_kept_in_other_types() {
    for storage in [Storage::F16, Storage::Bf16, Storage::F64] {
        for n in [60, 64, 97] {
            let rows = || Fft::new([n]).batch(4).storage(storage).scale(0.25);
            for fft in [rows(), rows().planar(), rows().r2c(), rows().c2r(), rows().r2r([RealKind::Dct2])] {
                check(&build(applied(fft, 1, 1)), &Limits::h200());
            }
            let columns = Fft::axes([n, 8], [0]).storage(storage).scale(0.5);
            check(&build(applied(columns, 2, 0)), &Limits::h200());
        }
        let line = Fft::new([4096]).storage(storage).scale(0.125);
        let little = Limits { shared_bytes: 2048, max_threads: 64, max_cluster: 1, ..Limits::h200() };
        check(&build(applied(line.clone().r2c(), 1, 0)), &little);
        check(&build(applied(line, 1, 0)), &little);
    }
}

#[test]
fn pairs_of_singles() {
    for n in [20, 21] {
        let rows = || Fft::new([n]).batch(3).double_single();
        for fft in [rows().r2c(), rows().c2r(), rows().r2r([RealKind::Dct2]), rows().r2r([RealKind::Dht])] {
            check(&build(applied(fft, 1, 1)), &Limits::webgpu_min());
        }
    }
}

/// What naga says of a shader.
fn valid(text: &str) {
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    let module = naga::front::wgsl::parse_str(text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(text)));
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    validator.validate(&module).unwrap_or_else(|e| panic!("{}\n{text}", e.emit_to_string(text)));
}

#[test]
fn kernels_are_texts_of_every_language() {
    let rows = |n| Fft::new([n]).batch(3);
    for fft in [
        applied(rows(20).r2c(), 1, 1),
        applied(rows(21).c2r(), 1, 1),
        applied(rows(21).r2r([RealKind::Dct2]), 1, 1),
        applied(Fft::new([6, 10]).r2c(), 2, 0),
        rows(20).r2c().pad(&[7]).crop(&[5]),
        rows(20).c2r().pad(&[5]).shift_output(),
        Fft::new([6, 10]).c2r().pad(&[3, 4]).crop(&[4, 7]),
        rows(1024).r2r([RealKind::Dst4]).pad(&[77]),
    ] {
        let problem = build(fft);
        let check = |kernel| {
            [true, false]
                .into_iter()
                .for_each(|browser| valid(&emit::wgsl(kernel, browser).expect("it can be said")));
        };
        compile(&problem, &small()).expect("it compiles").kernels.iter().for_each(check);
        for kernel in &compile(&problem, &Limits::h200()).expect("it compiles").kernels {
            assert!(emit::ptx(kernel, 90).expect("it can be said").contains("ret;"));
        }
    }
}

/// Bands have them too, in no more passes.
#[test]
fn bands_meet_them_at_both_ends() {
    let zoom = || Fft::new([64]).zoom(0.0, 0.5, 16).batch(10);
    let plain = compile(&zoom().build().expect("it can be"), &Limits::h200()).expect("it compiles");
    let asked = zoom().on_load(|x, at| x * at.axis(0)).on_store(|x, _| x.norm_sqr());
    let both = compile(&asked.build().expect("it can be"), &Limits::h200()).expect("it compiles");
    assert_eq!(plain.launches.len(), both.launches.len());
}
