//! No device may be less accurate than rustfft, beyond a small factor: every length to 1024 and a spread to 2^20,
//! in every layout and both precisions. Slow devices run a part of the list, which is printed.

mod cases;

use rayon::prelude::*;
use warpfft::core::problem::{Dim, Direction, Format, Placement, Precision, Problem};
use warpfft::{Device, DeviceKind, Error};

use cases::accuracy::{Errors, errors};
use cases::packed;

/// Lengths beyond those that are all tested: powers, products of many primes, primes, and neighbours of powers.
const SPREAD: [u64; 29] = [
    1155,
    2003,
    2048,
    2747,
    2911,
    2993,
    3000,
    3125,
    4096,
    4099,
    5040,
    6561,
    8191,
    8192,
    10_000,
    10_007,
    16_384,
    16_807,
    20_000,
    32_768,
    46_656,
    65_536,
    65_537,
    99_991,
    131_072,
    262_144,
    524_288,
    720_720,
    1 << 20,
];

/// What a device can do in reasonable time.
struct Scale {
    lengths: Vec<u64>,
    /// Lengths in other layouts than packed.
    layouts: &'static [u64],
    /// Points of a two- or three-dimensional transform at most.
    points: u64,
}

impl Scale {
    fn of(device: &Device) -> Self {
        const MANY: &[u64] =
            &[2, 3, 8, 15, 31, 37, 64, 97, 210, 360, 512, 961, 1009, 2048, 4096, 9000, 16_384];
        match device.kind() {
            DeviceKind::Sim => Self {
                lengths: vec![1, 2, 7, 16, 30, 41, 64, 121, 249, 256, 311, 498, 509, 1000, 2048],
                layouts: &[12, 64, 37],
                points: 1500,
            },
            // Its driver takes up to a second for a kernel; what kernels do is what they do by others.
            DeviceKind::OpenCl if !device.is_hardware() => Self {
                lengths: (1..=16).chain([31, 37, 64, 121, 210, 498, 961, 1009, 1024, 2048, 4096]).collect(),
                layouts: &[15],
                points: 3000,
            },
            DeviceKind::Wgpu if !device.is_hardware() => Self {
                lengths: (1..=64).chain((71..4096).step_by(256)).chain([512, 1024, 2048, 4096]).collect(),
                layouts: &[15, 64],
                points: 5000,
            },
            _ => Self { lengths: (1..=1024).chain(SPREAD).collect(), layouts: MANY, points: u64::MAX },
        }
    }

    fn problems(&self) -> Vec<Problem> {
        let batched = |&n: &u64| packed(&[n], (1024 / n).clamp(1, 64));
        let mut problems: Vec<Problem> = self.lengths.iter().map(batched).collect();
        problems.extend(self.layouts.iter().flat_map(|&n| layouts(n)));
        problems.extend(shapes().into_iter().filter(|problem| problem.points() <= self.points));
        problems
    }
}

/// One length in place, interleaved with its neighbours, transposed, planar and backwards.
fn layouts(n: u64) -> Vec<Problem> {
    let batch = (512 / n).clamp(3, 48);
    let (long, wide) = (n as i64, batch as i64);
    let plain = packed(&[n], batch);
    let with = |dim: Dim, lines: Dim| Problem { transform: vec![dim], batch: vec![lines], ..plain.clone() };
    let columns = with(Dim::new(n, wide, wide), Dim::new(batch, 1, 1));
    vec![
        Problem { placement: Placement::InPlace, ..plain.clone() },
        Problem { placement: Placement::InPlace, ..columns.clone() },
        columns,
        with(Dim::new(n, 1, wide), Dim::new(batch, long, 1)),
        with(Dim::new(n, 3, 2), Dim::new(batch, 3 * long + 1, 2 * long + 5)),
        Problem { input: Format::Planar, output: Format::Planar, ..plain.clone() },
        Problem { direction: Direction::Inverse, scale: 1.0 / n as f64, ..plain.clone() },
    ]
}

/// Two and three dimensions with odd, even and prime extents, out of place and in place.
fn shapes() -> Vec<Problem> {
    let shapes: [(&[u64], u64); 12] = [
        (&[3, 5], 7),
        (&[15, 9], 4),
        (&[33, 65], 1),
        (&[37, 21], 2),
        (&[64, 48], 2),
        (&[101, 127], 1),
        (&[256, 512], 1),
        (&[1000, 999], 1),
        (&[3, 5, 7], 5),
        (&[9, 11, 13], 1),
        (&[17, 41, 15], 1),
        (&[64, 32, 128], 1),
    ];
    let both = |&(shape, batch): &(&[u64], u64)| {
        let outside = packed(shape, batch);
        [Problem { placement: Placement::InPlace, ..outside.clone() }, outside]
    };
    shapes.iter().flat_map(both).collect()
}

fn describe(problem: &Problem) -> String {
    let sides = |dims: &[Dim]| {
        let sides: Vec<String> = dims.iter().map(|dim| format!("{}:{}:{}", dim.n, dim.is, dim.os)).collect();
        sides.join("x")
    };
    let Problem { transform, batch, precision, placement, input, direction, .. } = problem;
    format!("{} of {} {precision:?} {placement:?} {input:?} {direction:?}", sides(batch), sides(transform))
}

/// All problems on one device; returns what is wrong.
fn check(device: &Device, precision: Precision) -> Vec<String> {
    let problems: Vec<Problem> =
        Scale::of(device).problems().into_iter().map(|problem| Problem { precision, ..problem }).collect();
    let measured: Vec<(Problem, Result<Errors, Error>)> =
        problems.into_par_iter().map(|problem| (problem.clone(), errors(device, &problem))).collect();
    let (mut wrong, mut ratios) = (Vec::new(), Vec::new());
    for (problem, result) in measured {
        match result {
            Ok(errors) => {
                let text =
                    format!("{}: {:.2e} beside {:.2e}", describe(&problem), errors.ours, errors.theirs);
                if !errors.hold() {
                    wrong.push(format!("{device:?} {text}"));
                }
                // Nothing is rounded in some tiny transforms: no ratio there.
                if errors.theirs > 0.0 {
                    ratios.push((errors.ours / errors.theirs / errors.bound, text));
                }
            }
            Err(error) => wrong.push(format!("{device:?} {}: {error}", describe(&problem))),
        }
    }
    ratios.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("{device:?} {precision:?}: {} problems; nearest to their bounds:", ratios.len());
    for (part, text) in ratios.iter().take(5) {
        println!("  {part:.2} of the bound: {text}");
    }
    wrong
}

#[test]
fn errors_stay_within_a_factor_of_rustffts() {
    let mut wrong = Vec::new();
    for device in cases::devices() {
        for precision in [Precision::F32, Precision::F64] {
            if precision == Precision::F64 && device.limits().is_some_and(|limits| !limits.f64) {
                println!("{device:?}: F64 skipped, it has none");
                continue;
            }
            let started = std::time::Instant::now();
            wrong.extend(check(&device, precision));
            println!("  {:.1} s", started.elapsed().as_secs_f64());
        }
    }
    assert!(wrong.is_empty(), "{} over the bound:\n{}", wrong.len(), wrong.join("\n"));
}
