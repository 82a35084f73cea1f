//! A device's limits and abilities as plain data, so that a plan for an H200 can be made, simulated and tested
//! on a laptop.

/// Bytes of a sector: memory moves no less.
pub const SECTOR_BYTES: u64 = 32;
/// Bytes of a line of the caches: four sectors.
pub const LINE_BYTES: u64 = 128;

/// The language that a device takes its kernels in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Api {
    /// PTX for the given compute capability (75, 80, 90).
    Ptx {
        /// Compute capability times ten.
        sm: u32,
    },
    /// WGSL. `browser` is the dialect that browsers take (`enable subgroups;`, no f64).
    Wgsl {
        /// Emit what browsers require, and nothing that they refuse.
        browser: bool,
    },
    /// OpenCL C 1.2.
    OpenCl,
}

/// What one device can do. All counts are per the device's own documentation; where a driver does not tell
/// (registers through Vulkan), a value that is safe on every such device.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Name for people and for wisdom.
    pub name: String,
    /// Kernel language.
    pub api: Api,
    /// Threads in one block at most.
    pub max_threads: u32,
    /// Shared memory of one block at most, in bytes (CUDA: the opt-in limit).
    pub shared_bytes: u32,
    /// Shared memory of one multiprocessor, in bytes.
    pub shared_per_sm: u32,
    /// 32-bit registers of one thread at most.
    pub registers_per_thread: u32,
    /// 32-bit registers of one multiprocessor.
    pub registers_per_sm: u32,
    /// Resident threads of one multiprocessor.
    pub threads_per_sm: u32,
    /// Resident blocks of one multiprocessor.
    pub blocks_per_sm: u32,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Threads that run in step (warp, subgroup).
    pub subgroup: u32,
    /// Blocks in one cluster at most; 1 where there are no clusters.
    pub max_cluster: u32,
    /// Last-level cache in bytes.
    pub l2_bytes: u64,
    /// Bytes that one kernel argument can span.
    pub max_buffer_bytes: u64,
    /// Blocks in one launch at most.
    pub max_blocks: u64,
    /// 64-bit integers in index arithmetic.
    pub index64: bool,
    /// f64 arithmetic and storage.
    pub f64: bool,
    /// f16 arithmetic and storage.
    pub f16: bool,
    /// Subgroup shuffles.
    pub shuffle: bool,
    /// Asynchronous bulk copies and transaction barriers.
    pub bulk_copy: bool,
    /// Speed of a plain copy, bytes read plus bytes written per second.
    pub copy_bytes_per_second: f64,
    /// Copies that a thousand instructions of a kernel count as, beside the time that they take: 0, unless somebody waits
    /// for the assembler more than for the transform.
    pub brevity: f64,
}

impl Limits {
    /// NVIDIA H200 (compute capability 9.0): 132 multiprocessors, 227 KiB of shared memory a block, a copy at
    /// 4.05 TB/s as measured with 16-byte accesses.
    pub fn h200() -> Self {
        Self {
            name: "h200".into(),
            api: Api::Ptx { sm: 90 },
            max_threads: 1024,
            shared_bytes: 227 * 1024,
            shared_per_sm: 228 * 1024,
            registers_per_thread: 255,
            registers_per_sm: 65536,
            threads_per_sm: 2048,
            blocks_per_sm: 32,
            multiprocessors: 132,
            subgroup: 32,
            max_cluster: 16,
            l2_bytes: 50 << 20,
            max_buffer_bytes: 141 << 30,
            max_blocks: (1 << 31) - 1,
            index64: true,
            f64: true,
            f16: true,
            shuffle: true,
            bulk_copy: true,
            copy_bytes_per_second: 4.05e12,
            brevity: 0.0,
        }
    }

    /// NVIDIA A100 (compute capability 8.0).
    pub fn a100() -> Self {
        Self {
            name: "a100".into(),
            api: Api::Ptx { sm: 80 },
            shared_bytes: 163 * 1024,
            shared_per_sm: 164 * 1024,
            multiprocessors: 108,
            max_cluster: 1,
            l2_bytes: 40 << 20,
            max_buffer_bytes: 80 << 30,
            bulk_copy: false,
            copy_bytes_per_second: 1.7e12,
            ..Self::h200()
        }
    }

    /// NVIDIA T4 (compute capability 7.5), the oldest that PTX is emitted for.
    pub fn t4() -> Self {
        Self {
            name: "t4".into(),
            api: Api::Ptx { sm: 75 },
            shared_bytes: 64 * 1024,
            shared_per_sm: 64 * 1024,
            threads_per_sm: 1024,
            blocks_per_sm: 16,
            multiprocessors: 40,
            max_cluster: 1,
            l2_bytes: 4 << 20,
            max_buffer_bytes: 16 << 30,
            bulk_copy: false,
            copy_bytes_per_second: 0.25e12,
            ..Self::h200()
        }
    }

    /// What every Vulkan desktop device has in practice: 32 KiB of shared memory, 1024 threads a block.
    pub fn vulkan_min() -> Self {
        Self {
            name: "vulkan-min".into(),
            api: Api::Wgsl { browser: false },
            max_threads: 256,
            shared_bytes: 32 * 1024,
            shared_per_sm: 64 * 1024,
            registers_per_thread: 128,
            registers_per_sm: 65536,
            threads_per_sm: 1024,
            blocks_per_sm: 16,
            multiprocessors: 16,
            subgroup: 32,
            max_cluster: 1,
            l2_bytes: 1 << 20,
            max_buffer_bytes: 128 << 20,
            max_blocks: 65535 * 65535,
            index64: false,
            f64: false,
            f16: false,
            shuffle: false,
            bulk_copy: false,
            copy_bytes_per_second: 0.2e12,
            brevity: 0.0,
        }
    }

    /// The limits that every WebGPU implementation grants: 16 KiB of shared memory, 256 threads a block.
    pub fn webgpu_min() -> Self {
        Self {
            name: "webgpu-min".into(),
            api: Api::Wgsl { browser: true },
            shared_bytes: 16 * 1024,
            shared_per_sm: 32 * 1024,
            ..Self::vulkan_min()
        }
    }

    /// What every OpenCL device of the full profile has (32 KiB of local memory, a buffer of 128 MiB, 64-bit integers;
    /// OpenCL 1.2, table 4.3), in groups of 256, which GPUs have in practice.
    pub fn opencl_min() -> Self {
        Self {
            name: "opencl-min".into(),
            api: Api::OpenCl,
            max_blocks: (1 << 31) - 1,
            index64: true,
            ..Self::vulkan_min()
        }
    }

    /// Every named set, for `--limits`.
    pub fn presets() -> Vec<Self> {
        vec![
            Self::h200(),
            Self::a100(),
            Self::t4(),
            Self::vulkan_min(),
            Self::webgpu_min(),
            Self::opencl_min(),
        ]
    }

    /// Whether doubles are computed half as fast as singles, and not a thirty-second part or less: on GPUs of compute capability
    /// 8.0, 9.0 and 10.0 (*CUDA C++ Programming Guide*, throughput of native arithmetic instructions).
    pub fn fast_doubles(&self) -> bool {
        matches!(self.api, Api::Ptx { sm: 80 | 90 | 100 })
    }

    /// The set of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::presets().into_iter().find(|limits| limits.name == name)
    }
}
