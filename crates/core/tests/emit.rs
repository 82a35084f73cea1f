//! Emitted text: golden files (accept changes with `INSTA_UPDATE=always`), real validation of WGSL, and what
//! each target refuses.

#[path = "golden/kernels/mod.rs"]
mod kernels;

use std::time::Instant;

use warpfft_core::Error;
use warpfft_core::emit::{self, EmitError};
use warpfft_core::error::Side;
use warpfft_core::kernel::verify::verify;
use warpfft_core::kernel::{Access, Builder, Cache, Kernel, Op, Special, Type, Verified};
use warpfft_core::problem::Window;
use warpfft_core::request::{Convolution, Fft, Mode};
use warpfft_core::target::{Api, Limits};

fn verified(kernel: Kernel) -> Verified<Kernel> {
    let name = kernel.name.clone();
    verify(kernel).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn golden(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("golden");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Kernels that OpenCL C has words for.
#[test]
fn opencl_is_as_accepted() {
    for case in kernels::all() {
        let kernel = verified(case.kernel);
        match emit::opencl(&kernel) {
            Ok(text) => golden(&format!("{}.cl", kernel.name), &text),
            Err(error) => {
                let lacks = matches!(error, EmitError::Operation { .. } | EmitError::Type { .. });
                assert!(lacks, "{}: {error}", kernel.name);
            }
        }
    }
    let text = |fft: Fft| {
        let program = warpfft_core::compile(&fft.build().unwrap(), &Limits::opencl_min()).unwrap();
        emit::opencl(&program.kernels[0]).unwrap()
    };
    golden("fft_16_counted.cl", &text(Fft::new([16]).batch(1000).any_batch()));
    golden("fft_4_f16.cl", &text(Fft::new([4]).batch(64).f16()));
    golden("fft_4_bf16_planar.cl", &text(Fft::new([4]).batch(64).bf16().planar()));
}

/// What naga says of a shader.
fn check_wgsl(name: &str, text: &str) {
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    let module = naga::front::wgsl::parse_str(text)
        .unwrap_or_else(|error| panic!("{name}: {}\n{text}", error.emit_to_string(text)));
    Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .unwrap_or_else(|error| panic!("{name}: {}\n{text}", error.emit_to_string(text)));
}

#[test]
fn ptx_is_as_accepted() {
    for case in kernels::all() {
        let kernel = verified(case.kernel);
        let text = emit::ptx(&kernel, case.sm).unwrap();
        golden(&format!("{}.ptx", kernel.name), &text);
        for sm in [80, 90, 120] {
            assert_eq!(emit::ptx(&kernel, sm).is_ok(), sm >= case.sm, "{} for sm_{sm}", kernel.name);
        }
    }
}

/// A planned transform by a cluster, with all that it says to the other blocks and to the cache.
#[test]
fn a_cluster_is_as_accepted() {
    let device =
        Limits { shared_bytes: 4500, max_threads: 64, max_cluster: 2, multiprocessors: 1, ..Limits::h200() };
    let problem = Fft::new([1024]).batch(200).build().unwrap();
    let program = warpfft_core::compile(&problem, &device).unwrap();
    assert_eq!(program.kernels[0].cluster, 2);
    golden("fft_1024_cluster.ptx", &emit::ptx(&program.kernels[0], 90).unwrap());
}

/// Windows that are known by the registers, that take a predicate, and that wrap within a register.
#[test]
fn windows_are_as_accepted() {
    let rows = |fft: Fft| {
        let problem = fft.batch(100).build().unwrap();
        let program = warpfft_core::compile(&problem, &Limits::h200()).unwrap();
        emit::ptx(&program.kernels[0], 90).unwrap()
    };
    golden("fft_64_shifted.ptx", &rows(Fft::new([64]).shift_output()));
    golden("fft_60_wrapped.ptx", &rows(Fft::new([60]).window(Side::Input, 0, Window::new(53, 20))));
}

/// A line of a convolution: pairs of reals, the filter by its frequencies, the padding by its windows.
#[test]
fn a_convolution_is_as_accepted() {
    let asked = Convolution::new([200], [21]).real().batch(64).mode(Mode::Same);
    let problems = asked.problems(Some(&Limits::h200())).unwrap();
    let program = warpfft_core::compile(&problems.part, &Limits::h200()).unwrap();
    assert_eq!(program.launches.len(), 1);
    golden("convolve_200.ptx", &emit::ptx(&program.kernels[0], 90).unwrap());
    let program = warpfft_core::compile(&problems.part, &Limits::webgpu_min()).unwrap();
    check_wgsl("convolve", &emit::wgsl(&program.kernels[0], false).unwrap());
}

/// A launch of which each run takes a part: the count is a parameter, guards and surplus blocks ask it.
#[test]
fn a_counted_launch_is_as_accepted() {
    let problem = Fft::new([16]).batch(1000).any_batch().build().unwrap();
    let program = warpfft_core::compile(&problem, &Limits::h200()).unwrap();
    golden("fft_16_counted.ptx", &emit::ptx(&program.kernels[0], 90).unwrap());
    let program = warpfft_core::compile(&problem, &Limits::webgpu_min()).unwrap();
    let text = emit::wgsl(&program.kernels[0], true).unwrap();
    check_wgsl("fft_16_counted", &text);
    golden("fft_16_counted.wgsl", &text);
}

/// Two passes in one launch: tickets, counters, and a ring past the L1.
#[test]
fn a_fused_launch_is_as_accepted() {
    let device = Limits {
        shared_bytes: 2200,
        max_threads: 64,
        max_cluster: 1,
        multiprocessors: 1,
        l2_bytes: 160 << 10,
        ..Limits::h200()
    };
    let problem = Fft::new([1024]).batch(64).build().unwrap();
    let program = warpfft_core::compile(&problem, &device).unwrap();
    assert_eq!(program.launches.len(), 2);
    golden("fft_1024_fused.ptx", &emit::ptx(&program.kernels[1], 90).unwrap());
    let older = Limits { api: Api::Ptx { sm: 75 }, ..device };
    let program = warpfft_core::compile(&problem, &older).unwrap();
    let text = emit::ptx(&program.kernels[1], 75).unwrap();
    assert!(text.starts_with(".version 6.3\n"), "{text}");
    let error = emit::wgsl(&program.kernels[1], false).unwrap_err();
    assert!(matches!(&error, EmitError::Operation { .. }), "{error}");
}

/// Double-single arithmetic: in PTX as it is written, in WGSL guarded against what compilers make of it.
#[test]
fn pairs_of_singles_are_as_accepted() {
    let problem = Fft::new([3]).batch(64).double_single().build().unwrap();
    let program = warpfft_core::compile(&problem, &Limits::h200()).unwrap();
    golden("fft_3_double_single.ptx", &emit::ptx(&program.kernels[0], 75).unwrap());
    let program = warpfft_core::compile(&problem, &Limits::webgpu_min()).unwrap();
    let text = emit::wgsl(&program.kernels[0], true).unwrap();
    check_wgsl("fft_3_double_single", &text);
    golden("fft_3_double_single.wgsl", &text);
}

/// Short numbers: two by two where they are interleaved, by up to four of a plane that a thread has side by side, one by one where
/// there are none such; bf16 by integers where there is nothing else.
#[test]
fn short_numbers_are_as_accepted() {
    let rows = |n: u64| Fft::new([n]).batch(64);
    let text = |fft: Fft, limits: &Limits| {
        let program = warpfft_core::compile(&fft.build().unwrap(), limits).unwrap();
        match limits.api {
            Api::Ptx { sm } => emit::ptx(&program.kernels[0], sm).unwrap(),
            Api::Wgsl { browser } => {
                let text = emit::wgsl(&program.kernels[0], browser).unwrap();
                check_wgsl("short numbers", &text);
                text
            }
            Api::OpenCl => emit::opencl(&program.kernels[0]).unwrap(),
        }
    };
    golden("fft_64_f16.ptx", &text(rows(64).f16(), &Limits::h200()));
    golden("fft_8_bf16_sm75.ptx", &text(rows(8).bf16(), &Limits::t4()));
    golden("fft_8_bf16_f64_sm80.ptx", &text(rows(8).bf16().f64(), &Limits::a100()));
    golden("fft_16_f16.wgsl", &text(rows(16).f16(), &Limits::webgpu_min()));
    golden("fft_9_bf16.wgsl", &text(rows(9).bf16(), &Limits::webgpu_min()));
    let halves = Limits { f16: true, ..Limits::vulkan_min() };
    golden("fft_4_f16_planar.wgsl", &text(rows(4).f16().planar(), &Limits::vulkan_min()));
    golden("fft_5_f16_planar.wgsl", &text(rows(5).f16().planar(), &halves));
    for (fft, device) in [(rows(5).f16(), Limits::vulkan_min()), (rows(5).bf16(), halves)] {
        let error = warpfft_core::compile(&fft.planar().build().unwrap(), &device).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains("interleaved"), "{error}");
    }
}

#[test]
fn wgsl_is_as_accepted_and_valid() {
    for case in kernels::all() {
        let kernel = verified(case.kernel);
        let text = emit::wgsl(&kernel, false);
        assert_eq!(text.is_ok(), case.wgsl, "{}: {text:?}", kernel.name);
        let Ok(text) = text else { continue };
        check_wgsl(&kernel.name, &text);
        golden(&format!("{}.wgsl", kernel.name), &text);
    }
}

#[test]
fn browsers_get_their_dialect() {
    for case in kernels::all().into_iter().filter(|case| case.wgsl) {
        let kernel = verified(case.kernel);
        let plain = emit::wgsl(&kernel, false).unwrap();
        match emit::wgsl(&kernel, true) {
            Err(EmitError::Type { ty, .. }) => assert_eq!((ty, &*kernel.name), (Type::F64, "doubles")),
            other => {
                let text = other.unwrap();
                assert_eq!(text.contains("enable subgroups;"), kernel.name == "shuffles");
                assert_eq!(text.replace("enable subgroups;\n", ""), plain);
            }
        }
    }
}

#[test]
fn a_version_is_the_least_that_the_operations_need() {
    let expected = [
        ("radix_4", 75, "6.3"),
        ("radix_4", 80, "7.0"),
        ("radix_4", 90, "7.8"),
        ("cached", 75, "7.4"),
        ("cached", 80, "7.4"),
        ("cached", 90, "8.0"),
        ("products", 80, "7.0"),
        ("bulk_copy", 90, "8.0"),
        ("cluster_barrier", 90, "8.0"),
        ("cluster_exchange", 90, "8.1"),
    ];
    for (name, sm, version) in expected {
        let case = kernels::all().into_iter().find(|case| case.kernel.name == name).unwrap();
        let text = emit::ptx(&verified(case.kernel), sm).unwrap();
        assert!(text.starts_with(&format!(".version {version}\n")), "{name} for sm_{sm}: {text}");
    }
}

#[test]
fn what_lies_around_is_asked_for_as_far_as_a_target_can() {
    let cached = || kernels::all().into_iter().find(|case| case.kernel.name == "cached").unwrap().kernel;
    for (sm, bytes) in [(75, "128B"), (80, "256B"), (90, "256B")] {
        let text = emit::ptx(&verified(cached()), sm).unwrap();
        assert_eq!(text.matches(&format!("ld.global.cg.L2::{bytes}.v4.f32")).count(), 1, "sm_{sm}: {text}");
        assert!(!text.contains("st.global.cg.L2"), "sm_{sm}: {text}");
    }
}

#[test]
fn what_a_target_lacks_is_named() {
    let find = |name: &str| {
        let case = kernels::all().into_iter().find(|case| case.kernel.name == name).unwrap();
        verified(case.kernel)
    };
    assert!(matches!(emit::ptx(&find("radix_4"), 70), Err(EmitError::TooOld { sm: 70, oldest: 75, .. })));
    let error = emit::ptx(&find("cluster_barrier"), 80).unwrap_err();
    assert!(matches!(&error, EmitError::Operation { op: Op::Special(Special::ClusterRank), .. }), "{error}");
    assert!(error.to_string().contains("sm_90 and later"), "{error}");
    let error = emit::ptx(&find("bfloat"), 80).unwrap_err();
    assert!(matches!(&error, EmitError::Type { ty: Type::Bf16, .. }), "{error}");
    let error = emit::wgsl(&find("wide_indices"), false).unwrap_err();
    assert!(matches!(&error, EmitError::Type { ty: Type::U64, .. }), "{error}");
    let error = emit::wgsl(&find("counters"), false).unwrap_err();
    assert!(matches!(&error, EmitError::Operation { op: Op::AtomicAdd { relaxed: false }, .. }), "{error}");
}

/// Constants must come back as the same bits from both languages.
#[test]
fn constants_round_trip() {
    let numbers: Vec<f32> = (0..2000_u32)
        .map(|i| f32::from_bits(i.wrapping_mul(0x9E37_79B9) & !(1 << 31)))
        .filter(|x| x.is_normal())
        .collect();
    let mut b = Builder::new("constants", 1, 1);
    let out = b.buffer("out", Type::F32, Access::Write, numbers.len() as u64);
    let zero = b.u32(0);
    let p = b.addr(out, zero);
    for (i, &x) in numbers.iter().enumerate() {
        let value = b.float(Type::F32, f64::from(x));
        b.store(p, i as i32, &[value], Cache::Default, None);
    }
    let kernel = verified(b.finish());
    let ptx = emit::ptx(&kernel, 75).unwrap();
    let from_ptx: Vec<u32> = ptx
        .lines()
        .filter_map(|line| line.split("], 0f").nth(1))
        .map(|hex| u32::from_str_radix(hex.trim_end_matches(';'), 16).unwrap())
        .collect();
    let wgsl = emit::wgsl(&kernel, true).unwrap();
    let module = naga::front::wgsl::parse_str(&wgsl).unwrap();
    let from_wgsl: Vec<u32> = module.entry_points[0]
        .function
        .expressions
        .iter()
        .filter_map(|(_, expression)| match expression {
            naga::Expression::Literal(naga::Literal::F32(x)) => Some(x.to_bits()),
            _ => None,
        })
        .collect();
    let bits: Vec<u32> = numbers.iter().map(|x| x.to_bits()).collect();
    assert!(bits.len() > 1000);
    assert_eq!(from_ptx, bits);
    assert_eq!(from_wgsl, bits);
}

/// Prints of a kernel of 10,000 instructions; the time is a tripwire for quadratic work, not a measurement.
#[test]
fn long_kernels_take_no_time() {
    let mut b = Builder::new("long", 32, 1);
    let data = b.buffer("data", Type::F32, Access::ReadWrite, 64);
    let thread = b.special(Special::ThreadIndex);
    let p = b.addr(data, thread);
    let mut x = b.load(p, 0, 1, Cache::Default, None)[0];
    for i in 0..10_000 {
        let c = b.float(Type::F32, f64::from(i) + 0.1);
        x = b.fma(x, c, x);
    }
    b.store(p, 0, &[x], Cache::Default, None);
    let kernel = verified(b.finish());
    // The fastest of several: other work on the machine may hold up one.
    let took = (0..20).map(|_| {
        let start = Instant::now();
        let texts = [emit::ptx(&kernel, 90), emit::wgsl(&kernel, false), emit::opencl(&kernel)];
        assert!(texts.into_iter().all(|text| text.unwrap().len() > 100_000));
        start.elapsed()
    });
    let took = took.min().unwrap();
    assert!(took.as_millis() < 200, "{took:?}");
}
