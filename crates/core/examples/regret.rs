//! What the cost model's choice loses, by the times of a tuning: `cargo run --release --example regret -- tuned.json`, where the file
//! is what `warpfft tune .. --json` printed. Each plan that was timed is priced again by the model as it is now; of each
//! complex problem a line says how long what it prices lowest took, beside the fastest.

use warpfft_core::explain::Explanation;
use warpfft_core::problem::Precision;
use warpfft_core::program::Compiled;
use warpfft_core::recipe::Recipe;
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

#[derive(serde::Deserialize)]
struct Tuned {
    entry: Entry,
    trials: Vec<Trial>,
}

#[derive(serde::Deserialize)]
struct Entry {
    problem: String,
}

#[derive(serde::Deserialize)]
struct Trial {
    recipe: Recipe,
    seconds: Option<f64>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let limits = Limits::h200();
    let (mut lost, mut count) = (0.0, 0);
    for file in std::env::args().skip(1) {
        let text = std::fs::read_to_string(file)?;
        // What several runs printed may follow one another.
        let all: Result<Vec<Vec<Tuned>>, _> = serde_json::Deserializer::from_str(&text).into_iter().collect();
        for Tuned { entry, trials } in all?.into_iter().flatten() {
            let words: Vec<&str> = entry.problem.split(' ').collect();
            let ["c2c", precision, shape, "batch", batch] = words[..] else { continue };
            let shape: Vec<u64> = shape.split('x').map(str::parse).collect::<Result<_, _>>()?;
            let precision = if precision == "f64" { Precision::F64 } else { Precision::F32 };
            let problem = Fft::new(shape).batch(batch.parse()?).precision(precision).build()?;
            let priced = |trial: &Trial| {
                let compiled = Compiled::by(&trial.recipe, &problem, &limits).ok()?;
                Some((Explanation::of(&compiled, &limits).predicted_copies, trial.seconds?))
            };
            let timed: Vec<(f64, f64)> = trials.iter().filter_map(priced).collect();
            let chosen = timed.iter().min_by(|x, y| x.0.total_cmp(&y.0));
            let fastest = timed.iter().map(|trial| trial.1).min_by(f64::total_cmp);
            let (Some(&(cost, chosen)), Some(fastest)) = (chosen, fastest) else { continue };
            println!("{:32} {cost:.3} copies, {:.3} of the fastest", entry.problem, chosen / fastest);
            lost += (chosen / fastest).ln();
            count += 1;
        }
    }
    println!("{count} problems, {:.4} of the fastest in the geometric mean", (lost / f64::from(count)).exp());
    Ok(())
}
