//! Times two passes in one launch against two launches, over rings, tiles, resident blocks asked for, cache hints and
//! orders, each checked against the program of two launches on the same data. One choice after the other is taken
//! over from the fastest so far; the last line of each shape is the fastest recipe, as wisdom has it.
//!
//! ```text
//! cargo run --release -p warpfft --example fused                       # 2^18, 2^19, 2^20, 1024x1024
//! cargo run --release -p warpfft --example fused -- 512x512 100000     # others
//! ```
//!
//! `WARPFFT_POINTS` (2^26) is the size of the whole problem, `WARPFFT_DEVICE` another device, `WARPFFT_PRECISION` f64.

use std::error::Error;
use std::time::Duration;

use num_complex::Complex;
use warpfft::core::kernel::verify::verify;
use warpfft::core::kernel::{Block, Cache, Kernel, Op};
use warpfft::core::lower::fused::{Order, lower};
use warpfft::core::problem::{Precision, Problem};
use warpfft::core::program::{Compiled, Program};
use warpfft::core::recipe::{Recipe, candidates};
use warpfft::core::request::Fft;
use warpfft::core::target::Limits;
use warpfft::{Device, DeviceKind, Plan, Real};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Candidates that are asked for; most are of the same passes with other tiles.
const CANDIDATES: usize = 400;
/// Other plans that are tried.
const PLANS: usize = 4;
/// Relative difference to the program of two launches: both round, in another order.
const CLOSE: f64 = 1e-6;

/// What a kernel is changed to beside its recipe.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Change {
    /// Resident blocks that the assembler is asked for; `None`: as planned.
    asked: Option<u32>,
    order: Order,
    /// Hints of the caller's data and of the ring.
    hints: [Cache; 2],
}

const PLANNED: Change = Change { asked: None, order: Order::Ticket, hints: [Cache::Stream, Cache::L2] };

/// Numbers of either precision.
trait Number: Real + Into<f64> {
    fn of(x: f64) -> Self;
}

impl Number for f32 {
    fn of(x: f64) -> Self {
        x as Self
    }
}

impl Number for f64 {
    fn of(x: f64) -> Self {
        x
    }
}

/// One shape, with its data and what two launches make of it.
struct Bench<T> {
    device: Device,
    limits: Limits,
    problem: Problem,
    input: Vec<Complex<T>>,
    expected: Vec<Complex<T>>,
    name: String,
}

fn main() -> Outcome {
    let setting = |name: &str| std::env::var(name).ok();
    let kind = setting("WARPFFT_DEVICE").map_or(Ok(DeviceKind::Cuda), |kind| kind.parse())?;
    let device = Device::open(kind)?;
    let points: u64 = setting("WARPFFT_POINTS").map_or(Ok(1 << 26), |points| points.parse())?;
    let double = setting("WARPFFT_PRECISION").is_some_and(|precision| precision == "f64");
    let precision = if double { Precision::F64 } else { Precision::F32 };
    let mut shapes: Vec<String> = std::env::args().skip(1).collect();
    if shapes.is_empty() {
        shapes = ["262144", "524288", "1048576", "1024x1024"].map(String::from).to_vec();
    }
    println!("shape ring ahead threads tiles | asked order hints | copies registers difference");
    for name in shapes {
        let shape: Vec<u64> = name.split('x').map(str::parse).collect::<Result<_, _>>()?;
        let batch = (points / shape.iter().product::<u64>()).max(1);
        let problem = Fft::new(shape).batch(batch).precision(precision).build()?;
        // A shape that fails says so and leaves the others alone.
        let done = if double {
            bench::<f64>(&device, problem, &name)
        } else {
            bench::<f32>(&device, problem, &name)
        };
        if let Err(error) = done {
            println!("{name}: {error}");
        }
    }
    Ok(())
}

fn bench<T: Number>(device: &Device, problem: Problem, name: &str) -> Outcome {
    let limits = device.limits().ok_or("the device runs no kernels")?.clone();
    let all: Vec<Recipe> =
        candidates(&problem, &limits, CANDIDATES)?.into_iter().map(|one| one.recipe).collect();
    let pair = |recipe: &&Recipe| recipe.tiles.len() == 2;
    let plain = all.iter().filter(pair).find(|recipe| recipe.fused.is_empty());
    let plain = plain.ok_or("no candidate has two passes")?.clone();
    let fused: Vec<Recipe> =
        all.into_iter().filter(|recipe| pair(&recipe) && !recipe.fused.is_empty()).collect();
    let first = fused.first().ok_or("nothing can be fused")?.clone();
    let input = noise::<T>(problem.elements());
    let (device, name) = (device.clone(), name.to_owned());
    let mut bench = Bench { device, limits, problem, input, expected: Vec::new(), name };
    bench.expected = bench.two_launches(&plain)?;

    let mut best = (f64::INFINITY, first.clone(), PLANNED);
    let mut seen = Vec::new();
    let mut attempt = |best: &mut (f64, Recipe, Change), recipe: &Recipe, change: Change| {
        if seen.contains(&(recipe.clone(), change)) {
            return;
        }
        seen.push((recipe.clone(), change));
        let copies = bench.attempt(recipe, change);
        if copies < best.0 {
            *best = (copies, recipe.clone(), change);
        }
    };
    attempt(&mut best, &first, PLANNED);
    let alike = |a: &Recipe, b: &Recipe| a.plans == b.plans && a.within == b.within;
    for other in fused.iter().filter(|other| alike(other, &first) && other.tiles == first.tiles) {
        attempt(&mut best, other, PLANNED);
    }
    let so_far = best.1.clone();
    for other in fused.iter().filter(|other| alike(other, &so_far) && other.fused == so_far.fused) {
        attempt(&mut best, other, PLANNED);
    }
    let mut plans = vec![so_far.plans];
    for other in &fused {
        if plans.len() <= PLANS && !plans.contains(&other.plans) {
            plans.push(other.plans.clone());
            attempt(&mut best, other, PLANNED);
        }
    }
    let so_far = best.1.clone();
    for asked in [2, 3, 4, 5, 6, 8].into_iter().filter(|n| n * so_far.tiles[0].threads <= 2048) {
        attempt(&mut best, &so_far, Change { asked: Some(asked), ..PLANNED });
    }
    let (_, so_far, change) = best.clone();
    for hints in [[Cache::Default, Cache::L2], [Cache::Stream, Cache::Keep]] {
        attempt(&mut best, &so_far, Change { hints, ..change });
    }
    // What certainty costs. Not for use: hardware promises no order.
    bench.attempt(&so_far, Change { order: Order::Index, ..change });
    let (copies, recipe, change) = best;
    println!("{} best: {copies:.3} {change:?} {}", bench.name, serde_json::to_string(&recipe)?);
    Ok(())
}

impl<T: Number> Bench<T> {
    /// Output of the program of two launches, which is timed too.
    fn two_launches(&self, plain: &Recipe) -> Outcome<Vec<Complex<T>>> {
        let compiled = Compiled::by(plain, &self.problem, &self.limits)?;
        let plan = self.device.load(compiled.program)?;
        let output = self.output(&plan)?;
        println!("{} two launches | {} {}", self.name, copies(&plan).1, registers(&plan));
        Ok(output)
    }

    /// Prints a line; gives the copies, or infinity where something is wrong.
    fn attempt(&self, recipe: &Recipe, change: Change) -> f64 {
        let (fuse, tiles) = (&recipe.fused[0], &recipe.tiles);
        let held = |i: usize| tiles[i].batch.iter().product::<u64>();
        let Change { asked, order, hints } = change;
        let row = format!(
            "{} {} {} {} {}+{} | {} {order:?} {:?}+{:?} |",
            self.name,
            fuse.slots,
            fuse.ahead,
            tiles[0].threads,
            held(0),
            held(1),
            asked.map_or("-".into(), |asked| asked.to_string()),
            hints[0],
            hints[1]
        );
        match self.timed(recipe, change) {
            Ok((copies, text)) => {
                println!("{row} {text}");
                copies
            }
            Err(error) => {
                let error = error.to_string();
                println!("{row} {}", error.lines().next().unwrap_or_default());
                f64::INFINITY
            }
        }
    }

    fn timed(&self, recipe: &Recipe, change: Change) -> Outcome<(f64, String)> {
        let plan = self.device.load(self.changed(recipe, change)?)?;
        let difference = self.difference(&plan)?;
        if difference > CLOSE {
            return Err(format!("WRONG: differs by {difference:.1e}").into());
        }
        let (copies, text) = copies(&plan);
        Ok((copies, format!("{text} {} {difference:.1e}", registers(&plan))))
    }

    fn changed(&self, recipe: &Recipe, change: Change) -> Outcome<Program> {
        let Compiled { mut program, schedule, parts } = Compiled::by(recipe, &self.problem, &self.limits)?;
        let own = program.launches.last().ok_or("there are launches")?.kernel;
        let mut kernel: Kernel = (*program.kernels[own]).clone();
        if change.order == Order::Index {
            let passes = [&schedule.passes[0], &schedule.passes[1]];
            let tiles = [&parts[0].tile, &parts[1].tile];
            kernel =
                lower(passes, tiles, &schedule.fused[0].1, Order::Index, &self.limits, "by_index").kernel;
            kernel = warpfft::core::kernel::pass::optimise(kernel, &self.limits)?.into_inner();
        }
        if let Some(asked) = change.asked {
            kernel.min_blocks = asked;
        }
        hint(&mut kernel.body, change.hints);
        program.kernels[own] = verify(kernel)?;
        Ok(program)
    }

    fn output(&self, plan: &Plan) -> Outcome<Vec<Complex<T>>> {
        let mut output = vec![Complex::<T>::default(); self.input.len()];
        plan.run_host(&self.input, &mut output)?;
        Ok(output)
    }

    /// Relative difference to two launches, the larger of two runs in a row.
    fn difference(&self, plan: &Plan) -> Outcome<f64> {
        let mut worst: f64 = 0.0;
        for _ in 0..2 {
            let output = self.output(plan)?;
            let (mut apart, mut size) = (0.0, 0.0);
            for (x, y) in output.iter().zip(&self.expected) {
                let [a, b, c, d]: [f64; 4] = [x.re, x.im, y.re, y.im].map(Into::into);
                apart += (a - c).powi(2) + (b - d).powi(2);
                size += c * c + d * d;
            }
            let difference: f64 = apart / size;
            // What is no number is no small difference.
            worst = if difference.is_nan() { f64::INFINITY } else { worst.max(difference.sqrt()) };
        }
        Ok(worst)
    }
}

/// Sets the hints of the caller's data and of the ring.
fn hint(block: &mut Block, [data, ring]: [Cache; 2]) {
    for inst in &mut block.insts {
        if let Op::Load { cache, .. } | Op::Store { cache, .. } = &mut inst.op {
            match cache {
                Cache::Stream => *cache = data,
                Cache::L2 => *cache = ring,
                _ => {}
            }
        }
        inst.blocks.iter_mut().for_each(|inner| hint(inner, [data, ring]));
    }
}

/// Copies, also as text: what cannot be timed says why.
fn copies(plan: &Plan) -> (f64, String) {
    match plan.measure(Duration::from_millis(50)) {
        Ok(took) => (took.copies(), format!("{:.3}", took.copies())),
        Err(error) => (f64::INFINITY, error.to_string().lines().next().unwrap_or_default().to_owned()),
    }
}

/// Numbers that do not repeat soon.
fn noise<T: Number>(count: u64) -> Vec<Complex<T>> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        T::of((state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0)
    };
    (0..count).map(|_| Complex::new(next(), next())).collect()
}

#[cfg(feature = "cuda")]
fn registers(plan: &Plan) -> String {
    plan.cuda_registers().map_or_else(|_| "-".into(), |all| format!("{:?}", all.last()))
}

#[cfg(not(feature = "cuda"))]
fn registers(_: &Plan) -> String {
    "-".into()
}
