//! What holds for every transform, on random problems: on the processor, and on the simulator, which runs the
//! kernels.

mod cases;

use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use warpfft::core::problem::{Dim, Direction, Format, Kind, Placement, Precision, Problem};
use warpfft::{Complex, Device};

use cases::packed;

type Field = Vec<Complex<f64>>;

/// Time for each kind of test on each device.
const BUDGET: Duration = Duration::from_millis(2500);

/// Runs `check` with fresh random numbers on both devices until the time is over, at least a few times. The seed
/// names the failure.
fn often(check: impl Fn(&Device, &mut StdRng)) {
    for device in [Device::cpu(), Device::sim(warpfft::core::target::Limits::h200())] {
        let started = Instant::now();
        let mut seed = 0;
        while seed < 5 || started.elapsed() < BUDGET {
            println!("{device:?}, seed {seed}");
            check(&device, &mut StdRng::seed_from_u64(seed));
            seed += 1;
        }
    }
}

/// A packed problem of one to three dimensions.
fn some_problem(random: &mut StdRng) -> Problem {
    let shape: Vec<u64> = match random.random_range(0..3) {
        0 => vec![random.random_range(1..600)],
        1 => vec![random.random_range(1..24), random.random_range(1..24)],
        _ => vec![random.random_range(1..9), random.random_range(1..9), random.random_range(1..9)],
    };
    Problem { precision: Precision::F64, ..packed(&shape, random.random_range(1..4)) }
}

fn field(random: &mut StdRng, elements: usize) -> Field {
    let mut real = || random.random_range(-1.0..1.0);
    (0..elements).map(|_| Complex::new(real(), real())).collect()
}

fn run(device: &Device, problem: &Problem, input: &Field) -> Field {
    let plan = device.plan(problem).unwrap_or_else(|error| panic!("{problem:?}: {error}"));
    let mut output = vec![Complex::default(); plan.output_elements() as usize];
    plan.run_host(input, &mut output).unwrap_or_else(|error| panic!("{problem:?}: {error}"));
    output
}

fn norm(field: &Field) -> f64 {
    field.iter().map(Complex::norm_sqr).sum::<f64>().sqrt()
}

fn assert_close(got: &Field, wanted: &Field, problem: &Problem) {
    let difference: Field = got.iter().zip(wanted).map(|(a, b)| a - b).collect();
    let error = norm(&difference) / norm(wanted).max(1e-300);
    assert!(got.len() == wanted.len() && error < 1e-13, "relative error {error:e}: {problem:?}");
}

#[test]
fn transforms_are_linear() {
    often(|device, random| {
        let problem = some_problem(random);
        let count = problem.elements() as usize;
        let (a, b) = (field(random, count), field(random, count));
        let factor = Complex::new(random.random_range(-2.0..2.0), random.random_range(-2.0..2.0));
        let combine =
            |a: &Field, b: &Field| -> Field { a.iter().zip(b).map(|(a, b)| a * factor + b).collect() };
        let wanted = combine(&run(device, &problem, &a), &run(device, &problem, &b));
        assert_close(&run(device, &problem, &combine(&a, &b)), &wanted, &problem);
    });
}

#[test]
fn the_inverse_brings_everything_back() {
    often(|device, random| {
        let problem = some_problem(random);
        let input = field(random, problem.elements() as usize);
        let scale = 1.0 / problem.points() as f64;
        let back = Problem { direction: Direction::Inverse, scale, ..problem.clone() };
        assert_close(&run(device, &back, &run(device, &problem, &input)), &input, &problem);
    });
}

#[test]
fn energy_is_kept() {
    often(|device, random| {
        let plain = some_problem(random);
        let problem = Problem { scale: (plain.points() as f64).sqrt().recip(), ..plain };
        let input = field(random, problem.elements() as usize);
        let (before, after) = (norm(&input), norm(&run(device, &problem, &input)));
        assert!((after / before - 1.0).abs() < 1e-13, "{before} became {after}: {problem:?}");
    });
}

#[test]
fn a_shift_is_a_ramp_of_phases() {
    often(|device, random| {
        let n = random.random_range(1..700_usize);
        let problem = Problem { precision: Precision::F64, ..packed(&[n as u64], 1) };
        let input = field(random, n);
        let shift = random.random_range(0..n);
        let mut shifted = input.clone();
        shifted.rotate_left(shift);
        let turned = |(k, value): (usize, &Complex<f64>)| {
            let angle = std::f64::consts::TAU * (k * shift % n) as f64 / n as f64;
            value * Complex::from_polar(1.0, angle)
        };
        let wanted = run(device, &problem, &input).iter().enumerate().map(turned).collect();
        assert_close(&run(device, &problem, &shifted), &wanted, &problem);
    });
}

/// Any descriptor: dimensions in any order of memory, gaps between them, some walked backwards.
fn some_layout(random: &mut StdRng) -> Problem {
    let rank = random.random_range(1..=4);
    let lengths: Vec<u64> = (0..rank).map(|_| random.random_range(1..=[40, 12, 7, 5][rank - 1])).collect();
    let in_place = random.random_range(0..3) == 0;
    let (is, input_offset) = some_strides(random, &lengths);
    let (os, output_offset) =
        if in_place { (is.clone(), input_offset) } else { some_strides(random, &lengths) };
    let dims = lengths.iter().zip(is.iter().zip(&os)).map(|(&n, (&is, &os))| Dim::new(n, is, os));
    let mut dims: Vec<Dim> = dims.collect();
    let batch = dims.split_off(random.random_range(0..=rank.min(3)));
    let mut format = || if random.random() { Format::Planar } else { Format::Interleaved };
    let (input, output) = (format(), format());
    Problem {
        kind: Kind::Complex,
        transform: dims,
        batch,
        input_offset,
        output_offset,
        precision: if random.random() { Precision::F32 } else { Precision::F64 },
        storage: [None; 2],
        input: if in_place { output } else { input },
        output,
        placement: if in_place { Placement::InPlace } else { Placement::OutOfPlace },
        direction: if random.random() { Direction::Forward } else { Direction::Inverse },
        scale: random.random_range(0.1..3.0),
        max_workspace: None,
        windows: Vec::new(),
        filter: None,
        functions: Default::default(),
    }
}

/// Strides that keep all elements apart, and the offset that keeps the lowest above 0.
fn some_strides(random: &mut StdRng, lengths: &[u64]) -> (Vec<i64>, u64) {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.shuffle(random);
    let mut strides = vec![0; lengths.len()];
    let mut reach = random.random_range(1..=3);
    let mut offset = random.random_range(0..4);
    for axis in order {
        let last = lengths[axis] as i64 - 1;
        strides[axis] = reach;
        reach = reach * lengths[axis] as i64 + random.random_range(0..4);
        if random.random_range(0..4) == 0 {
            offset += (last * strides[axis]) as u64;
            strides[axis] = -strides[axis];
        }
    }
    (strides, offset)
}

#[test]
fn any_layout_is_right_and_nothing_else_is_written() {
    often(|device, random| {
        let problem = some_layout(random);
        // Elements that are not the problem's are held against what they were, inside.
        let (error, most) = match problem.precision {
            Precision::F32 => (cases::run(device, &problem, |x| x as f32), 1e-6),
            Precision::F64 => (cases::run(device, &problem, |x| x), 2e-15),
            Precision::DoubleSingle => (cases::run(device, &problem, |x| x), 6e-14),
        };
        let error = error.unwrap_or_else(|error| panic!("{problem:?}: {error}"));
        assert!(error < most, "relative error {error:e}: {problem:?}");
    });
}
