//! What clusters of blocks hold of lines, planes and volumes, and how: choices that were timed, and room for the blocks that are counted on.

mod common;

use common::{Case, packed};
use warpfft_core::explain::Explanation;
use warpfft_core::problem::Precision;
use warpfft_core::program::Compiled;
use warpfft_core::recipe::{Recipe, candidates};
use warpfft_core::target::Limits;

/// Bytes of shared memory that the device keeps of each block's.
const RESERVED: u32 = 1024;

fn batch(shape: &[u64], precision: Precision) -> u64 {
    (1 << 29) / precision.complex_bytes() / shape.iter().product::<u64>()
}

/// Pads against bank conflicts took two and a half times the tile, and so the room of every other block: 420 x 112 took 1.91 copies, and
/// takes 1.26.
#[test]
fn pads_leave_room_for_all_blocks_that_are_counted_on() {
    let limits = Limits::h200();
    let mut clusters = 0;
    for (shape, precision) in [
        (&[420, 112][..], Precision::F32),
        (&[84, 588], Precision::F32),
        (&[21, 21, 21], Precision::F32),
        (&[108, 108], Precision::F64),
    ] {
        let problem = packed(shape, batch(shape, precision), precision);
        for one in candidates(&problem, &limits, 24).expect("it has plans") {
            let compiled = Compiled::by(&one.recipe, &problem, &limits).expect("it was just offered");
            for pass in Explanation::of(&compiled, &limits).passes.iter().filter(|pass| pass.cluster > 1) {
                let taken = pass.resident_blocks * (pass.shared_bytes + RESERVED);
                assert!(taken <= limits.shared_per_sm, "{shape:?} in {precision}: {pass:?}");
                clusters += 1;
            }
        }
    }
    assert!(clusters > 20, "{clusters}");
}

/// Stages and a tile of a cluster.
fn recipe(plans: &[&str], threads: u32, cluster: u32) -> Recipe {
    let text = serde_json::json!({
        "plans": plans.iter().map(|plan| format!("(mixed-radix {plan})")).collect::<Vec<_>>(),
        "tiles": [{"threads": threads, "cluster": cluster, "batch": [1]}],
    });
    serde_json::from_value(text).expect("it is a recipe")
}

/// Of two ways the first took less on an H200: 1.29 copies for 1.60, 1.22 for 1.45, 1.40 for 1.65, 1.19 for 1.32 and 1.35 for 1.64.
#[test]
fn ways_that_were_timed_as_faster_are_expected_to_be() {
    let limits = Limits::h200();
    type Way<'a> = (&'a [&'a str], u32, u32);
    let ways: [([u64; 2], Way<'_>, Way<'_>); 5] = [
        ([126, 147], (&["21 6", "7 21"], 63, 7), (&["6 21", "21 7"], 63, 7)),
        ([140, 140], (&["20 7", "20 7"], 112, 5), (&["14 10", "10 14"], 140, 5)),
        ([120, 270], (&["20 6", "30 9"], 108, 10), (&["12 10", "30 9"], 108, 10)),
        ([216, 192], (&["24 9", "24 8"], 144, 12), (&["12 6 3", "24 8"], 144, 12)),
        ([200, 250], (&["20 10", "25 10"], 125, 10), (&["20 10", "25 10"], 250, 10)),
    ];
    for (shape, faster, slower) in ways {
        let problem = packed(&shape, batch(&shape, Precision::F32), Precision::F32);
        let [faster, slower] = [faster, slower].map(|(plans, threads, cluster)| {
            let compiled = Compiled::by(&recipe(plans, threads, cluster), &problem, &limits);
            Explanation::of(&compiled.expect("it was timed"), &limits).predicted_copies
        });
        assert!(faster < slower, "{shape:?}: {faster} and {slower}");
    }
}

/// What is planned for many, on a few.
#[test]
fn planes_and_volumes_that_no_block_holds_are_right() {
    let limits = Limits::h200();
    for (shape, precision) in [
        (&[160, 210][..], Precision::F32),
        (&[420, 112], Precision::F32),
        (&[180, 180], Precision::F32),
        (&[36, 36, 36], Precision::F32),
        (&[34_560], Precision::F32),
        (&[105, 105], Precision::F64),
        (&[40, 22, 24], Precision::F64),
        (&[22_400], Precision::F64),
    ] {
        let what = format!("{shape:?} in {precision}");
        let many = packed(shape, batch(shape, precision), precision);
        let planned = candidates(&many, &limits, 1).expect("it has plans").remove(0).recipe;
        assert!(planned.tiles[0].cluster > 1, "{what}: {planned:?}");
        let few = packed(shape, 3, precision);
        let compiled = Compiled::by(&planned, &few, &limits).unwrap_or_else(|e| panic!("{what}: {e}"));
        Case::new(&few).check(&compiled.program, &limits, &what);
    }
}
