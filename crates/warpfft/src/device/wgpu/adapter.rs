//! Finding adapters, and what they can do.

use warpfft_core::target::{Api, Limits};
use wgpu::{Adapter, AdapterInfo, Backend, DeviceType, Features};

use super::Gpu;

/// Said where nothing was found.
pub(super) const NONE: &str = "no Vulkan, Metal or DX12 driver finds a GPU";

/// What kernels may use where it is there.
const WANTED: Features = Features::SHADER_F64
    .union(Features::SHADER_F16)
    .union(Features::SUBGROUP)
    .union(Features::TIMESTAMP_QUERY);

/// All adapters, real GPUs before software ones.
pub(super) fn all() -> Vec<Adapter> {
    let mut about = wgpu::InstanceDescriptor::new_without_display_handle();
    about.backends = wgpu::Backends::PRIMARY;
    // No validation layers of the driver, whatever the build.
    about.flags = wgpu::InstanceFlags::empty();
    let instance = wgpu::Instance::new(about);
    let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    adapters.sort_by_key(|adapter| match adapter.get_info().device_type {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    });
    adapters
}

/// Opens an adapter with all that it grants.
pub(super) fn open(adapter: &Adapter) -> Result<Gpu, String> {
    let about = wgpu::DeviceDescriptor {
        label: Some("warpfft"),
        required_features: adapter.features() & WANTED,
        required_limits: adapter.limits(),
        ..Default::default()
    };
    let opened = pollster::block_on(adapter.request_device(&about));
    let (device, queue) = opened.map_err(|error| error.to_string())?;
    Ok(Gpu::new(device, queue, &adapter.get_info()))
}

/// Limits for the planner. What no interface tells (multiprocessors, registers, cache) stays at values that are
/// safe on every such device.
pub(super) fn limits(granted: &wgpu::Limits, features: Features, info: &AdapterInfo) -> Limits {
    // Lanes of a subgroup can be counted on only where all subgroups are of one size.
    let even = info.subgroup_min_size == info.subgroup_max_size && info.subgroup_min_size > 0;
    let side = u64::from(granted.max_compute_workgroups_per_dimension);
    let base = Limits::vulkan_min();
    Limits {
        name: info.name.clone(),
        api: Api::Wgsl { browser: info.backend == Backend::BrowserWebGpu },
        max_threads: granted.max_compute_invocations_per_workgroup.min(granted.max_compute_workgroup_size_x),
        shared_bytes: granted.max_compute_workgroup_storage_size,
        shared_per_sm: granted.max_compute_workgroup_storage_size.max(base.shared_per_sm),
        subgroup: if even { info.subgroup_min_size } else { base.subgroup },
        max_buffer_bytes: granted.max_storage_buffer_binding_size.min(granted.max_buffer_size),
        max_blocks: side * side,
        // Only Vulkan's writer prints f64.
        f64: features.contains(Features::SHADER_F64) && info.backend == Backend::Vulkan,
        f16: features.contains(Features::SHADER_F16),
        shuffle: even && features.contains(Features::SUBGROUP),
        copy_bytes_per_second: match info.device_type {
            DeviceType::DiscreteGpu => 0.4e12,
            DeviceType::Cpu => 0.01e12,
            _ => 0.05e12,
        },
        ..base
    }
}
