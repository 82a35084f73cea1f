//! Times other tiles than the planner's for shapes that take one pass, as CSV on standard output: every cluster that
//! can share the tile, thread counts, resident blocks asked for, with and without prefetch.
//!
//! ```text
//! cargo run --release --example variants -- 65536 256x256          # the planner's radices
//! cargo run --release --example variants -- 16384=32,4,4,32        # own ones, axes apart by a slash
//! cargo run --release --example variants -- r2c:65536=32,8,8,16    # lines of reals, of half as many points
//! cargo run --release --example variants -- f16:256x256            # numbers kept in 16 bits
//! ```

use std::error::Error;
use std::time::Duration;

use warpfft::core::kernel::Op;
use warpfft::core::lower::tile::{self, Tile};
use warpfft::core::lower::{self, Walk, cluster::Cut};
use warpfft::core::pass::{Method, Pass};
use warpfft::core::problem::Problem;
use warpfft::core::program::{Compiled, Program};
use warpfft::core::request::Fft;
use warpfft::core::target::Limits;
use warpfft::{Device, DeviceKind};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Points of the whole problem: 512 MiB in f32.
const POINTS: u64 = 1 << 26;

fn main() -> Outcome {
    let device =
        Device::open(std::env::var("WARPFFT_DEVICE").map_or(Ok(DeviceKind::Cuda), |kind| kind.parse())?)?;
    let limits = device.limits().ok_or("the device runs no kernels")?.clone();
    println!("shape,cluster,threads,asked,prefetch,copies,registers");
    for arg in std::env::args().skip(1) {
        let (kind, rest) = arg.split_once(':').unwrap_or(("c2c", &arg));
        let (text, radices) = rest.split_once('=').map_or((rest, None), |(text, rest)| (text, Some(rest)));
        let shape: Vec<u64> = text.split('x').map(str::parse).collect::<Result<_, _>>()?;
        let points: u64 = shape.iter().product();
        let fft = Fft::new(shape).batch((POINTS / points).max(1));
        let problem = match kind {
            "r2c" => fft.r2c(),
            "c2r" => fft.c2r(),
            "f16" => fft.f16(),
            _ => fft,
        };
        let problem = problem.build()?;
        let mut pass = Compiled::of(&problem, &limits)?.schedule.passes.swap_remove(0);
        for (axis, list) in pass.axes.iter_mut().zip(radices.iter().flat_map(|all| all.split('/'))) {
            axis.method = Method::MixedRadix(list.split(',').map(str::parse).collect::<Result<_, _>>()?);
        }
        for cluster in tile::line_cluster_sizes(&limits) {
            for threads in [64, 128, 192, 256, 384, 512, 1024] {
                let tile = Tile::new(threads, cluster, vec![1; pass.batch.len()]);
                if (cluster == 1 || Cut::of(&pass, &tile).is_some()) && fits(&pass, &tile, &limits) {
                    time(&device, &problem, &pass, &tile, &limits, &arg)?;
                }
            }
        }
    }
    Ok(())
}

fn fits(pass: &Pass, tile: &Tile, limits: &Limits) -> bool {
    let held = tile.elements(pass) / u64::from(tile.cluster);
    let a_thread = held / u64::from(tile.threads);
    // A little room for padding and barriers.
    held * pass.precision.complex_bytes() <= u64::from(limits.shared_bytes) * 15 / 16
        && (4..=32).contains(&a_thread)
}

fn time(
    device: &Device,
    problem: &Problem,
    pass: &Pass,
    tile: &Tile,
    limits: &Limits,
    name: &str,
) -> Outcome {
    for asked in [0, 1, 2, 3, 4, 6, 8] {
        if asked * tile.threads > limits.threads_per_sm {
            continue;
        }
        for prefetch in [false, true] {
            let mut lowered = lower::lower(pass, tile, Walk::Rising, limits, "variant");
            lowered.kernel.min_blocks = asked;
            let all = lowered.kernel.body.insts.len();
            if !prefetch {
                lowered.kernel.body.insts.retain(|inst| !matches!(inst.op, Op::BulkPrefetch { .. }));
            }
            if !prefetch && lowered.kernel.body.insts.len() == all {
                continue;
            }
            let program = Program::of_pass(problem, pass, lowered, limits)?;
            let row = format!("{name},{},{},{asked},{prefetch}", tile.cluster, tile.threads);
            let plan = device.load(program)?;
            match plan.measure(Duration::from_millis(30)) {
                Ok(took) => println!("{row},{:.3},{}", took.copies(), registers(&plan)),
                Err(error) => println!("{row},,{error}"),
            }
        }
    }
    Ok(())
}

#[cfg(feature = "cuda")]
fn registers(plan: &warpfft::Plan) -> String {
    plan.cuda_registers().map_or_else(|error| error.to_string(), |all| format!("{all:?}"))
}

#[cfg(not(feature = "cuda"))]
fn registers(_: &warpfft::Plan) -> String {
    String::new()
}
