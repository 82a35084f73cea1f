//! Plans that check themselves: their errors stay within the bound that they state, and wrong ones are found out.

mod cases;

use cases::packed;
use cases::real_layouts::{halved, halved_in_place, reals};
use rayon::prelude::*;
use warpfft::core::error::Side;
use warpfft::core::problem::{Dim, Direction, Growth, Placement, Precision, Problem, RealKind, Window};
use warpfft::core::program::{Numbers, compile};
use warpfft::core::request::{Fft, Norm};
use warpfft::{Device, DeviceKind, Error, Plan};

/// Some of a list for software drivers, which take long for a kernel, all of it for the others; another part each time.
fn some<T>(device: &Device, all: Vec<T>) -> Vec<T> {
    let share = match device.kind() {
        DeviceKind::Wgpu if !device.is_hardware() => 23,
        DeviceKind::OpenCl if !device.is_hardware() => 67,
        _ => 1,
    };
    let first = rand::random_range(0..share);
    all.into_iter().skip(first).step_by(share).collect()
}

/// A plan of that precision; `None` where the device has none.
fn plan(device: &Device, problem: &Problem, precision: Precision) -> Option<Plan> {
    match device.plan(&Problem { precision, ..problem.clone() }) {
        Ok(plan) => Some(plan),
        Err(Error::Unsupported { .. }) if precision == Precision::F64 => None,
        Err(error) => panic!("{device:?}: {problem:?}: {error}"),
    }
}

/// Every plan within its bound. Prints the nearest. Several at once: a GPU's driver takes longer for a plan than the GPU for
/// its run.
fn hold(device: &Device, problems: Vec<(String, Problem)>) {
    let both =
        |one: (String, Problem)| [Precision::F32, Precision::F64].map(|precision| (one.clone(), precision));
    let found: Vec<(f64, String)> = problems
        .into_par_iter()
        .flat_map(both)
        .filter_map(|((name, problem), precision)| {
            let plan = plan(device, &problem, precision)?;
            let found = plan.verify().unwrap_or_else(|error| panic!("{device:?}: {name}: {error}"));
            let share = if found.holds() { found.error / found.bound } else { f64::INFINITY };
            Some((share, format!("{name} {precision:?}: {found}")))
        })
        .collect();
    let nearest = found.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    println!("{device:?}: {} plans, nearest to its bound: {nearest:.2?}", found.len());
    let wrong: Vec<&str> =
        found.iter().filter(|(share, _)| share.is_infinite()).map(|(_, text)| text.as_str()).collect();
    assert!(wrong.is_empty(), "{device:?}: {}", wrong.join("\n"));
}

fn lines(lengths: impl IntoIterator<Item = u64>) -> Vec<(String, Problem)> {
    let mut all = Vec::new();
    for n in lengths {
        let batch = (1000 / n).max(1);
        let direction = if n % 2 == 0 { Direction::Forward } else { Direction::Inverse };
        let mut add = |name: &str, asked: Fft| {
            all.push((format!("{name} {n}"), asked.batch(batch).build().expect("packed lines")));
        };
        add("complex", Fft::new([n]).direction(direction));
        add("alone", Fft::new([n]).norm(Norm::Ortho));
        add("r2c", Fft::new([n]).r2c().direction(direction));
        add("c2r", Fft::new([n]).c2r().direction(direction));
        for kind in RealKind::ALL.into_iter().filter(|kind| kind.least() <= n) {
            let asked = Fft::new([n]).r2r([kind]);
            add(kind.name(), if n % 3 == 0 { asked.orthogonal() } else { asked });
        }
    }
    all
}

#[test]
fn lines_of_every_kind_stay_within_their_bounds() {
    let lengths = (1..=40).chain([53, 61, 64, 81, 97, 121, 127, 169, 210, 243, 256, 257, 360, 499]);
    for device in cases::devices() {
        hold(&device, some(&device, lines(lengths.clone())));
        let long = [719, 729, 961, 1000, 1019, 1024, 1369, 1999, 2048, 4099, 6561];
        let far: &[u64] = if device.is_hardware() {
            &[10_007, 19_683, 29_791, 57_046, 65_536, 99_991, 338_610, 463_482, 1 << 20]
        } else {
            &[]
        };
        let complex = long.iter().chain(far).map(|&n| (format!("complex {n}"), packed(&[n], 2)));
        hold(&device, some(&device, complex.collect()));
        // Odd lengths go in pairs, and of three lines one is left.
        let odd: &[u64] = if device.is_hardware() { &[50_625, 78_125, 273_375, 546_875] } else { &[] };
        let both = |n: u64| [("r2c", Fft::new([n]).r2c()), ("c2r", Fft::new([n]).c2r())];
        let odd = odd.iter().flat_map(|&n| both(n).map(|(kind, fft)| (format!("{kind} {n}"), fft)));
        let odd = odd.map(|(name, fft)| (name, fft.batch(3).build().expect("packed lines")));
        hold(&device, odd.collect());
    }
}

#[test]
fn every_layout_stays_within_its_bound() {
    for device in cases::devices() {
        let complex =
            cases::cases(Precision::F32).into_iter().filter(|(_, problem)| problem.points() <= 4096);
        hold(&device, some(&device, complex.collect()));
        hold(&device, some(&device, halved()));
        hold(&device, some(&device, halved_in_place()));
        hold(&device, some(&device, reals()));
    }
}

/// The bound of a problem's plan. Primes from 37 to 61 are convolutions or, where registers are many, codelets: the problem's
/// bound is of what it may be, and one as strict as for other codelets is to hold where it is one.
fn own_bound(plan: &Plan) -> f64 {
    let problem = plan.problem();
    let explained = plan.device().explain(problem).expect("it was planned");
    let convolves = |plan: &String| plan.contains("rader") || plan.contains("bluestein");
    match explained {
        Some(explained) if !explained.plans.iter().any(convolves) => {
            problem.error_bound_by(&Growth { convolved: Growth::KERNELS.codelet, ..Growth::KERNELS })
        }
        _ => plan.error_bound(),
    }
}

#[test]
fn bounds_say_something() {
    for device in cases::devices() {
        for n in some(
            &device,
            vec![16_u64, 30, 31, 37, 53, 60, 61, 64, 97, 100, 210, 243, 256, 360, 509, 1000, 1024],
        ) {
            for precision in [Precision::F32, Precision::F64] {
                let Some(plan) = plan(&device, &packed(&[n], (4000 / n).max(1)), precision) else { continue };
                let found = plan.verify().expect("it runs");
                assert!(found.holds(), "{device:?} {n} {precision:?}: {found}");
                let bound = own_bound(&plan);
                let tells = (found.error..4.0 * found.error).contains(&bound);
                assert!(tells, "{device:?} {n} {precision:?}: {found}, {bound:.2e} of its plan");
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_error() {
    for device in cases::devices() {
        let plan = device.plan(&packed(&[48], 20)).expect("every device does 48 points");
        let (one, other) = (plan.verify().expect("it runs"), plan.verify().expect("it runs"));
        assert_ne!(one.seed, other.seed);
        assert_ne!(one.error, other.error);
        assert_eq!(plan.verify_with(one.seed), Ok(one));
        assert_eq!((one.checked, one.transforms), (20, 20));
        assert_eq!(one.bound, plan.error_bound());
    }
}

#[test]
fn of_many_transforms_some_are_compared() {
    let plan = Device::cpu().plan(&packed(&[8], 1 << 19)).expect("it is planned");
    let found = plan.verify().expect("it runs");
    assert!(found.holds(), "{found}");
    assert_eq!((found.checked, found.transforms), (1 << 17, 1 << 19));
    let few = Device::cpu().plan(&packed(&[1 << 20], 3)).expect("it is planned");
    assert_eq!(few.verify().expect("it runs").checked, 2);
}

#[test]
fn a_wrong_number_in_a_table_is_caught() {
    for device in cases::devices() {
        let Some(limits) = device.limits() else { continue };
        for asked in [Fft::new([1000]), Fft::new([97]), Fft::new([64]).r2r([RealKind::Dct2])] {
            let problem = asked.batch(5).build().expect("packed lines");
            let mut program = compile(&problem, limits).expect("it is compiled");
            let right = device.load(program.clone()).expect("it is loaded").verify().expect("it runs");
            assert!(right.holds(), "{device:?}: {right}");
            let factors = program.tables.iter_mut().find_map(|table| match table.numbers() {
                Ok(Numbers::F32(numbers)) if numbers.len() > 16 => Some((numbers.clone(), table)),
                _ => None,
            });
            let (mut numbers, table) =
                factors.unwrap_or_else(|| panic!("{device:?}: {problem:?} has factors in tables"));
            // A thousandth, in one number: what a bad line of a table would be. In the second factor, as folds of cosines follow from
            // their threads' first ones, and read no more of a table than these.
            numbers[2] += 1e-3;
            *table = Numbers::F32(numbers).into();
            let found = device.load(program).expect("it is loaded").verify().expect("it runs");
            assert!(!found.holds(), "{device:?}: {found}");
        }
    }
}

#[test]
fn writing_between_its_own_elements_is_caught() {
    for device in cases::devices() {
        let Some(limits) = device.limits() else { continue };
        let mut program = compile(&packed(&[16], 4), limits).expect("it is compiled");
        // As if two transforms had been asked for, with room between them.
        program.problem.batch = vec![Dim::new(2, 48, 48)];
        let error =
            device.load(program).expect("it spans as much").verify().expect_err("it writes into the room");
        let expected = Error::Stray { plane: 0, unit: "complex element", element: 16, inside: 64 };
        assert_eq!(error, expected, "{device:?}");
        assert!(error.to_string().contains("complex element 16"), "{error}");
    }
}

#[test]
fn memory_that_is_not_there_is_an_error() {
    let plan = Device::cpu().plan(&packed(&[8], 1 << 45)).expect("planning takes no memory");
    assert!(matches!(plan.verify(), Err(Error::OutOfMemory { .. })));
    let in_place = Problem { placement: Placement::InPlace, ..packed(&[8], 1 << 45) };
    let plan = Device::cpu().plan(&in_place).expect("planning takes no memory");
    assert!(matches!(plan.verify(), Err(Error::OutOfMemory { .. })));
}

/// Of a transform's outputs some cancel, by chance, and rounding errors are as large as the others make them: one that is
/// wanted alone is not judged by itself.
#[test]
fn outputs_that_cancel_are_judged_by_the_whole() {
    let asked = Fft::new([5]).c2r().f64().window(Side::Input, 0, Window::new(0, 2));
    let problem = asked.window(Side::Output, 0, Window::new(3, 1)).build().expect("one number of five");
    let plan = Device::cpu().plan(&problem).expect("a plan");
    // By itself it was wrong by 7.8e-15 and 8.8e-16, with these.
    for seed in [13_378_400_093_558_250_863, 9_138_476_391_429_280_017] {
        let found = plan.verify_with(seed).expect("it runs");
        assert!(found.holds() && found.error > 0.0, "{found}");
    }
}

/// Planes and volumes beyond the cache of a GPU, of which two passes share a dimension where that is expected to take less.
#[test]
fn planes_and_volumes_beyond_the_cache() {
    let shapes: [&[u64]; 3] = [&[200, 144, 160], &[150, 216, 128], &[2000, 2400]];
    let kinds = |shape: &[u64]| {
        let fft = Fft::new(shape);
        [
            ("c2c", fft.clone()),
            ("in place", fft.clone().in_place()),
            ("r2c", fft.clone().r2c()),
            ("c2r", fft.c2r()),
        ]
    };
    let named = |shape: &&[u64]| {
        kinds(shape).map(|(kind, fft)| (format!("{kind} {shape:?}"), fft.build().expect("it is possible")))
    };
    let all: Vec<(String, Problem)> = shapes.iter().flat_map(named).collect();
    let gpu = |device: &&Device| device.is_hardware() && device.kind() != DeviceKind::Cpu;
    cases::devices().iter().filter(gpu).for_each(|device| hold(device, all.clone()));
}
