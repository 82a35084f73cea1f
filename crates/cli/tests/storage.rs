//! Numbers of 16 bits in files and in measurements.

mod support;

use half::{bf16, f16};
use support::{Bench, npy};

/// Descriptor, shape and data of a .npy file.
fn parts(bytes: &[u8]) -> (String, &[u8]) {
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    (String::from_utf8_lossy(&bytes[10..10 + length]).into_owned(), &bytes[10 + length..])
}

fn halves(data: &[u8]) -> Vec<f32> {
    data.chunks_exact(2).map(|x| f16::from_le_bytes([x[0], x[1]]).to_f32()).collect()
}

#[test]
fn half_precision_goes_out_in_pairs_and_comes_back() {
    let bench = Bench::new();
    let values: Vec<f16> = (0..12).map(|i| f16::from_f32((i * i % 7) as f32)).collect();
    let data: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    bench.file("x.npy", &npy("'<f2'", false, "(3, 4)", &data));
    let run = |args: &[&str]| bench.succeeds(&[&["transform"], args, &["--device", "cpu"]].concat());
    let out = run(&["x.npy", "-o", "y.npy", "--storage", "f16"]);
    assert!(out.contains("float16 pairs"), "{out}");
    let bytes = std::fs::read(bench.path("y.npy")).unwrap();
    let (header, spectrum) = parts(&bytes);
    assert!(header.contains("'<f2'") && header.contains("(3, 4, 2)"), "{header}");
    let sum: f32 = values.iter().map(|x| x.to_f32()).sum();
    assert_eq!(halves(spectrum)[..2], [sum, 0.0]);
    run(&["y.npy", "-o", "z.npy", "--storage", "f16", "--pairs", "--inverse"]);
    let bytes = std::fs::read(bench.path("z.npy")).unwrap();
    for (pair, x) in halves(parts(&bytes).1).chunks(2).zip(&values) {
        assert!((pair[0] - x.to_f32()).abs() < 0.01 && pair[1].abs() < 0.01, "{pair:?} {x}");
    }
    // Reals stay reals, and half of a spectrum is in pairs.
    run(&["x.npy", "-o", "c.npy", "--storage", "f16", "--kind", "dct2"]);
    let bytes = std::fs::read(bench.path("c.npy")).unwrap();
    assert!(parts(&bytes).0.contains("'<f2'") && parts(&bytes).0.contains("(3, 4)"));
    run(&["x.npy", "-o", "h.npy", "--storage", "f16", "--kind", "r2c"]);
    assert!(parts(&std::fs::read(bench.path("h.npy")).unwrap()).0.contains("(3, 3, 2)"));
    bench.fails(2, &["transform", "x.npy", "-o", "w.npy", "--pairs"], &["holds no pairs", "last axis"]);
}

#[test]
fn brain_floats_are_raw_numbers_to_numpy() {
    let bench = Bench::new();
    let data: Vec<u8> = (0..8).flat_map(|i| bf16::from_f32(i as f32).to_le_bytes()).collect();
    bench.file("x.npy", &npy("'<V2'", false, "(8,)", &data));
    bench.succeeds(&["transform", "x.npy", "-o", "y.npy", "--storage", "bf16", "--device", "cpu"]);
    let bytes = std::fs::read(bench.path("y.npy")).unwrap();
    let (header, spectrum) = parts(&bytes);
    assert!(header.contains("'<V2'") && header.contains("(8, 2)"), "{header}");
    assert_eq!(bf16::from_le_bytes([spectrum[0], spectrum[1]]), bf16::from_f32(28.0));
    // Without a word about storage they are numbers like others.
    bench.succeeds(&["transform", "x.npy", "-o", "y.npy", "--device", "cpu"]);
    assert!(parts(&std::fs::read(bench.path("y.npy")).unwrap()).0.contains("'<c8'"));
}

#[test]
fn measurements_and_plans_take_storage() {
    let bench = Bench::new();
    let quick = ["--device", "cpu", "--seconds", "0.01", "--json"];
    let out = bench.succeeds(&[&["bench", "64", "--storage", "bf16", "--batch", "10"][..], &quick].concat());
    assert!(out.contains("\"storage\": \"bf16\"") && out.contains("\"bytes\": 5120"), "{out}");
    let explain = ["explain", "1024", "--batch", "1000", "--limits", "h200"];
    let [plain, half] =
        [&explain[..], &[&explain[..], &["--storage", "f16"]].concat()].map(|args| bench.succeeds(args));
    assert_ne!(plain, half, "other tiles, and other bytes");
}
