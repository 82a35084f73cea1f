//! `--zoom` against the definition.

mod support;

use std::f64::consts::TAU;

use support::{Bench, distance, npy, read_complex};

/// Along the last axis of a 3 x 20 array.
fn wanted(from: f64, step: f64, points: usize, sample: impl Fn(usize) -> f64) -> Vec<(f64, f64)> {
    let point = |at: usize| {
        let frequency = from + step * (at % points) as f64;
        (0..20).fold((0.0, 0.0), |sum, j| {
            let (x, (sin, cos)) = (sample(at / points * 20 + j), (TAU * frequency * j as f64).sin_cos());
            (sum.0 + x * cos, sum.1 - x * sin)
        })
    };
    (0..3 * points).map(point).collect()
}

#[test]
fn bands_of_files() {
    let bench = Bench::new();
    let values: Vec<u8> = (0..60_u32).map(|i| (i * i % 61) as u8).collect();
    bench.file("x.npy", &npy("'|u1'", false, "(3, 20)", &values));
    let sample = |at: usize| f64::from(values[at]);
    let args = ["transform", "x.npy", "-o", "y.npy", "--device", "cpu", "--zoom", "0.1:0.3:7"];
    bench.succeeds(&args);
    let (shape, got) = read_complex(&bench.path("y.npy"));
    assert_eq!(shape, "(3, 7)");
    assert!(distance(&got, &wanted(0.1, 0.2 / 7.0, 7, sample)) < 1e-13);
    bench.succeeds(&[&args[..], &["--endpoint", "--axes=-1"]].concat());
    let (_, got) = read_complex(&bench.path("y.npy"));
    assert!(distance(&got, &wanted(0.1, 0.2 / 6.0, 7, sample)) < 1e-13);
    // Negative ones, in single precision, by the kernels.
    let other = ["transform", "x.npy", "-o", "y.npy", "--device", "sim", "--precision", "f32"];
    let json = bench.succeeds(&[&other[..], &["--zoom", "-0.25:-0.2:30", "--json"]].concat());
    assert!(json.contains("\"points\": 30") || json.contains("\"points\":30"), "{json}");
    let (_, got) = read_complex(&bench.path("y.npy"));
    assert!(distance(&got, &wanted(-0.25, 0.05 / 30.0, 30, sample)) < 1e-6);
    bench.succeeds(&["transform", "x.npy", "-o", "y.npy", "--zoom", "0:1:4", "--axes", "0"]);
    assert_eq!(read_complex(&bench.path("y.npy")).0, "(4, 20)");
}

#[test]
fn wrong_bands_are_told() {
    let bench = Bench::new();
    bench.file("x.npy", &npy("'|u1'", false, "(2, 2)", &[1, 2, 3, 4]));
    let fails = |code, more: &[&str], words: &[&str]| {
        let args = [&["transform", "x.npy", "-o", "y.npy"][..], more].concat();
        let output = bench.run(&args);
        let (_, err) = support::texts(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {err}");
        words.iter().for_each(|word| assert!(err.contains(word), "{args:?} should say '{word}': {err}"));
    };
    fails(2, &["--zoom", "0.1:0.2"], &["FROM:TO:POINTS"]);
    fails(2, &["--zoom", "0.1:0.2:0"], &["'0'"]);
    fails(2, &["--zoom", "0:1:18446744073709551615"], &["from 1 to"]);
    fails(2, &["--zoom", "0:1:5", "--inverse"], &["--inverse"]);
    fails(2, &["--endpoint"], &["--zoom"]);
    fails(2, &["--zoom", "0:1:5", "--axes", "0,1"], &["one axis"]);
    fails(2, &["--zoom", "0:1e300:5"], &["1e300"]);
}
