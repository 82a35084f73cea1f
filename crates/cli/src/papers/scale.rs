//! How much of an experiment is run: all of it, or a little of it that takes seconds anywhere.

use clap::ValueEnum;
use warpfft::{Device, DeviceKind};

use super::paper::{Experiment, Place};

/// How much is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scale {
    /// A few small points of each experiment
    Small,
    /// All points that memory holds
    Full,
}

/// Points of one call at the small scale, about.
const SMALL: u64 = 1 << 12;
/// Places of an experiment at the small scale.
const FEW: usize = 2;
/// Arrays of the size of the input that a measurement holds: input, output, those of copies and two of workspace.
const ARRAYS: u64 = 6;
/// Algorithms that may each hold as much again.
const WORKSPACES: u64 = 4;

impl Scale {
    /// The scale that suits a device: all for a GPU, little for software.
    pub fn of(device: &Device) -> Self {
        if device.is_hardware() && device.kind() != DeviceKind::Cpu { Self::Full } else { Self::Small }
    }

    /// The points of an experiment that are run, and those that the device's memory does not hold.
    pub fn places(self, experiment: &Experiment, device: &Device) -> (Vec<Place>, Vec<Place>) {
        let places = experiment.places();
        if self == Self::Small {
            return (few(experiment, places), Vec::new());
        }
        places.into_iter().partition(|&place| fits(bytes(experiment, place), device))
    }
}

/// The smallest places, with as few transforms as come to little work.
fn few(experiment: &Experiment, places: Vec<Place>) -> Vec<Place> {
    let shrunk = |place: Place| {
        let most = (SMALL / experiment.points(place.length)).max(1);
        Place { batch: place.batch.min(most), ..place }
    };
    let mut places: Vec<Place> = places.into_iter().map(shrunk).collect();
    // Those that shrink to the same are one.
    places.dedup();
    let fit = |place: &Place| place.batch * experiment.points(place.length) <= 4 * SMALL;
    let small: Vec<Place> = places.iter().copied().filter(fit).collect();
    (if small.is_empty() { places } else { small }).into_iter().take(FEW).collect()
}

/// Bytes that measuring holds.
fn bytes(experiment: &Experiment, place: Place) -> u64 {
    let points = experiment.points(place.length).saturating_mul(place.batch);
    points.saturating_mul(experiment.precision.complex_bytes()).saturating_mul(ARRAYS)
}

fn fits(bytes: u64, device: &Device) -> bool {
    match (device.kind(), device.limits()) {
        // Its limit of a buffer is its memory.
        (DeviceKind::Cuda, Some(limits)) => bytes <= limits.max_buffer_bytes / 10 * 9,
        // Each array must fit a buffer, and each algorithm has a workspace of its own. A GPU that has no room for them says so;
        // a software driver's memory is the computer's, and asking for too much of it ends the program.
        (_, Some(limits)) => {
            let room = device.is_hardware() || warpfft::host_memory(bytes.saturating_mul(WORKSPACES)).is_ok();
            bytes / ARRAYS <= limits.max_buffer_bytes && room
        }
        (_, None) => warpfft::host_memory(bytes).is_ok(),
    }
}

/// An order in which any beginning covers the whole: the ends first, then what halves the gaps.
pub fn coarse_to_fine(count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = [0, count.wrapping_sub(1)].into_iter().filter(|&at| at < count).collect();
    order.dedup();
    let mut gaps = std::collections::VecDeque::from([(0_usize, count.saturating_sub(1))]);
    while let Some((from, to)) = gaps.pop_front() {
        let middle = from.midpoint(to);
        if middle > from && middle < to {
            order.push(middle);
            gaps.extend([(from, middle), (middle, to)]);
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::super::paper;
    use super::*;

    #[test]
    fn every_place_comes_once_and_the_ends_first() {
        for count in 0..40 {
            let mut order = coarse_to_fine(count);
            if count > 2 {
                assert_eq!(order[..3], [0, count - 1, (count - 1) / 2]);
            }
            order.sort_unstable();
            assert_eq!(order, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_small_scale_is_small_and_leaves_no_experiment_out() {
        let device = Device::cpu();
        for experiment in paper::ALL.iter().flat_map(|paper| paper.experiments) {
            let (places, left) = Scale::Small.places(experiment, &device);
            assert!(!places.is_empty() && places.len() <= FEW && left.is_empty());
            for place in places {
                let points = place.batch * experiment.points(place.length);
                assert!(place.batch == 1 || points <= 4 * SMALL, "{}", experiment.name);
            }
        }
    }

    #[test]
    fn what_no_memory_holds_is_left_out() {
        let experiment = &paper::ALL[0].experiments[0];
        assert!(!fits(u64::MAX, &Device::cpu()));
        assert!(fits(bytes(experiment, Place { length: 256, batch: 1 }), &Device::cpu()));
    }
}
