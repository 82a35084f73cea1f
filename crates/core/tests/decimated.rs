//! Convolutions of rows behind a codelet on the way in, on the simulator: against the reference, without races, and with
//! few bank conflicts.

mod common;

use common::{Case, build, rows};
use warpfft_core::plan::Plan;
use warpfft_core::problem::Precision;
use warpfft_core::program::Compiled;
use warpfft_core::recipe::candidates;
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

/// The recipe of the first candidate that is decimated.
fn decimated(problem: &warpfft_core::problem::Problem, limits: &Limits) -> Compiled {
    let all = candidates(problem, limits, 64).expect("it has plans");
    let is = |plan: &Plan| matches!(plan, Plan::Decimated { .. });
    let found =
        all.iter().map(|one| Compiled::by(&one.recipe, problem, limits).expect("it was just offered"));
    let mut found = found.filter(|compiled| compiled.schedule.plans.iter().any(is));
    found.next().expect("one of them is decimated")
}

#[test]
fn they_compute_the_transform() {
    let limits = Limits::h200();
    // Rader's rows and Bluestein's, of a codelet that shares factors with them and of one that does not; one row and
    // several, the last tile not full; there and back.
    for (n, batch) in [(134_u64, 9), (201, 4), (332, 3), (1310, 5), (67 * 4, 13), (83 * 3, 5), (26 * 131, 1)]
    {
        for precision in [Precision::F32, Precision::F64] {
            for inverse in [false, true] {
                let fft = Fft::new([n]).batch(batch).precision(precision);
                let problem = build(if inverse { fft.inverse().in_place() } else { fft });
                let compiled = decimated(&problem, &limits);
                Case::new(&problem).check(
                    &compiled.program,
                    &limits,
                    &format!("{n} {precision:?} {inverse}"),
                );
            }
        }
    }
}

#[test]
fn planes_and_strided_rows_have_them_too() {
    let limits = Limits::h200();
    for shape in [&[134_u64, 6][..], &[6, 134], &[3, 201, 2]] {
        let problem = build(Fft::new(shape.to_vec()).batch(2));
        let compiled = decimated(&problem, &limits);
        Case::new(&problem).check(&compiled.program, &limits, &format!("{shape:?}"));
    }
}

#[test]
fn what_is_no_codelet_before_rows_that_convolve_is_refused() {
    for text in [
        "(decimated 10 (mixed-radix 13))",
        "(decimated 79 (rader 131 (mixed-radix 26 5)))",
        "(decimated 2 (decimated 3 (rader 131 (mixed-radix 26 5))))",
        "(decimated (rader 131 (mixed-radix 26 5)))",
    ] {
        assert!(text.parse::<Plan>().is_err(), "{text}");
    }
    let text = "(decimated 10 (rader 131 (mixed-radix 26 5)))";
    let plan: Plan = text.parse().expect("it is one");
    assert_eq!((plan.to_string().as_str(), plan.len(), plan.passes()), (text, 1310, 1));
}

/// A prime of the longest codelets is no stage beside what is no codelet, and has to be offered as a part by itself.
#[test]
fn long_primes_beside_anything_have_more_than_a_padded_way() {
    let limits = Limits::h200();
    let lengths = [67, 71, 73].iter().flat_map(|prime| (34..=4096 / prime).map(move |m| prime * m));
    let padded = |&n: &u64| {
        let all = candidates(&rows(n, (1 << 26) / n, Precision::F32), &limits, 24).expect("it has plans");
        all.iter().all(|one| matches!(one.recipe.plans[..], [Plan::Bluestein { .. }]))
    };
    assert_eq!(lengths.filter(padded).collect::<Vec<_>>(), []);
}

/// Of lengths that were timed by both ways on an H200 (`bench/h200-long-code.csv`), the faster one is planned: stages of long primes
/// where their code is short, padding where it is long.
#[test]
fn long_primes_convolve_where_their_code_is_short() {
    let limits = Limits::h200();
    for (n, faster) in [
        (1788_u64, "(decimated 12 (rader 149 (mixed-radix 37 4)))"),
        (4152, "(decimated 24 (rader 173 (mixed-radix 43 4)))"),
        (2362, "(bluestein 2362 (mixed-radix 20 20 12))"),
        (4486, "(bluestein 4486 (mixed-radix 24 24 16))"),
    ] {
        let planned = Compiled::of(&rows(n, (1 << 26) / n, Precision::F32), &limits).expect("it has plans");
        assert_eq!(planned.schedule.plans[0].to_string(), faster);
    }
}

/// A ratchet: shared memory is what Rader's convolutions wait for. Wavefronts of half-warps for each sixteen points, and
/// those over the fewest, as they were when last improved, of what is planned or of so many rows by another plan.
#[test]
fn convolutions_keep_few_bank_conflicts() {
    let limits = Limits::h200();
    for (n, plan, wavefronts, conflicts) in [
        (131_u64, None, 13.7, 1.61),
        (1543, None, 16.6, 1.01),
        (1629, None, 11.7, 1.37),
        (1310, None, 12.4, 1.48),
        (2076, Some(("(decimated 12 (bluestein 173 (mixed-radix 32 12)))", 1)), 14.8, 1.15),
        (2076, Some(("(decimated 12 (bluestein 173 (mixed-radix 24 16)))", 1)), 14.0, 1.09),
        (2076, None, 11.8, 1.47),
        (3057, Some(("(decimated 3 (bluestein 1019 (mixed-radix 16 16 8)))", 1)), 20.3, 1.02),
        (3057, None, 17.5, 1.09),
    ] {
        let problem = rows(n, (1 << 26) / n, Precision::F32);
        let mut recipe = candidates(&problem, &limits, 1).expect("it has plans")[0].recipe.clone();
        if let Some((plan, rows)) = plan {
            recipe.plans = vec![plan.parse().expect("it is a plan")];
            recipe.tiles[0].batch = vec![rows];
        }
        let batch = 2 * recipe.tiles[0].batch.iter().product::<u64>();
        let few = rows(n, batch, Precision::F32);
        let compiled = Compiled::by(&recipe, &few, &limits).expect("it was just offered");
        let report = Case::new(&few).check(&compiled.program, &limits, "few rows");
        let each = report.shared_wavefronts as f64 / (n * batch) as f64 * 16.0;
        println!("{n}: {each:.2} wavefronts, {:.2} of the fewest", report.conflicts());
        assert!(each <= wavefronts && report.conflicts() <= conflicts, "{n}: {each}, {}", report.conflicts());
        // What is planned by agrees with what is counted.
        let planned = compiled.parts[0].conflicts;
        assert!((planned / report.conflicts() - 1.0).abs() < 0.12, "{n}: {planned}");
    }
}
