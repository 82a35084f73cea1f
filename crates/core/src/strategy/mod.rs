//! Published algorithms by name: each a program in the same kernels as every other, so that they can be taught, checked
//! against and measured again on any device.
//!
//! A [`Problem`] stays what is asked; a [`Strategy`] is one way to do it, beside the planner's own
//! ([`compile`](crate::compile)). A strategy covers what its paper has and refuses the rest by an error that names it.
//!
//! ```
//! use warpfft_core::{Strategy, request::Fft, target::Limits};
//!
//! let problem = Fft::new([1024]).batch(8).build()?;
//! let stockham = Strategy::named("stockham-2")?;
//! let program = stockham.compile(&problem, &Limits::h200())?;
//! assert_eq!(program.launches.len(), 10); // one for each stage
//! # Ok::<(), warpfft_core::Error>(())
//! ```
//!
//! A strategy is one file here, with an implementation of `Algorithm`, and one line in the list `ALL`; those that differ in
//! one thing share a file. Most write kernels; what a paper runs on the processor is a function of one line ([`HostLine`]).
//!
//! One is not from a paper: `looped`, which the planner's own kernels have for a stand-in while they are being assembled
//! ([`stand_in`](crate::program::stand_in)).
//!
//! What strategies share: `packed` (which problems), `draft` (buffers and launches), `code` (kernels over packed complex numbers), `tile` (such
//! numbers in shared memory), `radix_2` (butterflies and stages), `product` and `turns` (sums with a matrix, over all points or
//! a few planes at once), `half_axes` (the other axes of real data), `parameter` (numbers that follow a name), `sine` (factors
//! that a thread computes itself).

mod bluestein_pow2;
mod code;
mod cooley_tukey_iterative;
mod cpu_recursive;
mod draft;
mod fft3_compact;
mod four_step_wrapped;
mod half_axes;
mod host;
mod keskin_3d;
mod locality;
mod looped;
mod matmul;
mod matmul_tensor;
mod mixed_radix_matmul;
mod moves;
mod packed;
mod parameter;
mod product;
mod radix_2;
mod romero;
mod scarpaci;
mod shared_naive;
mod sine;
mod stockham_2;
mod stockham_2_halves;
mod stockham_2_rows;
mod straightforward;
mod tile;
mod transposed;
mod turns;

pub use host::{HostLine, HostReal};
pub use parameter::Parameter;

use crate::error::Error;
use crate::problem::{Growth, Problem};
use crate::program::{self, Program};
use crate::target::Limits;
use draft::Draft;
use packed::Packed;
use parameter::Given;

/// One published algorithm.
trait Algorithm: Sync {
    /// What it is.
    fn facts(&self) -> Facts;

    /// Whether it transforms reals into half spectra and back, and not complex numbers.
    fn takes_reals(&self) -> bool {
        false
    }

    /// Whether it has these lengths, of the data that it takes.
    fn covers(&self, packed: &Packed) -> bool;

    /// Whether it takes the types that memory keeps numbers as: those that are computed in.
    fn keeps(&self, packed: &Packed) -> bool {
        packed.kept_as_computed()
    }

    /// The numbers that it may be given.
    fn parameters(&self) -> &'static [Parameter] {
        &[]
    }

    /// How many times as large as those of fast transforms its errors may be.
    fn errors(&self, _: &Packed) -> f64 {
        1.0
    }

    /// What it does to a line on the processor, where it has no kernels.
    fn line(&self) -> Option<HostLine> {
        None
    }

    /// Writes the launches that compute the problem: of all that have kernels.
    fn write(&self, _: &mut Draft<'_>) -> Result<(), Error> {
        Err(Error::StrategyOnProcessor { name: self.facts().name })
    }
}

/// What is told of an algorithm.
struct Facts {
    name: &'static str,
    source: &'static str,
    about: &'static str,
    covers: &'static str,
}

/// All of them.
const ALL: &[&dyn Algorithm] = &[
    // Romero, Trenas, Gutierrez, Zapata.
    &shared_naive::SharedNaive,
    &straightforward::Straightforward,
    &transposed::Transposed,
    &locality::Locality,
    // Mitra, Srinivasan.
    &matmul::Matmul::Shared,
    &matmul::Matmul::Constant,
    &matmul_tensor::MatmulTensor,
    &mixed_radix_matmul::MixedRadixMatmul,
    &cooley_tukey_iterative::CooleyTukeyIterative,
    // Keskin, Erdil, Kocak.
    &keskin_3d::Keskin3d,
    // Scarpaci.
    &cpu_recursive::CpuRecursive,
    &scarpaci::Rung::Fft1,
    &scarpaci::Rung::Fft2,
    &scarpaci::Rung::Fft3,
    &fft3_compact::Fft3Compact,
    &scarpaci::Rung::Fft4,
    // Lloyd, Boyd, Govindaraju.
    &stockham_2::Stockham2,
    &stockham_2_halves::Stockham2Halves,
    &stockham_2_rows::Stockham2Rows,
    &bluestein_pow2::BluesteinPow2,
    &four_step_wrapped::FourStepWrapped,
    // Own.
    &looped::Looped,
];

/// A published algorithm, selectable by name, with the parameters that it was given.
#[derive(Clone, Copy)]
pub struct Strategy {
    algorithm: &'static dyn Algorithm,
    given: Given,
}

impl Strategy {
    /// All that there are, with nothing given.
    pub fn all() -> impl Iterator<Item = Self> {
        ALL.iter().map(|&algorithm| Self { algorithm, given: Given::default() })
    }

    /// The one of that name, which parameters may follow.
    ///
    /// ```
    /// use warpfft_core::Strategy;
    ///
    /// let strategy = Strategy::named("matmul:elements=4,planes=2")?;
    /// assert_eq!((strategy.name(), strategy.value("planes")), ("matmul", Some(2)));
    /// assert_eq!(strategy.to_string(), "matmul:elements=4,planes=2");
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// There is none; the error lists the names. Or it has no such parameter, or not of that value:
    /// [`Error::StrategyParameter`].
    pub fn named(name: &str) -> Result<Self, Error> {
        let (own, given) = name.split_once(':').map_or((name, None), |(own, given)| (own, Some(given)));
        let found = Self::all().find(|strategy| strategy.name() == own).ok_or_else(|| {
            let known = Self::all().map(|strategy| strategy.name()).collect();
            Error::UnknownStrategy { given: own.into(), known }
        })?;
        let given = given.map(|given| Given::parsed(found.algorithm, given)).transpose()?;
        Ok(Self { given: given.unwrap_or_default(), ..found })
    }

    /// The numbers that it may be given.
    pub fn parameters(&self) -> &'static [Parameter] {
        self.algorithm.parameters()
    }

    /// What it was given of a parameter; `None` where it chooses.
    pub fn value(&self, parameter: &str) -> Option<u32> {
        self.given.get(self.parameters().iter().position(|own| own.name == parameter)?)
    }

    /// The same with that value of a parameter.
    ///
    /// # Errors
    ///
    /// It has no such parameter, or not of that value.
    pub fn with(self, parameter: &str, value: u32) -> Result<Self, Error> {
        Ok(Self { given: self.given.with(self.algorithm, parameter, value)?, ..self })
    }

    /// Its name, without parameters.
    pub fn name(&self) -> &'static str {
        self.algorithm.facts().name
    }

    /// Where it was published: title, authors, year.
    pub fn source(&self) -> &'static str {
        self.algorithm.facts().source
    }

    /// What it does, in a sentence.
    pub fn about(&self) -> &'static str {
        self.algorithm.facts().about
    }

    /// The problems that it covers, of complex numbers, or where it says so of real data: interleaved, packed row by row,
    /// one transform after the other, in f32 or f64, some also of numbers that memory keeps as another type, in either direction,
    /// with a scale, in place and out of place.
    pub fn covers(&self) -> &'static str {
        self.algorithm.facts().covers
    }

    /// Whether it transforms real data, into half spectra and back, and not complex numbers.
    ///
    /// ```
    /// use warpfft_core::{Strategy, request::Fft, target::Limits};
    ///
    /// let two_rows = Strategy::named("stockham-2-rows")?;
    /// assert!(two_rows.takes_reals());
    /// let problem = Fft::new([1024]).batch(7).r2c().build()?;
    /// let program = two_rows.compile(&problem, &Limits::h200())?;
    /// assert_eq!(program.launches.len(), 11); // a launch for each stage, and one that tells two rows apart
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    pub fn takes_reals(&self) -> bool {
        self.algorithm.takes_reals()
    }

    /// How its errors grow, for [`Problem::error_bound_by`]: plain sums and convolutions round more often than the fast
    /// transforms that [`Problem::error_bound`] is for.
    pub fn growth(&self, problem: &Problem) -> Growth {
        Growth::KERNELS.times(Packed::of(problem).map_or(1.0, |packed| self.algorithm.errors(&packed)))
    }

    /// Whether it is a program for the processor, and has no kernels.
    pub fn is_on_processor(&self) -> bool {
        self.algorithm.line().is_some()
    }

    /// What it does to each line of a problem on the processor; `None` where it has kernels ([`Strategy::compile`]).
    ///
    /// # Errors
    ///
    /// [`Error::Strategy`] for what it does not cover.
    pub fn line(&self, problem: &Problem) -> Result<Option<HostLine>, Error> {
        let line = self.algorithm.line();
        if line.is_some() {
            self.packed(problem)?;
        }
        Ok(line)
    }

    /// The lengths of a problem that it covers.
    fn packed(&self, problem: &Problem) -> Result<Packed, Error> {
        let refused = |asked| Error::Strategy { name: self.name(), asked, covers: self.covers() };
        let packed = Packed::of(problem).map_err(refused)?;
        if packed.is_real() != self.takes_reals() {
            let [asked, taken] = if packed.is_real() { ["real", "complex"] } else { ["complex", "real"] };
            return Err(refused(format!("transforms of {asked} data (it takes {taken} data)")));
        }
        if !self.algorithm.keeps(&packed) {
            let [input, output] = packed.stored;
            return Err(refused(format!(
                "numbers kept as {input} and {output} that it computes in {}",
                packed.precision
            )));
        }
        if self.algorithm.covers(&packed) { Ok(packed) } else { Err(refused(packed.to_string())) }
    }

    /// The program by which it computes a problem on a device with kernels.
    ///
    /// # Errors
    ///
    /// [`Error::Strategy`] for what it does not cover, [`Error::StrategyOnProcessor`] where it has no kernels
    /// ([`Strategy::line`]), [`Error::DeviceTooSmall`] for what the device does not hold, and those of
    /// [`compile`](crate::compile).
    ///
    /// # Examples
    ///
    /// ```
    /// use warpfft_core::{Error, Strategy, request::Fft, target::Limits};
    ///
    /// let problem = Fft::new([1000]).build()?;
    /// let refused = Strategy::named("stockham-2")?.compile(&problem, &Limits::h200());
    /// assert!(matches!(refused, Err(Error::Strategy { name: "stockham-2", .. })));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn compile(&self, problem: &Problem, limits: &Limits) -> Result<Program, Error> {
        let packed = self.packed(problem)?;
        if self.is_on_processor() {
            return Err(Error::StrategyOnProcessor { name: self.name() });
        }
        program::check(problem, limits)?;
        let mut draft = Draft::new(problem, packed, self.given, limits)?;
        self.algorithm.write(&mut draft)?;
        draft.finish()
    }
}

impl PartialEq for Strategy {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.given == other.given
    }
}

impl Eq for Strategy {}

impl std::fmt::Debug for Strategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Strategy({self})")
    }
}

impl std::fmt::Display for Strategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::from(self.name());
        self.given.write(self.algorithm, &mut text)?;
        f.pad(&text)
    }
}

impl std::str::FromStr for Strategy {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::named(name)
    }
}
