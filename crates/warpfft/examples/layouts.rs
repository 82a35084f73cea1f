//! What layouts cost: each shape packed, and in other layouts of the same numbers, as CSV on standard output. A layout's
//! time is over that of the packed one.
//!
//! ```text
//! cargo run --release --example layouts -- 1024 256x256            # complex numbers
//! cargo run --release --example layouts -- r2c:4096 f64:64x64x64   # reals, double precision (also c2r, f16)
//! WARPFFT_DEVICE=model cargo run --release --example layouts -- 1024   # what the cost model expects of an H200
//! ```

use std::error::Error;
use std::time::Duration;

use warpfft::core::explain::explain;
use warpfft::core::problem::{Format, Placement, Problem, half};
use warpfft::core::request::Fft;
use warpfft::core::target::Limits;
use warpfft::{Device, DeviceKind};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Bytes of the larger side of a problem.
const BYTES: u64 = 1 << 29;

/// Seconds that each problem is timed for.
const SECONDS: f64 = 0.08;

/// How the points of a problem lie, on each side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// One transform after the other, its last axis innermost.
    Packed,
    /// So many transforms side by side, as channels of a picture: neighbours of an axis lie apart.
    Channels(u64),
    /// The whole batch side by side.
    Batch,
    /// Rows with 64 bytes between them.
    Gaps,
    /// The first axis innermost.
    Fortran,
    /// The last axis from its end.
    Backward,
}

/// Every layout that is timed: how its input and its output lie, and their formats.
const LAYOUTS: [(&str, [Layout; 2], [bool; 2]); 12] = [
    ("packed", [Layout::Packed; 2], [false; 2]),
    ("planar", [Layout::Packed; 2], [true; 2]),
    ("planar-in", [Layout::Packed; 2], [true, false]),
    ("planar-out", [Layout::Packed; 2], [false, true]),
    ("gaps", [Layout::Gaps; 2], [false; 2]),
    ("channels", [Layout::Channels(1); 2], [false; 2]),
    ("channels-4", [Layout::Channels(4); 2], [false; 2]),
    ("batch-inner", [Layout::Batch; 2], [false; 2]),
    ("rows-channels", [Layout::Packed, Layout::Channels(1)], [false; 2]),
    ("channels-rows", [Layout::Channels(1), Layout::Packed], [false; 2]),
    ("backward", [Layout::Backward; 2], [false; 2]),
    ("fortran", [Layout::Fortran; 2], [false; 2]),
];

fn main() -> Outcome {
    let by = std::env::var("WARPFFT_DEVICE").unwrap_or_else(|_| "cuda".to_owned());
    let device = if by == "model" { None } else { Some(Device::open(by.parse::<DeviceKind>()?)?) };
    println!("kind,shape,layout,passes,copies,over_packed");
    for arg in std::env::args().skip(1) {
        let (kind, shape) = arg.split_once(':').unwrap_or(("c2c", &arg));
        let points: Vec<u64> = shape.split('x').map(str::parse).collect::<Result<_, _>>()?;
        let mut packed = None;
        for (name, sides, planar) in LAYOUTS {
            let Some(problem) = problem(kind, &points, sides, planar)? else { continue };
            let (passes, seconds, copies) = match &device {
                Some(device) => timed(device, &problem)?,
                None => expected(&problem)?,
            };
            let packed = *packed.get_or_insert(seconds);
            println!("{kind},{shape},{name},{passes},{copies:.3},{:.3}", seconds / packed);
        }
    }
    Ok(())
}

fn timed(device: &Device, problem: &Problem) -> Outcome<(usize, f64, f64)> {
    let plan = device.plan(problem)?;
    let took = plan.measure(Duration::from_secs_f64(SECONDS))?;
    let passes = plan.program().map_or(0, |program| program.launches.len());
    Ok((passes, took.transform_seconds, took.copies()))
}

fn expected(problem: &Problem) -> Outcome<(usize, f64, f64)> {
    let explained = explain(problem, &Limits::h200())?;
    let copies = explained.predicted_copies;
    Ok((explained.passes.len(), copies, copies))
}

/// The problem of a kind and a shape in this layout; `None` where there is no such layout of it.
fn problem(kind: &str, shape: &[u64], layouts: [Layout; 2], planar: [bool; 2]) -> Outcome<Option<Problem>> {
    let double = kind == "f64";
    let (real, bytes) = (["r2c", "c2r"].contains(&kind), if double { 16 } else { 8 });
    if layouts.contains(&Layout::Fortran) && shape.len() == 1 {
        return Ok(None);
    }
    // Bytes of an element of each side, and its extents.
    let mut sizes = [bytes, bytes];
    let mut extents = [shape.to_vec(), shape.to_vec()];
    if real {
        let reals = usize::from(kind == "c2r");
        sizes[reals] = 4;
        let last = extents[1 - reals].last_mut().ok_or("a shape has an extent")?;
        *last = half(*last);
    } else if kind == "f16" {
        sizes = [4, 4];
    }
    let points: u64 = shape.iter().product();
    // Channels fill 64 bytes of either side, or a multiple.
    let lines = |layout: Layout| match layout {
        Layout::Channels(times) => times * 64 / sizes[0].min(sizes[1]),
        _ => 1,
    };
    let inner = lines(layouts[0]).max(lines(layouts[1]));
    let batch = (BYTES / sizes[0].max(sizes[1]) / points / inner).max(1) * inner;
    let outer = batch / inner;
    let strides: Vec<Vec<i64>> =
        (0..2).map(|side| strides(layouts[side], &extents[side], [inner, outer], sizes[side])).collect();
    let rank = shape.len();
    let mut fft = Fft::new(shape);
    fft = match kind {
        "c2c" => fft,
        "f64" => fft.f64(),
        "f16" => fft.f16(),
        "r2c" => fft.r2c(),
        "c2r" => fft.c2r(),
        _ => return Err(format!("there is no kind {kind:?}: c2c, f64, f16, r2c, c2r").into()),
    };
    fft = fft.strides(&strides[0][..rank], &strides[1][..rank]);
    fft = fft.batch_strided(outer, strides[0][rank + 1], strides[1][rank + 1]);
    if inner > 1 {
        fft = fft.batch_strided(inner, strides[0][rank], strides[1][rank]);
    }
    let backward = |side: usize| match layouts[side] {
        Layout::Backward => extents[side][rank - 1] - 1,
        _ => 0,
    };
    fft = fft.offsets(backward(0), backward(1));
    if planar != [false; 2] {
        let format = |side: usize| match (real && sizes[side] == 4, planar[side]) {
            (true, _) => Format::Real,
            (false, true) => Format::Planar,
            (false, false) => Format::Interleaved,
        };
        if real && planar[0] != planar[1] {
            return Ok(None);
        }
        fft = fft.formats(format(0), format(1));
    }
    let problem = fft.build()?;
    assert_eq!(problem.placement, Placement::OutOfPlace);
    Ok(Some(problem))
}

/// Strides of one side: those of the axes, then of the inner and of the outer part of the batch.
fn strides(layout: Layout, extents: &[u64], [inner, outer]: [u64; 2], bytes: u64) -> Vec<i64> {
    let rank = extents.len();
    let (within, gap) = match layout {
        Layout::Channels(_) => (inner, 0),
        Layout::Batch => (inner * outer, 0),
        Layout::Gaps => (1, 64 / bytes),
        _ => (1, 0),
    };
    let mut strides = vec![0; rank];
    let mut step = within;
    let order: Vec<usize> =
        if layout == Layout::Fortran { (0..rank).collect() } else { (0..rank).rev().collect() };
    for (at, &axis) in order.iter().enumerate() {
        strides[axis] = step as i64;
        step *= extents[axis];
        if at == 0 {
            step += gap;
        }
    }
    if layout == Layout::Backward {
        strides[rank - 1] = -strides[rank - 1];
    }
    let batch = match layout {
        Layout::Channels(_) => [1, step],
        Layout::Batch => [1, inner],
        _ => [step, step * inner],
    };
    strides.into_iter().chain(batch.map(|stride| stride as i64)).collect()
}
