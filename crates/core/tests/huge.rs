//! Problems beyond 32-bit counts: some blocks of every pass run on a simulated memory of which only what they touch
//! exists, and what they wrote is compared with the pass's own sums, by exact integer indices.

use num_complex::Complex;
use rand::Rng;
use warpfft_core::kernel::Type;
use warpfft_core::kernel::simulate::{GlobalBuffer, Memory, Options, simulate_with};
use warpfft_core::math::twiddle::root;
use warpfft_core::pass::{Array, Pass, PassDim};
use warpfft_core::problem::{Direction, Precision, Problem};
use warpfft_core::program::{Binding, Compiled, Numbers, Table};
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

type C64 = Complex<f64>;

/// Something between -1 and 1 for each address.
fn noise(address: u64) -> f64 {
    let mut x = address.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    // In single precision as it is.
    ((x >> 41) as f64) / f64::from(1 << 22) - 1.0
}

fn input(element: u64) -> C64 {
    Complex::new(noise(2 * element), noise(2 * element + 1))
}

/// Indices of nested dimensions at an address.
fn indices(dims: &[PassDim], address: u64) -> Vec<u64> {
    dims.iter().map(|dim| address / dim.os as u64 % dim.n).collect()
}

/// What a pass writes to an element, as the sum that it stands for.
fn expected(pass: &Pass, address: u64) -> C64 {
    let [axis] = &pass.axes[..] else { panic!("these passes have one axis") };
    let batch = indices(&pass.batch, address);
    let own = indices(axis.digits(), address);
    let sizes = axis.digits().iter().map(|digit| digit.n);
    let weights: Vec<u64> = sizes.scan(1, |at, n| Some(std::mem::replace(at, *at * n))).collect();
    let k: u64 = own.iter().zip(&weights).map(|(digit, weight)| digit * weight).sum();
    let start: u64 = pass.batch.iter().zip(&batch).map(|(dim, index)| dim.is as u64 * index).sum();
    let x: u64 = pass.batch.iter().zip(&batch).map(|(dim, index)| dim.twiddle * index).sum();
    let turn = |k: u128, n: u64| {
        let (re, im) = root((k % u128::from(n)) as u64, n);
        Complex::new(re, if pass.direction == Direction::Forward { im } else { -im })
    };
    let n = axis.dim.n;
    let term = |index: u64| {
        let (mut rest, mut from) = (index, start);
        for digit in axis.digits().iter().rev() {
            from += rest % digit.n * digit.is as u64;
            rest /= digit.n;
        }
        input(from) * turn(u128::from(index) * u128::from(k), n)
    };
    // In two steps, which round less than one long sum.
    let sum: C64 = (0..64).map(|part| (part..n).step_by(64).map(term).sum::<C64>()).sum();
    let twiddle = pass.twiddle.map_or(C64::from(1.0), |own| turn(u128::from(k) * u128::from(x), own.modulus));
    sum * twiddle * pass.scale
}

/// A table as kernels read it.
fn filled(table: &Table) -> GlobalBuffer {
    GlobalBuffer::initialised(match table.numbers().expect("there is room") {
        Numbers::F32(v) => Memory::F32(v.clone()),
        Numbers::F64(v) => Memory::F64(v.clone()),
        Numbers::U32(v) => Memory::U32(v.clone()),
    })
}

/// Runs the first, a middle and the last tile of every pass.
fn check(problem: &Problem) {
    let limits = Limits::h200();
    let compiled = Compiled::of(problem, &limits).expect("it has a plan");
    assert_eq!(compiled.program.workspace_bytes, 0);
    let (elem, tolerance) =
        if problem.precision == Precision::F32 { (Type::F32, 1.5e-6) } else { (Type::F64, 2e-15) };
    for (at, (pass, launch)) in compiled.schedule.passes.iter().zip(&compiled.program.launches).enumerate() {
        assert_eq!((pass.src.array, pass.dst.array), (Array::Output, Array::Output));
        let what = format!("{:?}, pass {at}", problem.transform);
        let kernel = &compiled.program.kernels[launch.kernel];
        let mut buffers: Vec<GlobalBuffer> = (launch.bindings.iter())
            .map(|&binding| match binding {
                Binding::Table(i) => filled(&compiled.program.tables[i as usize]),
                _ => GlobalBuffer::sparse(elem, noise).expect("a real type"),
            })
            .collect();
        let mut borrowed: Vec<&mut GlobalBuffer> = buffers.iter_mut().collect();
        let options = Options { sample_blocks: Some(u64::from(3 * kernel.cluster)), ..Options::default() };
        let report = simulate_with(kernel, &limits, &mut borrowed, &options);
        let report = report.unwrap_or_else(|fault| panic!("{what}: {fault}"));
        assert_eq!(report.blocks, u64::from(3 * kernel.cluster));
        let data = launch.bindings.iter().position(|one| matches!(one, Binding::Output(0)));
        let touched = buffers[data.expect("it writes")].touched();
        // Whole pages: what the tiles read is what they wrote.
        let tile = &compiled.parts[at].tile;
        let whole = pass.batch.iter().zip(&tile.batch).all(|(dim, &held)| dim.n.is_multiple_of(held));
        let (got, most) = (touched.len() as u64, 2 * 3 * tile.elements(pass));
        assert!(if whole { got == most } else { got < most }, "{what}: {got} of {most}");
        assert!(touched.iter().any(|&(address, _)| address == 0), "{what}: the first block");
        let end = 2 * problem.elements() - 1;
        assert!(touched.iter().any(|&(address, _)| address == end), "{what}: the last block");
        let (mut off, mut size) = (0.0, 0.0);
        let mut random = rand::rng();
        for _ in 0..150 {
            let pair = random.random_range(0..touched.len() / 2);
            let (re, im) = (touched[2 * pair], touched[2 * pair + 1]);
            assert_eq!((re.0 % 2, im.0), (0, re.0 + 1));
            let want = expected(pass, re.0 / 2);
            off += (C64::new(re.1, im.1) - want).norm_sqr();
            size += want.norm_sqr();
        }
        let error = (off / size).sqrt();
        assert!(error < tolerance, "{what}: relative error {error:.2e}");
    }
}

#[test]
fn one_transform_of_2_to_the_33_points() {
    for (precision, inverse) in [(Precision::F32, false), (Precision::F64, true)] {
        let request = Fft::new([1 << 33]).in_place().precision(precision).max_workspace(0);
        let request = if inverse { request.inverse().scale(0.25) } else { request };
        check(&request.build().expect("it is possible"));
    }
}

#[test]
fn a_volume_of_2048_points_a_side() {
    for precision in [Precision::F32, Precision::F64] {
        let request = Fft::new([2048, 2048, 2048]).in_place().precision(precision).max_workspace(0);
        check(&request.build().expect("it is possible"));
    }
}

#[test]
fn more_transforms_than_32_bits_count() {
    // The last tile is full, or it is not.
    for (n, more) in [(2, 0), (2, 8), (4, 24)] {
        check(&Fft::new([n]).batch((1 << 33) / n + more).in_place().build().expect("it is possible"));
    }
}

/// The rows of 256 lines of 2^24 reals, each with its mirror image: what the pass that makes the spectrum writes, against the sums that
/// frequencies of the complex lines stand for.
#[test]
fn rows_with_images_beyond_32_bits() {
    let limits = Limits::h200();
    let (n, lines) = (1_u64 << 24, 256);
    let problem = Fft::new([n]).batch(lines).r2c().build().expect("it can be asked");
    let compiled = Compiled::of(&problem, &limits).expect("it has a plan");
    let mut passes = compiled.schedule.passes.iter().zip(&compiled.parts);
    let (pass, part) = passes.find(|(pass, _)| pass.images.is_some()).expect("a pass has rows in pairs");
    assert!(pass.dst.span > u64::from(u32::MAX / 4) && compiled.schedule.fused.is_empty());
    let launch = &compiled.program.launches[part.launch];
    let kernel = &compiled.program.kernels[launch.kernel];
    let buffer = |&binding: &Binding| match binding {
        Binding::Table(i) => filled(&compiled.program.tables[i as usize]),
        _ => GlobalBuffer::sparse(Type::F32, noise).expect("a real type"),
    };
    let mut buffers: Vec<GlobalBuffer> = launch.bindings.iter().map(buffer).collect();
    let mut borrowed: Vec<&mut GlobalBuffer> = buffers.iter_mut().collect();
    let options = Options { sample_blocks: Some(u64::from(3 * kernel.cluster)), ..Options::default() };
    simulate_with(kernel, &limits, &mut borrowed, &options).unwrap_or_else(|fault| panic!("{fault}"));
    let data = launch.bindings.iter().position(|one| matches!(one, Binding::Output(0)));
    // Of whole pages, what is no longer what was there.
    let mut touched = buffers[data.expect("it writes")].touched();
    touched.retain(|&(address, real)| real != noise(address));
    let (points, rows, row) = (n / 2, pass.images.expect("it has rows in pairs").rows, pass.axes[0].dim.n);
    // The first block has both ends of a line, and the last is of the last line.
    for end in [0, 2 * points + 1] {
        assert!(touched.iter().any(|&(address, _)| address == end), "{end}");
    }
    assert!(touched.iter().any(|&(address, _)| address > 2 * (lines - 1) * (points + 1)));
    let turn = |k: u128, n: u64| {
        let (re, im) = root((k % u128::from(n)) as u64, n);
        Complex::new(re, im)
    };
    // Frequency k of the complex line, from what the columns left in row k mod rows.
    let complex = |line: u64, k: u64| -> C64 {
        let term = |at: u64| {
            input(line * points + k % rows * row + at) * turn(u128::from(at) * u128::from(k), points)
        };
        (0..64).map(|part| (part..row).step_by(64).map(term).sum::<C64>()).sum()
    };
    let (mut off, mut size) = (0.0, 0.0);
    let mut random = rand::rng();
    let edges = [0, touched.len() / 2 - 1];
    for pair in edges.into_iter().chain((0..150).map(|_| random.random_range(0..touched.len() / 2))) {
        let (re, im) = (touched[2 * pair], touched[2 * pair + 1]);
        assert_eq!((re.0 % 2, im.0), (0, re.0 + 1), "both parts are written");
        let (line, k) = (re.0 / 2 / (points + 1), re.0 / 2 % (points + 1));
        let (own, image) = (complex(line, k % points), complex(line, (points - k) % points).conj());
        let odd = (own - image) * turn(u128::from(k), n) * Complex::new(0.0, -0.5);
        let want = (own + image) * 0.5 + odd;
        off += (C64::new(re.1, im.1) - want).norm_sqr();
        size += want.norm_sqr();
    }
    let error = (off / size).sqrt();
    assert!(error < 1.5e-6, "relative error {error:.2e}");
}
