//! Runs the program and makes its files.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A folder of its own for one test.
pub struct Bench {
    folder: TempDir,
}

impl Bench {
    /// An empty folder.
    pub fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file in it.
    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Names of the files in it.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs the program there.
    pub fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_warpfft"))
            .args(args)
            .current_dir(self.folder.path())
            // Mesa's layer that prefers a desktop's GPU complains on standard error where there is no desktop.
            .env("NODEVICE_SELECT", "1")
            .output()
            .unwrap()
    }

    /// Runs it and expects success; returns what it printed.
    pub fn succeeds(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let (out, err) = texts(&output);
        assert!(output.status.success(), "{args:?} failed: {err}");
        assert!(!err.contains("panicked"), "{err}");
        out
    }

    /// Runs it and expects that exit code and one line of error with all these words; returns the line.
    pub fn fails(&self, code: i32, args: &[&str], words: &[&str]) -> String {
        let output = self.run(args);
        let (_, err) = texts(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {err}");
        assert!(!err.contains("panicked"), "{args:?}: {err}");
        assert_eq!(err.lines().count(), 1, "{args:?} should say one line: {err}");
        for word in words {
            assert!(err.contains(word), "{args:?} should say '{word}': {err}");
        }
        err
    }
}

/// Standard output and error.
pub fn texts(output: &Output) -> (String, String) {
    (String::from_utf8(output.stdout.clone()).unwrap(), String::from_utf8(output.stderr.clone()).unwrap())
}

/// The bytes of a .npy file.
pub fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

/// The type, the shape text and the reals of a file: pairs of them where it is complex.
fn read_reals(path: &Path) -> (&'static str, String, Vec<f64>) {
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let length = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!(length % 64, 0, "numpy aligns data to 64 bytes");
    let header = std::str::from_utf8(&bytes[10..length]).unwrap();
    assert!(header.contains("'fortran_order': False") && header.ends_with('\n'));
    let shape = header.split_once("'shape': ").unwrap().1.split_once(", }").unwrap().0.to_owned();
    let found =
        ["<c16", "<c8", "<f8", "<f4"].into_iter().find(|descr| header.contains(&format!("'{descr}'")));
    let (descr, data) = (found.unwrap_or_else(|| panic!("{header}")), &bytes[length..]);
    let numbers = if matches!(descr, "<c16" | "<f8") {
        data.chunks_exact(8).map(|chunk| f64::from_le_bytes(chunk.try_into().unwrap())).collect()
    } else {
        data.chunks_exact(4).map(|chunk| f32::from_le_bytes(chunk.try_into().unwrap()).into()).collect()
    };
    (descr, shape, numbers)
}

/// The shape text and the numbers of a complex128 or complex64 file.
pub fn read_complex(path: &Path) -> (String, Vec<(f64, f64)>) {
    let (descr, shape, numbers) = read_reals(path);
    assert!(descr.starts_with("<c"), "{descr}");
    (shape, numbers.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
}

/// The type, shape text and numbers of a float64 or float32 file, as complex ones.
pub fn read_real(path: &Path) -> (&'static str, String, Vec<(f64, f64)>) {
    let (descr, shape, numbers) = read_reals(path);
    assert!(descr.starts_with("<f"), "{descr}");
    (descr, shape, numbers.into_iter().map(|x| (x, 0.0)).collect())
}

/// The transform of real numbers over some axes of a packed array, from the definition.
pub fn dft(
    numbers: &[(f64, f64)],
    shape: &[usize],
    axes: &[usize],
    sign: f64,
    scale: f64,
) -> Vec<(f64, f64)> {
    let mut data = numbers.to_vec();
    for &axis in axes {
        let (n, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
        let before = data.clone();
        for (at, value) in data.iter_mut().enumerate() {
            let (k, start) = (at / inner % n, at - at / inner % n * inner);
            *value = (0..n).fold((0.0, 0.0), |sum, j| {
                let (re, im) = before[start + j * inner];
                let angle = sign * std::f64::consts::TAU * ((j * k) % n) as f64 / n as f64;
                let (sin, cos) = angle.sin_cos();
                (sum.0 + re * cos - im * sin, sum.1 + re * sin + im * cos)
            });
        }
    }
    data.iter().map(|&(re, im)| (re * scale, im * scale)).collect()
}

/// Relative distance in the Euclidean norm.
pub fn distance(got: &[(f64, f64)], want: &[(f64, f64)]) -> f64 {
    assert_eq!(got.len(), want.len());
    let square = |re: f64, im: f64| re * re + im * im;
    let apart: f64 = got.iter().zip(want).map(|(a, b)| square(a.0 - b.0, a.1 - b.1)).sum();
    (apart / want.iter().map(|&(re, im)| square(re, im)).sum::<f64>()).sqrt()
}
