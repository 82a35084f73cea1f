//! Numbers kept in other types than they are computed in, on the simulator: every kind against its definition, on the
//! numbers as they were kept.

mod common;
mod definitions;

use common::limits::pairs;
use common::{C64, build};
use definitions::reference;
use warpfft_core::Error;
use warpfft_core::kernel::simulate::Report;
use warpfft_core::kernel::{Block, Kernel, Op, Type};
use warpfft_core::problem::{Dim, Format, Kind, Placement, Precision, Problem, RealKind, Storage};
use warpfft_core::program::{Compiled, Program, compile};
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

fn check(problem: &Problem, limits: &Limits) -> Report {
    let what = format!(
        "{:?} {:?} batch {:?} {:?} to {:?} {:?} on {}",
        problem.kind,
        problem.transform,
        problem.batch,
        problem.input,
        problem.output,
        problem.stored(),
        limits.name
    );
    let program = compile(problem, limits).unwrap_or_else(|error| panic!("{what}: {error}"));
    let [read, written] = problem.stored();
    let input = common::random_in(problem.input_span().end as usize, read);
    let output = match problem.placement {
        Placement::InPlace => input.clone(),
        Placement::OutOfPlace => common::random_in(problem.output_span().end as usize, written),
    };
    let want = match problem.kind {
        Kind::Complex => common::reference(problem, &input, &output),
        _ => reference(problem, &input, &output),
    };
    let run = common::run(&program, limits, &input, &output);
    let (got, report) = run.unwrap_or_else(|fault| panic!("{what}: {fault}"));
    let real = problem.output == Format::Real;
    let want: Vec<C64> = want.iter().map(|x| if real { C64::new(x.re, 0.0) } else { *x }).collect();
    let (error, bound) = (common::error(&got, &want), 1.5 * problem.error_bound());
    assert!(error < bound, "{what}: relative error {error:.2e}, {bound:.2e} allowed");
    report
}

/// All pairs of types that are worth the time.
const TYPES: [[Storage; 2]; 6] = [
    [Storage::F16; 2],
    [Storage::Bf16; 2],
    [Storage::F16, Storage::F32],
    [Storage::F32, Storage::F16],
    [Storage::Bf16, Storage::F16],
    [Storage::F64, Storage::Bf16],
];

#[test]
fn rows_of_every_length() {
    for n in 1..=128 {
        let [read, written] = TYPES[n as usize % TYPES.len()];
        let rows = || Fft::new([n]).batch(1 + n % 5);
        for storages in [[Storage::F16; 2], [read, written]] {
            let fft = rows().precision(Precision::F32).storages(storages[0], storages[1]);
            check(&build(fft), &Limits::h200());
        }
        check(&build(rows().bf16().in_place().inverse()), &Limits::t4());
        check(&build(rows().f16().planar()), &Limits::h200());
        check(&build(rows().f16().f64().formats(Format::Planar, Format::Interleaved)), &Limits::a100());
    }
}

/// Primes that two blocks share.
#[test]
fn primes_in_halves() {
    let limits = pairs();
    for [read, written] in [[Storage::F16; 2], [Storage::Bf16, Storage::F32], [Storage::F32, Storage::F16]] {
        let problem = build(Fft::new([521]).batch(5).precision(Precision::F32).storages(read, written));
        let program = compile(&problem, &limits).expect("it compiles");
        assert!(program.kernels.iter().all(|kernel| kernel.cluster == 2));
        check(&problem, &limits);
    }
}

/// Whether a kernel brings tiles by bulk copies.
fn brings(block: &Block) -> bool {
    let inner = |block: &Block| brings(block);
    block.insts.iter().any(|inst| inst.op == Op::BulkLoad || inst.blocks.iter().any(inner))
}

/// On one multiprocessor. Two blocks of 8192 points share it, and one tile leaves nothing to take turns at.
#[test]
fn tiles_that_come_ahead() {
    let one = Limits { multiprocessors: 1, max_cluster: 1, name: "one".into(), ..Limits::h200() };
    let types = [[Storage::F16; 2], [Storage::Bf16, Storage::F32], [Storage::F16, Storage::F16]];
    for (shape, batch, ahead) in [
        (&[16384][..], 1, false),
        (&[16384], 2, true),
        (&[16384], 5, true),
        (&[12000], 5, true),
        (&[128, 128], 3, true),
        (&[8192], 7, false),
    ] {
        for (i, [read, written]) in types.into_iter().enumerate() {
            let fft = Fft::new(shape.to_vec()).batch(batch).storages(read, written);
            let problem = build(if i == 2 { fft.in_place().inverse() } else { fft });
            check(&problem, &one);
            let program = compile(&problem, &one).expect("it compiles");
            let brought = program.kernels.iter().any(|kernel| brings(&kernel.body));
            assert_eq!(brought, ahead, "{batch} of {shape:?}");
        }
    }
}

/// Pairs of singles, kept in types that hold less than they do, or more.
#[test]
fn pairs_of_singles() {
    let types = TYPES.into_iter().chain([[Storage::F32; 2], [Storage::F32, Storage::F64]]);
    for (i, [read, written]) in types.enumerate() {
        let asked = |fft: Fft| build(fft.double_single().storages(read, written));
        for limits in [Limits::h200(), Limits::vulkan_min(), tight()] {
            check(&asked(Fft::new([60]).batch(3)), &limits);
            check(&asked(Fft::new([211 + i as u64]).batch(2)), &limits);
            check(&asked(Fft::new([1024])), &limits);
            check(&asked(Fft::new([12, 18]).r2c()), &limits);
            // Where memory is of words, no single halves are written.
            if limits.f16 || matches!(written, Storage::F32 | Storage::F64) {
                check(&asked(Fft::new([48]).batch(2).c2r()), &limits);
                check(&asked(Fft::new([20]).r2r([RealKind::Dct2])), &limits);
            }
            if read == written {
                check(&asked(Fft::new([100]).batch(5).in_place().inverse()), &limits);
            }
        }
    }
    // Tiles that come ahead.
    let one = Limits { multiprocessors: 1, max_cluster: 1, name: "one".into(), ..Limits::h200() };
    let problem = build(Fft::new([8192]).batch(3).double_single().storage(Storage::F32));
    check(&problem, &one);
    let program = compile(&problem, &one).expect("it compiles");
    assert!(program.kernels.iter().any(|kernel| brings(&kernel.body)));
}

#[test]
fn longer_rows() {
    for n in [256, 360, 500, 512, 1000, 1009, 1018, 1024, 2003, 2048, 4096, 6000, 8192, 16384] {
        for [read, written] in [[Storage::F16; 2], [Storage::Bf16, Storage::F32]] {
            check(&build(Fft::new([n]).batch(3).storages(read, written)), &Limits::h200());
        }
    }
    for n in [1024, 4096] {
        check(&build(Fft::new([n]).batch(40).f16()), &Limits::h200());
        check(&build(Fft::new([n]).batch(7).f16().in_place()), &Limits::a100());
    }
}

/// Limits so tight that short transforms need several passes.
fn tight() -> Limits {
    Limits { shared_bytes: 4096, max_threads: 64, name: "tight".into(), ..Limits::h200() }
}

#[test]
fn several_passes_keep_what_they_compute() {
    for n in [1024, 1000, 1009, 1310, 4096, 5003, 16384] {
        for [read, written] in TYPES {
            let fft = Fft::new([n]).batch(2).precision(Precision::F32).storages(read, written);
            check(&build(fft), &tight());
        }
        check(&build(Fft::new([n]).batch(2).f16().in_place()), &tight());
    }
    for shape in [[64, 96], [33, 50], [128, 128]] {
        for fft in [Fft::new(shape).f16(), Fft::new(shape).bf16().in_place(), Fft::new(shape).f16().r2c()] {
            check(&build(fft.clone()), &tight());
            check(&build(fft.batch(3)), &Limits::h200());
        }
        check(&build(Fft::new(shape).f16().c2r()), &tight());
        check(&build(Fft::new(shape).f16().r2r([RealKind::Dct2])), &tight());
    }
    // Sums beyond the largest f16, which cancel in the second dimension.
    let problem = build(Fft::new([256, 256]).f16().scale(1.0 / 256.0));
    let large = vec![C64::new(60000.0, -60000.0); 65536];
    let program = compile(&problem, &tight()).unwrap();
    assert!(program.launches.len() > 1);
    let zeros = vec![C64::default(); 65536];
    let (got, _) = common::run(&program, &tight(), &large[..], &zeros).unwrap();
    assert!(got[0].re.is_infinite() && got[1..].iter().all(|x| x.re.is_finite() && x.im.is_finite()));
}

#[test]
fn real_kinds() {
    for n in (1..=40).chain([64, 100, 127, 128, 255, 256, 257, 482, 1000, 1018]) {
        let [read, written] = TYPES[n as usize % TYPES.len()];
        for rows in [Fft::new([n]).batch(3), Fft::new([n]).batch(4)] {
            check(&build(rows.clone().r2c().f16()), &Limits::h200());
            check(&build(rows.clone().c2r().f16()), &Limits::h200());
            let computed = rows.precision(Precision::F32);
            check(&build(computed.clone().r2c().storages(read, written)), &Limits::h200());
            check(&build(computed.clone().c2r().storages(read, written)), &Limits::h200());
            let kind = RealKind::ALL[n as usize % RealKind::ALL.len()];
            if n >= kind.least() {
                check(&build(computed.clone().r2r([kind]).f16()), &Limits::h200());
                check(&build(computed.r2r([kind]).storages(read, written).orthogonal()), &Limits::t4());
            }
        }
    }
    for shape in [[5, 6], [16, 30], [1, 8], [7, 9]] {
        for fft in [Fft::new(shape).f16(), Fft::new(shape).bf16().batch(2)] {
            for axis in [0, 1] {
                check(&build(fft.clone().r2c().halved_axis(axis)), &tight());
                check(&build(fft.clone().c2r().halved_axis(axis)), &tight());
            }
            check(&build(fft.clone().r2r([RealKind::Dht, RealKind::Dst4])), &tight());
        }
    }
    let long = Limits { shared_bytes: 2048, max_threads: 32, name: "tighter".into(), ..Limits::h200() };
    for n in [512, 1021, 1024, 1155, 2000, 2025] {
        for fft in [Fft::new([n]).f16().batch(3).r2c(), Fft::new([n]).f16().batch(3).c2r()] {
            check(&build(fft), &long);
        }
        check(&build(Fft::new([n]).f16().batch(2).r2r([RealKind::Dct2])), &long);
    }
}

#[test]
fn layouts() {
    // Columns, gaps, falling strides, transposed output, broadcast input.
    let cases = [
        (vec![Dim::new(30, 7, 7)], vec![Dim::new(7, 1, 1)], 0, 0),
        (vec![Dim::new(32, 8, 8)], vec![Dim::new(8, 1, 1)], 0, 0),
        (vec![Dim::new(32, 1, 1)], vec![Dim::new(8, 33, 32)], 0, 0),
        (vec![Dim::new(32, 1, 1)], vec![Dim::new(8, 32, 32)], 1, 0),
        (vec![Dim::new(32, 1, 1)], vec![Dim::new(8, 32, 34)], 2, 3),
        (vec![Dim::new(30, 2, 3)], vec![Dim::new(5, 61, 91)], 5, 3),
        (vec![Dim::new(30, -1, 1)], vec![Dim::new(5, 30, -30)], 29, 120),
        (vec![Dim::new(12, 20, 1), Dim::new(20, 1, 12)], vec![Dim::new(3, 240, 240)], 0, 0),
        (vec![Dim::new(30, 1, 1)], vec![Dim::new(4, 0, 30), Dim::new(3, 30, 120)], 0, 0),
        (vec![Dim::new(37, 3, 5)], vec![Dim::new(3, 1, 1)], 0, 2),
    ];
    let formats = [Format::Interleaved, Format::Planar];
    for (transform, batch, input, output) in cases {
        for storages in [[Storage::F16; 2], [Storage::F32, Storage::Bf16]] {
            for (from, to) in formats.into_iter().flat_map(|from| formats.map(|to| (from, to))) {
                let fft = Fft::guru(&transform, &batch).offsets(input, output).formats(from, to);
                let problem = build(fft.storages(storages[0], storages[1]));
                check(&problem, &Limits::h200());
                check(&problem, &tight());
            }
        }
    }
}

#[test]
fn nothing_overflows_that_was_scaled_to_fit() {
    let full = Storage::F16.largest();
    for fft in [
        Fft::new([1024]),
        Fft::new([1000]),
        Fft::new([1009]),
        Fft::new([32, 32]),
        Fft::new([1024]).r2c(),
        Fft::new([1024]).c2r(),
        Fft::new([255]).r2r([RealKind::Dct2]),
        Fft::new([256]).r2r([RealKind::Dct1]).orthogonal(),
        Fft::new([64, 3]).r2r([RealKind::Dht]).scale(7.0),
    ] {
        let problem = build(fft.clone().f16().scale_to_fit());
        let plain = build(fft.f16());
        assert!(problem.scale < plain.scale && (plain.scale / problem.scale).log2().fract() == 0.0);
        // One power of two more could overflow.
        assert!(problem.gain() * problem.scale <= 1.0 && problem.gain() * problem.scale > 0.5);
        let len = problem.input_span().end as usize;
        let zeros = vec![C64::default(); problem.output_span().end as usize];
        let inputs = [C64::new(full, full), C64::new(full, -full), C64::new(-full, full)];
        for limits in [Limits::h200(), tight()] {
            for x in inputs {
                let (scaled, unscaled) = (compile(&problem, &limits), compile(&plain, &limits));
                let finite = |program: Program, expected| {
                    let (got, _) = common::run(&program, &limits, &vec![x; len], &zeros).expect("it runs");
                    let all = got.iter().all(|x| x.re.is_finite() && x.im.is_finite());
                    assert_eq!(all, expected, "{problem:?}");
                };
                finite(scaled.expect("it is possible"), true);
                // Sums of as many equal numbers are beyond all that f16 can say.
                finite(unscaled.expect("it is possible"), false);
            }
        }
    }
    let wide =
        Fft::new([1024]).bf16().f64().scale_to_fit().build().expect("double precision reaches further");
    assert_eq!(wide.scale, 1.0 / 2048.0);
    let error = Fft::new([1024]).bf16().scale_to_fit().build().unwrap_err();
    assert!(matches!(error, Error::NoHeadroom { storage: Storage::Bf16, .. }), "{error}");
    assert!(Fft::new([4]).scale_to_fit().build().is_err());
    assert_eq!(build(Fft::new([4]).f16().scale(1e-3).scale_to_fit()).scale, 1e-3);
}

#[test]
fn what_cannot_be_is_refused() {
    let error = Fft::new([8]).storages(Storage::F16, Storage::F32).in_place().build().unwrap_err();
    assert_eq!(error, Error::InPlaceStorage { input: Storage::F16, output: Storage::F32 });
    assert!(Fft::new([8]).storages(Storage::F16, Storage::Bf16).in_place().r2c().build().is_err());
    let error = "f8".parse::<Storage>().unwrap_err();
    assert!(error.to_string().contains("f16, bf16, f32, f64"), "{error}");
    // Passes that keep to the caller's memory would keep there what they go on with.
    let problem = build(Fft::new([1 << 16]).f16().in_place().max_workspace(0));
    assert!(matches!(compile(&problem, &tight()), Err(Error::Workspace { .. })));
    let wide = build(Fft::new([64]).precision(Precision::F32).storage(Storage::F64));
    assert!(matches!(compile(&wide, &Limits::vulkan_min()), Err(Error::Unsupported { .. })));
}

#[test]
fn types_follow_from_one_another() {
    let of = |fft: Fft| {
        let problem = build(fft);
        (problem.precision, problem.stored())
    };
    assert_eq!(of(Fft::new([8])), (Precision::F32, [Storage::F32; 2]));
    assert_eq!(of(Fft::new([8]).f64()), (Precision::F64, [Storage::F64; 2]));
    assert_eq!(of(Fft::new([8]).f16()), (Precision::F32, [Storage::F16; 2]));
    assert_eq!(of(Fft::new([8]).bf16().f64()), (Precision::F64, [Storage::Bf16; 2]));
    let mixed = Fft::new([8]).storages(Storage::F32, Storage::F64);
    assert_eq!(of(mixed), (Precision::F64, [Storage::F32, Storage::F64]));
    // The same in other words is equal.
    assert_eq!(build(Fft::new([8]).storage(Storage::F32)), build(Fft::new([8])));
    assert_eq!(build(Fft::new([8]).storage(Storage::F64)), build(Fft::new([8]).f64()));
}

/// Of each kernel, the bytes of the narrowest access to buffers that keep short numbers, and how many such accesses a thread has on the
/// side that has fewer.
fn narrowest(problem: &Problem, limits: &Limits) -> Vec<(u32, usize)> {
    fn visit(kernel: &Kernel, block: &Block, all: &mut [Vec<u32>; 2]) {
        for inst in &block.insts {
            if let (Op::Load { width, .. } | Op::Store { width, .. }, Type::Ptr(space)) =
                (inst.op, inst.args.first().map_or(Type::Bool, |&ptr| kernel.ty(ptr)))
                && kernel.elem(space).bytes() == 2
            {
                all[usize::from(matches!(inst.op, Op::Store { .. }))].push(2 * u32::from(width));
            }
            inst.blocks.iter().for_each(|block| visit(kernel, block, all));
        }
    }
    let program = compile(problem, limits).expect("it is possible");
    let of = |kernel: &Kernel| {
        let mut all = [Vec::new(), Vec::new()];
        visit(kernel, &kernel.body, &mut all);
        let least = all.iter().flatten().copied().min().unwrap_or(u32::MAX);
        let sides = all.iter().filter(|side| side.contains(&least));
        (least, sides.map(Vec::len).min().unwrap_or(0))
    };
    program.kernels.iter().map(|kernel| of(kernel)).collect()
}

/// Accesses have 8 bytes, or a thread has so many of 4 that they cost nothing (`cost/short.rs`).
#[test]
fn neighbours_move_together_or_threads_have_many() {
    let mut narrow = Vec::new();
    let mut look = |name: String, fft: Fft| {
        let few = |&(bytes, accesses): &(u32, usize)| bytes < 4 || (bytes < 8 && accesses < 16);
        let all = narrowest(&build(fft), &Limits::h200());
        if all.iter().any(few) {
            narrow.push(format!("{name}: {all:?}"));
        }
    };
    for log in 1..=14 {
        let rows = || Fft::new([1 << log]).batch((1 << 27) >> log);
        look(format!("f16 2^{log}"), rows().f16());
        look(format!("bf16 in place 2^{log}"), rows().bf16().in_place());
    }
    look("1000".into(), Fft::new([1000]).f16().batch(1 << 17));
    look("2^20".into(), Fft::new([1 << 20]).f16().batch(128));
    look("columns".into(), Fft::axes([256, 4096], [0]).f16().batch(128));
    assert!(narrow.is_empty(), "{narrow:#?}");
}

/// Of tiles that were timed in f16 on an H200, those of few warps were faster where a long prime is one of three stages: one
/// transform a block took 1.98, 1.88, 1.57 and 1.70 copies, two or three 2.30, 2.67, 1.73 and 1.86.
#[test]
fn few_warps_go_through_long_primes() {
    let limits = Limits::h200();
    for n in [2950_u64, 3619, 2849, 2989] {
        let problem = build(Fft::new([n]).batch((1 << 26) / n).f16());
        let planned = Compiled::of(&problem, &limits).expect("it has plans");
        assert_eq!(planned.parts[0].tile.batch, [1], "{n}: {}", planned.schedule.plans[0]);
    }
}
