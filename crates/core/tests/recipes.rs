//! Recipes: the best few ways to compile a problem lead to programs that compute it; what does not fit is refused.

mod common;

use std::num::NonZeroU32;

use warpfft_core::error::Error;
use warpfft_core::explain::explain;
use warpfft_core::lower::tile::Tile;
use warpfft_core::problem::{Precision, Problem, RealKind, Storage};
use warpfft_core::program::{Compiled, compile};
use warpfft_core::recipe::{Candidate, Recipe, Within, candidates, near};
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

fn problem(shape: &[u64], batch: u64) -> Problem {
    common::packed(shape, batch, Precision::F32)
}

fn found(problem: &Problem, limits: &Limits) -> Vec<Candidate> {
    candidates(problem, limits, 24).expect("it has plans")
}

/// What a candidate is expected to take is in copies of the problem's own bytes, as what is explained is, of reals too.
#[test]
fn candidates_count_in_copies() {
    let limits = Limits::h200();
    for fft in [
        Fft::new([4096]),
        Fft::new([4096]).r2c(),
        Fft::new([1 << 18]).c2r(),
        Fft::new([1000]).r2r([RealKind::Dct2]),
    ] {
        let problem = fft.batch(1 << 12).build().expect("packed lines");
        let explained = explain(&problem, &limits).expect("it has a plan").predicted_copies;
        let share = found(&problem, &limits)[0].copies / explained;
        assert!((0.9..1.1).contains(&share), "{problem:?}: {share}");
    }
}

#[test]
fn the_first_candidate_is_the_compilers_own_choice() {
    for limits in [Limits::h200(), Limits::webgpu_min()] {
        // Of 44 x 36 x 18 the last two dimensions share no pass by the stages by which all three do.
        for (shape, batch) in [
            (&[1000][..], 64),
            (&[4099], 8),
            (&[24, 24, 24], 4),
            (&[44, 36, 18], 500),
            (&[1 << 20], 1),
            (&[16], 1),
        ] {
            let problem = problem(shape, batch);
            let all = found(&problem, &limits);
            let own = compile(&problem, &limits).expect("it has a plan");
            let first = Compiled::by(&all[0].recipe, &problem, &limits).expect("it was just offered").program;
            assert_eq!((&first.kernels, &first.launches), (&own.kernels, &own.launches), "{shape:?}");
            // Behind the best of each number of passes and launches, the others by what they are expected to take.
            let sort = |one: &Candidate| (one.recipe.tiles.len(), one.recipe.fused.len());
            let leads = |i: usize| all[..i].iter().all(|other| sort(other) != sort(&all[i]));
            let leaders = (0..all.len()).filter(|&i| leads(i)).count();
            assert!((0..leaders).all(leads), "{shape:?}");
            let copies = |some: &[Candidate]| some.iter().map(|one| one.copies).collect::<Vec<_>>();
            assert!(copies(&all[1..leaders]).is_sorted() && copies(&all[leaders..]).is_sorted(), "{shape:?}");
            for (i, one) in all.iter().enumerate() {
                assert!(all[..i].iter().all(|other| other.recipe != one.recipe), "{shape:?}: {i} twice");
            }
        }
    }
}

#[test]
fn candidates_differ_in_plans_and_tiles() {
    let all = found(&problem(&[1000], 1000), &Limits::h200());
    let distinct = |pick: fn(&Recipe) -> String| {
        let mut texts: Vec<String> = all.iter().map(|one| pick(&one.recipe)).collect();
        texts.sort();
        texts.dedup();
        texts.len()
    };
    assert!(distinct(|recipe| format!("{:?}", recipe.plans)) >= 3);
    assert!(distinct(|recipe| format!("{:?}", recipe.tiles)) >= 5);
    assert!(all.len() <= 24 && found(&problem(&[1000], 1000), &Limits::h200()).len() == all.len());
    assert_eq!(candidates(&problem(&[1000], 1000), &Limits::h200(), 1).map(|all| all.len()), Ok(1));
}

#[test]
fn what_is_offered_for_short_numbers_is_followed() {
    // Which part of a length is the cheapest depends on how its numbers are kept.
    for (n, batch) in [(2911, 23_053), (2982, 22_504), (3476, 19_306), (1000, 4096)] {
        let asked = Fft::new([n]).batch(batch).storage(Storage::F16);
        let problem = asked.build().expect("it can be");
        for one in found(&problem, &Limits::h200()) {
            let followed = Compiled::by(&one.recipe, &problem, &Limits::h200());
            assert!(followed.is_ok(), "{n}: {:?}: {:?}", one.recipe, followed.err());
        }
    }
}

/// Runs every candidate of a problem on the simulator, on random data.
fn check(problem: &Problem, limits: &Limits) {
    let case = common::Case::new(problem);
    for (i, one) in found(problem, limits).iter().enumerate() {
        let compiled = Compiled::by(&one.recipe, problem, limits).expect("it was just offered");
        case.check(&compiled.program, limits, &format!("{problem:?}, candidate {i}, {:?}", one.recipe));
    }
}

const SHAPES: [&[u64]; 16] = [
    &[2],
    &[7],
    &[31],
    &[37],
    &[60],
    &[96],
    &[131],
    &[251],
    &[256],
    &[1000],
    &[1009],
    &[2187],
    &[6, 10],
    &[16, 12],
    &[37, 4],
    &[4, 6, 5],
];

#[test]
fn every_candidate_computes_the_transform() {
    for shape in SHAPES {
        check(&problem(shape, 5), &Limits::h200());
    }
}

#[test]
fn every_candidate_computes_in_double_precision_and_in_place() {
    for shape in SHAPES.into_iter().step_by(2) {
        let double = Fft::new(shape.to_vec()).batch(3).f64().inverse().build().expect("it is possible");
        check(&double, &Limits::h200());
        let in_place = Fft::new(shape.to_vec()).batch(3).in_place().build().expect("it is possible");
        check(&in_place, &Limits::h200());
    }
}

#[test]
fn every_candidate_of_several_passes_computes_the_transform() {
    let tight = Limits { shared_bytes: 4096, max_threads: 64, name: "tight".into(), ..Limits::h200() };
    for shape in [&[1024][..], &[1500], &[1021], &[4096], &[32, 48], &[12, 16, 10]] {
        check(&problem(shape, 2), &tight);
        check(&problem(shape, 2), &Limits { max_cluster: 1, ..tight.clone() });
    }
}

/// Every so manyth recipe that differs from one of the candidates in one thing, on random data.
fn check_near(problem: &Problem, limits: &Limits, every: usize) {
    let case = common::Case::new(problem);
    let all = found(problem, limits);
    for one in [&all[0], &all[all.len() / 2], &all[all.len() - 1]] {
        let others = near(&one.recipe, problem, limits).expect("it was just offered");
        assert!(!others.is_empty() && others.iter().all(|other| other.recipe != one.recipe));
        for other in others.iter().step_by(every) {
            let compiled = Compiled::by(&other.recipe, problem, limits).expect("it was just offered");
            case.check(&compiled.program, limits, &format!("{problem:?}, {:?}", other.recipe));
        }
    }
}

#[test]
fn all_that_is_near_a_recipe_computes_the_transform() {
    for shape in SHAPES.into_iter().filter(|shape| shape != &[2]) {
        check_near(&problem(shape, 5), &Limits::h200(), 9);
    }
}

#[test]
fn all_that_is_near_a_recipe_of_several_passes_computes_the_transform() {
    let tight = Limits { shared_bytes: 4096, max_threads: 64, name: "tight".into(), ..Limits::h200() };
    for shape in [&[1500][..], &[1021], &[32, 48]] {
        check_near(&problem(shape, 2), &tight, 40);
    }
}

/// What differs from passes in one launch is other tiles and rings, other stages, and the passes by themselves.
#[test]
fn near_shared_launches_are_others_and_none() {
    let (problem, limits) = (problem(&[1 << 18], 64), Limits::h200());
    let all = found(&problem, &limits);
    let fused =
        all.iter().find(|one| !one.recipe.fused.is_empty()).expect("2^18 is two passes in one launch");
    let others = near(&fused.recipe, &problem, &limits).expect("it was just offered");
    let differ = |other: &Candidate| other.recipe.fused != fused.recipe.fused;
    assert!(others.iter().any(|other| other.recipe.fused.is_empty()));
    assert!(others.iter().filter(|other| differ(other) && !other.recipe.fused.is_empty()).count() > 5);
    for other in &others {
        Compiled::by(&other.recipe, &problem, &limits).expect("it was just offered");
    }
}

/// Blocks that the tile of a recipe's first launch asks for.
fn resident(recipe: &Recipe) -> Option<u32> {
    recipe.tiles[0].resident.map(NonZeroU32::get)
}

#[test]
fn a_block_more_and_one_less_on_a_multiprocessor_are_near_a_recipe() {
    let limits = Limits::h200();
    for (shape, batch) in [(&[1000][..], 10_000), (&[33, 33, 33], 200), (&[1 << 18], 20)] {
        let problem = problem(shape, batch);
        let own = found(&problem, &limits).remove(0).recipe;
        let asks = |recipe: &Recipe| {
            let compiled = Compiled::by(recipe, &problem, &limits).expect("it is near what was found");
            compiled.program.kernels.iter().map(|kernel| kernel.min_blocks).max().expect("it has kernels")
        };
        let near = |recipe: &Recipe| -> Vec<Recipe> {
            let all = near(recipe, &problem, &limits).expect("it was just offered").into_iter();
            let others = all.map(|one| one.recipe).filter(|other| resident(other) != resident(recipe));
            others.filter(|other| other.plans == own.plans && other.fused == own.fused).collect()
        };
        let others = near(&own);
        let (told, asked): (u32, Vec<u32>) = (asks(&own), others.iter().filter_map(resident).collect());
        assert!(
            !asked.is_empty() && asked.iter().all(|&blocks| blocks.abs_diff(told) == 1),
            "{shape:?}: {asked:?} for {told}"
        );
        let fewer = others.iter().find(|other| resident(other) < Some(told)).expect("one of them");
        // One block of 256 threads leaves each all that it may have, and nothing to tell.
        let asked = resident(fewer).filter(|&blocks| blocks > 1).unwrap_or(0);
        assert_eq!(asks(fewer), asked, "{shape:?}");
        // One more than one less is the model's own again.
        assert!(near(fewer).contains(&own), "{shape:?}");
        let text = serde_json::to_string(fewer).expect("plain data");
        assert_eq!(serde_json::from_str::<Recipe>(&text).expect("it was just written"), *fewer, "{text}");
        for blocks in [0, 33, u32::MAX] {
            let mut recipe = own.clone();
            recipe.tiles[0].resident = NonZeroU32::new(blocks);
            let refused = Compiled::by(&recipe, &problem, &limits).is_err();
            assert_eq!(refused, blocks > 0, "{shape:?}: {blocks}");
        }
    }
}

/// WGSL names no number of registers: tiles for which there are too few are offered, and followed.
#[test]
fn tiles_that_a_driver_has_to_make_room_for_are_followed() {
    let limits = Limits { f64: true, registers_per_thread: 128, ..Limits::vulkan_min() };
    for n in [29, 31, 58] {
        let problem = Fft::new([n]).batch(3).f64().build().expect("it is possible");
        for one in found(&problem, &limits) {
            Compiled::by(&one.recipe, &problem, &limits).expect("it was just offered");
        }
    }
}

#[test]
fn recipes_are_readable_text_and_come_back() {
    for (shape, batch) in [(&[4099][..], 8), (&[1 << 20], 1), (&[100, 100], 3)] {
        for one in found(&problem(shape, batch), &Limits::h200()) {
            let text = serde_json::to_string(&one.recipe).expect("it is plain data");
            assert!(text.starts_with(r#"{"plans":["("#), "{text}");
            assert_eq!(serde_json::from_str::<Recipe>(&text).expect("it was just written"), one.recipe);
        }
    }
    let wrong = |text: &str| serde_json::from_str::<Recipe>(text).expect_err("it is wrong").to_string();
    assert!(wrong(r#"{"plans":["(mixed-radix 8"],"tiles":[]}"#).contains("expected"));
    assert!(wrong(r#"{"plans":[],"tiles":[],"more":1}"#).contains("more"));
}

/// Runs a plan in every tile of so many rows and threads that a search comes to, on rows of random data: how many.
fn check_in_tiles(n: u64, plan: &str, rows: &[u64], threads: &[u32]) -> usize {
    let (problem, limits) = (problem(&[n], 13), Limits::h200());
    let case = common::Case::new(&problem);
    let tiles = rows.iter().flat_map(|&rows| threads.iter().map(move |&threads| (rows, threads)));
    let followed = tiles.filter(|&(rows, threads)| {
        let tile = Tile::new(threads, 1, vec![rows]);
        let plans = vec![plan.parse().expect("a plan")];
        let recipe = Recipe { plans, within: None, tiles: vec![tile], fused: vec![] };
        let Ok(compiled) = Compiled::by(&recipe, &problem, &limits) else { return false };
        case.check(&compiled.program, &limits, &format!("{plan}, {rows} rows, {threads} threads"));
        true
    });
    followed.count()
}

#[test]
fn a_chirp_may_be_padded_to_any_length() {
    for (n, plan) in [
        (131, "(bluestein 131 (mixed-radix 22 12))"),
        (131, "(bluestein 131 (mixed-radix 17 3 19))"),
        (332, "(decimated 4 (bluestein 83 (mixed-radix 22 8)))"),
        (332, "(prime-factor (mixed-radix 4) (bluestein 83 (mixed-radix 8 22)))"),
    ] {
        assert!(check_in_tiles(n, plan, &[1, 2], &[12, 22, 32, 44, 57, 64, 96]) > 0, "{plan}");
    }
    for (n, plan) in [
        (131, "(bluestein 133 (mixed-radix 22 13))"),
        (131, "(bluestein 131 (mixed-radix 32 32 32 32))"),
        (332, "(decimated 2 (bluestein 166 (mixed-radix 22 16)))"),
    ] {
        assert_eq!(check_in_tiles(n, plan, &[1, 2], &[12, 22, 32, 44, 57, 64, 96]), 0, "{plan}");
    }
}

#[test]
fn rows_that_share_factors_compute_the_transform() {
    for (n, plan) in [
        (131, "(bluestein 131 (mixed-radix 8 6 6))"),
        (131, "(bluestein 131 (mixed-radix 20 14))"),
        (131, "(rader 131 (mixed-radix 13 10))"),
        (268, "(decimated 4 (rader 67 (mixed-radix 11 6)))"),
    ] {
        assert!(check_in_tiles(n, plan, &[2, 3, 4, 6], &[14, 16, 20, 30, 36, 48]) >= 4, "{plan}");
    }
}

#[test]
fn what_the_search_does_not_offer_is_refused() {
    let (asked, limits) = (problem(&[1000], 64), Limits::h200());
    let good = found(&asked, &limits)[0].recipe.clone();
    let refused =
        |recipe: &Recipe, problem: &Problem, limits: &Limits| match Compiled::by(recipe, problem, limits) {
            Err(Error::Recipe { detail }) => detail,
            other => panic!("{recipe:?}: {:?}", other.map(|compiled| compiled.parts)),
        };
    let with_plan = |text: &str| Recipe { plans: vec![text.parse().expect("a plan")], ..good.clone() };
    for plan in ["(split (split (mixed-radix 10 10) (mixed-radix 5)) (mixed-radix 2))", "(mixed-radix 10 10)"]
    {
        assert!(refused(&with_plan(plan), &asked, &limits).contains("no solver offers"));
    }
    let mut tile = good.clone();
    tile.tiles[0].threads = 999_983;
    assert!(refused(&tile, &asked, &limits).contains("999983"));
    for batch in [vec![], vec![0], vec![65], vec![u64::MAX], vec![1, 1], vec![64]] {
        let mut wrong = good.clone();
        wrong.tiles[0].batch = batch;
        refused(&wrong, &asked, &limits);
    }
    for cluster in [0, 3, 32, u32::MAX] {
        let mut wrong = good.clone();
        wrong.tiles[0].cluster = cluster;
        refused(&wrong, &asked, &limits);
    }
    assert!(refused(&Recipe { plans: vec![], ..good.clone() }, &asked, &limits).contains("0 plans"));
    assert!(refused(&Recipe { tiles: vec![], ..good.clone() }, &asked, &limits).contains("0 tiles"));
    let within = Some(Within { cluster: 3, shared_bytes: 7 });
    assert!(refused(&Recipe { within, ..good.clone() }, &asked, &limits).contains("another device"));
    refused(&good, &problem(&[1024], 64), &limits);
    refused(&good, &problem(&[10, 100], 64), &limits);
    let mut double = asked;
    double.precision = Precision::F64;
    // The same numbers may suit or not; what matters is that it is an answer.
    assert!(!matches!(Compiled::by(&good, &double, &limits), Err(Error::Plan { .. })));
}
