//! Convolutions and correlations against their definitions. `convolve_check.py` compares more of them with scipy.

mod support;

use support::{Bench, distance, npy, read_complex, read_real};

const SHAPES: [[usize; 2]; 2] = [[5, 6], [3, 2]];

fn values(count: usize, seed: usize) -> Vec<u8> {
    (0..count).map(|i| ((i * i + seed * i + seed) % 23) as u8).collect()
}

/// The full convolution of two arrays of two dimensions; `turned`: with the second one turned round.
fn full(a: &[u8], b: &[u8], turned: bool) -> (Vec<Vec<f64>>, [usize; 2]) {
    let [[n, m], [k, l]] = SHAPES;
    let mut out = vec![vec![0.0; m + l - 1]; n + k - 1];
    for (i, &x) in a.iter().enumerate() {
        for (j, &y) in b.iter().enumerate() {
            let at = if turned { k * l - 1 - j } else { j };
            out[i / m + at / l][i % m + at % l] += f64::from(x) * f64::from(y);
        }
    }
    (out, [n + k - 1, m + l - 1])
}

fn part(full: &[Vec<f64>], [from, len]: [[usize; 2]; 2]) -> Vec<(f64, f64)> {
    let rows = full[from[0]..from[0] + len[0]].iter();
    rows.flat_map(|row| row[from[1]..from[1] + len[1]].iter().map(|&x| (x, 0.0))).collect()
}

#[test]
fn every_mode_of_two_pictures() {
    let bench = Bench::new();
    let (a, b) = (values(30, 3), values(6, 5));
    bench.file("a.npy", &npy("'|u1'", false, "(5, 6)", &a));
    bench.file("b.npy", &npy("'|u1'", false, "(3, 2)", &b));
    for correlate in [false, true] {
        let (whole, size) = full(&a, &b, correlate);
        let modes = [("full", [[0, 0], size]), ("same", [[1, 0], [5, 6]]), ("valid", [[2, 1], [3, 5]])];
        for (mode, window) in modes {
            for device in ["cpu", "sim"] {
                let mut args =
                    vec!["convolve", "a.npy", "b.npy", "-o", "c.npy", "--mode", mode, "--device", device];
                if correlate {
                    args.push("--correlate");
                }
                bench.succeeds(&args);
                let (descr, shape, got) = read_real(&bench.path("c.npy"));
                assert_eq!((descr, shape), ("<f8", format!("({}, {})", window[1][0], window[1][1])));
                assert!(distance(&got, &part(&whole, window)) < 1e-14, "{mode} {correlate} {device}");
            }
        }
    }
    let paired =
        ["convolve", "a.npy", "b.npy", "-o", "c.npy", "--precision", "double-single", "--device", "sim"];
    bench.succeeds(&paired);
    let (whole, size) = full(&a, &b, false);
    let (descr, _, got) = read_real(&bench.path("c.npy"));
    assert_eq!(descr, "<f8");
    assert!(distance(&got, &part(&whole, [[0, 0], size])) < 1e-13);
    // The smaller one first: for 'valid' they change places, and 'same' is as large as the first.
    bench.succeeds(&["convolve", "b.npy", "a.npy", "-o", "c.npy", "--mode", "valid", "--device", "cpu"]);
    let (whole, _) = full(&a, &b, false);
    assert!(distance(&read_real(&bench.path("c.npy")).2, &part(&whole, [[2, 1], [3, 5]])) < 1e-14);
    bench.succeeds(&["convolve", "b.npy", "a.npy", "-o", "c.npy", "--mode", "same", "--device", "cpu"]);
    assert!(distance(&read_real(&bench.path("c.npy")).2, &part(&whole, [[2, 2], [3, 2]])) < 1e-14);
}

#[test]
fn complex_numbers_and_fortran_order() {
    let bench = Bench::new();
    let bytes = |values: &[f32]| values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    bench.file("a.npy", &npy("'<c8'", false, "(2,)", &bytes(&[1.0, 2.0, 3.0, -1.0])));
    bench.file("b.npy", &npy("'<c8'", false, "(2,)", &bytes(&[0.0, 1.0, 2.0, 0.0])));
    bench.succeeds(&["convolve", "a.npy", "b.npy", "-o", "c.npy", "--device", "cpu"]);
    let (_, got) = read_complex(&bench.path("c.npy"));
    assert!(distance(&got, &[(-2.0, 1.0), (3.0, 7.0), (6.0, -2.0)]) < 1e-6, "{got:?}");
    // sum a[l] conj(b[l - k]), from the last of b on.
    bench.succeeds(&["convolve", "a.npy", "b.npy", "-o", "c.npy", "--correlate", "--device", "cpu"]);
    let (_, got) = read_complex(&bench.path("c.npy"));
    assert!(distance(&got, &[(2.0, 4.0), (8.0, -3.0), (-1.0, -3.0)]) < 1e-6, "{got:?}");
    // Single numbers: their product, with no axis either.
    bench.file("x.npy", &npy("'<f8'", false, "()", &3.0_f64.to_le_bytes()));
    bench.succeeds(&["convolve", "x.npy", "x.npy", "-o", "p.npy", "--device", "cpu"]);
    assert_eq!(read_real(&bench.path("p.npy")), ("<f8", "()".to_owned(), vec![(9.0, 0.0)]));
    // The same picture in both orders.
    bench.file("f.npy", &npy("'<f4'", true, "(2, 3)", &bytes(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0])));
    bench.file("c.npy", &npy("'<f4'", false, "(2, 3)", &bytes(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])));
    bench.file("k.npy", &npy("'<f4'", false, "(1, 2)", &bytes(&[1.0, -1.0])));
    for name in ["f.npy", "c.npy"] {
        bench.succeeds(&["convolve", name, "k.npy", "-o", "d.npy", "--device", "cpu"]);
        let (descr, shape, got) = read_real(&bench.path("d.npy"));
        assert_eq!((descr, &shape[..]), ("<f4", "(2, 4)"));
        let want = [1.0, 1.0, 1.0, -3.0, 4.0, 1.0, 1.0, -6.0].map(|x| (x, 0.0));
        assert!(distance(&got, &want) < 1e-6, "{got:?}");
    }
}

#[test]
fn what_cannot_be_is_said() {
    let bench = Bench::new();
    bench.file("line.npy", &npy("'|u1'", false, "(4,)", &values(4, 1)));
    bench.file("plane.npy", &npy("'|u1'", false, "(2, 3)", &values(6, 1)));
    bench.file("tall.npy", &npy("'|u1'", false, "(3, 2)", &values(6, 1)));
    let out = ["-o", "out.npy", "--device", "cpu"];
    let fails = |code, files: [&str; 2], more: &[&str], words: &[&str]| {
        let args = [&["convolve"], &files[..], &out, more].concat();
        bench.fails(code, &args, words);
        assert!(!bench.names().contains(&"out.npy".to_owned()));
    };
    fails(2, ["line.npy", "plane.npy"], &[], &["[4]", "[2, 3]", "same number of dimensions"]);
    fails(2, ["plane.npy", "tall.npy"], &["--mode", "valid"], &["at least as large", "[3, 2]", "full"]);
    fails(3, ["line.npy", "absent.npy"], &[], &["cannot read absent.npy"]);
    let unknown = bench.run(&["convolve", "line.npy", "line.npy", "-o", "out.npy", "--mode", "some"]);
    let (_, err) = support::texts(&unknown);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(err.contains("some") && err.contains("full, same, valid"), "{err}");
}
