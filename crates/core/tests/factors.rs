//! Which factors of a stage a thread loads, and which it multiplies from those.

mod common;

use common::{Case, rows};
use warpfft_core::kernel::{Cache, Op};
use warpfft_core::problem::Precision;
use warpfft_core::program::Program;
use warpfft_core::target::{Api, Limits};
use warpfft_core::{compile, problem::Problem};

/// Loads of tables in all kernels, instructions at all, and the program.
fn loads(problem: &Problem, sm: u32) -> (usize, usize, Program) {
    let limits = Limits { api: Api::Ptx { sm }, ..Limits::h200() };
    let program = compile(problem, &limits).expect("it is planned");
    let all = || program.kernels.iter().flat_map(|kernel| &kernel.body.insts);
    let table = all().filter(|inst| matches!(inst.op, Op::Load { cache: Cache::ReadOnly, .. })).count();
    (table, all().count(), program)
}

/// 19 x 19 and 31 x 31 doubles have no registers for what products are made of.
#[test]
fn long_primes_of_doubles_load_their_factors() {
    for n in [361, 961] {
        let problem = rows(n, 100_000, Precision::F64);
        assert_eq!(loads(&problem, 90).0, loads(&problem, 86).0, "{n}");
    }
}

/// Compute capability 8.6 and 12.0 have a sixty-fourth part of the speed of singles in doubles, 9.0 half.
#[test]
fn fast_doubles_multiply_what_others_load() {
    for n in [243, 1000, 4096] {
        // More than run at once: those that do ask for all tables early.
        let problem = rows(n, 100_000, Precision::F64);
        let (few, longer, _) = loads(&problem, 90);
        for slow in [86, 120] {
            let (many, shorter, _) = loads(&problem, slow);
            assert!(few > 0 && few < many && longer > shorter, "{n}: {few} loads, {many} for {slow}");
        }
        let some = rows(n, 5, Precision::F64);
        Case::new(&some).check(&loads(&some, 90).2, &Limits::h200(), "factors by products");
        let singles = rows(n, 100_000, Precision::F32);
        assert_eq!(loads(&singles, 90).0, loads(&singles, 86).0, "{n}: singles load as they did");
    }
}
