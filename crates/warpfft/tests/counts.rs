//! Plans that leave the number of transforms open: every count on every device, beside the definition; nothing beyond it
//! is touched, and arrays hold no more than it spans.

mod cases;

use cases::devices;
use cases::real::run_plan;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use warpfft::core::Error as CoreError;
use warpfft::core::kernel::{Block, Op};
use warpfft::core::problem::{Dim, Direction, Filter, Format, Kind, Placement, Precision, Problem, RealKind};
use warpfft::core::request::{Convolution, Fft, Mode};
use warpfft::core::target::Limits;
use warpfft::{Complex, ConvolutionPlan, Device, DeviceKind, Error, Plan};

/// Runs a plan with that count; says what is wrong.
fn hold(device: &Device, problem: &Problem, counts: &[u64]) {
    let plan = match device.plan(problem) {
        Ok(plan) => plan,
        Err(Error::Unsupported { what, .. }) if problem.precision == Precision::F64 => {
            return println!("{device:?}: skipped, no {what}");
        }
        Err(error) => panic!("{device:?}: {problem:?}: {error}"),
    };
    for &count in counts {
        let error = match problem.precision {
            Precision::F32 => run_plan(&plan, Some(count), |x| x as f32),
            Precision::F64 | Precision::DoubleSingle => run_plan(&plan, Some(count), |x| x),
        };
        let error = error.unwrap_or_else(|error| panic!("{device:?}: {problem:?}, {count}: {error}"));
        let bound = 3.0 * plan.error_bound();
        assert!(error < bound, "{device:?}: error {error:e}, {bound:e} allowed, count {count}: {problem:?}");
    }
}

/// Holds some of many for devices that a processor stands in for, all of them for the others: whatever the list, each of
/// its entries is run in some round.
fn hold_some(device: &Device, all: &[(Problem, Vec<u64>)]) {
    let share = match device.kind() {
        DeviceKind::Sim => 1,
        DeviceKind::Wgpu if !device.is_hardware() => 9,
        DeviceKind::OpenCl if !device.is_hardware() => 29,
        _ => 1,
    };
    let first = rand::random_range(0..share);
    all.iter().skip(first).step_by(share).for_each(|(problem, counts)| hold(device, problem, counts));
}

fn asked(fft: Fft) -> Problem {
    fft.any_batch().build().expect("it can be")
}

/// Counts up to a most: the ends, and what no tile divides.
fn counts(most: u64) -> Vec<u64> {
    let mut all = vec![1, 2, 3, 7, most / 2 + 1, most - 1, most];
    all.retain(|count| (1..=most).contains(count));
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn packed_transforms_of_every_algorithm() {
    let shapes: [(&[u64], u64); 13] = [
        (&[1], 5),
        (&[8], 300),
        (&[64], 33),
        (&[60], 50),
        (&[97], 20),
        (&[1009], 5),
        (&[2003], 3),
        (&[1024], 9),
        (&[35], 100),
        (&[16, 16], 7),
        (&[6, 5, 4], 9),
        (&[128, 96], 3),
        (&[16384], 3),
    ];
    let one = |(shape, most)| {
        let fft = Fft::new(shape).batch(most);
        [fft.clone(), fft.in_place()].map(|fft| (asked(fft), counts(most)))
    };
    for device in devices() {
        hold_some(&device, &shapes.into_iter().flat_map(one).collect::<Vec<_>>());
    }
}

/// Several passes, whose every second walks back to front from the last tile that there is.
#[test]
fn transforms_of_several_passes() {
    let shapes = [(&[1 << 15][..], 3), (&[10_007], 3), (&[300, 200], 2), (&[512, 512], 2), (&[1 << 16], 3)];
    let mut all: Vec<(Problem, Vec<u64>)> = Vec::new();
    for (shape, most) in shapes {
        all.push((asked(Fft::new(shape).batch(most)), counts(most)));
    }
    all.push((asked(Fft::new([1 << 15]).in_place().max_workspace(1 << 12).batch(2)), vec![1, 2]));
    let small = Device::sim(Limits::webgpu_min());
    for device in devices().into_iter().chain([small]) {
        hold_some(&device, &all);
    }
}

/// Whether such an operation is anywhere in a block of code.
fn has(block: &Block, wanted: &impl Fn(Op) -> bool) -> bool {
    let mut insts = block.insts.iter();
    insts.any(|inst| wanted(inst.op) || inst.blocks.iter().any(|inner| has(inner, wanted)))
}

/// Volumes of which two passes share a dimension, with every count.
#[test]
fn passes_that_share_a_dimension() {
    let tight = Limits {
        name: "little cache, blocks that hold little".into(),
        shared_bytes: 4096,
        max_cluster: 1,
        l2_bytes: 1 << 12,
        ..Limits::h200()
    };
    let device = Device::sim(tight);
    let mut shares = 0;
    let volume = Fft::new([16, 64, 16]).batch(5);
    let reals = Fft::new([12, 64, 32]).batch(5);
    for fft in [
        volume.clone(),
        volume.clone().in_place(),
        volume.clone().planar(),
        volume.inverse(),
        Fft::new([16, 24, 20]).batch(5).f64(),
        reals.clone().r2c(),
        reals.clone().c2r(),
        reals.inverse().r2c(),
    ] {
        let problem = asked(fft);
        let explained = device.explain(&problem).expect("it is planned").expect("of passes");
        shares += usize::from(explained.to_string().contains("split"));
        hold(&device, &problem, &counts(5));
    }
    assert!(shares > 5, "{shares} have two passes that share a dimension");
}

/// What a block asks for ahead of others must not lie beyond the count: the simulator's arrays end there.
#[test]
fn slabs_asked_for_ahead() {
    let few = Limits { multiprocessors: 1, ..Limits::h200() };
    let device = Device::sim(few.clone());
    let apart = Device::sim(Limits { max_cluster: 1, ..few });
    let asks = |op: Op| matches!(op, Op::BulkPrefetch { .. });
    let mut several = false;
    for (device, fft, most) in [
        (&device, Fft::new([1 << 14]), 7),
        (&device, Fft::new([128, 128]).inverse(), 6),
        (&device, Fft::new([1720]).r2c(), 40),
        // Slabs of what windows leave.
        (&device, Fft::new([1 << 14]).pad(&[10_000]), 5),
        (&device, Fft::new([128, 128]).pad(&[70, 100]).shift_output(), 5),
        (&device, Fft::new([1 << 15]).shift_input(), 4),
        // A cluster of blocks; tiles of several.
        (&device, Fft::new([1 << 15]), 5),
        (&device, Fft::new([931]).f64(), 20),
        // The second pass walks back.
        (&apart, Fft::new([1 << 17]), 3),
    ] {
        let problem = asked(fft.batch(most));
        let plan = device.plan(&problem).expect("it has a plan");
        let kernels = &plan.program().expect("it has one").kernels;
        assert!(kernels.last().is_some_and(|last| has(&last.body, &asks)), "{problem:?} asks for nothing");
        several |= kernels.iter().any(|kernel| kernel.at_run.is_some_and(|at_run| at_run.step > 1));
        hold(device, &problem, &counts(most));
    }
    assert!(several);
}

/// Blocks that wait for each other, whose last is the count's: fewer items than the first pass is ahead, as many, and more.
#[test]
fn launches_that_two_passes_share() {
    let waits = |op: Op| op == Op::CounterWait;
    let shared = |plan: &Plan| {
        let program = plan.program().expect("it has one");
        program.kernels.iter().any(|kernel| kernel.at_run.is_some() && has(&kernel.body, &waits))
    };
    let small = Limits {
        name: "few blocks that hold little".into(),
        shared_bytes: 2048 + 128,
        max_threads: 64,
        max_cluster: 1,
        multiprocessors: 1,
        l2_bytes: 160 << 10,
        ..Limits::h200()
    };
    let device = Device::sim(small);
    let lines = |n: u64| Fft::new([n]).batch(19);
    let mut all = vec![
        lines(1024),
        lines(1024).in_place(),
        lines(900).inverse(),
        lines(1080).planar(),
        lines(1024).f64(),
        Fft::new([32, 32]).batch(23),
        Fft::new([8, 8, 32]).batch(17).in_place(),
        Fft::new([30, 50]).batch(19).f64(),
        Fft::new([30, 64]).r2c().batch(23),
        Fft::new([30, 64]).c2r().batch(23),
        // What lies between is in another order than its indices, or not all of it.
        Fft::new([32, 32]).batch(23).shift_output(),
        Fft::new([8, 8, 32]).batch(17).shift_input().in_place(),
        Fft::new([32, 50]).batch(19).pad(&[20, 33]).f64(),
        Fft::new([64, 32]).batch(19).crop(&[33, 15]).pad(&[64, 31]).shift_output(),
        Fft::new([8, 32, 8]).batch(19).pad(&[5, 17, 6]).crop(&[8, 19, 7]),
        // Lines within the counted ones are items too.
        Fft::axes([9, 3, 1024], [2]),
        // Columns, whose neighbours are counted or are not.
        Fft::guru(&[Dim::new(1024, 1, 1)], &[Dim::new(7, 3 * 1024, 1024), Dim::new(3, 1024, 7 * 1024)]),
    ];
    all.retain(|fft| {
        let problem = asked(fft.clone());
        let plan = device.plan(&problem).expect("it has a plan");
        let most = problem.at_run().expect("it is counted").n;
        hold(&device, &problem, &(1..=most).collect::<Vec<_>>());
        shared(&plan)
    });
    assert!(all.len() >= 14, "only {all:?} share a launch");
    // Without a device there is nothing that these could be run on in good time.
    let large = [&[1 << 18][..], &[1 << 16], &[512, 512], &[256, 256], &[64, 64, 64], &[1 << 14]];
    for device in devices().into_iter().filter(|device| device.kind() == DeviceKind::Cuda) {
        let cache = device.limits().map_or(0, |limits| limits.l2_bytes);
        for shape in large {
            let points: u64 = shape.iter().product();
            let most = cache / (16 * points) + 2;
            hold(&device, &asked(Fft::new(shape).batch(most)), &[1, 5, most]);
            hold(&device, &asked(Fft::new(shape).batch(most).in_place().f64()), &[most / 3]);
            hold(&device, &asked(Fft::new(shape).shift_output().batch(most)), &[most / 3]);
        }
    }
}

#[test]
fn batches_within_and_between_the_transforms() {
    for device in devices() {
        // Columns: the count is of neighbours.
        hold(&device, &asked(Fft::axes([30, 11], [0])), &counts(11));
        hold(&device, &asked(Fft::axes([40, 64], [0]).planar()), &counts(64));
        // The first axis of two that are repeated; the other is nearer.
        hold(&device, &asked(Fft::axes([9, 16, 6], [1])), &counts(9));
        // A stride of its own, backwards, on both sides.
        let backwards = [Dim::new(6, -20, -30).at_run(), Dim::new(2, 10, 14)];
        let problem = Fft::guru(&[Dim::new(8, 1, 1)], &backwards).offsets(120, 160).build();
        hold(&device, &problem.expect("it stays above 0"), &counts(6));
        // The first of a list is the outermost, wherever it lies.
        let near = [Dim::new(5, 1, 1), Dim::new(4, 5, 80)];
        hold(&device, &asked(Fft::guru(&[Dim::new(16, 20, 5)], &near)), &counts(5));
        // One input for all.
        let problem = Fft::guru(&[Dim::new(15, 1, 1)], &[Dim::new(4, 0, 15)]);
        hold(&device, &asked(problem), &counts(4));
    }
}

#[test]
fn real_data() {
    let lines: [fn(u64) -> Fft; 6] = [
        |n| Fft::new([n]).r2c(),
        |n| Fft::new([n]).c2r(),
        |n| Fft::new([n]).r2r([RealKind::Dct2]),
        |n| Fft::new([n]).r2r([RealKind::Dst1]),
        |n| Fft::new([n]).r2r([RealKind::Dht]),
        |n| Fft::new([n]).r2r([RealKind::Dct4]),
    ];
    let mut all: Vec<(Problem, Vec<u64>)> = Vec::new();
    let mut add = |fft: Fft, most: u64| all.push((asked(fft), counts(most)));
    for line in lines {
        [1, 2, 9, 16, 97, 210].into_iter().for_each(|n| add(line(n).batch(7), 7));
        add(line(60).batch(5).in_place(), 5);
    }
    add(Fft::new([6, 10]).r2c().batch(5), 5);
    add(Fft::new([7, 9]).c2r().batch(4).f64(), 4);
    add(Fft::axes([6, 5, 12], [1, 2]).r2c(), 6);
    add(Fft::new([4, 6]).r2r([RealKind::Dct2]).batch(5), 5);
    // Longer than a tile of some: folds are passes of their own.
    add(Fft::new([12_000]).r2c().batch(3), 3);
    add(Fft::new([9001]).c2r().batch(2), 2);
    for device in devices() {
        hold_some(&device, &all);
    }
}

/// Any descriptor: dimensions in any order of memory, gaps between them, some walked backwards.
fn some_problem(random: &mut StdRng) -> Problem {
    let rank = random.random_range(2..=4);
    let lengths: Vec<u64> = (0..rank).map(|_| random.random_range(1..=[40, 12, 7, 5][rank - 1])).collect();
    let in_place = random.random_range(0..3) == 0;
    let (is, input_offset) = some_strides(random, &lengths);
    let (os, output_offset) =
        if in_place { (is.clone(), input_offset) } else { some_strides(random, &lengths) };
    let dims = lengths.iter().zip(is.iter().zip(&os)).map(|(&n, (&is, &os))| Dim::new(n, is, os));
    let mut transform: Vec<Dim> = dims.collect();
    let mut batch = transform.split_off(random.random_range(0..rank.min(3)));
    let own = random.random_range(0..batch.len());
    batch[own].at_run = true;
    let mut format = || if random.random() { Format::Planar } else { Format::Interleaved };
    let (input, output) = (format(), format());
    let problem = Problem {
        kind: Kind::Complex,
        transform,
        batch,
        input_offset,
        output_offset,
        precision: if random.random() { Precision::F32 } else { Precision::F64 },
        input: if in_place { output } else { input },
        output,
        placement: if in_place { Placement::InPlace } else { Placement::OutOfPlace },
        direction: if random.random() { Direction::Forward } else { Direction::Inverse },
        scale: random.random_range(0.1..3.0),
        storage: [None; 2],
        windows: Vec::new(),
        filter: None,
        max_workspace: None,
        functions: Default::default(),
    };
    problem.validated().expect("its elements lie apart")
}

/// Strides that keep all elements apart, and the offset that keeps the lowest above 0.
fn some_strides(random: &mut StdRng, lengths: &[u64]) -> (Vec<i64>, u64) {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.shuffle(random);
    let mut strides = vec![0; lengths.len()];
    let mut reach = random.random_range(1..=3);
    let mut offset = random.random_range(0..4);
    for axis in order {
        let last = lengths[axis] as i64 - 1;
        strides[axis] = reach;
        reach = reach * lengths[axis] as i64 + random.random_range(0..4);
        if random.random_range(0..4) == 0 {
            offset += (last * strides[axis]) as u64;
            strides[axis] = -strides[axis];
        }
    }
    (strides, offset)
}

#[test]
fn any_layout_with_any_count() {
    for device in devices() {
        let seeds = match device.kind() {
            DeviceKind::Wgpu if !device.is_hardware() => 8,
            DeviceKind::OpenCl if !device.is_hardware() => 3,
            _ => 150,
        };
        for seed in 0..seeds {
            let random = &mut StdRng::seed_from_u64(seed);
            let problem = some_problem(random);
            let most = problem.at_run().expect("a dimension is counted").n;
            hold(&device, &problem, &[random.random_range(1..=most), most]);
        }
    }
}

/// Windows leave the number of transforms open too: padded, cropped and shifted, of complex numbers and of reals.
#[test]
fn windows_with_any_count() {
    let all = [
        (Fft::new([64]).pad(&[20]).crop(&[33]).batch(9), 9),
        (Fft::new([1000]).shift_output().batch(5), 5),
        (Fft::new([1009]).pad(&[400]).batch(4), 4),
        (Fft::new([127]).shift_input().crop(&[100]).inverse().batch(11), 11),
        (Fft::new([12, 20]).pad(&[5, 9]).shift_output().batch(7), 7),
        (Fft::new([6, 5, 8]).pad(&[3, 5, 4]).crop(&[6, 2, 8]).batch(5), 5),
        (Fft::new([1 << 15]).pad(&[20_000]).batch(2), 2),
        (Fft::new([60]).pad(&[31]).r2c().batch(8), 8),
        (Fft::new([60]).crop(&[31]).c2r().batch(8), 8),
        (Fft::new([10, 48]).pad(&[4, 20]).r2c().batch(6), 6),
        (Fft::new([40]).pad(&[16]).r2r([RealKind::Dct2]).batch(7), 7),
        (Fft::axes([13, 48, 3], [1]).pad(&[13, 20, 3]), 13),
        (Fft::new([48]).pad(&[20]).shift_output().on_store(|x, at| x * at.axis(0)).batch(9), 9),
    ];
    let all: Vec<_> = all.into_iter().map(|(fft, most)| (asked(fft), counts(most))).collect();
    for device in devices() {
        hold_some(&device, &all);
    }
}

/// Convolutions leave the number of images open: every count gives the first results of a plan for that many, and touches
/// nothing behind them.
#[test]
fn convolutions_with_any_count() {
    let all = [
        (Convolution::new([100], [9]), 9),
        (Convolution::new([100], [9]).kernels(3).correlate(), 5),
        (Convolution::new([60], [7]).real().mode(Mode::Same), 7),
        (Convolution::new([300], [5]).real().blocks(64), 4),
        (Convolution::new([12, 20], [3, 4]).real().kernels(2), 6),
        (Convolution::new([12, 20], [3, 4]).mode(Mode::Periodic), 8),
        (Convolution::new([9000], [1000]), 2),
        (Convolution::new([150, 130], [5, 5]), 2),
        (Convolution::new([5, 6, 7], [2, 3, 2]).mode(Mode::Valid), 3),
    ];
    for device in devices() {
        let share = if device.kind() == DeviceKind::OpenCl && !device.is_hardware() { 4 } else { 1 };
        for (asked, most) in all.iter().skip(rand::random_range(0..share)).step_by(share) {
            hold_images(&device, asked, *most);
        }
    }
}

/// Of filters that each transform has for itself, the first ones are used.
#[test]
fn filters_of_their_own_with_any_count() {
    let filter = Filter {
        offset: 2,
        transform: vec![1],
        batch: vec![50],
        conjugate: true,
        hermitian: false,
        blocks: Vec::new(),
    };
    let numbers = |len: u64| {
        (0..len).map(|_| Complex::new(rand::random_range(-1.0_f32..1.0), rand::random())).collect::<Vec<_>>()
    };
    for device in devices() {
        let problem = Problem { filter: Some(filter.clone()), ..asked(Fft::new([48]).batch(6)) };
        let problem = problem.validated().expect("it can be");
        let plan = device.plan(&problem).expect("it fits every device");
        let (input, factors) = (numbers(6 * 48), numbers(2 + 6 * 50));
        for count in counts(6) {
            let own = 48 * count as usize;
            let mut found = vec![Complex::new(9.0, 9.0); 6 * 48];
            plan.run_filtered_batch(count, &input[..own], &factors, &mut found).expect("it runs");
            let fixed =
                device.plan(&problem.at_count(count).expect("it may be")).expect("it fits every device");
            let mut want = vec![Complex::default(); own];
            fixed.run_filtered(&input[..own], &factors, &mut want).expect("it runs");
            let (first, rest) = found.split_at(own);
            let distance: f32 = first.iter().zip(&want).map(|(x, y)| (x - y).norm_sqr()).sum();
            let length: f32 = want.iter().map(Complex::norm_sqr).sum();
            assert!((distance / length).sqrt() < 1e-6, "{device:?}: {count}");
            assert!(rest.iter().all(|&x| x == Complex::new(9.0, 9.0)), "{device:?}: {count}");
        }
        let unfiltered = plan.run_host_batch(2, &input, &mut vec![Complex::default(); 6 * 48]);
        assert_eq!(unfiltered, Err(Error::Filter { expected: true }));
    }
}

fn hold_images(device: &Device, asked: &Convolution, most: u64) {
    let make = |asked: &Convolution| {
        device.convolution(asked).unwrap_or_else(|e| panic!("{device:?}: {asked:?}: {e}"))
    };
    let open = make(&asked.clone().batch(most).any_batch());
    let [images, kernels, _, results] = open.elements().map(|elements| elements as usize);
    let real = asked.formats()[0] == Format::Real;
    let numbers = |len: usize| (0..len).map(|_| rand::random_range(-1.0_f32..1.0)).collect::<Vec<_>>();
    let twice = if real { 1 } else { 2 };
    let (images, kernels, results) = (numbers(twice * images), numbers(twice * kernels), twice * results);
    let complex = |x: &[f32]| x.chunks(2).map(|z| Complex::new(z[0], z[1])).collect::<Vec<_>>();
    let run = |plan: &ConvolutionPlan, count: Option<u64>, images: &[f32], into: &mut [f32]| {
        let spectrum = if real { plan.prepare(&kernels[..]) } else { plan.prepare(&complex(&kernels)[..]) };
        let spectrum = spectrum.expect("kernels have spectra");
        if real {
            match count {
                Some(count) => plan.run_host_batch(count, images, &spectrum, into),
                None => plan.run_host(images, &spectrum, into),
            }
        } else {
            let (images, mut found) = (complex(images), complex(into));
            let ran = match count {
                Some(count) => plan.run_host_batch(count, &images[..], &spectrum, &mut found[..]),
                None => plan.run_host(&images[..], &spectrum, &mut found[..]),
            };
            into.chunks_mut(2).zip(found).for_each(|(into, z)| into.copy_from_slice(&[z.re, z.im]));
            ran
        }
    };
    for count in counts(most) {
        let own = |len: usize| len / most as usize * count as usize;
        let beyond = 9.5_f32;
        let mut found = vec![beyond; results];
        run(&open, Some(count), &images[..own(images.len())], &mut found).expect("it runs");
        let mut want = vec![0.0; own(results)];
        let fixed = make(&asked.clone().batch(count));
        run(&fixed, None, &images[..own(images.len())], &mut want).expect("it runs");
        let (first, rest) = found.split_at(own(results));
        let distance: f32 = first.iter().zip(&want).map(|(x, y)| (x - y).powi(2)).sum();
        let length: f32 = want.iter().map(|y| y * y).sum();
        let error = (distance / length).sqrt();
        assert!(error < 1e-6, "{device:?}: {asked:?}, {count}: {error:e}");
        assert!(
            rest.iter().all(|&x| x == beyond),
            "{device:?}: {asked:?}, {count}: written behind the results"
        );
    }
    let short = run(&open, Some(most), &images[..images.len() - twice], &mut vec![0.0; results]);
    assert!(matches!(short, Err(Error::BufferTooSmall { .. })), "{short:?}");
    let more = run(&open, Some(most + 1), &images, &mut vec![0.0; results]);
    assert_eq!(more, Err(Error::Core(CoreError::Count { count: most + 1, most })));
    let found = open.verify().expect("it runs");
    assert!(found.holds(), "{device:?}: {asked:?}: {found}");
}

#[test]
fn a_count_of_nothing_touches_nothing() {
    for device in devices() {
        let plan = device.plan(&asked(Fft::new([16]).batch(4))).expect("it fits every device");
        let mut output = vec![Complex::new(3.0_f32, 4.0); 16];
        let before = output.clone();
        plan.run_host_batch(0, &[] as &[Complex<f32>], &mut output).expect("there is nothing to do");
        assert_eq!(output, before);
        assert_eq!(plan.elements_at(0).expect("it may be"), [0, 0]);
    }
}

#[test]
fn whole_runs_take_the_most() {
    for device in devices() {
        let plan = device.plan(&asked(Fft::new([24]).batch(10))).expect("it fits every device");
        let error = run_plan(&plan, None, |x| x as f32).expect("it runs");
        assert!(error < 1e-6, "{error:e}");
        let found = plan.verify().expect("it runs");
        assert!(found.holds(), "{found}");
    }
}

#[test]
fn wrong_counts_are_told() {
    for device in devices() {
        let plan = device.plan(&asked(Fft::new([16]).batch(4))).expect("it fits every device");
        let (input, mut output) = (vec![Complex::new(0.0_f32, 0.0); 64], vec![Complex::default(); 64]);
        let more = plan.run_host_batch(5, &input, &mut output);
        assert_eq!(more, Err(Error::Core(CoreError::Count { count: 5, most: 4 })));
        let short = plan.run_host_batch(3, &input[..47], &mut output);
        assert!(matches!(short, Err(Error::BufferTooSmall { needed: 48, got: 47, .. })), "{short:?}");
        let fixed = device.plan(&Fft::new([16]).batch(4).build().expect("it can be")).expect("it fits");
        let fixed = fixed.run_host_batch(3, &input, &mut output);
        assert_eq!(fixed, Err(Error::Core(CoreError::CountFixed { count: 3, n: 4 })));
    }
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let refused = |fft: Fft| fft.build().expect_err("it cannot be");
    assert_eq!(refused(Fft::new([8]).any_batch()), CoreError::CountNothing);
    let counted = Dim::new(4, 8, 8).at_run();
    assert_eq!(
        refused(Fft::guru(&[], &[counted, Dim::new(3, 32, 32).at_run()])),
        CoreError::CountTwice { dims: 2 }
    );
    let many = Fft::new([1]).batch(1 << 31).any_batch();
    assert!(matches!(refused(many), CoreError::CountLimit { n, .. } if n == 1 << 31));
    let turned = Fft::guru(&[Dim::new(4, 1, 4)], &[Dim::new(4, 4, 1)]).in_place();
    assert!(turned.clone().build().is_ok());
    assert_eq!(refused(turned.any_batch()), CoreError::CountInPlace { is: 4, os: 1 });
    let mut problem = Fft::new([8]).batch(4).build().expect("it can be");
    problem.transform[0].at_run = true;
    assert_eq!(problem.validated(), Err(CoreError::CountTransform));
}

#[cfg(feature = "wgpu")]
#[test]
fn several_counts_are_recorded_in_one_encoder() {
    use warpfft::device::wgpu::WgpuBuffers;

    let Ok(device) = Device::wgpu() else { return println!("no wgpu adapter: skipped") };
    let plan = device.plan(&asked(Fft::new([32]).batch(5000))).expect("it fits every device");
    let (gpu, queue) = plan.wgpu_device().expect("it is a wgpu plan");
    let most = 3000_u64;
    let data: Vec<Complex<f32>> = (0..32 * most).map(|i| Complex::new((i % 7) as f32, 1.0)).collect();
    let bytes = 8 * data.len() as u64;
    let buffer = |usage| {
        gpu.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes,
            usage,
            mapped_at_creation: false,
        })
    };
    let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
    let (from, to) = (buffer(storage), buffer(storage));
    let backs: Vec<_> =
        (0..2).map(|_| buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST)).collect();
    queue.write_buffer(&from, 0, bytemuck::cast_slice(&data));
    let buffers =
        WgpuBuffers { input: [Some((&from, 0)), None], output: [Some((&to, 0)), None], filter: None };
    assert!(matches!(plan.bind_wgpu(&buffers), Err(Error::BufferTooSmall { .. })));
    assert!(plan.bind_wgpu_batch(most + 1, &buffers).is_err());
    let bound = plan.bind_wgpu_batch(most, &buffers).expect("the buffers fit");
    let mut encoder = gpu.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    assert!(bound.encode_batch(&mut encoder, most + 1).is_err());
    let counts = [2100, 2999];
    for (count, back) in counts.into_iter().zip(&backs) {
        bound.encode_batch(&mut encoder, count).expect("it was bound for more");
        encoder.copy_buffer_to_buffer(&to, 0, back, 0, bytes);
    }
    bound.encode_batch(&mut encoder, 0).expect("nothing is to be done");
    queue.submit([encoder.finish()]);
    for (count, back) in counts.into_iter().zip(&backs) {
        back.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("it maps"));
        gpu.poll(wgpu::PollType::wait_indefinitely()).expect("the device works");
        let view = back.get_mapped_range(..).expect("it is mapped");
        let got: &[Complex<f32>] = bytemuck::cast_slice(&view);
        // Sums of the lines; buffers start as zeros.
        let line = |at: u64| &got[(32 * at) as usize..][..32];
        let sum = |at: u64| data[(32 * at) as usize..][..32].iter().sum::<Complex<f32>>();
        for at in [0, count / 2, count - 1] {
            assert!((line(at)[0] - sum(at)).norm() < 1e-3, "{count}: line {at}");
        }
        assert!(line(count).iter().all(|x| *x == Complex::default()), "{count}: beyond it");
    }
}
