//! Whatever goes wrong: one clear line, an exit code that says whose fault it was, no panic, no partial file.

mod support;

use support::{Bench, npy};

fn transform(bench: &Bench, code: i32, bytes: &[u8], more: &[&str], words: &[&str]) {
    let kept = bench.file("out.npy", b"kept");
    bench.file("in", bytes);
    let before = bench.names();
    let mut args = vec!["transform", "in", "-o", "out.npy"];
    args.extend(more);
    if !more.contains(&"--device") {
        args.extend(["--device", "cpu"]);
    }
    bench.fails(code, &args, words);
    assert_eq!(std::fs::read(kept).unwrap(), b"kept", "an existing output must stay as it is");
    assert_eq!(bench.names(), before, "nothing may be left behind");
}

fn good() -> Vec<u8> {
    let data: Vec<u8> = (0..24_i16).flat_map(i16::to_le_bytes).collect();
    npy("'<i2'", false, "(2, 3, 4)", &data)
}

#[test]
fn inputs_that_are_no_arrays() {
    let bench = Bench::new();
    bench.fails(3, &["transform", "absent.npy", "-o", "y.npy"], &["cannot read absent.npy"]);
    bench.fails(3, &["transform", ".", "-o", "y.npy"], &["a folder"]);
    transform(&bench, 3, b"", &[], &["empty (0 bytes)", ".npy"]);
    transform(&bench, 3, b"hello, world, hello", &[], &["no known kind"]);
    transform(&bench, 3, b"PK\x03\x04 and more", &[], &[".npz"]);
    transform(&bench, 3, b"\x93NUMPY", &[], &["within its header"]);
    transform(&bench, 3, b"\x93NUMPY\x09\x00\x10\x00{}", &[], &["version is 9"]);
    transform(&bench, 3, b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}", &[], &["4294967295 bytes long"]);
    transform(&bench, 3, &npy("'<f8'", false, "(two,)", &[]), &[], &["'two"]);
}

#[test]
fn every_cut_of_a_file_is_refused() {
    let bench = Bench::new();
    let whole = good();
    for length in (0..whole.len()).step_by(3) {
        transform(&bench, 3, &whole[..length], &[], &["in "]);
    }
    transform(&bench, 3, &whole[..whole.len() - 1], &[], &["truncated", "48 bytes", "47"]);
}

#[test]
fn dtypes_that_are_no_numbers() {
    let bench = Bench::new();
    for (descr, word) in [
        ("'|O'", "Python objects"),
        ("'<U8'", "text"),
        ("'<M8[s]'", "dates"),
        ("'<f16'", "extended precision"),
        ("[('x', '<f4'), ('y', '<f4')]", "several fields"),
    ] {
        transform(&bench, 3, &npy(descr, false, "(3,)", &[0; 96]), &[], &[word, "float16/32/64"]);
    }
}

#[test]
fn empty_and_absurd_shapes() {
    let bench = Bench::new();
    transform(&bench, 3, &npy("'<f8'", false, "(0,)", &[]), &[], &["is empty", "[0]"]);
    transform(&bench, 3, &npy("'<f8'", false, "(3, 0, 2)", &[]), &[], &["is empty", "[3, 0, 2]"]);
    // A terabyte is promised and not allocated; beyond 64 bits it cannot even be promised.
    transform(&bench, 3, &npy("'<f8'", false, "(137438953472,)", &[0; 64]), &[], &["truncated", "64 follow"]);
    transform(
        &bench,
        3,
        &npy("'|u1'", false, "(4294967296, 4294967296)", &[0; 64]),
        &[],
        &["larger than any memory"],
    );
}

#[test]
fn axes() {
    let bench = Bench::new();
    transform(&bench, 2, &good(), &["--axes", "3"], &["axis 3", "-3 to 2"]);
    transform(&bench, 2, &good(), &["--axes=-4"], &["axis -4", "-3 to 2"]);
    transform(&bench, 2, &good(), &["--axes=0,1,-2"], &["axis -2", "twice"]);
    transform(&bench, 2, &npy("'<f8'", false, "()", &[0; 8]), &["--axes", "0"], &["axis 0", "single number"]);
}

#[test]
fn plots_that_cannot_be_drawn() {
    let bench = Bench::new();
    transform(&bench, 2, &good(), &["--plot", "p.png"], &["3 are transformed", "--axes"]);
    transform(&bench, 2, &good(), &["--plot", "p.png", "--axes", "1,0,2"], &["--axes"]);
    transform(
        &bench,
        2,
        &npy("'|i1'", false, "(9, 9)", &[1; 81]),
        &["--plot", "p.png", "--axes", "0"],
        &["9 lines"],
    );
    transform(&bench, 2, &good(), &["--plot", "p.jpg"], &[".png"]);
}

#[test]
fn kinds_that_do_not_fit() {
    let bench = Bench::new();
    let complex = npy("'<c8'", false, "(2, 3)", &[0; 48]);
    for kind in ["r2c", "ihfft", "dct1", "dct2", "dst3", "dst4", "dht"] {
        transform(&bench, 2, &complex, &["--kind", kind], &[kind, "real numbers", "complex"]);
    }
    for (kind, instead) in [("r2c", "c2r"), ("c2r", "r2c"), ("hfft", "ihfft"), ("ihfft", "hfft")] {
        transform(&bench, 2, &good(), &["--kind", kind, "--inverse"], &["--inverse", kind, instead]);
    }
    for kind in ["r2c", "ihfft", "dct2", "dst1"] {
        transform(&bench, 2, &good(), &["--kind", kind, "--shift"], &["--shift", kind]);
    }
    // Lengths that a kind cannot have.
    let thin = npy("'<f8'", false, "(4, 1)", &[0; 32]);
    transform(&bench, 2, &thin, &["--kind", "dct1"], &["dct1", "length 1", "at least 2"]);
    transform(&bench, 2, &good(), &["--kind", "dct1", "--n", "3,1,4"], &["dct1", "length 1"]);
    transform(&bench, 2, &thin, &["--kind", "c2r"], &["c2r", "axis 1", "--n"]);
    transform(&bench, 2, &thin, &["--kind", "hfft"], &["hfft", "axis 1", "--n"]);
    let single = npy("'<f8'", false, "()", &[0; 8]);
    transform(&bench, 2, &single, &["--kind", "r2c"], &["r2c", "at least one axis"]);
    transform(&bench, 2, &good(), &["--kind", "r2c", "--plot", "p.png"], &["3 are transformed"]);
}

#[test]
fn lengths_that_do_not_fit() {
    let bench = Bench::new();
    transform(&bench, 2, &good(), &["--n", "1,2,3,4"], &["4 lengths", "3 axes"]);
    transform(&bench, 2, &good(), &["--n", "5,6", "--axes", "1"], &["2 lengths", "1 axes"]);
    transform(&bench, 2, &good(), &["--n", "5", "--axes", "0,1"], &["1 lengths", "2 axes"]);
    for n in ["9223372036854775807", "99999999999"] {
        transform(&bench, 3, &good(), &["--n", n], &["out of memory", "padded"]);
    }
    bench.file("in.npy", &good());
    for (option, value) in [("--n", "0"), ("--n", "4,0"), ("--n", "-3"), ("--n", "x"), ("--kind", "dct5")] {
        let output = bench.run(&["transform", "in.npy", "-o", "y.npy", option, value]);
        let (_, err) = support::texts(&output);
        assert_eq!(output.status.code(), Some(2), "{option} {value}: {err}");
        assert!(err.contains(option) && !err.contains("panicked"), "{option} {value}: {err}");
    }
}

#[test]
fn outputs_that_cannot_be_written() {
    let bench = Bench::new();
    bench.file("in.npy", &good());
    std::fs::create_dir(bench.path("folder.npy")).unwrap();
    let before = bench.names();
    bench.fails(5, &["transform", "in.npy", "-o", "folder.npy"], &["a folder"]);
    bench.fails(
        5,
        &["transform", "in.npy", "-o", "none/y.npy"],
        &["cannot write none/y.npy", "no folder none"],
    );
    bench.fails(5, &["transform", "in.npy", "-o", "in.npy/y.npy"], &["cannot write in.npy/y.npy"]);
    bench.fails(2, &["transform", "in.npy", "-o", "y.csv"], &[".npy"]);
    // If the plot fails, the array does not appear either.
    bench.fails(
        5,
        &["transform", "in.npy", "-o", "y.npy", "--axes=1,2", "--plot", "none/p.png"],
        &["none/p.png"],
    );
    assert_eq!(bench.names(), before);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let bench = Bench::new();
    bench.file("in.npy", &good());
    bench.fails(5, &["transform", "in.npy", "-o", "/dev/full"], &["cannot write /dev/full", "No space left"]);
    assert!(
        std::fs::metadata("/dev/full").is_ok_and(|full| !full.is_file()),
        "the device must not be replaced"
    );
    // A limit on the size of files acts as a disk that fills up while the result is written.
    bench.file("large.npy", &npy("'|i1'", false, "(100000,)", &[1; 100_000]));
    let kept = bench.file("out.npy", b"kept");
    let before = bench.names();
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" transform large.npy -o out.npy";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_warpfft")]).current_dir(bench.path(""));
    let output = shell.output().unwrap();
    let (_, err) = support::texts(&output);
    assert_eq!(output.status.code(), Some(5), "{err}");
    assert!(err.contains("cannot write out.npy") && err.contains("unchanged"), "{err}");
    assert_eq!(std::fs::read(kept).unwrap(), b"kept");
    assert_eq!(bench.names(), before);
    // The standard output may be full as well.
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_warpfft"));
    let output = program.args(["completions", "bash"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(5));
    assert!(support::texts(&output).1.contains("standard output"));
}

#[test]
fn damaged_recordings_and_pictures() {
    let bench = Bench::new();
    for (name, words) in [("bell.wav", ["in is"]), ("moire.png", ["in is"])] {
        let path = format!("{}/../../samples/{name}", env!("CARGO_MANIFEST_DIR"));
        let whole = std::fs::read(path).unwrap();
        for length in [13, 30, 44, 60, whole.len() / 2, whole.len() - 30] {
            transform(&bench, 3, &whole[..length], &[], &words);
        }
    }
    transform(&bench, 3, b"\xff\xd8\xff\xe0 not a picture at all", &[], &["JPEG"]);
    transform(&bench, 3, b"II*\x00\xff\xff\xff\xff not a picture at all", &[], &["TIFF"]);
}

#[test]
fn options_of_another_command_line() {
    let bench = Bench::new();
    bench.file("s.csv", b"kind,precision,shape,batch\nc2c,f32,64,1\n");
    for args in [
        "bench --convolve 64:5 --storage f16",
        "bench --convolve 64:5 --plot c.png",
        "bench --convolve 64:5 --csv c.csv",
        "bench 64 --mode valid",
        "bench 64 --complex",
        "bench 64 --kernels 3",
        "bench 64 --resume",
        "bench 64 --tolerance 3%",
        "bench --suite s.csv --kernels 3",
        "bench --report o.csv --csv y.csv",
        "tune --suite s.csv --storage f64",
    ] {
        let run = bench.run(&args.split(' ').collect::<Vec<_>>());
        let (_, err) = support::texts(&run);
        assert_eq!(run.status.code(), Some(2), "{args}: {err}");
        assert!(err.contains("cannot be used with"), "{args}: {err}");
    }
    bench.fails(2, &["bench", "--convolve", "5:64", "--mode", "valid", "--device", "cpu"], &["64"]);
}

#[test]
fn rows_before_an_error_are_kept() {
    let bench = Bench::new();
    let run =
        bench.run(&["bench", "64", "1", "--kind", "dct1", "--seconds", "0.01", "--device", "cpu", "--json"]);
    let (out, err) = support::texts(&run);
    assert_eq!(run.status.code(), Some(2), "{err}");
    let rows: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((rows.as_array().unwrap().len(), &rows[0]["shape"]), (1, &serde_json::json!([64])));
}

#[test]
fn commands_that_make_no_sense() {
    let bench = Bench::new();
    bench.fails(2, &["explain", "1024", "--limits", "h300"], &["h300", "h200", "webgpu-min"]);
    bench.fails(2, &["explain", "1024", "--device", "cpu"], &["--limits"]);
    for args in [
        &["explain", "0"][..],
        &["explain", "3xx4"],
        &["explain", "4294967296x4294967296"],
        &["bench"],
        &["bench", "16", "--seconds", "-1"],
        &["bench", "16", "--batch", "0"],
        &["transform", "x", "-o", "y.npy", "--norm", "orthogonal"],
        &["fly"],
    ] {
        let output = bench.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(!support::texts(&output).1.contains("panicked"));
    }
}

#[cfg(not(feature = "cuda"))]
#[test]
fn a_device_that_is_not_there() {
    transform(&Bench::new(), 4, &good(), &["--device", "cuda"], &["cuda"]);
}
