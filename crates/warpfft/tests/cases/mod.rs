//! The cases that every device runs, held against the reference in double-double precision.
#![allow(dead_code, reason = "each test file uses its own part")]

pub mod accuracy;
pub mod real;
pub mod real_layouts;
#[cfg(feature = "cuda")]
pub mod stress;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use warpfft::core::math::reference::reference;
use warpfft::core::problem::{Dim, Direction, Format, Kind, Placement, Precision, Problem};
use warpfft::{Complex, Device, DeviceKind, Error, Planes, PlanesMut, Real};

/// A value that is in no transform: it must survive wherever the problem does not write.
pub const CANARY: f64 = 12_345.0;

/// Complex elements behind the span, which no call may touch.
const BEYOND: usize = 7;

/// Every device that can be used here; prints which cannot, and why. `WARPFFT_DEVICE` picks one. Their plans run by their
/// best kernels from the first run on; what others begin with has tests of its own (`stand_ins.rs`).
pub fn devices() -> Vec<Device> {
    warpfft::use_stand_ins(false);
    let only = std::env::var("WARPFFT_DEVICE").ok();
    let mut devices = Vec::new();
    for kind in [DeviceKind::Cpu, DeviceKind::Sim, DeviceKind::Wgpu, DeviceKind::OpenCl, DeviceKind::Cuda] {
        if only.as_ref().is_some_and(|only| *only != kind.to_string()) {
            println!("{kind} skipped: WARPFFT_DEVICE asks for another");
            continue;
        }
        match Device::open(kind) {
            Ok(device) => devices.push(device),
            Err(why) => println!("{kind} skipped: {why}"),
        }
    }
    devices
}

/// A forward problem: packed row-major, interleaved, f32, out of place.
pub fn packed(shape: &[u64], batch: u64) -> Problem {
    let mut stride = 1;
    let mut transform: Vec<Dim> = Vec::new();
    for &n in shape.iter().rev() {
        transform.insert(0, Dim::new(n, stride, stride));
        stride *= n as i64;
    }
    let batch = if batch > 1 { vec![Dim::new(batch, stride, stride)] } else { Vec::new() };
    Problem {
        kind: Kind::Complex,
        transform,
        batch,
        input_offset: 0,
        output_offset: 0,
        precision: Precision::F32,
        storage: [None; 2],
        input: Format::Interleaved,
        output: Format::Interleaved,
        placement: Placement::OutOfPlace,
        direction: Direction::Forward,
        scale: 1.0,
        max_workspace: None,
        windows: Vec::new(),
        filter: None,
        functions: Default::default(),
    }
}

/// The named layouts that every device must get right, in one precision.
pub fn cases(precision: Precision) -> Vec<(String, Problem)> {
    let mut cases = lengths();
    cases.extend(layouts());
    for (name, problem) in &mut cases {
        problem.precision = precision;
        *name = format!("{name} {precision:?}");
    }
    cases
}

fn lengths() -> Vec<(String, Problem)> {
    let shapes: [(&[u64], u64); 19] = [
        (&[1], 1),
        (&[1], 5),
        (&[2], 3),
        (&[8], 100),
        (&[64], 9),
        (&[97], 4),
        (&[360], 3),
        (&[1024], 5),
        (&[4096], 2),
        (&[2003], 2),
        (&[10_007], 2),
        (&[16_381], 3),
        (&[16384], 1),
        (&[32768], 1),
        (&[16, 16], 1),
        (&[7, 9], 3),
        (&[32, 1, 12], 2),
        (&[3, 5, 7], 2),
        (&[128, 96], 2),
    ];
    let name = |shape: &[u64], batch| {
        let sides: Vec<String> = shape.iter().map(ToString::to_string).collect();
        format!("{} x {batch}", sides.join("x"))
    };
    shapes.iter().map(|&(shape, batch)| (name(shape, batch), packed(shape, batch))).collect()
}

fn layouts() -> Vec<(String, Problem)> {
    let mut cases: Vec<(&str, Problem)> = Vec::new();
    let mut add = |name, base: Problem, change: fn(&mut Problem)| {
        let mut problem = base;
        change(&mut problem);
        cases.push((name, problem));
    };
    add("inverse scaled", packed(&[48], 3), |p| {
        p.direction = Direction::Inverse;
        p.scale = 1.0 / 48.0;
    });
    add("in place", packed(&[64], 6), |p| p.placement = Placement::InPlace);
    add("in place 2D scaled", packed(&[12, 20], 2), |p| {
        p.placement = Placement::InPlace;
        p.scale = 0.5;
    });
    add("planar", packed(&[60], 4), |p| (p.input, p.output) = (Format::Planar, Format::Planar));
    add("planar to interleaved", packed(&[6, 10], 2), |p| p.input = Format::Planar);
    add("interleaved to planar", packed(&[32], 5), |p| p.output = Format::Planar);
    add("planar in place", packed(&[9, 8], 2), |p| {
        (p.input, p.output) = (Format::Planar, Format::Planar);
        p.placement = Placement::InPlace;
    });
    add("strided", packed(&[16], 1), |p| {
        p.transform = vec![Dim::new(16, 3, 5)];
        p.batch = vec![Dim::new(4, 50, 100), Dim::new(2, 1, 2)];
    });
    add("interleaved batch", packed(&[30], 1), |p| {
        p.transform = vec![Dim::new(30, 11, 11)];
        p.batch = vec![Dim::new(11, 1, 1)];
    });
    add("transposing", packed(&[24], 1), |p| {
        p.transform = vec![Dim::new(24, 1, 10)];
        p.batch = vec![Dim::new(10, 24, 1)];
    });
    add("offsets and gaps", packed(&[20], 1), |p| {
        p.batch = vec![Dim::new(3, 31, 27)];
        (p.input_offset, p.output_offset) = (5, 11);
    });
    add("backwards", packed(&[18], 1), |p| {
        p.transform = vec![Dim::new(18, -1, 1)];
        p.batch = vec![Dim::new(3, 18, -18)];
        (p.input_offset, p.output_offset) = (17, 36);
    });
    add("one input for all", packed(&[15], 1), |p| p.batch = vec![Dim::new(4, 0, 15)]);
    add("in place transposed", packed(&[12], 1), |p| {
        p.transform = vec![Dim::new(12, 1, 12)];
        p.batch = vec![Dim::new(12, 12, 1)];
        p.placement = Placement::InPlace;
    });
    cases.into_iter().map(|(name, problem)| (name.to_owned(), problem)).collect()
}

/// Runs one case on random data. `Ok(error)` is the relative L2 error against the plain transform.
///
/// Panics where something was written that the problem does not write.
pub fn run<T: Real + Into<f64>>(
    device: &Device,
    problem: &Problem,
    narrow: fn(f64) -> T,
) -> Result<f64, Error> {
    let plan = device.plan(problem)?;
    let mut random = StdRng::seed_from_u64(plan.input_elements() ^ plan.output_elements() << 20);
    let in_place = problem.placement == Placement::InPlace;
    let span =
        if in_place { plan.input_elements().max(plan.output_elements()) } else { plan.input_elements() };
    let draw = |_| {
        let mut real = || f64::from(random.random_range(-1.0_f32..1.0));
        Complex::new(real(), real())
    };
    let input: Vec<Complex<f64>> = (0..span as usize + BEYOND).map(draw).collect();
    let canary = Complex::new(CANARY, -CANARY);
    let before =
        if in_place { input.clone() } else { vec![canary; plan.output_elements() as usize + BEYOND] };
    let mut after = Host::<T>::of(&before, problem.output, narrow);
    if in_place {
        plan.run_in_place(after.planes_mut())?;
    } else {
        plan.run_host(Host::of(&input, problem.input, narrow).planes(), after.planes_mut())?;
    }
    let after = after.widen();
    let mut written = vec![None; before.len()];
    for (at, value) in reference(problem, |element| input[element as usize]) {
        written[at as usize] = Some(value);
    }
    let (mut wrong, mut size) = (0.0, 0.0);
    for (at, (&got, wanted)) in after.iter().zip(written).enumerate() {
        if let Some(wanted) = wanted {
            wrong += (got - wanted).norm_sqr();
            size += wanted.norm_sqr();
        } else {
            assert_eq!(got, before[at], "element {at} is not the problem's to write: {problem:?}");
        }
    }
    Ok((wrong / size).sqrt())
}

/// An array in the precision and format of a problem.
enum Host<T> {
    Interleaved(Vec<Complex<T>>),
    Planar(Vec<T>, Vec<T>),
    Real(Vec<T>),
}

impl<T: Real + Into<f64>> Host<T> {
    fn of(data: &[Complex<f64>], format: Format, narrow: fn(f64) -> T) -> Self {
        match format {
            Format::Interleaved => {
                Self::Interleaved(data.iter().map(|x| Complex::new(narrow(x.re), narrow(x.im))).collect())
            }
            Format::Planar => Self::Planar(
                data.iter().map(|x| narrow(x.re)).collect(),
                data.iter().map(|x| narrow(x.im)).collect(),
            ),
            Format::Real | Format::Apart(_) => Self::Real(data.iter().map(|x| narrow(x.re)).collect()),
        }
    }

    fn planes(&self) -> Planes<'_, T> {
        match self {
            Self::Interleaved(data) => Planes::Interleaved(data),
            Self::Planar(re, im) => Planes::Planar(re, im),
            Self::Real(data) => Planes::Real(data),
        }
    }

    fn planes_mut(&mut self) -> PlanesMut<'_, T> {
        match self {
            Self::Interleaved(data) => PlanesMut::Interleaved(data),
            Self::Planar(re, im) => PlanesMut::Planar(re, im),
            Self::Real(data) => PlanesMut::Real(data),
        }
    }

    fn widen(&self) -> Vec<Complex<f64>> {
        match self {
            Self::Interleaved(data) => data.iter().map(|x| Complex::new(x.re.into(), x.im.into())).collect(),
            Self::Planar(re, im) => {
                re.iter().zip(im).map(|(&re, &im)| Complex::new(re.into(), im.into())).collect()
            }
            Self::Real(data) => data.iter().map(|&re| Complex::new(re.into(), 0.0)).collect(),
        }
    }
}
