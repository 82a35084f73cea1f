//! Reals and complex numbers that share an array.

use warpfft_core::problem::{Format, Kind, Precision, Problem, half};
use warpfft_core::program::Program;
use warpfft_core::target::Limits;

use super::C64;

/// Runs a program on such an array, which is compared whole with what the reference makes of it.
pub fn check_in_place(
    problem: &Problem,
    program: &Program,
    limits: &Limits,
    reference: fn(&Problem, &[C64], &[C64]) -> Vec<C64>,
) {
    let what = format!("{:?} {:?} batch {:?} in place", problem.kind, problem.transform, problem.batch);
    let whole = 2 * problem.input_span().end.max(problem.output_span().end) as usize;
    let data = super::random(whole, problem.precision);
    let reals: Vec<C64> = data.iter().map(|x| C64::new(x.re, 0.0)).collect();
    let pairs = |reals: &[C64]| -> Vec<C64> { reals.chunks(2).map(|x| C64::new(x[0].re, x[1].re)).collect() };
    let apart = |pairs: &[C64]| -> Vec<C64> {
        pairs.iter().flat_map(|x| [x.re, x.im]).map(|x| C64::new(x, 0.0)).collect()
    };
    // The array as each side sees it.
    let seen = |format| if format == Format::Real { reals.clone() } else { pairs(&reals) };
    let want = reference(problem, &seen(problem.input), &seen(problem.output));
    let before = seen(problem.output);
    let (got, _) =
        super::run(program, limits, &before, &before).unwrap_or_else(|fault| panic!("{what}: {fault}"));
    let reals_of = |all: &[C64]| if problem.output == Format::Real { all.to_vec() } else { apart(all) };
    let (mut got, mut want) = (reals_of(&got), reals_of(&want));
    // What pads rows of reals holds nothing.
    if let Kind::ComplexToReal(dim) = &problem.kind {
        let padded = 2 * half(dim.n) as usize;
        for all in [&mut got, &mut want] {
            all.iter_mut().enumerate().for_each(|(i, x)| {
                if i % padded >= dim.n as usize {
                    x.re = 0.0;
                }
            });
        }
    }
    let error = super::error(&got, &want);
    let tolerance = if problem.precision == Precision::F32 { 1.5e-6 } else { 3e-15 };
    assert!(error < tolerance, "{what}: relative error {error:.2e}");
}
