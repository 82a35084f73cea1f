//! Fourier transforms of any shape, layout and precision, on any GPU or on the processor.
//!
//! A [`Problem`](core::problem::Problem) says what is asked, a [`Device`] where it shall run, a [`Plan`] is the
//! problem made ready there:
//!
//! ```
//! use num_complex::Complex;
//! use warpfft::core::problem::{Dim, Direction, Format, Kind, Placement, Precision, Problem};
//! use warpfft::{Device, DeviceKind};
//!
//! // Four points, one transform.
//! let problem = Problem {
//!     kind: Kind::Complex,
//!     transform: vec![Dim::new(4, 1, 1)],
//!     batch: vec![],
//!     input_offset: 0,
//!     output_offset: 0,
//!     precision: Precision::F32,
//!     storage: [None; 2],
//!     input: Format::Interleaved,
//!     output: Format::Interleaved,
//!     placement: Placement::OutOfPlace,
//!     direction: Direction::Forward,
//!     scale: 1.0,
//!     max_workspace: None,
//!     windows: vec![],
//!     filter: None,
//!     functions: Default::default(),
//! };
//! let plan = Device::open(DeviceKind::Cpu)?.plan(&problem)?;
//! let input = [1.0, 2.0, 3.0, 4.0].map(|re| Complex::new(re, 0.0_f32));
//! let mut output = [Complex::default(); 4];
//! plan.run_host(&input, &mut output)?;
//! assert_eq!(output[0], Complex::new(10.0, 0.0));
//! # Ok::<(), warpfft::Error>(())
//! ```
//!
//! [`survey`] tells which devices a machine has, and why one is not usable.

mod accept;
pub mod configured;
mod convolution;
mod copy;
pub mod device;
mod error;
mod host;
mod host_array;
mod measure;
mod pairs;
#[cfg(feature = "peers")]
pub mod peers;
mod pipeline;
mod plan;
mod room;
mod span;
mod tune;
mod verify;
pub mod wisdom;

pub use convolution::{ConvolutionCheck, ConvolutionPlan, Spectrum};
pub use device::{Device, DeviceKind, DeviceReport, HostData, survey, use_disk_cache, use_stand_ins};
pub use error::{Error, Which};
pub use host::{Planes, PlanesMut, Real};
pub use host_array::HostArray;
pub use measure::{Measurement, Timing};
pub use num_complex::Complex;
pub use pipeline::Pipeline;
pub use plan::Plan;
pub use room::host_memory;
pub use tune::{Trial, Tuned};
pub use verify::Verification;
pub use warpfft_core as core;
pub use warpfft_core::strategy::Strategy;
pub use wisdom::Wisdom;
