//! Data of the computer's memory in parts: on every device the same numbers as at once, nothing beside them touched, from
//! ordinary memory and from memory that the device reaches by itself.

mod cases;

use cases::{CANARY, devices, packed};
use rand::Rng;
use warpfft::core::problem::{Dim, Format, Placement, Precision, Problem};
use warpfft::core::request::Fft;
use warpfft::{Complex, Device, DeviceKind, Error, Pipeline, Plan, Strategy};

/// Problems that can be cut, and some that cannot, with the bytes of a part.
fn asked() -> Vec<(&'static str, Problem, u64)> {
    let gaps = {
        let mut problem = packed(&[48], 7);
        (problem.input_offset, problem.output_offset) = (3, 5);
        problem.batch[0] = Dim::new(7, 50, 61);
        problem.transform[0] = Dim::new(48, 1, 1);
        problem
    };
    let backwards = {
        let mut problem = packed(&[16], 6);
        problem.batch[0] = Dim::new(6, -16, 16);
        problem.input_offset = 80;
        problem
    };
    let nested = Fft::axes([5, 12, 3], [1]).build().expect("it can be");
    let in_place = Problem { placement: Placement::InPlace, ..packed(&[64], 11) };
    vec![
        ("rows", packed(&[64], 10), 3 * 512),
        ("a part for each", packed(&[8, 9], 5), 1),
        ("one part", packed(&[24, 24], 4), 1 << 30),
        ("gaps and offsets", gaps, 2 * 400),
        ("the other way", backwards, 256),
        ("columns of several planes", nested, 2 * 288),
        ("in place", in_place, 4 * 512),
        ("one transform", packed(&[1000], 1), 1),
    ]
}

fn noise(len: usize) -> Vec<Complex<f32>> {
    let mut rng = rand::rng();
    (0..len).map(|_| Complex::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0))).collect()
}

/// What a plan of the whole and the pipeline make of the same arrays.
fn both(whole: &Plan, pipeline: &Pipeline, pinned: bool) -> Result<[Vec<Complex<f32>>; 2], Error> {
    let (problem, device) = (pipeline.problem(), pipeline.device());
    let input = noise(whole.input_elements() as usize);
    // More than is needed, which nobody may touch.
    let canary = Complex::new(CANARY as f32, 0.0);
    let mut want = vec![canary; whole.output_elements() as usize + 5];
    let mut got = want.clone();
    if problem.placement == Placement::InPlace {
        want[..input.len()].copy_from_slice(&input);
        got.copy_from_slice(&want);
        whole.run_in_place(&mut want)?;
        if pinned {
            let mut array = device.host_array(got.len())?;
            array.copy_from_slice(&got);
            pipeline.run_in_place(&mut array[..])?;
            got.copy_from_slice(&array);
        } else {
            pipeline.run_in_place(&mut got)?;
        }
        return Ok([want, got]);
    }
    whole.run_host(&input, &mut want)?;
    if pinned {
        let (mut from, mut to) = (device.host_array(input.len())?, device.host_array(got.len())?);
        from.copy_from_slice(&input);
        to.copy_from_slice(&got);
        pipeline.run(&from[..], &mut to[..])?;
        got.copy_from_slice(&to);
    } else {
        pipeline.run(&input, &mut got)?;
    }
    Ok([want, got])
}

#[test]
fn parts_give_what_the_whole_gives_and_touch_nothing_else() {
    for device in devices() {
        for (name, problem, bytes) in asked() {
            let pipeline =
                device.pipeline_in_parts(&problem, bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
            let whole = device.plan(&problem).unwrap_or_else(|error| panic!("{name}: {error}"));
            // Twice each: the second time the pipeline's own memory is there.
            for pinned in [false, true, false, true] {
                let [want, got] = both(&whole, &pipeline, pinned)
                    .unwrap_or_else(|error| panic!("{device:?}, {name}: {error}"));
                let off = want.iter().zip(&got).map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
                assert!(off < 1e-4, "{device:?}, {name}, pinned {pinned}: off by {off}");
            }
        }
    }
}

#[test]
fn as_many_parts_as_bytes_ask_for() {
    let device = Device::sim(warpfft::core::target::Limits::h200());
    let counts: Vec<u64> = asked()
        .iter()
        .map(|(_, problem, bytes)| device.pipeline_in_parts(problem, *bytes).expect("it can be").parts())
        .collect();
    assert_eq!(counts, [4, 5, 1, 4, 1, 3, 3, 1]);
    let cpu = Device::cpu().pipeline_in_parts(&packed(&[64], 10), 512).expect("it can be");
    assert_eq!((cpu.parts(), cpu.is_streamed()), (1, false), "the processor works where the data lies");
}

#[test]
fn real_and_planar_data_go_in_parts() {
    for device in devices() {
        let problem = Fft::new([6, 10]).r2c().batch(9).build().expect("it can be");
        let (plan, pipeline) = (device.plan(&problem), device.pipeline_in_parts(&problem, 4 * 66 * 8));
        let (plan, pipeline) = (plan.expect("it can be"), pipeline.expect("it can be"));
        let input: Vec<f32> = noise(9 * 60).iter().map(|z| z.re).collect();
        let mut outputs = [vec![Complex::default(); 9 * 36], vec![Complex::default(); 9 * 36]];
        plan.run_host(&input, &mut outputs[0]).expect("it runs");
        pipeline.run(&input, &mut outputs[1]).expect("it runs");
        let off = outputs[0].iter().zip(&outputs[1]).map(|(a, b): (&Complex<f32>, _)| (a - b).norm());
        assert!(off.fold(0.0, f32::max) < 1e-4, "{device:?}");

        let planar = Fft::new([32]).formats(Format::Planar, Format::Interleaved).batch(7).build();
        let planar = planar.expect("it can be");
        let pipeline = device.pipeline_in_parts(&planar, 2 * 256).expect("it can be");
        let numbers = noise(7 * 32);
        let (re, im): (Vec<f32>, Vec<f32>) = numbers.iter().map(|z| (z.re, z.im)).unzip();
        let mut apart = vec![Complex::default(); 7 * 32];
        pipeline.run((&re[..], &im[..]), &mut apart).expect("it runs");
        let mut together = apart.clone();
        device
            .plan(&packed(&[32], 7))
            .and_then(|plan| plan.run_host(&numbers, &mut together))
            .expect("it runs");
        let off = apart.iter().zip(&together).map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
        assert!(off < 1e-4, "{device:?}: off by {off}");
    }
}

#[test]
fn published_algorithms_go_in_parts_too() {
    for device in devices().into_iter().filter(|device| device.limits().is_some()) {
        let strategy = Strategy::named("stockham-2").expect("it is one");
        let problem = packed(&[64], 12);
        let pipeline = device.pipeline_by(&problem, strategy).expect("it is covered");
        let whole = device.plan(&problem).expect("it can be");
        let [want, got] = both(&whole, &pipeline, true).expect("it runs");
        let off = want.iter().zip(&got).map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
        assert!(off < 1e-4, "{device:?}: off by {off}");
        let refused = device.pipeline_by(&packed(&[100], 12), strategy);
        assert!(refused.is_err(), "{device:?}: 100 is no power of two");
    }
}

#[test]
fn arrays_that_do_not_fit_are_refused() {
    for device in devices() {
        let pipeline = device.pipeline_in_parts(&packed(&[64], 10), 512).expect("it can be");
        let (input, mut output) = (noise(640), noise(640));
        let short = pipeline.run(&input[..639], &mut output);
        assert!(matches!(short, Err(Error::BufferTooSmall { needed: 640, got: 639, .. })), "{short:?}");
        assert!(matches!(pipeline.run_in_place(&mut output), Err(Error::WrongPlacement { .. })));
        let wide = vec![Complex::new(0.0_f64, 0.0); 640];
        assert!(matches!(pipeline.run(&wide, &mut output), Err(Error::WrongStorage { .. })));
        let reals = vec![0.0_f32; 2000];
        assert!(matches!(pipeline.run(&reals, &mut output), Err(Error::WrongFormat { .. })));
    }
}

#[test]
fn streams_are_where_the_device_has_them() {
    for device in devices() {
        let problem = Problem { precision: Precision::F32, ..packed(&[24, 24, 24], 6) };
        let pipeline = device.pipeline_in_parts(&problem, 13_824 * 8).expect("it can be");
        assert_eq!(pipeline.is_streamed(), device.kind() == DeviceKind::Cuda, "{device:?}");
        if !device.is_hardware() {
            continue;
        }
        let measured = pipeline.measure(std::time::Duration::from_millis(50)).expect("it is timed");
        assert!(measured.transform_seconds > 0.0 && measured.copies() > 0.5, "{device:?}: {measured:?}");
    }
}
