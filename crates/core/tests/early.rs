//! Launches that begin early: they wait by themselves for what comes before, and only where that is sure to help.

mod common;

use common::{Case, build, packed, rows};
use warpfft_core::compile;
use warpfft_core::kernel::{Kernel, Op};
use warpfft_core::problem::{Precision, Problem};
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

/// Of each launch of a problem, whether its kernel waits for the one before.
fn waits(problem: &Problem, limits: &Limits) -> Vec<bool> {
    let program = compile(problem, limits).expect("it is planned");
    let kernel = |launch: usize| -> &Kernel { &program.kernels[program.launches[launch].kernel] };
    (0..program.launches.len()).map(|launch| kernel(launch).waits_for_launch()).collect()
}

#[test]
fn launches_after_the_first_wait() {
    let limits = Limits::h200();
    for problem in [
        rows(1 << 18, 1, Precision::F32),
        rows(1 << 20, 2, Precision::F32),
        packed(&[64, 64, 64], 1, Precision::F32),
        packed(&[1024, 1024], 1, Precision::F64),
        rows(99_991, 1, Precision::F32),
        build(Fft::new([512, 512]).r2c()),
    ] {
        let all = waits(&problem, &limits);
        assert!(all.len() > 1 && !all[0], "{:?}: {all:?}", problem.transform);
        assert!(all[1..].contains(&true), "{:?}: {all:?}", problem.transform);
    }
}

#[test]
fn one_launch_waits_for_nothing() {
    for n in [2, 1024, 1009, 65_536] {
        assert_eq!(waits(&rows(n, 3, Precision::F32), &Limits::h200()), [false], "{n}");
    }
}

#[test]
fn older_gpus_and_other_languages_know_no_such_launch() {
    for limits in [Limits::a100(), Limits::t4(), Limits::vulkan_min()] {
        let all = waits(&rows(1 << 18, 1, Precision::F32), &limits);
        assert!(all.len() > 1 && !all.contains(&true), "{}: {all:?}", limits.name);
    }
}

/// The assembler may move loads by the read-only path up before the wait.
#[test]
fn what_waits_reads_no_data_by_the_read_only_path() {
    let limits = Limits::h200();
    for problem in [rows(1 << 24, 1, Precision::F32), packed(&[256, 256, 256], 1, Precision::F32)] {
        let program = compile(&problem, &limits).expect("it is planned");
        for launch in &program.launches {
            let kernel = &program.kernels[launch.kernel];
            let text = warpfft_core::emit::ptx(kernel, 90).expect("it is emitted");
            let waits = text.contains("griddepcontrol.wait");
            assert_eq!(waits, kernel.waits_for_launch());
            let first = kernel.body.insts.iter().position(|inst| inst.op == Op::LaunchWait);
            assert_eq!(first, waits.then_some(0));
        }
    }
}

#[test]
fn they_compute_what_they_did() {
    let problem = rows(1 << 17, 1, Precision::F64);
    let program = compile(&problem, &Limits::h200()).expect("it is planned");
    assert!(program.launches.len() > 1);
    Case::new(&problem).check(&program, &Limits::h200(), "2^17 in f64");
}
