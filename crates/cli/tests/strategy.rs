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

/// What is a program of the processor goes there when the device is left open, and nowhere else.
#[test]
fn a_program_of_the_processor_runs_there() {
    let bench = Bench::new();
    let values: Vec<u8> = (0..64_u32).map(|i| (i * i % 61) as u8).collect();
    bench.file("x.npy", &npy("'|u1'", false, "(64,)", &values));
    let points: Vec<(f64, f64)> = values.iter().map(|&value| (value.into(), 0.0)).collect();
    let want = dft(&points, &[64], &[0], -1.0, 1.0);
    let ask = |device| {
        ["transform", "x.npy", "-o", "y.npy", "--strategy", "cpu-recursive", "--device", device, "--json"]
    };
    for device in ["cpu", "auto"] {
        let text = bench.succeeds(&ask(device));
        assert!(text.contains("cpu-recursive") && text.contains("\"cpu\""), "{text}");
        let (_, got) = read_complex(&bench.path("y.npy"));
        assert!(distance(&got, &want) < 1e-14, "{device}");
    }
    bench.fails(2, &ask("sim"), &["cpu-recursive", "kernels", "'cpu'"]);
    let text = bench.succeeds(&[
        "bench",
        "256",
        "--device",
        "cpu",
        "--strategy",
        "cpu-recursive",
        "--seconds",
        "0.01",
        "--json",
    ]);
    let rows: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert!(rows[0]["error"].as_f64().is_some_and(|error| error < 1e-6), "{text}");
}

/// Reals there and back by the packings of real data, and parameters after a colon.
#[test]
fn reals_and_parameters() {
    let bench = Bench::new();
    let values: Vec<u8> = (0..64_u32).map(|i| (i * i % 61) as u8).collect();
    bench.file("x.npy", &npy("'|u1'", false, "(4, 16)", &values));
    let ask = |from, to, kind, name| {
        vec![
            "transform",
            from,
            "-o",
            to,
            "--kind",
            kind,
            "--axes",
            "-1",
            "--device",
            "sim",
            "--strategy",
            name,
        ]
    };
    let points: Vec<(f64, f64)> = values.iter().map(|&value| (value.into(), 0.0)).collect();
    let whole = dft(&points, &[4, 16], &[1], -1.0, 1.0);
    let half: Vec<(f64, f64)> = whole.chunks(16).flat_map(|row| row[..9].to_vec()).collect();
    for name in ["stockham-2-halves", "stockham-2-rows"] {
        bench.succeeds(&ask("x.npy", "y.npy", "r2c", name));
        let (shape, got) = read_complex(&bench.path("y.npy"));
        assert_eq!(shape, "(4, 9)");
        assert!(distance(&got, &half) < 1e-14, "{name}");
        bench.succeeds(&ask("y.npy", "z.npy", "c2r", name));
        bench.fails(2, &ask("x.npy", "y.npy", "c2c", name), &[name, "complex", "real data"]);
    }
    for name in ["matmul:planes=3", "matmul:elements=1,planes=2"] {
        bench.succeeds(&ask("x.npy", "y.npy", "c2c", name));
        let (_, got) = read_complex(&bench.path("y.npy"));
        assert!(distance(&got, &whole) < 1e-14, "{name}");
    }
    let refused = bench.run(&ask("x.npy", "y.npy", "c2c", "matmul:planes=0"));
    let (_, error) = texts(&refused);
    assert_eq!(refused.status.code(), Some(2), "{error}");
    assert!(error.contains("planes=0") && error.contains("1 to 128"), "{error}");
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
