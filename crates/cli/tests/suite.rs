//! Suites on the processor: rows as they come, going on, comparing, reporting, and everything typed wrong.

mod support;

use support::{Bench, texts};

const SUITE: &[u8] = b"# three rows\nkind,precision,shape,batch,group\n\
    c2c,f32,64,100,rows\ndct1,f32,1x64,100,odd\nc2c,f64,8x8,10,planes\n";

/// What measures everything quickly, here.
const QUICK: [&str; 8] = ["bench", "--suite", "s.csv", "--device", "cpu", "--seconds", "0.01", "--csv"];

fn quick<'a>(more: &[&'a str]) -> Vec<&'a str> {
    QUICK.iter().chain(more).copied().collect()
}

#[test]
fn a_suite_is_measured_written_drawn_and_gone_on_with() {
    let bench = Bench::new();
    bench.file("s.csv", SUITE);
    let out = bench.succeeds(&quick(&["o.csv", "--only", "64", "--only", "*x64", "--plot", "o.png"]));
    assert!(out.contains("c2c f32 64 batch 100") && out.contains("copies"), "{out}");
    assert!(out.contains("skipped: dct1"), "{out}");
    assert!(!out.contains("8x8"), "{out}");
    assert!(std::fs::read(bench.path("o.png")).unwrap().starts_with(b"\x89PNG"));
    let first = std::fs::read_to_string(bench.path("o.csv")).unwrap();
    assert_eq!(first.lines().count(), 3);
    assert!(first.lines().nth(1).unwrap().starts_with("c2c,f32,64,100,rows,memory,measured,"));
    assert!(first.lines().nth(2).unwrap().starts_with("dct1,f32,1x64,100,odd,memory,skipped,"));

    bench.fails(2, &quick(&["o.csv"]), &["o.csv is there already", "--resume"]);
    let out = bench.succeeds(&quick(&["o.csv", "--resume"]));
    assert!(out.contains("1 row, 2 are there already") && out.contains("8x8"), "{out}");
    let all = std::fs::read_to_string(bench.path("o.csv")).unwrap();
    assert!(all.starts_with(&first) && all.lines().count() == 4);
    assert!(bench.succeeds(&quick(&["o.csv", "--resume"])).contains("0 rows, 3 are there"));
}

/// A record that cannot be read compares with nothing.
#[test]
fn records_can_be_read_and_have_all_rows_of_their_suites() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench");
    let bench = Bench::new();
    for (record, suite) in [
        ("h200-suite", "h200"),
        ("h200-estimate", "h200"),
        ("h200-real", "h200-real"),
        ("h200-half", "h200-half"),
    ] {
        let text = std::fs::read_to_string(format!("{folder}/suites/{suite}.csv")).unwrap();
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let rows = lines.count() - 1;
        let record = format!("{folder}/{record}.csv");
        let out = bench.succeeds(&["bench", "--compare", &record, &record]);
        assert!(out.contains(&format!("0 slower, 0 faster, {rows} alike, 0 new")), "{record}: {out}");
    }
}

#[test]
fn results_are_compared_and_reported() {
    let bench = Bench::new();
    bench.file("s.csv", SUITE);
    bench.succeeds(&quick(&["old.csv"]));
    assert!(bench.succeeds(&["bench", "--compare", "old.csv", "old.csv"]).contains("0 slower"));
    let text = std::fs::read_to_string(bench.path("old.csv")).unwrap();
    let line = text.lines().nth(1).unwrap();
    let copies = line.split(',').nth(7).unwrap();
    bench.file("new.csv", text.replace(line, &line.replacen(copies, "5000", 1)).as_bytes());
    let output = bench.run(&["bench", "--compare", "old.csv", "new.csv", "--tolerance", "10%"]);
    let (out, err) = texts(&output);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(out.contains("slower  c2c f32 64 batch 100"), "{out}");
    assert!(err.contains("1 rows are slower by more than 10%"), "{err}");

    let page =
        "# Page\n\n<!-- figures: written by warpfft bench --report -->\n<!-- end of figures -->\n\nend\n";
    bench.file("page.md", page.as_bytes());
    bench.succeeds(&["bench", "--report", "new.csv", "--into", "page.md", "--plot", "p.png"]);
    let page = std::fs::read_to_string(bench.path("page.md")).unwrap();
    assert!(page.contains("| c2c f32 64 batch 100 | 5000.000 |") && page.ends_with("\n\nend\n"), "{page}");
    assert!(bench.path("p.png").exists());
    bench.file("bare.md", b"# Page\n");
    bench.fails(3, &["bench", "--report", "new.csv", "--into", "bare.md"], &["bare.md", "no lines"]);
}

#[test]
fn rows_may_work_on_data_in_the_cache() {
    let bench = Bench::new();
    bench.file("s.csv", b"kind,precision,shape,batch,data\nc2c,f32,64,1,cache\nc2c,f32,64,2,memory\n");
    bench.succeeds(&quick(&["o.csv"]));
    let text = std::fs::read_to_string(bench.path("o.csv")).unwrap();
    assert!(text.contains("c2c,f32,64,1,,cache,measured") && text.contains("c2c,f32,64,2,,memory,measured"));
    let sets = |more: &[&str]| {
        let args = ["bench", "64", "--device", "cpu", "--seconds", "0.01", "--json"];
        let out = bench.succeeds(&args.iter().chain(more).copied().collect::<Vec<_>>());
        let rows: serde_json::Value = serde_json::from_str(&out).unwrap();
        rows[0]["buffer_sets"].as_u64().unwrap()
    };
    assert_eq!(sets(&["--in-cache"]), 1);
    assert!(sets(&[]) > 1000);
    bench.file("bad.csv", b"kind,precision,shape,batch,data\nc2c,f32,64,1,disk\n");
    bench.fails(3, &["bench", "--suite", "bad.csv", "--device", "cpu"], &["line 2", "disk"]);
}

#[test]
fn out_of_time_keeps_what_there_is() {
    let bench = Bench::new();
    bench.file("s.csv", SUITE);
    let args = quick(&["o.csv", "--budget", "0.000001", "--plot", "o.png"]);
    bench.fails(130, &args, &["stopped with", "rows left", "--resume"]);
    // The first row may have been under way before the time was over.
    assert!(std::fs::read_to_string(bench.path("o.csv")).unwrap().lines().count() <= 2);
    assert!(bench.path("o.png").exists());
}

#[cfg(unix)]
#[test]
fn an_interrupt_finishes_the_row_and_keeps_all() {
    let bench = Bench::new();
    let rows: String = (0..200).map(|batch| format!("c2c,f32,16,{}\n", batch + 1)).collect();
    bench.file("s.csv", format!("kind,precision,shape,batch\n{rows}").as_bytes());
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_warpfft"))
        .args(quick(&["o.csv", "--plot", "o.png"]))
        .current_dir(bench.path("."))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines = || std::fs::read_to_string(bench.path("o.csv")).map_or(0, |text| text.lines().count());
    while lines() < 3 {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(killed.unwrap().success());
    let output = child.wait_with_output().unwrap();
    let (_, err) = texts(&output);
    assert_eq!(output.status.code(), Some(130), "{err}");
    assert!(err.contains("stops after this row") && err.contains("--resume goes on"), "{err}");
    let text = std::fs::read_to_string(bench.path("o.csv")).unwrap();
    let columns = |line: &str| line.matches(',').count();
    let header = columns(text.lines().next().unwrap());
    assert!(text.ends_with('\n') && text.lines().all(|line| columns(line) == header), "{text}");
    assert!((3..201).contains(&text.lines().count()));
    assert!(bench.path("o.png").exists());
}

#[test]
fn other_libraries_are_named_with_what_is_missing() {
    let bench = Bench::new();
    bench.file("s.csv", SUITE);
    let out = bench.succeeds(&quick(&["o.csv", "--peers"]));
    assert!(out.contains("FFTW") && (out.contains("beside") || out.contains("is left out")), "{out}");
}

#[test]
fn other_libraries_are_timed_beside_shapes_too() {
    let bench = Bench::new();
    let args = ["bench", "12", "4x6", "--kind", "r2c", "--device", "cpu", "--seconds", "0.01", "--peers"];
    let out = bench.succeeds(&args);
    let there = out.contains("beside");
    assert!(there || out.contains("is left out"), "{out}");
    assert!(out.lines().skip(3).all(|row| row.contains("  FFTW ") == there), "{out}");
    let rows: serde_json::Value =
        serde_json::from_str(&bench.succeeds(&[&args[..], &["--json"]].concat())).unwrap();
    for row in rows.as_array().unwrap() {
        let peer = &row["peers"][0];
        assert_eq!(peer["library"], "FFTW");
        assert_eq!(peer["times"].as_array().unwrap().len(), usize::from(there), "{peer}");
        assert_eq!(peer["error"].is_null(), there, "{peer}");
        assert!(!there || peer["times"][0]["copies"].as_f64().unwrap() > 0.0, "{peer}");
    }
    for other in [["--on-host", "streamed"], ["--convolve", "64:5"], ["--report", "a.csv"]] {
        let output = bench.run(&[&["bench", "64", "--peers"][..], &other].concat());
        assert_eq!(output.status.code(), Some(2), "{other:?}");
    }
}

#[test]
fn what_is_typed_wrong_is_named() {
    let bench = Bench::new();
    bench.file("s.csv", SUITE);
    bench.file("bad.csv", b"kind,precision,shape,batch\nc2c,f32,64,1\nc2c,f32,6y4,1\n");
    let fails = |code, args: &[&str], words: &[&str]| bench.fails(code, args, words);
    fails(
        3,
        &["bench", "--suite", "absent", "--device", "cpu"],
        &["cannot read the suite absent", "h200-real"],
    );
    fails(3, &["bench", "--suite", "bad.csv", "--device", "cpu"], &["line 3", "6y4"]);
    fails(2, &["bench", "--suite", "s.csv", "--only", "c2d", "--device", "cpu"], &["'c2d'", "words"]);
    fails(4, &["bench", "--suite", "s.csv", "--device", "sim"], &["cannot do measure time"]);
    fails(3, &["bench", "--compare", "s.csv", "s.csv"], &["s.csv", "line 3"]);
    fails(3, &["bench", "--compare", "none.csv", "s.csv"], &["cannot read none.csv"]);
    fails(3, &["bench", "--report", "s.csv"], &["s.csv", "line 3"]);
    for args in [
        &["bench"][..],
        &["bench", "--suite", "h200", "64"],
        &["bench", "--suite", "h200-real", "--kind", "r2c"],
        &["bench", "--only", "64", "64"],
        &["bench", "--resume", "--suite", "h200"],
        &["bench", "--suite", "h200", "--plot", "x.jpg"],
        &["bench", "--suite", "h200", "--budget", "-1"],
        &["bench", "--compare", "a.csv"],
        &["bench", "--compare", "a.csv", "b.csv", "--tolerance", "much"],
        &["bench", "64", "--into", "page.md"],
    ] {
        let output = bench.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", texts(&output).1);
    }
    let before = bench.names();
    assert_eq!(before, ["bad.csv", "s.csv"], "nothing is left behind");
}
