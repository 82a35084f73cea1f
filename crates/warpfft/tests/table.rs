//! A table: every kind of transform, in both precisions, of rank 1 to 4, out of place and in place, over lengths that are
//! odd, even, prime and 1, on every device, against sums in higher precision. The lists of other tests go deeper, each in
//! one direction; this one has every combination.

mod cases;

use cases::real::run_plan;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use warpfft::core::problem::{Direction, Precision, Problem, RealKind};
use warpfft::core::request::{Fft, Norm};
use warpfft::{Device, DeviceKind, Error};

/// Shapes of each rank: the last length, which half spectra halve, is odd and even beside odd and even others.
const SHAPES: [&[&[u64]]; 4] = [
    &[&[1], &[2], &[3], &[4], &[5], &[8], &[9], &[13], &[24], &[31], &[37], &[64], &[97], &[105], &[128]],
    &[&[2, 2], &[4, 6], &[5, 7], &[8, 9], &[9, 8], &[1, 12], &[13, 1], &[37, 3], &[3, 41], &[16, 32]],
    &[&[2, 4, 6], &[3, 5, 7], &[4, 3, 5], &[5, 6, 2], &[3, 1, 8], &[7, 2, 37], &[8, 8, 8]],
    &[&[2, 2, 4, 4], &[3, 5, 3, 7], &[2, 3, 4, 5], &[5, 4, 3, 2], &[4, 1, 7, 6], &[2, 37, 1, 3]],
];

/// What is transformed into what.
#[derive(Debug, Clone, Copy)]
enum Sort {
    Complex,
    Full,
    Half,
    Back,
    Reals(RealKind),
    /// Another kind along each axis.
    Mixed,
}

impl Sort {
    fn all() -> Vec<Self> {
        let complex = [Self::Complex, Self::Full, Self::Half, Self::Back, Self::Mixed];
        complex.into_iter().chain(RealKind::ALL.into_iter().map(Self::Reals)).collect()
    }

    /// A request of this sort; `None` where there is no such transform.
    fn ask(self, shape: &[u64]) -> Option<Fft> {
        let fft = Fft::new(shape);
        let short = |kind: RealKind| shape.iter().any(|&n| n < kind.least());
        Some(match self {
            Self::Complex => fft,
            Self::Full => fft.full_spectrum(),
            Self::Half => fft.r2c(),
            Self::Back => fft.c2r(),
            Self::Reals(kind) if short(kind) => return None,
            Self::Reals(kind) => fft.r2r([kind]).orthogonal(),
            Self::Mixed => {
                let kinds = [RealKind::Dct2, RealKind::Dht, RealKind::Dst3, RealKind::Dct4];
                fft.r2r(&kinds[..shape.len()])
            }
        })
    }
}

/// One cell after the other, in one precision.
fn table() -> Vec<Problem> {
    let mut all = Vec::new();
    for sort in Sort::all() {
        for (rank, shapes) in SHAPES.iter().enumerate() {
            for (at, shape) in shapes.iter().enumerate() {
                let Some(asked) = sort.ask(shape) else { continue };
                // Neighbours in the list differ in what else there is.
                let asked = if at % 2 == 0 { asked.batch(3) } else { asked.norm(Norm::Ortho) };
                let direction = if (at + rank) % 3 == 0 { Direction::Inverse } else { Direction::Forward };
                let asked = asked.direction(direction);
                let outside = asked.clone().build();
                all.push(outside.unwrap_or_else(|error| panic!("{sort:?} of {shape:?}: {error}")));
                // What is read is not what is written: two arrays.
                if !matches!(sort, Sort::Full) {
                    let inside = asked.in_place().build();
                    all.push(
                        inside.unwrap_or_else(|error| panic!("{sort:?} of {shape:?} in place: {error}")),
                    );
                }
            }
        }
    }
    all
}

/// Cells for a device: all of them, or as many as it does in a few seconds, others in each run; `WARPFFT_TABLE=all` in the
/// environment asks for all.
fn cells(device: &Device, mut all: Vec<Problem>) -> Vec<Problem> {
    if std::env::var("WARPFFT_TABLE").is_ok_and(|cells| cells == "all") {
        return all;
    }
    let most = match device.kind() {
        DeviceKind::Sim => 300,
        // Its driver takes half a second for a plan.
        DeviceKind::Wgpu if !device.is_hardware() => 12,
        DeviceKind::OpenCl if !device.is_hardware() => 5,
        _ => all.len(),
    };
    all.shuffle(&mut rand::rng());
    all.truncate(most);
    all
}

/// The error of a cell over what it may be.
fn share(device: &Device, problem: &Problem) -> Result<f64, Error> {
    let plan = device.plan(problem)?;
    let error = match problem.precision {
        Precision::F32 => run_plan(&plan, None, |x| x as f32)?,
        Precision::F64 | Precision::DoubleSingle => run_plan(&plan, None, |x| x)?,
    };
    Ok(error / plan.error_bound())
}

#[test]
fn every_cell_on_every_device() {
    let mut wrong = Vec::new();
    for device in cases::devices() {
        let started = std::time::Instant::now();
        // Several at once: a GPU's driver takes longer for a plan than the GPU for its run.
        let found: Vec<Result<f64, String>> = cells(&device, table())
            .par_iter()
            .flat_map(|cell| {
                let precisions = [Precision::F32, Precision::F64, Precision::DoubleSingle];
                precisions.map(|precision| Problem { precision, ..cell.clone() })
            })
            .filter_map(|problem| match share(&device, &problem) {
                Ok(share) if share <= 1.0 => Some(Ok(share)),
                Ok(share) => Some(Err(format!("{device:?}: {share:.2} of the bound: {problem:?}"))),
                Err(Error::Unsupported { .. }) if problem.precision == Precision::F64 => None,
                Err(error) => Some(Err(format!("{device:?}: {error}: {problem:?}"))),
            })
            .collect();
        let right: Vec<f64> = found.iter().filter_map(|one| one.as_ref().ok()).copied().collect();
        let (count, seconds) = (right.len(), started.elapsed().as_secs_f64());
        let worst = right.into_iter().fold(0.0, f64::max);
        println!("{device:?}: {count} cells in {seconds:.1} s, at most {worst:.2} of the bound");
        wrong.extend(found.into_iter().filter_map(Result::err));
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
