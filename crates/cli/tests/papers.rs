//! `papers` at its small scale: pages, numbers, and what is typed wrong.

mod support;

use std::path::Path;

use support::{Bench, texts};

const NAMES: [&str; 5] = ["romero", "mitra", "keskin", "scarpaci", "lloyd"];

/// What runs everything quickly.
const QUICK: [&str; 7] = ["papers", "--scale", "small", "--seconds", "0.001", "-o", "report"];

fn quick<'a>(more: &[&'a str]) -> Vec<&'a str> {
    QUICK.iter().chain(more).copied().collect()
}

/// Lines of a file of numbers, as pairs of column and value.
fn rows(path: &Path) -> Vec<Vec<(String, String)>> {
    let mut reader = csv::Reader::from_path(path).expect("there is a file of numbers");
    let header: Vec<String> = reader.headers().expect("it has a header").iter().map(Into::into).collect();
    let pairs =
        |record: csv::StringRecord| header.iter().cloned().zip(record.iter().map(Into::into)).collect();
    reader.records().map(|record| pairs(record.expect("lines are whole"))).collect()
}

fn column<'a>(row: &'a [(String, String)], name: &str) -> &'a str {
    &row.iter().find(|(own, _)| own == name).unwrap_or_else(|| panic!("{name} in {row:?}")).1
}

/// Checks a paper's page and numbers; returns the series that were measured.
fn checked(bench: &Bench, name: &str) -> Vec<String> {
    let page = std::fs::read_to_string(bench.path(&format!("report/{name}.html"))).expect("there is a page");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"), "{name}");
    let figures = page.matches("<figure id=").count();
    assert!(figures > 0 && page.matches("<svg").count() == figures, "{name}: {figures}");
    for outside in ["<script", "<link", "<img", "src="] {
        assert!(!page.contains(outside), "{name} holds all that it shows: {outside}");
    }
    let mut series = Vec::new();
    for row in rows(&bench.path(&format!("report/{name}.csv"))) {
        assert_eq!(column(&row, "paper"), name);
        let number = |name| column(&row, name).parse::<f64>().ok();
        if column(&row, "source") != "measured" {
            assert!(column(&row, "source").starts_with("http"), "{row:?}");
            continue;
        }
        let experiment = column(&row, "experiment");
        assert!(page.contains(&format!("<h2 id=\"{experiment}\"")), "{name} shows {experiment}");
        assert!(number("seconds").is_some_and(|value| value > 0.0), "{row:?}");
        if column(&row, "unit") != "x" {
            assert!(number("value").is_some_and(|value| value > 0.0), "{row:?}");
        }
        assert!(number("error").is_none_or(|error| error < 1e-5), "{row:?}");
        series.push(column(&row, "series").to_owned());
    }
    assert!(!series.is_empty(), "{name} has numbers");
    series
}

#[test]
fn all_papers_are_written_on_the_processor() {
    let bench = Bench::new();
    let out = bench.succeeds(&quick(&["--device", "cpu"]));
    for name in NAMES {
        assert!(out.contains(name), "{out}");
        let series = checked(&bench, name);
        assert!(
            series.iter().any(|series| series.contains("planner") || series.contains("doubles")),
            "{name}"
        );
    }
    let index = std::fs::read_to_string(bench.path("report/index.html")).expect("there is an index");
    assert!(NAMES.iter().all(|name| index.contains(&format!("href=\"{name}.html\""))), "{index}");
    let romero = std::fs::read_to_string(bench.path("report/romero.html")).expect("there is a page");
    assert!(romero.contains("locality: nothing at") && romero.contains("kernels"), "gaps are named");
    let keskin = std::fs::read_to_string(bench.path("report/keskin.html")).expect("there is a page");
    assert!(keskin.contains("486 GFLOPS") && keskin.contains("https://pdfslide.us/"));
}

#[test]
fn the_papers_algorithms_run_on_every_device_with_kernels() {
    for device in ["cuda", "wgpu", "opencl"] {
        let bench = Bench::new();
        let output = bench.run(&quick(&["keskin", "scarpaci", "--device", device]));
        let (_, error) = texts(&output);
        if !output.status.success() {
            println!("{device} skipped: {error}");
            assert!(error.contains("usable") || error.contains("built"), "{device}: {error}");
            continue;
        }
        let keskin = checked(&bench, "keskin");
        assert!(keskin.iter().any(|series| series == "keskin-3d"), "{device}: {keskin:?}");
        let scarpaci = checked(&bench, "scarpaci");
        for name in ["fft1", "fft2", "fft3", "fft3-compact", "fft4", "the processor's"] {
            assert!(scarpaci.iter().any(|series| series == name), "{device}: {name} in {scarpaci:?}");
        }
        let names = std::fs::read_dir(bench.path("report")).expect("there is a folder").count();
        assert_eq!(names, 5, "two papers of two files, and the index");
    }
}

#[test]
fn without_time_there_are_pages_without_points() {
    let bench = Bench::new();
    let out = bench.succeeds(&quick(&["keskin", "--device", "cpu", "--budget", "0.000001"]));
    assert!(out.contains("not measured"), "{out}");
    let page = std::fs::read_to_string(bench.path("report/keskin.html")).expect("there is a page");
    assert!(page.contains("--budget"), "the page says why");
}

#[test]
fn what_is_typed_wrong_is_named() {
    let bench = Bench::new();
    let unknown = bench.run(&["papers", "frigo"]);
    let (_, error) = texts(&unknown);
    assert_eq!(unknown.status.code(), Some(2), "{error}");
    assert!(NAMES.iter().all(|name| error.contains(name)) && error.contains("frigo"), "{error}");
    bench.fails(4, &["papers", "keskin", "--device", "sim"], &["simulated", "time", "--device"]);
    bench.file("file", b"in the way");
    let asked = ["papers", "keskin", "--device", "cpu", "-o", "file/report"];
    bench.fails(5, &asked, &["cannot write file/report", "nothing was left behind"]);
    bench.fails(5, &["papers", "keskin", "--device", "cpu", "-o", "file"], &["cannot write file"]);
    assert_eq!(bench.names(), ["file"], "nothing is left behind");
    let help = bench.succeeds(&["papers", "--help"]);
    assert!(NAMES.iter().all(|name| help.contains(name)), "{help}");
}
