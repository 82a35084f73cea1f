//! Transforms in two calls, the first of which says all that stays and the second what changes: an interface in the shape of
//! D. B. Lloyd, C. Boyd, N. Govindaraju, *Fast computation of general Fourier transforms on GPUs*, 2008, and of the same
//! authors' United States patent 9342486.
//!
//! [`Configure`] takes the data's size, the formats of the spatial and of the frequency domain, the rows and channels of the
//! arrays that they lie in, and a mask of the dimensions to transform. On a device it becomes a [`Configured`], with a
//! [`Plan`] for each direction. [`Compute`] takes an inverse flag, where in its array each domain's rectangle begins, and
//! which channel.
//!
//! ```
//! use warpfft::configured::{Compute, Configure};
//! use warpfft::core::problem::Format;
//! use warpfft::{Complex, Device};
//!
//! // The green channel of a rectangle of 4 x 8 pixels in a picture 12 wide; its frequencies by themselves.
//! let green = Configure::new([4, 8])
//!     .formats(Format::Real, Format::Interleaved)
//!     .spatial_rows(12)
//!     .spatial_channels(3)
//!     .on::<f32>(&Device::cpu())?;
//! let there = Compute::forward().spatial_origin(&[2, 3]).spatial_channel(1);
//!
//! let mut picture = vec![1.0_f32; 10 * 12 * 3];
//! let mut frequencies = vec![Complex::default(); 4 * 5];
//! green.compute(&there, &picture, &mut frequencies)?;
//! assert_eq!(frequencies[0], Complex::new(32.0, 0.0));
//!
//! frequencies[0] = Complex::new(64.0, 0.0);
//! green.compute(&there.inverted(), &frequencies, &mut picture)?;
//! assert_eq!(picture[(2 * 12 + 3) * 3..][..3], [1.0, 2.0, 1.0]);
//! # Ok::<(), warpfft::Error>(())
//! ```
//!
//! # What differs from the paper's interface
//!
//! Its caller hands over temporary buffers. So does that of `Configured::enqueue_cuda`, for arrays in the device's memory;
//! runs on host arrays take theirs from the device, so none are asked for. [`Configured::temporary_bytes`] says how much it
//! is, and [`Configure::max_temporary_bytes`] caps it. For other devices' memory there is [`Configured::plan`], which the
//! calls for that device take.
//! The text of the paper was not at hand; which parameters stand in which call follows a description of it.

mod compute;
#[cfg(feature = "cuda")]
mod cuda;
mod error;
mod layout;

use std::marker::PhantomData;

use warpfft_core::problem::{Direction, Format, Problem, half};
use warpfft_core::request::{Fft, Norm};

pub use compute::Compute;
pub use error::ConfigureError;

use crate::device::Device;
use crate::error::Error;
use crate::host::{Planes, PlanesMut, Real};
use crate::plan::Plan;
use layout::Layout;

/// One of the two domains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Domain {
    /// Places or times.
    Spatial,
    /// Frequencies.
    Frequency,
}

impl std::fmt::Display for Domain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Spatial => "spatial",
            Self::Frequency => "frequency",
        })
    }
}

/// What stays from one transform to the next.
///
/// Without more, data of complex numbers, interleaved and packed, all of whose dimensions are transformed; the inverse is
/// divided by the number of points.
#[derive(Debug, Clone)]
#[must_use]
pub struct Configure {
    size: Vec<u64>,
    formats: [Format; 2],
    /// What the rectangle lies in: all extents, or those of the rows alone.
    within: [Option<Vec<u64>>; 2],
    channels: [u64; 2],
    mask: Option<u64>,
    norm: Norm,
    max_temporary: Option<u64>,
}

impl Configure {
    /// Data of that size in the spatial domain, the fastest dimension last.
    pub fn new(size: impl Into<Vec<u64>>) -> Self {
        Self {
            size: size.into(),
            formats: [Format::Interleaved; 2],
            within: [None, None],
            channels: [1, 1],
            mask: None,
            norm: Norm::Backward,
            max_temporary: None,
        }
    }

    /// How spatial data and frequencies lie in memory. Of real spatial data ([`Format::Real`]) the frequencies are the half
    /// that says it all: `n / 2 + 1` along the last dimension that is transformed.
    pub fn formats(mut self, spatial: Format, frequency: Format) -> Self {
        self.formats = [spatial, frequency];
        self
    }

    /// Points from one row to the next of the array that spatial data lie in.
    pub fn spatial_rows(mut self, width: u64) -> Self {
        self.within[0] = Some(vec![width]);
        self
    }

    /// The same of the array that frequencies lie in.
    pub fn frequency_rows(mut self, width: u64) -> Self {
        self.within[1] = Some(vec![width]);
        self
    }

    /// All extents of the array that spatial data lie in: of a volume, rows of a plane too. The last are the points of a row.
    pub fn spatial_within(mut self, extents: &[u64]) -> Self {
        self.within[0] = Some(extents.to_vec());
        self
    }

    /// The same of the array that frequencies lie in.
    pub fn frequency_within(mut self, extents: &[u64]) -> Self {
        self.within[1] = Some(extents.to_vec());
        self
    }

    /// Channels of spatial data, side by side at each point; a transform is of one of them.
    pub fn spatial_channels(mut self, channels: u64) -> Self {
        self.channels[0] = channels;
        self
    }

    /// The same of frequencies.
    pub fn frequency_channels(mut self, channels: u64) -> Self {
        self.channels[1] = channels;
        self
    }

    /// The dimensions to transform: bit 0 is the first of the size. Over the others the transform is repeated.
    pub fn dimensions(mut self, mask: u64) -> Self {
        self.mask = Some(mask);
        self
    }

    /// Which direction is divided by the number of points.
    pub fn norm(mut self, norm: Norm) -> Self {
        self.norm = norm;
        self
    }

    /// Bytes of temporary memory on the device at most.
    pub fn max_temporary_bytes(mut self, bytes: u64) -> Self {
        self.max_temporary = Some(bytes);
        self
    }

    /// Makes both directions ready on a device, for numbers of a type: all that takes time happens here.
    ///
    /// # Errors
    ///
    /// What was asked does not fit together ([`Error::Configure`]), or the device cannot do it.
    pub fn on<T: Real>(&self, device: &Device) -> Result<Configured<T>, Error> {
        let layouts = self.layouts()?;
        let plan = |inverse| device.plan(&self.problem::<T>(&layouts, inverse)?);
        Ok(Configured { plans: [plan(false)?, plan(true)?], layouts, number: PhantomData })
    }

    /// How both domains' data lie in their arrays.
    fn layouts(&self) -> Result<[Layout; 2], Error> {
        let axes = self.axes()?;
        let mut sizes = [self.size.clone(), self.size.clone()];
        if self.formats[1] == Format::Real {
            return Err(ConfigureError::RealFrequencies.into());
        }
        if let (Format::Real, Some(&last)) = (self.formats[0], axes.last()) {
            sizes[1][last] = half(sizes[1][last]);
        }
        let [spatial, frequency] = sizes;
        Ok([
            Layout::of(Domain::Spatial, spatial, self.within[0].as_deref(), self.channels[0])?,
            Layout::of(Domain::Frequency, frequency, self.within[1].as_deref(), self.channels[1])?,
        ])
    }

    /// The dimensions to transform.
    fn axes(&self) -> Result<Vec<usize>, Error> {
        let dimensions = self.size.len();
        let all = match dimensions {
            1..=63 => (1_u64 << dimensions) - 1,
            _ => return Err(ConfigureError::Dimensions { given: dimensions }.into()),
        };
        let mask = self.mask.unwrap_or(all);
        if mask == 0 || mask & !all != 0 {
            return Err(ConfigureError::Mask { mask, all }.into());
        }
        Ok((0..dimensions).filter(|axis| mask >> axis & 1 == 1).collect())
    }

    /// The problem of one direction, from the first point of one rectangle to that of the other.
    fn problem<T: Real>(&self, layouts: &[Layout; 2], inverse: bool) -> Result<Problem, Error> {
        let axes: Vec<i64> = self.axes()?.into_iter().map(|axis| axis as i64).collect();
        let [read, written] = if inverse { [1, 0] } else { [0, 1] };
        let asked = Fft::axes(self.size.clone(), axes);
        let asked = match (self.formats[0], inverse) {
            (Format::Real, false) => asked.r2c(),
            (Format::Real, true) => asked.c2r(),
            (_, false) => asked.direction(Direction::Forward),
            (_, true) => asked.direction(Direction::Inverse),
        };
        let asked = asked
            .strides(layouts[read].strides(), layouts[written].strides())
            .formats(self.formats[read], self.formats[written])
            .storage(T::STORAGE)
            .norm(self.norm);
        Ok(self.max_temporary.into_iter().fold(asked, Fft::max_workspace).build()?)
    }
}

/// Both directions, ready to run on host arrays of numbers of one type.
#[derive(Debug, Clone)]
pub struct Configured<T> {
    plans: [Plan; 2],
    layouts: [Layout; 2],
    number: PhantomData<T>,
}

impl<T: Real> Configured<T> {
    /// Transforms: forward from spatial data to frequencies, inverse from these to spatial data. Nothing of the output changes
    /// but the rectangle of the channel.
    ///
    /// # Errors
    ///
    /// A rectangle or a channel is not in its array ([`Error::Configure`]); an array is of another format, or too short; the
    /// device failed.
    pub fn compute<'a>(
        &self,
        compute: &Compute,
        input: impl Into<Planes<'a, T>>,
        output: impl Into<PlanesMut<'a, T>>,
    ) -> Result<(), Error> {
        let (plan, sides) =
            (self.plan(compute.is_inverse()), if compute.is_inverse() { [1, 0] } else { [0, 1] });
        let [read, written] = [0, 1].map(|side| self.layouts[sides[side]].start(compute.at(sides[side])));
        let input = layout::from(input.into(), read?, plan.input_elements())?;
        let output = layout::from_mut(output.into(), written?, plan.output_elements())?;
        plan.run_host(input, output)
    }

    /// Bytes of temporary memory that a run takes on the device.
    pub fn temporary_bytes(&self) -> u64 {
        self.plans.iter().map(Plan::workspace_bytes).max().unwrap_or(0)
    }

    /// The plan of one direction, between rectangles that begin where their arrays do.
    pub fn plan(&self, inverse: bool) -> &Plan {
        &self.plans[usize::from(inverse)]
    }

    /// Points that a domain's array must hold for a rectangle and a channel of it.
    ///
    /// # Errors
    ///
    /// They are not in it.
    pub fn elements(&self, domain: Domain, compute: &Compute) -> Result<u64, Error> {
        let side = usize::from(domain == Domain::Frequency);
        let start = self.layouts[side].start(compute.at(side))?;
        let forward = &self.plans[0];
        let own = if side == 0 { forward.input_elements() } else { forward.output_elements() };
        Ok(start + own)
    }
}
