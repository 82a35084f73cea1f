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

mod check;
mod programs;
mod race;
mod search;

use std::collections::HashSet;
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use warpfft::core::emit;
use warpfft::core::problem::Problem;
use warpfft::core::program::{Compiled, Program};
use warpfft::core::recipe::candidates;
use warpfft::core::request::Fft;
use warpfft::core::schedule::Schedule;
use warpfft::core::target::Limits;
use warpfft::{Device, DeviceKind, Plan};

use race::{load_all, race, registers};
use search::{Variant, leaders};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

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
                round = leaders(&done).into_iter().flat_map(|leader| self.around(leader)).collect();
            }
        }
        self.finals(&plain, &done)
    }
}
