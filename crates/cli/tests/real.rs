//! Transforms of real data against their definitions. `scipy_check.py` compares more of them with scipy.

mod support;

use std::f64::consts::{PI, SQRT_2};

use support::{Bench, dft, distance, npy, read_complex, read_real};

const SHAPE: [usize; 3] = [3, 4, 5];

fn values() -> Vec<u8> {
    (0..60_u32).map(|i| (i * i % 61 + i) as u8 % 100).collect()
}

fn numbers() -> Vec<(f64, f64)> {
    values().iter().map(|&value| (value.into(), 0.0)).collect()
}

fn bench() -> Bench {
    let bench = Bench::new();
    bench.file("x.npy", &npy("'|u1'", false, "(3, 4, 5)", &values()));
    bench
}

/// Runs a transform of one file into another on the processor.
fn transform(bench: &Bench, from: &str, to: &str, more: &[&str]) -> String {
    bench.succeeds(&[&["transform", from, "-o", to, "--device", "cpu"], more].concat())
}

/// The first `count` of each row of so many.
fn cropped(numbers: &[(f64, f64)], row: usize, count: usize) -> Vec<(f64, f64)> {
    numbers.chunks_exact(row).flat_map(|row| row[..count].to_vec()).collect()
}

#[test]
fn reals_to_half_spectra_and_back() {
    let bench = bench();
    transform(&bench, "x.npy", "half.npy", &["--kind", "r2c"]);
    let (shape, got) = read_complex(&bench.path("half.npy"));
    assert_eq!(shape, "(3, 4, 3)");
    let whole = dft(&numbers(), &SHAPE, &[0, 1, 2], -1.0, 1.0);
    assert!(distance(&got, &cropped(&whole, 5, 3)) < 1e-14);

    transform(&bench, "half.npy", "back.npy", &["--kind", "c2r", "--n", "3,4,5"]);
    let (descr, shape, got) = read_real(&bench.path("back.npy"));
    assert_eq!((descr, &shape[..]), ("<f8", "(3, 4, 5)"));
    assert!(distance(&got, &numbers()) < 1e-14);
    // Without a length, an even one.
    transform(&bench, "half.npy", "even.npy", &["--kind", "c2r", "--precision", "f32"]);
    let (descr, shape, _) = read_real(&bench.path("even.npy"));
    assert_eq!((descr, &shape[..]), ("<f4", "(3, 4, 4)"));

    transform(&bench, "x.npy", "ihalf.npy", &["--kind", "ihfft", "--axes=1,0"]);
    let (shape, got) = read_complex(&bench.path("ihalf.npy"));
    assert_eq!(shape, "(2, 4, 5)");
    let whole = dft(&numbers(), &SHAPE, &[0, 1], 1.0, 1.0 / 12.0);
    assert!(distance(&got, &whole[..40]) < 1e-14);
    transform(&bench, "ihalf.npy", "back.npy", &["--kind", "hfft", "--axes=1,0", "--n", "4,3"]);
    assert!(distance(&read_real(&bench.path("back.npy")).2, &numbers()) < 1e-14);
}

#[test]
fn cosines_sines_and_hartley() {
    let bench = bench();
    // The last axis from its definition; orthonormal, with the weights that make it so.
    let row = |x: &[(f64, f64)], norm: &str| -> Vec<(f64, f64)> {
        let term = |k: usize, j: usize| 2.0 * x[j].0 * (PI * (2 * j + 1) as f64 * k as f64 / 10.0).cos();
        let weight = |k: usize| match norm {
            "ortho" if k == 0 => 1.0 / (10.0_f64.sqrt() * SQRT_2),
            "ortho" => 1.0 / 10.0_f64.sqrt(),
            "forward" => 0.1,
            _ => 1.0,
        };
        (0..5).map(|k| (weight(k) * (0..5).map(|j| term(k, j)).sum::<f64>(), 0.0)).collect()
    };
    for norm in ["backward", "ortho", "forward"] {
        let options = ["--kind", "dct2", "--axes=-1", "--norm", norm];
        transform(&bench, "x.npy", "y.npy", &options);
        let (descr, shape, got) = read_real(&bench.path("y.npy"));
        assert_eq!((descr, &shape[..]), ("<f8", "(3, 4, 5)"));
        let want: Vec<_> = numbers().chunks_exact(5).flat_map(|x| row(x, norm)).collect();
        assert!(distance(&got, &want) < 1e-14, "{norm}");
    }
    let whole = dft(&numbers(), &SHAPE, &[1], -1.0, 1.0);
    let want: Vec<_> = whole.iter().map(|&(re, im)| (re - im, 0.0)).collect();
    transform(&bench, "x.npy", "y.npy", &["--kind", "dht", "--axes=1"]);
    assert!(distance(&read_real(&bench.path("y.npy")).2, &want) < 1e-14);
    // All there and back.
    let kinds = ["dct1", "dct2", "dct3", "dct4", "dst1", "dst2", "dst3", "dst4", "dht"];
    for kind in kinds {
        for norm in ["backward", "ortho", "forward"] {
            let options = ["--kind", kind, "--norm", norm];
            transform(&bench, "x.npy", "y.npy", &options);
            transform(&bench, "y.npy", "z.npy", &[&options[..], &["--inverse"]].concat());
            assert!(distance(&read_real(&bench.path("z.npy")).2, &numbers()) < 1e-14, "{kind} {norm}");
        }
    }
}

#[test]
fn lengths_crop_and_pad() {
    let bench = bench();
    for first_fastest in [false, true] {
        // Columns 0 to 2, and 3 of zeros behind; rows 0 to 5 of which 4 and 5 are zeros.
        let mut data = values();
        if first_fastest {
            let at = |i: usize, j: usize, k: usize| values()[(i * 4 + j) * 5 + k];
            data = (0..60).map(|n| at(n % 3, n / 3 % 4, n / 12)).collect();
        }
        bench.file("x.npy", &npy("'|u1'", first_fastest, "(3, 4, 5)", &data));
        let fitted: Vec<(f64, f64)> = (0..3 * 6 * 3)
            .map(|n| (n / 18, n / 3 % 6, n % 3))
            .map(|(i, j, k)| if j < 4 { numbers()[(i * 4 + j) * 5 + k] } else { (0.0, 0.0) })
            .collect();
        let want = dft(&fitted, &[3, 6, 3], &[1, 2], -1.0, 1.0);
        for options in [&["--n", "6,3"][..], &["--n", "3,6", "--axes=2,1"]] {
            transform(&bench, "x.npy", "y.npy", options);
            let (shape, got) = read_complex(&bench.path("y.npy"));
            assert_eq!(shape, "(3, 6, 3)");
            assert!(distance(&got, &want) < 1e-14);
        }
        transform(&bench, "x.npy", "y.npy", &["--kind", "r2c", "--n", "6,3"]);
        let (shape, got) = read_complex(&bench.path("y.npy"));
        assert_eq!(shape, "(3, 6, 2)");
        assert!(distance(&got, &cropped(&want, 3, 2)) < 1e-14);
    }
}

#[test]
fn every_kind_is_drawn_and_reported() {
    let bench = bench();
    bench.file("row.npy", &npy("'|u1'", false, "(60,)", &values()));
    let sizes = [
        ("r2c", 31, "complex128"),
        ("ihfft", 31, "complex128"),
        ("c2r", 118, "float64"),
        ("hfft", 118, "float64"),
    ];
    let all = [
        "c2c", "r2c", "c2r", "hfft", "ihfft", "dct1", "dct2", "dct3", "dct4", "dst1", "dst2", "dst3", "dst4",
        "dht",
    ];
    for kind in all {
        let known = sizes.iter().find(|(name, ..)| *name == kind);
        let other = (kind, 60, if kind == "c2c" { "complex128" } else { "float64" });
        let &(_, points, dtype) = known.unwrap_or(&other);
        let out = transform(&bench, "row.npy", "y.npy", &["--kind", kind, "--plot", "p.png", "--json"]);
        let report: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(report["kind"], kind);
        assert_eq!(report["shape"], serde_json::json!([60]));
        assert_eq!((&report["output_shape"][0], &report["dtype"]), (&points.into(), &dtype.into()), "{kind}");
        assert!(image::open(bench.path("p.png")).is_ok());
        let out = transform(&bench, "x.npy", "y.npy", &["--kind", kind, "--axes=1,2", "--plot", "p.png"]);
        assert!(out.contains(kind) && image::open(bench.path("p.png")).is_ok(), "{out}");
    }
    for kind in ["c2c", "c2r", "hfft", "dht"] {
        transform(&bench, "row.npy", "y.npy", &["--kind", kind]);
        transform(&bench, "row.npy", "z.npy", &["--kind", kind, "--shift", "--plot", "p.png"]);
        let read = |name: &str| match kind {
            "c2c" => read_complex(&bench.path(name)).1,
            _ => read_real(&bench.path(name)).2,
        };
        let (mut plain, shifted) = (read("y.npy"), read("z.npy"));
        let half = plain.len() / 2;
        plain.rotate_right(half);
        assert_eq!(plain, shifted, "{kind}");
    }
}

#[test]
fn recordings_and_pictures() {
    let bench = Bench::new();
    let sample = |name: &str| format!("{}/../../samples/{name}", env!("CARGO_MANIFEST_DIR"));
    transform(&bench, &sample("bell.wav"), "half.npy", &["--kind", "r2c", "--n", "4096", "--plot", "p.png"]);
    let (shape, half) = read_complex(&bench.path("half.npy"));
    assert_eq!(shape, "(2049, 2)");
    transform(&bench, &sample("bell.wav"), "whole.npy", &["--n", "4096"]);
    let whole = read_complex(&bench.path("whole.npy")).1;
    assert!(distance(&half, &whole[..2 * 2049]) < 1e-14);
    let options = ["--kind", "dct2", "--norm", "ortho"];
    transform(&bench, &sample("moire.png"), "dct.npy", &[&options[..], &["--plot", "p.png"]].concat());
    let (_, shape, there) = read_real(&bench.path("dct.npy"));
    let size = |x: &[(f64, f64)]| x.iter().map(|x| x.0 * x.0).sum::<f64>().sqrt();
    transform(&bench, "dct.npy", "back.npy", &[&options[..], &["--inverse", "--axes=0,1"]].concat());
    let (_, same, back) = read_real(&bench.path("back.npy"));
    assert_eq!(shape, same);
    assert!((size(&there) / size(&back) - 1.0).abs() < 1e-13, "orthonormal");
    assert!(back.iter().all(|&(x, _)| (x - x.round()).abs() < 1e-9), "pixels are whole numbers");
}
