//! What several commands take.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use warpfft::core::problem::{Precision, Storage};
use warpfft::core::request::Norm;
use warpfft::core::strategy::Parameter;
use warpfft::{DeviceKind, Strategy};

use crate::packed::Kind;

/// Where to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DeviceArg {
    /// CUDA if there is one, else another GPU, else the processor
    Auto,
    /// An NVIDIA GPU, through its driver
    Cuda,
    /// A GPU through Vulkan, Metal or DX12
    Wgpu,
    /// A GPU or a processor through OpenCL
    #[value(name = "opencl")]
    OpenCl,
    /// The processor
    Cpu,
    /// The simulator: runs and checks a GPU's kernels, slowly
    Sim,
}

impl DeviceArg {
    /// The library's name for it.
    pub const fn kind(self) -> DeviceKind {
        match self {
            Self::Auto => DeviceKind::Auto,
            Self::Cuda => DeviceKind::Cuda,
            Self::Wgpu => DeviceKind::Wgpu,
            Self::OpenCl => DeviceKind::OpenCl,
            Self::Cpu => DeviceKind::Cpu,
            Self::Sim => DeviceKind::Sim,
        }
    }
}

/// Width of the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PrecisionArg {
    /// Single: complex64, float32
    F32,
    /// Double: complex128, float64
    F64,
    /// About 48 bits from pairs of singles, on devices without doubles too: complex128, float64
    DoubleSingle,
}

impl PrecisionArg {
    /// The library's name for it.
    pub const fn precision(self) -> Precision {
        match self {
            Self::F32 => Precision::F32,
            Self::F64 => Precision::F64,
            Self::DoubleSingle => Precision::DoubleSingle,
        }
    }
}

/// How numbers are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StorageArg {
    /// Half: float16
    F16,
    /// bfloat16
    Bf16,
    /// Single: complex64, float32
    F32,
    /// Double: complex128, float64
    F64,
}

impl StorageArg {
    /// The library's name for it.
    pub const fn storage(self) -> Storage {
        match self {
            Self::F16 => Storage::F16,
            Self::Bf16 => Storage::Bf16,
            Self::F32 => Storage::F32,
            Self::F64 => Storage::F64,
        }
    }
}

/// Which transforms, how many, and how precise: for commands that make up their data.
#[derive(Debug, Clone, Copy, Args)]
pub struct BatchArgs {
    /// What is transformed into what
    #[arg(long, value_enum, default_value_t)]
    pub kind: Kind,

    /// Transforms in one call
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub batch: u64,

    /// Width of the numbers as they are computed in
    #[arg(long, value_enum, default_value_t = PrecisionArg::F32)]
    pub precision: PrecisionArg,

    /// How input and output keep the numbers, if not as they are computed in
    #[arg(long, value_enum)]
    pub storage: Option<StorageArg>,
}

/// Which direction carries the factor 1/n, as in numpy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NormArg {
    /// The inverse is divided by n
    Backward,
    /// Both are divided by the square root of n
    Ortho,
    /// The forward transform is divided by n
    Forward,
}

impl NormArg {
    /// The library's name for it.
    pub const fn norm(self) -> Norm {
        match self {
            Self::Backward => Norm::Backward,
            Self::Ortho => Norm::Ortho,
            Self::Forward => Norm::Forward,
        }
    }
}

/// The lower-case name of an option's value.
pub fn name_of(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Bytes as in `0`, `4096`, `64MiB` or `1GB`.
pub fn size(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 9] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("kB", 1000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("B", 1),
    ];
    let ends = |unit: &str| text.len() > unit.len() && text.to_lowercase().ends_with(&unit.to_lowercase());
    let (unit, factor) = UNITS.into_iter().find(|(unit, _)| ends(unit)).unwrap_or(("", 1));
    let number = text.get(..text.len() - unit.len()).and_then(|number| number.trim_end().parse::<u64>().ok());
    let bytes = number.and_then(|number| number.checked_mul(factor));
    bytes.ok_or_else(|| format!("'{text}' is no size; write a number of bytes, or one like 64MiB or 2GB"))
}

/// A published algorithm by its name, which parameters may follow; help lists them with their sources.
pub fn strategy() -> impl TypedValueParser<Value = Strategy> {
    StrategyParser
}

#[derive(Clone)]
struct StrategyParser;

impl StrategyParser {
    fn names() -> impl Iterator<Item = PossibleValue> {
        Strategy::all().map(|strategy| {
            let range =
                |own: &Parameter| format!("; {}={}..{}: {}", own.name, own.least, own.most, own.about);
            let ranges: String = strategy.parameters().iter().map(range).collect();
            let (about, source, covers) = (strategy.about(), strategy.source(), strategy.covers());
            PossibleValue::new(strategy.name()).help(format!("{about} [{source}; {covers}{ranges}]"))
        })
    }
}

impl TypedValueParser for StrategyParser {
    type Value = Strategy;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Strategy, clap::Error> {
        // What comes before the parameters is one of the names, and refused as such.
        let text = value.to_string_lossy();
        let name = text.split(':').next().unwrap_or_default();
        PossibleValuesParser::new(Self::names()).parse_ref(command, arg, OsStr::new(name))?;
        let given = |text: String| Strategy::named(&text);
        StringValueParser::new().try_map(given).parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Self::names()))
    }
}

/// Extents as in `1024`, `512x512` or `64x64x64`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shape(pub Vec<u64>);

impl std::str::FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let extents: Result<Vec<u64>, _> = text.split(['x', 'X']).map(str::parse).collect();
        let extents = extents.map_err(|_| {
            format!("'{text}' is no shape; write lengths with x between, like 1024 or 512x512")
        })?;
        if let Some(axis) = extents.iter().position(|&extent| extent == 0) {
            return Err(format!("axis {axis} of '{text}' has length 0; every length must be at least 1"));
        }
        // 16 bytes each, and a signed number must be able to count them.
        let bytes =
            extents.iter().try_fold(16_i64, |bytes, &extent| bytes.checked_mul(i64::try_from(extent).ok()?));
        match bytes {
            Some(_) => Ok(Self(extents)),
            None => Err(format!("'{text}' has more points than 64 bits can count the bytes of")),
        }
    }
}

impl TryFrom<String> for Shape {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Shape> for String {
    fn from(shape: Shape) -> Self {
        shape.to_string()
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let extents: Vec<String> = self.0.iter().map(u64::to_string).collect();
        f.write_str(&extents.join("x"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        assert_eq!("1024".parse(), Ok(Shape(vec![1024])));
        assert_eq!("64x3X5".parse(), Ok(Shape(vec![64, 3, 5])));
        for text in ["", "x", "3x", "3x0", "-1", "4294967296x4294967296", "99999999999999999999"] {
            assert!(text.parse::<Shape>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes() {
        let known = [
            ("0", 0),
            ("4096", 4096),
            ("1B", 1),
            ("64MiB", 64 << 20),
            ("64 mib", 64 << 20),
            ("2GB", 2_000_000_000),
        ];
        for (text, bytes) in known {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "MiB", "-1", "1.5GiB", "64 M", "99999999TiB", "B", "é"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
