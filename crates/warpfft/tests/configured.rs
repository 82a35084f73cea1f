//! Transforms in two calls, against sums by the definition; what lies around rectangle and channel stays as it is.

use std::f64::consts::TAU;

use warpfft::configured::{Compute, Configure, ConfigureError, Configured, Domain};
use warpfft::core::problem::Format;
use warpfft::core::target::Limits;
use warpfft::{Complex, Device, Error, Planes, PlanesMut};

type C64 = Complex<f64>;

/// Numbers without a pattern.
fn noise(at: usize) -> f64 {
    ((at as f64 * 12.9898).sin() * 43758.5453).fract()
}

/// A domain's array: in which format, how large, where its rectangle is, and which channel.
#[derive(Clone)]
struct Side {
    format: Format,
    extents: Vec<u64>,
    channels: u64,
    origin: Vec<u64>,
    channel: u64,
    size: Vec<u64>,
}

impl Side {
    fn elements(&self) -> usize {
        (self.extents.iter().product::<u64>() * self.channels) as usize
    }

    /// Where each point of the rectangle lies, the last dimension fastest.
    fn places(&self) -> Vec<usize> {
        let mut places = vec![0];
        for (axis, &n) in self.size.iter().enumerate() {
            let along = |place: &u64| {
                let start = place * self.extents[axis] + self.origin[axis];
                (0..n).map(move |index| start + index).collect::<Vec<_>>()
            };
            places = places.iter().flat_map(along).collect();
        }
        places.into_iter().map(|place| (place * self.channels + self.channel) as usize).collect()
    }
}

/// Two planes of an array, of which the first has all where there is one.
#[derive(Clone, PartialEq, Debug)]
enum Data {
    Interleaved(Vec<C64>),
    Planar(Vec<f64>, Vec<f64>),
    Real(Vec<f64>),
}

impl Data {
    fn new(side: &Side, seed: usize) -> Self {
        let reals =
            |plane: usize| (0..side.elements()).map(|at| noise(7 * at + plane + seed)).collect::<Vec<_>>();
        match side.format {
            Format::Planar => Self::Planar(reals(1), reals(2)),
            Format::Real => Self::Real(reals(3)),
            _ => Self::Interleaved(reals(4).into_iter().zip(reals(5)).map(|(a, b)| C64::new(a, b)).collect()),
        }
    }

    fn get(&self, at: usize) -> C64 {
        match self {
            Self::Interleaved(data) => data[at],
            Self::Planar(re, im) => C64::new(re[at], im[at]),
            Self::Real(data) => C64::from(data[at]),
        }
    }

    fn planes(&self) -> Planes<'_, f64> {
        match self {
            Self::Interleaved(data) => Planes::Interleaved(data),
            Self::Planar(re, im) => Planes::Planar(re, im),
            Self::Real(data) => Planes::Real(data),
        }
    }

    fn planes_mut(&mut self) -> PlanesMut<'_, f64> {
        match self {
            Self::Interleaved(data) => PlanesMut::Interleaved(data),
            Self::Planar(re, im) => PlanesMut::Planar(re, im),
            Self::Real(data) => PlanesMut::Real(data),
        }
    }
}

/// The transform along some dimensions, by its definition.
fn dft(x: &[C64], size: &[u64], mask: u64, sign: f64) -> Vec<C64> {
    let mut x = x.to_vec();
    let mut inner = 1;
    for (axis, &n) in size.iter().enumerate().rev() {
        let n = n as usize;
        if mask >> axis & 1 == 1 {
            let before = x.clone();
            for (at, value) in x.iter_mut().enumerate() {
                let (k, start) = (at / inner % n, at - at / inner % n * inner);
                let term = |j: usize| {
                    before[start + j * inner] * C64::cis(sign * TAU * ((j * k) % n) as f64 / n as f64)
                };
                *value = (0..n).map(term).sum();
            }
        }
        inner *= n;
    }
    x
}

/// Those frequencies of all that are kept: the lower half along an axis.
fn kept(x: &[C64], size: &[u64], axis: usize) -> Vec<C64> {
    let inner: u64 = size[axis + 1..].iter().product();
    let low = |at: usize| at as u64 / inner % size[axis] <= size[axis] / 2;
    x.iter().enumerate().filter(|&(at, _)| low(at)).map(|(_, &value)| value).collect()
}

fn compare(what: &str, got: &Data, before: &Data, side: &Side, want: &[C64]) {
    let places = side.places();
    assert_eq!(places.len(), want.len(), "{what}");
    for at in 0..side.elements() {
        if let Some(index) = places.iter().position(|&place| place == at) {
            let distance = (got.get(at) - want[index]).norm();
            assert!(distance < 1e-12, "{what}: {} at {at}, not {}", got.get(at), want[index]);
        } else {
            assert_eq!(got.get(at), before.get(at), "{what}: {at} was touched");
        }
    }
}

fn configured(sides: &[Side; 2], mask: u64, device: &Device) -> Configured<f64> {
    Configure::new(sides[0].size.clone())
        .formats(sides[0].format, sides[1].format)
        .spatial_within(&sides[0].extents)
        .frequency_within(&sides[1].extents)
        .spatial_channels(sides[0].channels)
        .frequency_channels(sides[1].channels)
        .dimensions(mask)
        .on(device)
        .expect("it fits together")
}

fn check(sides: &[Side; 2], mask: u64, device: &Device) {
    let [spatial, frequency] = sides;
    let what = format!("{device:?} {:?} {:?} {mask:b}", spatial.size, [spatial.format, frequency.format]);
    let ready = configured(sides, mask, device);
    let compute = Compute::forward()
        .spatial_origin(&spatial.origin)
        .spatial_channel(spatial.channel)
        .frequency_origin(&frequency.origin)
        .frequency_channel(frequency.channel);
    let (data, before) = (Data::new(spatial, 0), Data::new(frequency, 100));
    let x: Vec<C64> = spatial.places().into_iter().map(|at| data.get(at)).collect();
    let all = dft(&x, &spatial.size, mask, -1.0);
    let last = 63 - mask.leading_zeros() as usize;
    let want = if spatial.format == Format::Real { kept(&all, &spatial.size, last) } else { all };
    let mut got = before.clone();
    ready.compute(&compute, data.planes(), got.planes_mut()).expect("it runs");
    compare(&what, &got, &before, frequency, &want);
    // Back over other numbers: the same comes again, and no more.
    let before = Data::new(spatial, 200);
    let mut back = before.clone();
    ready.compute(&compute.inverted(), got.planes(), back.planes_mut()).expect("it runs");
    compare(&format!("{what} back"), &back, &before, spatial, &x);
}

#[test]
fn rectangles_and_channels_of_every_format() {
    let devices = [Device::cpu(), Device::sim(Limits::h200())];
    let cases: [(&[u64], u64); 7] = [
        (&[8], 1),
        (&[5, 6], 3),
        (&[4, 8], 2),
        (&[6, 4], 1),
        (&[3, 4, 5], 7),
        (&[4, 3, 8], 5),
        (&[2, 6, 3], 2),
    ];
    let formats = [
        [Format::Interleaved; 2],
        [Format::Planar; 2],
        [Format::Interleaved, Format::Planar],
        [Format::Real, Format::Interleaved],
        [Format::Real, Format::Planar],
    ];
    for device in &devices {
        for (size, mask) in cases {
            for [spatial, frequency] in formats {
                let last = 63 - mask.leading_zeros() as usize;
                let mut halved = size.to_vec();
                if spatial == Format::Real {
                    halved[last] = halved[last] / 2 + 1;
                }
                let side = |format, size: Vec<u64>, more: u64, channels| Side {
                    format,
                    extents: size.iter().enumerate().map(|(axis, n)| n + more + axis as u64).collect(),
                    channels,
                    origin: (0..size.len() as u64)
                        .map(|axis| (axis + more) % 3 % (more + axis + 1))
                        .collect(),
                    channel: channels - 1,
                    size,
                };
                for (more, channels) in [(0, [1, 1]), (2, [3, 1]), (1, [2, 4])] {
                    let own = side(spatial, size.to_vec(), more, channels[0]);
                    let other = side(frequency, halved.clone(), 2 - more, channels[1]);
                    check(&[own, other], mask, device);
                }
            }
        }
    }
}

#[test]
fn rows_alone_may_be_configured() {
    let ready = Configure::new([2, 4]).spatial_rows(6).on::<f32>(&Device::cpu()).expect("it fits together");
    let compute = Compute::forward().spatial_origin(&[3, 2]);
    assert_eq!(ready.elements(Domain::Spatial, &compute), Ok(3 * 6 + 2 + 6 + 4));
    assert_eq!(ready.elements(Domain::Frequency, &compute), Ok(8));
    let input = vec![Complex::new(1.0_f32, 0.0); 30];
    let mut output = vec![Complex::default(); 8];
    ready.compute(&compute, &input, &mut output).expect("it runs");
    assert_eq!(output[0].re, 8.0);
    let short = ready.compute(&compute, &input[..29], &mut output).expect_err("a point is missing");
    assert!(matches!(short, Error::BufferTooSmall { needed: 30, got: 29, .. }), "{short}");
    let planar = (&[0.0_f32; 30][..], &[0.0_f32; 30][..]);
    assert!(matches!(ready.compute(&compute, planar, &mut output), Err(Error::WrongFormat { .. })));
}

#[test]
fn temporary_memory_is_said_and_capped() {
    let sim = Device::sim(Limits::h200());
    let long = Configure::new([1 << 20]);
    let needed = long.on::<f32>(&sim).expect("it fits").temporary_bytes();
    assert!(needed > 0);
    let least = long.clone().max_temporary_bytes(needed / 2).on::<f32>(&sim);
    match least {
        Ok(ready) => assert!(ready.temporary_bytes() <= needed / 2),
        Err(error) => {
            assert!(matches!(error, Error::Core(warpfft::core::Error::Workspace { .. })), "{error}");
        }
    }
}

/// Both directions in the GPU's memory, from rectangle to rectangle, with temporary memory of the caller: what runs on host
/// arrays give, and nothing around it changes.
#[cfg(feature = "cuda")]
#[test]
fn rectangles_on_the_gpu_take_the_callers_temporary_memory() {
    let Ok(device) = Device::cuda(0).map_err(|why| println!("skipped: {why}")) else { return };
    let width = (1 << 18) + 6;
    let ready = Configure::new([2, 1 << 18])
        .formats(Format::Interleaved, Format::Planar)
        .dimensions(2)
        .spatial_within(&[4, width])
        .on::<f64>(&device)
        .expect("it is possible");
    assert!(ready.temporary_bytes() > 0, "a line of several passes");
    let compute = Compute::forward().spatial_origin(&[1, 4]);
    let points = 4 * width as usize;
    let spatial: Vec<C64> = (0..points).map(|at| C64::new(noise(at), noise(3 * at + 1))).collect();
    let mut want = [vec![0.0; 2 << 18], vec![0.0; 2 << 18]];
    let [re, im] = &mut want;
    ready.compute(&compute, &spatial, PlanesMut::Planar(re, im)).expect("it runs");
    let mut back = spatial.iter().map(|z| -z).collect::<Vec<_>>();
    let unchanged = back.clone();
    ready.compute(&compute.clone().inverted(), Planes::Planar(re, im), &mut back).expect("it runs");

    let context = ready.plan(false).cuda_context().expect("it is a CUDA plan");
    let stream = context.stream().expect("a stream");
    let buffer = |bytes: usize| context.alloc(bytes as u64).expect("there is memory");
    let (array, planes) = (buffer(16 * points), [buffer(8 << 19), buffer(8 << 19)]);
    let temporary = buffer(ready.temporary_bytes() as usize);
    let enqueue = |compute: &Compute, from: u64| {
        let frequency = [planes[0].address(), planes[1].address()];
        // SAFETY: own stream, and own memory of the spanned sizes, which outlives the downloads.
        unsafe { ready.enqueue_cuda(compute, stream.raw(), [from, 0], frequency, temporary.address()) }
    };
    stream.upload(&array, bytemuck::cast_slice(&spatial)).expect("it uploads");
    enqueue(&compute, array.address()).expect("it runs");
    for (plane, want) in planes.iter().zip(&want) {
        let mut got = vec![0.0_f64; 2 << 18];
        stream.download(bytemuck::cast_slice_mut(&mut got), plane).expect("it downloads");
        assert_eq!(&got, want);
    }
    stream.upload(&array, bytemuck::cast_slice(&unchanged)).expect("it uploads");
    enqueue(&compute.clone().inverted(), array.address()).expect("it runs");
    let mut got = unchanged;
    stream.download(bytemuck::cast_slice_mut(&mut got), &array).expect("it downloads");
    assert_eq!(got, back);

    let beyond = enqueue(&Compute::forward().spatial_origin(&[3, 0]), array.address());
    assert!(matches!(beyond, Err(Error::Configure(ConfigureError::Origin { .. }))));
    let other = Configure::new([8]).on::<f64>(&Device::cpu()).expect("it is possible");
    // SAFETY: it is refused before any address is used.
    let refused = unsafe { other.enqueue_cuda(&Compute::forward(), stream.raw(), [0, 0], [0, 0], 0) };
    assert!(matches!(refused, Err(Error::WrongDevice { .. })), "{refused:?}");
}

#[test]
fn what_does_not_fit_together_is_named() {
    let cpu = Device::cpu();
    let refused = |configure: Configure| match configure.on::<f32>(&cpu).expect_err("it is wrong") {
        Error::Configure(error) => error,
        other => panic!("{other}"),
    };
    let wrong = [
        (refused(Configure::new([])), "1 to 63"),
        (refused(Configure::new([4, 4]).dimensions(0)), "0b11"),
        (refused(Configure::new([4, 4]).dimensions(5)), "0b101"),
        (refused(Configure::new([4]).formats(Format::Real, Format::Real)), "complex"),
        (refused(Configure::new([4, 4]).spatial_rows(3)), "spatial"),
        (refused(Configure::new([4, 4]).frequency_within(&[4, 4, 4])), "frequency"),
        (refused(Configure::new([4, 4]).spatial_within(&[1 << 40, 1 << 40])), "2^60"),
        (refused(Configure::new([4, 4]).spatial_channels(0)), "1 or more"),
    ];
    for (error, word) in wrong {
        assert!(error.to_string().contains(word), "{error}");
    }
    assert!(matches!(Configure::new([0]).on::<f32>(&cpu), Err(Error::Core(_))));
    let ready = Configure::new([4, 4]).spatial_rows(6).spatial_channels(2).on::<f32>(&cpu).expect("it fits");
    let place = |compute: Compute| match ready.elements(Domain::Spatial, &compute) {
        Err(Error::Configure(error)) => error,
        other => panic!("{other:?}"),
    };
    let origin = |origin: &[u64]| place(Compute::forward().spatial_origin(origin));
    for error in [origin(&[0, 3]), origin(&[1]), origin(&[u64::MAX, 0]), origin(&[1, 1, 1])] {
        assert!(matches!(error, ConfigureError::Origin { domain: Domain::Spatial, .. }), "{error}");
    }
    let channel = place(Compute::forward().spatial_channel(2));
    assert_eq!(channel, ConfigureError::Channel { domain: Domain::Spatial, channel: 2, channels: 2 });
}
