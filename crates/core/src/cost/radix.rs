//! What a radix costs: issue slots of a point, and registers beside the data.

use std::sync::OnceLock;

use crate::codelet::{LARGEST_PRIME, comes_in_twos, instructions_of_prime};
use crate::lower::twiddle::{Powers, exact_powers};
use crate::math::factor;

/// What a stage of one radix costs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Facts {
    /// Instructions for one point: codelet, twiddle, and its exchange.
    pub issue: f64,
    /// The same in double-single arithmetic.
    pub paired: f64,
    /// Instructions for one point in a convolution: codelet and twiddle.
    pub convolved: f64,
    /// 32-bit registers beside the data, in single precision.
    pub scratch: u32,
}

/// Instructions of pairs of singles for one of singles, about: a sum takes 8, a product 4, a product-sum 15.
pub(super) const PAIRED: f64 = 9.0;

/// Registers beside the data of a codelet whose results are stored two by two.
const KEPT_OF_TWOS: u32 = 8;

/// The same of those that take all registers there are.
const KEPT_OF_LONGEST: u32 = 60;

/// The longest radix that leaves some.
const LONG: u32 = 61;

/// Facts of every radix up to the largest codelet, made once.
pub(super) fn facts(radix: u32) -> Facts {
    static ALL: OnceLock<Vec<Facts>> = OnceLock::new();
    let all = ALL.get_or_init(|| (0..=LARGEST_PRIME as u32).map(new_facts).collect());
    all.get(radix as usize).copied().unwrap_or_else(|| new_facts(radix))
}

fn new_facts(radix: u32) -> Facts {
    if radix < 2 {
        return Facts::default();
    }
    let r = f64::from(radix);
    // Factors are loaded, or products of those that are; conjugates cost nothing.
    let multiplied = |powers, made: f64| {
        let loads = exact_powers(radix, powers).len() as f64;
        (loads * 1.5 + (made - loads) * 4.0 + (r - 1.0) * 4.0) / r
    };
    let twiddles = multiplied(Powers::Tree, r - 1.0);
    let largest = factor::factorise(u64::from(radix)).iter().map(|&(p, _)| p as u32).max().unwrap_or(1);
    let codelet = flops(u64::from(radix)) / r;
    let work = codelet + twiddles;
    Facts {
        issue: work + 2.6,
        paired: PAIRED * work + 5.2,
        convolved: codelet + multiplied(Powers::Balanced, (r / 2.0).floor()),
        // A prime codelet holds its sums and differences, and half its outputs until their twins are stored; of long
        // ones none are kept.
        scratch: match largest {
            _ if radix > LONG => KEPT_OF_LONGEST,
            _ if comes_in_twos(radix.into()) => KEPT_OF_TWOS,
            6.. => largest,
            _ => radix * 3 / 4,
        },
    }
}

/// Instructions of a codelet.
fn flops(n: u64) -> f64 {
    let powers = factor::factorise(n);
    match (n, powers.first()) {
        (0 | 1, _) | (_, None) => 0.0,
        (2, _) => 4.0,
        (4, _) => 16.0,
        (_, Some(&(p, 1))) if p == n => instructions_of_prime(p) as f64,
        (_, Some(&(p, e))) => {
            let a = if powers.len() > 1 {
                p.pow(e)
            } else if p == 2 && n > 4 {
                4
            } else {
                p
            };
            let b = n / a;
            let twiddles = if powers.len() > 1 { 0.0 } else { 4.0 * ((a - 1) * (b - 1)) as f64 };
            a as f64 * flops(b) + b as f64 * flops(a) + twiddles
        }
    }
}
