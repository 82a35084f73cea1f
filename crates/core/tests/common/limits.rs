//! Devices whose blocks hold little, so that short transforms go the ways of long ones.

use warpfft_core::target::Limits;

/// A block holds 256 points in single precision.
pub fn small() -> Limits {
    Limits { shared_bytes: 2048, max_threads: 64, max_cluster: 1, name: "small".into(), ..Limits::h200() }
}

/// A block holds 512 points in single precision, and two blocks may share a line, of which there are enough from three on.
pub fn pairs() -> Limits {
    Limits { shared_bytes: 4096, max_threads: 64, multiprocessors: 6, ..Limits::h200() }
}

/// Lines of a few hundred reals take several passes, with no more than every browser grants.
pub fn small_browser() -> Limits {
    Limits { shared_bytes: 2048, shared_per_sm: 8192, max_threads: 128, ..Limits::webgpu_min() }
}

/// Little fits a block, and little the cache: two passes share a launch.
pub fn small_cache() -> Limits {
    Limits {
        shared_bytes: 8192,
        shared_per_sm: 65536,
        max_cluster: 1,
        multiprocessors: 2,
        l2_bytes: 1 << 18,
        ..Limits::h200()
    }
}

/// Lengths, each with the device to try it on: these with all of an H200, those with a small device.
pub fn lengths(whole: &[u64], small: &Limits, several: &[u64]) -> Vec<(u64, Limits)> {
    let on = |limits: &Limits, n: &[u64]| n.iter().map(|&n| (n, limits.clone())).collect::<Vec<_>>();
    [on(&Limits::h200(), whole), on(small, several)].concat()
}
