//! The largest transforms of one GPU, in place and without workspace: time in copies, and errors on samples.
//!
//! ```text
//! cargo run --release --example largest                                  # 2^33 points and 2048^3, f32
//! cargo run --release --example largest -- 1073741824 --candidates 6     # other shapes, and the plans' rivals
//! cargo run --release --example largest -- 2048x2048x1024 --f64 --workspace
//! ```
//!
//! The data never leaves the GPU but for samples. Checked are the spectrum of a few impulses against its closed form,
//! on windows all over the array, and noise that went there and back. `--workspace` times the schedule with workspace
//! too, where there is memory for it. A copy is the driver's own, of one half of the data to the other, times two.

use std::error::Error;
use std::time::Instant;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use warpfft::core::math::double_single::{join, split};
use warpfft::core::math::twiddle::root;
use warpfft::core::problem::{Precision, Problem};
use warpfft::core::program::Compiled;
use warpfft::core::recipe::candidates;
use warpfft::core::request::{Fft, Norm};
use warpfft::device::cuda::{Context, DeviceBuffer, Stream};
use warpfft::{Complex, Device, Plan, Wisdom};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;
type C64 = Complex<f64>;

/// Impulses of the checked input.
const IMPULSES: usize = 6;
/// Windows of the output that are looked at, and elements of each.
const WINDOWS: u64 = 96;
const WINDOW: u64 = 1024;
/// Elements of the noise, which repeats.
const NOISE: u64 = 1 << 21;
/// Runs that are timed.
const REPEATS: u32 = 3;

struct Options {
    shapes: Vec<Vec<u64>>,
    precision: Precision,
    candidates: usize,
    workspace: bool,
}

fn options() -> Outcome<Options> {
    let mut options =
        Options { shapes: Vec::new(), precision: Precision::F32, candidates: 1, workspace: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--f64" => options.precision = Precision::F64,
            "--workspace" => options.workspace = true,
            "--candidates" => {
                options.candidates = arguments.next().ok_or("--candidates needs a number")?.parse()?;
            }
            shape => {
                let lengths = shape.split('x').map(str::parse).collect::<Result<Vec<u64>, _>>();
                options
                    .shapes
                    .push(lengths.map_err(|_| format!("{shape} is neither a shape nor an option"))?);
            }
        }
    }
    if options.shapes.is_empty() {
        options.shapes = vec![vec![1 << 33], vec![2048; 3]];
    }
    Ok(options)
}

fn main() -> Outcome {
    let options = options()?;
    let device = Device::cuda(0)?.with_wisdom(Wisdom::new());
    println!("{}", device.name());
    for shape in &options.shapes {
        if let Err(error) = largest(&device, shape, &options) {
            println!("{shape:?}: {error}");
        }
    }
    Ok(())
}

/// The problem of a shape, unitary, so that values stay what they are however often it runs.
fn problem(shape: &[u64], precision: Precision, most: Option<u64>, inverse: bool) -> Outcome<Problem> {
    let request = Fft::new(shape.to_vec()).in_place().precision(precision).norm(Norm::Ortho);
    let request = if inverse { request.inverse() } else { request };
    Ok(most.into_iter().fold(request, Fft::max_workspace).build()?)
}

fn largest(device: &Device, shape: &[u64], options: &Options) -> Outcome {
    let precision = options.precision;
    let asked = problem(shape, precision, Some(0), false)?;
    let bytes = asked.output_bytes();
    let started = Instant::now();
    let plan = device.plan(&asked)?;
    println!(
        "\n{shape:?} {precision:?}: {:.2} GiB in place, {} bytes of workspace, planned in {:.2} s",
        bytes as f64 / f64::from(1 << 30),
        plan.workspace_bytes(),
        started.elapsed().as_secs_f64()
    );
    let context = plan.cuda_context()?;
    let stream = context.stream()?;
    let data = context.alloc(bytes)?;
    let bench = Bench { context: &context, stream, data, elements: asked.elements(), shape, precision };

    let noise = noise(precision);
    bench.fill(&noise)?;
    let copy = bench.copy_seconds()?;
    println!("a copy of it: {:.2} ms, {:.2} TB/s", copy * 1e3, 2.0 * bytes as f64 / copy / 1e12);
    bench.report("without workspace", &plan, copy)?;
    if let Some(explained) = device.explain(&asked)? {
        println!("  {:.2} copies predicted, {}", explained.predicted_copies, explained.plans.join(" "));
    }

    bench.impulses()?;
    let error = bench.spectrum_error(&plan)?;
    println!("  relative error of the spectrum of {IMPULSES} impulses: {error:.2e}");
    bench.fill(&noise)?;
    bench.run(&plan)?;
    bench.run(&device.plan(&problem(shape, precision, Some(0), true)?)?)?;
    println!("  relative error of noise, there and back: {:.2e}", bench.noise_error(&noise)?);

    let limits = device.limits().ok_or("a GPU has limits")?;
    for (rank, one) in candidates(&asked, limits, options.candidates)?.iter().enumerate().skip(1) {
        let rival = device.load(Compiled::by(&one.recipe, &asked, limits)?.program)?;
        bench.report(&format!("rival {rank}, {:.2} predicted", one.copies), &rival, copy)?;
        let plans: Vec<String> = one.recipe.plans.iter().map(ToString::to_string).collect();
        println!("  {} {:?}", plans.join(" "), one.recipe.tiles);
    }
    if options.workspace {
        let plan = device.plan(&problem(shape, precision, None, false)?)?;
        match bench.report("with workspace", &plan, copy) {
            Ok(()) => {}
            Err(error) => println!("with {} bytes of workspace: {error}", plan.workspace_bytes()),
        }
    }
    bench.stream.synchronize()?;
    Ok(())
}

/// Reals of the problem's precision as bytes.
fn bytes_of(values: &[C64], precision: Precision) -> Vec<u8> {
    let reals = values.iter().flat_map(|z| [z.re, z.im]);
    match precision {
        Precision::F32 => reals.flat_map(|x| (x as f32).to_ne_bytes()).collect(),
        Precision::F64 => reals.flat_map(f64::to_ne_bytes).collect(),
        Precision::DoubleSingle => reals.flat_map(split).flat_map(f32::to_ne_bytes).collect(),
    }
}

fn values_of(bytes: &[u8], precision: Precision) -> Vec<C64> {
    let single = |x: &[u8]| f32::from_ne_bytes([x[0], x[1], x[2], x[3]]);
    let reals: Vec<f64> = match precision {
        Precision::F32 => bytes.chunks_exact(4).map(|x| f64::from(single(x))).collect(),
        Precision::DoubleSingle => {
            bytes.chunks_exact(8).map(|x| join([single(&x[..4]), single(&x[4..])])).collect()
        }
        Precision::F64 => bytes
            .chunks_exact(8)
            .map(|x| f64::from_ne_bytes([x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]]))
            .collect(),
    };
    reals.chunks_exact(2).map(|z| Complex::new(z[0], z[1])).collect()
}

fn noise(precision: Precision) -> Vec<u8> {
    let mut random = StdRng::seed_from_u64(33);
    let values: Vec<C64> = (0..NOISE)
        .map(|_| Complex::new(random.random_range(-1.0..1.0), random.random_range(-1.0..1.0)))
        .collect();
    bytes_of(&values, precision)
}

/// The data of one problem on the device.
struct Bench<'a> {
    context: &'a Context,
    stream: Stream,
    data: DeviceBuffer,
    elements: u64,
    shape: &'a [u64],
    precision: Precision,
}

impl Bench<'_> {
    /// Fills the data with a piece of it, again and again.
    fn fill(&self, piece: &[u8]) -> Outcome {
        let bytes = self.data.bytes();
        let piece = &piece[..piece.len().min(bytes as usize)];
        self.stream.upload(&self.data, piece)?;
        let mut at = piece.len() as u64;
        while at < bytes {
            let length = at.min(bytes - at);
            self.stream.repeat(&self.data, at, length)?;
            at += length;
        }
        Ok(self.stream.synchronize()?)
    }

    /// Seconds of a copy of all of the data, by one of a half of it.
    fn copy_seconds(&self) -> Outcome<f64> {
        let half = self.data.bytes() / 2;
        let copy = || self.stream.repeat(&self.data, half, half);
        copy()?;
        let milliseconds = self.context.time_on_stream(&self.stream, REPEATS, copy)?;
        Ok(f64::from(milliseconds) * 2e-3)
    }

    fn enqueue(&self, plan: &Plan, workspace: &DeviceBuffer) -> Result<(), warpfft::Error> {
        let data = [self.data.address(), 0];
        // SAFETY: stream and memory are of the plan's device; the data has the bytes that the problem spans, the
        // workspace those that the plan asks for, and every caller waits before it lets go of either.
        unsafe { plan.enqueue_cuda(self.stream.raw(), data, data, workspace.address()) }
    }

    fn workspace(&self, plan: &Plan) -> Outcome<DeviceBuffer> {
        Ok(plan.cuda_context()?.alloc(plan.workspace_bytes())?)
    }

    fn run(&self, plan: &Plan) -> Outcome {
        let workspace = self.workspace(plan)?;
        let enqueued = self.enqueue(plan, &workspace);
        self.stream.synchronize()?;
        Ok(enqueued?)
    }

    /// Times a plan and prints what came of it.
    fn report(&self, what: &str, plan: &Plan, copy: f64) -> Outcome {
        let workspace = self.workspace(plan)?;
        let timed = self.enqueue(plan, &workspace).and_then(|()| {
            self.context.time_on_stream(&self.stream, REPEATS, || self.enqueue(plan, &workspace))
        });
        self.stream.synchronize()?;
        let seconds = f64::from(timed?) * 1e-3;
        println!(
            "{what}: {:.2} ms, {:.2} copies, {} bytes of workspace, registers and spills {:?}",
            seconds * 1e3,
            seconds / copy,
            plan.workspace_bytes(),
            plan.cuda_registers()?
        );
        Ok(())
    }

    /// Positions and values of the impulses.
    fn sources(&self) -> Vec<(u64, C64)> {
        let mut random = StdRng::seed_from_u64(self.elements);
        let mut some = || {
            let value = Complex::new(random.random_range(-1.0..1.0), random.random_range(-1.0..1.0));
            (random.random_range(0..self.elements), value)
        };
        (0..IMPULSES).map(|_| some()).collect()
    }

    fn complex_bytes(&self) -> u64 {
        self.precision.complex_bytes()
    }

    fn impulses(&self) -> Outcome {
        self.fill(&vec![0; (NOISE * self.complex_bytes()) as usize])?;
        for (at, value) in self.sources() {
            let bytes = bytes_of(&[value], self.precision);
            self.stream.upload_at(&self.data, at * self.complex_bytes(), &bytes)?;
        }
        Ok(self.stream.synchronize()?)
    }

    /// Starts of windows: the first, the last, and many between.
    fn windows(&self) -> Vec<u64> {
        let mut random = StdRng::seed_from_u64(7);
        let last = self.elements - WINDOW.min(self.elements);
        let between = (2..WINDOWS).map(|_| random.random_range(0..=last));
        [0, last].into_iter().chain(between).collect()
    }

    /// Relative L2 distance of the windows from what they should hold.
    fn error(&self, wanted: impl Fn(u64) -> C64) -> Outcome<f64> {
        let mut buffer = vec![0; (WINDOW.min(self.elements) * self.complex_bytes()) as usize];
        let (mut off, mut size) = (0.0, 0.0);
        for start in self.windows() {
            self.stream.download_at(&mut buffer, &self.data, start * self.complex_bytes())?;
            for (got, at) in values_of(&buffer, self.precision).into_iter().zip(start..) {
                let want = wanted(at);
                off += (got - want).norm_sqr();
                size += want.norm_sqr();
            }
        }
        Ok((off / size).sqrt())
    }

    /// Runs the plan on impulses and compares with sums of waves.
    fn spectrum_error(&self, plan: &Plan) -> Outcome<f64> {
        self.run(plan)?;
        let sources: Vec<(Vec<u64>, C64)> =
            self.sources().into_iter().map(|(at, value)| (self.indices(at), value)).collect();
        let scale = 1.0 / (self.elements as f64).sqrt();
        self.error(|at| {
            let frequencies = self.indices(at);
            let wave = |(from, value): &(Vec<u64>, C64)| {
                let turns = self.shape.iter().zip(from).zip(&frequencies).map(|((&n, &x), &k)| {
                    let turned = u128::from(x) * u128::from(k) % u128::from(n);
                    let (re, im) = root(turned as u64, n);
                    Complex::new(re, im)
                });
                turns.product::<C64>() * value
            };
            sources.iter().map(wave).sum::<C64>() * scale
        })
    }

    /// Distance from the noise that was there.
    fn noise_error(&self, noise: &[u8]) -> Outcome<f64> {
        let noise = values_of(noise, self.precision);
        self.error(|at| noise[(at % NOISE) as usize])
    }

    /// Indices of an element, one for each dimension.
    fn indices(&self, at: u64) -> Vec<u64> {
        let mut rest = at;
        let mut indices: Vec<u64> = (self.shape.iter().rev())
            .map(|n| {
                let index = rest % n;
                rest /= n;
                index
            })
            .collect();
        indices.reverse();
        indices
    }
}
