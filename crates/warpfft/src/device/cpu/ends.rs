//! Functions on load and store, and windows of real data: each element through the function into an array of our own,
//! which holds every point, or for a convolution those that its windows show; from there through the plan into another,
//! and the results through the other function to where they belong.

use std::marker::PhantomData;
use std::sync::Arc;

use num_complex::Complex;
use rayon::prelude::*;
use warpfft_core::error::Side;
use warpfft_core::problem::{Dim, Format, Growth, Kind, Placement, Problem};
use warpfft_core::program::Program;

use super::around::Around;
use super::plan::CpuPlan;
use super::timing;
use super::view::View;
use super::{Cpu, CpuReal, growth};
use crate::device::backend::{Execute, HostJob};
use crate::error::Error;
use crate::measure::{Measurement, Timing};
use crate::{room, span};

/// Elements that a thread carries at once.
const ROW: usize = 256;

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
        // What follows walks the problem's elements through raw places, and applies functions as the canonical form has them.
        let problem = &problem.clone().validated()?;
        span::input(problem)?;
        span::output(problem)?;
        let [input, output] = problem.kind.reals().map(format_of);
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
            let (mut points, mut packed) = (room::list(n, "processor")?, room::list(n, "processor")?);
            points.extend((0..n).map(point));
            let held = |(index, &point): (u64, &u64)| (if shown { index } else { point } * far) as usize;
            packed.extend((0..n).zip(&points).map(held));
            Ok(Along { stride: own as isize, points, packed })
        };
        let [read, written] = &lengths;
        let inputs = problem.input_dims().enumerate().map(|(at, dim)| along(Side::Input, at, dim, read));
        let outputs =
            problem.output_dims().enumerate().map(|(at, dim)| along(Side::Output, at, dim, written));
        let dims = [inputs.collect::<Result<_, Error>>()?, outputs.collect::<Result<_, _>>()?];
        let elements = lengths.each_ref().map(|lengths| lengths.iter().product());
        let inner: Box<dyn Execute> = match packed.filter {
            Some(_) => Box::new(Around::new(&packed, cpu.maker::<T>())?),
            None => Box::new(CpuPlan::<T>::new(&packed, |wanted, n| cpu.line(wanted, n, problem.direction))?),
        };
        let made_for = PhantomData;
        Ok(Self { cpu: cpu.clone(), problem: problem.clone(), dims, elements, inner, made_for })
    }

    /// An array for a side, of zeros: one or two reals for each element.
    fn array(&self, side: Side) -> Result<Vec<T>, Error> {
        let output = usize::from(side == Side::Output);
        let parts = if self.problem.kind.reals()[output] { 1 } else { 2 };
        let reals = self.elements[output].saturating_mul(parts as u64);
        room::zeros(reals, "processor")
    }

    /// Carries all elements of a side through its function, from the caller's array to ours or back, by several threads.
    ///
    /// # Safety
    ///
    /// One view is of the caller's array, which holds what the problem spans, the other of ours; that of where elements go is for
    /// writing, and nothing else touches either meanwhile.
    unsafe fn carry(&self, side: Side, from: View<T>, to: View<T>) {
        let output = side == Side::Output;
        let functions = &self.problem.functions;
        let function = if output { &functions.store } else { &functions.load };
        self.each_row(side, |row| {
            let [re, im] = &mut row.room.parts;
            re.clear();
            im.clear();
            for (i, &held) in row.held.iter().enumerate() {
                let (far, near) = (row.place + i as isize * row.stride, (row.packed + held) as isize);
                // SAFETY: by this function's contract; our array has a place for every point.
                let x = unsafe { from.get_any(if output { near } else { far }) };
                re.push(x.re.into());
                im.push(x.im.into());
            }
            if let Some(function) = function {
                let along = (row.along, row.points);
                function.evaluate_row(&mut row.room.values, [re, im], &row.room.index, along);
            }
            for (i, (&held, (&re, &im))) in row.held.iter().zip(re.iter().zip(im.iter())).enumerate() {
                let (far, near) = (row.place + i as isize * row.stride, (row.packed + held) as isize);
                let x = Complex::new(T::nearest(re), T::nearest(im));
                // SAFETY: as above; no two indices of a validated problem share an element of its output, or of our array.
                unsafe { to.set_any(if output { far } else { near }, x) };
            }
        });
    }

    /// Visits all elements of a side, each once, by several threads: in rows along the last dimension.
    fn each_row(&self, side: Side, visit: impl Fn(&mut Row<'_>) + Sync) {
        let output = usize::from(side == Side::Output);
        let begin = [self.problem.input_offset, self.problem.output_offset][output] as isize;
        let dims = &self.dims[output];
        // A single element has no dimension.
        let one = Along { stride: 0, points: vec![0], packed: vec![0] };
        let (own, outer) = dims.split_last().unwrap_or((&one, &[]));
        // Dimensions to repeat over are the slowest here, and the last where functions count them.
        let repeated = self.problem.batch.len();
        let number = |at: usize| if at < repeated { dims.len() - repeated + at } else { at - repeated };
        let along = number(outer.len());
        let len = own.points.len();
        let (pieces, rows) = (len.div_ceil(ROW), outer.iter().map(|dim| dim.points.len()).product::<usize>());
        let least = ROW.div_ceil(len);
        let all = (0..rows * pieces).into_par_iter().with_min_len(least);
        all.for_each_init(Room::default, |room, at| {
            let (mut rest, first) = (at / pieces, at % pieces * ROW);
            let part = first..len.min(first + ROW);
            let (mut place, mut packed) = (begin + first as isize * own.stride, 0);
            room.index.resize(dims.len().max(1), 0);
            for (at, dim) in outer.iter().enumerate().rev() {
                let i = rest % dim.points.len();
                rest /= dim.points.len();
                room.index[number(at)] = dim.points[i];
                place += i as isize * dim.stride;
                packed += dim.packed[i];
            }
            let (points, held) = (&own.points[part.clone()], &own.packed[part]);
            visit(&mut Row { room, along, points, held, place, stride: own.stride, packed });
        });
    }
}

/// What a thread keeps from one row to the next.
#[derive(Default)]
struct Room {
    /// Real and imaginary parts of the elements.
    parts: [Vec<f64>; 2],
    /// Which point they are along each dimension but that of the row, as functions number them.
    index: Vec<u64>,
    values: Vec<f64>,
}

/// Elements that follow each other along the last dimension of a side.
struct Row<'a> {
    room: &'a mut Room,
    /// The dimension's number, which points of it they are, and where these lie in our array from the row's begin on.
    along: usize,
    points: &'a [u64],
    held: &'a [usize],
    /// Where the first of them lies in the caller's array, and how far they are apart.
    place: isize,
    stride: isize,
    /// Where the row begins in our array.
    packed: usize,
}

impl<T: CpuReal> Execute for EndsPlan<T> {
    fn growth(&self) -> Growth {
        growth::of(self.problem.precision)
    }

    fn measure(&self, timing: Timing) -> Result<Measurement, Error> {
        timing::measure::<T>(self, &self.problem, timing)
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
        let mut packed = self.array(Side::Input)?;
        let mut results = self.array(Side::Output)?;
        let [first, second] = job.output;
        let [read, written] = self.problem.stored();
        let source = match job.input {
            Some(planes) => View::<T>::reading(planes, self.problem.input, read),
            None => View::reading([&*first, &*second], self.problem.input, read),
        };
        let [from, to] = self.problem.kind.reals().map(format_of);
        let ours = View::<T>::writing([bytemuck::cast_slice_mut(&mut packed), &mut []], from, T::STORAGE);
        // SAFETY: the caller has checked that the arrays hold what the problem spans, and nothing writes to them meanwhile.
        unsafe { self.carry(Side::Input, source, ours) };
        let planes: [&mut [u8]; 2] = [bytemuck::cast_slice_mut(&mut results), &mut []];
        let input = Some([bytemuck::cast_slice(&packed), &[]]);
        self.inner.run(HostJob { input, filter: job.filter, output: planes, part: None })?;
        let ours = View::<T>::reading([bytemuck::cast_slice(&results), &[]], to, T::STORAGE);
        let target = View::<T>::writing([first, second], self.problem.output, written);
        // SAFETY: as above; the view of the output is for writing.
        unsafe { self.carry(Side::Output, ours, target) };
        Ok(())
    }
}

/// How our arrays keep reals, or complex numbers.
fn format_of(real: bool) -> Format {
    if real { Format::Real } else { Format::Interleaved }
}

/// A plan for a problem with functions, or one of real data with windows.
pub(super) fn plan<T: CpuReal>(cpu: &Cpu, problem: &Problem) -> Result<Arc<dyn Execute>, Error> {
    Ok(Arc::new(EndsPlan::<T>::new(cpu, problem)?))
}
