//! What must hold of every program, without running it: limits are kept, layouts lose no element, and what
//! `explain` says is what was compiled.

use std::collections::HashSet;

use rand::Rng;
use warpfft_core::explain::explain;
use warpfft_core::lower::digits::{Digit, Digits};
use warpfft_core::lower::exchange;
use warpfft_core::lower::layout::Layout;
use warpfft_core::problem::{Precision, Problem};
use warpfft_core::program::{Binding, Compiled};
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

/// Every short length, and longer ones of each sort: powers, smooth, prime, several passes.
fn lengths() -> Vec<u64> {
    let long = [512, 1000, 1009, 1024, 2187, 3125, 4096, 4099, 5040, 8191, 10_007, 16_384, 65_536, 100_003];
    (1..=300).chain(long).collect()
}

fn rows(n: u64, precision: Precision) -> Problem {
    Fft::new([n]).batch(17).precision(precision).build().expect("packed rows are a problem")
}

/// Panics unless every launch of the program is within the device's limits and within its buffers.
fn assert_within(compiled: &Compiled, limits: &Limits, what: &str) {
    let program = &compiled.program;
    for kernel in &program.kernels {
        let what = format!("{what}: {}", kernel.name);
        assert!((1..=limits.max_threads).contains(&kernel.threads), "{what}: {} threads", kernel.threads);
        assert!(kernel.shared_bytes() <= limits.shared_bytes, "{what}: {} bytes", kernel.shared_bytes());
        assert!((1..=limits.max_blocks).contains(&kernel.blocks), "{what}: {} blocks", kernel.blocks);
        assert!(kernel.cluster <= limits.max_cluster, "{what}: {} blocks a cluster", kernel.cluster);
    }
    for launch in &program.launches {
        let kernel = &program.kernels[launch.kernel];
        assert_eq!(launch.bindings.len(), kernel.buffers.len(), "{what}: one binding a buffer");
        for (binding, buffer) in launch.bindings.iter().zip(&kernel.buffers) {
            let needed = buffer.len * u64::from(buffer.elem.bytes());
            let held = match *binding {
                Binding::Input(_) => program.problem.input_bytes(),
                Binding::Output(_) => program.problem.output_bytes(),
                Binding::Workspace { offset, bytes } => {
                    assert!(offset % 256 == 0 && offset + bytes <= program.workspace_bytes, "{what}");
                    bytes
                }
                Binding::Filter => program.problem.filter_bytes(),
                Binding::Table(table) => program.tables[usize::from(table)].bytes(),
            };
            assert!(needed <= held, "{what}: {} needs {needed} of {held} bytes", buffer.name);
        }
    }
}

#[test]
fn every_length_keeps_to_every_preset() {
    for limits in Limits::presets() {
        for n in lengths() {
            for precision in [Precision::F32, Precision::F64] {
                if precision == Precision::F64 && !limits.f64 {
                    continue;
                }
                let what = format!("length {n} {precision:?} on {}", limits.name);
                let compiled =
                    Compiled::of(&rows(n, precision), &limits).unwrap_or_else(|e| panic!("{what}: {e}"));
                assert_within(&compiled, &limits, &what);
            }
        }
    }
}

#[test]
fn planes_and_volumes_keep_to_every_preset() {
    let shapes: [&[u64]; 6] = [&[16, 16], &[100, 90], &[9, 7, 5], &[64, 64, 64], &[480, 640], &[5, 4, 3, 2]];
    for limits in Limits::presets() {
        for shape in shapes {
            let problem = Fft::new(shape).batch(3).in_place().build().expect("a packed array");
            let what = format!("{shape:?} on {}", limits.name);
            let compiled = Compiled::of(&problem, &limits).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_within(&compiled, &limits, &what);
        }
    }
}

#[test]
fn the_explanation_is_of_the_program() {
    let limits = Limits::h200();
    for (n, precision) in [(1000, Precision::F32), (1009, Precision::F64), (100_003, Precision::F32)] {
        let problem = rows(n, precision);
        let compiled = Compiled::of(&problem, &limits).expect("the h200 plans every length");
        let explanation = explain(&problem, &limits).expect("and explains it");
        let program = &compiled.program;
        assert_eq!(explanation.passes.len(), program.launches.len());
        assert_eq!(explanation.workspace_bytes, program.workspace_bytes);
        assert_eq!(explanation.bytes, problem.input_bytes() + problem.output_bytes());
        let sum: f64 = explanation.passes.iter().map(|pass| pass.copies).sum();
        assert!((explanation.predicted_copies - sum).abs() < 1e-12);
        assert!(explanation.predicted_copies >= 1.0, "nothing is faster than a copy");
        for (pass, launch) in explanation.passes.iter().zip(&program.launches) {
            let kernel = &program.kernels[launch.kernel];
            assert_eq!((pass.blocks, pass.threads), (kernel.blocks, kernel.threads));
            assert_eq!((pass.shared_bytes, pass.cluster), (kernel.shared_bytes(), kernel.cluster));
        }
        let first = &explanation.passes[0];
        let last = &explanation.passes[explanation.passes.len() - 1];
        // Padding is neither read nor written: each end moves the caller's data once.
        assert_eq!(first.bytes_read, problem.input_bytes(), "length {n}");
        assert_eq!(last.bytes_written, problem.output_bytes(), "length {n}");
    }
}

/// A tile of random digits without weights.
fn random_digits(rng: &mut impl Rng) -> Digits {
    let count = rng.random_range(1..=5);
    let digit = |size| Digit { size, ..Digit::STILL };
    Digits::new((0..count).map(|_| digit(rng.random_range(2..=9))).collect(), Vec::new())
}

fn random_layout(digits: &Digits, rng: &mut impl Rng) -> Layout {
    let count = digits.all.len();
    let register = if rng.random_bool(0.8) { Some(rng.random_range(0..count)) } else { None };
    let mut order: Vec<usize> = (0..count).filter(|&d| Some(d) != register).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    Layout { register, order, block: None, pair: None }
}

/// The digits of an element, by its index with the first digit fastest.
fn element(digits: &Digits, mut index: u32) -> Vec<u32> {
    digits
        .all
        .iter()
        .map(|digit| {
            let value = index % digit.size;
            index /= digit.size;
            value
        })
        .collect()
}

#[test]
fn exchanges_never_put_two_elements_at_one_address() {
    let mut rng = rand::rng();
    for _ in 0..300 {
        let digits = random_digits(&mut rng);
        let (write, read) = (random_layout(&digits, &mut rng), random_layout(&digits, &mut rng));
        let threads = rng.random_range(1..=256);
        let elements = digits.elements();
        let max_len = elements + rng.random_range(0..elements);
        let shared = exchange::choose(&digits, &write, &read, (threads, 8, max_len));
        assert!(shared.len <= max_len, "{} elements where {max_len} fit", shared.len);
        let addresses: HashSet<i64> = (0..elements)
            .map(|index| {
                let own = element(&digits, index);
                own.iter().zip(&shared.strides).map(|(&value, &stride)| i64::from(value) * stride).sum()
            })
            .collect();
        assert_eq!(addresses.len() as u32, elements, "{digits:?} {shared:?}");
        assert!(addresses.iter().all(|&at| (0..i64::from(shared.len)).contains(&at)), "{shared:?}");
    }
}

#[test]
fn a_layout_holds_each_element_once() {
    let mut rng = rand::rng();
    for _ in 0..300 {
        let digits = random_digits(&mut rng);
        let layout = random_layout(&digits, &mut rng);
        let threads = rng.random_range(1..=64);
        let mut seen = HashSet::new();
        for slot in 0..layout.slots(&digits, threads) {
            for thread in 0..threads {
                let mut group = thread + threads * slot;
                if group >= layout.groups(&digits) {
                    continue;
                }
                let mut held = vec![0; digits.all.len()];
                for &d in &layout.order {
                    held[d] = group % digits.all[d].size;
                    group /= digits.all[d].size;
                }
                for register in 0..layout.registers(&digits) {
                    if let Some(d) = layout.register {
                        held[d] = register;
                    }
                    assert!(seen.insert(held.clone()), "{held:?} is held twice: {layout:?}");
                }
            }
        }
        assert_eq!(seen.len() as u32, digits.elements(), "{layout:?}");
    }
}
