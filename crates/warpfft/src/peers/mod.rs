//! Other libraries on the same data, in the same run, on the same memory and stream: a ratio taken elsewhere, with
//! another copy on another day, is worth little. They are looked for when they are asked for; nothing is linked.

#[cfg(feature = "cuda")]
pub(crate) mod cufft;
pub(crate) mod fftw;
mod library;

use crate::device::DeviceKind;
use crate::error::Error;
use crate::measure::{Measurement, Timing};
use crate::plan::Plan;

/// Another library's time at one of its settings.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerTime {
    /// The setting, in words.
    pub setting: &'static str,
    /// Seconds of one transform of the whole batch, the median.
    pub seconds: f64,
    /// Seconds that its plan took.
    pub plan_seconds: f64,
    /// Bytes of workspace that its plan holds.
    pub workspace_bytes: u64,
}

/// What became of another library.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerReport {
    /// Its name.
    pub library: &'static str,
    /// Its times, at least one; or why there is none.
    pub times: Result<Vec<PeerTime>, Error>,
}

impl PeerReport {
    /// The fastest setting.
    pub fn best(&self) -> Option<&PeerTime> {
        self.times.iter().flatten().min_by(|a, b| a.seconds.total_cmp(&b.seconds))
    }
}

impl Plan {
    /// As [`Plan::measure`], with the other libraries there are for this device beside: cuFFT on CUDA, FFTW on the
    /// processor. Each gets a third of the time.
    ///
    /// # Errors
    ///
    /// As [`Plan::measure`]; a library that is absent or fails says so in its report.
    pub fn measure_beside_peers(
        &self,
        timing: impl Into<Timing>,
    ) -> Result<(Measurement, Vec<PeerReport>), Error> {
        self.work().measure_beside_peers(timing.into())
    }
}

/// The libraries that run beside a kind of device, with their versions or why they cannot be used.
pub fn available(kind: DeviceKind) -> Vec<(&'static str, Result<String, Error>)> {
    match kind {
        #[cfg(feature = "cuda")]
        DeviceKind::Cuda => vec![(cufft::NAME, cufft::version())],
        DeviceKind::Cpu => vec![(fftw::NAME, fftw::version())],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use warpfft_core::request::{Convolution, Fft, Mode};

    use super::*;

    #[test]
    fn the_processor_is_timed_beside_fftw_or_says_that_it_is_absent() {
        let problem = Fft::new([8, 8]).batch(3).build().expect("it is possible");
        let plan = crate::Device::cpu().plan(&problem).expect("the processor plans everything");
        let (measured, peers) = plan.measure_beside_peers(Duration::ZERO).expect("it is timed");
        assert!(measured.transform_seconds > 0.0);
        let [fftw] = &peers[..] else { panic!("{peers:?}") };
        assert_eq!(fftw.library, "FFTW");
        match &fftw.times {
            Ok(times) => assert!(times.len() == 1 && times[0].seconds > 0.0, "{times:?}"),
            Err(error) => assert!(matches!(error, Error::PeerAbsent { .. }), "{error}"),
        }
        assert_eq!(available(DeviceKind::Cpu)[0].1.is_ok(), fftw.times.is_ok());
        assert!(available(DeviceKind::Sim).is_empty());
    }

    #[test]
    fn what_fftw_does_not_compute_is_not_timed_as_if_it_did() {
        let cpu = crate::Device::cpu();
        let line = || Fft::new([16]).batch(3);
        let convolution = Convolution::new([16], [16]).mode(Mode::Periodic).batch(3).blocks(0);
        let others = [
            convolution.problems(None).expect("it is possible").part,
            line().on_load(|x, _| x * 2.0).build().expect("it is possible"),
            line().zoom(0.0, 0.5, 7).build().expect("it is possible"),
        ];
        for problem in others {
            let plan = cpu.plan(&problem).expect("the processor plans everything");
            let (measured, peers) = plan.measure_beside_peers(Duration::ZERO).expect("it is timed");
            assert!(measured.transform_seconds > 0.0);
            let refused = |peer: &PeerReport| matches!(peer.times, Err(Error::Unsupported { .. }));
            assert!(peers.iter().all(refused), "{problem:?}: {peers:?}");
        }
    }

    #[test]
    fn the_best_setting_counts() {
        let time = |setting, seconds| PeerTime { setting, seconds, plan_seconds: 0.0, workspace_bytes: 0 };
        let times = Ok(vec![time("slow", 2.0), time("fast", 1.0)]);
        assert_eq!(PeerReport { library: "x", times }.best().map(|best| best.setting), Some("fast"));
    }
}
