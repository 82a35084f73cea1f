//! Tuning and wisdom on the command line, on devices that every machine has.

mod support;

use support::{Bench, npy, texts};
use warpfft::core::recipe::candidates;
use warpfft::core::request::Fft;
use warpfft::core::target::Limits;
use warpfft::wisdom::{Entry, Wisdom};

/// An entry that the compiler offers now: not its own choice, but the next best.
fn entry() -> String {
    let problem = Fft::new([1000]).batch(3).build().unwrap();
    let found = candidates(&problem, &Limits::h200(), 2).unwrap();
    let recipe = serde_json::to_string(&found[1].recipe).unwrap();
    format!(
        r#"{{"device":"simulated h200","problem":"c2c f32 1000 batch 3","copies":1.05,"version":"0.1.0","date":"2026-11-21","recipe":{recipe}}}"#
    )
}

fn wisdom(entries: &str) -> Vec<u8> {
    format!("{{\n  \"format\": 1,\n  \"entries\": [\n{entries}\n  ]\n}}\n").into_bytes()
}

#[test]
fn entries_are_listed_imported_and_exported() {
    let bench = Bench::new();
    bench.file("a.json", &wisdom(&entry()));
    bench.file("b.json", &wisdom(&entry().replace("1000", "999")));
    let listed = bench.succeeds(&["wisdom", "list", "a.json"]);
    for words in ["simulated h200\n", "c2c f32 1000 batch 3", "1.050 copies", "2026-11-21", "(mixed-radix"] {
        assert!(listed.contains(words), "no '{words}' in {listed}");
    }
    assert!(bench.succeeds(&["wisdom", "import", "a.json", "-o", "b.json"]).contains("1 written to b.json"));
    let both = bench.succeeds(&["wisdom", "list", "b.json", "--json"]);
    assert_eq!(both.matches("\"problem\"").count(), 2, "{both}");
    bench.succeeds(&["wisdom", "import", "b.json"]);
    assert_eq!(
        std::fs::read(bench.path("b.json")).unwrap(),
        std::fs::read(bench.path("wisdom.json")).unwrap()
    );
    assert!(bench.succeeds(&["wisdom", "export", "c.json"]).contains("written to c.json"));
    bench.succeeds(&["wisdom", "list"]);
}

#[test]
fn the_environment_names_a_file_that_is_followed_or_refused() {
    let bench = Bench::new();
    bench.file("mine.json", &wisdom(&entry()));
    let with = |name: &str, args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_warpfft"));
        command.args(args).current_dir(bench.path(".")).env("WARPFFT_WISDOM", name).output().unwrap()
    };
    let (out, err) = texts(&with("mine.json", &["wisdom", "list"]));
    assert!(out.contains("c2c f32 1000 batch 3"), "{out}{err}");
    bench.file("bad.json", &wisdom(&entry().replace("\"date\"", "\"day\"")));
    let output = with("bad.json", &["wisdom", "list"]);
    let (_, err) = texts(&output);
    assert_eq!(output.status.code(), Some(3), "{err}");
    assert!(err.contains("wisdom bad.json, line 4") && err.contains("day"), "{err}");
    // Planning on a device with kernels looks it up, and says the same.
    bench.file("x.npy", &npy("'|u1'", false, "(4,)", &[1, 2, 3, 4]));
    let run = ["transform", "x.npy", "-o", "y.npy", "--device", "sim"];
    let output = with("bad.json", &run);
    let (_, err) = texts(&output);
    assert!(output.status.code() == Some(3) && err.contains("wisdom bad.json, line 4"), "{err}");
    assert!(with("mine.json", &run).status.success());
    let explained = ["explain", "1000", "--batch", "3", "--device", "sim"];
    let (by_wisdom, _) = texts(&with("mine.json", &explained));
    assert!(by_wisdom.contains("by wisdom, not by the model"), "{by_wisdom}");
    bench.file("stale.json", &wisdom(&entry().replace("\"threads\":", "\"threads\":9")));
    let (by_model, _) = texts(&with("stale.json", &explained));
    assert!(by_model.contains("1 pass") && !by_model.contains("by wisdom"), "{by_model}");
    // The processor has no kernels to choose from, and does not look.
    assert!(with("bad.json", &["transform", "x.npy", "-o", "y.npy", "--device", "cpu"]).status.success());
}

#[test]
fn entries_of_real_data_serve_other_batches_too() {
    let bench = Bench::new();
    let problem = |batch| Fft::new([1000]).r2c().batch(batch).build().unwrap();
    let found = candidates(&problem(3), &Limits::h200(), 2).unwrap();
    let mut wisdom = Wisdom::new();
    wisdom.insert(Entry::new("simulated h200", &problem(3), &found[found.len() - 1].recipe, None, None));
    bench.file("real.json", wisdom.to_text().as_bytes());
    let explained = |kind: &str, batch: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_warpfft"));
        command.args(["explain", "1000", "--kind", kind, "--batch", batch, "--device", "sim"]);
        texts(&command.env("WARPFFT_WISDOM", bench.path("real.json")).output().unwrap()).0
    };
    for (kind, batch, by_wisdom) in [
        ("r2c", "3", true),
        ("r2c", "4", true),
        ("r2c", "90", false),
        ("c2r", "3", false),
        ("c2c", "3", false),
    ] {
        let text = explained(kind, batch);
        assert_eq!(text.contains("by wisdom, not by the model"), by_wisdom, "{kind} {batch}: {text}");
        assert!(text.contains("1 pass"), "{text}");
    }
}

#[test]
fn what_cannot_be_tuned_is_named() {
    let bench = Bench::new();
    bench.fails(4, &["tune", "64", "--device", "cpu"], &["no kernels to choose from", "GPU"]);
    bench.fails(4, &["tune", "64", "--device", "sim", "--budget", "1s"], &["cannot do time kernels"]);
    bench.file("bad.json", b"{\n\"format\": 1,\n\"entries\": 3}\n");
    bench.fails(3, &["tune", "64", "-o", "bad.json", "--device", "sim"], &["wisdom bad.json, line 3"]);
    bench.fails(3, &["wisdom", "list", "absent.json"], &["wisdom absent.json", "No such file"]);
    bench.fails(5, &["tune", "64", "--device", "sim", "-o", "no/such/place.json"], &["place.json"]);
    for args in [
        &["tune"][..],
        &["tune", "8x"],
        &["tune", "64", "--budget", "soon"],
        &["tune", "--suite", "h200", "64"],
        &["wisdom"],
        &["wisdom", "import"],
    ] {
        assert_eq!(bench.run(args).status.code(), Some(2), "{args:?}");
    }
    assert_eq!(bench.names(), ["bad.json"], "nothing is left behind");
}
