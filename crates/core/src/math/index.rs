//! Index maps that turn a transform of one length into transforms of others without twiddles: coprime parts by
//! Good and Thomas, primes by Rader.

use super::factor;

/// Discrete logarithms to a prime's smallest primitive root g: entry j of the first is q with `g^q = j` (entry 0
/// unused), entry q of the second is `g^q`.
///
/// # Panics
///
/// Where `p` is not prime.
pub fn logarithms(p: u64) -> (Vec<u64>, Vec<u64>) {
    let root = factor::primitive_root(p).expect("only primes are asked for");
    let mut logs = vec![0; p as usize];
    let mut powers = Vec::with_capacity(p as usize - 1);
    let mut power = 1;
    for q in 0..p - 1 {
        logs[power as usize] = q;
        powers.push(power);
        power = power * root % p;
    }
    (logs, powers)
}

/// Good's input map (Ruritanian): index n of N, as seen by the part of length `m`, is `n (N/m)^-1 mod m`.
///
/// # Panics
///
/// Where `m` and `n / m` share a factor.
pub fn coprime_inverse(n: u64, m: u64) -> u64 {
    if m == 1 || m == n {
        return 1;
    }
    factor::mod_inverse(n / m % m, m).expect("the parts are coprime")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_undo_powers() {
        for p in [3, 5, 37, 1009, 8191] {
            let (logs, powers) = logarithms(p);
            assert_eq!(powers.len() as u64, p - 1);
            let mut seen = powers.clone();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(1..p), "{p}");
            assert!((0..p - 1).all(|q| logs[powers[q as usize] as usize] == q), "{p}");
        }
    }

    #[test]
    fn every_index_has_its_own_coordinates() {
        for parts in [vec![4_u64, 9], vec![11, 37], vec![2, 3, 35]] {
            let n: u64 = parts.iter().product();
            let inverses: Vec<u64> = parts.iter().map(|&m| coprime_inverse(n, m)).collect();
            for index in 0..n {
                let sum: u64 = parts.iter().zip(&inverses).map(|(&m, &inv)| n / m * (index * inv % m)).sum();
                assert_eq!(sum % n, index, "{parts:?}");
            }
        }
    }
}
