//! What transforms without workspace cost on an H200, beside the schedule with workspace, and their PTX for the
//! assembler to judge: `cargo run --release --example in_place -- FOLDER [SHAPE..] && .ci/ptxas FOLDER`.

use std::path::Path;
use std::time::Instant;

use warpfft_core::emit;
use warpfft_core::explain::Explanation;
use warpfft_core::problem::Precision;
use warpfft_core::program::Compiled;
use warpfft_core::recipe::candidates;
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("usage: in_place FOLDER [SHAPE..]")?;
    std::fs::create_dir_all(&folder)?;
    let mut shapes: Vec<String> = arguments.collect();
    if shapes.is_empty() {
        shapes = ["16777216", "268435456", "8589934592", "2048x2048x2048"].map(String::from).to_vec();
    }
    let limits = Limits::h200();
    let mut written = 0;
    for shape in shapes {
        let lengths = shape.split('x').map(str::parse).collect::<Result<Vec<u64>, _>>()?;
        for precision in [Precision::F32, Precision::F64] {
            let points: u64 = lengths.iter().product();
            let batch = ((1 << 26) / points).max(1);
            let ask = || Fft::new(lengths.clone()).batch(batch).precision(precision).in_place();
            for problem in [ask().build()?, ask().max_workspace(0).build()?] {
                let start = Instant::now();
                let compiled = match Compiled::of(&problem, &limits) {
                    Ok(compiled) => compiled,
                    Err(error) => {
                        println!("== {shape} {precision:?}: {error}\n");
                        continue;
                    }
                };
                println!(
                    "== {shape} {precision:?}, {:?} bytes of workspace at most, compiled in {:.2} s",
                    problem.max_workspace,
                    start.elapsed().as_secs_f64()
                );
                println!("{}", Explanation::of(&compiled, &limits));
                for one in candidates(&problem, &limits, 12)? {
                    let tiles = one.recipe.tiles.iter();
                    let tiles: Vec<String> =
                        tiles.map(|tile| format!("{}x{:?}", tile.cluster, tile.batch)).collect();
                    println!("or {:.2}: {} {}", one.copies, one.recipe.plans[0], tiles.join(" "));
                }
                println!();
                for kernel in &compiled.program.kernels {
                    let name = format!("{written:03}_{}.ptx", kernel.name);
                    std::fs::write(Path::new(&folder).join(name), emit::ptx(kernel, 90)?)?;
                    written += 1;
                }
            }
        }
    }
    println!("{written} kernels in {folder}");
    Ok(())
}
