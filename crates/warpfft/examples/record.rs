//! Measurements of record on this machine's GPU, as CSV on standard output:
//!
//! ```text
//! cargo run --release --example record -- speed 2 4d 8 1024x1024  # copies, 512 MiB in and out; d for f64
//! cargo run --release --example record -- plan 2 100 4099d        # milliseconds to a plan, cold and warm
//! cargo run --release --example record -- accuracy 1024           # error over rustfft's: 1..=1024 and a spread
//! cargo run --release --example record -- check 1009 12x12x12     # small batches of every sort, to run under a sanitizer
//! ```

use std::time::{Duration, Instant};

use warpfft::core::Error as CoreError;
use warpfft::core::math::factor;
use warpfft::core::math::reference::{reference, relative_l2};
use warpfft::core::problem::{Precision, Problem};
use warpfft::core::request::{Fft, Norm};
use warpfft::{Complex, Device, DeviceKind, Error, Strategy};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let mut args = std::env::args().skip(1);
    let what = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    let kind: DeviceKind = std::env::var("WARPFFT_DEVICE").unwrap_or_else(|_| "cuda".into()).parse()?;
    match what.as_str() {
        "speed" => speed(kind, &rest),
        "plan" => plan_times(kind, &rest),
        "accuracy" => accuracy(kind, &rest),
        "check" => check(kind, &rest),
        _ => Err("usage: record speed|plan|accuracy|check ARGS".into()),
    }
}

/// A shape, in f64 where `d` ends it.
fn shape(text: &str) -> Outcome<(Vec<u64>, Precision)> {
    let (text, precision) = match text.strip_suffix('d') {
        Some(text) => (text, Precision::F64),
        None => (text, Precision::F32),
    };
    Ok((text.split('x').map(str::parse).collect::<Result<_, _>>()?, precision))
}

/// Points of the whole problem: 512 MiB in f32.
const POINTS: u64 = 1 << 26;

fn batched(shape: &[u64], precision: Precision) -> Outcome<Problem> {
    let points: u64 = shape.iter().product();
    let all = if precision == Precision::F32 { POINTS } else { POINTS / 2 };
    Ok(Fft::new(shape.to_vec()).batch((all / points).max(1)).precision(precision).build()?)
}

fn speed(kind: DeviceKind, shapes: &[String]) -> Outcome {
    let device = Device::open(kind)?;
    println!("shape,precision,copies,best_copies,copy_us,transform_us,passes,registers,spilled,copy");
    for text in shapes {
        let (shape, precision) = shape(text)?;
        let plan = device.plan(&batched(&shape, precision)?)?;
        let took = plan.measure(Duration::from_millis(150))?;
        let launches = plan.program().map_or(0, |program| program.launches.len());
        println!(
            "{},{precision:?},{:.3},{:.3},{:.1},{:.1},{launches},{},{}",
            text.trim_end_matches('d'),
            took.copies(),
            took.transform_best / took.copy_best,
            took.copy_seconds * 1e6,
            took.transform_seconds * 1e6,
            plan_registers(&plan),
            took.copy_name
        );
    }
    Ok(())
}

#[cfg(feature = "cuda")]
fn plan_registers(plan: &warpfft::Plan) -> String {
    let found = plan.cuda_registers().unwrap_or_default();
    let join = |pick: fn(&(u32, u32)) -> u32| {
        found.iter().map(|one| pick(one).to_string()).collect::<Vec<_>>().join(" ")
    };
    format!("{},{}", join(|one| one.0), join(|one| one.1))
}

#[cfg(not(feature = "cuda"))]
fn plan_registers(_: &warpfft::Plan) -> String {
    ",".into()
}

/// Cold: an empty disk cache and a device just opened; settled: until it runs by its best kernels. Warm: the same with
/// the disk cache filled.
fn plan_times(kind: DeviceKind, lengths: &[String]) -> Outcome {
    println!("length,cold_ms,settled_ms,warm_ms,again_ms");
    let mut columns: [Vec<f64>; 3] = Default::default();
    for text in lengths {
        let (shape, precision) = shape(text)?;
        let problem = batched(&shape, precision)?;
        let timed = |device: &Device| -> Outcome<[f64; 2]> {
            let start = Instant::now();
            let ms = || start.elapsed().as_secs_f64() * 1e3;
            let plan = device.plan(&problem)?;
            let ready = ms();
            plan.settle()?;
            Ok([ready, ms()])
        };
        let [cold, settled] = timed(&Device::open(kind)?)?;
        let device = Device::open(kind)?;
        let [[warm, _], [again, _]] = [timed(&device)?, timed(&device)?];
        println!("{text},{cold:.2},{settled:.2},{warm:.2},{again:.2}");
        columns.iter_mut().zip([cold, settled, warm]).for_each(|(all, ms)| all.push(ms));
    }
    for (name, mut all) in ["cold", "settled", "warm"].into_iter().zip(columns) {
        all.sort_by(f64::total_cmp);
        if let (Some(last), Some(middle)) = (all.last(), all.get(all.len() / 2)) {
            println!("# {name}: median {middle:.2} ms, most {last:.2} ms");
        }
    }
    Ok(())
}

/// Few transforms of each shape, so that a tool that watches every access (`compute-sanitizer`) sees many kernels in
/// little time: complex and real, there and back, in place, three types in memory, by the plan and by every strategy that is for it.
fn check(kind: DeviceKind, shapes: &[String]) -> Outcome {
    let device = Device::open(kind)?;
    let (mut ran, mut refused, mut wrong) = (0, 0, 0);
    for text in shapes {
        let (shape, precision) = shape(text)?;
        let long = shape.iter().product::<u64>() > 2048;
        let asked = Fft::new(shape).batch(5).precision(precision);
        let [there, back] = [asked.clone().r2c(), asked.clone().c2r().norm(Norm::Backward)];
        let mut all = vec![asked.clone(), asked.clone().inverse().in_place(), there, back];
        if precision == Precision::F32 {
            all.extend([asked.clone().f16(), asked.bf16()]);
        }
        for asked in all {
            let problem = asked.build()?;
            // Long lengths by what plans begin with alone: of the others many are slow, and the same for all lengths.
            let wanted =
                |strategy: &Strategy| !strategy.is_on_processor() && (!long || strategy.name() == "looped");
            let device_code = Strategy::all().filter(wanted);
            for by in std::iter::once(None).chain(device_code.map(Some)) {
                let plan = match by {
                    None => device.plan(&problem).and_then(|plan| plan.settle().map(|()| plan)),
                    Some(strategy) => device.plan_by(&problem, strategy),
                };
                let name = by.as_ref().map_or("planned", Strategy::name);
                match plan {
                    Ok(plan) => {
                        let checked = plan.verify()?;
                        ran += 1;
                        if !checked.holds() {
                            wrong += 1;
                            println!("{text} by {name}, {problem:?}: {checked}");
                        }
                    }
                    // A strategy that is not for this problem, or this device.
                    Err(Error::Core(
                        CoreError::Strategy { .. }
                        | CoreError::DeviceTooSmall { .. }
                        | CoreError::Unsupported { .. },
                    )) if by.is_some() => refused += 1,
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }
    println!("{ran} plans ran, {wrong} of them wrong; {refused} were not for their strategy");
    if wrong == 0 { Ok(()) } else { Err("wrong results".into()) }
}

/// Relative L2 error beside rustfft's on the same data, against the double-double reference.
fn accuracy(kind: DeviceKind, args: &[String]) -> Outcome {
    let device = Device::open(kind)?;
    let most: u64 = args.first().map_or(Ok(1024), |arg| arg.parse())?;
    let mut lengths: Vec<u64> = (1..=most).collect();
    if most >= 1024 {
        lengths.extend([1155, 2003, 2048, 3000, 4096, 4099, 5040, 6561, 8191, 8192, 10_000, 10_007, 16_384]);
        lengths.extend([20_000, 32_768, 65_536, 65_537, 99_991, 131_072, 262_144, 524_288, 720_720, 1 << 20]);
    }
    println!("length,precision,error,rustfft,ratio,bound");
    let mut worst = Vec::new();
    for precision in [Precision::F32, Precision::F64] {
        for &n in &lengths {
            let batch = (512 / n).clamp(1, 64);
            let problem = Fft::new([n]).batch(batch).precision(precision).build()?;
            let (ours, theirs) = match precision {
                Precision::F32 => errors(&device, &problem, n, |x| x as f32, f64::from)?,
                Precision::F64 | Precision::DoubleSingle => errors(&device, &problem, n, |x| x, |x| x)?,
            };
            let convolved = factor::factorise(n).iter().any(|&(p, _)| p > 31);
            let bound = if convolved { 3.0 } else { 1.5 };
            let ratio = ours / theirs;
            if ours > 0.0 {
                worst.push((ratio / bound, n, precision, ours, theirs));
            }
            if ours > theirs * bound || n > 1024 {
                println!("{n},{precision:?},{ours:.3e},{theirs:.3e},{ratio:.2},{bound}");
            }
        }
    }
    worst.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (part, n, precision, ours, theirs) in worst.iter().take(12) {
        println!("# {n} {precision:?}: {ours:.2e} beside {theirs:.2e}, {part:.2} of the bound");
    }
    let failed = worst.iter().filter(|one| one.0 > 1.0).count();
    println!("# {} problems, {failed} over the bound", worst.len());
    if failed > 0 { Err("errors over the bound".into()) } else { Ok(()) }
}

fn errors<T: warpfft::Real + rustfft::FftNum>(
    device: &Device,
    problem: &Problem,
    n: u64,
    narrow: fn(f64) -> T,
    wide: fn(T) -> f64,
) -> Outcome<(f64, f64)> {
    let count = problem.input_span().end as usize;
    let real = || narrow(rand::random_range(-1.0..1.0));
    let input: Vec<Complex<T>> = (0..count).map(|_| Complex::new(real(), real())).collect();
    let mut output = vec![Complex::new(narrow(f64::NAN), narrow(f64::NAN)); count];
    device.plan(problem)?.run_host(&input, &mut output)?;
    let exact = |z: Complex<T>| Complex::new(wide(z.re), wide(z.im));
    let mut want = vec![Complex::default(); count];
    for (at, value) in reference(problem, |at| exact(input[at as usize])) {
        want[at as usize] = value;
    }
    let mut theirs = input;
    rustfft::FftPlanner::new().plan_fft_forward(n as usize).process(&mut theirs);
    let error = |got: &[Complex<T>]| relative_l2(&got.iter().map(|&z| exact(z)).collect::<Vec<_>>(), &want);
    Ok((error(&output), error(&theirs)))
}
