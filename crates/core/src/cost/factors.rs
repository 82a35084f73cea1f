//! What the factors of a convolution cost: spectra and chirps that every tile goes by, points that are set aside.

use super::Model;
use crate::pass::{Axis, Method, PartKind};

impl Model<'_> {
    /// What spectra and chirps add: they come from the L1 cache while they fit beside the tiles, else from L2.
    pub(super) fn table_traffic(&self) -> f64 {
        let spilled = ((self.factors * self.bytes as f64 - 32768.0) / 32768.0).clamp(0.0, 1.0);
        (0.2 + 0.45 * spilled) * self.factors / self.useful
    }
}

/// Points that Rader's rows set aside: the first of each.
pub(super) fn aside(axis: &Axis, batch: &[u64]) -> u64 {
    let Method::Coprime(parts) = &axis.method else { return 0 };
    let rows: u64 = batch.iter().product::<u64>() * axis.dim.n;
    parts.iter().filter(|part| part.kind == PartKind::Rader).map(|part| rows / part.n).max().unwrap_or(0)
}

/// Entries of an axis's spectra (of which a chirp's is symmetric) and chirps.
pub(super) fn of_axis(axis: &Axis) -> f64 {
    let chirp = |n: u64, points: u64| n as f64 + points as f64 / 2.0;
    match &axis.method {
        Method::MixedRadix(_) => 0.0,
        Method::Coprime(parts) => (parts.iter())
            .map(|part| match part.kind {
                PartKind::MixedRadix => 0.0,
                PartKind::Rader => part.points() as f64,
                PartKind::Bluestein => chirp(part.n, part.points()),
            })
            .sum(),
    }
}
