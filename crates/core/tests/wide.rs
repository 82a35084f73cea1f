//! Problems beyond 32 bits, and beyond what a host holds: refused with what is too large, never computed wrongly.

use warpfft_core::compile;
use warpfft_core::error::Error;
use warpfft_core::problem::Problem;
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

/// A device that itself would hold everything.
fn roomy() -> Limits {
    Limits { max_buffer_bytes: 1 << 50, ..Limits::h200() }
}

fn too_large(problem: &Problem, words: &str) {
    match compile(problem, &roomy()) {
        Err(Error::DeviceTooSmall { what, .. }) => assert!(what.contains(words), "{what}"),
        other => panic!("{problem:?}: {:?}", other.map(|program| program.launches)),
    }
}

#[test]
fn lengths_whose_factors_no_host_holds_are_refused() {
    // Primes, which take a chirp as long as they are.
    for n in [998_244_353, 1_000_000_007] {
        too_large(&Fft::new([n]).build().expect("it can be asked"), "entries of a table");
    }
}

#[test]
fn more_repetitions_than_an_index_counts_are_refused() {
    let many = |n| Fft::new([2]).batch(n).build().expect("it can be asked");
    too_large(&many(1 << 33), "repetitions of one dimension");
    assert!(compile(&many(u64::from(u32::MAX)), &roomy()).is_ok());
}

#[test]
fn longer_transforms_than_an_exponent_counts_are_refused() {
    let long = |n| Fft::new([n]).build().expect("it can be asked");
    // A power of two, and primes with convolutions as long.
    for n in [1 << 33, 2_147_483_659, 4_294_967_311] {
        too_large(&long(n), "points of a transform in several passes");
    }
    assert!(compile(&long(1 << 32), &roomy()).is_ok());
}
