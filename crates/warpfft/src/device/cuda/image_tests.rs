//! Records without a GPU: what goes in comes out, and what is damaged is refused or harmless.

use rand::Rng;
use warpfft_core::problem::{Direction, Format, Placement, Precision};
use warpfft_core::program::Numbers;
use warpfft_core::recipe::candidates;
use warpfft_core::request::Fft;

use super::*;

/// Problems of every kind of plan and layout that fit on the chip, and some that do not.
fn problems() -> Vec<Problem> {
    let mut rng = rand::rng();
    let mut lengths = vec![1, 2, 16, 97, 1009, 4096, 5040];
    lengths.extend((0..4).map(|_| rng.random_range(2..3000)));
    let mut all: Vec<Problem> = lengths
        .into_iter()
        .map(|n| {
            let precision = if rng.random() { Precision::F32 } else { Precision::F64 };
            let mut problem = Fft::new([n])
                .batch(rng.random_range(1..50))
                .precision(precision)
                .build()
                .expect("it is valid");
            if rng.random() {
                problem.direction = Direction::Inverse;
            }
            if rng.random() {
                (problem.input, problem.output) = (Format::Planar, Format::Planar);
            }
            if rng.random() {
                problem.placement = Placement::InPlace;
            }
            problem
        })
        .collect();
    all.extend(
        [[1 << 17, 1], [1 << 20, 1], [48, 60]].map(|shape| Fft::new(shape).build().expect("it is valid")),
    );
    all
}

/// What a program's record is made of.
struct Made {
    program: Program,
    codes: Vec<(u128, Vec<u8>)>,
}

impl Made {
    fn of(problem: &Problem) -> Self {
        let program = warpfft_core::compile(problem, &Limits::h200()).expect("it compiles");
        let mut rng = rand::rng();
        let mut code = || (0..rng.random_range(0..300)).map(|_| rng.random()).collect();
        let codes = (0..program.kernels.len()).map(|at| ((at as u128) << 90 | 7, code())).collect();
        Self { program, codes }
    }

    fn with_record<T>(&self, key: &str, look: impl FnOnce(&Image) -> T) -> T {
        let codes: Vec<_> = self.codes.iter().map(|(text, code)| (*text, &code[..])).collect();
        look(&Image::of(key, &self.program, &codes).expect("there is memory"))
    }
}

#[test]
fn a_record_holds_what_the_program_launches() {
    for problem in problems() {
        let made = Made::of(&problem);
        let program = &made.program;
        let bytes = made.with_record("key", |image| image.encode().expect("there is memory"));
        let image = Image::decode(&bytes, "key").expect("it is whole");
        made.with_record("key", |original| assert_eq!(&image, original));
        image.check(&problem, &Limits::h200()).expect("it hangs together");
        assert_eq!(image.launches, program.launches);
        assert_eq!(image.workspace_bytes, program.workspace_bytes);
        let tables: Result<Vec<_>, _> = program.tables.iter().map(check::table_bytes).collect();
        assert_eq!(Ok(&image.tables), tables.as_ref());
        assert_eq!(image.kernels.len(), program.kernels.len());
        for ((got, kernel), (text, code)) in image.kernels.iter().zip(&program.kernels).zip(&made.codes) {
            assert_eq!((got.name, got.text, got.code), (&kernel.name[..], *text, &code[..]));
            assert_eq!(
                (got.threads, got.cluster, got.blocks),
                (kernel.threads, kernel.cluster, kernel.blocks)
            );
            assert_eq!(got.shared_bytes, kernel.shared_bytes());
            assert_eq!(got.waits, kernel.waits_for_launch());
            assert_eq!(got.buffers.iter().map(|b| b.align).collect::<Vec<_>>(), check::alignments(kernel));
        }
    }
}

/// Rows of an odd length begin at any number of their array, and what is only asked for ahead begins a little earlier then.
#[test]
fn hints_demand_no_alignment() {
    for fft in [Fft::new([25, 25, 25]), Fft::new([16_807]), Fft::new([1 << 14])] {
        let problem = fft.batch(1000).build().expect("it is valid");
        let program = warpfft_core::compile(&problem, &Limits::h200()).expect("it has a plan");
        let [kernel] = &program.kernels[..] else { panic!("{problem:?} is one launch") };
        assert!(kernel.to_string().contains("bulk_prefetch"), "{problem:?} asks for nothing");
        let widest = check::alignments(kernel).into_iter().max();
        assert_eq!(widest, Some(8), "{problem:?}: two numbers of 4 bytes are the widest access");
    }
}

#[test]
fn other_keys_and_cut_records_are_refused() {
    let made = Made::of(&Fft::new([97]).batch(3).build().expect("it is valid"));
    let bytes = made.with_record("key", |image| image.encode().expect("there is memory"));
    assert!(Image::decode(&bytes, "key").is_some());
    assert!(Image::decode(&bytes, "another").is_none());
    for end in 0..bytes.len() {
        assert!(Image::decode(&bytes[..end], "key").is_none(), "cut at {end}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(Image::decode(&longer, "key").is_none());
}

/// Whether every launch stays within what it is given, asked in other words than the check's.
fn harmless(image: &Image, problem: &Problem) -> bool {
    image.launches.iter().all(|launch| {
        let kernel = &image.kernels[launch.kernel];
        kernel.buffers.len() == launch.bindings.len()
            && kernel.threads <= 1024
            && kernel.shared_bytes <= 227 * 1024
            && kernel.buffers.iter().zip(&launch.bindings).all(|(buffer, binding)| {
                let holds = match *binding {
                    Binding::Input(0) => problem.input_bytes(),
                    Binding::Output(0) => problem.output_bytes(),
                    Binding::Workspace { offset, bytes } => {
                        if u128::from(offset) + u128::from(bytes) > u128::from(image.workspace_bytes) {
                            return false;
                        }
                        bytes
                    }
                    Binding::Table(table) => image.tables[usize::from(table)].len() as u64,
                    Binding::Input(_) | Binding::Output(_) | Binding::Filter => 0,
                };
                buffer.bytes <= holds
            })
    })
}

#[test]
fn damaged_records_are_refused_or_harmless() {
    let problem = Fft::new([1 << 20]).batch(2).build().expect("it is valid");
    let mut made = Made::of(&problem);
    // Contents of tables say nothing about launches, and would hide the bytes that do.
    for table in &mut made.program.tables {
        *table = Numbers::F32(vec![0.0; 4]).into();
    }
    for kernel in 0..made.codes.len() {
        made.codes[kernel].1.truncate(3);
    }
    let good = made.with_record("key", |image| image.encode().expect("there is memory"));
    let mut rng = rand::rng();
    let mut refused = 0;
    for round in 0..40 * good.len() {
        let mut bad = good.clone();
        bad[round % good.len()] = rng.random();
        match Image::decode(&bad, "key") {
            Some(image) if image.check(&problem, &Limits::h200()).is_ok() => {
                assert!(
                    harmless(&image, &problem),
                    "byte {} is {}",
                    round % good.len(),
                    bad[round % good.len()]
                );
            }
            _ => refused += 1,
        }
    }
    assert!(refused > good.len(), "only {refused} were refused");
}

#[test]
fn records_are_checked_like_programs() {
    let problem = Fft::new([1 << 20]).batch(2).build().expect("it is valid");
    let limits = Limits::h200();
    let made = Made::of(&problem);
    let broken = |breaks: &dyn Fn(&mut Image)| {
        let bytes = made.with_record("", |image| image.encode().expect("there is memory"));
        let mut image = Image::decode(&bytes, "").expect("it is whole");
        image.check(&problem, &limits).expect("it hangs together");
        breaks(&mut image);
        image.check(&problem, &limits).expect_err("it is broken");
    };
    broken(&|image| image.launches[0].kernel = image.kernels.len());
    broken(&|image| image.launches[0].bindings.truncate(1));
    broken(&|image| image.launches[0].bindings[0] = Binding::Table(u16::MAX));
    broken(&|image| image.launches[0].bindings[0] = Binding::Input(2));
    broken(&|image| image.workspace_bytes = 0);
    broken(&|image| image.kernels[0].threads = 1025);
    broken(&|image| image.kernels[0].threads = 0);
    broken(&|image| image.kernels[0].cluster = 0);
    broken(&|image| image.kernels[0].shared_bytes = u32::MAX);
    broken(&|image| image.kernels[0].blocks = 1 << 40);
    broken(&|image| image.kernels[0].buffers[0].bytes *= 2);
    broken(&|image| image.kernels[0].buffers[0].align = 0);
    broken(&|image| image.kernels[0].buffers[0].align = 24);
    broken(&|image| image.tables = Vec::new());
    let other = Fft::new([1 << 16]).build().expect("it is valid");
    made.with_record("", |image| image.check(&other, &limits).expect_err("it is for a longer one"));
}

#[test]
fn keys_tell_problems_devices_and_drivers_apart() {
    let base = Fft::new([30, 20]).batch(3).build().expect("it is valid");
    let change = |change: &dyn Fn(&mut Problem)| {
        let mut problem = base.clone();
        change(&mut problem);
        problem_key(&problem, None)
    };
    let recipes = candidates(&base, &Limits::h200(), 2).expect("it has plans");
    let keys = [
        problem_key(&base, None),
        problem_key(&base, Some(&recipes[0].recipe)),
        problem_key(&base, Some(&recipes[1].recipe)),
        change(&|problem| problem.transform[0].n = 31),
        change(&|problem| problem.transform[1].is = 2),
        change(&|problem| problem.batch[0].os = 700),
        change(&|problem| problem.batch.clear()),
        change(&|problem| problem.batch.push(problem.batch[0])),
        change(&|problem| problem.input_offset = 1),
        change(&|problem| problem.output_offset = 1),
        change(&|problem| problem.precision = Precision::F64),
        change(&|problem| problem.input = Format::Planar),
        change(&|problem| problem.output = Format::Planar),
        change(&|problem| problem.placement = Placement::InPlace),
        change(&|problem| problem.direction = Direction::Inverse),
        change(&|problem| problem.scale = 1.0 + f64::EPSILON),
        change(&|problem| problem.scale = 0.0),
        change(&|problem| problem.scale = -0.0),
    ];
    let h200 = Limits::h200();
    let slower = Limits { copy_bytes_per_second: h200.copy_bytes_per_second.next_down(), ..h200.clone() };
    let identities = [
        identity(&h200, 12080),
        identity(&h200, 12090),
        identity(&Limits::a100(), 12080),
        identity(&slower, 12080),
    ];
    for keys in [&keys[..], &identities[..]] {
        let distinct: std::collections::HashSet<_> = keys.iter().collect();
        assert_eq!(distinct.len(), keys.len(), "{keys:#?}");
    }
}

#[test]
fn the_build_is_part_of_the_key() {
    let identity = identity(&Limits::h200(), 12080);
    assert!(identity.contains(warpfft_core::FINGERPRINT) && identity.contains(env!("CARGO_PKG_VERSION")));
    assert_ne!(mixed(&[b"one", b"two"]), mixed(&[b"one", b"twp"]));
    assert_ne!(SOURCES, mixed(&[]));
}
