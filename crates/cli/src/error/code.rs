//! Exit codes, as `--help` documents them, and which of them an error has.

use super::CliError;

/// The command line asks for what cannot be.
pub const USAGE: u8 = 2;
/// The input cannot be read or used.
pub const INPUT: u8 = 3;
/// The device is absent, too small or failed.
pub const DEVICE: u8 = 4;
/// The output cannot be written.
pub const OUTPUT: u8 = 5;
/// A comparison found something slower.
pub const SLOWER: u8 = 1;
/// Ended by Ctrl-C, or by the end of the time.
pub const INTERRUPTED: u8 = 130;

impl CliError {
    /// The exit code that tells scripts whose fault it was.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::AxisOutOfRange { .. }
            | Self::AxisRepeated { .. }
            | Self::ComplexInput { .. }
            | Self::NoPairs { .. }
            | Self::LengthCount { .. }
            | Self::ZoomAxes { .. }
            | Self::NoInverse { .. }
            | Self::NoShift { .. }
            | Self::NothingToHalve { .. }
            | Self::NoReals { .. }
            | Self::PlotRank { .. }
            | Self::PlotCount { .. }
            | Self::UnknownLimits { .. }
            | Self::NothingToExplain { .. }
            | Self::SameOutput { .. }
            | Self::OutputEnding { .. }
            | Self::NoSuchRow { .. }
            | Self::ResultsExist { .. }
            | Self::Ranks { .. }
            | Self::NotWithin { .. }
            | Self::OtherDevice { .. } => USAGE,
            // Wisdom that is damaged is input; a file of it that cannot be written is output.
            Self::Device(
                warpfft::Error::Wisdom { .. } | warpfft::Error::WisdomFile { written: false, .. },
            ) => INPUT,
            Self::Device(warpfft::Error::WisdomFile { written: true, .. }) => OUTPUT,
            Self::Slower { .. } => SLOWER,
            Self::Interrupted { .. } | Self::Stopped { .. } => INTERRUPTED,
            Self::Read { .. }
            | Self::Truncated { .. }
            | Self::UnknownFormat { .. }
            | Self::Malformed { .. }
            | Self::Dtype { .. }
            | Self::Empty { .. }
            | Self::Suite { .. }
            | Self::NothingMeasured { .. }
            | Self::NothingToCompare { .. }
            | Self::HostMemory { .. } => INPUT,
            // A shape too large for any machine or too short for its kind, what changes its format in place, and options that
            // do not go together are the command line's mistake, not the device's.
            Self::Core(
                warpfft::core::Error::TooManyElements { .. }
                | warpfft::core::Error::KindLength { .. }
                | warpfft::core::Error::Together { .. }
                | warpfft::core::Error::InPlaceFormats { .. }
                | warpfft::core::Error::Convolution { .. },
            )
            | Self::Device(warpfft::Error::Core(
                warpfft::core::Error::Strategy { .. }
                | warpfft::core::Error::StrategyOnProcessor { .. }
                | warpfft::core::Error::Convolution { .. },
            )) => USAGE,
            Self::WrongResult { .. } | Self::TooSlow { .. } | Self::Device(_) | Self::Core(_) => DEVICE,
            Self::Write { .. } | Self::OutputIsFolder { .. } | Self::Draw { .. } | Self::Stdout(_) => OUTPUT,
        }
    }
}
