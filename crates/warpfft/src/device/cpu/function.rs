//! Functions on load and store: each element through the function into an array of our own, from there through the plan,
//! and the result through the other function where it lies.

use std::sync::Arc;

use num_complex::Complex;
use warpfft_core::function::Function;
use warpfft_core::problem::{Dim, Format, Growth, Placement, Problem};
use warpfft_core::program::Program;

use super::plan::CpuPlan;
use super::view::View;
use super::{Cpu, CpuReal, growth};
use crate::device::backend::{Execute, HostJob};
use crate::error::Error;
use crate::measure::{Measurement, Timing};
use crate::{room, span};

/// A problem with functions.
pub(super) struct FunctionPlan<T> {
    cpu: Cpu,
    problem: Problem,
    /// From packed elements, on which the first function has been.
    inner: CpuPlan<T>,
}

impl<T: CpuReal> FunctionPlan<T> {
    pub fn new(cpu: &Cpu, problem: &Problem) -> Result<Self, Error> {
        // What follows walks the problem's elements through raw places.
        problem.clone().validated()?;
        span::input(problem)?;
        span::output(problem)?;
        let mut packed = Problem {
            functions: Default::default(),
            input: Format::Interleaved,
            input_offset: 0,
            placement: Placement::OutOfPlace,
            ..problem.clone()
        };
        let mut stride = 1;
        for dim in packed.transform.iter_mut().rev().chain(packed.batch.iter_mut().rev()) {
            (dim.is, stride) = (stride, stride * dim.n as i64);
        }
        let line = |wanted, n| cpu.line(wanted, n, problem.direction);
        Ok(Self { cpu: cpu.clone(), problem: problem.clone(), inner: CpuPlan::new(&packed, line)? })
    }

    fn applied(function: &Function, x: Complex<T>, index: &[u64]) -> Complex<T> {
        let (re, im) = function.evaluate((x.re.into(), x.im.into()), index);
        Complex::new(T::nearest(re), T::nearest(im))
    }

    /// Visits the indices of all elements with their places in the input and in the output: dimensions to transform first,
    /// then those to repeat over, the last of the former fastest.
    fn each(&self, mut visit: impl FnMut(&[u64], isize, isize)) {
        let (transform, batch) = (&self.problem.transform, &self.problem.batch);
        let mut index = vec![0_u64; transform.len() + batch.len()];
        // Slowest first: the order in which elements are packed.
        let dims: Vec<(usize, &Dim)> =
            (transform.len()..).zip(batch).chain(transform.iter().enumerate()).collect();
        let mut at = [self.problem.input_offset as isize, self.problem.output_offset as isize];
        loop {
            visit(&index, at[0], at[1]);
            let next = dims.iter().rev().find(|(number, dim)| {
                let (is, os) = (dim.is as isize, dim.os as isize);
                index[*number] += 1;
                if index[*number] < dim.n {
                    at = [at[0] + is, at[1] + os];
                    return true;
                }
                let back = dim.n as isize - 1;
                at = [at[0] - back * is, at[1] - back * os];
                index[*number] = 0;
                false
            });
            if next.is_none() {
                return;
            }
        }
    }
}

impl<T: CpuReal> Execute for FunctionPlan<T> {
    fn growth(&self) -> Growth {
        growth::of(self.problem.precision)
    }

    fn measure(&self, _timing: Timing) -> Result<Measurement, Error> {
        Err(Error::Unsupported {
            device: "the processor".into(),
            what: "time transforms with functions".into(),
            would_work: "measure the transform without them, or on another device".into(),
        })
    }

    fn program(&self) -> Option<&Program> {
        None
    }

    fn workspace_bytes(&self) -> u64 {
        0
    }

    fn run(&self, job: HostJob<'_>) -> Result<(), Error> {
        if let Some(part) = job.part {
            return Self::new(&self.cpu, &part.problem)?.run(HostJob { part: None, ..job });
        }
        let bytes = self.problem.elements().saturating_mul(size_of::<Complex<T>>() as u64);
        room::ask(bytes, "processor")?;
        let mut packed: Vec<Complex<T>> = Vec::new();
        let full = |_| Error::OutOfMemory { device: "processor".into(), bytes, free: None };
        packed.try_reserve_exact(self.problem.elements() as usize).map_err(full)?;
        let [first, second] = job.output;
        let [read, written] = self.problem.stored();
        {
            let source = match job.input {
                Some(planes) => View::<T>::reading(planes, self.problem.input, read),
                None => View::reading([&*first, &*second], self.problem.input, read),
            };
            self.each(|index, from, _| {
                // SAFETY: the caller has checked that the arrays hold what the problem spans, and nothing writes to them
                // meanwhile.
                let x = unsafe { source.get_any(from) };
                let load = self.problem.functions.load.as_ref();
                packed.push(load.map_or(x, |load| Self::applied(load, x, index)));
            });
        }
        let input = Some([bytemuck::cast_slice(&packed), &[]]);
        self.inner.run(HostJob { input, filter: &[], output: [&mut *first, &mut *second], part: None })?;
        if let Some(store) = &self.problem.functions.store {
            let target = View::<T>::writing([first, second], self.problem.output, written);
            self.each(|index, _, to| {
                // SAFETY: as above; the view is for writing, and this is the only thread.
                unsafe { target.set(to, Self::applied(store, target.get(to), index)) };
            });
        }
        Ok(())
    }
}

/// A plan for a problem with functions.
pub(super) fn plan<T: CpuReal>(cpu: &Cpu, problem: &Problem) -> Result<Arc<dyn Execute>, Error> {
    Ok(Arc::new(FunctionPlan::<T>::new(cpu, problem)?))
}
