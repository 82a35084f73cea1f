//! Double-single arithmetic on the simulator: every kind of pass within the bound that problems state.

mod common;

use common::{Case, packed, rows};
use warpfft_core::compile;
use warpfft_core::kernel::Type;
use warpfft_core::problem::{Dim, Direction, Format, Placement, Precision, Problem};
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

fn check(problem: &Problem, limits: &Limits) {
    let what = format!("{problem:?} {}", limits.name);
    let program = compile(problem, limits).unwrap_or_else(|e| panic!("{what}: {e}"));
    Case::new(problem).check(&program, limits, &what);
}

#[test]
fn every_length_to_256() {
    for n in 1..=256 {
        let problem = Problem {
            direction: Direction::Inverse,
            scale: 1.0 / n as f64,
            ..rows(n, 2, Precision::DoubleSingle)
        };
        check(&problem, &Limits::h200());
        check(&rows(n, 3, Precision::DoubleSingle), &Limits::vulkan_min());
    }
}

/// Limits so tight that short transforms need several passes.
fn tight() -> Limits {
    Limits { shared_bytes: 4096, max_threads: 64, name: "tight".into(), ..Limits::h200() }
}

#[test]
fn planes_and_several_passes() {
    for shape in [&[4, 4][..], &[9, 7, 5], &[64, 64], &[41, 43], &[5, 4, 3, 2]] {
        for placement in [Placement::InPlace, Placement::OutOfPlace] {
            let problem = Problem { placement, ..packed(shape, 2, Precision::DoubleSingle) };
            [Limits::h200(), tight(), Limits::webgpu_min()].iter().for_each(|limits| check(&problem, limits));
        }
    }
    for n in [600, 1155, 4096, 1009, 3 * 1009, 8192] {
        check(&rows(n, 2, Precision::DoubleSingle), &tight());
    }
}

#[test]
fn long_lines() {
    for n in [1000, 4096, 10_007, 16_384, 20_000, 65_536] {
        check(&rows(n, 1, Precision::DoubleSingle), &Limits::h200());
    }
    check(&rows(16_384, 1, Precision::DoubleSingle), &Limits::t4());
    check(&rows(8192, 1, Precision::DoubleSingle), &Limits::webgpu_min());
}

#[test]
fn layouts() {
    let base = rows(30, 1, Precision::DoubleSingle);
    let cases = [
        (vec![Dim::new(30, 7, 7)], vec![Dim::new(7, 1, 1)], 0, 0),
        (vec![Dim::new(30, 2, 3)], vec![Dim::new(5, 61, 91)], 5, 3),
        (vec![Dim::new(30, -1, 1)], vec![Dim::new(5, 30, -30)], 29, 120),
        (vec![Dim::new(37, 3, 5)], vec![Dim::new(3, 1, 1)], 0, 2),
    ];
    for (transform, batch, input_offset, output_offset) in cases {
        for (input, output) in [
            (Format::Interleaved, Format::Interleaved),
            (Format::Planar, Format::Interleaved),
            (Format::Planar, Format::Planar),
        ] {
            let (transform, batch) = (transform.clone(), batch.clone());
            let problem =
                Problem { transform, batch, input_offset, output_offset, input, output, ..base.clone() };
            [Limits::h200(), tight(), Limits::vulkan_min()].iter().for_each(|limits| check(&problem, limits));
        }
    }
}

/// A kernel for a device without doubles has none.
#[test]
fn no_doubles_are_left() {
    for limits in [Limits::webgpu_min(), Limits::vulkan_min(), Limits::t4()] {
        let limits = Limits { f64: false, ..limits };
        for asked in [Fft::new([1000]), Fft::new([97]), Fft::new([64]).r2c(), Fft::new([64, 64])] {
            let problem = asked.batch(5).double_single().build().expect("it is possible");
            let program = compile(&problem, &limits).expect("pairs need no doubles");
            for kernel in &program.kernels {
                assert!(!kernel.types.contains(&Type::F64), "{} {}", limits.name, kernel.name);
            }
            let wide = Problem { precision: Precision::F64, ..problem };
            let refused = compile(&wide, &limits).expect_err("there are no doubles").to_string();
            assert!(refused.contains("double-single"), "{refused}");
        }
    }
}
