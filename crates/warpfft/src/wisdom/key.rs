//! A problem as one line of text. What no choice of the compiler depends on is left out: the direction and the scale.

use std::fmt::Write;

use warpfft_core::problem::{Dim, Format, Kind, Placement, Problem};

/// Lengths, slowest first, and transforms of a problem whose arrays are packed one after the other; `None` for any
/// other layout.
fn packed(problem: &Problem) -> Option<(Vec<i64>, i64)> {
    let mut stride = 1_i64;
    if problem.at_run().is_some() || !problem.functions.is_empty() {
        return None;
    }
    for dim in problem.transform.iter().rev().chain(problem.batch.iter().rev()) {
        if dim.is != stride || dim.os != stride {
            return None;
        }
        stride = stride.checked_mul(i64::try_from(dim.n).ok()?)?;
    }
    let interleaved = problem.input == Format::Interleaved && problem.output == Format::Interleaved;
    let plain = interleaved && problem.input_offset == 0 && problem.output_offset == 0;
    let plain = plain && problem.kind == Kind::Complex && !problem.is_windowed() && problem.filter.is_none();
    let lengths: Vec<i64> = problem.transform.iter().map(|dim| dim.n as i64).collect();
    (plain && !lengths.is_empty()).then(|| (lengths, problem.batch_count() as i64))
}

/// What a key has before the repeated dimensions.
const BATCH: &str = " batch ";

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
    let triple = |dim: &Dim| {
        let any = if dim.at_run { ":any" } else { "" };
        format!("{}:{}:{}{any}", dim.n, dim.is, dim.os)
    };
    let mut key = match &problem.kind {
        Kind::Complex => "c2c".into(),
        Kind::RealToComplex(dim) => format!("r2c {}", triple(dim)),
        Kind::ComplexToReal(dim) => format!("c2r {}", triple(dim)),
        Kind::Zoom(zoom) => {
            // Tables differ with the frequencies, choices do not.
            let of = if zoom.real { "zoom-of-reals" } else { "zoom" };
            format!("{of} {} to {}", triple(&zoom.dim), zoom.band.points)
        }
        Kind::RealToReal(dims) => dims.iter().fold(String::from("r2r"), |key, real| {
            let weighted = if real.orthogonal { " orthogonal" } else { "" };
            format!("{key} {}{weighted} {}", real.kind.name(), triple(&real.dim))
        }),
    };
    let _ = write!(key, " {}", problem.precision);
    if problem.storage != [None; 2] {
        let [input, output] = problem.stored();
        let _ = write!(key, " kept {input}:{output}");
    }
    if problem.placement == Placement::InPlace {
        key += " in-place";
    }
    if let Some(bytes) = problem.max_workspace {
        let _ = write!(key, " workspace {bytes}");
    }
    if !problem.functions.is_empty() {
        key += " functions";
    }
    if let Some((lengths, batch)) = packed(problem) {
        let lengths: Vec<String> = lengths.iter().map(i64::to_string).collect();
        return format!("{key} {}{BATCH}{batch}", lengths.join("x"));
    }
    let format = |format| if format == Format::Planar { "planar" } else { "interleaved" };
    if problem.input == Format::Planar || problem.output == Format::Planar {
        let _ = write!(key, " {}:{}", format(problem.input), format(problem.output));
    }
    if problem.input_offset != 0 || problem.output_offset != 0 {
        let _ = write!(key, " offsets {}:{}", problem.input_offset, problem.output_offset);
    }
    if let Some(filter) = &problem.filter {
        let strides: Vec<String> = filter.transform.iter().chain(&filter.batch).map(i64::to_string).collect();
        let real = if filter.hermitian { " real" } else { "" };
        let _ = write!(key, " filter {}{real}", strides.join(":"));
        for block in &filter.blocks {
            let _ = write!(key, " block {}:{}", block.points, block.kernel);
        }
    }
    let reals = [problem.input, problem.output].map(|format| format == Format::Real);
    if problem.kind == Kind::Complex && reals != [false; 2] {
        let _ = write!(key, " reals {}:{}", u8::from(reals[0]), u8::from(reals[1]));
    }
    for sides in &problem.windows {
        let [input, output] = sides.map(|window| format!("{}+{}", window.start, window.len));
        let _ = write!(key, " window {input}:{output}");
    }
    for (name, dims) in [(" dims ", &problem.transform), (BATCH, &problem.batch)] {
        if !dims.is_empty() {
            let dims: Vec<String> = dims.iter().map(triple).collect();
            let _ = write!(key, "{name}{}", dims.join(" "));
        }
    }
    key
}

/// What a problem's key is beside the number of times that its outermost dimension is repeated.
pub(super) struct Family {
    /// The key up to the repeated dimensions.
    pub before: String,
    /// The number.
    pub count: u64,
    /// The key from behind the number on.
    after: String,
    /// Whether a single one, whose key ends with `before`, is of this family.
    alone: bool,
}

impl Family {
    /// The family of a problem that is repeated, or of a single one that would be packed if it were.
    pub fn of(problem: &Problem) -> Option<Self> {
        let key = problem_key(problem);
        let packed = repeated(problem);
        let Some(at) = key.rfind(BATCH) else {
            return Some(Self { before: key, count: 1, after: packed?, alone: true });
        };
        let (before, rest) = (&key[..at], &key[at + BATCH.len()..]);
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (count, after) = rest.split_at(digits);
        let alone = packed.is_some_and(|packed| packed == after);
        Some(Self { before: before.into(), count: count.parse().ok()?, after: after.into(), alone })
    }

    /// The number in another key of this family.
    pub fn count_of(&self, key: &str) -> Option<u64> {
        let rest = key.strip_prefix(&*self.before)?;
        if rest.is_empty() {
            return self.alone.then_some(1);
        }
        let count = rest.strip_prefix(BATCH)?.strip_suffix(&*self.after)?;
        count.parse().ok().filter(|&count| count > 0)
    }
}

/// What stands behind the number in the key of the same transforms of real data, packed one after the other: a single
/// one has no such dimension. Keys of packed complex problems have the number always.
fn repeated(problem: &Problem) -> Option<String> {
    if problem.kind == Kind::Complex {
        return None;
    }
    let one = Problem { batch: Vec::new(), ..problem.clone() };
    let reach = |dims: &mut dyn Iterator<Item = (u64, i64)>| {
        dims.map(|(n, stride)| stride.saturating_abs().saturating_mul(n as i64)).max()
    };
    let (mut input, mut output) = (reach(&mut one.input_dims())?, reach(&mut one.output_dims())?);
    if problem.placement == Placement::InPlace {
        // Rows of reals are padded to the room of their half spectra.
        match problem.kind.reals() {
            [true, false] => input = output.saturating_mul(2),
            [false, true] => output = input.saturating_mul(2),
            _ => {}
        }
    }
    Some(format!(":{input}:{output}"))
}

#[cfg(test)]
mod tests {
    use warpfft_core::problem::{RealKind, Storage};
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
    fn families_differ_in_the_outermost_count_alone() {
        let family = |request: Fft| Family::of(&request.build().expect("it is possible"));
        let key = |request: Fft| problem_key(&request.build().expect("it is possible"));
        let rows = |n: u64, batch: u64| Fft::new([n]).batch(batch);
        let own = family(rows(8, 5)).expect("it is repeated");
        assert_eq!(own.count, 5);
        assert_eq!([1, 70].map(|batch| own.count_of(&key(rows(8, batch)))), [Some(1), Some(70)]);
        for other in [rows(9, 5), rows(8, 5).f64(), rows(8, 5).in_place(), Fft::new([8, 8]).batch(5)] {
            assert_eq!(own.count_of(&key(other)), None);
        }
        // Columns of several matrices, with a gap between them.
        let columns = |matrices: u64, width: i64| {
            Fft::axes([6, 8], [0]).strides(&[width, 1], &[width, 1]).batch_strided(matrices, 100, 100)
        };
        let own = family(columns(3, 8)).expect("it is repeated");
        assert_eq!((own.count, own.count_of(&key(columns(9, 8)))), (3, Some(9)));
        assert_eq!(own.count_of(&key(columns(3, 9))), None);
        assert_eq!(own.count_of(&key(columns(1, 8))), None, "the count of its columns is another");
        assert!(family(Fft::new([6]).strides(&[2], &[2])).is_none(), "it is not repeated");
        assert_eq!(own.count_of(&key(columns(9, 8)).replace("9:100", "0:100")), None);
    }

    #[test]
    fn packed_real_data_is_a_family_from_one_on() {
        type Kinds = fn(Fft) -> Fft;
        let kinds: [Kinds; 4] =
            [Fft::r2c, Fft::c2r, |fft| fft.r2r([RealKind::Dct2]), |fft| fft.r2r([RealKind::Dht])];
        let placements: [Kinds; 2] = [|fft| fft, Fft::in_place];
        for (kind, placement) in kinds.into_iter().flat_map(|kind| placements.map(|own| (kind, own))) {
            for shape in [vec![1024], vec![9], vec![6, 8], vec![4, 6, 9]] {
                let rows = |batch| placement(kind(Fft::new(shape.clone()).batch(batch)));
                let of = |batch| rows(batch).build().expect("it is possible");
                for (own, other) in [(1, 70), (70, 1), (5, 8), (1, 1)] {
                    let family = Family::of(&of(own)).expect("it may be repeated");
                    assert_eq!((family.count, family.count_of(&problem_key(&of(other)))), (own, Some(other)));
                    for stranger in [rows(other).f64(), rows(other).max_workspace(0)] {
                        let key = problem_key(&stranger.build().expect("it is possible"));
                        assert_eq!(family.count_of(&key), None, "{key}");
                    }
                }
            }
        }
        let apart = |fft: Fft| Family::of(&fft.build().expect("it is possible")).expect("it may be repeated");
        let single = problem_key(&Fft::new([8]).r2c().build().expect("it is possible"));
        assert_eq!(apart(Fft::new([8]).batch_strided(4, 10, 5).r2c()).count_of(&single), None, "with gaps");
    }

    #[test]
    fn what_matters_is_in_the_key_and_nothing_else() {
        let key = |request: Fft| problem_key(&request.build().expect("it is possible"));
        let base = || Fft::new([8, 6]).batch(5);
        assert_eq!(key(base().inverse().scale(0.5)), key(base()));
        let others = [
            base().f64(),
            base().f16(),
            base().bf16(),
            base().storages(Storage::F32, Storage::F16),
            base().in_place(),
            base().in_place().max_workspace(0),
            base().planar(),
            Fft::new([8, 6]).batch(4),
            Fft::new([6, 8]).batch(5),
            Fft::axes([5, 8, 6], [1]),
            Fft::new([48]).batch(5),
            base().pad(&[8, 5]),
            base().crop(&[8, 5]),
            base().any_batch(),
        ];
        let mut keys: Vec<String> = others.into_iter().chain([base()]).map(key).collect();
        assert!(keys.iter().all(|key| !key.contains('\n')));
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 15, "{keys:?}");
    }
}
