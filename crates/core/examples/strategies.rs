//! What the simulator counts of published algorithms beside the planner's own choice: `docs/papers.md` has its output.
//! Lines of text are rows of a table in Markdown.

#[path = "../tests/common/mod.rs"]
mod common;

use common::random;
use warpfft_core::error::Error;
use warpfft_core::problem::{Precision, Problem};
use warpfft_core::program::Program;
use warpfft_core::request::Fft;
use warpfft_core::strategy::Strategy;
use warpfft_core::target::Limits;

/// Which strategies are set beside each other, on what.
const TABLES: [(&[u64], u64, &[&str]); 9] = [
    (&[1 << 14], 2, &["straightforward", "transposed", "locality", "four-step-wrapped", "stockham-2"]),
    (&[1 << 18], 1, &["straightforward", "transposed", "locality", "four-step-wrapped", "stockham-2"]),
    (&[1 << 10], 64, &["fft1", "fft2", "fft3", "fft3-compact", "fft4", "stockham-2"]),
    (&[1 << 10], 64, &["shared-naive", "cooley-tukey-iterative", "mixed-radix-matmul", "bluestein-pow2"]),
    (
        &[64],
        256,
        &["matmul", "matmul-constant", "matmul-tensor", "mixed-radix-matmul", "cooley-tukey-iterative"],
    ),
    (
        &[16, 16, 16],
        8,
        &["keskin-3d", "cooley-tukey-iterative", "matmul", "matmul-constant", "mixed-radix-matmul"],
    ),
    (
        &[16, 16, 16],
        8,
        &[
            "matmul:elements=4",
            "matmul:elements=8",
            "matmul:elements=16",
            "matmul:elements=1,planes=1",
            "matmul:elements=1,planes=2",
            "matmul:elements=2,planes=2",
            "matmul:elements=4,planes=4",
        ],
    ),
    (
        &[16],
        4096,
        &[
            "matmul",
            "matmul:elements=1,planes=4",
            "matmul:elements=1,planes=16",
            "matmul:elements=1,planes=64",
            "matmul:elements=4,planes=64",
        ],
    ),
    (&[1 << 10], 64, &["stockham-2-halves", "stockham-2-rows"]),
];

fn main() -> Result<(), String> {
    let limits = Limits::h200();
    for (shape, batch, names) in TABLES {
        let strategies: Result<Vec<Strategy>, _> = names.iter().map(|name| Strategy::named(name)).collect();
        let strategies = strategies.map_err(|error| error.to_string())?;
        let asked = Fft::new(shape.to_vec()).batch(batch);
        let reals = strategies.iter().any(Strategy::takes_reals);
        let asked = if reals { asked.r2c() } else { asked };
        let problem = asked.build().map_err(|error| error.to_string())?;
        let of = if reals { " of reals" } else { "" };
        println!("\n{shape:?} points, {batch} transforms{of}, f32, {}\n", limits.name);
        println!(
            "| strategy | launches | sectors asked for | of each block | conflicts | operations | instructions |"
        );
        println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
        row("the planner's", warpfft_core::compile(&problem, &limits), &problem, &limits)?;
        for strategy in strategies {
            row(&strategy.to_string(), strategy.compile(&problem, &limits), &problem, &limits)?;
        }
    }
    Ok(())
}

/// A row of a table: counts for each point.
fn row(
    name: &str,
    program: Result<Program, Error>,
    problem: &Problem,
    limits: &Limits,
) -> Result<(), String> {
    let Ok(program) = program else { return Ok(()) };
    let input = random(problem.input_span().end as usize, Precision::F32);
    let output = random(problem.output_span().end as usize, Precision::F32);
    let (_, report) = common::run(&program, limits, &input, &output)?;
    let each = |count: u64| count as f64 / problem.elements() as f64;
    println!(
        "| {name} | {} | {:.2} | {:.2} | {:.2} | {:.0} | {:.0} |",
        program.launches.len(),
        each(report.global_sectors_read + report.global_sectors_written),
        each(report.minimal_sectors),
        report.conflicts(),
        each(report.flops),
        each(report.instructions),
    );
    Ok(())
}
