//! Writes the PTX of a spread of planned kernels for sm_75, sm_80 and sm_90 into a folder, for the assembler to
//! judge: `cargo run --example planned_ptx -- FOLDER && .ci/ptxas FOLDER`. After the folder, precisions to write, unless
//! all: `f32`, `f64`, `double-single`.

use std::collections::HashSet;
use std::path::Path;

use warpfft_core::problem::{Precision, Problem, RealKind, Storage};
use warpfft_core::request::{Convolution, Fft, Mode};
use warpfft_core::target::{Api, Limits};
use warpfft_core::{Error, compile, emit};

/// Powers of two, primes, every codelet, convolutions, several passes.
fn lengths() -> Vec<u64> {
    let mut lengths: Vec<u64> = (1..=40).collect();
    lengths.extend((6..=20).map(|e| 1_u64 << e));
    lengths.extend([100, 127, 243, 360, 625, 1000, 1001, 2003, 2187, 3125, 4099, 5040, 6561, 7919, 8191]);
    lengths.extend([
        17 * 19,
        19 * 19,
        23 * 29,
        31 * 31,
        31 * 37,
        10_007,
        12_345,
        14_641,
        65_537,
        100_000,
        1_000_000,
    ]);
    lengths
}

fn problems(precision: Precision, limits: &Limits) -> Result<Vec<Problem>, Error> {
    let mut problems = Vec::new();
    for n in lengths() {
        problems.push(Fft::new([n]).batch(((1 << 22) / n).max(1)).precision(precision).build()?);
    }
    let clusters = [vec![128, 128], vec![32, 32, 32], vec![24, 24, 24], vec![1024, 1024]];
    let blocks =
        [vec![16, 16], vec![64, 64], vec![16, 16, 16], vec![100, 100], vec![9, 7, 5], vec![480, 640]];
    for shape in blocks.into_iter().chain(clusters) {
        problems.push(Fft::new(shape.clone()).batch(64).precision(precision).build()?);
        problems.push(Fft::new(shape).batch(64).precision(precision).inverse().in_place().build()?);
    }
    problems.push(Fft::new([1000]).batch(64).planar().precision(precision).build()?);
    problems.extend(real(precision)?);
    problems.extend(convolved(precision, limits)?);
    for n in [16, 100, 1009, 1024, 2003, 1 << 17] {
        problems.push(Fft::new([n]).batch((1 << 22) / n).any_batch().precision(precision).build()?);
    }
    problems.extend(if precision == Precision::DoubleSingle { kept_shorter()? } else { short(precision)? });
    Ok(problems)
}

/// Pairs of singles, kept as less.
fn kept_shorter() -> Result<Vec<Problem>, Error> {
    let mut asked = Vec::new();
    for n in [60, 1009, 1024, 8192, 1 << 16] {
        let rows = Fft::new([n]).batch((1 << 22) / n).double_single();
        let kept = [
            [Storage::F32; 2],
            [Storage::F16; 2],
            [Storage::F32, Storage::F64],
            [Storage::F64, Storage::Bf16],
        ];
        asked.extend(kept.map(|[input, output]| rows.clone().storages(input, output)));
        asked.push(rows.r2c().storage(Storage::F32));
    }
    asked.into_iter().map(Fft::build).collect()
}

/// Numbers of 16 bits, whose neighbours move two by two.
fn short(precision: Precision) -> Result<Vec<Problem>, Error> {
    let mut asked = Vec::new();
    for n in (1..=14).map(|e| 1_u64 << e).chain([360, 1000, 1001, 1009, 2187, 1 << 16, 1 << 20, 1 << 24]) {
        let rows = Fft::new([n]).batch(((1 << 22) / n).max(1));
        asked.extend([rows.clone().f16(), rows.clone().bf16().in_place().inverse()]);
        asked.extend([rows.clone().f16().r2c(), rows.f16().planar()]);
    }
    for shape in
        [vec![16, 16], vec![64, 64], vec![128, 128], vec![256, 256], vec![1024, 1024], vec![32, 32, 32]]
    {
        asked.extend([Fft::new(shape.clone()).batch(64).f16(), Fft::new(shape).batch(64).f16().c2r()]);
    }
    // Tiles that come ahead, where an H200's blocks take more than one.
    for shape in
        [vec![4096], vec![6000], vec![8192], vec![10_000], vec![12_000], vec![1 << 14], vec![128, 128]]
    {
        let batch = (1 << 24) / shape.iter().product::<u64>();
        let lines = Fft::new(shape.clone()).batch(batch);
        asked.extend([lines.clone().f16(), lines.clone().bf16().in_place().inverse()]);
        // 128 x 128 of singles in f64 spills 16 bytes on sm_80 (docs/notes/storage.md).
        if precision == Precision::F64 && shape.len() == 1 {
            asked.push(lines.storage(Storage::F32));
        }
    }
    asked.into_iter().map(|fft| fft.precision(precision).build()).collect()
}

/// Problems of real data: lines of all sorts, several dimensions in one pass, and what does not fit the chip.
fn real(precision: Precision) -> Result<Vec<Problem>, Error> {
    let mut asked = Vec::new();
    for n in [2, 15, 64, 1000, 1001, 1009, 1024, 2003, 8192, 16384, 1 << 16, 1 << 17] {
        let rows = Fft::new([n]).batch((1 << 22) / n);
        asked.extend([rows.clone().r2c(), rows.clone().c2r()]);
        // dst1 of 1024 in f64 spills 16 bytes on sm_75 (docs/notes/real-data.md).
        let kinds = RealKind::ALL.into_iter().filter(|_| n < 1009);
        asked.extend(kinds.map(|kind| rows.clone().r2r([kind])));
    }
    let planes = [vec![100, 100], vec![512, 512], vec![15, 15]];
    let volumes = [vec![32, 32, 32], vec![64, 64, 64], vec![256, 256, 256]];
    for shape in planes.into_iter().chain(volumes) {
        asked.extend([Fft::new(shape.clone()).batch(64).r2c(), Fft::new(shape).batch(64).c2r()]);
    }
    for shape in [vec![64, 64], vec![100, 100], vec![512, 512], vec![1024, 1024], vec![64, 64, 64]] {
        let batch = (1 << 26) / shape.iter().product::<u64>();
        let kinds = [RealKind::Dct2, RealKind::Dct3, RealKind::Dct4];
        asked.extend(kinds.map(|kind| Fft::new(shape.clone()).batch(batch).r2r([kind])));
    }
    asked.into_iter().map(|fft| fft.precision(precision).build()).collect()
}

/// Windows, and convolutions of lines, images and long signals.
fn convolved(precision: Precision, limits: &Limits) -> Result<Vec<Problem>, Error> {
    let mut problems = Vec::new();
    for n in [64, 1000, 1009, 4096, 1 << 17] {
        let rows = Fft::new([n]).batch((1 << 22) / n).precision(precision);
        problems.push(rows.clone().shift_output().build()?);
        problems.push(rows.pad(&[n / 2 + 1]).crop(&[n - 3]).inverse().build()?);
    }
    problems
        .push(Fft::new([512, 512]).batch(16).pad(&[300, 300]).shift_output().precision(precision).build()?);
    let lines = [(100, 9), (1000, 65), (4000, 97), (8192, 129), (1 << 20, 1 << 18)];
    let asked = lines.into_iter().map(|(n, k)| Convolution::new([n], [k]).batch(64).blocks(0));
    let images =
        [Convolution::new([500, 500], [9, 9]).batch(8), Convolution::new([1024, 1024], [31, 31]).batch(8)];
    for asked in asked.chain(images).map(|asked| asked.precision(precision).mode(Mode::Same)) {
        for asked in [asked.clone(), asked.clone().real(), asked.correlate()] {
            problems.push(asked.problems(Some(limits))?.part);
        }
    }
    Ok(problems)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: planned_ptx FOLDER")?;
    std::fs::create_dir_all(&folder)?;
    let wanted: Vec<String> = std::env::args().skip(2).collect();
    let taken =
        |precision: &Precision| wanted.is_empty() || wanted.iter().any(|name| name == precision.name());
    let all = [Precision::F32, Precision::F64, Precision::DoubleSingle];
    let precisions: Vec<Precision> = all.into_iter().filter(taken).collect();
    let mut seen = HashSet::new();
    for limits in [Limits::h200(), Limits::a100(), Limits::t4()] {
        let Api::Ptx { sm } = limits.api else { continue };
        let asked = precisions.iter().map(|&precision| problems(precision, &limits));
        let asked = asked.collect::<Result<Vec<_>, _>>()?;
        for problem in asked.into_iter().flatten() {
            for kernel in &compile(&problem, &limits)?.kernels {
                let text = emit::ptx(kernel, sm)?;
                if seen.insert(text.clone()) {
                    let name = format!("{}_{:04}_sm{sm}.ptx", kernel.name, seen.len());
                    std::fs::write(Path::new(&folder).join(name), text)?;
                }
            }
        }
    }
    println!("{} kernels in {folder}", seen.len());
    Ok(())
}
