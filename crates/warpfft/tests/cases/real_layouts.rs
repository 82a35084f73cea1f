//! Problems of real data in unusual places: strides of either sign, offsets, one input for all, planes, in place.

use warpfft::core::problem::{Dim, Direction, Format, Kind, Placement, Problem, RealDim, RealKind};
use warpfft::core::request::Fft;

use super::real::problem;

/// A problem under a name that says it.
pub fn named(what: &str, problem: Problem) -> (String, Problem) {
    let problem = problem.validated().unwrap_or_else(|error| panic!("{what}: {error}"));
    (format!("{what}: {:?} {:?} x {:?}", problem.kind, problem.transform, problem.batch), problem)
}

/// Half spectra in unusual places: reals and complex numbers of a line, transformed and repeated dimensions.
pub fn halved() -> Vec<(String, Problem)> {
    let mut all = Vec::new();
    // Strides of reals first; the way back swaps them.
    let mut add = |name: &str, own: Dim, transform: &[Dim], batch: &[Dim], offsets: (u64, u64)| {
        let swap = |dim: &Dim| Dim::new(dim.n, dim.os, dim.is);
        let swapped = |dims: &[Dim]| dims.iter().map(swap).collect::<Vec<_>>();
        for planar in [false, true] {
            for direction in [Direction::Forward, Direction::Inverse] {
                let mut there = problem(Kind::RealToComplex(own), transform, batch);
                let mut back = problem(Kind::ComplexToReal(swap(&own)), &swapped(transform), &swapped(batch));
                (there.input_offset, there.output_offset) = offsets;
                (back.output_offset, back.input_offset) = offsets;
                if planar {
                    (there.output, back.input) = (Format::Planar, Format::Planar);
                }
                (there.direction, back.direction) = (direction, direction);
                let name = format!("{name}, planar {planar}, {direction:?}");
                all.extend([named(&name, there), named(&name, back)]);
            }
        }
    };
    add("planar or not", Dim::new(12, 1, 1), &[], &[Dim::new(3, 12, 7)], (0, 0));
    add("strided", Dim::new(15, 3, 5), &[], &[Dim::new(4, 50, 41), Dim::new(2, 1, 2)], (0, 0));
    add("batch inside", Dim::new(14, 11, 11), &[], &[Dim::new(11, 1, 1)], (0, 0));
    add("transposing", Dim::new(9, 1, 10), &[], &[Dim::new(10, 9, 1)], (0, 0));
    add("offsets and gaps", Dim::new(20, 1, 1), &[], &[Dim::new(3, 31, 17)], (5, 9));
    add("backwards", Dim::new(10, -1, -1), &[], &[Dim::new(3, 10, 6)], (9, 5));
    add("batch backwards", Dim::new(8, 1, 1), &[], &[Dim::new(3, -8, -5)], (16, 10));
    add("2D strided", Dim::new(6, 2, 3), &[Dim::new(5, 17, 20)], &[Dim::new(3, 100, 1)], (3, 2));
    add("2D backwards", Dim::new(7, 1, -6), &[Dim::new(6, -7, 1)], &[Dim::new(2, 42, 24)], (35, 18));
    add("halved outside", Dim::new(6, 20, 20), &[Dim::new(5, 4, 4)], &[Dim::new(4, 1, 1)], (0, 0));
    let plane = [Dim::new(3, 35, 20), Dim::new(1, 7, 7)];
    add("3D", Dim::new(5, 7, 5), &plane, &[Dim::new(5, 1, 1)], (0, 0));
    add("one point", Dim::new(1, 3, 3), &[Dim::new(6, 1, 1)], &[Dim::new(3, 6, 6)], (0, 0));
    // One input for all.
    for (name, kind) in [
        ("there", Kind::RealToComplex(Dim::new(9, 1, 1))),
        ("back", Kind::ComplexToReal(Dim::new(9, 1, 1))),
        ("back", Kind::ComplexToReal(Dim::new(8, 0, 1))),
    ] {
        let name = format!("one input for all, {name}");
        all.push(named(&name, problem(kind.clone(), &[], &[Dim::new(4, 0, 9)])));
        all.push(named(&name, problem(kind, &[Dim::new(3, 5, 36)], &[Dim::new(4, 0, 9)])));
    }
    all
}

/// Reals and half spectra in the same memory.
pub fn halved_in_place() -> Vec<(String, Problem)> {
    let mut all = Vec::new();
    for shape in [&[7][..], &[8], &[1], &[5, 6], &[4, 7], &[3, 4, 5], &[2, 3, 8]] {
        for batch in [1, 3] {
            for asked in [Fft::new(shape).r2c(), Fft::new(shape).c2r()] {
                for direction in [Direction::Forward, Direction::Inverse] {
                    let asked = asked.clone().direction(direction).in_place().scale(0.5).batch(batch);
                    let name = format!("in place {shape:?} {direction:?}");
                    all.push(named(&name, asked.build().expect("padded rows")));
                }
            }
        }
    }
    let wide = problem(Kind::RealToComplex(Dim::new(6, 1, 1)), &[Dim::new(3, 40, 20)], &[Dim::new(2, 10, 5)]);
    let wide = Problem { input_offset: 8, output_offset: 4, placement: Placement::InPlace, ..wide };
    all.push(named("wide rows", wide));
    all
}

/// Reals into reals in unusual places.
pub fn reals() -> Vec<(String, Problem)> {
    let mut all = Vec::new();
    let mut add = |name: &str, dims: &[(RealKind, Dim)], batch: &[Dim], change: fn(&mut Problem)| {
        let own = dims.iter().map(|&(kind, dim)| RealDim { dim, kind, orthogonal: true });
        let mut problem = problem(Kind::RealToReal(own.collect()), &[], batch);
        change(&mut problem);
        all.push(named(name, problem));
    };
    for kind in RealKind::ALL {
        let one = |n, is, os| [(kind, Dim::new(n, is, os))];
        add("strided", &one(15, 3, 5), &[Dim::new(4, 50, 100), Dim::new(2, 1, 2)], |_| {});
        add("batch inside", &one(14, 11, 11), &[Dim::new(11, 1, 1)], |_| {});
        add("transposing", &one(9, 1, 10), &[Dim::new(10, 9, 1)], |p| p.scale = -2.0);
        add("backwards", &one(10, -1, 1), &[Dim::new(3, 10, -11)], |p| {
            (p.input_offset, p.output_offset) = (9, 25);
        });
        add("one input for all", &one(12, 1, 1), &[Dim::new(4, 0, 12)], |_| {});
        add("one value for all", &one(12, 0, 1), &[Dim::new(4, 1, 12)], |_| {});
        add("in place", &one(13, 1, 1), &[Dim::new(5, 15, 15)], |p| p.placement = Placement::InPlace);
        add("in place, transposed", &one(8, 1, 8), &[Dim::new(8, 8, 1)], |p| {
            p.placement = Placement::InPlace;
        });
        add("in place, turned round", &one(9, -1, 1), &[Dim::new(2, 9, 9)], |p| {
            (p.placement, p.input_offset) = (Placement::InPlace, 8);
        });
    }
    let [a, b, c] = [RealKind::Dct1, RealKind::Dst2, RealKind::HalfComplex];
    let dims = [(a, Dim::new(4, 30, 1)), (b, Dim::new(5, 6, 4)), (c, Dim::new(6, 1, 20))];
    add("3D, transposed", &dims, &[Dim::new(2, 120, 120)], |_| {});
    let dims = [(a, Dim::new(6, 6, 1)), (b, Dim::new(6, 1, 6))];
    add("2D in place, transposed", &dims, &[Dim::new(2, 36, 36)], |p| p.placement = Placement::InPlace);
    add("no dimensions", &[], &[Dim::new(7, 1, 2)], |p| p.scale = 3.0);
    add("no dimensions in place", &[], &[Dim::new(7, 2, 2)], |p| {
        (p.scale, p.placement) = (3.0, Placement::InPlace);
    });
    all
}
