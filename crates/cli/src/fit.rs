//! Arrays cropped, and padded with zeros, to other lengths.

use std::path::Path;

use crate::error::CliError;
use crate::io::{Samples, Signal, each, packed_strides};

/// The same signal with that shape: what is beyond is left out, what is missing is 0.
pub fn fitted(mut signal: Signal, shape: &[usize]) -> Result<Signal, CliError> {
    if signal.shape.iter().zip(shape).any(|(had, wanted)| wanted > had) {
        let count = shape.iter().try_fold(1_usize, |count, &extent| count.checked_mul(extent));
        let bytes = u128::from(signal.samples.element_bytes());
        let whole = shape.iter().fold(bytes, |bytes, &extent| bytes.saturating_mul(extent as u128));
        let what = "the padded input";
        let count = count.ok_or(CliError::HostMemory { what, bytes: whole })?;
        let (storage, real) = (signal.samples.storage(), signal.samples.is_real());
        let mut padded = Samples::zeros(storage, real, count, what)?;
        let strides = packed_strides(shape);
        match (&signal.samples, &mut padded) {
            (Samples::F16(from), Samples::F16(to)) => copy(from, &signal, to, shape, &strides),
            (Samples::Bf16(from), Samples::Bf16(to)) => copy(from, &signal, to, shape, &strides),
            (Samples::Real16(from), Samples::Real16(to)) => copy(from, &signal, to, shape, &strides),
            (Samples::RealB16(from), Samples::RealB16(to)) => copy(from, &signal, to, shape, &strides),
            (Samples::F32(from), Samples::F32(to)) => copy(from, &signal, to, shape, &strides),
            (Samples::F64(from), Samples::F64(to)) => copy(from, &signal, to, shape, &strides),
            (Samples::Real32(from), Samples::Real32(to)) => copy(from, &signal, to, shape, &strides),
            (Samples::Real64(from), Samples::Real64(to)) => copy(from, &signal, to, shape, &strides),
            _ => {}
        }
        (signal.samples, signal.strides) = (padded, strides);
    }
    // What is only cropped stays where it lies.
    signal.shape = shape.to_vec();
    Ok(signal)
}

/// Reals in pairs along the last axis as complex numbers.
pub fn paired(mut signal: Signal, path: &Path) -> Result<Signal, CliError> {
    let packed = signal.strides == packed_strides(&signal.shape);
    if signal.shape.last() != Some(&2) || !signal.samples.is_real() || !packed || signal.shape.len() < 2 {
        return Err(CliError::NoPairs { path: path.into(), shape: signal.shape });
    }
    signal.shape.pop();
    signal.strides = packed_strides(&signal.shape);
    signal.axes = (0..signal.shape.len()).collect();
    signal.samples = signal.samples.paired();
    signal.real = false;
    Ok(signal)
}

/// Copies what both arrays have.
fn copy<T: Copy>(from: &[T], signal: &Signal, to: &mut [T], shape: &[usize], strides: &[i64]) {
    let common: Vec<usize> = signal.shape.iter().zip(shape).map(|(&a, &b)| a.min(b)).collect();
    let Some((&last, outer)) = common.split_last() else { return };
    let mut index = vec![0; outer.len()];
    loop {
        let start = |strides: &[i64]| -> usize {
            index.iter().zip(strides).map(|(&i, &stride): (&usize, &i64)| i * stride as usize).sum()
        };
        let (read, write) = (start(&signal.strides), start(strides));
        let (is, os) = (signal.strides[outer.len()] as usize, strides[outer.len()] as usize);
        for i in 0..last {
            to[write + i * os] = from[read + i * is];
        }
        // The next index, the last axis fastest.
        let Some(axis) = (0..outer.len()).rev().find(|&axis| index[axis] + 1 < outer[axis]) else { return };
        index[axis] += 1;
        index[axis + 1..].fill(0);
    }
}

/// Moves frequency 0 of each transformed axis to its middle, as numpy's fftshift does.
pub fn shift(samples: &mut Samples, shape: &[usize], axes: &[usize]) {
    each!(samples, data => shift_in_place(data, shape, axes));
}

fn shift_in_place<T>(data: &mut [T], shape: &[usize], axes: &[usize]) {
    for &axis in axes {
        let inner: usize = shape[axis + 1..].iter().product();
        for block in data.chunks_exact_mut(shape[axis] * inner) {
            block.rotate_right(shape[axis] / 2 * inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shift_moves_zero_to_the_middle_of_odd_and_even_axes() {
        let numbers = |values: Vec<i32>| Samples::Real64(values.into_iter().map(f64::from).collect());
        let mut samples = numbers((0..12).collect());
        shift(&mut samples, &[3, 4], &[0, 1]);
        assert_eq!(samples, numbers(vec![10, 11, 8, 9, 2, 3, 0, 1, 6, 7, 4, 5]));
    }

    /// Row-major numbers of a signal.
    fn content(signal: &Signal) -> Vec<f64> {
        let count: usize = signal.shape.iter().product();
        let packed = packed_strides(&signal.shape);
        let address = |at: usize| -> usize {
            let parts = packed.iter().zip(&signal.shape).zip(&signal.strides);
            parts.map(|((&own, &n), &stride)| at / own as usize % n * stride as usize).sum()
        };
        (0..count).map(|at| signal.samples.get(address(at)).re).collect()
    }

    #[test]
    fn arrays_are_cropped_and_padded_in_any_memory_order() {
        for strides in [vec![3, 1], vec![1, 2]] {
            let values = if strides[0] == 3 { [0, 1, 2, 10, 11, 12] } else { [0, 10, 1, 11, 2, 12] };
            let signal = || Signal {
                samples: Samples::Real32(values.iter().map(|&value| value as f32).collect()),
                shape: vec![2, 3],
                strides: strides.clone(),
                real: true,
                axes: vec![0, 1],
                sample_rate: None,
                kind: "test".into(),
            };
            let fit = |shape: &[usize]| content(&fitted(signal(), shape).unwrap());
            assert_eq!(fit(&[2, 3]), [0.0, 1.0, 2.0, 10.0, 11.0, 12.0]);
            assert_eq!(fit(&[2, 2]), [0.0, 1.0, 10.0, 11.0]);
            assert_eq!(fit(&[1, 4]), [0.0, 1.0, 2.0, 0.0]);
            assert_eq!(fit(&[3, 2]), [0.0, 1.0, 10.0, 11.0, 0.0, 0.0]);
            let error = fitted(signal(), &[usize::MAX, 4]).unwrap_err();
            assert!(matches!(error, CliError::HostMemory { bytes, .. } if bytes > 1 << 64), "{error}");
        }
        let single = Signal {
            samples: Samples::Real64(vec![7.0]),
            shape: vec![],
            strides: vec![],
            real: true,
            axes: vec![],
            sample_rate: None,
            kind: "test".into(),
        };
        assert_eq!(content(&fitted(single, &[]).unwrap()), [7.0]);
    }
}
