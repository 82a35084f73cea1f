//! Every kind of transform measured, in suites too, and explained.

mod support;

use serde_json::Value;
use support::Bench;

const KINDS: [&str; 15] = [
    "c2c", "full", "r2c", "c2r", "dct1", "dct2", "dct3", "dct4", "dst1", "dst2", "dst3", "dst4", "dht",
    "r2hc", "hc2r",
];

/// What measures quickly, here.
const QUICK: [&str; 6] = ["--device", "cpu", "--seconds", "0.01", "--in-cache", "--json"];

fn parsed(bench: &Bench, args: &[&str]) -> Value {
    serde_json::from_str(&bench.succeeds(args)).unwrap()
}

/// Bytes of input and output of five arrays of 8 x 6.
fn bytes(kind: &str, real: u64) -> u64 {
    let (whole, half) = (5 * 8 * 6 * real, 5 * 8 * 4 * 2 * real);
    match kind {
        "c2c" => 4 * whole,
        "full" => 3 * whole,
        "r2c" | "c2r" => whole + half,
        _ => 2 * whole,
    }
}

#[test]
fn every_kind_is_measured_in_copies_of_its_own_bytes() {
    let bench = Bench::new();
    for kind in KINDS {
        for more in [&[][..], &["--in-place"], &["--precision", "f64"]] {
            if kind == "full" && more.contains(&"--in-place") {
                continue;
            }
            let asked = [&["bench", "8x6", "--batch", "5", "--kind", kind][..], &QUICK, more].concat();
            let rows = parsed(&bench, &asked);
            let number = |name: &str| rows[0][name].as_f64().unwrap();
            assert_eq!(rows[0]["kind"], kind);
            let real = if more.contains(&"f64") { 8 } else { 4 };
            assert_eq!(rows[0]["bytes"], bytes(kind, real), "{kind} {more:?}");
            let operations = if kind == "c2c" { 5.0 } else { 2.5 } * 48.0 * 48_f64.log2() * 5.0;
            let counted = number("gflops") * number("seconds") * 1e9;
            assert!((counted / operations - 1.0).abs() < 1e-6, "{kind}: {counted} of {operations}");
            // The processor in f64 is what real data is compared with.
            assert_eq!(
                rows[0]["error"].is_null(),
                real == 8 && !["c2c", "full"].contains(&kind),
                "{kind} {more:?}"
            );
            assert!(rows[0]["error"].as_f64().is_none_or(|error| error < 1e-6), "{kind} {more:?}");
        }
    }
    let table = bench.succeeds(&["bench", "100", "--kind", "dct2", "--device", "cpu", "--seconds", "0.01"]);
    assert!(table.lines().next().unwrap().contains(", dct2, batch 1, F32"), "{table}");
}

#[test]
fn every_kind_is_explained() {
    let bench = Bench::new();
    for kind in KINDS {
        for limits in ["h200", "webgpu-min", "opencl-min"] {
            let explain = ["explain", "64", "--batch", "1000", "--kind", kind, "--limits", limits, "--json"];
            let found = parsed(&bench, &explain);
            assert!(found["passes"].as_u64().unwrap() >= 1, "{kind} {limits}");
            assert!(found["predicted_copies"].as_f64().unwrap() >= 0.9, "{kind} {limits}");
        }
    }
    let text = |more: &[&str]| bench.succeeds(&[&["explain", "512x512", "--limits", "h200"], more].concat());
    assert_ne!(text(&["--kind", "r2c"]), text(&[]));
    assert_ne!(text(&["--kind", "r2c"]), text(&["--kind", "r2c", "--in-place"]));
    assert_eq!(text(&["--kind", "dct2", "--inverse"]), text(&["--kind", "dct3"]));
    assert!(bench.succeeds(&["explain", "64", "--kind", "c2r", "--device", "sim"]).contains("pass"));
}

/// A command that explains.
fn explain<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["explain", "--limits", "h200"], more].concat()
}

#[test]
fn what_a_layout_asks_for_and_what_is_open_is_told() {
    let bench = Bench::new();
    let text = bench.succeeds(&explain(&["9", "--batch", "5", "--kind", "r2c"]));
    assert!(text.contains("by its layout: pass 2") && text.contains("an even number of lines"), "{text}");
    assert!(!bench.succeeds(&explain(&["9", "--batch", "4", "--kind", "r2c"])).contains("by its layout"));
    let found = parsed(&bench, &explain(&["9", "--batch", "5", "--kind", "r2c", "--json"]));
    assert_eq!((&found["by_layout"][0]["pass"], &found["any_batch"]), (&Value::from(2), &Value::Null));
    let open = ["64", "--batch", "1000", "--any-batch"];
    let text = bench.succeeds(&explain(&open));
    assert!(text.contains("any batch: each run says how many, 1 to 1000"), "{text}");
    let found = parsed(&bench, &explain(&[&open[..], &["--json"]].concat()));
    assert_eq!(found["any_batch"]["most"], 1000);
    assert_eq!(found["any_batch"]["distances"], serde_json::json!([64, 64]));
    assert_eq!(found["by_layout"], serde_json::json!([]));
}

#[test]
fn suites_have_every_kind() {
    let bench = Bench::new();
    let rows: String = KINDS.iter().map(|kind| format!("{kind},f32,16x6,10,all\n")).collect();
    bench.file("s.csv", format!("kind,precision,shape,batch,group\n{rows}").as_bytes());
    let run = |to: &str, more: &[&str]| {
        let suite = ["bench", "--suite", "s.csv", "--device", "cpu", "--seconds", "0.01", "--csv", to];
        bench.succeeds(&[&suite[..], more].concat())
    };
    run("o.csv", &["--peers", "--plot", "o.png"]);
    let text = std::fs::read_to_string(bench.path("o.csv")).unwrap();
    for (line, kind) in text.lines().skip(1).zip(KINDS) {
        assert!(line.starts_with(&format!("{kind},f32,16x6,10,all,memory,measured,")), "{line}");
        // Of the kinds here FFTW, where it is installed, has all but numpy's own.
        assert!(line.ends_with(',') || ["full", "hfft", "ihfft"].contains(&kind), "no note: {line}");
    }
    assert_eq!(text.lines().count(), 1 + KINDS.len());
    let out = bench.succeeds(&["bench", "--compare", "o.csv", "o.csv"]);
    assert!(out.contains("0 slower, 0 faster, 15 alike"), "{out}");
    assert!(bench.succeeds(&["bench", "--report", "o.csv"]).contains("| dst4 f32 16x6 batch 10 |"));
    let out = run("p.csv", &["--only", "dct*", "--only", "r2c 16x6"]);
    assert!(out.contains("5 rows") && out.contains("r2c f32 16x6 batch 10"), "{out}");
}

#[test]
fn kinds_that_cannot_be_are_named() {
    let bench = Bench::new();
    let cpu = ["--device", "cpu", "--seconds", "0.01"];
    bench.fails(
        2,
        &[&["bench", "1", "--kind", "dct1"], &cpu[..]].concat(),
        &["dct1", "length 1", "at least 2"],
    );
    for (kind, instead) in [("r2c", "c2r"), ("c2r", "r2c")] {
        let explain = ["explain", "64", "--kind", kind, "--inverse", "--limits", "h200"];
        bench.fails(2, &explain, &["--inverse", kind, instead]);
    }
    let full = ["explain", "64", "--kind", "full", "--in-place", "--limits", "h200"];
    bench.fails(2, &full, &["in place", "one format"]);
    bench.fails(4, &["tune", "64", "--kind", "r2c", "--device", "cpu"], &["no kernels to choose from"]);
    bench.fails(4, &["bench", "64", "--kind", "r2c", "--device", "sim"], &["cannot do time kernels"]);
    for args in [
        &["bench", "64", "--kind", "hfft"][..],
        &["tune", "64", "--kind", "dct5"],
        &["tune", "--suite", "h200-real", "--kind", "r2c"],
        &["explain", "64", "--kind", "real"],
    ] {
        let output = bench.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", support::texts(&output).1);
    }
}
