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
fn longer_convolutions_than_an_index_counts_are_refused() {
    for n in [2_147_483_659, 4_294_967_311] {
        too_large(
            &Fft::new([n]).build().expect("it can be asked"),
            "points of a convolution in several passes",
        );
    }
}

/// What they compute is checked in `huge.rs`.
#[test]
fn longer_transforms_and_more_of_them_than_32_bits_count_have_plans() {
    for request in [Fft::new([1 << 33]), Fft::new([1 << 32]), Fft::new([2]).batch(1 << 33)] {
        let problem = request.build().expect("it can be asked");
        assert!(compile(&problem, &roomy()).is_ok(), "{problem:?}");
    }
}
