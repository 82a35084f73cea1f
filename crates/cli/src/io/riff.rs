//! The beginning of a recording, as the library that reads the samples takes it: without the chunks that it need not see, of
//! which it does not know that odd ones are followed by a byte, and with samples as wide as what they are kept in.

use std::io::{self, Read};

use super::Source;
use crate::error::CliError;

const INTEGERS: u16 = 1;
const EXTENSIBLE: u16 = 0xfffe;
/// Where an extensible format says how many bits of a sample count, and which format it is.
const VALID_BITS: usize = 18;
const SUBFORMAT: usize = 24;
/// Bytes of a format at least, and more than any has.
const FORMAT_BYTES: std::ops::Range<u32> = 16..1 << 16;

/// Reads up to the samples; `start` are the first twelve bytes.
pub fn head(source: &mut Source<'_>, start: &[u8]) -> Result<Vec<u8>, CliError> {
    let mut head = start.to_vec();
    // Files that begin with RIFX have their numbers the other way round.
    if !start.starts_with(b"RIFF") {
        return Ok(head);
    }
    loop {
        let mut chunk = [0; 8];
        let read = source.fill(&mut chunk)?;
        let length = u32::from_le_bytes([chunk[4], chunk[5], chunk[6], chunk[7]]);
        let is_format = chunk.starts_with(b"fmt ");
        // What is damaged is the library's to refuse.
        if read < chunk.len() || chunk.starts_with(b"data") || (is_format && !FORMAT_BYTES.contains(&length))
        {
            head.extend_from_slice(&chunk[..read]);
            return Ok(head);
        }
        let pad = u64::from(length % 2);
        if is_format {
            let mut format = vec![0; length as usize];
            let read = source.fill(&mut format)?;
            format.truncate(read);
            widen(&mut format);
            head.extend_from_slice(&chunk);
            head.append(&mut format);
            skip(source, pad)?;
            head.resize(head.len() + pad as usize, 0);
        } else {
            skip(source, u64::from(length) + pad)?;
        }
    }
}

fn skip(source: &mut Source<'_>, bytes: u64) -> Result<(), CliError> {
    let skipped = io::copy(&mut source.reader.by_ref().take(bytes), &mut io::sink());
    skipped.map(drop).map_err(|error| source.failed(error))
}

/// Of 24 bits in 32 the upper ones are the sample, so what is kept is a sample of 32 bits: Microsoft's "Multiple Channel Audio
/// Data and WAVE Files", under wValidBitsPerSample.
fn widen(format: &mut [u8]) {
    let at = |place: usize| format.get(place..place + 2).map(|own| u16::from_le_bytes([own[0], own[1]]));
    let [Some(tag), Some(channels), Some(align)] = [0, 2, 12].map(at) else { return };
    let integers = tag == INTEGERS || (tag == EXTENSIBLE && at(SUBFORMAT) == Some(INTEGERS));
    if !integers || channels == 0 || align % channels != 0 {
        return;
    }
    let bits @ (8 | 16 | 24 | 32) = u32::from(align / channels) * 8 else { return };
    let places: &[usize] = if tag == EXTENSIBLE { &[14, VALID_BITS] } else { &[14] };
    for &place in places {
        if let Some(own) = format.get_mut(place..place + 2) {
            own.copy_from_slice(&(bits as u16).to_le_bytes());
        }
    }
}
