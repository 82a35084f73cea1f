//! Contents of constant tables: made on the host in f64 or better, rounded once.

use num_complex::Complex;

use crate::lower::twiddle::exact_powers;
use crate::math::twiddle;
use crate::pass::TableKind;
use crate::problem::Precision;
use crate::program::Table;

/// The table's numbers in the device's precision, real and imaginary parts in turn.
pub fn build(kind: TableKind, precision: Precision) -> Table {
    let values = values(kind);
    let reals = values.iter().flat_map(|&(re, im)| [re, im]);
    match precision {
        Precision::F32 => Table::F32(reals.map(|x| x as f32).collect()),
        Precision::F64 => Table::F64(reals.collect()),
    }
}

fn values(kind: TableKind) -> Vec<(f64, f64)> {
    match kind {
        TableKind::Stage { radix, done } => {
            let n = u64::from(radix) * done;
            let roots = twiddle::roots(n);
            exact_powers(radix)
                .into_iter()
                .flat_map(|j| (0..done).map(move |k| u64::from(j) * k))
                .map(|k| roots[k as usize])
                .collect()
        }
        TableKind::Roots { modulus, step, len } => {
            (0..len).map(|x| twiddle::root(x * step % modulus, modulus)).collect()
        }
        TableKind::Chirp { n } => twiddle::chirp(n),
        TableKind::ChirpSpectrum { n, m } => chirp_spectrum(n, m),
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
