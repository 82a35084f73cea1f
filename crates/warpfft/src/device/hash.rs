//! Names for content: of kernels' texts, tables and records.

/// A hash of content, the same in every run and on every machine. Not for content that someone would forge.
pub(crate) fn hash(content: &[u8]) -> u128 {
    // The multiplication of FNV-1a in 128 bits, 8 bytes a step, with the high half folded down so that all of
    // the state takes part.
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    let step = |state: u128, word: u64| {
        let mixed = (state ^ u128::from(word)).wrapping_mul(PRIME);
        mixed ^ (mixed >> 67)
    };
    let mut words = content.chunks_exact(8);
    let mut state = step(BASIS, content.len() as u64);
    for word in &mut words {
        state = step(state, u64::from_le_bytes(word.try_into().unwrap_or_default()));
    }
    let mut last = [0; 8];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    step(step(state, u64::from_le_bytes(last)), 0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_tell_texts_apart() {
        let mut seen = std::collections::HashSet::new();
        for length in 0..40 {
            for bit in 0..8 * length {
                let mut text = vec![0_u8; length];
                text[bit / 8] |= 1 << (bit % 8);
                assert!(seen.insert(hash(&text)));
            }
            assert!(seen.insert(hash(&vec![0; length])));
        }
    }
}
