//! Problems of real data: what they are from the definitions, and a run of one on a device beside that.
//!
//! The sums are plain ones in f64, dimension after dimension; angles are whole numbers modulo the period until the last
//! step, and what rounding takes from a sum is added at its end, so that errors here stay below those of fast transforms.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use warpfft::core::math::reference as fast;
use warpfft::core::problem::{Dim, Direction, Format, Kind, Placement, Problem, RealDim, RealKind, half};
use warpfft::{Complex, Device, Error, Plan, Planes, PlanesMut, Real};

use super::CANARY;

/// Reals behind the span, which no call may touch.
const BEYOND: usize = 7;

/// `cos` and `sin` of all multiples of a full turn over `period`.
struct Turns(Vec<(f64, f64)>);

impl Turns {
    fn new(period: u64) -> Self {
        let point = |m: u64| {
            // In eighths of a turn, so that the angle itself is small and rounds little.
            let (eighth, rest) = (8 * m / period, 8 * m % period);
            let part = |rest: u64| {
                let angle = std::f64::consts::FRAC_PI_4 * rest as f64 / period as f64;
                (angle.cos(), angle.sin())
            };
            let (c, s) = if eighth % 2 == 0 { part(rest) } else { part(period - rest) };
            match eighth {
                0 => (c, s),
                1 => (s, c),
                2 => (-s, c),
                3 => (-c, s),
                4 => (-c, -s),
                5 => (-s, -c),
                6 => (s, -c),
                _ => (c, -s),
            }
        };
        Self((0..period).map(point).collect())
    }

    fn cos(&self, multiple: u64) -> f64 {
        self.0[(multiple % self.0.len() as u64) as usize].0
    }

    fn sin(&self, multiple: u64) -> f64 {
        self.0[(multiple % self.0.len() as u64) as usize].1
    }
}

/// What is summed, with what rounding took from it.
#[derive(Default)]
struct Sum(f64, f64);

impl Sum {
    fn add(&mut self, term: f64) {
        let sum = self.0 + term;
        self.1 += if self.0.abs() >= term.abs() { (self.0 - sum) + term } else { (term - sum) + self.0 };
        self.0 = sum;
    }

    fn of(terms: impl Iterator<Item = f64>) -> f64 {
        let mut sum = Self::default();
        terms.for_each(|term| sum.add(term));
        sum.0 + sum.1
    }
}

/// What happens along a dimension.
#[derive(Clone, Copy)]
enum Along {
    Nothing,
    Complex,
    ToSpectrum,
    FromSpectrum,
    Real(RealKind, bool),
}

/// The spectrum of a line with that sign in the exponent, its first `count` points.
fn spectrum(line: &[Complex<f64>], sign: f64, count: u64) -> Vec<Complex<f64>> {
    let turns = Turns::new(line.len() as u64);
    let point = |k: u64| {
        let terms = |part: fn(Complex<f64>, f64, f64) -> f64| {
            let turned =
                |(j, &x): (usize, &_)| part(x, turns.cos(j as u64 * k), sign * turns.sin(j as u64 * k));
            Sum::of(line.iter().enumerate().map(turned))
        };
        Complex::new(terms(|x, c, s| x.re * c - x.im * s), terms(|x, c, s| x.re * s + x.im * c))
    };
    (0..count).map(point).collect()
}

/// The `n` reals whose half spectrum a line is.
fn signal(line: &[Complex<f64>], sign: f64, n: u64) -> Vec<Complex<f64>> {
    let turns = Turns::new(n);
    let term = |j: u64, k: u64| {
        let x = line[k as usize];
        if k == 0 || 2 * k == n {
            return x.re * turns.cos(j * k);
        }
        2.0 * (x.re * turns.cos(j * k) - x.im * sign * turns.sin(j * k))
    };
    (0..n).map(|j| Complex::from(Sum::of((0..half(n)).map(|k| term(j, k))))).collect()
}

/// The factor of input `j` in output `k`, as the documentation of [`RealKind`] defines it.
fn factor(kind: RealKind, n: u64, j: u64, k: u64, turns: &Turns) -> f64 {
    let last = j + 1 == n;
    match kind {
        RealKind::Dct1 if j == 0 || last => turns.cos(j * k),
        RealKind::Dct1 => 2.0 * turns.cos(j * k),
        RealKind::Dct2 => 2.0 * turns.cos((2 * j + 1) * k),
        RealKind::Dct3 if j == 0 => 1.0,
        RealKind::Dct3 => 2.0 * turns.cos(j * (2 * k + 1)),
        RealKind::Dct4 => 2.0 * turns.cos((2 * j + 1) * (2 * k + 1)),
        RealKind::Dst1 => 2.0 * turns.sin((j + 1) * (k + 1)),
        RealKind::Dst2 => 2.0 * turns.sin((2 * j + 1) * (k + 1)),
        RealKind::Dst3 if last => turns.sin((j + 1) * (2 * k + 1)),
        RealKind::Dst3 => 2.0 * turns.sin((j + 1) * (2 * k + 1)),
        RealKind::Dst4 => 2.0 * turns.sin((2 * j + 1) * (2 * k + 1)),
        RealKind::Dht => turns.cos(j * k) + turns.sin(j * k),
        RealKind::HalfComplex if 2 * k <= n => turns.cos(j * k),
        RealKind::HalfComplex => -turns.sin(j * (n - k)),
        RealKind::FromHalfComplex if j == 0 || 2 * j == n => turns.cos(j * k),
        RealKind::FromHalfComplex if 2 * j < n => 2.0 * turns.cos(j * k),
        RealKind::FromHalfComplex => -2.0 * turns.sin((n - j) * k),
    }
}

/// Points that the angles of a kind divide a turn into.
fn period(kind: RealKind, n: u64) -> u64 {
    match kind {
        RealKind::Dct1 => 2 * (n - 1),
        RealKind::Dst1 => 2 * (n + 1),
        RealKind::Dct2 | RealKind::Dct3 | RealKind::Dst2 | RealKind::Dst3 => 4 * n,
        RealKind::Dct4 | RealKind::Dst4 => 8 * n,
        RealKind::Dht | RealKind::HalfComplex | RealKind::FromHalfComplex => n,
    }
}

/// Powers of the square root of 2 that weigh point `at`, as scipy's `orthogonalize`: in the input, in the output.
fn weights(kind: RealKind, n: u64, at: u64) -> [f64; 2] {
    let (first, last) = (at == 0, at + 1 == n);
    let root = |which: bool, power: f64| if which { 2.0_f64.powf(power) } else { 1.0 };
    match kind {
        RealKind::Dct1 => [root(first || last, 0.5), root(first || last, -0.5)],
        RealKind::Dct2 => [1.0, root(first, -0.5)],
        RealKind::Dct3 => [root(first, 0.5), 1.0],
        RealKind::Dst2 => [1.0, root(last, -0.5)],
        RealKind::Dst3 => [root(last, 0.5), 1.0],
        _ => [1.0, 1.0],
    }
}

fn reals(line: &[Complex<f64>], kind: RealKind, orthogonal: bool) -> Vec<Complex<f64>> {
    let n = line.len() as u64;
    let turns = Turns::new(period(kind, n));
    let weight = |at: u64, side: usize| if orthogonal { weights(kind, n, at)[side] } else { 1.0 };
    let point = |k: u64| {
        let term = |j: u64| line[j as usize].re * weight(j, 0) * factor(kind, n, j, k, &turns);
        Complex::from(Sum::of((0..n).map(term)) * weight(k, 1))
    };
    (0..n).map(point).collect()
}

/// All elements that a problem writes: where, and what.
pub fn reference(problem: &Problem, input: impl Fn(u64) -> Complex<f64>) -> Vec<(u64, Complex<f64>)> {
    let dims = dims(problem);
    let mut points: Vec<u64> = dims.iter().map(|(_, _, points)| points[0]).collect();
    let strides = |side: fn(&Dim) -> i64| dims.iter().map(|(dim, _, _)| side(dim)).collect::<Vec<_>>();
    let read = addresses(problem.input_offset, &points, &strides(|dim| dim.is));
    let mut data: Vec<Complex<f64>> = read.into_iter().map(input).collect();
    let sign = problem.direction.sign();
    for (axis, &(dim, along, [_, after])) in dims.iter().enumerate() {
        let transform = |line: &[Complex<f64>]| match along {
            Along::Nothing => line.to_vec(),
            Along::Complex => spectrum(line, sign, dim.n),
            Along::ToSpectrum => spectrum(line, sign, after),
            Along::FromSpectrum => signal(line, sign, dim.n),
            Along::Real(kind, orthogonal) => reals(line, kind, orthogonal),
        };
        data = along_axis(&data, &points, axis, transform);
        points[axis] = after;
    }
    let written = addresses(problem.output_offset, &points, &strides(|dim| dim.os));
    written.into_iter().zip(data.iter().map(|x| x * problem.scale)).collect()
}

/// The dimensions, each with the points that it has before and after: those of the kind last, since half spectra become
/// reals only once all else is transformed. That reals become half spectra last as well changes nothing.
fn dims(problem: &Problem) -> Vec<(Dim, Along, [u64; 2])> {
    let plain = |along: Along| move |dim: &Dim| (*dim, along, [dim.n; 2]);
    let mut dims: Vec<_> = problem.batch.iter().map(plain(Along::Nothing)).collect();
    dims.extend(problem.transform.iter().map(plain(Along::Complex)));
    match &problem.kind {
        Kind::Complex => {}
        Kind::Zoom(_) => panic!("bands have tests of their own"),
        Kind::RealToComplex(dim) => dims.insert(0, (*dim, Along::ToSpectrum, [dim.n, half(dim.n)])),
        Kind::ComplexToReal(dim) => dims.push((*dim, Along::FromSpectrum, [half(dim.n), dim.n])),
        Kind::RealToReal(all) => {
            let own = |one: &RealDim| plain(Along::Real(one.kind, one.orthogonal))(&one.dim);
            dims.extend(all.iter().map(own));
        }
    }
    dims
}

/// Addresses of all points, the last dimension fastest.
fn addresses(offset: u64, points: &[u64], strides: &[i64]) -> Vec<u64> {
    let mut all = vec![offset as i64];
    for (&n, &stride) in points.iter().zip(strides) {
        all = all.into_iter().flat_map(|at| (0..n as i64).map(move |i| at + i * stride)).collect();
    }
    all.into_iter().map(|at| at as u64).collect()
}

/// Every line along an axis of packed data replaced by its transform.
fn along_axis(
    data: &[Complex<f64>],
    points: &[u64],
    axis: usize,
    transform: impl Fn(&[Complex<f64>]) -> Vec<Complex<f64>>,
) -> Vec<Complex<f64>> {
    let n = points[axis] as usize;
    let inner = points[axis + 1..].iter().product::<u64>() as usize;
    let blocks = data.chunks_exact(n * inner).map(|block| {
        let line = |at: usize| block.iter().skip(at).step_by(inner).copied().collect::<Vec<_>>();
        let lines: Vec<_> = (0..inner).map(|at| transform(&line(at))).collect();
        let after = lines[0].len();
        (0..after * inner).map(|at| lines[at % inner][at / inner]).collect::<Vec<_>>()
    });
    blocks.flatten().collect()
}

/// An array of the caller's: one buffer of reals, or two.
#[derive(Clone)]
struct Host<T> {
    planes: [Vec<T>; 2],
}

impl<T: Real + Into<f64>> Host<T> {
    fn new(format: Format, elements: u64, mut value: impl FnMut() -> T) -> Self {
        let reals = (elements * format.step()) as usize + BEYOND;
        let mut plane =
            |is_there: bool| if is_there { (0..reals).map(|_| value()).collect() } else { vec![] };
        Self { planes: [plane(true), plane(format.planes() == 2)] }
    }

    /// The places of an element's parts: plane and index.
    fn places(format: Format, element: u64) -> Vec<(usize, usize)> {
        let at = element as usize;
        match format {
            Format::Interleaved => vec![(0, 2 * at), (0, 2 * at + 1)],
            Format::Planar => vec![(0, at), (1, at)],
            Format::Real | Format::Apart(_) => vec![(0, at)],
        }
    }

    fn get(&self, format: Format, element: u64) -> Complex<f64> {
        let parts: Vec<f64> =
            Self::places(format, element).iter().map(|&(plane, at)| self.planes[plane][at].into()).collect();
        Complex::new(parts[0], parts.get(1).copied().unwrap_or(0.0))
    }

    fn pairs(data: &[T]) -> &[Complex<T>] {
        bytemuck::cast_slice(&data[..data.len() / 2 * 2])
    }

    fn planes(&self, format: Format) -> Planes<'_, T> {
        let [re, im] = &self.planes;
        match format {
            Format::Interleaved => Planes::Interleaved(Self::pairs(re)),
            Format::Planar => Planes::Planar(re, im),
            Format::Real | Format::Apart(_) => Planes::Real(re),
        }
    }

    fn planes_mut(&mut self, format: Format) -> PlanesMut<'_, T> {
        let [re, im] = &mut self.planes;
        let pairs = re.len() / 2 * 2;
        match format {
            Format::Interleaved => PlanesMut::Interleaved(bytemuck::cast_slice_mut(&mut re[..pairs])),
            Format::Planar => PlanesMut::Planar(re, im),
            Format::Real | Format::Apart(_) => PlanesMut::Real(re),
        }
    }
}

/// Runs a problem on random data. `Ok(error)` is the relative L2 error against the definition.
///
/// Panics where something was written that the problem does not write.
pub fn run<T: Real + Into<f64>>(
    device: &Device,
    problem: &Problem,
    narrow: fn(f64) -> T,
) -> Result<f64, Error> {
    run_plan(&device.plan(problem)?, None, narrow)
}

/// The same with a plan that is there, whose runs may be given a count: arrays hold what that many transforms span.
pub fn run_plan<T: Real + Into<f64>>(
    plan: &Plan,
    count: Option<u64>,
    narrow: fn(f64) -> T,
) -> Result<f64, Error> {
    let problem = &match count {
        Some(count) => plan.problem().at_count(count)?,
        None => plan.problem().clone(),
    };
    let [read, written] = match count {
        Some(count) => plan.elements_at(count)?,
        None => [plan.input_elements(), plan.output_elements()],
    };
    let mut random = StdRng::seed_from_u64(read ^ written << 20);
    let mut draw = || narrow(f64::from(random.random_range(-1.0_f32..1.0)));
    let in_place = problem.placement == Placement::InPlace;
    let reals = |format: Format, elements: u64| elements * format.step();
    let (input, before) = if in_place {
        let step = problem.output.step();
        let all = reals(problem.input, read).max(reals(problem.output, written));
        let all = Host::new(problem.output, all.div_ceil(step), &mut draw);
        (all.clone(), all)
    } else {
        let canary = || narrow(CANARY);
        let input = Host::new(problem.input, read, &mut draw);
        (input, Host::new(problem.output, written, canary))
    };
    let mut after = before.clone();
    let (from, to) = (input.planes(problem.input), after.planes_mut(problem.output));
    match (in_place, count) {
        (true, None) => plan.run_in_place(to)?,
        (true, Some(count)) => plan.run_in_place_batch(count, to)?,
        (false, None) => plan.run_host(from, to)?,
        (false, Some(count)) => plan.run_host_batch(count, from, to)?,
    }
    Ok(apart(problem, &input, &before, &after))
}

fn apart<T: Real + Into<f64>>(problem: &Problem, input: &Host<T>, before: &Host<T>, after: &Host<T>) -> f64 {
    let mut ours = before.planes.each_ref().map(|plane| vec![false; plane.len()]);
    let (mut wrong, mut size) = (0.0, 0.0);
    let read = std::cell::RefCell::new(ours.clone());
    let look = |element| {
        for (plane, at) in Host::<T>::places(problem.input, element) {
            if problem.placement == Placement::InPlace {
                read.borrow_mut()[plane][at] = true;
            }
        }
        input.get(problem.input, element)
    };
    // Plain sums take too long for long complex lines, of which there is a reference beside.
    let wanted = match problem.kind {
        Kind::Complex => fast::reference(problem, look).into_iter().collect(),
        // Nor do they know of functions and windows.
        _ if !problem.functions.is_empty() || problem.is_windowed() => {
            fast::reference(problem, look).into_iter().collect()
        }
        _ => reference(problem, look),
    };
    for (element, wanted) in wanted {
        let got = after.get(problem.output, element);
        wrong += (got - wanted).norm_sqr();
        size += wanted.norm_sqr();
        for (plane, at) in Host::<T>::places(problem.output, element) {
            assert!(!ours[plane][at], "element {element} is written twice: {problem:?}");
            ours[plane][at] = true;
        }
    }
    for (plane, ours) in ours.iter().enumerate() {
        // In place, what pads rows of reals has held complex numbers, and may hold anything.
        let read = &read.borrow()[plane];
        for (at, _) in ours.iter().enumerate().filter(|&(at, ours)| !ours && !read[at]) {
            let (kept, now): (f64, f64) = (before.planes[plane][at].into(), after.planes[plane][at].into());
            assert_eq!(now, kept, "real {at} of plane {plane} is not the problem's to write: {problem:?}");
        }
    }
    (wrong / size).sqrt()
}

/// A forward problem, or the inverse one for half spectra, of that kind and those dimensions: f32, interleaved where it
/// is complex, out of place.
pub fn problem(kind: Kind, transform: &[Dim], batch: &[Dim]) -> Problem {
    let format = |real| if real { Format::Real } else { Format::Interleaved };
    let [input, output] = kind.reals().map(format);
    let direction = match kind {
        Kind::ComplexToReal(_) => Direction::Inverse,
        _ => Direction::Forward,
    };
    Problem {
        kind,
        transform: transform.to_vec(),
        batch: batch.to_vec(),
        input,
        output,
        direction,
        ..super::packed(&[1], 1)
    }
}
