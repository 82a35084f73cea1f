//! Many plans loaded side by side and timed in turns.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use warpfft::Plan;

use crate::Outcome;

/// Time for one race, beyond the rounds that all run.
const RACE: Duration = Duration::from_millis(700);

/// Loads many plans, as many at once as there are processors.
pub fn load_all(count: usize, load: impl Fn(usize) -> Outcome<Plan> + Sync) -> Vec<Result<Plan, String>> {
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
pub struct Took {
    pub copies: Option<f64>,
    text: String,
}

impl std::fmt::Display for Took {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Times all that loaded and do not spill, beside two launches, which take `seconds`.
pub fn race(plain: &Plan, all: &[Result<Plan, String>], copy: f64, seconds: f64) -> Outcome<Vec<Took>> {
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

/// Registers and spilled bytes of the kernels.
#[cfg(feature = "cuda")]
pub fn registers(plan: &Plan) -> String {
    plan.cuda_registers().map_or_else(|_| "-".into(), |all| format!("{all:?}"))
}

#[cfg(not(feature = "cuda"))]
pub fn registers(_: &Plan) -> String {
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
