//! Where results go: files that are replaced whole or not at all, links, pipes and what stands behind the standard output.
#![cfg(unix)]

mod support;

use std::fs::{self, OpenOptions, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use support::{Bench, npy, read_complex, texts};

/// A bench with x.npy, of 1 and 2, whose transform is 3 and -1.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.file("x.npy", &npy("'|u1'", false, "(2,)", &[1, 2]));
    bench
}

const WANT: [(f64, f64); 2] = [(3.0, 0.0), (-1.0, 0.0)];

#[test]
fn an_output_keeps_its_link_and_its_permissions() {
    let bench = bench();
    let real = bench.file("real.npy", b"old");
    fs::set_permissions(&real, Permissions::from_mode(0o640)).unwrap();
    symlink("real.npy", bench.path("link.npy")).unwrap();
    bench.succeeds(&["transform", "x.npy", "-o", "link.npy"]);
    assert!(fs::symlink_metadata(bench.path("link.npy")).unwrap().is_symlink());
    assert_eq!(read_complex(&real).1, WANT);
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    // Who may give a file away gives the new one to the owner of the old.
    if chown(&real, Some(65534), None).is_ok() {
        bench.succeeds(&["transform", "x.npy", "-o", "link.npy"]);
        assert_eq!(fs::metadata(&real).unwrap().uid(), 65534);
    }
    // A link to what is not there yet.
    symlink("new.npy", bench.path("other.npy")).unwrap();
    bench.succeeds(&["transform", "x.npy", "-o", "other.npy"]);
    assert!(fs::symlink_metadata(bench.path("other.npy")).unwrap().is_symlink());
    assert_eq!(read_complex(&bench.path("new.npy")).1, WANT);
}

#[test]
fn a_protected_output_stays_as_it_is() {
    let bench = bench();
    let kept = bench.file("kept.npy", b"old");
    fs::set_permissions(&kept, Permissions::from_mode(0o444)).unwrap();
    if OpenOptions::new().write(true).open(&kept).is_ok() {
        // Nothing is protected from the machine's administrator.
        bench.succeeds(&["transform", "x.npy", "-o", "kept.npy"]);
        assert_eq!(read_complex(&kept).1, WANT);
    } else {
        bench.fails(5, &["transform", "x.npy", "-o", "kept.npy"], &["cannot write kept.npy", "unchanged"]);
        assert_eq!(fs::read(&kept).unwrap(), b"old");
    }
}

#[test]
fn one_place_is_not_given_to_two_results() {
    let bench = bench();
    symlink("res", bench.path("way")).unwrap();
    for plot in ["res", "./res", "way"] {
        bench.fails(2, &["transform", "x.npy", "-o", "res", "--plot", plot], &["res"]);
    }
    assert_eq!(bench.names(), ["way", "x.npy"]);
}

#[test]
fn the_standard_output_is_added_to() {
    let bench = bench();
    let log = bench.file("log", b"before\n");
    for _ in 0..2 {
        let run = Command::new(env!("CARGO_BIN_EXE_warpfft"))
            .args(["transform", "x.npy", "-o", "/dev/stdout", "--json", "--device", "cpu"])
            .current_dir(bench.path(""))
            .stdout(OpenOptions::new().append(true).open(&log).unwrap())
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", texts(&run).1);
        // What is told about it goes elsewhere, so that it can be parsed, and the array too.
        let about: serde_json::Value = serde_json::from_slice(&run.stderr).unwrap();
        assert_eq!(about["output_shape"], serde_json::json!([2]));
    }
    bench.succeeds(&["transform", "x.npy", "-o", "y.npy", "--device", "cpu"]);
    let array = fs::read(bench.path("y.npy")).unwrap();
    assert_eq!(fs::read(&log).unwrap(), [&b"before\n"[..], &array, &array].concat());
}

#[test]
fn rows_end_with_the_one_under_way() {
    let mut run = Command::new(env!("CARGO_BIN_EXE_warpfft"))
        .args(["bench", "--device", "cpu", "--seconds", "0.3"])
        .args(["64"; 200])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(run.stdout.take().unwrap()).lines();
    // Two lines of a heading, and a row: it listens.
    for _ in 0..3 {
        lines.next().unwrap().unwrap();
    }
    assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
    let left = lines.count();
    let ended = run.wait_with_output().unwrap();
    let (_, err) = texts(&ended);
    assert_eq!(ended.status.code(), Some(130), "{err}");
    assert!(left < 100 && err.contains("rows left"), "{left} more rows: {err}");
}

#[test]
fn what_is_interrupted_leaves_nothing_behind() {
    let bench = Bench::new();
    // The simulator takes minutes for it.
    let points = 1 << 21;
    bench.file("x.npy", &npy("'|u1'", false, &format!("({points},)"), &vec![1; points]));
    let kept = bench.file("y.npy", b"kept");
    let run = Command::new(env!("CARGO_BIN_EXE_warpfft"))
        .args(["transform", "x.npy", "-o", "y.npy", "--device", "sim"])
        .current_dir(bench.path(""))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while !bench.names().iter().any(|name| name.ends_with(".part")) {
        assert!(started.elapsed() < Duration::from_secs(60), "it never began to write");
        std::thread::sleep(Duration::from_millis(5));
    }
    // So that it has begun to listen as well.
    std::thread::sleep(Duration::from_millis(200));
    assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
    let ended = run.wait_with_output().unwrap();
    let (_, err) = texts(&ended);
    assert_eq!(ended.status.code(), Some(130), "{err}");
    assert!(err.contains("interrupted"), "{err}");
    assert_eq!(fs::read(kept).unwrap(), b"kept");
    assert_eq!(bench.names(), ["x.npy", "y.npy"]);
}
