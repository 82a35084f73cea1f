//! Every kind of input against the definition of the transform.

mod support;

use std::f64::consts::TAU;

use support::{Bench, dft, distance, npy, read_complex, texts};

const SHAPE: [usize; 3] = [3, 4, 5];

/// Whole numbers that every dtype holds, in C order.
fn values() -> Vec<u8> {
    (0..60_u32).map(|i| (i * i % 61 + i) as u8 % 100).collect()
}

fn complex(values: &[u8]) -> Vec<(f64, f64)> {
    values.iter().map(|&value| (value.into(), 0.0)).collect()
}

fn encoded(dtype: &str, big: bool, value: u8) -> Vec<u8> {
    let mut bytes = match dtype {
        "i1" | "u1" => vec![value],
        "i2" | "u2" => u16::from(value).to_le_bytes().to_vec(),
        "i4" | "u4" => u32::from(value).to_le_bytes().to_vec(),
        "i8" | "u8" => u64::from(value).to_le_bytes().to_vec(),
        "f2" => half::f16::from(value).to_le_bytes().to_vec(),
        "f4" | "c8" => f32::from(value).to_le_bytes().to_vec(),
        _ => f64::from(value).to_le_bytes().to_vec(),
    };
    if big {
        bytes.reverse();
    }
    if dtype.starts_with('c') {
        bytes.extend(vec![0; bytes.len()]);
    }
    bytes
}

/// The same array with its first axis fastest.
fn fortran(values: &[u8]) -> Vec<u8> {
    let [a, b, c] = SHAPE;
    let order = (0..c).flat_map(|k| (0..b).flat_map(move |j| (0..a).map(move |i| (i * b + j) * c + k)));
    order.map(|at| values[at]).collect()
}

#[test]
fn every_dtype_byte_order_and_memory_order() {
    let bench = Bench::new();
    let values = values();
    let want = dft(&complex(&values), &SHAPE, &[0, 1, 2], -1.0, 1.0);
    for dtype in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"] {
        for (big, first_fastest) in [(false, false), (true, false), (false, true), (true, true)] {
            let ordered = if first_fastest { fortran(&values) } else { values.clone() };
            let data: Vec<u8> = ordered.iter().flat_map(|&value| encoded(dtype, big, value)).collect();
            let descr = format!("'{}{dtype}'", if big { '>' } else { '<' });
            bench.file("x.npy", &npy(&descr, first_fastest, "(3, 4, 5)", &data));
            bench.succeeds(&["transform", "x.npy", "-o", "y.npy", "--device", "cpu"]);
            let (shape, got) = read_complex(&bench.path("y.npy"));
            assert_eq!(shape, "(3, 4, 5)");
            let single = ["f2", "f4", "c8"].contains(&dtype);
            let bound = if single { 1e-6 } else { 1e-14 };
            let error = distance(&got, &want);
            assert!(
                error < bound && (error > 1e-10) == single,
                "{descr}, Fortran {first_fastest}: {error:e}"
            );
        }
    }
}

#[test]
fn axes_norms_and_both_directions() {
    let bench = Bench::new();
    bench.file("x.npy", &npy("'|u1'", false, "(3, 4, 5)", &values()));
    let numbers = complex(&values());
    for (axes, list) in [(vec![1], "1"), (vec![2, 0], "-1,0"), (vec![0, 1, 2], "0,1,2")] {
        let n: f64 = axes.iter().map(|&axis: &usize| SHAPE[axis] as f64).product();
        for (norm, forward, inverse) in [
            ("backward", 1.0, 1.0 / n),
            ("ortho", n.sqrt().recip(), n.sqrt().recip()),
            ("forward", 1.0 / n, 1.0),
        ] {
            let axes_arg = format!("--axes={list}");
            let args = ["transform", "x.npy", "-o", "y.npy", "--norm", norm, &axes_arg, "--device", "cpu"];
            bench.succeeds(&args);
            let want = dft(&numbers, &SHAPE, &axes, -1.0, forward);
            assert!(distance(&read_complex(&bench.path("y.npy")).1, &want) < 1e-14);
            bench.succeeds(&[&args[..], &["--inverse"]].concat());
            let want = dft(&numbers, &SHAPE, &axes, 1.0, inverse);
            assert!(distance(&read_complex(&bench.path("y.npy")).1, &want) < 1e-14);
        }
    }
}

#[test]
fn a_single_number_and_booleans() {
    let bench = Bench::new();
    bench.file("x.npy", &npy("'>i4'", false, "()", &7_i32.to_be_bytes()));
    bench.succeeds(&["transform", "x.npy", "-o", "y.npy"]);
    assert_eq!(read_complex(&bench.path("y.npy")), ("()".into(), vec![(7.0, 0.0)]));
    bench.file("x.npy", &npy("'|b1'", false, "(4,)", &[1, 0, 1, 1]));
    bench.succeeds(&["transform", "x.npy", "-o", "y.npy", "--shift"]);
    let want = vec![(1.0, 0.0), (0.0, -1.0), (3.0, 0.0), (0.0, 1.0)];
    assert_eq!(read_complex(&bench.path("y.npy")), ("(4,)".into(), want));
}

#[test]
fn a_pipe_in_and_out() {
    let bench = Bench::new();
    bench.file("x.npy", &npy("'|u1'", false, "(3, 4, 5)", &values()));
    bench.succeeds(&["transform", "x.npy", "-o", "y.npy"]);
    if cfg!(unix) {
        let script = "cat x.npy | \"$0\" transform /dev/stdin -o piped.npy";
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", script, env!("CARGO_BIN_EXE_warpfft")]).current_dir(bench.path(""));
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{}", texts(&output).1);
        assert_eq!(
            std::fs::read(bench.path("piped.npy")).unwrap(),
            std::fs::read(bench.path("y.npy")).unwrap()
        );
    }
}

#[test]
fn recordings_keep_their_rate_and_channels() {
    let bench = Bench::new();
    for (bits, format) in [
        (8, hound::SampleFormat::Int),
        (16, hound::SampleFormat::Int),
        (24, hound::SampleFormat::Int),
        (32, hound::SampleFormat::Float),
    ] {
        let spec =
            hound::WavSpec { channels: 2, sample_rate: 8000, bits_per_sample: bits, sample_format: format };
        let mut wav = hound::WavWriter::create(bench.path("x.wav"), spec).unwrap();
        let wave = |i: usize, k: usize| (100.0 * (TAU * (i * k % 80) as f64 / 80.0).sin()).round();
        for i in 0..80 {
            for k in [5, 12] {
                match format {
                    hound::SampleFormat::Int => wav.write_sample(wave(i, k) as i32).unwrap(),
                    hound::SampleFormat::Float => wav.write_sample(wave(i, k) as f32).unwrap(),
                }
            }
        }
        wav.finalize().unwrap();
        let out = bench.succeeds(&["transform", "x.wav", "-o", "y.npy", "--plot", "p.png", "--json"]);
        let report: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(report["sample_rate"], 8000.0);
        let numbers: Vec<_> = (0..80).flat_map(|i| [(wave(i, 5), 0.0), (wave(i, 12), 0.0)]).collect();
        let (shape, got) = read_complex(&bench.path("y.npy"));
        assert_eq!(shape, "(80, 2)");
        assert!(distance(&got, &dft(&numbers, &[80, 2], &[0], -1.0, 1.0)) < 1e-6, "{bits} bits");
        assert!(image::open(bench.path("p.png")).is_ok());
    }
}

/// A recording of integers, with odd chunks before and behind its samples.
fn recording(tag: u16, [kept, valid]: [u16; 2], samples: &[i32]) -> Vec<u8> {
    let mut format = Vec::new();
    let rate = 8000 * (kept / 8);
    for word in [tag, 1, 8000, 0, rate, 0, kept / 8, if tag == 1 { valid } else { kept }] {
        format.extend(word.to_le_bytes());
    }
    if tag != 1 {
        let subformat = [1, 0, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71];
        format.extend([22_u16, valid, 0, 0].iter().flat_map(|word| word.to_le_bytes()).chain(subformat));
    }
    let width = usize::from(kept / 8);
    let data = samples.iter().flat_map(|sample| sample.to_le_bytes().into_iter().take(width)).collect();
    let mut file = b"RIFF\x00\x00\x00\x00WAVE".to_vec();
    let chunks: [(&[u8; 4], Vec<u8>); 5] = [
        (b"junk", vec![1; 3]),
        (b"fmt ", format),
        (b"LIST", vec![2; 7]),
        (b"data", data),
        (b"junk", vec![3]),
    ];
    for (name, content) in chunks {
        file.extend(name);
        file.extend((content.len() as u32).to_le_bytes());
        file.extend(&content);
        file.resize(file.len().next_multiple_of(2), 0);
    }
    file
}

#[test]
fn recordings_with_odd_chunks_and_samples_in_wider_words() {
    let bench = Bench::new();
    for (tag, bits, samples) in [
        (1, [16, 16], [-5, 300, 32767, 0]),
        (1, [24, 24], [-5, 300, 8_388_607, 0]),
        (0xfffe, [16, 12], [-16, 304, 32752, 0]),
        (0xfffe, [24, 20], [-16, 304, 8_388_592, 0]),
        (0xfffe, [32, 24], [-0x500, 1_505_919_488, -988_758_784, 0]),
        (1, [32, 24], [-0x500, 1_505_919_488, -988_758_784, 0]),
    ] {
        bench.file("x.wav", &recording(tag, bits, &samples));
        bench.succeeds(&["transform", "x.wav", "-o", "y.npy", "--device", "cpu"]);
        let want = samples.map(|sample| (f64::from(sample), 0.0));
        let (shape, got) = read_complex(&bench.path("y.npy"));
        assert_eq!(shape, "(4,)");
        assert!(distance(&got, &dft(&want, &[4], &[0], -1.0, 1.0)) < 1e-15, "{tag} {bits:?}: {got:?}");
    }
}

#[test]
fn pictures_of_every_kind() {
    let bench = Bench::new();
    let grey = image::GrayImage::from_fn(7, 5, |x, y| image::Luma([(x * 31 + y * y * 17) as u8]));
    let deep = image::ImageBuffer::from_fn(7, 5, |x, y| image::Luma([(x * 3100 + y * y * 1700) as u16]));
    let color =
        image::RgbImage::from_fn(7, 5, |x, y| image::Rgb([x as u8 * 30, y as u8 * 40, (x * y) as u8]));
    let numbers = |values: Vec<f64>| values.into_iter().map(|value| (value, 0.0)).collect::<Vec<_>>();
    let greys = numbers(grey.iter().map(|&value| value.into()).collect());
    let deeps = numbers(deep.iter().map(|&value: &u16| value.into()).collect());
    let colors = numbers(color.iter().map(|&value| value.into()).collect());
    for ending in ["png", "tiff"] {
        let name = format!("x.{ending}");
        let check = |want: &[(f64, f64)], shape: &[usize], text: &str| {
            bench.succeeds(&["transform", &name, "-o", "y.npy", "--plot", "p.png"]);
            let (got_shape, got) = read_complex(&bench.path("y.npy"));
            assert_eq!(got_shape, text);
            assert!(distance(&got, &dft(want, shape, &[0, 1], -1.0, 1.0)) < 1e-14, "{name} {text}");
        };
        grey.save(bench.path(&name)).unwrap();
        check(&greys, &[5, 7], "(5, 7)");
        deep.save(bench.path(&name)).unwrap();
        check(&deeps, &[5, 7], "(5, 7)");
        color.save(bench.path(&name)).unwrap();
        check(&colors, &[5, 7, 3], "(5, 7, 3)");
    }
    let mut file = std::fs::File::create(bench.path("x.tiff")).unwrap();
    let floats: Vec<f32> = (0..35_u8).map(|i| f32::from(i) - 17.5).collect();
    tiff::encoder::TiffEncoder::new(&mut file)
        .unwrap()
        .write_image::<tiff::encoder::colortype::Gray32Float>(7, 5, &floats)
        .unwrap();
    bench.succeeds(&["transform", "x.tiff", "-o", "y.npy"]);
    let want = dft(&numbers(floats.iter().map(|&value| value.into()).collect()), &[5, 7], &[0, 1], -1.0, 1.0);
    assert!(distance(&read_complex(&bench.path("y.npy")).1, &want) < 1e-6);
    // A second page, which is not read but told of.
    let mut file = std::fs::File::create(bench.path("x.tiff")).unwrap();
    let mut pages = tiff::encoder::TiffEncoder::new(&mut file).unwrap();
    for page in [&floats, &vec![0.0; 35]] {
        pages.write_image::<tiff::encoder::colortype::Gray32Float>(7, 5, page).unwrap();
    }
    let (_, said) = texts(&bench.run(&["transform", "x.tiff", "-o", "y.npy"]));
    assert!(said.contains("more than one picture"), "{said}");
    assert!(distance(&read_complex(&bench.path("y.npy")).1, &want) < 1e-6);
    grey.save(bench.path("x.jpeg")).unwrap();
    bench.succeeds(&["transform", "x.jpeg", "-o", "y.npy"]);
}

/// Computed with pairs of singles, read and written as doubles.
#[test]
fn double_single_arithmetic_takes_and_gives_doubles() {
    let bench = Bench::new();
    let reals: Vec<f64> = (0..60_u32).map(|i| 0.1 * f64::from(i * i % 61)).collect();
    let numbers: Vec<(f64, f64)> = reals.iter().map(|&x| (x, 0.0)).collect();
    let bytes: Vec<u8> = reals.iter().flat_map(|x| x.to_le_bytes()).collect();
    bench.file("in.npy", &npy("'<f8'", false, "(60,)", &bytes));
    for device in ["sim", "cpu"] {
        let options = ["--precision", "double-single", "--device", device];
        bench.succeeds(&[&["transform", "in.npy", "-o", "out.npy"], &options[..]].concat());
        let (shape, got) = read_complex(&bench.path("out.npy"));
        let error = distance(&got, &dft(&numbers, &[60], &[0], -1.0, 1.0));
        assert!(error < 1e-13, "{device}: {error:e}");
        assert_eq!(shape, "(60,)");
    }
    let out = bench.succeeds(&["explain", "60", "--precision", "double-single", "--limits", "webgpu-min"]);
    assert!(out.contains("fft_60_double_single"), "{out}");
    let kept = ["--precision", "double-single", "--storage", "f32", "--device", "sim"];
    bench.succeeds(&[&["transform", "in.npy", "-o", "kept.npy"], &kept[..]].concat());
    assert!(std::fs::read(bench.path("kept.npy")).unwrap().windows(5).any(|bytes| bytes == b"'<c8'"));
    let words = ["double-single"];
    bench.fails(4, &["explain", "60", "--precision", "f64", "--limits", "webgpu-min"], &words);
}

#[test]
fn opencl_computes_or_says_what_is_missing() {
    let bench = Bench::new();
    bench.file("x.npy", &npy("'|u1'", false, "(3, 4, 5)", &values()));
    let devices: serde_json::Value = serde_json::from_str(&bench.succeeds(&["devices", "--json"])).unwrap();
    let there = |device: &serde_json::Value| device["kind"] == "opencl" && device["usable"] == true;
    let args = ["transform", "x.npy", "-o", "y.npy", "--device", "opencl"];
    if devices.as_array().unwrap().iter().any(there) {
        bench.succeeds(&args);
        let (shape, got) = read_complex(&bench.path("y.npy"));
        assert_eq!(shape, "(3, 4, 5)");
        assert!(distance(&got, &dft(&complex(&values()), &SHAPE, &[0, 1, 2], -1.0, 1.0)) < 1e-6);
    } else {
        bench.fails(4, &args, &["opencl", "OpenCL", "'cpu'"]);
        assert_eq!(bench.names(), ["x.npy"]);
    }
}

#[test]
fn what_machines_read_is_json() {
    let bench = Bench::new();
    let parsed = |args: &[&str]| serde_json::from_str::<serde_json::Value>(&bench.succeeds(args)).unwrap();
    let devices = parsed(&["devices", "--json"]);
    assert!(
        devices.as_array().unwrap().iter().any(|device| device["kind"] == "cpu" && device["usable"] == true)
    );
    for limits in ["h200", "a100", "vulkan-min", "webgpu-min", "opencl-min"] {
        let plan = parsed(&["explain", "64x48", "--batch", "3", "--limits", limits, "--json"]);
        let kernels = plan["kernels"].as_array().unwrap();
        assert!(plan["passes"].as_u64().unwrap() >= 1 && plan["workspace_bytes"].is_u64());
        assert!(plan["predicted_copies"].as_f64().unwrap() >= 0.9);
        for kernel in kernels {
            for key in ["threads", "registers", "shared_bytes", "cluster"] {
                assert!(kernel[key].is_u64(), "{limits} {key}");
            }
        }
    }
    let rows =
        parsed(&["bench", "60", "8x9", "--batch", "2", "--device", "cpu", "--seconds", "0.01", "--json"]);
    for row in rows.as_array().unwrap() {
        assert!(row["copies"].as_f64().unwrap() > 0.0);
        assert!(row["error"].as_f64().unwrap() < 1e-6);
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(bench.succeeds(&["completions", shell]).contains("transform"));
    }
}
