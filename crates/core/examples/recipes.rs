//! The best few ways to compile shapes for an H200, by the cost model:
//! `cargo run --example recipes -- 4096 24x24x24`.

use warpfft_core::recipe::candidates;
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for text in std::env::args().skip(1) {
        let shape = text.split('x').map(str::parse).collect::<Result<Vec<u64>, _>>()?;
        let batch = ((1 << 26) / shape.iter().product::<u64>()).max(1);
        println!("{text} batch {batch}");
        for one in candidates(&Fft::new(shape).batch(batch).build()?, &Limits::h200(), 24)? {
            let plans: Vec<String> = one.recipe.plans.iter().map(ToString::to_string).collect();
            let rings: Vec<String> =
                one.recipe.fused.iter().map(|fuse| format!(", ring {}/{}", fuse.slots, fuse.ahead)).collect();
            let tiles: Vec<String> =
                one.recipe.tiles.iter().map(|tile| format!("{}:{:?}", tile.threads, tile.batch)).collect();
            println!("  {:.3} copies: {} {}{}", one.copies, plans.join(" "), tiles.join(" "), rings.concat());
        }
    }
    Ok(())
}
