//! Two passes in one launch, on the simulator: against the reference, without races, whatever the order of the blocks
//! and whatever lies in the workspace.

#[allow(dead_code, reason = "only a part is needed here")]
mod common;

use common::Workspace;
use warpfft_core::kernel::Op;
use warpfft_core::kernel::simulate::Options;
use warpfft_core::problem::{Dim, Placement, Precision, Problem};
use warpfft_core::program::Compiled;
use warpfft_core::recipe::{Recipe, candidates};
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

/// A device whose blocks hold little, so that short transforms take two passes, and whose cache holds that many KB.
fn small(kilobytes: u64) -> Limits {
    Limits {
        name: format!("small, {kilobytes} KB of cache"),
        shared_bytes: 2048,
        max_threads: 64,
        max_cluster: 1,
        l2_bytes: kilobytes << 10,
        ..Limits::h200()
    }
}

fn request(shape: &[u64], batch: u64, precision: Precision) -> Fft {
    Fft::new(shape.to_vec()).batch(batch).precision(precision)
}

/// Recipes of a problem that fuse passes.
fn fused(problem: &Problem, limits: &Limits) -> Vec<Recipe> {
    let all = candidates(problem, limits, 400).expect("it has plans").into_iter().map(|one| one.recipe);
    all.filter(|recipe| !recipe.fused.is_empty()).collect()
}

/// Runs a recipe on random data, several times in the same workspace.
fn check(recipe: &Recipe, problem: &Problem, limits: &Limits) {
    let precision = problem.precision;
    let what = format!("{:?} {precision:?} {:?}", problem.transform, recipe);
    let tolerance = if precision == Precision::F32 { 1.5e-6 } else { 2e-15 };
    let compiled = Compiled::by(recipe, problem, limits).unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut workspace = Workspace::new();
    for falling in [false, true, false] {
        let input = common::random(problem.input_span().end as usize, precision);
        let before = match problem.placement {
            Placement::InPlace => input.clone(),
            Placement::OutOfPlace => common::random(problem.output_span().end as usize, precision),
        };
        let options = Options { falling, ..Options::default() };
        let run = common::run_in(&compiled.program, limits, &input, &before, &mut workspace, &options);
        let (got, _) = run.unwrap_or_else(|fault| panic!("{what}: {fault}"));
        let error = common::error(&got, &common::reference(problem, &input, &before));
        assert!(error < tolerance, "{what}: relative error {error:.2e}");
    }
}

#[test]
fn every_ring_and_batch_computes_the_transform() {
    let mut rings = std::collections::BTreeSet::new();
    for precision in [Precision::F32, Precision::F64] {
        for batch in [2, 3, 7, 19] {
            for n in [1024, 1500] {
                let problem = request(&[n], batch, precision).build().expect("it is possible");
                let recipes = fused(&problem, &small(160));
                assert!(!recipes.is_empty(), "{n} x {batch}: nothing is fused");
                for recipe in recipes.iter().step_by(3) {
                    check(recipe, &problem, &small(160));
                    rings.insert((recipe.fused[0].slots, recipe.fused[0].ahead));
                }
            }
        }
    }
    assert!(rings.len() >= 6 && rings.contains(&(2, 1)), "{rings:?}");
}
