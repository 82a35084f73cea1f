//! Prime factors and arithmetic modulo n, for every length that fits in a `u64`.
//!
//! ```
//! use warpfft_core::math::factor::{factorise, smooth_at_least};
//! assert_eq!(factorise(360), vec![(2, 3), (3, 2), (5, 1)]);
//! assert_eq!(smooth_at_least(2 * 1009 - 1, &[2, 3, 5, 7]), Some(2025));
//! ```

/// Trial division goes this far before Pollard's rho takes over.
const TRIAL_LIMIT: u64 = 1 << 10;

/// The first twelve primes as bases make Miller and Rabin's test exact below 3.3e24 (Sorenson and Webster, 2015).
const WITNESSES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

/// Greatest common divisor; `gcd(0, n) = n`.
pub const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// `a * b mod m`, for any `m >= 1`.
pub const fn mod_mul(a: u64, b: u64, m: u64) -> u64 {
    ((a as u128 * b as u128) % m as u128) as u64
}

/// `base^exponent mod m`, for any `m >= 1`.
pub const fn mod_pow(base: u64, mut exponent: u64, m: u64) -> u64 {
    let mut power = base % m;
    let mut result = 1 % m;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = mod_mul(result, power, m);
        }
        power = mod_mul(power, power, m);
        exponent >>= 1;
    }
    result
}

/// The number `x` in `0..m` with `a * x = 1 mod m`; `None` where `a` and `m` share a factor or `m` is 0.
pub fn mod_inverse(a: u64, m: u64) -> Option<u64> {
    if m == 0 {
        return None;
    }
    // Euclid's algorithm keeps r = a * x mod m; the x stay below m in size, so i128 holds them.
    let (mut r0, mut r1) = (i128::from(m), i128::from(a % m));
    let (mut x0, mut x1) = (0i128, 1i128);
    while r1 != 0 {
        let q = r0 / r1;
        (r0, r1) = (r1, r0 - q * r1);
        (x0, x1) = (x1, x0 - q * x1);
    }
    (r0 == 1).then(|| x0.rem_euclid(i128::from(m)) as u64)
}

/// Whether `n` is prime; exact for every `u64`.
pub fn is_prime(n: u64) -> bool {
    if n < 2 {
        return false;
    }
    for p in WITNESSES {
        if n.is_multiple_of(p) {
            return n == p;
        }
    }
    let twos = (n - 1).trailing_zeros();
    let odd = (n - 1) >> twos;
    WITNESSES.iter().all(|&base| passes_miller_rabin(n, base, odd, twos))
}

fn passes_miller_rabin(n: u64, base: u64, odd: u64, twos: u32) -> bool {
    let mut x = mod_pow(base, odd, n);
    if x == 1 || x == n - 1 {
        return true;
    }
    for _ in 1..twos {
        x = mod_mul(x, x, n);
        if x == n - 1 {
            return true;
        }
    }
    false
}

/// Prime factors of `n` with their exponents, by rising prime. Empty for 0 and 1.
pub fn factorise(n: u64) -> Vec<(u64, u32)> {
    let mut primes = prime_factors(n);
    primes.sort_unstable();
    let mut factors: Vec<(u64, u32)> = Vec::new();
    for p in primes {
        match factors.last_mut() {
            Some((last, exponent)) if *last == p => *exponent += 1,
            _ => factors.push((p, 1)),
        }
    }
    factors
}

/// Prime factors with repetition, in no order.
fn prime_factors(mut n: u64) -> Vec<u64> {
    let mut primes = Vec::new();
    if n < 2 {
        return primes;
    }
    let mut p = 2;
    while p < TRIAL_LIMIT && p * p <= n {
        while n.is_multiple_of(p) {
            primes.push(p);
            n /= p;
        }
        p += if p == 2 { 1 } else { 2 };
    }
    let mut composites = vec![n];
    while let Some(m) = composites.pop() {
        if m < 2 {
            continue;
        }
        if is_prime(m) {
            primes.push(m);
            continue;
        }
        let d = proper_divisor(m);
        composites.extend([d, m / d]);
    }
    primes
}

/// A divisor of an odd composite other than 1 and itself: Pollard's rho, one polynomial after another until one
/// succeeds.
fn proper_divisor(n: u64) -> u64 {
    let root = n.isqrt();
    if root * root == n {
        return root;
    }
    let mut constant = 1;
    loop {
        if let Some(d) = rho(n, constant) {
            return d;
        }
        constant += 1;
    }
}

/// One run of Pollard's rho with x -> x^2 + c. Differences are multiplied together and tested in groups, as a gcd
/// costs far more than a product; a group that swallows both factors at once is walked again in single steps.
fn rho(n: u64, c: u64) -> Option<u64> {
    const GROUP: u32 = 128;
    let step = |x: u64| ((u128::from(x) * u128::from(x) + u128::from(c)) % u128::from(n)) as u64;
    let (mut slow, mut fast) = (2, 2);
    loop {
        let (start_slow, start_fast) = (slow, fast);
        let mut product = 1;
        for _ in 0..GROUP {
            slow = step(slow);
            fast = step(step(fast));
            product = mod_mul(product, slow.abs_diff(fast), n);
        }
        match gcd(product, n) {
            1 => {}
            d if d < n => return Some(d),
            _ => {
                (slow, fast) = (start_slow, start_fast);
                loop {
                    slow = step(slow);
                    fast = step(step(fast));
                    match gcd(slow.abs_diff(fast), n) {
                        1 => {}
                        d => return (d < n).then_some(d),
                    }
                }
            }
        }
    }
}

/// All divisors of `n`, rising. Empty for 0.
pub fn divisors(n: u64) -> Vec<u64> {
    if n == 0 {
        return Vec::new();
    }
    let mut all = vec![1];
    for (p, exponent) in factorise(n) {
        let known = all.len();
        let mut power = 1;
        for _ in 0..exponent {
            power *= p;
            all.extend_from_within(..known);
            let fresh = all.len() - known;
            all[fresh..].iter_mut().for_each(|d| *d *= power);
        }
    }
    all.sort_unstable();
    all
}

/// The smallest generator of the multiplicative group modulo a prime; `None` where `p` is not prime.
pub fn primitive_root(p: u64) -> Option<u64> {
    if !is_prime(p) {
        return None;
    }
    if p == 2 {
        return Some(1);
    }
    let factors = factorise(p - 1);
    (2..p).find(|&g| factors.iter().all(|&(q, _)| mod_pow(g, (p - 1) / q, p) != 1))
}

/// The smallest number of at least `n` whose prime factors all lie in `primes`; `None` where no such number fits
/// in a `u64`. Entries below 2 are ignored.
pub fn smooth_at_least(n: u64, primes: &[u64]) -> Option<u64> {
    let mut list: Vec<u64> = primes.iter().copied().filter(|&p| p >= 2).collect();
    // Large primes first: the last, smallest one closes the remaining gap without a search.
    list.sort_unstable_by(|a, b| b.cmp(a));
    list.dedup();
    let mut best = None;
    search_smooth(1, n, &list, &mut best);
    best
}

fn search_smooth(product: u64, n: u64, primes: &[u64], best: &mut Option<u64>) {
    if best.is_some_and(|b| product >= b) {
        return;
    }
    if product >= n {
        *best = Some(product);
        return;
    }
    let Some((&p, rest)) = primes.split_first() else { return };
    let mut power = Some(product);
    while let Some(value) = power {
        search_smooth(value, n, rest, best);
        if value >= n {
            return;
        }
        power = value.checked_mul(p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn knows_the_primes_below_ten_thousand() {
        let mut composite = vec![false; 10_000];
        for n in 2..10_000usize {
            (2 * n..10_000).step_by(n).for_each(|m| composite[m] = true);
            assert_eq!(is_prime(n as u64), !composite[n], "{n}");
        }
        assert!(!is_prime(0) && !is_prime(1));
    }

    #[test]
    fn handles_the_largest_and_the_hardest() {
        assert!(is_prime(u64::MAX - 58));
        // A strong pseudoprime to the first nine prime bases, and a square of a large prime.
        assert!(!is_prime(3_825_123_056_546_413_051));
        assert_eq!(factorise(4_294_967_291 * 4_294_967_291), vec![(4_294_967_291, 2)]);
        assert_eq!(factorise(4_294_967_291 * 4_294_967_279), vec![(4_294_967_279, 1), (4_294_967_291, 1)]);
        assert_eq!(factorise(1031 * 1031 * 1031), vec![(1031, 3)]);
        assert_eq!(factorise(0), vec![]);
        assert_eq!(factorise(1), vec![]);
    }

    #[test]
    fn primitive_roots_generate_the_group() {
        for p in (2..600).filter(|&p| is_prime(p)) {
            let g = primitive_root(p).unwrap();
            let mut seen = vec![false; p as usize];
            (0..p - 1).for_each(|e| seen[mod_pow(g, e, p) as usize] = true);
            assert!(seen[1..].iter().all(|&s| s), "{g} mod {p}");
        }
        assert_eq!(primitive_root(15), None);
        assert_eq!(primitive_root(65537), Some(3));
    }

    #[test]
    fn smooth_numbers_match_a_search() {
        let smooth = |n: u64, list: &[u64]| factorise(n).iter().all(|(p, _)| list.contains(p));
        for list in [&[2][..], &[2, 3], &[7, 3, 2, 5], &[3, 5], &[11]] {
            let mut want = None;
            for n in (1..20_000).rev() {
                want = if smooth(n, list) { Some(n) } else { want };
                // Above the largest in reach the search knows nothing.
                if want.is_some() {
                    assert_eq!(smooth_at_least(n, list), want, "{n} {list:?}");
                }
            }
        }
        assert_eq!(smooth_at_least(0, &[2]), Some(1));
        assert_eq!(smooth_at_least(2, &[]), None);
        assert_eq!(smooth_at_least(2, &[0, 1]), None);
        assert_eq!(smooth_at_least((1 << 63) + 1, &[2]), None);
        assert!(smooth_at_least(u64::MAX - 5_000_000, &[2, 3, 5, 7, 11, 13]).is_none_or(|m| m > 1 << 63));
    }

    #[test]
    fn divisors_match_a_search() {
        for n in 1..500u64 {
            assert_eq!(divisors(n), (1..=n).filter(|&d| n.is_multiple_of(d)).collect::<Vec<_>>());
        }
    }

    proptest! {
        #[test]
        fn factors_multiply_back(n in 1u64..) {
            let factors = factorise(n);
            prop_assert!(factors.iter().all(|&(p, _)| is_prime(p)));
            prop_assert_eq!(factors.iter().map(|&(p, e)| p.pow(e)).product::<u64>(), n);
        }

        #[test]
        fn inverses_invert(a: u64, m in 1u64..) {
            match mod_inverse(a, m) {
                Some(x) => prop_assert!(x < m && mod_mul(a % m, x, m) == 1 % m),
                None => prop_assert!(gcd(a, m) != 1),
            }
        }
    }
}
