//! The fast reference of real data beside plain sums in f64, for every kind.

#[path = "definitions/mod.rs"]
mod definition;

use rand::{Rng, SeedableRng, rngs::StdRng};
use warpfft_core::math::reference::{Reference, reference, relative_l2};
use warpfft_core::problem::{Dim, Direction, Kind, Placement, Problem, RealDim, RealKind, half};
use warpfft_core::request::{Fft, Norm};

type C64 = num_complex::Complex<f64>;

/// Compares every element that a problem writes, and that there are as many.
fn agrees(name: &str, problem: &Problem) {
    let mut random = StdRng::seed_from_u64(problem.input_span().end);
    // Real parts alone count where the input is real, and half spectra are of no reals.
    let mut number = || C64::new(random.random_range(-1.0..1.0), random.random_range(-1.0..1.0));
    let input: Vec<C64> = (0..problem.input_span().end).map(|_| number()).collect();
    let untouched = vec![C64::new(f64::NAN, 0.0); problem.output_span().end as usize];
    let want = definition::reference(problem, &input, &untouched);
    let got = reference(problem, |at| input[at as usize]);
    let points: u64 = problem.output_dims().map(|(n, _)| n).product();
    assert_eq!(got.len() as u64, points, "{name}");
    let mut places: Vec<u64> = got.iter().map(|&(at, _)| at).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len() as u64, points, "{name}: each element once");
    let wanted: Vec<C64> = got.iter().map(|&(at, _)| want[at as usize]).collect();
    let got: Vec<C64> = got.into_iter().map(|(_, value)| value).collect();
    let error = relative_l2(&got, &wanted);
    assert!(error < 1e-14, "{name}: {error:e}");
    if problem.kind.reals()[1] {
        assert!(got.iter().all(|value| value.im == 0.0), "{name}: reals");
    }
}

fn kinds(n: u64) -> impl Iterator<Item = (RealKind, bool)> {
    let defined = RealKind::ALL.into_iter().filter(move |kind| kind.least() <= n);
    defined.flat_map(|kind| [(kind, false), (kind, true)])
}

#[test]
fn every_kind_of_every_length() {
    for n in (1..=40).chain([97, 120, 128]) {
        for direction in [Direction::Forward, Direction::Inverse] {
            for asked in [Fft::new([n]).r2c(), Fft::new([n]).c2r()] {
                let problem = asked.direction(direction).batch(2).scale(0.7).build().expect("packed lines");
                agrees(&format!("{direction:?} {:?}", problem.kind), &problem);
            }
        }
        for (kind, orthogonal) in kinds(n) {
            let asked = Fft::new([n]).r2r([kind]).batch(2);
            let asked = if orthogonal { asked.orthogonal().norm(Norm::Ortho) } else { asked };
            agrees(&format!("{kind:?} {n} {orthogonal}"), &asked.build().expect("packed lines"));
        }
    }
}

#[test]
fn more_dimensions() {
    let shapes: [&[u64]; 9] =
        [&[4, 6], &[5, 7], &[1, 6], &[6, 1], &[37, 2], &[3, 4, 5], &[4, 5, 6], &[2, 3, 7], &[2, 1, 2]];
    for shape in shapes {
        for axis in 0..shape.len() as i64 {
            for direction in [Direction::Forward, Direction::Inverse] {
                for asked in [Fft::new(shape).r2c(), Fft::new(shape).c2r()] {
                    let asked = asked.halved_axis(axis).direction(direction).batch(3);
                    let problem = asked.build().expect("any axis can be halved");
                    agrees(&format!("{direction:?} {shape:?} along {axis}: {:?}", problem.kind), &problem);
                }
            }
        }
        // Neighbours in the list, so that every kind stands beside another.
        for pair in RealKind::ALL.windows(3) {
            let least = pair.iter().map(|kind| kind.least()).max().expect("three");
            if shape.iter().all(|&n| n >= least) {
                let asked = Fft::new(shape).r2r(&pair[..shape.len()]).orthogonal().batch(2);
                agrees(&format!("{pair:?} {shape:?}"), &asked.build().expect("a kind for each axis"));
            }
        }
    }
}

/// A problem of real data whose dimensions lie in memory in no order, with gaps, offsets and one that runs backwards.
fn scattered(kind: fn(Dim) -> Kind, other: Option<u64>, n: u64, points: [u64; 2]) -> Problem {
    let own = Dim::new(n, -3, 2);
    let beside = other.map(|n| Dim::new(n, 3 * points[0] as i64, 2 * points[1] as i64 + 1));
    let many = other.unwrap_or(1) as i64;
    let batch =
        [Dim::new(2, 1, 1000), Dim::new(3, 3 * points[0] as i64 * many, (2 * points[1] as i64 + 1) * many)];
    let plain = Fft::new([2]).build().expect("it can be");
    Problem {
        kind: kind(own),
        transform: beside.into_iter().collect(),
        batch: batch.to_vec(),
        input_offset: 3 * (points[0] - 1) + 4,
        output_offset: 9,
        scale: -0.25,
        placement: Placement::OutOfPlace,
        ..plain
    }
}

#[test]
fn any_strides() {
    for n in [1, 2, 5, 8, 11] {
        for direction in [Direction::Forward, Direction::Inverse] {
            for other in [None, Some(3), Some(4)] {
                let there = scattered(Kind::RealToComplex, other, n, [n, half(n)]);
                agrees("reals to half spectra", &Problem { direction, ..there });
                let back = scattered(Kind::ComplexToReal, other, n, [half(n), n]);
                agrees("half spectra to reals", &Problem { direction, ..back });
            }
        }
        for (kind, orthogonal) in kinds(n) {
            let mut problem = scattered(Kind::RealToComplex, None, n, [n, n]);
            let Kind::RealToComplex(dim) = problem.kind else { panic!("as asked") };
            problem.kind = Kind::RealToReal(vec![RealDim { dim, kind, orthogonal }]);
            agrees(&format!("{kind:?} {n}"), &problem);
        }
    }
}

#[test]
fn transforms_of_a_batch_can_be_asked_for_one_by_one() {
    let problem = scattered(Kind::ComplexToReal, Some(3), 6, [4, 6]);
    let read = |at: u64| C64::new((at * at % 17) as f64, (at % 5) as f64);
    let all = reference(&problem, read);
    let one = Reference::new(&problem);
    let apart: Vec<_> = (0..problem.batch_count()).flat_map(|index| one.transform(index, read)).collect();
    assert_eq!(all, apart);
}
