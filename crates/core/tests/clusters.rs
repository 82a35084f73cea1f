//! Tiles that clusters of blocks hold together, on the simulator: against the reference, without races.

mod common;

use warpfft_core::kernel::simulate::Report;
use warpfft_core::problem::{Dim, Direction, Format, Placement, Precision, Problem};
use warpfft_core::program::Compiled;
use warpfft_core::target::Limits;

fn rows(n: u64, batch: u64, precision: Precision) -> Problem {
    packed(&[n], batch, precision)
}

fn packed(shape: &[u64], batch: u64, precision: Precision) -> Problem {
    let mut stride = 1;
    let mut transform: Vec<Dim> = shape
        .iter()
        .rev()
        .map(|&n| {
            let dim = Dim::new(n, stride, stride);
            stride *= n as i64;
            dim
        })
        .collect();
    transform.reverse();
    Problem {
        transform,
        batch: if batch > 1 { vec![Dim::new(batch, stride, stride)] } else { vec![] },
        input_offset: 0,
        output_offset: 0,
        precision,
        input: Format::Interleaved,
        output: Format::Interleaved,
        placement: Placement::OutOfPlace,
        direction: Direction::Forward,
        scale: 1.0,
    }
}

/// Runs a problem on random data; gives the cluster of each launch and what the simulator counted.
fn check(problem: &Problem, limits: &Limits, what: &str) -> (Vec<u32>, Report) {
    let tolerance = if problem.precision == Precision::F32 { 1.5e-6 } else { 2e-15 };
    let input = common::random(problem.input_span().end as usize, problem.precision);
    let output = if problem.placement == Placement::InPlace {
        input.clone()
    } else {
        common::random(problem.output_span().end as usize, problem.precision)
    };
    let compiled = Compiled::of(problem, limits).unwrap_or_else(|e| panic!("{what}: {e}"));
    let program = &compiled.program;
    let (got, report) =
        common::run(program, limits, &input, &output).unwrap_or_else(|e| panic!("{what}: {e}"));
    let want = common::reference(problem, &input, &output);
    let error = common::error(&got, &want);
    assert!(error < tolerance, "{what}: relative error {error:.2e}");
    let clusters = program.launches.iter().map(|launch| program.kernels[launch.kernel].cluster).collect();
    (clusters, report)
}

#[test]
fn long_rows_on_the_h200() {
    for (n, cluster) in [(1 << 14, 8), (1 << 15, 8), (1 << 16, 16), (1 << 17, 16)] {
        let (clusters, report) = check(&rows(n, 1, Precision::F32), &Limits::h200(), &format!("length {n}"));
        assert_eq!(clusters, [cluster], "length {n}");
        println!("{n}: {report:?}");
    }
}
