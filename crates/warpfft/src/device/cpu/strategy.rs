//! Published programs for the processor: each line by their function, in one thread; what lies between lines and memory is
//! as of every other plan here.

use std::sync::Arc;

use num_complex::Complex;
use rustfft::{Fft, FftDirection, Length};
use warpfft_core::problem::{Direction, Problem};
use warpfft_core::strategy::HostLine;

use super::CpuReal;
use super::lines::Work;
use super::plan::CpuPlan;
use crate::device::backend::Execute;
use crate::error::Error;
use crate::room;

/// Complex numbers that such a program allocates at once, at most, for each point of a line.
const ALLOCATED: u64 = 4;

/// A strategy's function of a line in the place of a library's.
struct Line {
    own: HostLine,
    length: usize,
    direction: Direction,
}

/// Makes a problem of complex numbers ready whose lines go through that function.
pub(super) fn plan<T: CpuReal>(
    problem: &Problem,
    own: HostLine,
    device: &str,
) -> Result<Arc<dyn Execute>, Error> {
    let plan = CpuPlan::<T>::new(problem, |_, n| {
        let bytes = n.saturating_mul(ALLOCATED * size_of::<Complex<T>>() as u64);
        room::ask(bytes, device)?;
        let full = || Error::OutOfMemory { device: device.into(), bytes, free: None };
        let length = usize::try_from(n).map_err(|_| full())?;
        Ok(Work::Complex(Arc::new(Line { own, length, direction: problem.direction })))
    })?;
    Ok(Arc::new(plan.in_one_thread()))
}

impl Length for Line {
    fn len(&self) -> usize {
        self.length
    }
}

impl rustfft::Direction for Line {
    fn fft_direction(&self) -> FftDirection {
        match self.direction {
            Direction::Forward => FftDirection::Forward,
            Direction::Inverse => FftDirection::Inverse,
        }
    }
}

impl<T: CpuReal> Fft<T> for Line {
    fn process_with_scratch(&self, lines: &mut [Complex<T>], _: &mut [Complex<T>]) {
        lines.chunks_exact_mut(self.length).for_each(|line| self.own.transform(line, self.direction));
    }

    fn process_outofplace_with_scratch(
        &self,
        input: &mut [Complex<T>],
        output: &mut [Complex<T>],
        scratch: &mut [Complex<T>],
    ) {
        self.process_immutable_with_scratch(input, output, scratch);
    }

    fn process_immutable_with_scratch(
        &self,
        input: &[Complex<T>],
        output: &mut [Complex<T>],
        scratch: &mut [Complex<T>],
    ) {
        output.copy_from_slice(input);
        self.process_with_scratch(output, scratch);
    }

    fn get_inplace_scratch_len(&self) -> usize {
        0
    }

    fn get_outofplace_scratch_len(&self) -> usize {
        0
    }

    fn get_immutable_scratch_len(&self) -> usize {
        0
    }
}
