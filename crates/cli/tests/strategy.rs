//! `transform --strategy`: a published algorithm by name, on the simulator.

mod support;

use support::{Bench, dft, distance, npy, read_complex, texts};

#[test]
fn a_strategy_transforms_a_file() {
    let bench = Bench::new();
    let values: Vec<u8> = (0..64_u32).map(|i| (i * i % 61) as u8).collect();
    bench.file("x.npy", &npy("'|u1'", false, "(64,)", &values));
    let points: Vec<(f64, f64)> = values.iter().map(|&value| (value.into(), 0.0)).collect();
    let want = dft(&points, &[64], &[0], -1.0, 1.0);
    for name in ["stockham-2", "fft4", "locality", "matmul"] {
        let text = bench.succeeds(&[
            "transform",
            "x.npy",
            "-o",
            "y.npy",
            "--device",
            "sim",
            "--strategy",
            name,
            "--json",
        ]);
        assert!(text.contains(name), "{text}");
        let (shape, got) = read_complex(&bench.path("y.npy"));
        assert_eq!(shape, "(64,)");
        assert!(distance(&got, &want) < 1e-14, "{name}");
    }
}

#[test]
fn what_a_strategy_cannot_is_said() {
    let bench = Bench::new();
    bench.file("x.npy", &npy("'|u1'", false, "(12,)", &[1; 12]));
    let ask = |name, device| ["transform", "x.npy", "-o", "y.npy", "--strategy", name, "--device", device];
    bench.fails(2, &ask("stockham-2", "sim"), &["stockham-2", "12", "powers of two"]);
    let unknown = bench.run(&ask("fft5", "sim"));
    let (_, error) = texts(&unknown);
    assert_eq!(unknown.status.code(), Some(2), "{error}");
    assert!(["fft5", "fft4", "matmul"].iter().all(|name| error.contains(name)), "{error}");
    bench.fails(4, &ask("matmul", "cpu"), &["matmul", "kernels", "sim"]);
    let help = bench.succeeds(&["transform", "--help"]);
    for word in ["stockham-2", "Scarpaci", "keskin-3d"] {
        assert!(help.contains(word), "{word}: {help}");
    }
}

#[test]
fn a_strategy_is_measured() {
    let bench = Bench::new();
    let ask =
        |n, device| ["bench", n, "--device", device, "--strategy", "fft4", "--seconds", "0.01", "--json"];
    bench.fails(2, &ask("60", "sim"), &["fft4", "60", "powers of two"]);
    bench.fails(4, &ask("64", "sim"), &["simulator", "time"]);
    let both = bench.run(&["bench", "--suite", "h200", "--strategy", "fft4"]);
    assert_eq!(both.status.code(), Some(2));
    let mut measured = 0;
    for device in ["cuda", "wgpu", "opencl"] {
        let output = bench.run(&ask("64", device));
        let (text, error) = texts(&output);
        if !output.status.success() {
            println!("{device} skipped: {error}");
            assert!(error.contains("usable") || error.contains("built"), "{device}: {error}");
            continue;
        }
        let rows: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        assert_eq!(rows[0]["strategy"], "fft4", "{device}");
        assert!(rows[0]["error"].as_f64().is_some_and(|error| error < 1e-6), "{device}: {rows}");
        measured += 1;
    }
    println!("measured on {measured} devices");
}
