//! Contents of constant tables: made on the host in f64 or better, rounded once.

use num_complex::Complex;

#[cfg(test)]
use crate::lower::twiddle::Powers;
use crate::lower::twiddle::{centre_of, exact_powers};
use crate::math::dd::Cdd;
use crate::math::{chirp, double_single, index, spread, twiddle};
use crate::pass::{Coordinate, PartKind, TableKind};
use crate::problem::{Band, Precision};
use crate::program::Numbers;

/// The table's numbers in the device's precision, real and imaginary parts in turn.
pub fn build(kind: TableKind, precision: Precision) -> Numbers {
    if let TableKind::Places { parts, output, rows: [rows, row], next } = kind {
        let places = places(&parts, output);
        let mut all: Vec<u32> =
            places.iter().flat_map(|&place| (0..rows).map(move |own| place + own * row)).collect();
        if next > 0 {
            all.extend_from_within(..);
            let half = all.len() / 2;
            all[half..].iter_mut().for_each(|place| *place += next);
        }
        return Numbers::U32(all);
    }
    let values = values(kind);
    let reals = values.iter().flat_map(|&(re, im)| [re, im]);
    match precision {
        Precision::F32 => Numbers::F32(reals.map(|x| x as f32).collect()),
        Precision::F64 => Numbers::F64(reals.collect()),
        Precision::DoubleSingle => Numbers::F32(reals.flat_map(double_single::split).collect()),
    }
}

fn values(kind: TableKind) -> Vec<(f64, f64)> {
    match kind {
        TableKind::Stage { radix, done, powers } => {
            let n = u64::from(radix) * done;
            let roots = twiddle::roots(n);
            exact_powers(radix, powers)
                .into_iter()
                .flat_map(|j| (0..done).map(move |k| u64::from(j) * k))
                .map(|k| roots[k as usize])
                .collect()
        }
        TableKind::Roots { modulus, step, len } => {
            spread::each(len, |x| twiddle::root(x * step % modulus, modulus))
        }
        TableKind::ShiftedRoots { modulus, first, step, len } => {
            spread::each(len, |x| twiddle::root((first + x * step) % modulus, modulus))
        }
        TableKind::Chirp { n } => twiddle::chirp(n),
        TableKind::ChirpOfHalves { n, m } => [
            twiddle::turned_chirp(n, 2 * m, 2 * m - 1),
            twiddle::chirp(n),
            twiddle::turned_chirp(n, 2 * m, 1),
        ]
        .concat(),
        TableKind::SpectrumOfHalves { n, m, centre } => {
            let spectrum = chirp_spectrum(n, 2 * m);
            let half =
                |first: usize| centred(spectrum.iter().skip(first).step_by(2).copied().collect(), centre);
            [half(0), half(1)].concat()
        }
        TableKind::BandIn { band } => spread::each(band.samples, |j| rounded(chirp::sample(&band, j))),
        TableKind::BandOut { band } => spread::each(band.points, |k| rounded(chirp::point(&band, k))),
        TableKind::ChirpSpectrum { n, m, centre } => centred(chirp_spectrum(n, m), centre),
        TableKind::BandSpectrum { band, m, centre } => centred(band_spectrum(&band, m), centre),
        TableKind::ChirpRows { n, m, radices } => in_rows(&chirp_spectrum(n, m), &radices),
        TableKind::BandRows { band, m, radices } => in_rows(&band_spectrum(&band, m), &radices),
        TableKind::RaderSpectrum { p, radices } => rader_spectrum(p, &radices, 1),
        TableKind::RaderSpectrumOfHalves { p, radices } => rader_spectrum(p, &radices, 2),
        TableKind::RootsOfHalves { p } => roots_of_halves(p),
        TableKind::Places { .. } => Vec::new(),
    }
}

/// Those of every so many frequencies by themselves, from each of as many first ones on.
fn rader_spectrum(p: u64, radices: &[u8], parts: usize) -> Vec<(f64, f64)> {
    let (_, powers) = index::logarithms(p);
    let order = powers.len();
    let mut filter: Vec<Complex<f64>> = (0..order)
        .map(|q| {
            let (re, im) = twiddle::root(powers[(order - q) % order], p);
            Complex::new(re, im) / order as f64
        })
        .collect();
    rustfft::FftPlanner::new().plan_fft_forward(order).process(&mut filter);
    let own = order / parts;
    let frequencies = (0..order).map(|at| parts * turned(at % own, own, radices) + at / own);
    frequencies.map(|f| (filter[f].re, filter[f].im)).collect()
}

fn roots_of_halves(p: u64) -> Vec<(f64, f64)> {
    let (logs, half) = (index::logarithms(p).0, p / 2);
    let part = |by: u64, turned: &dyn Fn(u64) -> u64| {
        let mut roots: Vec<(f64, f64)> =
            (0..half).map(|k| twiddle::root(k * by % (2 * half), 2 * half)).collect();
        // Which of the two points at a place comes first there, the stages want; which has the lower index, the ends know.
        let logs = (1..=half).map(|index| turned(logs[index as usize]));
        for log in logs.filter(|&log| log >= half) {
            let (re, im) = roots[(log - half) as usize];
            roots[(log - half) as usize] = (-re, -im);
        }
        roots
    };
    let back = |log: u64| (2 * half - log) % (2 * half);
    [part(2 * half - 1, &back), vec![(1.0, 0.0); half as usize], part(1, &|log| log)].concat()
}

/// A spectrum with frequency 0 at `centre`.
fn centred(mut spectrum: Vec<(f64, f64)>, centre: u64) -> Vec<(f64, f64)> {
    spectrum.rotate_right(centre as usize);
    spectrum
}

/// The frequency at a place of a table in the order of the last stage's threads.
fn turned(at: usize, order: usize, radices: &[u8]) -> usize {
    let stages = radices.iter().rposition(|&radix| radix > 1).unwrap_or(0);
    let (others, last) = radices[..=stages].split_at(stages);
    let group = order / usize::from(last[0]);
    let mut frequency = at / group * group;
    let (mut rest, mut weight) = (at % group, group);
    for &radix in others.iter().rev() {
        weight /= usize::from(radix);
        frequency += rest % usize::from(radix) * weight;
        rest /= usize::from(radix);
    }
    (frequency + order - centre_of_table(radices) as usize) % order
}

/// Where frequency 0 stands by the radices of a table, of which unused ones are 1.
fn centre_of_table(radices: &[u8]) -> u64 {
    let used: Vec<u32> = radices.iter().map(|&radix| radix.into()).take_while(|&radix| radix > 1).collect();
    centre_of(&used)
}

/// Where index n stands: the sum of its parts' places.
pub(crate) fn places(parts: &[Coordinate], output: bool) -> Vec<u32> {
    let n: u64 = parts.iter().map(|part| part.n).product();
    let mut places = vec![0_u32; n as usize];
    for part in parts.iter().filter(|part| part.n > 1) {
        let own = own_places(part, output);
        let factor = if output { 1 } else { index::coprime_inverse(n, part.n) };
        for (place, index) in places.iter_mut().zip(0_u64..) {
            *place += own[(index % part.n * factor % part.n) as usize];
        }
    }
    places
}

/// Where each index of one part stands.
fn own_places(part: &Coordinate, output: bool) -> Vec<u32> {
    let spelt = |mut index: u32, slowest_first: bool| {
        let mut digit = |(&radix, &stride): (&u8, &u32)| {
            let radix = u32::from(radix);
            let place = index % radix * stride;
            index /= radix;
            place
        };
        let digits = part.radices.iter().zip(&part.strides);
        if slowest_first { digits.rev().map(&mut digit).sum::<u32>() } else { digits.map(&mut digit).sum() }
    };
    let natural = |index: u32| spelt(index, true);
    match part.kind {
        // The stages turn the slowest digit of the input into the fastest of the output, counted from below zero.
        PartKind::MixedRadix if output => {
            let centre = centre_of_table(&part.radices) as u32;
            (0..part.n as u32).map(|index| spelt((index + centre) % part.n as u32, false)).collect()
        }
        PartKind::MixedRadix | PartKind::Bluestein | PartKind::Middle | PartKind::Filter => {
            (0..part.n as u32).map(natural).collect()
        }
        PartKind::Rader => {
            let (logs, _) = index::logarithms(part.n);
            let order = part.n - 1;
            let turned = |log: u64| if output { (order - log) % order } else { log };
            let others = logs[1..].iter().map(|&log| natural(turned(log) as u32));
            std::iter::once(part.first).chain(others).collect()
        }
    }
}

/// Transform of the conjugate chirp, wrapped so that index -k stands at m - k, over m.
fn chirp_spectrum(n: u64, m: u64) -> Vec<(f64, f64)> {
    let mut filter = vec![Complex::<f64>::default(); m as usize];
    for (k, (re, im)) in twiddle::chirp(n).into_iter().enumerate() {
        let value = Complex::new(re, -im) / m as f64;
        filter[k] = value;
        filter[(m as usize - k) % m as usize] = value;
    }
    rustfft::FftPlanner::new().plan_fft_forward(m as usize).process(&mut filter);
    filter.into_iter().map(|z| (z.re, z.im)).collect()
}

fn rounded(z: Cdd) -> (f64, f64) {
    (z.re.hi, z.im.hi)
}

/// Transform of the conjugate chirp of a band, over m.
fn band_spectrum(band: &Band, m: u64) -> Vec<(f64, f64)> {
    let mut filter: Vec<Complex<f64>> = chirp::filter(band, m as usize);
    filter.iter_mut().for_each(|z| *z /= m as f64);
    rustfft::FftPlanner::new().plan_fft_forward(m as usize).process(&mut filter);
    filter.into_iter().map(|z| (z.re, z.im)).collect()
}

/// A spectrum row by row.
fn in_rows(spectrum: &[(f64, f64)], radices: &[u8]) -> Vec<(f64, f64)> {
    let points: usize = radices.iter().map(|&radix| usize::from(radix)).product();
    let rows = spectrum.len() / points;
    let order: Vec<usize> = (0..points).map(|at| rows * turned(at, points, radices)).collect();
    (0..rows).flat_map(|row| order.iter().map(move |at| row + at)).map(|f| spectrum[f]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    /// `exp(-2 pi i k / n)`, by the library's own sine of a reduced angle.
    fn turn(k: u64, n: u64) -> Complex<f64> {
        Complex::from_polar(1.0, -TAU * (k % n) as f64 / n as f64)
    }

    fn assert_near(got: &[(f64, f64)], want: impl Iterator<Item = Complex<f64>>, tolerance: f64, what: &str) {
        let want: Vec<_> = want.collect();
        assert_eq!(got.len(), want.len(), "{what}");
        for (i, (&(re, im), want)) in got.iter().zip(want).enumerate() {
            let error = (Complex::new(re, im) - want).norm();
            assert!(error < tolerance, "{what}[{i}]: off by {error:e}");
        }
    }

    #[test]
    fn a_table_has_the_entries_that_it_says() {
        let band = Band::between(9, 0.1, 0.3, 11, false);
        let kinds = [
            TableKind::Stage { radix: 7, done: 15, powers: Powers::Tree },
            TableKind::Stage { radix: 31, done: 2, powers: Powers::First },
            TableKind::Stage { radix: 31, done: 2, powers: Powers::Balanced },
            TableKind::Roots { modulus: 1000, step: 32, len: 32 },
            TableKind::Chirp { n: 37 },
            TableKind::ChirpSpectrum { n: 37, m: 81, centre: 0 },
            TableKind::ChirpOfHalves { n: 37, m: 40 },
            TableKind::SpectrumOfHalves { n: 37, m: 40, centre: 3 },
            TableKind::RootsOfHalves { p: 13 },
            TableKind::RaderSpectrumOfHalves { p: 13, radices: [3, 2, 1, 1, 1, 1, 1, 1] },
            TableKind::ShiftedRoots { modulus: 1000, first: 3, step: 26, len: 40 },
            TableKind::RaderSpectrum { p: 7, radices: [3, 2, 1, 1, 1, 1, 1, 1] },
            TableKind::ChirpRows { n: 37, m: 80, radices: [4, 2, 1, 1, 1, 1, 1, 1] },
            TableKind::BandIn { band },
            TableKind::BandOut { band },
            TableKind::BandSpectrum { band, m: 24, centre: 5 },
            TableKind::BandRows { band, m: 24, radices: [4, 2, 1, 1, 1, 1, 1, 1] },
        ];
        for kind in kinds {
            assert_eq!(build(kind, Precision::F32).bytes(), 8 * kind.len(), "{kind:?}");
            assert_eq!(build(kind, Precision::F64).bytes(), 16 * kind.len(), "{kind:?}");
            for precision in [Precision::F32, Precision::F64, Precision::DoubleSingle] {
                assert_eq!(build(kind, precision).bytes(), kind.bytes(precision), "{kind:?}");
            }
            assert!(!kind.is_empty());
        }
    }

    #[test]
    fn places_go_on_in_the_next_row() {
        let part =
            Coordinate { n: 7, kind: PartKind::Rader, radices: [3, 2, 1, 1, 1, 1, 1, 1], ..Coordinate::NONE };
        let part = Coordinate { strides: [2, 1, 0, 0, 0, 0, 0, 0], first: 6, ..part };
        let parts = [part, Coordinate::NONE, Coordinate::NONE];
        for output in [false, true] {
            let [one, two] = [0, 9].map(|next| {
                let kind = TableKind::Places { parts, output, rows: [1, 0], next };
                let Numbers::U32(places) = build(kind, Precision::F32) else { panic!("places are integers") };
                assert_eq!(places.len() as u64, kind.len());
                assert_eq!(kind.bytes(Precision::F64), 4 * kind.len());
                places
            });
            let wanted: Vec<u32> = one.iter().copied().chain(one.iter().map(|place| place + 9)).collect();
            assert_eq!(two, wanted);
        }
        let kind = TableKind::Places { parts, output: false, rows: [2, 30], next: 0 };
        let Numbers::U32(rows) = build(kind, Precision::F32) else { panic!("places are integers") };
        let one = places(&parts, false);
        assert_eq!(rows.len() as u64, kind.len());
        assert!((0..14).all(|index| rows[index] == one[index / 2] + [0, 30][index % 2]));
    }

    #[test]
    fn entries_are_the_sines_and_cosines_they_stand_for() {
        for (radix, done) in [(2, 1), (4, 16), (7, 15), (16, 8), (23, 6)] {
            let powers = Powers::Tree;
            let exponents = exact_powers(radix, powers)
                .into_iter()
                .flat_map(|j| (0..done).map(move |k| u64::from(j) * k));
            let want = exponents.map(|k| turn(k, u64::from(radix) * done));
            assert_near(&values(TableKind::Stage { radix, done, powers }), want, 1e-14, "stage");
        }
        let want = (0..40).map(|x| turn(x * 26, 1000));
        assert_near(&values(TableKind::Roots { modulus: 1000, step: 26, len: 40 }), want, 1e-14, "roots");
        let want = (0..37).map(|k| turn(k * k, 74));
        assert_near(&values(TableKind::Chirp { n: 37 }), want, 1e-14, "chirp");
        let turned = |by: u64| (0..37).map(move |k| turn(k * k % 74, 74) * turn(k * by, 80));
        let want = turned(79).chain(turned(0)).chain(turned(1));
        assert_near(&values(TableKind::ChirpOfHalves { n: 37, m: 40 }), want, 1e-14, "chirp of halves");
        let whole = values(TableKind::ChirpSpectrum { n: 37, m: 80, centre: 0 });
        let halves = values(TableKind::SpectrumOfHalves { n: 37, m: 40, centre: 3 });
        assert_eq!(halves[3..5], [whole[0], whole[2]]);
        assert_eq!(halves[42..45], [whole[79], whole[1], whole[3]]);
    }

    #[test]
    fn the_chirps_spectrum_is_its_direct_transform() {
        for (n, m) in [(3_u64, 5_u64), (37, 72), (37, 73), (37, 80)] {
            let filter: Vec<Complex<f64>> = (0..m)
                .map(|at| {
                    let k = if at < n { at } else { m - at };
                    if k < n { turn(k * k, 2 * n).conj() / m as f64 } else { Complex::default() }
                })
                .collect();
            for centre in [0, m / 3] {
                let from_below = (0..m).map(|at| (m + at - centre) % m);
                let want =
                    from_below.map(|f| filter.iter().zip(0..).map(|(x, at)| x * turn(f * at, m)).sum());
                assert_near(&values(TableKind::ChirpSpectrum { n, m, centre }), want, 1e-14, "spectrum");
            }
        }
    }
}
