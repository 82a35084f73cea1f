//! Functions on load and store, and windows of real data: each element through the function into an array of our own,
//! which holds every point, or for a convolution those that its windows show; from there through the plan into another,
//! and the results through the other function to where they belong.

use std::marker::PhantomData;
use std::sync::Arc;

use num_complex::Complex;
use warpfft_core::error::Side;
use warpfft_core::function::Function;
use warpfft_core::problem::{Dim, Format, Growth, Kind, Placement, Problem};
use warpfft_core::program::Program;

use super::around::Around;
use super::plan::CpuPlan;
use super::view::View;
use super::{Cpu, CpuReal, growth};
use crate::device::backend::{Execute, HostJob};
use crate::error::Error;
use crate::measure::{Measurement, Timing};
use crate::{room, span};

/// A dimension of a side.
struct Along {
    /// From one element to the next.
    stride: isize,
    /// Which point of the transform each index is.
    points: Vec<u64>,
    /// Where that lies in our array.
    packed: Vec<usize>,
}

/// A problem with functions, or one of real data with windows.
pub(super) struct EndsPlan<T> {
    cpu: Cpu,
    problem: Problem,
    /// Of both sides, those to repeat over first.
    dims: [Vec<Along>; 2],
    /// Elements of our arrays.
    elements: [u64; 2],
    /// Between packed elements, behind the first function and before the second.
    inner: Box<dyn Execute>,
    made_for: PhantomData<T>,
}

impl<T: CpuReal> EndsPlan<T> {
    pub fn new(cpu: &Cpu, problem: &Problem) -> Result<Self, Error> {
        // What follows walks the problem's elements through raw places.
        problem.clone().validated()?;
        span::input(problem)?;
        span::output(problem)?;
        let format = |real| if real { Format::Real } else { Format::Interleaved };
        let [input, output] = problem.kind.reals().map(format);
        // A filter's blocks lie as windows say, which its plan knows: our array holds what they show.
        let shown = problem.filter.is_some();
        let mut packed = Problem {
            functions: Default::default(),
            windows: if shown { problem.windows.clone() } else { Vec::new() },
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
            [packed.input_dims().map(|(n, _)| n).collect(), packed.output_dims().map(|(n, _)| n).collect()];
        let stride = |lengths: &Vec<u64>, at: usize| lengths[at + 1..].iter().product::<u64>();
        let mut dims: Vec<&mut Dim> = packed.batch.iter_mut().chain(&mut packed.transform).collect();
        match &mut packed.kind {
            Kind::Complex => {}
            Kind::RealToComplex(dim) | Kind::ComplexToReal(dim) => dims.push(dim),
            Kind::RealToReal(own) => dims.extend(own.iter_mut().map(|real| &mut real.dim)),
            Kind::Zoom(zoom) => dims.push(&mut zoom.dim),
        }
        for (at, dim) in dims.into_iter().enumerate() {
            [dim.is, dim.os] = lengths.each_ref().map(|lengths| stride(lengths, at) as i64);
        }
        let repeated = problem.batch.len();
        let along = |side: Side, at: usize, (n, own): (u64, i64), lengths: &Vec<u64>| {
            let far = stride(lengths, at);
            let point = |index: u64| match at.checked_sub(repeated) {
                Some(dim) if shown => problem.window(dim, side).point(index, problem.transform[dim].n),
                Some(dim) => problem.window(dim, side).point(index, lengths[at]),
                None => index,
            };
            let points: Vec<u64> = (0..n).map(point).collect();
            let held = |(index, &point): (u64, &u64)| (if shown { index } else { point } * far) as usize;
            let packed = (0..).zip(&points).map(held).collect();
            Along { stride: own as isize, points, packed }
        };
        let [read, written] = &lengths;
        let inputs = problem.input_dims().enumerate().map(|(at, dim)| along(Side::Input, at, dim, read));
        let outputs =
            problem.output_dims().enumerate().map(|(at, dim)| along(Side::Output, at, dim, written));
        let dims = [inputs.collect(), outputs.collect()];
        let elements = lengths.each_ref().map(|lengths| lengths.iter().product());
        let inner: Box<dyn Execute> = match packed.filter {
            Some(_) => Box::new(Around::new(&packed, cpu.maker::<T>())?),
            None => Box::new(CpuPlan::<T>::new(&packed, |wanted, n| cpu.line(wanted, n, problem.direction))?),
        };
        let made_for = PhantomData;
        Ok(Self { cpu: cpu.clone(), problem: problem.clone(), dims, elements, inner, made_for })
    }

    /// An array for a side, of zeros: one or two reals for each element, and how many.
    fn array(&self, side: Side) -> Result<(usize, Vec<T>), Error> {
        let output = usize::from(side == Side::Output);
        let parts = if self.problem.kind.reals()[output] { 1 } else { 2 };
        let reals = self.elements[output].saturating_mul(parts as u64);
        let bytes = reals.saturating_mul(size_of::<T>() as u64);
        room::ask(bytes, "processor")?;
        let mut array = Vec::new();
        let full = |_| Error::OutOfMemory { device: "processor".into(), bytes, free: None };
        array.try_reserve_exact(reals as usize).map_err(full)?;
        array.resize(reals as usize, T::default());
        Ok((parts, array))
    }

    fn applied(function: &Function, x: Complex<T>, index: &[u64]) -> Complex<T> {
        let (re, im) = function.evaluate((x.re.into(), x.im.into()), index);
        Complex::new(T::nearest(re), T::nearest(im))
    }

    /// Visits all elements of a side: which points they are along the dimensions to transform, first complex ones, and along
    /// those to repeat over, their places, and those in our array.
    fn each(&self, side: Side, mut visit: impl FnMut(&[u64], isize, usize)) {
        let output = usize::from(side == Side::Output);
        let dims = &self.dims[output];
        let mut place = [self.problem.input_offset, self.problem.output_offset][output] as isize;
        // Dimensions to repeat over are the slowest here, and the last where functions count them.
        let repeated = self.problem.batch.len();
        let number = |at: usize| if at < repeated { dims.len() - repeated + at } else { at - repeated };
        let mut index = vec![0_usize; dims.len()];
        let mut points = vec![0_u64; dims.len()];
        dims.iter().enumerate().for_each(|(at, dim)| points[number(at)] = dim.points[0]);
        let mut packed: usize = dims.iter().map(|dim| dim.packed[0]).sum();
        loop {
            visit(&points, place, packed);
            let next = dims.iter().enumerate().rev().find(|&(at, dim)| {
                let index = &mut index[at];
                packed -= dim.packed[*index];
                *index += 1;
                let goes_on = *index < dim.packed.len();
                if goes_on {
                    place += dim.stride;
                } else {
                    place -= (dim.packed.len() as isize - 1) * dim.stride;
                    *index = 0;
                }
                packed += dim.packed[*index];
                points[number(at)] = dim.points[*index];
                goes_on
            });
            if next.is_none() {
                return;
            }
        }
    }
}

impl<T: CpuReal> Execute for EndsPlan<T> {
    fn growth(&self) -> Growth {
        growth::of(self.problem.precision)
    }

    fn measure(&self, _timing: Timing) -> Result<Measurement, Error> {
        Err(Error::Unsupported {
            device: "the processor".into(),
            what: "time transforms with functions, or windows of real data".into(),
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
        let [first, second] = job.output;
        let [read, written] = self.problem.stored();
        let source = match job.input {
            Some(planes) => View::<T>::reading(planes, self.problem.input, read),
            None => View::reading([&*first, &*second], self.problem.input, read),
        };
        self.each(Side::Input, |index, from, at| {
            // SAFETY: the caller has checked that the arrays hold what the problem spans, and nothing writes to them
            // meanwhile.
            let x = unsafe { source.get_any(from) };
            let load = self.problem.functions.load.as_ref();
            let x = load.map_or(x, |load| Self::applied(load, x, index));
            packed[at * parts..][..parts].copy_from_slice(&[x.re, x.im][..parts]);
        });
        let planes: [&mut [u8]; 2] = [bytemuck::cast_slice_mut(&mut results), &mut []];
        let input = Some([bytemuck::cast_slice(&packed), &[]]);
        self.inner.run(HostJob { input, filter: job.filter, output: planes, part: None })?;
        let target = View::<T>::writing([first, second], self.problem.output, written);
        self.each(Side::Output, |index, to, at| {
            let parts = &results[at * written_parts..][..written_parts];
            let x = Complex::new(parts[0], parts.get(1).copied().unwrap_or_default());
            let store = self.problem.functions.store.as_ref();
            let x = store.map_or(x, |store| Self::applied(store, x, index));
            // SAFETY: as above; the view is for writing, and this is the only thread.
            unsafe { target.set_any(to, x) };
        });
        Ok(())
    }
}

/// A plan for a problem with functions, or one of real data with windows.
pub(super) fn plan<T: CpuReal>(cpu: &Cpu, problem: &Problem) -> Result<Arc<dyn Execute>, Error> {
    Ok(Arc::new(EndsPlan::<T>::new(cpu, problem)?))
}
