//! Functions on load and store: each element through the function into an array of our own, from there through the plan
//! into another, and the results through the other function to where they belong.

use std::sync::Arc;

use num_complex::Complex;
use warpfft_core::error::Side;
use warpfft_core::function::Function;
use warpfft_core::problem::{Dim, Format, Growth, Kind, Placement, Problem};
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
    /// Between packed elements, behind the first function and before the second.
    inner: CpuPlan<T>,
}

impl<T: CpuReal> FunctionPlan<T> {
    pub fn new(cpu: &Cpu, problem: &Problem) -> Result<Self, Error> {
        // What follows walks the problem's elements through raw places.
        problem.clone().validated()?;
        span::input(problem)?;
        span::output(problem)?;
        let format = |real| if real { Format::Real } else { Format::Interleaved };
        let [input, output] = problem.kind.reals().map(format);
        let mut packed = Problem {
            functions: Default::default(),
            input,
            output,
            input_offset: 0,
            output_offset: 0,
            storage: [None; 2],
            placement: Placement::OutOfPlace,
            ..problem.clone()
        };
        // In the order in which elements are visited: the last is fastest.
        let lengths: [Vec<u64>; 2] =
            [problem.input_dims().map(|(n, _)| n).collect(), problem.output_dims().map(|(n, _)| n).collect()];
        let stride = |lengths: &Vec<u64>, at: usize| lengths[at + 1..].iter().product::<u64>() as i64;
        let mut dims: Vec<&mut Dim> = packed.batch.iter_mut().chain(&mut packed.transform).collect();
        match &mut packed.kind {
            Kind::Complex => {}
            Kind::RealToComplex(dim) | Kind::ComplexToReal(dim) => dims.push(dim),
            Kind::RealToReal(own) => dims.extend(own.iter_mut().map(|real| &mut real.dim)),
            Kind::Zoom(zoom) => dims.push(&mut zoom.dim),
        }
        for (at, dim) in dims.into_iter().enumerate() {
            [dim.is, dim.os] = lengths.each_ref().map(|lengths| stride(lengths, at));
        }
        let line = |wanted, n| cpu.line(wanted, n, problem.direction);
        Ok(Self { cpu: cpu.clone(), problem: problem.clone(), inner: CpuPlan::new(&packed, line)? })
    }

    /// An array for a side, packed: reals for each element, one or two, and room for them all.
    fn array(&self, side: Side) -> Result<(usize, Vec<T>), Error> {
        let output = side == Side::Output;
        let step = if self.problem.kind.reals()[usize::from(output)] { 1 } else { 2 };
        let points = |dims: &mut dyn Iterator<Item = (u64, i64)>| dims.map(|(n, _)| n).product::<u64>();
        let elements = if output {
            points(&mut self.problem.output_dims())
        } else {
            points(&mut self.problem.input_dims())
        };
        let bytes = elements.saturating_mul(step * size_of::<T>() as u64);
        room::ask(bytes, "processor")?;
        let mut array = Vec::new();
        let full = |_| Error::OutOfMemory { device: "processor".into(), bytes, free: None };
        array.try_reserve_exact((elements * step) as usize).map_err(full)?;
        Ok((step as usize, array))
    }

    fn applied(function: &Function, x: Complex<T>, index: &[u64]) -> Complex<T> {
        let (re, im) = function.evaluate((x.re.into(), x.im.into()), index);
        Complex::new(T::nearest(re), T::nearest(im))
    }

    /// Visits all elements of a side: their indices along the dimensions to transform, first complex ones, and along those
    /// to repeat over, and their places. Packed, they lie in that order.
    fn each(&self, side: Side, mut visit: impl FnMut(&[u64], isize)) {
        let problem = &self.problem;
        let (dims, offset): (Vec<(u64, i64)>, u64) = match side {
            Side::Input => (problem.input_dims().collect(), problem.input_offset),
            _ => (problem.output_dims().collect(), problem.output_offset),
        };
        // Dimensions to repeat over are the slowest here, and the last where functions count them.
        let repeated = problem.batch.len();
        let number = |at: usize| if at < repeated { dims.len() - repeated + at } else { at - repeated };
        let mut index = vec![0_u64; dims.len()];
        let mut place = offset as isize;
        loop {
            visit(&index, place);
            let next = (0..dims.len()).rev().find(|&at| {
                let ((n, stride), own) = (dims[at], &mut index[number(at)]);
                *own += 1;
                if *own < n {
                    place += stride as isize;
                    return true;
                }
                place -= (n as isize - 1) * stride as isize;
                *own = 0;
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
        let (parts, mut packed) = self.array(Side::Input)?;
        let (written_parts, mut results) = self.array(Side::Output)?;
        results.resize(results.capacity(), T::default());
        let [first, second] = job.output;
        let [read, written] = self.problem.stored();
        let source = match job.input {
            Some(planes) => View::<T>::reading(planes, self.problem.input, read),
            None => View::reading([&*first, &*second], self.problem.input, read),
        };
        self.each(Side::Input, |index, from| {
            // SAFETY: the caller has checked that the arrays hold what the problem spans, and nothing writes to them
            // meanwhile.
            let x = unsafe { source.get_any(from) };
            let load = self.problem.functions.load.as_ref();
            let x = load.map_or(x, |load| Self::applied(load, x, index));
            packed.extend([x.re, x.im].into_iter().take(parts));
        });
        let planes: [&mut [u8]; 2] = [bytemuck::cast_slice_mut(&mut results), &mut []];
        let input = Some([bytemuck::cast_slice(&packed), &[]]);
        self.inner.run(HostJob { input, filter: &[], output: planes, part: None })?;
        let target = View::<T>::writing([first, second], self.problem.output, written);
        let mut results = results.chunks_exact(written_parts);
        self.each(Side::Output, |index, to| {
            let Some(parts) = results.next() else { return };
            let x = Complex::new(parts[0], parts.get(1).copied().unwrap_or_default());
            let store = self.problem.functions.store.as_ref();
            let x = store.map_or(x, |store| Self::applied(store, x, index));
            // SAFETY: as above; the view is for writing, and this is the only thread.
            unsafe { target.set_any(to, x) };
        });
        Ok(())
    }
}

/// A plan for a problem with functions.
pub(super) fn plan<T: CpuReal>(cpu: &Cpu, problem: &Problem) -> Result<Arc<dyn Execute>, Error> {
    Ok(Arc::new(FunctionPlan::<T>::new(cpu, problem)?))
}
