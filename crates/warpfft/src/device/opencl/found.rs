//! Finding devices, and what they can do.

use std::sync::{Mutex, PoisonError};

use opencl3::device::{
    self, CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU, CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT,
};
use opencl3::error_codes::{CL_DEVICE_NOT_FOUND, CL_PLATFORM_NOT_FOUND_KHR, DLOPEN_RUNTIME_LOAD_FAILED};
use opencl3::platform::get_platforms;
use warpfft_core::target::{Api, Limits};

/// A device with what it says of itself.
pub(super) struct Found {
    pub device: device::Device,
    pub limits: Limits,
    /// What it is made of, its platform and versions, for people.
    pub detail: String,
    /// Why it cannot be used, where it cannot.
    pub lacks: Option<&'static str>,
    /// Whether it is hardware of its own, and not this processor.
    pub hardware: bool,
    /// Options for its compiler.
    pub options: &'static str,
    /// Bytes to whose multiple parts of buffers start.
    pub align: u64,
}

/// Loaders and drivers set themselves up in the first calls, and some of them (PoCL 3.1) not for several threads at once.
static LOOKING: Mutex<()> = Mutex::new(());

/// All devices, GPUs before others; why there are none, where there are none.
pub(super) fn all() -> Result<Vec<Found>, String> {
    let _alone = LOOKING.lock().unwrap_or_else(PoisonError::into_inner);
    let platforms = get_platforms().map_err(|error| reason(error.0))?;
    let mut found = Vec::new();
    for platform in platforms {
        let about = platform.name().unwrap_or_default();
        match platform.get_devices(CL_DEVICE_TYPE_ALL) {
            Ok(ids) => found.extend(ids.into_iter().map(|id| describe(device::Device::new(id), &about))),
            Err(error) if error.0 == CL_DEVICE_NOT_FOUND => {}
            Err(error) => tracing::debug!(%error, platform = about, "an OpenCL platform lists no devices"),
        }
    }
    if found.is_empty() {
        return Err(reason(CL_DEVICE_NOT_FOUND));
    }
    found.sort_by_key(|found| (found.lacks.is_some(), !found.hardware));
    Ok(found)
}

/// What an error means where devices are looked for.
fn reason(code: i32) -> String {
    match code {
        DLOPEN_RUNTIME_LOAD_FAILED => {
            "no OpenCL library (libOpenCL.so.1, OpenCL.dll); a GPU's driver brings it, or a package such as ocl-icd".into()
        }
        CL_PLATFORM_NOT_FOUND_KHR | CL_DEVICE_NOT_FOUND => "no OpenCL driver finds a device".into(),
        _ => format!("the OpenCL library failed with code {code}"),
    }
}

/// Shared memory that kernels for a processor use at most: it is in no memory of its own there, and what is larger than
/// its first caches is slow.
const PROCESSOR_SHARED: u64 = 64 << 10;

/// What a device says of itself. What it does not tell stays at values that are safe on every such device.
pub(super) fn describe(device: device::Device, platform: &str) -> Found {
    let base = Limits::opencl_min();
    let kind = device.dev_type().unwrap_or(CL_DEVICE_TYPE_CPU);
    let hardware = kind & CL_DEVICE_TYPE_CPU == 0;
    let shared = device.local_mem_size().unwrap_or(0);
    let shared = if hardware { shared } else { shared.min(PROCESSOR_SHARED) }.min(u64::from(u32::MAX)) as u32;
    let sizes = device.max_work_item_sizes().unwrap_or_default();
    let threads = device.max_work_group_size().unwrap_or(1).min(sizes.first().copied().unwrap_or(1));
    // The width in which threads run, where a vendor tells.
    let extensions = device.extensions().unwrap_or_default();
    let warp = match () {
        () if extensions.contains("cl_nv_device_attribute_query") => device.wrap_size_nv().ok(),
        () if extensions.contains("cl_amd_device_attribute_query") => device.wavefront_width_amd().ok(),
        () => None,
    };
    let lacks = if !device.compiler_available().unwrap_or(false) {
        Some("it has no compiler for kernels")
    } else if !device.available().unwrap_or(false) {
        Some("its driver calls it unavailable")
    } else if !device.endian_little().unwrap_or(true) {
        Some("its numbers are big-endian")
    } else {
        None
    };
    let index64 = device.address_bits().is_ok_and(|bits| bits == 64);
    let limits = Limits {
        name: device.name().map_or_else(|_| "OpenCL device".into(), |name| name.trim().to_owned()),
        api: Api::OpenCl,
        max_threads: threads.min(1024) as u32,
        shared_bytes: shared,
        shared_per_sm: shared.max(base.shared_per_sm),
        multiprocessors: device.max_compute_units().unwrap_or(base.multiprocessors).max(1),
        subgroup: warp.filter(|&warp| warp.is_power_of_two()).unwrap_or(base.subgroup),
        l2_bytes: device.global_mem_cache_size().ok().filter(|&bytes| bytes > 0).unwrap_or(base.l2_bytes),
        max_buffer_bytes: device.max_mem_alloc_size().unwrap_or(base.max_buffer_bytes),
        index64,
        // All threads of a launch are counted in a word of the device's.
        max_blocks: if index64 { base.max_blocks } else { u64::from(u32::MAX) / 1024 },
        f64: device.double_fp_config().is_ok_and(|config| config != 0),
        copy_bytes_per_second: if kind & CL_DEVICE_TYPE_GPU != 0 { 0.4e12 } else { 0.01e12 },
        ..base
    };
    // Without it the language lets quotients be off by 2.5 units in the last place, and roots by 3.
    let rounds =
        device.single_fp_config().is_ok_and(|config| config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT != 0);
    let said = [device.version(), device.driver_version()].map(Result::unwrap_or_default);
    let what = if kind & CL_DEVICE_TYPE_GPU != 0 {
        "GPU"
    } else if hardware {
        "accelerator"
    } else {
        "processor"
    };
    Found {
        detail: format!("{what} by {platform}, {}, driver {}", said[0].trim(), said[1].trim()),
        align: u64::from(device.mem_base_addr_align().unwrap_or(4096) / 8).max(1),
        options: if rounds {
            "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt"
        } else {
            "-cl-std=CL1.2"
        },
        device,
        limits,
        lacks,
        hardware,
    }
}
