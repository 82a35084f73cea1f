//! Transforms through the whole path on the simulator: against the reference, with races, stray accesses and
//! reads of unwritten memory ruled out.

mod common;

use common::{Case, packed, rows};
use warpfft_core::compile;
use warpfft_core::cost::occupancy;
use warpfft_core::kernel::Op;
use warpfft_core::plan::Plan;
use warpfft_core::planner::Planner;
use warpfft_core::problem::{Dim, Direction, Format, Placement, Precision, Problem};
use warpfft_core::program::Compiled;
use warpfft_core::target::Limits;

/// Runs a problem on random data under the given limits; panics with everything that matters.
fn check(problem: &Problem, limits: &Limits, what: &str) {
    let program = compile(problem, limits).unwrap_or_else(|e| panic!("{what}: {e}"));
    Case::new(problem).check(&program, limits, what);
}

#[test]
fn every_length_to_1024() {
    for n in 1..=1024 {
        check(&rows(n, 3, Precision::F32), &Limits::h200(), &format!("length {n}"));
    }
}

/// Limits so tight that short transforms need several passes.
fn tight() -> Limits {
    Limits { shared_bytes: 4096, max_threads: 64, name: "tight".into(), ..Limits::h200() }
}

#[test]
fn every_length_to_256_in_f64_and_backwards() {
    for n in 1..=256 {
        let problem =
            Problem { direction: Direction::Inverse, scale: 1.0 / n as f64, ..rows(n, 2, Precision::F64) };
        check(&problem, &Limits::h200(), &format!("inverse f64 length {n}"));
    }
}

/// A device so small that blocks stay and take tile after tile.
#[test]
fn staying_blocks() {
    let small = Limits { multiprocessors: 1, name: "small".into(), ..Limits::h200() };
    for (n, batch) in [
        (37, 1999),
        (74, 800),
        (127, 1001),
        (407, 301),
        (1009, 100),
        (1517, 61),
        (2003, 40),
        (997, 90),
        (173, 500),
    ] {
        for direction in [Direction::Forward, Direction::Inverse] {
            let problem = Problem { direction, ..rows(n, batch, Precision::F32) };
            check(&problem, &small, &format!("{batch} of {n}"));
            check(
                &Problem { precision: Precision::F64, ..problem },
                &small,
                &format!("{batch} of {n} in f64"),
            );
        }
    }
}

/// Stages of primes that leave a thread no register to spare, beside others as long.
#[test]
fn the_longest_codelets() {
    for n in [41 * 67, 41 * 71, 41 * 73, 61 * 67, 67 * 71, 40 * 73] {
        for direction in [Direction::Forward, Direction::Inverse] {
            let problem = Problem { direction, ..rows(n, 3, Precision::F32) };
            let plan = Planner::new(&Limits::h200(), Precision::F32).on_chip(n).expect("it fits");
            assert!(matches!(plan, Plan::MixedRadix(_)), "{n} is {plan}");
            check(&problem, &Limits::h200(), &format!("{n} {direction:?}"));
        }
    }
}

/// Primes that have codelets, and convolve beside others.
#[test]
fn long_primes_as_parts() {
    for n in [45 * 71, 67 * 44, 37 * 101, 2 * 43 * 71] {
        for direction in [Direction::Forward, Direction::Inverse] {
            let problem = Problem { direction, ..rows(n, 3, Precision::F32) };
            let plan = Planner::new(&Limits::h200(), Precision::F32).on_chip(n).expect("it fits");
            assert!(matches!(plan, Plan::PrimeFactor(_)), "{n} is {plan}");
            check(&problem, &Limits::h200(), &format!("{n} {direction:?}"));
        }
    }
}

#[test]
fn several_passes() {
    for n in [600, 1024, 1000, 1155, 4096, 1009, 2018, 3 * 1009, 5003, 8192, 16384, 32768, 74 * 100] {
        for direction in [Direction::Forward, Direction::Inverse] {
            let problem = Problem { direction, ..rows(n, 2, Precision::F32) };
            check(&problem, &tight(), &format!("tight length {n} {direction:?}"));
        }
    }
}

#[test]
fn long_lengths_on_the_h200() {
    for n in [4096, 6000, 8192, 10007, 16384, 20000, 32768, 65536] {
        check(&rows(n, 1, Precision::F32), &Limits::h200(), &format!("length {n}"));
        check(&rows(n, 1, Precision::F64), &Limits::h200(), &format!("f64 length {n}"));
    }
}

/// One block takes them alone on its multiprocessor, with more than half of the registers full of data; planes
/// and volumes where there are no clusters, whose blocks are expected to do better.
#[test]
fn rows_that_fill_more_than_half_the_registers() {
    let one = Limits { multiprocessors: 1, name: "one multiprocessor".into(), ..Limits::h200() };
    let alone = Limits { max_cluster: 1, ..one.clone() };
    for (shape, precision, limits, cluster) in [
        (&[16_807][..], Precision::F32, &one, 1),
        (&[20_000], Precision::F32, &one, 1),
        (&[20_480], Precision::F32, &one, 1),
        (&[27, 27, 27], Precision::F32, &alone, 1),
        (&[27, 27, 27], Precision::F32, &one, 9),
        (&[10_000], Precision::F64, &one, 1),
        (&[96, 96], Precision::F64, &alone, 1),
        (&[96, 96], Precision::F64, &one, 4),
    ] {
        for placement in [Placement::InPlace, Placement::OutOfPlace] {
            let problem = Problem { placement, ..packed(shape, 3, precision) };
            let compiled = Compiled::of(&problem, limits).expect("it is possible");
            let tiles: Vec<u32> = compiled.parts.iter().map(|part| part.tile.cluster).collect();
            assert_eq!(tiles, [cluster], "{shape:?}");
            Case::new(&problem).check(&compiled.program, limits, &format!("{shape:?} {placement:?}"));
        }
    }
}

/// One block alone holds them, and asks for what later ones read; rows of odd lengths start anywhere in 16 bytes.
#[test]
fn convolutions_that_fill_a_multiprocessor() {
    let few = Limits { multiprocessors: 4, name: "four multiprocessors".into(), ..Limits::h200() };
    for (n, precision) in
        [(10_007, Precision::F32), (12_011, Precision::F32), (16_381, Precision::F32), (4099, Precision::F64)]
    {
        for direction in [Direction::Forward, Direction::Inverse] {
            let problem = Problem { direction, ..rows(n, 5, precision) };
            let program = compile(&problem, &few).expect("it is possible");
            assert_eq!(program.launches.len(), 1, "{n}");
            let prefetches = program.kernels[0].body.insts.iter();
            let prefetches = prefetches.filter(|inst| matches!(inst.op, Op::BulkPrefetch { .. })).count();
            assert_eq!(prefetches, 1, "{n}");
            Case::new(&problem).check(&program, &few, &format!("length {n} {direction:?}"));
        }
    }
}

/// So do lengths, planes and volumes of an odd number of points, by one block or by the blocks of a cluster.
#[test]
fn odd_tiles_ask_for_what_later_blocks_read() {
    let few = Limits { multiprocessors: 2, name: "two multiprocessors".into(), ..Limits::h200() };
    let shapes: [&[u64]; 5] = [&[10_125], &[16_807], &[21_609], &[25, 25, 25], &[125, 125]];
    for shape in shapes {
        let problem = packed(shape, 13, Precision::F32);
        let program = compile(&problem, &few).expect("it is possible");
        let prefetches = program.kernels[0].body.insts.iter();
        let prefetches = prefetches.filter(|inst| matches!(inst.op, Op::BulkPrefetch { .. })).count();
        assert_eq!(prefetches, 1, "{shape:?}");
        Case::new(&problem).check(&program, &few, &format!("{shape:?}"));
    }
}

/// Many blocks on a multiprocessor leave memory no time, unless they compute for longer than it takes, or are far apart.
#[test]
fn many_blocks_ask_for_slabs_where_memory_would_wait() {
    let one = Limits { multiprocessors: 1, name: "one multiprocessor".into(), ..Limits::h200() };
    for (n, asks) in
        [(4096, true), (1061, true), (373, true), (3600, true), (1024, false), (64, false), (20, false)]
    {
        let problem = rows(n, (1 << 17) / n, Precision::F32);
        let program = compile(&problem, &one).expect("it is possible");
        let [kernel] = &program.kernels[..] else { panic!("{n} takes several passes") };
        let found = kernel.body.insts.iter().any(|inst| matches!(inst.op, Op::BulkPrefetch { .. }));
        assert_eq!(found, asks, "{n}");
        Case::new(&problem).check(&program, &one, &format!("length {n}"));
    }
}

/// A thread has no room for its share of so large a tile, and takes it piece by piece.
#[test]
fn primes_that_fill_half_the_registers() {
    for (n, precision) in [(16_381, Precision::F32), (13 * 1009, Precision::F32), (12_289, Precision::F32)] {
        for direction in [Direction::Forward, Direction::Inverse] {
            for placement in [Placement::InPlace, Placement::OutOfPlace] {
                // Two would take several passes, which need room.
                let max_workspace = Some(0);
                let problem = Problem { direction, placement, max_workspace, ..rows(n, 2, precision) };
                let compiled = Compiled::of(&problem, &Limits::h200()).expect("it is possible");
                let [pass] = &compiled.schedule.passes[..] else { panic!("{n} takes several passes") };
                let took = occupancy(pass, &compiled.parts[0].tile, &Limits::h200()).expect("it fits");
                assert!(took.piecewise, "{n}: {took:?}");
                Case::new(&problem).check(&compiled.program, &Limits::h200(), &format!("length {n}"));
            }
        }
    }
}

#[test]
fn planes_and_volumes() {
    let shapes: [&[u64]; 12] = [
        &[4, 4],
        &[3, 5],
        &[16, 16],
        &[9, 7, 5],
        &[8, 8, 8],
        &[33, 17],
        &[37, 6],
        &[64, 64],
        &[100, 90],
        &[5, 4, 3, 2],
        &[128, 256],
        &[41, 43],
    ];
    for shape in shapes {
        for limits in [Limits::h200(), tight(), Limits::webgpu_min()] {
            for placement in [Placement::InPlace, Placement::OutOfPlace] {
                let problem = Problem { placement, ..packed(shape, 3, Precision::F32) };
                check(&problem, &limits, &format!("{shape:?} {} {placement:?}", limits.name));
            }
        }
    }
}

#[test]
fn layouts() {
    let base = rows(30, 1, Precision::F32);
    // Columns, gaps, falling strides, transposed output, broadcast input, planar on each side.
    let cases = [
        (vec![Dim::new(30, 7, 7)], vec![Dim::new(7, 1, 1)], 0, 0),
        (vec![Dim::new(30, 2, 3)], vec![Dim::new(5, 61, 91)], 5, 3),
        (vec![Dim::new(30, -1, 1)], vec![Dim::new(5, 30, -30)], 29, 120),
        (vec![Dim::new(12, 20, 1), Dim::new(20, 1, 12)], vec![Dim::new(3, 240, 240)], 0, 0),
        (vec![Dim::new(30, 1, 1)], vec![Dim::new(4, 0, 30), Dim::new(3, 30, 120)], 0, 0),
        (vec![Dim::new(37, 3, 5)], vec![Dim::new(3, 1, 1)], 0, 2),
    ];
    for (transform, batch, input_offset, output_offset) in cases {
        for (input, output) in [
            (Format::Interleaved, Format::Interleaved),
            (Format::Planar, Format::Interleaved),
            (Format::Interleaved, Format::Planar),
            (Format::Planar, Format::Planar),
        ] {
            for limits in [Limits::h200(), tight()] {
                let (transform, batch) = (transform.clone(), batch.clone());
                let problem =
                    Problem { transform, batch, input_offset, output_offset, input, output, ..base.clone() };
                check(&problem, &limits, &format!("{problem:?} {}", limits.name));
            }
        }
    }
}

#[test]
fn transposition_in_place() {
    let dims = vec![Dim::new(24, 24, 1), Dim::new(24, 1, 24)];
    let problem = Problem { transform: dims, placement: Placement::InPlace, ..rows(1, 1, Precision::F32) };
    check(&problem, &Limits::h200(), "24 x 24 transposed in place");
    check(&problem, &tight(), "24 x 24 transposed in place, tight");
}
