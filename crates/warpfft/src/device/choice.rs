//! Processor or GPU, for data in the computer's memory: the way there and back costs more than most transforms.
//!
//! A model of both times with few figures, which were measured on a machine with an H200 behind 16 lanes of PCIe 5 and 16
//! cores (docs/notes/host-data.md). It need only be right where the two are far apart.

use warpfft_core::problem::{Precision, Problem};

use super::{Device, DeviceKind};
use crate::error::Error;
use crate::measure;

/// How data of the computer's memory is handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HostData {
    /// From arrays of [`Device::host_array`] by a [`Pipeline`](crate::Pipeline) that is run again and again.
    Pinned,
    /// From ordinary arrays by a [`Plan`](crate::Plan) that is run again and again.
    Ordinary,
    /// From ordinary arrays, once, by a program that has not opened the device yet.
    Once,
}

/// Seconds that a GPU's run takes beside its bytes.
const PINNED_START: f64 = 20e-6;
const ORDINARY_START: f64 = 40e-6;
/// Opening the driver, a first plan, and its assembly.
const ONCE_START: f64 = 0.2;
/// Bytes a second, of input and output together: the link by itself, and through the driver's own memory.
const PINNED_SPEED: f64 = 70e9;
const ORDINARY_SPEED: f64 = 10e9;

/// Operations a second of a thread of the processor, in f32: on lines that lie in a row, short and longer than its cache;
/// and on several dimensions, where lines are gathered.
const SHORT_LINES: f64 = 14e9;
const LONG_LINES: f64 = 9e9;
const GATHERED: f64 = 2.8e9;
/// Points of a line that leave the cache.
const LONG: f64 = 262_144.0;
/// Seconds until all threads work, for each axis.
const SPREAD: f64 = 30e-6;
/// Bytes a second of the processor's memory, each way.
const MEMORY: f64 = 60e9;

/// About how many seconds the processor takes with so many threads.
fn on_processor(problem: &Problem, threads: usize) -> f64 {
    let points = problem.points() as f64;
    let batch = problem.batch_count() as f64;
    let width = if problem.precision == Precision::F32 { 1.0 } else { 2.0 };
    let operations = 5.0 * points * points.log2().max(1.0) * batch * width;
    let axes = (problem.transform.len() + problem.kind.dims().count()) as f64;
    if axes <= 1.0 {
        let rate = if points < LONG { SHORT_LINES } else { LONG_LINES };
        let busy = batch.min(threads as f64).max(1.0);
        let spread = if busy > 1.0 { SPREAD } else { 0.0 };
        return spread + (operations / (rate * busy)).max(measure::bytes(problem) as f64 / MEMORY);
    }
    axes * 2.0 * SPREAD + operations / (GATHERED * threads as f64)
}

/// About how many seconds a GPU takes, there and back.
fn on_gpu(problem: &Problem, data: HostData) -> f64 {
    let bytes = measure::bytes(problem) as f64;
    match data {
        HostData::Pinned => PINNED_START + bytes / PINNED_SPEED,
        HostData::Ordinary => ORDINARY_START + bytes / ORDINARY_SPEED,
        HostData::Once => ONCE_START + bytes / ORDINARY_SPEED,
    }
}

/// Whether a GPU is worth the way.
fn gains(problem: &Problem, data: HostData, threads: usize) -> bool {
    on_gpu(problem, data) < on_processor(problem, threads)
}

impl Device {
    /// The device that is likely to be done first with a problem whose data lies in the computer's memory: the processor
    /// for little data, and the best GPU that is usable for much. A GPU is opened only where it is worth the way.
    ///
    /// ```
    /// use warpfft::core::request::Fft;
    /// use warpfft::{Device, DeviceKind, HostData};
    ///
    /// let device = Device::for_host_data(&Fft::new([64]).build()?, HostData::Once)?;
    /// assert_eq!(device.kind(), DeviceKind::Cpu);
    /// # Ok::<(), warpfft::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Device::open`] with [`DeviceKind::Auto`].
    pub fn for_host_data(problem: &Problem, data: HostData) -> Result<Self, Error> {
        if gains(problem, data, rayon::current_num_threads()) {
            Self::open(DeviceKind::Auto)
        } else {
            Ok(Self::cpu())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpfft_core::request::Fft;

    /// Microseconds as measured: shape, batch, on the processor with 16 threads, on an H200 from pinned memory, and from
    /// ordinary memory in one call.
    const MEASURED: [(&[u64], u64, f64, f64, f64); 20] = [
        (&[256], 1, 0.8, 16.0, 34.0),
        (&[1024], 1, 3.6, 21.0, 43.0),
        (&[4096], 1, 12.8, 21.0, 48.0),
        (&[16_384], 1, 57.0, 31.0, 68.0),
        (&[65_536], 1, 312.0, 41.0, 139.0),
        (&[262_144], 1, 1414.0, 104.0, 603.0),
        (&[1_048_576], 1, 8716.0, 336.0, 1514.0),
        (&[4_194_304], 1, 54_805.0, 1289.0, 6041.0),
        (&[16_777_216], 1, 238_658.0, 5200.0, 26_514.0),
        (&[1024], 16, 51.0, 29.0, 66.0),
        (&[1024], 256, 114.0, 91.0, 604.0),
        (&[1024], 4096, 1130.0, 861.0, 5758.0),
        (&[1024], 65_536, 17_890.0, 11_205.0, 97_384.0),
        (&[24, 24, 24], 1, 260.0, 31.0, 59.0),
        (&[24, 24, 24], 5, 247.0, 43.0, 268.0),
        (&[24, 24, 24], 20, 547.0, 95.0, 583.0),
        (&[24, 24, 24], 54, 1220.0, 181.0, 1365.0),
        (&[24, 24, 24], 256, 5723.0, 694.0, 6528.0),
        (&[24, 24, 24], 1024, 23_631.0, 2489.0, 27_319.0),
        (&[24, 24, 24], 4096, 84_558.0, 9615.0, 88_170.0),
    ];

    #[test]
    fn chooses_what_was_measured_to_be_faster_where_it_matters() {
        for (shape, batch, processor, pinned, ordinary) in MEASURED {
            let problem = Fft::new(shape.to_vec()).batch(batch).build().expect("it can be");
            for (data, gpu) in [(HostData::Pinned, pinned), (HostData::Ordinary, ordinary)] {
                let faster = gpu < processor;
                let apart = (gpu / processor).max(processor / gpu) > 1.3;
                let chosen = gains(&problem, data, 16);
                assert!(
                    !apart || chosen == faster,
                    "{shape:?} x {batch}, {data:?}: {processor} against {gpu}"
                );
            }
        }
    }

    #[test]
    fn a_driver_is_not_opened_for_little() {
        let once = |n: u64| gains(&Fft::new([n]).build().expect("it can be"), HostData::Once, 16);
        assert!(
            !once(1 << 20) && !once(1 << 22),
            "the processor takes 0.07 and 0.3 s, all told; a GPU 0.35 and 0.45"
        );
        assert!(once(1 << 25));
    }
}
