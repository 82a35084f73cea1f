//! Devices with few registers and little shared memory get a plan for every length too.

use warpfft_core::compile;
use warpfft_core::problem::Precision;
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

#[test]
fn double_precision_has_plans_where_registers_are_few() {
    // What software drivers of Vulkan grant: f64, and nothing beyond the least.
    let limits = Limits { f64: true, max_threads: 1024, ..Limits::vulkan_min() };
    let lengths = (1..=64).chain([95, 961, 1095, 1351, 1479, 1735, 1863, 2119, 3143, 3655, 4096]);
    let missing: Vec<String> = lengths
        .filter_map(|n| {
            let problem = Fft::new([n]).batch(4).precision(Precision::F64).build().expect("it is sound");
            compile(&problem, &limits).err().map(|error| format!("{n}: {error}"))
        })
        .collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
