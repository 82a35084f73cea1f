//! Times two passes in one launch against two launches, over many forms at once: first all tiles, radices and resident
//! blocks, then what is around the fastest of these. All of a round are assembled side by side and timed
//! in turns; only the fastest are checked against the program of two launches.
//!
//! ```text
//! cargo run --release -p warpfft --example fused                       # 2^18, 2^19, 2^20, 1024x1024
//! cargo run --release -p warpfft --example fused -- 512x512 524288     # others of these sides
//! ```
//!
//! A line: shape, radices of both passes, `threads:columns+columns`, `ring slots/ahead`, `asked` resident blocks, `early`
//! where tiles wait for their slots while they load, hints of the caller's data and of the ring; copies, registers and
//! spilled bytes. `PLANNED` is what the planner takes.
//! `WARPFFT_POINTS` (2^26) is the size of the whole problem; `WARPFFT_DUMP=FOLDER` writes the PTX of the first round,
//! and of some of what may follow, there and times nothing, without a GPU.

use std::collections::HashSet;
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use num_complex::Complex;
use warpfft::core::emit;
use warpfft::core::kernel::verify::verify;
use warpfft::core::kernel::{Block, Cache, Kernel, Op};
use warpfft::core::lower::fused::COUNTER_WORDS;
use warpfft::core::lower::tile::Tile;
use warpfft::core::pass::{Array, Method};
use warpfft::core::problem::Problem;
use warpfft::core::program::{Compiled, Program};
use warpfft::core::recipe::candidates;
use warpfft::core::request::Fft;
use warpfft::core::schedule::Schedule;
use warpfft::core::target::Limits;
use warpfft::{Device, DeviceKind, Plan};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Relative difference to the program of two launches: both round, in another order.
const CLOSE: f64 = 1e-6;
/// Time for one race, beyond the rounds that all run.
const RACE: Duration = Duration::from_millis(700);
/// Largest ring that is tried, in bytes.
const RING: u64 = 27 << 20;
/// How many of the first round the second goes on from.
const LEADERS: usize = 4;

/// What is tried.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Variant {
    radices: [Vec<u32>; 2],
    threads: u32,
    /// Transforms that a tile of each pass holds.
    held: [u64; 2],
    slots: u32,
    ahead: u32,
    asked: u32,
    early: bool,
    /// Hints of the caller's data and of the ring.
    hints: [Cache; 2],
}

impl Variant {
    fn text(&self) -> String {
        let radices =
            |i: usize| self.radices[i].iter().map(ToString::to_string).collect::<Vec<_>>().join(".");
        format!(
            "{}|{} {}:{}+{} ring {}/{} asked {}{} {:?}+{:?}",
            radices(0),
            radices(1),
            self.threads,
            self.held[0],
            self.held[1],
            self.slots,
            self.ahead,
            self.asked,
            if self.early { " early" } else { "" },
            self.hints[0],
            self.hints[1]
        )
    }
}

/// One shape.
struct Bench {
    limits: Limits,
    problem: Problem,
    name: String,
    /// As planned.
    planned: Program,
    /// Of two launches, and of two passes in one with some ring.
    plain: Compiled,
    schedule: Schedule,
}

fn main() -> Outcome {
    let setting = |name: &str| std::env::var(name).ok();
    let points: u64 = setting("WARPFFT_POINTS").map_or(Ok(1 << 26), |points| points.parse())?;
    let dump = setting("WARPFFT_DUMP");
    let device = if dump.is_some() { None } else { Some(Device::open(DeviceKind::Cuda)?) };
    let limits = device.as_ref().and_then(|device| device.limits()).cloned().unwrap_or_else(Limits::h200);
    let mut shapes: Vec<String> = std::env::args().skip(1).collect();
    if shapes.is_empty() {
        shapes = ["262144", "524288", "1048576", "1024x1024"].map(String::from).to_vec();
    }
    for name in shapes {
        let started = Instant::now();
        let shape: Vec<u64> = name.split('x').map(str::parse).collect::<Result<_, _>>()?;
        let batch = (points / shape.iter().product::<u64>()).max(1);
        let problem = Fft::new(shape).batch(batch).build()?;
        let bench = Bench::new(problem, limits.clone(), &name)?;
        // A shape that fails says so and leaves the others alone.
        let done = match (&dump, &device) {
            (Some(folder), _) => bench.dump(Path::new(folder)),
            (None, Some(device)) => bench.run(device),
            (None, None) => Ok(()),
        };
        if let Err(error) = done {
            println!("{name}: {error}");
        }
        println!("{name}: {:.1} s", started.elapsed().as_secs_f64());
        std::io::stdout().flush()?;
    }
    Ok(())
}

impl Bench {
    fn new(problem: Problem, limits: Limits, name: &str) -> Outcome<Self> {
        let all = candidates(&problem, &limits, 400)?;
        let find = |fused: bool| {
            all.iter().find(|one| one.recipe.tiles.len() == 2 && one.recipe.fused.is_empty() != fused)
        };
        let plain = find(false).ok_or("no candidate has two passes")?;
        let fused = find(true).ok_or("nothing can be fused")?;
        let plain = Compiled::by(&plain.recipe, &problem, &limits)?;
        let schedule = Compiled::by(&fused.recipe, &problem, &limits)?.schedule;
        let planned = Compiled::of(&problem, &limits)?.program;
        Ok(Self { limits, problem, name: name.to_owned(), planned, plain, schedule })
    }

    fn lengths(&self) -> [u64; 2] {
        [0, 1].map(|i| self.schedule.passes[i].axes.iter().map(|axis| axis.dim.n).product())
    }

    /// Tiles of both passes and resident blocks, each with the rings that suit it.
    fn first_round(&self) -> Vec<Variant> {
        let lengths = self.lengths();
        let mut all = Vec::new();
        for radices in products(lengths) {
            for threads in [128, 192, 256, 512] {
                for held in [[4, 4], [8, 8], [4, 8], [8, 16], [16, 16]] {
                    for asked in [2, 3, 4, 5, 6, 8] {
                        if !self.fits(&radices, threads, held, asked) {
                            continue;
                        }
                        all.extend(self.rings(held, asked).into_iter().map(|(slots, ahead)| Variant {
                            radices: radices.clone(),
                            threads,
                            held,
                            slots,
                            ahead,
                            asked,
                            early: false,
                            hints: [Cache::Stream, Cache::L2],
                        }));
                    }
                }
            }
        }
        all
    }

    /// Whether so many blocks can be resident, without spills as far as one can tell before.
    fn fits(&self, radices: &[Vec<u32>; 2], threads: u32, held: [u64; 2], asked: u32) -> bool {
        let points = [0, 1].map(|i| self.lengths()[i] * held[i]);
        let most = points[0].max(points[1]);
        let per_thread = most.div_ceil(u64::from(threads));
        let even = |i: usize| {
            radices[i].iter().all(|&radix| (points[i] / u64::from(radix)).is_multiple_of(u64::from(threads)))
        };
        let registers = u64::from(self.limits.registers_per_sm / (threads * asked) / 8 * 8).min(255);
        let wide = radices.iter().flatten().any(|&radix| radix == 32);
        let least = 2 * per_thread + if wide { 26 } else { 22 };
        let bytes = most * 8 * 17 / 16 + 1024 + 16;
        let resident = u64::from(threads * asked) >= 384 && threads * asked <= self.limits.threads_per_sm;
        let own = self.problem.transform.len() == 2;
        // Rows, or columns of whole sectors.
        let columns = held[1] >= 4 && held[0] >= if own { 1 } else { 4 };
        (8..=32).contains(&per_thread)
            && even(0)
            && even(1)
            && registers >= least
            && registers <= 4 * per_thread + 64
            && bytes * u64::from(asked) <= u64::from(self.limits.shared_per_sm)
            && resident
            && columns
    }

    /// Slots, and how far ahead: so that what is waited for is about a wave of blocks away.
    fn rings(&self, held: [u64; 2], asked: u32) -> Vec<(u32, u32)> {
        let item: u64 = self.lengths().iter().product();
        let lengths = self.lengths();
        let step = item / lengths[0] / held[0] + item / lengths[1] / held[1];
        let wave = u64::from(self.limits.multiprocessors * asked);
        let most = (RING / (item * 8)).min(self.problem.elements() / item);
        let mut rings = Vec::new();
        for (up, down) in [(1, 1), (3, 2)] {
            let ahead = (wave * up).div_ceil(step * down).clamp(1, most.max(2) - 1);
            let ring = ((ahead + 1 + u64::from(item <= 1 << 18)).min(most) as u32, ahead as u32);
            if ring.0 > ring.1 && !rings.contains(&ring) {
                rings.push(ring);
            }
        }
        rings
    }

    /// What is around one.
    fn around(&self, leader: &Variant) -> Vec<Variant> {
        let most = (RING / (self.lengths().iter().product::<u64>() * 8)) as u32;
        let mut all = Vec::new();
        for ahead in 1..most.min(9) {
            for slots in [ahead + 1, ahead + 2, ahead + 3, 2 * ahead + 1] {
                if slots <= most && ahead.abs_diff(leader.ahead) <= 2 {
                    all.push(Variant { slots, ahead, ..leader.clone() });
                }
            }
        }
        all.push(Variant { early: !leader.early, ..leader.clone() });
        all.push(Variant { hints: [Cache::Default, Cache::L2], ..leader.clone() });
        for data in [Cache::Default, Cache::Stream] {
            all.push(Variant { hints: [data, Cache::Keep], ..leader.clone() });
        }
        all
    }

    fn program(&self, variant: &Variant) -> Outcome<Program> {
        let mut schedule = self.schedule.clone();
        let lengths = self.lengths();
        let (_, ring) = &mut schedule.fused[0];
        (ring.slots, ring.ahead, ring.early) = (variant.slots, variant.ahead, variant.early);
        let span = u64::from(variant.slots) * ring.slot;
        schedule.regions[usize::from(ring.counters)] = u64::from(COUNTER_WORDS * (2 * variant.slots + 1)) / 2;
        let Array::Workspace(region) = schedule.passes[0].dst.array else {
            return Err("the ring is no workspace".into());
        };
        schedule.regions[usize::from(region)] = span;
        schedule.passes[0].dst.span = span;
        schedule.passes[1].src.span = span;
        let mut tiles = Vec::new();
        for (i, pass) in schedule.passes.iter_mut().enumerate() {
            for axis in &mut pass.axes {
                axis.method = Method::MixedRadix(variant.radices[i].clone());
            }
            // The fastest repeated dimension of an item is what a tile holds several of.
            let inner =
                pass.batch.iter().position(|dim| dim.n == lengths[1 - i] && dim.is != 0 && dim.os != 0);
            let inner = inner.ok_or("no dimension is as long as the other pass")?;
            let mut batch = vec![1; pass.batch.len()];
            batch[inner] = variant.held[i];
            tiles.push(Tile { threads: variant.threads, cluster: 1, batch });
        }
        let tiles = [&tiles[0], &tiles[1]];
        let mut program = Program::of_fused(&self.problem, &schedule, tiles, &self.limits)?;
        let own = program.launches.last().ok_or("there are launches")?.kernel;
        let mut kernel: Kernel = (*program.kernels[own]).clone();
        hint(&mut kernel.body, variant.hints);
        kernel.min_blocks = variant.asked;
        program.kernels[own] = verify(kernel)?;
        Ok(program)
    }

    /// Two launches with that many resident blocks asked for.
    fn asked(&self, asked: u32) -> Outcome<Program> {
        let mut program = self.plain.program.clone();
        for own in &mut program.kernels {
            let mut kernel: Kernel = (**own).clone();
            kernel.min_blocks = asked.min(self.limits.threads_per_sm / kernel.threads);
            *own = verify(kernel)?;
        }
        Ok(program)
    }

    fn dump(&self, folder: &Path) -> Outcome {
        std::fs::create_dir_all(folder)?;
        let mut texts = HashSet::new();
        let first = self.first_round();
        let around = first.iter().step_by(8).flat_map(|variant| self.around(variant));
        for variant in first.iter().cloned().chain(around) {
            let program = self.program(&variant)?;
            let kernel = &program.kernels[program.launches.last().ok_or("there are launches")?.kernel];
            let key = Variant { slots: 0, ahead: 0, ..variant.clone() };
            if texts.insert(key) {
                let name = variant.text().replace([' ', '|', ':', '/'], "_");
                let path = folder.join(format!("{}_{name}.ptx", self.name));
                std::fs::write(path, emit::ptx(kernel, 90)?)?;
            }
        }
        println!("{}: {} kernels, {} variants", self.name, texts.len(), first.len());
        Ok(())
    }

    fn run(&self, device: &Device) -> Outcome {
        let plain = device.load(self.plain.program.clone())?;
        let measured = plain.measure(Duration::from_millis(100))?;
        let copy = measured.transform_seconds / measured.copies();
        println!("{} two launches | {:.3} {}", self.name, measured.copies(), registers(&plain));
        let planned = device.load(self.planned.clone())?;
        let took = planned.measure(Duration::from_millis(100))?;
        println!("{} PLANNED | {:.3} {}", self.name, took.copies(), registers(&planned));
        let asked: Vec<u32> = (2..=8).collect();
        let programs: Vec<_> = asked.iter().map(|&asked| self.asked(asked)).collect::<Result<_, _>>()?;
        let loaded = load_all(programs.len(), |i| device.load(programs[i].clone()).map_err(Into::into));
        for (asked, took) in asked.iter().zip(race(&plain, &loaded, copy, measured.transform_seconds)?) {
            println!("{} two launches asked {asked} | {took}", self.name);
        }
        let mut done: Vec<(f64, Variant, Plan)> = Vec::new();
        let mut seen = HashSet::new();
        let mut round = self.first_round();
        for last in [false, false, true] {
            round.retain(|variant| seen.insert(variant.clone()));
            let loaded = load_all(round.len(), |i| Ok(device.load(self.program(&round[i])?)?));
            let took = race(&plain, &loaded, copy, measured.transform_seconds)?;
            for ((variant, plan), took) in round.drain(..).zip(loaded).zip(took) {
                println!("{} {} | {took}", self.name, variant.text());
                if let (Ok(plan), Some(copies)) = (plan, took.copies) {
                    done.push((copies, variant, plan));
                }
            }
            std::io::stdout().flush()?;
            done.sort_by(|a, b| a.0.total_cmp(&b.0));
            if !last {
                // Leaders that differ in more than what the next round varies.
                let mut leaders: Vec<&Variant> = Vec::new();
                for (_, variant, _) in &done {
                    let alike = |other: &&&Variant| {
                        other.threads == variant.threads
                            && other.asked == variant.asked
                            && other.held == variant.held
                            && other.radices == variant.radices
                    };
                    if leaders.len() < LEADERS && leaders.iter().filter(alike).count() == 0 {
                        leaders.push(variant);
                    }
                }
                round = leaders.into_iter().flat_map(|leader| self.around(leader)).collect();
            }
        }
        self.finals(&plain, &done)
    }

    /// The fastest once more, and whether they are right.
    fn finals(&self, plain: &Plan, done: &[(f64, Variant, Plan)]) -> Outcome {
        let fastest = &done[..done.len().min(5)];
        for (copies, variant, plan) in fastest {
            println!("{} BEST {copies:.3} {} | {}", self.name, variant.text(), registers(plan));
        }
        std::io::stdout().flush()?;
        let input = noise(self.problem.elements());
        let expected = output(plain, &input)?;
        for (_, variant, plan) in &fastest[..fastest.len().min(3)] {
            let measured = plan.measure(Duration::from_millis(100))?.copies();
            let difference = (0..2).try_fold(0.0_f64, |worst, _| -> Outcome<f64> {
                let difference = difference(&output(plan, &input)?, &expected);
                // What is no number is no small difference.
                Ok(if difference.is_nan() { f64::INFINITY } else { worst.max(difference) })
            })?;
            let verdict = if difference < CLOSE { "right" } else { "WRONG" };
            println!("{} {verdict} {difference:.1e} {measured:.3} {}", self.name, variant.text());
            std::io::stdout().flush()?;
        }
        Ok(())
    }
}

/// Radices to try for both lengths.
fn products(lengths: [u64; 2]) -> Vec<[Vec<u32>; 2]> {
    let of = |n: u64| -> Vec<Vec<u32>> {
        match n {
            256 => vec![vec![16, 16], vec![8, 8, 4]],
            512 => vec![vec![8, 8, 8], vec![32, 16], vec![16, 32]],
            1024 => vec![vec![16, 8, 8], vec![32, 32], vec![8, 8, 16]],
            2048 => vec![vec![16, 16, 8], vec![8, 16, 16]],
            _ => Vec::new(),
        }
    };
    let [one, two] = lengths.map(of);
    one.iter().zip(&two).map(|(a, b)| [a.clone(), b.clone()]).collect()
}

/// Loads many plans, as many at once as there are processors.
fn load_all(count: usize, load: impl Fn(usize) -> Outcome<Plan> + Sync) -> Vec<Result<Plan, String>> {
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    let mut all: Vec<(usize, Result<Plan, String>)> = std::thread::scope(|scope| {
        let work = || {
            let mut own = Vec::new();
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= count {
                    return own;
                }
                own.push((i, load(i).map_err(|error| error.to_string())));
            }
        };
        let started: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        started.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    all.sort_by_key(|(i, _)| *i);
    all.into_iter().map(|(_, plan)| plan).collect()
}

/// What came of one in a race.
struct Took {
    copies: Option<f64>,
    text: String,
}

impl std::fmt::Display for Took {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Times all that loaded and do not spill, beside two launches, which take `seconds`.
fn race(plain: &Plan, all: &[Result<Plan, String>], copy: f64, seconds: f64) -> Outcome<Vec<Took>> {
    let runs = |plan: &&Result<Plan, String>| plan.as_ref().is_ok_and(|plan| spilled(plan) <= 64);
    let plans: Vec<&Plan> = std::iter::once(plain).chain(all.iter().filter(runs).flatten()).collect();
    let took = Plan::race(&plans, RACE)?;
    let drift = took.first().copied().unwrap_or(seconds) / seconds;
    let mut took = took.into_iter().skip(1);
    let one = |plan: &Result<Plan, String>| match plan {
        Err(error) => Took { copies: None, text: error.lines().next().unwrap_or_default().to_owned() },
        Ok(made) if runs(&plan) => {
            let copies = took.next().map(|seconds| seconds / drift / copy);
            let text = format!("{:.3} {}", copies.unwrap_or(f64::NAN), registers(made));
            Took { copies, text }
        }
        Ok(made) => Took { copies: None, text: format!("spills {}", registers(made)) },
    };
    Ok(all.iter().map(one).collect())
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

fn output(plan: &Plan, input: &[Complex<f32>]) -> Outcome<Vec<Complex<f32>>> {
    let mut output = vec![Complex::default(); input.len()];
    plan.run_host(input, &mut output)?;
    Ok(output)
}

fn difference(got: &[Complex<f32>], expected: &[Complex<f32>]) -> f64 {
    let (mut apart, mut size) = (0.0_f64, 0.0_f64);
    for (x, y) in got.iter().zip(expected) {
        apart += f64::from(x.re - y.re).powi(2) + f64::from(x.im - y.im).powi(2);
        size += f64::from(y.re).powi(2) + f64::from(y.im).powi(2);
    }
    (apart / size).sqrt()
}

/// Numbers that do not repeat soon.
fn noise(count: u64) -> Vec<Complex<f32>> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0) as f32
    };
    (0..count).map(|_| Complex::new(next(), next())).collect()
}

#[cfg(feature = "cuda")]
fn registers(plan: &Plan) -> String {
    plan.cuda_registers().map_or_else(|_| "-".into(), |all| format!("{all:?}"))
}

#[cfg(not(feature = "cuda"))]
fn registers(_: &Plan) -> String {
    "-".into()
}

/// Bytes that the last kernel keeps in memory for want of registers.
#[cfg(feature = "cuda")]
fn spilled(plan: &Plan) -> u32 {
    plan.cuda_registers().ok().and_then(|all| all.last().map(|&(_, spilled)| spilled)).unwrap_or(0)
}

#[cfg(not(feature = "cuda"))]
fn spilled(_: &Plan) -> u32 {
    0
}
