//! What memory costs beyond a plain copy: segments that do not fill its sectors.

use crate::lower::cluster::Cut;
use crate::lower::digits::Digits;
use crate::pass::Pass;

/// Factor for segments that do not fill sectors of 32 bytes.
pub(super) fn segments(pass: &Pass, digits: &Digits, cut: Option<Cut>) -> f64 {
    let bytes = pass.precision.complex_bytes();
    let sides = [
        (cut.map(|cut| cut.before), digits.weights(|digit| digit.is), pass.load),
        (cut.map(|cut| cut.after), digits.weights(|digit| digit.os), pass.store),
    ];
    let cost = sides.map(|(block, strides, factor)| {
        let run = digits.run(&digits.by_stride(&[block], &strides), &strides) * bytes;
        // What is padded is of an odd length more often than not: its rows start anywhere.
        let anywhere = factor.is_some_and(|factor| factor.limit.is_some());
        let sectors = if anywhere { run + 32 - bytes } else { run.div_ceil(32) * 32 };
        let thin = match run {
            0..=32 => 0.15,
            // Blocks of a cluster also wait for one another's.
            33..=64 if cut.is_some() => 0.12,
            33..=64 => 0.03,
            65..=127 => 0.01,
            _ => 0.0,
        };
        sectors as f64 / run as f64 + if run.is_multiple_of(32) || run > 512 { thin } else { thin + 0.1 }
    });
    (cost[0] + cost[1]) / 2.0
}
