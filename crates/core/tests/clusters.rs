//! Tiles that clusters of blocks hold together, on the simulator: against the reference, without races.

mod common;

use common::{Case, packed, rows};
use warpfft_core::compile;
use warpfft_core::kernel::Op;
use warpfft_core::kernel::simulate::Report;
use warpfft_core::lower;
use warpfft_core::lower::tile::Tile;
use warpfft_core::pass::{Array, Axis, Method, Operand, Pass, PassDim};
use warpfft_core::problem::{Dim, Direction, Format, Placement, Precision, Problem, Storage};
use warpfft_core::program::{Compiled, Program};
use warpfft_core::recipe::candidates;
use warpfft_core::target::Limits;

/// Runs a problem on random data; gives the cluster of each launch and what the simulator counted.
fn check(problem: &Problem, limits: &Limits, what: &str) -> (Vec<u32>, Report) {
    let program = compile(problem, limits).unwrap_or_else(|e| panic!("{what}: {e}"));
    run(&program, problem, limits, what)
}

/// The same for two lines as they are planned for as many as fill the device.
fn check_two(n: u64, what: &str) -> (Vec<u32>, Report) {
    let (two, many) = (rows(n, 2, Precision::F32), rows(n, (1 << 26) / n, Precision::F32));
    let limits = Limits::h200();
    let recipe = candidates(&many, &limits, 1).unwrap_or_else(|e| panic!("{what}: {e}")).remove(0).recipe;
    let compiled = Compiled::by(&recipe, &two, &limits).unwrap_or_else(|e| panic!("{what}: {e}"));
    run(&compiled.program, &two, &limits, what)
}

fn run(program: &Program, problem: &Problem, limits: &Limits, what: &str) -> (Vec<u32>, Report) {
    let report = Case::new(problem).check(program, limits, what);
    let clusters = program.launches.iter().map(|launch| program.kernels[launch.kernel].cluster).collect();
    (clusters, report)
}

#[test]
fn long_rows_on_the_h200() {
    for (n, cluster) in [(1 << 15, 8), (1 << 16, 16), (1 << 17, 16)] {
        let (clusters, report) = check_two(n, &format!("length {n}"));
        assert_eq!(clusters, [cluster], "length {n}");
        println!("{n}: {report:?}");
        // The data once each way, tables beside it, and no bank touched twice in one access.
        let data = 2 * n * 8 / 32;
        assert_eq!(report.global_sectors_written, data, "length {n}");
        assert!(report.global_sectors_read < data * 5 / 4, "length {n}: {}", report.global_sectors_read);
        assert_eq!(report.shared_wavefronts, report.shared_accesses, "length {n}");
    }
}

/// Lines that one block holds, of which there are too few to keep the device busy.
#[test]
fn a_few_lines_are_shared_by_many_blocks() {
    for (n, batch, precision, cluster) in [
        (8192, 1, Precision::F32, 8),
        (16_384, 1, Precision::F32, 8),
        (16_384, 33, Precision::F32, 8),
        (32_768, 1, Precision::F32, 16),
        (12_000, 3, Precision::F32, 10),
        (15_625, 1, Precision::F32, 5),
        (10_000, 1, Precision::F32, 10),
        (4096, 2, Precision::F64, 8),
        (16_384, 1, Precision::F64, 16),
    ] {
        let what = format!("{batch} of {n} in {precision}");
        let (clusters, report) = check(&rows(n, batch, precision), &Limits::h200(), &what);
        assert_eq!(clusters, [cluster], "{what}");
        println!("{what}: {report:?}");
    }
    // Below what a cluster is for, and where blocks alone are many.
    for (n, batch) in [(4096, 1), (8192, 34), (16_384, 34)] {
        let program = compile(&rows(n, batch, Precision::F32), &Limits::h200()).expect("it compiles");
        assert!(program.kernels.iter().all(|kernel| kernel.cluster == 1), "{batch} of {n}");
    }
}

/// Lines of which a cluster's blocks hold large tiles, where there are too few to keep the device busy.
#[test]
fn a_few_long_lines_take_two_passes_by_blocks() {
    for (n, batch, precision) in [
        (50_000, 1, Precision::F32),
        (40_000, 1, Precision::F32),
        (1 << 16, 1, Precision::F32),
        (1 << 17, 8, Precision::F32),
        (24_000, 1, Precision::F64),
        (1 << 15, 1, Precision::F64),
    ] {
        let what = format!("{batch} of {n} in {precision}");
        let problem = rows(n, batch, precision);
        let (clusters, _) = check(&problem, &Limits::h200(), &what);
        assert_eq!(clusters, [1, 1], "{what}");
        // Where workspace is not to be had, and where there are many, a cluster holds a line.
        let without = Problem { max_workspace: Some(0), ..problem.clone() };
        for other in [without, rows(n, (1 << 26) / n, precision)] {
            let program = compile(&other, &Limits::h200()).expect("it compiles");
            let clusters: Vec<u32> = program.kernels.iter().map(|kernel| kernel.cluster).collect();
            assert!(matches!(clusters[..], [cluster] if cluster > 1), "{what}: {clusters:?}");
        }
    }
}

#[test]
fn rows_by_numbers_of_blocks_that_are_no_powers_of_two() {
    for (n, cluster) in [(24_000, 10), (33_750, 15), (38_416, 14), (54_000, 15), (60_000, 10)] {
        let (clusters, report) = check_two(n, &format!("length {n}"));
        assert_eq!(clusters, [cluster], "length {n}");
        // Rows of 15 frequencies start and end within sectors.
        let data = 2 * n * 8 / 32;
        assert!(report.global_sectors_written < data * 7 / 5, "{n}: {}", report.global_sectors_written);
    }
    // Where few of their blocks are resident, they wait.
    for n in [80_000, 100_000] {
        let program = compile(&rows(n, 700, Precision::F32), &Limits::h200()).expect("it compiles");
        assert!(program.kernels.iter().all(|kernel| kernel.cluster.is_power_of_two()), "length {n}");
    }
}

/// Few factors are loaded and more multiplied than elsewhere: the error must stay near that of a library that
/// loads them all.
#[test]
fn errors_stay_near_those_of_rustfft() {
    for n in [1 << 14, 1 << 15, 1 << 16, 1 << 17] {
        let problem = rows(n, 1, Precision::F32);
        let input = common::random(n as usize, Precision::F32);
        let program = compile(&problem, &Limits::h200()).expect("it has a plan");
        let (got, _) = common::run(&program, &Limits::h200(), &input, &input).expect("it runs");
        let want = common::reference(&problem, &input, &input);
        let (ours, theirs) = (common::error(&got, &want), common::rustfft_error(n, &input, &want));
        println!("{n}: error {ours:.2e}, rustfft {theirs:.2e}");
        assert!(ours < 1.5 * theirs, "length {n}: {ours:.2e} against {theirs:.2e}");
    }
}

/// Limits of a device whose blocks hold little, so that short transforms take clusters of up to that size.
fn small(max_cluster: u32, shared_bytes: u32) -> Limits {
    let name = format!("clusters of {max_cluster}");
    Limits { name, max_cluster, shared_bytes, max_threads: 64, ..Limits::h200() }
}

/// Counts what runs in clusters of each size; panics unless each size was there.
#[derive(Default)]
struct Seen(Vec<u32>);

impl Seen {
    fn check(&mut self, problem: &Problem, limits: &Limits, what: &str) {
        self.0.extend(check(problem, limits, &format!("{what} {}", limits.name)).0);
    }

    fn assert_all(&self, sizes: &[u32]) {
        for size in sizes {
            assert!(self.0.contains(size), "no cluster of {size} among {:?}", self.0);
        }
    }
}

#[test]
fn rows_of_every_cluster_size() {
    let mut seen = Seen::default();
    for max_cluster in [2, 4, 8, 16] {
        for n in [256, 384, 400, 512, 576, 600, 768, 900, 1024, 1152, 1280, 1536, 2048, 2304, 4096] {
            for (batch, direction) in [(1, Direction::Forward), (3, Direction::Inverse)] {
                let problem = Problem { direction, scale: 0.5, ..rows(n, batch, Precision::F32) };
                seen.check(&problem, &small(max_cluster, 2048), &format!("length {n}"));
                let double = Problem { precision: Precision::F64, ..problem };
                seen.check(&double, &small(max_cluster, 4096), &format!("f64 length {n}"));
            }
        }
    }
    seen.assert_all(&[2, 4, 8]);
}

/// One pass over a problem with radices and a tile of the test's own choice.
fn forced(problem: &Problem, radices: &[&[u32]], tile: &Tile, limits: &Limits) -> Program {
    let side = |array, format, offset, span: u64| Operand {
        array,
        format,
        offset,
        span,
        storage: Storage::of(problem.precision),
    };
    let in_place = problem.placement == Placement::InPlace;
    let dim = |dim: &Dim| PassDim::new(dim.n, dim.is, dim.os);
    let pass = Pass {
        axes: problem
            .transform
            .iter()
            .zip(radices)
            .map(|(axis, radices)| Axis::new(dim(axis), Method::MixedRadix(radices.to_vec())))
            .collect(),
        batch: problem.batch.iter().map(dim).collect(),
        rank: problem.transform.len(),
        complex: true,
        src: side(
            if in_place { Array::Output } else { Array::Input },
            problem.input,
            problem.input_offset,
            if in_place { problem.output_span().end } else { problem.input_span().end },
        ),
        dst: side(Array::Output, problem.output, problem.output_offset, problem.output_span().end),
        precision: problem.precision,
        direction: problem.direction,
        twiddle: None,
        load: None,
        store: None,
        scale: problem.scale,
        ends: [None; 2],
        windows: Default::default(),
        filter: None,
        images: None,
        functions: warpfft_core::function::Functions::default(),
    };
    let lowered = lower::lower(&pass, tile, lower::Walk::Rising, limits, "forced");
    Program::of_pass(problem, &pass, lowered, limits).expect("the kernel is well formed")
}

/// Runs one pass in clusters on random data, in both precisions.
fn check_forced(problem: &Problem, radices: &[&[u32]], tile: &Tile) {
    for precision in [Precision::F32, Precision::F64] {
        let problem = Problem { precision, ..problem.clone() };
        let what = format!("{radices:?} {tile:?} {problem:?}");
        let limits = Limits::h200();
        let program = forced(&problem, radices, tile, &limits);
        assert_eq!(program.kernels[0].cluster, tile.cluster, "{what}");
        Case::new(&problem).check(&program, &limits, &what);
    }
}

/// Both placements, both directions, and thread counts that divide the groups, leave some over, and are no
/// multiple of a subgroup.
fn check_tile(shape: &[u64], radices: &[&[u32]], cluster: u32) {
    for (batch, held) in [(1, 1), (5, 1), (5, 2)] {
        for threads in [32, 48, 64, 61, 65, 71] {
            for placement in [Placement::InPlace, Placement::OutOfPlace] {
                let direction = if threads % 32 == 0 { Direction::Forward } else { Direction::Inverse };
                let problem =
                    Problem { placement, direction, scale: 0.5, ..packed(shape, batch, Precision::F32) };
                let tile = Tile::new(threads, cluster, vec![held; problem.batch.len()]);
                check_forced(&problem, radices, &tile);
            }
        }
    }
}

#[test]
fn rows_by_every_cut() {
    let cases: [(&[u32], u32); 19] = [
        (&[2, 2], 2),
        (&[4, 4], 4),
        (&[8, 8], 8),
        (&[16, 16], 16),
        (&[4, 2, 2, 4], 2),
        (&[4, 4, 4, 4], 4),
        (&[5, 4, 4, 3], 4),
        (&[3, 8, 8, 5], 8),
        (&[2, 8, 3, 8, 2], 8),
        (&[8, 8, 3], 8),
        (&[3, 8, 8], 8),
        (&[2, 16, 16, 4], 16),
        (&[16, 2, 16], 16),
        (&[4, 3, 2, 2, 5, 3], 2),
        (&[5, 3, 3, 4], 3),
        (&[5, 7, 7], 7),
        (&[2, 10, 10, 3], 10),
        (&[13, 13], 13),
        (&[15, 15, 2], 15),
    ];
    for (radices, cluster) in cases {
        let n = radices.iter().map(|&r| u64::from(r)).product();
        check_tile(&[n], &[radices], cluster);
    }
}

#[test]
fn planes_and_volumes_by_every_cut() {
    check_tile(&[8, 8], &[&[2, 4], &[4, 2]], 4);
    check_tile(&[16, 16], &[&[16], &[16]], 16);
    check_tile(&[16, 32], &[&[2, 8], &[8, 4]], 8);
    check_tile(&[12, 10], &[&[6, 2], &[2, 5]], 2);
    check_tile(&[8, 8, 8], &[&[8], &[8], &[8]], 8);
    check_tile(&[4, 8, 6], &[&[4], &[4, 2], &[6]], 4);
    check_tile(&[4, 6, 8], &[&[4], &[6], &[4, 2]], 4);
    check_tile(&[6, 16, 16], &[&[6], &[16], &[16]], 16);
    // Numbers of blocks that are no powers of two.
    check_tile(&[12, 6], &[&[4, 3], &[3, 2]], 3);
    check_tile(&[10, 15], &[&[5, 2], &[3, 5]], 5);
    check_tile(&[18, 12, 5], &[&[2, 9], &[6, 2], &[5]], 3);
    check_tile(&[30, 20], &[&[30], &[20]], 10);
    // Digits larger than the cluster are cut.
    check_tile(&[8, 8], &[&[8], &[8]], 4);
    check_tile(&[12, 20], &[&[12], &[4, 5]], 4);
    check_tile(&[12, 6, 8], &[&[3, 4], &[6], &[8]], 2);
    check_tile(&[16, 8, 8], &[&[16], &[8], &[8]], 8);
    check_tile(&[16, 16, 16], &[&[16], &[4, 4], &[16]], 8);
    check_tile(&[32, 32, 4], &[&[32], &[32], &[4]], 8);
}

#[test]
fn strides_and_formats_by_a_cluster() {
    let base = rows(1, 1, Precision::F32);
    // Columns, gaps, falling strides, transposed output, several repeated dimensions, broadcast input.
    let row: &[&[u32]] = &[&[4, 4, 4, 4]];
    let plane: &[&[u32]] = &[&[4, 4], &[4, 4]];
    let cases = [
        (vec![Dim::new(256, 7, 7)], vec![Dim::new(7, 1, 1)], vec![4], 0, 0, row),
        (vec![Dim::new(256, 2, 3)], vec![Dim::new(5, 517, 773)], vec![1], 5, 3, row),
        (vec![Dim::new(256, -1, 1)], vec![Dim::new(5, 256, -256)], vec![2], 255, 1024, row),
        (vec![Dim::new(256, 1, 1)], vec![Dim::new(4, 0, 256), Dim::new(3, 256, 1024)], vec![1, 2], 0, 0, row),
        (vec![Dim::new(16, 16, 1), Dim::new(16, 1, 16)], vec![Dim::new(3, 256, 256)], vec![1], 0, 0, plane),
        (vec![Dim::new(16, 48, 48), Dim::new(16, 2, 2)], vec![Dim::new(3, 768, 768)], vec![2], 0, 1, plane),
    ];
    for (transform, batch, held, input_offset, output_offset, radices) in cases {
        for (input, output) in [
            (Format::Interleaved, Format::Interleaved),
            (Format::Planar, Format::Interleaved),
            (Format::Interleaved, Format::Planar),
            (Format::Planar, Format::Planar),
        ] {
            let (transform, batch) = (transform.clone(), batch.clone());
            let problem =
                Problem { transform, batch, input_offset, output_offset, input, output, ..base.clone() };
            check_forced(&problem, radices, &Tile::new(32, 4, held.clone()));
        }
    }
}

#[test]
fn planes_volumes_and_columns_on_the_h200() {
    let shapes: [(&[u64], u64); 9] = [
        (&[256, 256], 2),
        (&[128, 128], 3),
        (&[32, 32, 32], 3),
        (&[24, 24, 24], 2),
        (&[150, 150], 5),
        (&[300, 300], 2),
        (&[64, 64, 64], 1),
        (&[1024, 1024], 1),
        (&[1 << 20], 1),
    ];
    let mut seen = Seen::default();
    for (shape, batch) in shapes {
        seen.check(&packed(shape, batch, Precision::F32), &Limits::h200(), &format!("{shape:?}"));
    }
    seen.assert_all(&[8, 16]);
}

/// On a device with one multiprocessor a few blocks are a wave, so that there is a later one to prefetch for. The
/// simulator checks that the slabs lie within the source.
#[test]
fn slabs_of_later_blocks_are_asked_for() {
    let limits = Limits { multiprocessors: 1, blocks_per_sm: 8, ..Limits::h200() };
    let prefetches = |program: &Program| {
        let asks = |inst: &warpfft_core::kernel::Inst| matches!(inst.op, Op::BulkPrefetch { .. });
        program.kernels[0].body.insts.iter().any(asks)
    };
    let radices: &[&[u32]] = &[&[4, 4, 4, 4]];
    for precision in [Precision::F32, Precision::F64] {
        for held in [1, 2] {
            let tile = Tile::new(32, 4, vec![held]);
            let problem = rows(256, 21, precision);
            let program = forced(&problem, radices, &tile, &limits);
            assert!(prefetches(&program), "{precision:?}, {held} transforms a tile");
            Case::new(&problem).check(&program, &limits, "it keeps to the source");
            // Neither columns nor rows with gaps lie packed.
            let columns = Problem {
                transform: vec![Dim::new(256, 21, 21)],
                batch: vec![Dim::new(21, 1, 1)],
                ..problem
            };
            assert!(!prefetches(&forced(&columns, radices, &tile, &limits)));
            let gaps = Problem { batch: vec![Dim::new(21, 260, 256)], ..rows(256, 21, precision) };
            assert!(!prefetches(&forced(&gaps, radices, &tile, &limits)));
        }
    }
}
