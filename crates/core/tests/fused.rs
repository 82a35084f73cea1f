//! Two passes in one launch, on the simulator: against the reference, without races, whatever the order of the blocks
//! and whatever lies in the workspace.

mod common;

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use common::Workspace;
use warpfft_core::explain::Explanation;
use warpfft_core::kernel::simulate::Options;
use warpfft_core::kernel::verify::verify;
use warpfft_core::kernel::{Block, Kernel, Op};
use warpfft_core::problem::{Dim, Placement, Precision, Problem};
use warpfft_core::program::{Binding, Compiled, Program};
use warpfft_core::recipe::{Recipe, candidates, near};
use warpfft_core::request::Fft;
use warpfft_core::schedule::fuse::Fuse;
use warpfft_core::target::Limits;

/// A device of few blocks that hold little, so that short transforms take two passes and rings are short, and whose cache
/// holds that many KB.
fn small(kilobytes: u64) -> Limits {
    Limits {
        name: format!("small, {kilobytes} KB of cache"),
        shared_bytes: 2048 + 128,
        max_threads: 64,
        max_cluster: 1,
        multiprocessors: 1,
        l2_bytes: kilobytes << 10,
        ..Limits::h200()
    }
}

fn request(shape: &[u64], batch: u64, precision: Precision) -> Fft {
    Fft::new(shape.to_vec()).batch(batch).precision(precision)
}

/// Recipes of a problem that fuse passes.
fn fused(problem: &Problem, limits: &Limits) -> Vec<Recipe> {
    let all = candidates(problem, limits, 200).expect("it has plans").into_iter().map(|one| one.recipe);
    all.filter(|recipe| !recipe.fused.is_empty()).collect()
}

/// Runs a program on random data, several times in the same workspace.
fn check_program(program: &Program, limits: &Limits, what: &str) -> Result<(), String> {
    let problem = &program.problem;
    let precision = problem.precision;
    let tolerance = if precision == Precision::F32 { 1.5e-6 } else { 2e-15 };
    let mut workspace = Workspace::new();
    for falling in [false, true] {
        let input = common::random(problem.input_span().end as usize, precision);
        let before = match problem.placement {
            Placement::InPlace => input.clone(),
            Placement::OutOfPlace => common::random(problem.output_span().end as usize, precision),
        };
        let options = Options { falling, ..Options::default() };
        let (got, _) = common::run_in(program, limits, &input, &before, &mut workspace, &options)?;
        let error = common::error(&got, &common::reference(problem, &input, &before));
        assert!(error < tolerance, "{what}: relative error {error:.2e}");
    }
    Ok(())
}

fn check(recipe: &Recipe, problem: &Problem, limits: &Limits) -> Compiled {
    let what = format!("{problem:?} {recipe:?}");
    let compiled = Compiled::by(recipe, problem, limits).unwrap_or_else(|error| panic!("{what}: {error}"));
    check_program(&compiled.program, limits, &what).unwrap_or_else(|fault| panic!("{what}: {fault}"));
    compiled
}

#[test]
fn every_ring_and_batch_computes_the_transform() {
    let (mut rings, mut early) = (BTreeSet::new(), BTreeSet::new());
    for precision in [Precision::F32, Precision::F64] {
        for batch in [2, 3, 7, 19] {
            for n in [1024, 900] {
                let problem = request(&[n], batch, precision).build().expect("it is possible");
                let limits = small(160);
                let mut seen = BTreeSet::new();
                for recipe in fused(&problem, &limits).into_iter().filter(|recipe| recipe.tiles.len() == 2) {
                    let ring = (recipe.fused[0].slots, recipe.fused[0].ahead);
                    if seen.insert(ring) {
                        let compiled = check(&recipe, &problem, &limits);
                        rings.insert(ring);
                        early.insert(compiled.schedule.fused[0].1.early);
                    }
                }
                assert!(!seen.is_empty(), "{n} x {batch}: nothing is fused");
                assert!(seen.iter().all(|&(slots, ahead)| u64::from(slots) <= batch && ahead < slots));
            }
        }
    }
    assert!(rings.len() >= 6 && rings.contains(&(2, 1)) && rings.contains(&(3, 2)), "{rings:?}");
    assert_eq!(early.len(), 2);
}

/// Tiles of both passes in turns, as many of each as there are, and what is left of both at the ends: other blocks in the same places.
#[test]
fn tiles_in_turns_compute_the_transform() {
    let limits = small(160);
    let mut tried = 0;
    for (shape, precision) in [
        (&[1024][..], Precision::F32),
        (&[1080], Precision::F32),
        (&[8, 8, 8], Precision::F64),
        (&[30, 50], Precision::F64),
    ] {
        for batch in [3, 7] {
            let asked = request(shape, batch, precision);
            for request in [asked.clone(), asked.clone().in_place().inverse(), asked.any_batch()] {
                let problem = request.build().expect("it is possible");
                let recipes = fused(&problem, &limits);
                for recipe in recipes.iter().step_by(recipes.len().div_ceil(4)) {
                    let all = near(recipe, &problem, &limits).expect("it was just offered").into_iter();
                    let turned = all.map(|one| one.recipe).find(|other| {
                        let fused: Vec<Fuse> =
                            other.fused.iter().map(|&fuse| Fuse { woven: false, ..fuse }).collect();
                        fused == recipe.fused && other.fused != recipe.fused
                    });
                    let Some(turned) = turned else { continue };
                    assert!(turned.fused.iter().any(|fuse| fuse.woven) && turned.tiles == recipe.tiles);
                    let text = serde_json::to_string(&turned).expect("it is plain data");
                    assert_eq!(serde_json::from_str::<Recipe>(&text).expect("it was just written"), turned);
                    let compiled = check(&turned, &problem, &limits);
                    let plain = Compiled::by(recipe, &problem, &limits).expect("it was just offered");
                    assert_ne!(compiled.program.kernels, plain.program.kernels);
                    assert_eq!(compiled.program.launches.len(), plain.program.launches.len());
                    tried += 1;
                    let back = near(&turned, &problem, &limits).expect("it was just offered");
                    assert!(back.iter().any(|one| one.recipe == *recipe), "{turned:?}");
                }
            }
        }
    }
    assert!(tried > 20, "{tried} of them took turns");
}

/// Both passes of a launch have as many blocks on a multiprocessor, whatever a recipe says of the first one's.
#[test]
fn both_passes_are_explained_with_the_blocks_of_their_launch() {
    let limits = Limits::h200();
    let problem = request(&[1 << 18], 20, Precision::F32).build().expect("it is possible");
    let own = fused(&problem, &limits).remove(0);
    let others = near(&own, &problem, &limits).expect("it was just offered").into_iter();
    let mut asked = BTreeSet::new();
    for recipe in others.map(|one| one.recipe).filter(|other| other.tiles[0].resident.is_some()) {
        let compiled = Compiled::by(&recipe, &problem, &limits).expect("it is near what was found");
        let passes = Explanation::of(&compiled, &limits).passes;
        let told = recipe.tiles[0].resident.map(NonZeroU32::get);
        assert!(passes.iter().all(|pass| Some(pass.resident_blocks) == told), "{told:?}: {passes:?}");
        asked.extend(told);
    }
    assert!(!asked.is_empty(), "no recipe says it");
}

/// One transform of two passes has nothing to be fused with.
#[test]
fn what_is_alone_stays_in_two_launches() {
    for n in [1024, 1500] {
        let problem = request(&[n], 1, Precision::F32).build().expect("it is possible");
        assert!(fused(&problem, &small(160)).iter().all(|recipe| recipe.tiles.len() > 2));
        let webgpu = Limits { l2_bytes: 1 << 20, ..Limits::webgpu_min() };
        let many = request(&[1 << 14], 64, Precision::F32).build().expect("it is possible");
        assert!(fused(&many, &webgpu).is_empty());
    }
}

/// Runs a few recipes that fuse; panics if there are none.
fn check_some(problem: &Problem, limits: &Limits) {
    let recipes = fused(problem, limits);
    assert!(!recipes.is_empty(), "{problem:?}: nothing is fused");
    for recipe in recipes.iter().step_by(recipes.len().div_ceil(4)) {
        check(recipe, problem, limits);
    }
}

#[test]
fn planes_volumes_directions_and_placements() {
    let limits = small(160);
    for shape in [&[32, 32][..], &[30, 50], &[8, 8, 32], &[8, 8, 8], &[1024], &[1080]] {
        for precision in [Precision::F32, Precision::F64] {
            let asked = || request(shape, 5, precision);
            for request in [asked(), asked().inverse(), asked().in_place(), asked().in_place().inverse()] {
                check_some(&request.build().expect("it is possible"), &limits);
            }
        }
    }
}

/// Gaps, columns, several repeated dimensions, falling strides and separate planes.
#[test]
fn strides_and_formats() {
    use warpfft_core::problem::Format::{Interleaved, Planar};
    let base = request(&[1024], 5, Precision::F32).build().expect("it is possible");
    let cases = [
        (vec![Dim::new(1024, 1, 1)], vec![Dim::new(5, 1031, 1100)], 3, 7),
        (vec![Dim::new(1024, 5, 7)], vec![Dim::new(4, 1, 1), Dim::new(6, 5120, 7168)], 0, 0),
        (vec![Dim::new(1024, 1, 1)], vec![Dim::new(2, 3072, 1024), Dim::new(3, 1024, 2048)], 1, 0),
        (vec![Dim::new(1024, -1, 1)], vec![Dim::new(5, 1024, -1024)], 1023, 4096),
        (vec![Dim::new(32, 32, 1), Dim::new(32, 1, 32)], vec![Dim::new(6, 1024, 1024)], 0, 0),
    ];
    for (transform, batch, input_offset, output_offset) in cases {
        for (input, output) in [(Interleaved, Interleaved), (Planar, Interleaved), (Planar, Planar)] {
            let (transform, batch) = (transform.clone(), batch.clone());
            let problem =
                Problem { transform, batch, input_offset, output_offset, input, output, ..base.clone() };
            check_some(&problem, &small(160));
        }
    }
}

/// The last two of three passes write results beside those of other indices of the first part: some of these indices are an item
/// together.
#[test]
fn items_of_several_indices() {
    let limits = small(640);
    let mut seen = BTreeSet::new();
    for (n, precision) in [(8192, Precision::F32), (6400, Precision::F32), (4096, Precision::F64)] {
        let asked = || request(&[n], 3, precision);
        for request in [asked(), asked().in_place().inverse()] {
            let problem = request.build().expect("it is possible");
            let recipes = fused(&problem, &limits);
            let three = recipes.iter().filter(|recipe| recipe.tiles.len() == 3 && recipe.fused.len() == 1);
            let grouped: Vec<&Recipe> = three.filter(|recipe| recipe.fused[0].together > 1).collect();
            assert!(!grouped.is_empty(), "{n}: none of {}", recipes.len());
            for recipe in grouped.iter().step_by(grouped.len().div_ceil(3)) {
                let text = serde_json::to_string(recipe).expect("it is plain");
                assert_eq!(serde_json::from_str::<Recipe>(&text).as_ref().ok(), Some(*recipe), "{text}");
                check(recipe, &problem, &limits);
                seen.insert(recipe.fused[0].together);
            }
        }
    }
    assert!(seen.iter().all(|together| together % 4 == 0), "{seen:?}");
}

/// Two long dimensions have a pair of passes each.
#[test]
fn two_pairs_of_passes() {
    let limits = small(4096);
    let problem = request(&[300, 320], 3, Precision::F32).build().expect("it is possible");
    let planned = Compiled::of(&problem, &limits).expect("it has a plan");
    assert_eq!(planned.schedule.passes.len(), 4, "{:?}", planned.schedule.plans);
    let recipes = fused(&problem, &limits);
    let first = |at: usize| recipes.iter().find(|recipe| recipe.fused[0].first == at).expect("it is offered");
    let (one, other) = (first(0), first(2));
    let tiles = one.tiles[..2].iter().chain(&other.tiles[2..]).cloned().collect();
    let both = Recipe { tiles, fused: vec![one.fused[0], other.fused[0]], ..one.clone() };
    for recipe in [one, other, &both] {
        check(recipe, &problem, &limits);
    }
}

/// The middle of a convolution through memory takes what the pass before it writes from a ring, and goes back to the region
/// that the last pass reads.
#[test]
fn convolutions_through_memory() {
    let limits = Limits { l2_bytes: 96 << 10, ..small(0) };
    for (n, precision) in [(347, Precision::F32), (353, Precision::F32), (211, Precision::F64)] {
        for request in [request(&[n], 40, precision), request(&[n], 40, precision).inverse().in_place()] {
            let problem = request.build().expect("it is possible");
            let planned = Compiled::of(&problem, &limits).expect("it has a plan");
            assert_eq!(planned.schedule.passes.len(), 3, "{:?}", planned.schedule.plans);
            let recipes = fused(&problem, &limits);
            let middle = |recipe: &Recipe| recipe.tiles.len() / 2;
            let leads = |recipe: &Recipe| recipe.fused[0].first == middle(recipe);
            assert!(!recipes.iter().any(leads), "{n}: the middle is first");
            assert!(recipes.iter().any(|recipe| recipe.fused[0].first + 1 == middle(recipe)));
            check_some(&problem, &limits);
            // Of the passes before the middle, with it, and behind it, each pair that is offered.
            for first in 0..4 {
                if let Some(recipe) = recipes.iter().find(|recipe| recipe.fused[0].first == first) {
                    check(recipe, &problem, &limits);
                }
            }
            check_program(&planned.program, &limits, "as planned").expect("no races");
        }
    }
}

/// The planner's own choice, with exact workspace.
#[test]
fn what_exceeds_the_cache_is_fused() {
    let limits = small(160);
    let problem = request(&[1024], 64, Precision::F32).build().expect("it is possible");
    let compiled = Compiled::of(&problem, &limits).expect("it has a plan");
    let [(fuse, ring)] = compiled.schedule.fused[..] else { panic!("{:?}", compiled.schedule.fused) };
    assert_eq!((fuse.slots, fuse.ahead), (10, 7));
    let counters = (128 * (2 * u64::from(fuse.slots) + 1)).next_multiple_of(512);
    assert_eq!(compiled.program.workspace_bytes, u64::from(fuse.slots) * ring.slot * 8 + counters);
    assert_eq!(compiled.program.launches.len(), 2);
    check_program(&compiled.program, &limits, "1024").expect("no races");
    // In the cache anyway.
    let few = request(&[1024], 8, Precision::F32).build().expect("it is possible");
    assert_eq!(Compiled::of(&few, &limits).expect("it has a plan").schedule.fused, []);
}

/// Takes the n-th instruction of an operation out of a kernel.
fn without(kernel: &Kernel, op: Op, n: usize) -> Kernel {
    fn walk(block: &mut Block, op: Op, left: &mut usize) {
        block.insts.retain(|inst| {
            let is = inst.op == op;
            *left = left.wrapping_sub(usize::from(is));
            !(is && *left == usize::MAX)
        });
        block.insts.iter_mut().flat_map(|inst| &mut inst.blocks).for_each(|inner| walk(inner, op, left));
    }
    let mut kernel = kernel.clone();
    let mut left = n;
    walk(&mut kernel.body, op, &mut left);
    assert!(left > n, "no such instruction");
    kernel
}

/// A fused program of 24 transforms, and a device for it.
fn sample() -> (Compiled, Limits) {
    let limits = small(160);
    let problem = request(&[1024], 24, Precision::F32).build().expect("it is possible");
    let compiled = Compiled::of(&problem, &limits).expect("it has a plan");
    assert_eq!(compiled.program.kernels.len(), 2);
    (compiled, limits)
}

#[test]
fn a_missing_wait_is_a_race_and_a_missing_signal_a_deadlock() {
    let (compiled, limits) = sample();
    let fault = |op, n| {
        let mut program = compiled.program.clone();
        program.kernels[1] = verify(without(&program.kernels[1], op, n)).expect("it is well formed");
        check_program(&program, &limits, "planted").expect_err("something is missing")
    };
    // The first pass waits for room, the second for data.
    for n in [0, 1] {
        let missed = fault(Op::CounterWait, n);
        assert!(missed.contains("ring") && missed.contains("races with a"), "{missed}");
        let missed = fault(Op::CounterAdd, n);
        assert!(missed.contains("waits forever: counters["), "{missed}");
    }
    // Counters that an earlier run left are no start.
    let mut program = compiled.program.clone();
    program.launches.remove(0);
    let missed = check_program(&program, &limits, "planted").expect_err("the counters are not ready");
    assert!(missed.contains("counters[0] is read but was never written"), "{missed}");
}

/// What is planned for the H200: rings as they were timed, bytes that move, bank conflicts, and errors.
#[test]
fn long_rows_on_the_h200() {
    let singles = (Precision::F32, 1 << 18, 20, (9, 6, false));
    let doubles = (Precision::F64, 1 << 19, 10, (3, 1, true));
    for (precision, n, batch, ring) in [singles, doubles] {
        let limits = Limits::h200();
        let problem = request(&[n], batch, precision).build().expect("it is possible");
        let compiled = Compiled::of(&problem, &limits).expect("it has a plan");
        let fused = compiled.schedule.fused.iter().map(|(fuse, ring)| (fuse.slots, fuse.ahead, ring.early));
        assert_eq!(fused.collect::<Vec<_>>(), [ring]);
        let program = compiled.program;
        let kernel = &program.kernels[program.launches[1].kernel];
        assert_eq!((kernel.threads, kernel.min_blocks), (256, 2));
        let input = common::random((n * batch) as usize, precision);
        let (got, report) = common::run(&program, &limits, &input, &input).expect("it runs");
        let want = common::reference(&problem, &input, &input);
        let ours = common::error(&got, &want);
        // The reference is in doubles itself.
        let singles = precision == Precision::F32;
        let most = if singles { 1.5 * common::rustfft_error(n, &input, &want) } else { 2e-15 };
        println!("{n}: error {ours:.2e}, at most {most:.2e}, {report:?}");
        assert!(ours < most, "{n}: {ours:.2e} against {most:.2e}");
        // Twice the data each way, and beside it tables, counters, and a ticket a block.
        let data = 2 * n * batch * precision.complex_bytes() / 32;
        assert!(report.global_sectors_written < data + data / 100, "{}", report.global_sectors_written);
        assert!(report.minimal_sectors_read < data * 5 / 4, "{}", report.minimal_sectors_read);
        assert!(report.shared_wavefronts <= report.shared_accesses * 17 / 16, "bank conflicts");
    }
}

/// A slot that is taken again right after it was left makes tiles wait: with one to spare these took 7 to 28% longer.
#[test]
fn rings_have_slots_to_spare() {
    let limits = Limits::h200();
    for (n, batch, precision) in [
        (&[240, 2688][..], 104, Precision::F32),
        (&[750, 200], 447, Precision::F32),
        (&[48, 48, 48], 303, Precision::F64),
    ] {
        let problem = request(n, batch, precision).build().expect("it is possible");
        let compiled = Compiled::of(&problem, &limits).expect("it has a plan");
        let [(fuse, _)] = compiled.schedule.fused[..] else { panic!("{n:?} {:?}", compiled.schedule.fused) };
        assert!(fuse.slots >= fuse.ahead + 2, "{n:?} {fuse:?}");
    }
}

/// Rings that no search offers, if they have room; others are refused.
#[test]
fn recipes_name_their_own_rings() {
    let limits = small(160);
    let problem = request(&[1024], 64, Precision::F32).build().expect("it is possible");
    let all = candidates(&problem, &limits, 8).expect("there are some");
    let fused = all.into_iter().find(|one| !one.recipe.fused.is_empty()).expect("one is fused").recipe;
    let with = |slots, ahead| {
        let mut recipe = fused.clone();
        recipe.fused[0] = Fuse { slots, ahead, ..recipe.fused[0] };
        Compiled::by(&recipe, &problem, &limits)
    };
    for (slots, ahead) in [(2, 1), (5, 1), (9, 4), (10, 9)] {
        let compiled = with(slots, ahead).expect("it has room");
        let [(fuse, _)] = compiled.schedule.fused[..] else { panic!("{:?}", compiled.schedule.fused) };
        assert_eq!((fuse.slots, fuse.ahead), (slots, ahead));
        check_program(&compiled.program, &limits, &format!("{slots}, {ahead}")).expect("no races");
    }
    for (slots, ahead) in [(0, 0), (1, 0), (1, 1), (4, 0), (4, 4), (4, 5), (11, 10), (u32::MAX, 1)] {
        let refused = with(slots, ahead).expect_err("there is no such ring").to_string();
        assert!(refused.contains("does not offer"), "{refused}");
    }
}

#[test]
fn workspace_is_bound_once() {
    let (compiled, _) = sample();
    for launch in &compiled.program.launches {
        let all: BTreeSet<String> = launch.bindings.iter().map(|binding| format!("{binding:?}")).collect();
        assert_eq!(all.len(), launch.bindings.len());
    }
    let ring = |binding: &&Binding| matches!(binding, Binding::Workspace { .. });
    assert_eq!(compiled.program.launches[1].bindings.iter().filter(ring).count(), 2);
}
