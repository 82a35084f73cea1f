//! `--zoom`: a band of frequencies, as the command line spells it.

use std::str::FromStr;

use warpfft::core::problem::FREQUENCY_LIMIT;
use warpfft::core::request::Fft;

/// Frequencies at most along one line.
const MOST: u64 = 1 << 31;

/// `FROM:TO:POINTS`, frequencies in cycles per sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ZoomArg {
    /// The first frequency.
    pub from: f64,
    /// Where the band ends.
    pub to: f64,
    /// Frequencies.
    pub points: u64,
}

impl FromStr for ZoomArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(':').collect();
        let [from, to, points] = parts[..] else {
            return Err("FROM:TO:POINTS is wanted, such as 0.1:0.125:500".into());
        };
        let frequency = |text: &str| {
            let number =
                text.trim().parse::<f64>().ok().filter(|frequency| frequency.abs() <= FREQUENCY_LIMIT);
            number.ok_or_else(|| {
                format!("'{text}' is no frequency in cycles per sample, up to {FREQUENCY_LIMIT}, such as 0.1")
            })
        };
        let points = points.trim().parse().ok().filter(|points| (1..=MOST).contains(points));
        Ok(Self {
            from: frequency(from)?,
            to: frequency(to)?,
            points: points.ok_or_else(|| {
                format!("'{}' is no number of frequencies from 1 to {MOST}, such as 500", parts[2])
            })?,
        })
    }
}

impl ZoomArg {
    /// Makes a request one for this band, of reals or of complex numbers.
    pub fn ask(self, fft: Fft, endpoint: bool, reals: bool) -> Fft {
        let fft = fft.zoom(self.from, self.to, self.points);
        let fft = if reals { fft.of_reals() } else { fft };
        if endpoint { fft.endpoint() } else { fft }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_two_frequencies_and_a_number() {
        assert_eq!("0.1:-0.2:5".parse(), Ok(ZoomArg { from: 0.1, to: -0.2, points: 5 }));
        for wrong in ["", "0.1:0.2", "0.1:0.2:0", "0.1:0.2:x", "a:0.2:3", "0:inf:3", "0:1:2:3"] {
            assert!(wrong.parse::<ZoomArg>().is_err(), "{wrong}");
        }
    }
}
