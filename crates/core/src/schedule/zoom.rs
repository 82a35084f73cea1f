//! A line of samples to the frequencies of a band: Bluestein's convolution with another chirp, of a length that samples and
//! points have together. One pass where that fits the chip, else the passes of a long convolution.

use std::sync::Arc;

use crate::error::Error;
use crate::function::Functions;
use crate::lower::tile;
use crate::pass::{Array, Axis, CoprimePart, Method, PartKind};
use crate::plan::Plan;
use crate::planner::Planner;
use crate::problem::{Dim, Kind, Problem, Zoom};
use crate::solve::bluestein;
use crate::target::Limits;

use super::convolution::{By, Chirp};
use super::{Place, Schedule, Scheduler, no_plan};

/// Points that a convolution is padded to at least: the shortest that two stages make.
const LEAST: u64 = 16;

/// Schedules a zoom by the padded length that is expected to be the fastest.
pub(super) fn schedule(problem: &Problem, zoom: &Zoom, limits: &Limits) -> Result<Schedule, Error> {
    let problem = &problem.clone().validated()?;
    let planner = Planner::new(limits, problem.precision);
    let band = zoom.band;
    let n = band.samples.max(band.points);
    // The dimension as passes know it: on each side a part of it is there.
    let complex = Problem {
        kind: Kind::Complex,
        transform: vec![Dim::new(n, zoom.dim.is, zoom.dim.os)],
        ..problem.clone()
    };
    let mut best: Option<(f64, Schedule)> = None;
    for inner in bluestein::padded((band.samples + band.points - 1).max(LEAST), &planner) {
        let mut scheduler = Scheduler::new(&complex, limits, &planner, true);
        scheduler.zoom(problem, zoom, Chirp { n, band: Some(band) }, &inner);
        let (passes, regions) = (scheduler.passes, scheduler.regions);
        // Passes over the padded length move more than those that see the ends.
        let cost = passes.iter().map(|pass| {
            let bytes = pass.bytes(false) + pass.bytes(true);
            tile::choose(pass, limits).map(|choice| choice.cost * bytes as f64)
        });
        let Some(cost) = cost.sum::<Option<f64>>() else { continue };
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            let plans = vec![Plan::Bluestein { n, inner: Box::new(inner) }];
            let (fused, detours) = (Vec::new(), Vec::new());
            best = Some((cost, Schedule { passes, regions, plans, fused, detours }));
        }
    }
    let (_, schedule) = best.ok_or_else(|| no_plan(n, limits))?;
    let (_, needed) = schedule.workspace(problem.precision);
    match problem.max_workspace {
        Some(allowed) if needed > allowed => Err(Error::Workspace { needed, allowed }),
        _ => Ok(schedule),
    }
}

impl Scheduler<'_> {
    /// The passes of a zoom by one padded length.
    fn zoom(&mut self, problem: &Problem, zoom: &Zoom, chirp: Chirp, inner: &Plan) {
        let [src, dst] = [false, true].map(|output| Place {
            array: if output { Array::Output } else { Array::Input },
            format: if output { problem.output } else { problem.input },
            offset: if output { problem.output_offset } else { problem.input_offset },
            span: if output { problem.output_span().end } else { problem.input_span().end },
            storage: problem.stored()[usize::from(output)],
            strides: self
                .problem
                .transform
                .iter()
                .chain(&self.problem.batch)
                .map(|dim| if output { dim.os } else { dim.is })
                .collect(),
        });
        let lengths = self.held.clone();
        match inner {
            Plan::Split(parts) => self.convolution(0, By::Chirp(chirp), parts, &lengths, &src, &dst),
            plan => {
                let radices = super::on_chip_method(plan).radices().to_vec();
                let (n, kind) = (chirp.n, PartKind::Bluestein);
                let part = CoprimePart { n, kind, chirp: Some(n), band: chirp.band, radices };
                let dim = self.repeated(0, &[n], &src, &dst);
                let batch = self.others(0, &lengths, &src, &dst);
                let axis = Axis::new(dim, Method::Coprime(vec![part]));
                let pass = self.new_pass(vec![axis], batch, &src, &dst);
                self.passes.push(pass);
            }
        }
        let Functions { load, store } = &problem.functions;
        let load =
            load.as_ref().map(|load| if zoom.real { Arc::new(load.of_reals()) } else { Arc::clone(load) });
        if let Some(first) = self.passes.first_mut() {
            first.functions.load = load;
        }
        if let Some(last) = self.passes.last_mut() {
            last.scale *= problem.scale;
            last.functions.store.clone_from(store);
        }
    }
}
