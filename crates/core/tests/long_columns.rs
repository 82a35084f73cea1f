//! Columns that are longer than a block can hold enough of: by clusters, of any number of blocks, or in several passes.

mod common;

use common::{Case, packed};
use warpfft_core::kernel::simulate::Report;
use warpfft_core::problem::{Dim, Placement, Precision, Problem};
use warpfft_core::program::Compiled;
use warpfft_core::recipe::{Recipe, candidates};
use warpfft_core::target::Limits;

/// Neighbouring columns of one array.
fn columns(points: u64, neighbours: u64, precision: Precision) -> Problem {
    Problem {
        transform: vec![Dim::new(points, neighbours as i64, neighbours as i64)],
        batch: vec![Dim::new(neighbours, 1, 1)],
        ..packed(&[points], neighbours, precision)
    }
}

fn check(problem: &Problem, limits: &Limits) -> (Compiled, Report) {
    let what = format!("{:?} on {}", problem.transform, limits.name);
    let compiled = Compiled::of(problem, limits).unwrap_or_else(|error| panic!("{what}: {error}"));
    let report = Case::new(problem).check(&compiled.program, limits, &what);
    (compiled, report)
}

#[test]
fn clusters_of_any_number_of_blocks_take_columns() {
    for (points, cluster) in [(2500, 10), (4000, 10), (1331, 11), (2401, 7), (8192, 16)] {
        // As many as fill the device, of which the simulator runs a few.
        let many = columns(points, 1 << 15, Precision::F32);
        let plan = Compiled::of(&many, &Limits::h200()).expect("it has a plan");
        let tile = plan.parts[0].tile.clone();
        assert_eq!((plan.parts.len(), tile.cluster), (1, cluster), "{points}");
        let few = columns(points, 32, Precision::F32);
        let recipe =
            Recipe { plans: plan.schedule.plans.clone(), tiles: vec![tile], within: None, fused: Vec::new() };
        let compiled = Compiled::by(&recipe, &few, &Limits::h200()).expect("the tile is offered");
        let report = Case::new(&few).check(&compiled.program, &Limits::h200(), &format!("{points} points"));
        // Rows of 64 bytes and more, so that every sector moves once.
        let data = points * 32 * 8 / 32;
        assert_eq!(report.global_sectors_written, data, "{points}");
        assert!(report.global_sectors_read < data * 3 / 2, "{points}: {}", report.global_sectors_read);
    }
}

#[test]
fn columns_choose_radices_that_a_cluster_can_share() {
    // Rows are best in 32, 32 and 16, 30, 30 and 10, or 25, 24 and 10, of which no cluster holds columns.
    for points in [16384, 9000, 6000] {
        let (compiled, _) = check(&columns(points, 64, Precision::F32), &Limits::h200());
        let last = compiled.parts.last().expect("it has passes");
        assert!(last.tile.cluster > 1 && last.cost < 2.5, "{points}: {last:?}");
    }
}

#[test]
fn without_clusters_columns_take_two_passes() {
    let limits = Limits::a100();
    for precision in [Precision::F32, Precision::F64] {
        let problem = packed(&[12000, 16], 1, precision);
        let (compiled, _) = check(&problem, &limits);
        assert_eq!(compiled.schedule.plans[0].passes(), 2, "{}", compiled.schedule.plans[0]);
        assert_eq!(compiled.schedule.plans[1].passes(), 1);
        // A tuner finds its way back to it, and to others.
        let all = candidates(&problem, &limits, 12).expect("it has plans");
        for one in &all {
            Compiled::by(&one.recipe, &problem, &limits).expect("it was just offered");
        }
        assert_eq!(all[0].recipe.plans, compiled.schedule.plans);
    }
}

#[test]
fn a_cap_on_the_workspace_is_kept() {
    let limits = Limits::a100();
    let capped =
        |placement| Problem { placement, max_workspace: Some(0), ..packed(&[12000, 16], 1, Precision::F32) };
    let of = |placement| Compiled::of(&capped(placement), &limits).expect("there are ways without any");
    // Columns in one pass, or, where the output may hold what lies between, with rows in two.
    let in_place = of(Placement::InPlace);
    assert!(in_place.schedule.plans.iter().all(|plan| plan.passes() == 1));
    let apart = of(Placement::OutOfPlace);
    assert_eq!([in_place.program.workspace_bytes, apart.program.workspace_bytes], [0, 0]);
    assert_eq!(apart.parts.len(), 2, "{:?}", apart.schedule.plans);
}
