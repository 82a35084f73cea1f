//! Real data on the simulator: every kind against its definition.

mod common;
mod definitions;

use common::limits::{small_browser as small, small_cache};
use common::{build, shared_array, with_shared_launches};
use definitions::reference;
use warpfft_core::kernel::simulate::Report;
use warpfft_core::lower::{self, tile::Tile};
use warpfft_core::pass::Method;
use warpfft_core::problem::{Dim, Format, Placement, Precision, Problem, RealKind};
use warpfft_core::program::{Compiled, Program, brief, compile, stand_in};
use warpfft_core::recipe::candidates;
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

fn check(problem: &Problem, limits: &Limits) -> Report {
    let what = format!("{:?} {:?} batch {:?}", problem.kind, problem.transform, problem.batch);
    let program = compile(problem, limits).unwrap_or_else(|error| panic!("{what}: {error}"));
    check_program(problem, &program, limits)
}

fn check_program(problem: &Problem, program: &Program, limits: &Limits) -> Report {
    let what = format!("{:?} {:?} batch {:?}", problem.kind, problem.transform, problem.batch);
    let input = common::random(problem.input_span().end as usize, problem.precision);
    let output = common::random(problem.output_span().end as usize, problem.precision);
    let want = reference(problem, &input, &output);
    let run = common::run(program, limits, &input, &output);
    let (got, report) = run.unwrap_or_else(|fault| panic!("{what}: {fault}"));
    let want: Vec<_> = if problem.output == Format::Real {
        want.iter().map(|x| common::C64::new(x.re, 0.0)).collect()
    } else {
        want
    };
    let error = common::error(&got, &want);
    let tolerance = if problem.precision == Precision::F32 { 1.5e-6 } else { 3e-15 };
    assert!(error < tolerance, "{what}: relative error {error:.2e}\n{got:?}\n{want:?}");
    report
}

#[test]
fn rows_of_every_length() {
    let limits = Limits::h200();
    for n in 1..=40 {
        for batch in [1, 2, 3, 7] {
            check(&build(Fft::new([n]).batch(batch).r2c()), &limits);
            check(&build(Fft::new([n]).batch(batch).c2r()), &limits);
        }
    }
}

/// What runs until the best kernels are assembled.
#[test]
fn stand_ins() {
    let limits = Limits::h200();
    let kinds = [
        Fft::new([16_384]).batch(3).r2r([RealKind::Dct2]),
        Fft::new([64, 64]).batch(2).r2c(),
        Fft::new([64, 64]).batch(2).c2r(),
        Fft::new([1009]).batch(40).r2r([RealKind::Dst2]),
        Fft::new([32, 32, 32]).r2c(),
    ];
    let found = kinds.into_iter().filter(|fft| {
        let problem = build(fft.clone());
        let best = compile(&problem, &limits).expect("it is planned");
        let soon = stand_in(&best, brief(&problem, &limits));
        if let Some(soon) = &soon {
            check_program(&problem, soon, &limits);
        }
        soon.is_some()
    });
    assert!(found.count() >= 3, "of kernels with 2500 instructions");
}

#[test]
fn kinds_of_every_length() {
    let limits = Limits::h200();
    for kind in RealKind::ALL {
        for n in kind.least()..=20 {
            for batch in [1, 3, 4] {
                check(&build(Fft::new([n]).batch(batch).r2r([kind])), &limits);
                check(&build(Fft::new([n]).batch(batch).r2r([kind]).orthogonal().f64()), &limits);
            }
        }
    }
    // Where an element of types IV stands depends on what is left of the length by 8.
    for kind in [RealKind::Dct4, RealKind::Dst4] {
        for n in (21..66).step_by(2) {
            check(&build(Fft::new([n]).batch(n % 4).r2r([kind]).f64()), &limits);
        }
    }
}

#[test]
fn longer_rows_of_all_sorts() {
    let limits = Limits::h200();
    for n in [64, 100, 127, 128, 254, 255, 256, 257, 267, 268, 402, 482, 509, 1000, 1001, 1018] {
        for fft in [Fft::new([n]).batch(5).r2c(), Fft::new([n]).batch(5).c2r()] {
            check(&build(fft.clone()), &limits);
            check(&build(fft.f64()), &limits);
        }
        for kind in RealKind::ALL {
            check(&build(Fft::new([n]).batch(3).r2r([kind])), &limits);
        }
    }
}

#[test]
fn several_dimensions() {
    let limits = Limits::h200();
    for shape in [[4, 6], [5, 6], [6, 5], [5, 7], [16, 30], [1, 8], [8, 1]] {
        for batch in [1, 3] {
            for axis in [0, 1] {
                let fft = || Fft::new(shape).batch(batch);
                check(&build(fft().r2c().halved_axis(axis)), &limits);
                check(&build(fft().c2r().halved_axis(axis)), &limits);
                check(&build(Fft::axes(shape, [axis]).batch(batch).r2c()), &limits);
                check(&build(Fft::axes(shape, [axis]).batch(batch).c2r().f64()), &limits);
            }
            check(&build(Fft::new(shape).batch(batch).r2r([RealKind::Dct2, RealKind::Dst3])), &limits);
        }
    }
    for shape in [[4, 6, 8], [3, 5, 7], [2, 3, 4], [16, 8, 12]] {
        for batch in [1, 2, 3] {
            check(&build(Fft::new(shape).batch(batch).r2c()), &limits);
            check(&build(Fft::new(shape).batch(batch).c2r()), &limits);
        }
        // The order of dimensions changes on the way.
        let [a, b, c] = shape.map(|n| n as i64);
        let half = c / 2 + 1;
        let turned = || Fft::new(shape).strides(&[b * c, c, 1], &[half, a * half, 1]);
        check(&build(turned().r2c()), &limits);
        let turned = || Fft::new(shape).strides(&[half, a * half, 1], &[b * c, c, 1]);
        check(&build(turned().c2r()), &limits);
        check(&build(turned().c2r()), &small());
        check(&build(Fft::new(shape).r2r([RealKind::Dht])), &limits);
    }
}

/// Every sector of a spectrum is moved once, and so is every one of the reals: a frequency and its mirror image are not fetched
/// from two ends.
#[test]
fn spectra_of_planes_go_as_they_lie() {
    for shape in [[16, 16, 16], [8, 8, 8], [20, 32, 16]] {
        let points: u64 = shape.iter().product();
        let reals = 4 * points;
        let spectra = 4 * points / shape[2] * (shape[2] + 2);
        let fft = || Fft::new(shape).batch(4);
        let out = check(&build(fft().r2c()), &Limits::h200());
        let back = check(&build(fft().c2r()), &Limits::h200());
        // Tables of two lengths are read by every block.
        let least = [reals / 8, spectra / 8];
        assert_eq!([back.global_sectors_written, out.global_sectors_written], least, "{shape:?}");
        for (read, least) in [out.global_sectors_read, back.global_sectors_read].into_iter().zip(least) {
            assert!((least..=least * 103 / 100).contains(&read), "{shape:?}: {read} of {least}");
        }
    }
}

#[test]
fn dimensions_share_the_pass_of_the_lines() {
    let launches = |fft: Fft| compile(&build(fft), &Limits::h200()).unwrap().launches.len();
    for shape in [vec![16, 16], vec![5, 6], vec![8, 8, 8], vec![32, 32, 32]] {
        assert_eq!(launches(Fft::new(shape.clone()).batch(400).r2c()), 1, "{shape:?}");
        assert_eq!(launches(Fft::new(shape.clone()).batch(400).c2r()), 1, "{shape:?}");
    }
    assert_eq!(launches(Fft::new([64, 64, 64]).batch(20).r2c()), 2);
}

/// Blocks that hold little, in clusters of at most so many.
fn clustered(max_cluster: u32, shared_bytes: u32) -> Limits {
    let name = format!("clusters of {max_cluster}");
    Limits { name, max_cluster, shared_bytes, max_threads: 64, ..Limits::h200() }
}

#[test]
fn clusters_fold_rows() {
    let mut seen = Vec::new();
    for (most, lengths) in [(2, [768, 770]), (4, [1024, 1536]), (8, [2048, 4096])] {
        for (n, batch) in lengths.into_iter().flat_map(|n| [(n, 1), (n, 3)]) {
            for (fft, bytes) in [(Fft::new([n]), 2048), (Fft::new([n]).f64(), 4096)] {
                for problem in [fft.clone().batch(batch).r2c(), fft.batch(batch).c2r()].map(build) {
                    let limits = clustered(most, bytes);
                    let program = compile(&problem, &limits).expect("it compiles");
                    check_program(&problem, &program, &limits);
                    seen.extend(program.kernels.iter().map(|kernel| kernel.cluster));
                }
            }
        }
    }
    assert!([2, 4, 8].iter().all(|size| seen.contains(size)), "{seen:?}");
    for fft in [Fft::new([65536]).batch(99).r2c(), Fft::new([65536]).batch(99).c2r()] {
        let program = compile(&build(fft), &Limits::h200()).expect("it compiles");
        assert_eq!(program.kernels.iter().map(|kernel| kernel.cluster).collect::<Vec<_>>(), [8]);
    }
}

/// Has clusters of one size hold the tiles of a problem that takes one pass, in stages of these radices.
fn check_cluster(fft: &Fft, radices: &[&[u32]], cluster: u32) {
    for (problem, held) in [(fft.clone().batch(1), 1), (fft.clone().batch(5), 1), (fft.clone().batch(5), 2)] {
        let (problem, limits) = (build(problem), Limits::h200());
        let mut passes = Compiled::of(&problem, &limits).expect("it compiles").schedule.passes;
        assert_eq!(passes.len(), 1, "{problem:?}");
        let mut pass = passes.swap_remove(0);
        assert!(pass.takes_cluster());
        for (axis, radices) in pass.axes.iter_mut().zip(radices) {
            axis.method = Method::MixedRadix(radices.to_vec());
        }
        for threads in [32, 48, 64] {
            let tile = Tile::new(threads, cluster, vec![held; pass.batch.len()]);
            let lowered = lower::lower(&pass, &tile, lower::Walk::Rising, &limits, "forced");
            let program = Program::of_pass(&problem, &pass, lowered, &limits).expect("it is well formed");
            assert_eq!(program.kernels[0].cluster, cluster);
            if problem.placement == Placement::InPlace {
                shared_array::check_in_place(&problem, &program, &limits, reference);
            } else {
                check_program(&problem, &program, &limits);
            }
        }
    }
}

/// One way after the other, in both precisions.
fn check_both_ways(fft: &Fft, radices: &[&[u32]], cluster: u32) {
    check_cluster(&fft.clone().r2c(), radices, cluster);
    check_cluster(&fft.clone().c2r(), radices, cluster);
    check_cluster(&fft.clone().r2c().f64(), radices, cluster);
    check_cluster(&fft.clone().c2r().f64(), radices, cluster);
}

#[test]
fn clusters_share_out_the_lines() {
    check_both_ways(&Fft::new([256]), &[&[4, 2, 2, 8]], 2);
    check_both_ways(&Fft::new([256]), &[&[8, 4, 4]], 4);
    check_both_ways(&Fft::new([320]), &[&[5, 4, 4, 2]], 4);
    check_both_ways(&Fft::new([1024]), &[&[8, 8, 8]], 8);
    check_both_ways(&Fft::new([1024]), &[&[2, 16, 16]], 16);
}

#[test]
fn clusters_keep_mirror_images_together() {
    // Digits of two for each block, on the side of the frequencies and on the other.
    check_both_ways(&Fft::new([256]), &[&[4, 4, 2, 4]], 2);
    check_both_ways(&Fft::new([1024]), &[&[8, 8, 8]], 4);
    check_both_ways(&Fft::new([2048]), &[&[4, 16, 8, 2]], 8);
    check_both_ways(&Fft::new([2048]), &[&[2, 8, 16, 4]], 8);
    check_both_ways(&Fft::new([640]), &[&[5, 8, 4, 2]], 4);
    check_both_ways(&Fft::new([1024]).in_place(), &[&[8, 8, 8]], 4);
    // An odd number of turns: images are fetched.
    check_both_ways(&Fft::new([384]), &[&[2, 8, 4, 3]], 4);
}

#[test]
fn clusters_share_out_planes_and_volumes() {
    check_both_ways(&Fft::new([16, 32]), &[&[4, 4], &[4, 4]], 4);
    check_both_ways(&Fft::new([12, 24]), &[&[3, 4], &[4, 3]], 2);
    check_both_ways(&Fft::new([16, 16]), &[&[2, 8], &[8]], 8);
    check_both_ways(&Fft::new([8, 4, 16]), &[&[2, 4], &[4], &[4, 2]], 4);
    check_both_ways(&Fft::new([4, 16, 8]), &[&[4], &[4, 4], &[4]], 2);
    check_cluster(&Fft::new([8, 32]).r2c().halved_axis(0), &[&[4, 8], &[4]], 4);
    check_cluster(&Fft::new([8, 32]).c2r().halved_axis(0), &[&[4, 8], &[4]], 4);
}

#[test]
fn clusters_fold_in_place() {
    check_both_ways(&Fft::new([256]).in_place(), &[&[8, 4, 4]], 4);
    check_both_ways(&Fft::new([16, 32]).in_place(), &[&[4, 4], &[4, 4]], 4);
}

#[test]
fn layouts() {
    let limits = Limits::h200();
    for n in [9, 10, 12] {
        let half = n / 2 + 1;
        let (rows, back) = (n as i64, half as i64);
        // Gaps, steps, offsets, backwards, broadcast.
        let strided = |is: [i64; 2], os: [i64; 2]| {
            Fft::guru(&[Dim::new(n, is[0], os[0])], &[Dim::new(5, is[1], os[1])])
        };
        check(&build(strided([3, 40], [2, 17]).offsets(7, 3).r2c()), &limits);
        check(&build(strided([3, 40], [2, 31]).offsets(7, 3).c2r()), &limits);
        check(&build(strided([-1, rows], [-1, back]).offsets(n - 1, half - 1).r2c()), &limits);
        check(&build(strided([1, 0], [1, back]).r2c()), &limits);
        check(&build(strided([1, 0], [1, rows]).c2r()), &limits);
        check(&build(strided([5, 1], [5, 1]).r2c()), &limits);
        check(&build(strided([5, 1], [5, 1]).c2r()), &limits);
        check(&build(Fft::new([3, n]).r2c().formats(Format::Real, Format::Planar)), &limits);
        check(&build(Fft::new([3, n]).c2r().formats(Format::Planar, Format::Real)), &limits);
        for kind in RealKind::ALL {
            check(&build(strided([3, 40], [2, 31]).offsets(7, 3).r2r([kind]).scale(0.5)), &limits);
            check(&build(strided([5, 1], [5, 1]).r2r([kind]).orthogonal()), &limits);
        }
    }
}

/// Long enough that a thread has several items, from the last address down to the first.
#[test]
fn long_lines_backward() {
    let limits = Limits::h200();
    for n in [1000, 2048, 4095] {
        let half = n / 2 + 1;
        let strided = |is: u64, os: u64| {
            Fft::guru(&[Dim::new(n, -1, -1)], &[Dim::new(2, is as i64, os as i64)]).offsets(is - 1, os - 1)
        };
        check(&build(strided(n, half).r2c()), &limits);
        check(&build(strided(half, n).c2r()), &limits);
        for kind in RealKind::ALL {
            check(&build(strided(n, n).r2r([kind])), &limits);
        }
    }
}

#[test]
fn lines_beyond_the_chip() {
    let limits = small();
    for n in [1024, 1200, 1215, 1021, 1022] {
        for batch in [1, 2, 3] {
            let passes = compile(&build(Fft::new([n]).batch(batch).r2c()), &limits).unwrap().launches.len();
            assert!(passes > 1, "{n} fits the chip");
            check(&build(Fft::new([n]).batch(batch).r2c()), &limits);
            check(&build(Fft::new([n]).batch(batch).c2r()), &limits);
        }
        let strided = Fft::guru(&[Dim::new(n, 3, 2)], &[Dim::new(2, 4000, 3001)]).offsets(5, 6);
        for kind in RealKind::ALL {
            check(&build(Fft::new([n]).batch(2).r2r([kind])), &limits);
            check(&build(strided.clone().r2r([kind]).orthogonal()), &limits);
        }
        check(&build(strided.clone().r2c()), &limits);
        check(&build(strided.c2r()), &limits);
    }
    for shape in [[1200, 5], [5, 1200], [1215, 3], [3, 1215]] {
        check(&build(Fft::new(shape).r2c()), &limits);
        check(&build(Fft::new(shape).c2r()), &limits);
    }
}

#[test]
fn in_place() {
    for limits in [Limits::h200(), small()] {
        for n in [1, 2, 7, 8, 30, 33, 1200, 1215] {
            for fft in [Fft::new([n]), Fft::new([n]).batch(3), Fft::new([3, n]), Fft::new([4, 3, n])] {
                check_in_place(&build(fft.clone().r2c().in_place()), &limits);
                check_in_place(&build(fft.c2r().in_place().f64()), &Limits { f64: true, ..limits.clone() });
            }
            for kind in RealKind::ALL.into_iter().filter(|kind| n >= kind.least()) {
                check_in_place(&build(Fft::new([n]).batch(3).r2r([kind]).in_place()), &limits);
                let turned = Fft::guru(&[Dim::new(n, 1, 3)], &[Dim::new(3, n as i64, 1)]);
                check_in_place(&build(turned.r2r([kind]).in_place()), &limits);
                if kind.least() == 1 {
                    check_in_place(&build(Fft::new([3, n]).r2r([kind]).in_place()), &limits);
                }
            }
        }
    }
}

/// As [`check`], for reals and complex numbers that share an array, which is compared whole.
fn check_in_place(problem: &Problem, limits: &Limits) {
    let program = compile(problem, limits).unwrap_or_else(|error| panic!("{problem:?}: {error}"));
    shared_array::check_in_place(problem, &program, limits, reference);
}

#[test]
fn passes_with_a_spectrum_between_them_share_a_launch() {
    let limits = small_cache();
    let mut shared = 0;
    for fft in [
        Fft::new([128, 64]).batch(7).r2c(),
        Fft::new([128, 64]).batch(7).c2r(),
        Fft::new([100, 60]).batch(5).r2c().f64(),
        Fft::new([6, 96, 48]).batch(2).r2c(),
        Fft::new([1 << 12]).batch(7).r2c(),
        Fft::new([1 << 12]).batch(7).c2r(),
        // Of twice as many the direct sums are no better than 3e-15 themselves.
        Fft::new([1 << 12]).batch(5).r2c().f64(),
    ] {
        for program in with_shared_launches(build(fft), &limits) {
            check_program(&program.problem, &program, &limits);
            shared += 1;
        }
    }
    assert!(shared >= 7, "{shared} were offered");
}

#[test]
fn every_candidate_computes_the_transform() {
    let tight = Limits { shared_bytes: 4096, max_threads: 64, name: "tight".into(), ..Limits::h200() };
    let mut ways = 0;
    for fft in [
        Fft::new([96]).batch(3).r2c(),
        Fft::new([2048]).batch(2).r2c(),
        Fft::new([2048]).batch(2).c2r(),
        Fft::new([45, 14]).batch(2).c2r(),
        Fft::new([24, 32]).batch(3).r2c(),
        Fft::new([1000]).r2r([RealKind::Dct2]),
        Fft::new([12, 20]).r2r([RealKind::Dst4, RealKind::Dct1]),
    ] {
        let problem = build(fft);
        let found = candidates(&problem, &tight, 24).expect("there are some");
        for one in &found {
            let compiled = Compiled::by(&one.recipe, &problem, &tight).expect("it was just offered");
            check_program(&problem, &compiled.program, &tight);
        }
        // Not only tiles: what is one pass, and what are several.
        ways += usize::from(found.iter().any(|one| one.recipe.tiles.len() != found[0].recipe.tiles.len()));
    }
    assert!(ways >= 2, "{ways} of them are offered in more than one number of passes");
}

/// Every way to part long lines, by blocks and by clusters, with tiles that start with sectors and others, in launches of their own
/// and in one: rows of odd lengths and an odd number of rows, spectra that start anywhere in sectors, gaps, other formats.
#[test]
fn rows_with_their_images_in_every_way() {
    let blocks = Limits { shared_bytes: 2048, l2_bytes: 1 << 15, name: "blocks".into(), ..small_cache() };
    let clusters = Limits { max_cluster: 4, l2_bytes: 50 << 20, name: "clusters".into(), ..blocks.clone() };
    let [mut shared, mut clustered, mut aligned, mut apart] = [0; 4];
    for (limits, n) in [
        (&blocks, 1600),
        (&blocks, 2 * 15 * 49),
        (&clusters, 1 << 12),
        (&blocks, 15 * 49),
        (&clusters, 35 * 45),
    ] {
        let half = n / 2 + 1;
        let asked = [
            Fft::new([n]).batch(6).r2c(),
            Fft::new([n]).batch(6).c2r(),
            Fft::new([n]).batch(3).r2c().f64(),
            Fft::new([n]).batch(3).c2r().f64(),
            Fft::guru(
                &[Dim::new(n, 1, 1)],
                &[Dim::new(2, 2 * n as i64, half as i64 + 6), Dim::new(3, n as i64, 2 * half as i64 + 12)],
            )
            .r2c()
            .offsets(0, 5),
            Fft::new([n]).batch(3).c2r().formats(Format::Planar, Format::Real),
        ];
        for problem in asked.map(build) {
            let found = candidates(&problem, limits, 120).expect("there are some");
            // The best of each sort that there is.
            let mut sorts = Vec::new();
            for one in found {
                // The tile of the rows holds both of each pair.
                let tile = one.recipe.tiles.iter().find(|tile| tile.batch.len() > 2 || tile.batch[0] == 2);
                let Some(tile) = tile.filter(|tile| tile.batch.len() > 1) else { continue };
                let sort = (one.recipe.fused.len(), tile.cluster > 1, tile.batch[1].is_multiple_of(4));
                if sorts.contains(&sort) {
                    continue;
                }
                sorts.push(sort);
                let compiled = Compiled::by(&one.recipe, &problem, limits).expect("it was just offered");
                let passes = compiled.schedule.passes.iter().zip(&compiled.parts);
                let own = passes.into_iter().find(|(pass, _)| pass.images.is_some());
                let Some((pass, part)) = own else { continue };
                let starts = pass.starts_with_sectors(part.tile.batch[1]).is_some();
                shared += compiled.schedule.fused.len();
                clustered += usize::from(part.tile.cluster > 1);
                aligned += usize::from(starts);
                apart += usize::from(!starts);
                check_program(&problem, &compiled.program, limits);
            }
        }
    }
    assert!(
        shared > 9 && clustered > 3 && aligned > 9 && apart > 9,
        "{shared} {clustered} {aligned} {apart}"
    );
}

/// Lines that do not fit the chip, in two passes: none of them folds and does nothing else.
#[test]
fn long_lines_by_columns() {
    let tight = Limits {
        shared_bytes: 8192,
        max_threads: 64,
        max_cluster: 1,
        name: "tight".into(),
        ..Limits::h200()
    };
    let asked = |n: u64| {
        let both = [Fft::new([n]).r2c(), Fft::new([n]).c2r()];
        let batched =
            both.into_iter().flat_map(|fft| [fft.clone(), fft.clone().inverse().batch(3), fft.f64()]);
        let mut all: Vec<Fft> = batched.collect();
        all.push(Fft::new([n]).r2c().batch(2).in_place());
        all.push(Fft::new([n]).c2r().in_place());
        all.push(Fft::new([n]).c2r().direction(warpfft_core::problem::Direction::Forward).batch(2));
        all.push(Fft::new([n]).r2c().formats(Format::Real, Format::Planar));
        all.push(Fft::new([n]).c2r().formats(Format::Planar, Format::Real).scale(0.25));
        all.push(Fft::new([n]).r2c().offsets(2, 3));
        all.push(Fft::new([n]).r2c().offsets(1, 0));
        all.push(Fft::new([n]).r2c().batch(3).any_batch());
        all.push(Fft::new([n]).c2r().batch(3).any_batch());
        all
    };
    for n in [4096, 4800, 4900, 63 * 65, 27 * 125] {
        for fft in asked(n) {
            let problem = build(fft);
            let program = compile(&problem, &tight).expect("it has a plan");
            // Two lines of an odd length are one complex line, and one may be left, where their number is known.
            let lines: u64 = problem.batch.iter().map(|dim| dim.n).product();
            let alone = n % 2 == 0 || lines == 1 || problem.at_run().is_some();
            let shares = if alone { 1 } else { 1 + lines as usize % 2 };
            assert_eq!(program.launches.len(), 2 * shares, "{problem:?}");
            if problem.placement == Placement::InPlace {
                shared_array::check_in_place(&problem, &program, &tight, reference);
            } else {
                check_program(&problem, &program, &tight);
            }
        }
    }
}
