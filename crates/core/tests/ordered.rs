//! Rows that convolve where they lie, and a pass behind them that puts frequencies in order, on the simulator: against the reference, in
//! other layouts, with windows and functions, and only where a row that convolves is too long for columns.

mod common;

use common::{Case, error, limits::small, random, rows, run};
use num_complex::Complex;
use warpfft_core::plan::Plan;
use warpfft_core::problem::{Dim, Direction, Format, Placement, Precision, Problem};
use warpfft_core::program::Compiled;
use warpfft_core::recipe::candidates;
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

/// Whether a pass of the plan does nothing but put frequencies in order.
fn in_order(plan: &Plan) -> bool {
    matches!(plan, Plan::Split(parts) if parts.last().is_some_and(|last| last.len() == 1))
}

fn by_rows(problem: &Problem, limits: &Limits) -> Option<Compiled> {
    let mut found = candidates(problem, limits, 200).expect("there are some").into_iter();
    let one = found.find(|one| one.recipe.plans.iter().any(in_order))?;
    Some(Compiled::by(&one.recipe, problem, limits).expect("it was just offered"))
}

fn check(problem: &Problem) {
    let compiled = by_rows(problem, &small()).unwrap_or_else(|| panic!("{problem:?} has no such plan"));
    assert_eq!(compiled.program.launches.len(), 3 + problem.transform.len() - 1, "{problem:?}");
    Case::new(problem).check(&compiled.program, &small(), &format!("{problem:?}"));
}

#[test]
fn lengths_of_one_large_prime() {
    let (f32, f64) = (Precision::F32, Precision::F64);
    for (n, precision) in [(6 * 131, f32), (7 * 113, f32), (16 * 67, f32), (10 * 61, f64), (30 * 37, f64)] {
        for direction in [Direction::Forward, Direction::Inverse] {
            for batch in [1, 3] {
                check(&Problem { direction, scale: 0.5, ..rows(n, batch, precision) });
            }
        }
    }
}

/// Where there are few lines, rows that convolve leave blocks idle, and all share a convolution in passes.
#[test]
fn few_lines_convolve_in_passes() {
    for (n, batch) in [(36_289, 1), (57_046, 1), (15_207, 1)] {
        let compiled = Compiled::of(&rows(n, batch, Precision::F32), &Limits::h200()).expect("it has a plan");
        let plan = &compiled.schedule.plans[0];
        assert!(matches!(plan, Plan::Bluestein { .. }) && plan.passes() == 3, "{plan}");
    }
}

#[test]
fn layouts() {
    let n = 6 * 131;
    let plain = rows(n, 3, Precision::F32);
    let own = n as i64;
    for (dim, batch) in [
        (Dim::new(n, 7, 7), Dim::new(7, 1, 1)),
        (Dim::new(n, 2, 3), Dim::new(3, 2 * own + 5, 3 * own + 1)),
        (Dim::new(n, 1, 3), Dim::new(3, own, 1)),
    ] {
        for output in [Format::Interleaved, Format::Planar] {
            check(&Problem { transform: vec![dim], batch: vec![batch], output, ..plain.clone() });
        }
    }
    check(&Problem { placement: Placement::InPlace, ..plain });
    for shape in [[5, n], [n, 5]] {
        check(&Fft::new(shape).batch(2).build().expect("it can be asked"));
    }
}

/// Functions see the same points, and windows show the same, as where one block holds a line.
#[test]
fn functions_and_windows() {
    let n = 6 * 131;
    let with =
        |fft: Fft| fft.on_load(|x, at| x * (at.axis(0) + 1.0)).on_store(|x, at| x * (at.axis(0) * 0.25));
    let asked = || Fft::new([n]).batch(3);
    for fft in [
        with(asked()),
        asked().pad(&[n / 2]),
        asked().crop(&[n / 3]).shift_output(),
        with(asked().pad(&[400])),
    ] {
        let problem = fft.build().expect("it can be asked");
        let input = random(problem.input_span().end as usize, problem.precision);
        let before = vec![Complex::default(); problem.output_span().end as usize];
        let output = |compiled: &Compiled, limits: &Limits| {
            run(&compiled.program, limits, &input, &before).unwrap_or_else(|fault| panic!("{fault}")).0
        };
        let whole = Compiled::of(&problem, &Limits::h200()).expect("it has a plan");
        assert_eq!(whole.parts.len(), 1);
        let several = by_rows(&problem, &small()).unwrap_or_else(|| panic!("{problem:?} has no such plan"));
        let error = error(&output(&several, &small()), &output(&whole, &Limits::h200()));
        assert!(error < 2e-6, "{problem:?}: {error:.2e}");
    }
}

/// By 40 lengths of which both ways were timed (`docs/notes/convolutions.md`): columns that convolve are two passes, and less
/// where a block holds a few of them.
#[test]
fn long_rows_alone_are_put_in_order_by_a_pass() {
    for (n, ordered) in
        [(57_046, true), (338_610, true), (1_809_446, true), (46_557, false), (249_016, false)]
    {
        let problem = rows(n, (1 << 25) / n, Precision::F32);
        let compiled = Compiled::of(&problem, &Limits::h200()).expect("it has a plan");
        assert_eq!(in_order(&compiled.schedule.plans[0]), ordered, "{}", compiled.schedule.plans[0]);
        assert_eq!(compiled.program.launches.len(), if ordered { 3 } else { 2 });
    }
}
