//! Long transforms without workspace, on the simulator with limits so small that short ones need several passes.

mod common;

use std::collections::BTreeSet;

use warpfft_core::compile;
use warpfft_core::error::Error;
use warpfft_core::kernel::pass::optimise;
use warpfft_core::lower::cluster::Cut;
use warpfft_core::lower::tile::Tile;
use warpfft_core::lower::{Slot, Walk, lower};
use warpfft_core::pass::Array;
use warpfft_core::plan::Plan;
use warpfft_core::problem::{Precision, Problem};
use warpfft_core::program::{Binding, Compiled, Launch, Program, Table};
use warpfft_core::recipe::candidates;
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

/// A device that holds 128 points a block in single precision.
fn small(max_cluster: u32) -> Limits {
    let name = format!("small with clusters of {max_cluster}");
    Limits { shared_bytes: 1024, max_threads: 64, max_cluster, name, ..Limits::h200() }
}

/// Runs a program on random data within a larger array; panics where it is wrong, or touches what is not its own.
fn check(problem: &Problem, program: &Program, limits: &Limits, what: &str) {
    let tolerance = if problem.precision == Precision::F32 { 1.5e-6 } else { 2e-15 };
    let input = common::random(problem.input_span().end as usize, problem.precision);
    let output = common::random(problem.output_span().end as usize, problem.precision);
    let in_place = problem.placement == warpfft_core::problem::Placement::InPlace;
    let before = if in_place { &input } else { &output };
    let (got, _) = common::run(program, limits, &input, before).unwrap_or_else(|e| panic!("{what}: {e}"));
    let want = common::reference(problem, &input, before);
    let error = common::error(&got, &want);
    assert!(error < tolerance, "{what}: relative error {error:.2e}");
    let mut own = vec![false; before.len()];
    problem.addresses().for_each(|(_, to)| own[to as usize] = true);
    for (at, (got, was)) in got.iter().zip(before).enumerate().filter(|(at, _)| !own[*at]) {
        assert_eq!(got, was, "{what}: element {at} is not the problem's");
    }
}

fn without_workspace(program: &Program) -> bool {
    let bound = program.launches.iter().flat_map(|launch| &launch.bindings);
    program.workspace_bytes == 0 && !bound.into_iter().any(|one| matches!(one, Binding::Workspace { .. }))
}

/// Powers of two, and others with square factors: 60^2, 3^7, 7^2 20.
const LENGTHS: [u64; 12] = [256, 512, 1024, 2048, 8192, 625, 1620, 2187, 3600, 4500, 5000, 7 * 7 * 20];

/// Ten or fifteen blocks together hold what one alone takes several passes for, and read what others of them will write.
#[test]
fn one_pass_of_a_cluster_is_right_in_place() {
    for (limits, several) in [(small(1), true), (small(16), false)] {
        for batch in [1, 3] {
            let fft = Fft::new([900]).batch(batch).max_workspace(0).scale(0.5).in_place();
            let problem = fft.build().expect("it is possible");
            let program = compile(&problem, &limits).expect("it compiles");
            let what = format!("batch {batch} {}", limits.name);
            assert!(without_workspace(&program), "{what}");
            assert_eq!(program.launches.len() > 1, several, "{what}");
            assert_eq!(program.kernels.iter().any(|kernel| kernel.cluster > 1), !several, "{what}");
            check(&problem, &program, &limits, &what);
        }
    }
}

#[test]
fn transforms_without_workspace_are_right() {
    for limits in [small(1), small(16)] {
        for n in LENGTHS {
            for precision in [Precision::F32, Precision::F64] {
                let ask = |batch| Fft::new([n]).batch(batch).precision(precision).max_workspace(0).scale(0.5);
                let problems =
                    [ask(1).in_place(), ask(3).in_place().inverse(), ask(2), ask(2).planar().in_place()];
                for (i, request) in problems.into_iter().enumerate() {
                    let problem = request.build().expect("it is possible");
                    let what = format!("{n} {precision:?} {i} {}", limits.name);
                    let program = compile(&problem, &limits).unwrap_or_else(|e| panic!("{what}: {e}"));
                    assert!(without_workspace(&program), "{what}");
                    assert!(program.launches.len() > 1, "{what} is a test of several passes");
                    check(&problem, &program, &limits, &what);
                }
            }
        }
    }
}

#[test]
fn every_plan_that_is_offered_in_place_is_right() {
    for limits in [small(1), small(4)] {
        let mut kinds = BTreeSet::new();
        for n in [1024, 2048, 900, 4096, 4608] {
            let problem = Fft::new([n]).batch(2).in_place().max_workspace(0).build().expect("it is possible");
            let all = candidates(&problem, &limits, 100).expect("it has plans");
            assert!(all.len() > 3, "{n}: {} candidates", all.len());
            for one in all {
                let text = serde_json::to_string(&one.recipe).expect("it is plain data");
                assert_eq!(serde_json::from_str(&text).ok().as_ref(), Some(&one.recipe));
                let compiled = Compiled::by(&one.recipe, &problem, &limits).expect("it was just offered");
                let plan = &one.recipe.plans[0];
                let Plan::InPlace { parts, early } = plan else { panic!("{plan} takes workspace") };
                kinds.insert((parts.len(), early.len(), early.iter().any(|&factor| factor > 1)));
                assert!(without_workspace(&compiled.program), "{plan}");
                check(&problem, &compiled.program, &limits, &format!("{plan} {}", limits.name));
            }
        }
        let some = |wanted: fn(&(usize, usize, bool)) -> bool| kinds.iter().any(wanted);
        assert!(some(|kind| kind.1 > 1) && some(|kind| kind.2) && some(|kind| !kind.2), "{kinds:?}");
    }
}

/// The passes of a program in place with the tiles that move held by clusters of that size, where they can be.
fn clustered(compiled: &Compiled, cluster: u32, limits: &Limits) -> (Program, usize) {
    let mut program =
        Program { kernels: Vec::new(), tables: Vec::new(), launches: Vec::new(), ..compiled.program.clone() };
    let (mut kinds, mut clusters) = (Vec::new(), 0);
    for (pass, part) in compiled.schedule.passes.iter().zip(&compiled.parts) {
        let wide = Tile { threads: 32, cluster, ..part.tile.clone() };
        let shared = pass.moves() && Cut::of_tile(pass, &wide).is_some();
        clusters += usize::from(shared);
        let lowered = lower(pass, if shared { &wide } else { &part.tile }, Walk::Rising, limits, "pass");
        let bindings = lowered.slots.iter().map(|slot| match *slot {
            Slot::Source(plane) | Slot::Destination(plane) => Binding::Output(plane),
            Slot::Table(kind) => {
                kinds.push(kind);
                Binding::Table(kinds.len() as u16 - 1)
            }
            Slot::Filter => Binding::Filter,
            Slot::Ring | Slot::Counters => unreachable!("a pass by itself has no ring"),
        });
        program.launches.push(Launch { kernel: program.kernels.len(), bindings: bindings.collect() });
        program.kernels.push(optimise(lowered.kernel, limits).expect("it is legal"));
    }
    program.tables = kinds.iter().map(|&kind| Table::of(kind, program.problem.precision)).collect();
    (program, clusters)
}

#[test]
fn tiles_of_clusters_map_to_themselves() {
    let limits = Limits { shared_bytes: 8192, max_threads: 256, ..small(8) };
    let mut seen = [0; 9];
    for n in [1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16] {
        for precision in [Precision::F32, Precision::F64] {
            let ask = Fft::new([n]).batch(2).in_place().precision(precision).max_workspace(0);
            let problem = ask.build().expect("it is possible");
            for one in candidates(&problem, &limits, 48).expect("it has plans") {
                let compiled = Compiled::by(&one.recipe, &problem, &limits).expect("it was just offered");
                for cluster in [2, 4, 8] {
                    let (program, clusters) = clustered(&compiled, cluster, &Limits::h200());
                    seen[cluster as usize] += clusters;
                    if clusters == 0 {
                        continue;
                    }
                    let what = format!("clusters of {cluster}: {precision:?} {}", one.recipe.plans[0]);
                    check(&problem, &program, &Limits::h200(), &what);
                }
            }
        }
    }
    assert!([2, 4, 8].iter().all(|&cluster| seen[cluster] > 4), "{seen:?}");
}

#[test]
fn a_cap_with_room_for_a_ring_is_kept() {
    let limits = Limits { shared_bytes: 2048 + 128, multiprocessors: 1, l2_bytes: 1 << 17, ..small(1) };
    let (mut fused, mut in_place) = (0, 0);
    for shape in [&[1024][..], &[1024, 4], &[16, 1024]] {
        let batch = 6;
        let bytes = 8 * batch * shape.iter().product::<u64>();
        for cap in [0, bytes / 2] {
            let ask = Fft::new(shape.to_vec()).batch(batch).max_workspace(cap);
            for problem in [ask.clone(), ask.in_place()].map(|ask| ask.build().expect("it is possible")) {
                for one in candidates(&problem, &limits, 40).expect("it has plans") {
                    let compiled = Compiled::by(&one.recipe, &problem, &limits).expect("it was just offered");
                    let program = &compiled.program;
                    assert!(program.workspace_bytes <= cap, "{shape:?}: {} bytes", program.workspace_bytes);
                    in_place += usize::from(matches!(one.recipe.plans[0], Plan::InPlace { .. }));
                    // The others are run by the tests above.
                    if one.recipe.fused.is_empty() {
                        continue;
                    }
                    fused += 1;
                    check(&problem, program, &limits, &format!("{shape:?} below {cap}: {:?}", one.recipe));
                }
            }
        }
    }
    assert!(fused > 0 && in_place > 0, "{fused} fused, {in_place} in place");
}

#[test]
fn volumes_without_workspace() {
    let limits = small(1);
    for shape in [&[32, 32, 32][..], &[64, 5, 64], &[256, 6], &[6, 256], &[512, 256]] {
        let ask = Fft::new(shape.to_vec()).in_place().inverse().max_workspace(0);
        let problem = ask.build().expect("it is possible");
        let program = compile(&problem, &limits).unwrap_or_else(|e| panic!("{shape:?}: {e}"));
        assert!(without_workspace(&program), "{shape:?}");
        check(&problem, &program, &limits, &format!("{shape:?}"));
    }
}

#[test]
fn strides_and_neighbours_are_respected() {
    let limits = small(1);
    // Every second element of rows that are longer than the transform.
    let ask = Fft::new([512]).strides(&[2], &[2]).batch_strided(3, 1100, 1100).offsets(5, 5);
    let problem = ask.in_place().max_workspace(0).build().expect("it is possible");
    let program = compile(&problem, &limits).expect("it has a plan");
    check(&problem, &program, &limits, "strided rows");
    // Columns.
    let problem = Fft::axes([512, 6], [0]).in_place().max_workspace(0).build().expect("it is possible");
    let program = compile(&problem, &limits).expect("it has a plan");
    assert!(without_workspace(&program));
    check(&problem, &program, &limits, "columns");
}

#[test]
fn a_cap_that_cannot_be_kept_is_refused_with_the_least_that_works() {
    let limits = small(1);
    let ask = |n: u64| Fft::new([n]).batch(2).in_place();
    // A prime, a length without square factors, and one that moves in place.
    let square = [warpfft_core::problem::Dim::new(32, 32, 1), warpfft_core::problem::Dim::new(32, 1, 32)];
    for request in [ask(1009), ask(2 * 3 * 5 * 7 * 11), Fft::guru(&square, &[]).in_place()] {
        let problem = request.clone().max_workspace(0).build().expect("it is possible");
        let Err(Error::Workspace { needed, allowed: 0 }) = compile(&problem, &limits) else {
            panic!("{problem:?} fits")
        };
        assert!(needed > 0);
        let enough = request.clone().max_workspace(needed).build().expect("it is possible");
        assert_eq!(compile(&enough, &limits).map(|program| program.workspace_bytes), Ok(needed));
        check(&enough, &compile(&enough, &limits).expect("it just did"), &limits, "with the least");
        let less = request.max_workspace(needed - 1).build().expect("it is possible");
        assert_eq!(compile(&less, &limits).err(), Some(Error::Workspace { needed, allowed: needed - 1 }));
    }
}

#[test]
fn without_a_cap_or_with_a_wide_one_nothing_changes() {
    let limits = small(1);
    for n in [64, 1024, 900] {
        let ask = || Fft::new([n]).batch(2).in_place();
        let free = Compiled::of(&ask().build().expect("it is possible"), &limits).expect("it has a plan");
        let bytes = free.program.workspace_bytes;
        let capped = ask().max_workspace(bytes).build().expect("it is possible");
        let capped = Compiled::of(&capped, &limits).expect("it has a plan");
        assert_eq!((&capped.schedule, &capped.program.kernels), (&free.schedule, &free.program.kernels));
        assert_eq!(bytes > 0, n > 128);
    }
}

#[test]
fn the_two_largest_of_one_h200_need_no_workspace() {
    let limits = Limits::h200();
    for shape in [vec![1_u64 << 33], vec![2048; 3]] {
        for precision in [Precision::F32, Precision::F64] {
            let request = Fft::new(shape.clone()).in_place().precision(precision).max_workspace(0);
            let problem = request.build().expect("it is possible");
            let compiled = Compiled::of(&problem, &limits).expect("it has a plan");
            assert!(without_workspace(&compiled.program), "{shape:?}");
            let passes = &compiled.schedule.passes;
            assert!(passes.len() <= 5, "{shape:?}: {} passes", passes.len());
            assert!(passes.iter().all(|pass| pass.src.array == Array::Output));
            let tables: u64 = compiled.program.tables.iter().map(Table::bytes).sum();
            assert!(tables < 8 << 20, "{shape:?}: {tables} bytes of tables");
        }
    }
}
