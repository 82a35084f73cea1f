//! A problem as one line of text. What no choice of the compiler depends on is left out: the direction and the scale.

use std::fmt::Write;

use warpfft_core::problem::{Dim, Format, Placement, Precision, Problem};

/// Lengths, slowest first, and transforms of a problem whose arrays are packed one after the other; `None` for any
/// other layout.
pub(crate) fn packed(problem: &Problem) -> Option<(Vec<i64>, i64)> {
    let mut stride = 1_i64;
    for dim in problem.transform.iter().rev().chain(problem.batch.iter().rev()) {
        if dim.is != stride || dim.os != stride {
            return None;
        }
        stride = stride.checked_mul(i64::try_from(dim.n).ok()?)?;
    }
    let interleaved = problem.input == Format::Interleaved && problem.output == Format::Interleaved;
    let plain = interleaved && problem.input_offset == 0 && problem.output_offset == 0;
    let lengths: Vec<i64> = problem.transform.iter().map(|dim| dim.n as i64).collect();
    (plain && !lengths.is_empty()).then(|| (lengths, problem.batch_count() as i64))
}

/// A problem as a key: `c2c f32 512x512 batch 64` for packed arrays, with every stride for others. Problems that
/// differ in direction or scale alone have equal keys.
///
/// ```
/// use warpfft::core::request::Fft;
/// use warpfft::wisdom::problem_key;
///
/// assert_eq!(problem_key(&Fft::new([512, 512]).batch(64).build()?), "c2c f32 512x512 batch 64");
/// assert_eq!(problem_key(&Fft::axes([6, 8], [0]).f64().build()?), "c2c f64 dims 6:8:8 batch 8:1:1");
/// # Ok::<(), warpfft::core::Error>(())
/// ```
pub fn problem_key(problem: &Problem) -> String {
    let mut key = String::from(match problem.precision {
        Precision::F32 => "c2c f32",
        Precision::F64 => "c2c f64",
    });
    if problem.placement == Placement::InPlace {
        key += " in-place";
    }
    if let Some(bytes) = problem.max_workspace {
        let _ = write!(key, " workspace {bytes}");
    }
    if let Some((lengths, batch)) = packed(problem) {
        let lengths: Vec<String> = lengths.iter().map(i64::to_string).collect();
        return format!("{key} {} batch {batch}", lengths.join("x"));
    }
    let format = |format| if format == Format::Planar { "planar" } else { "interleaved" };
    if problem.input != Format::Interleaved || problem.output != Format::Interleaved {
        let _ = write!(key, " {}:{}", format(problem.input), format(problem.output));
    }
    if problem.input_offset != 0 || problem.output_offset != 0 {
        let _ = write!(key, " offsets {}:{}", problem.input_offset, problem.output_offset);
    }
    for (name, dims) in [("dims", &problem.transform), ("batch", &problem.batch)] {
        if !dims.is_empty() {
            let dims: Vec<String> = dims.iter().map(|Dim { n, is, os }| format!("{n}:{is}:{os}")).collect();
            let _ = write!(key, " {name} {}", dims.join(" "));
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use warpfft_core::request::Fft;

    use super::*;

    #[test]
    fn packed_arrays_are_told_from_others() {
        let ask = |request: Fft| packed(&request.build().expect("it is possible"));
        assert_eq!(ask(Fft::new([4, 6]).batch(10)), Some((vec![4, 6], 10)));
        assert_eq!(ask(Fft::new([1, 8])), Some((vec![8], 1)));
        assert_eq!(ask(Fft::axes([4, 6], [0])), None, "columns");
        assert_eq!(ask(Fft::new([4]).planar()), None);
        assert_eq!(ask(Fft::new([1]).batch(3)), None, "nothing to transform");
    }

    #[test]
    fn what_matters_is_in_the_key_and_nothing_else() {
        let key = |request: Fft| problem_key(&request.build().expect("it is possible"));
        let base = || Fft::new([8, 6]).batch(5);
        assert_eq!(key(base().inverse().scale(0.5)), key(base()));
        let others = [
            base().f64(),
            base().in_place(),
            base().in_place().max_workspace(0),
            base().planar(),
            Fft::new([8, 6]).batch(4),
            Fft::new([6, 8]).batch(5),
            Fft::axes([5, 8, 6], [1]),
            Fft::new([48]).batch(5),
        ];
        let mut keys: Vec<String> = others.into_iter().chain([base()]).map(key).collect();
        assert!(keys.iter().all(|key| !key.contains('\n')));
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 9, "{keys:?}");
    }
}
