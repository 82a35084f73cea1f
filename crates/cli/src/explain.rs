//! `warpfft explain`: how a transform would run, without running it.

use clap::Args;
use serde_json::{Value, json};
use warpfft::core::explain::{Explanation, ExtraSummary, PassSummary, explain};
use warpfft::core::problem::Problem;
use warpfft::core::target::Limits;
use warpfft::{Device, DeviceKind};

use crate::error::CliError;
use crate::options::{BatchArgs, DeviceArg, Shape, size};
use crate::packed::Packed;
use crate::report;

/// What `explain` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  warpfft explain 512x512 --limits h200
  warpfft explain 1009 --batch 4096 --precision f64 --limits a100 --json
  warpfft explain 1024 --kind r2c --batch 65536 --limits h200
  warpfft explain 64x64x64 --device cuda
  warpfft explain 512x512 --batch 1000 --any-batch --limits h200
  warpfft explain 8589934592 --in-place --max-workspace 0 --limits h200

The limits h200, a100, t4, vulkan-min, webgpu-min and opencl-min need no device. Without --limits and --device, the best \
GPU of this machine is explained or, where there is none, the h200.")]
pub struct Explain {
    /// Lengths with x between: 1024, 512x512, 64x64x64
    shape: Shape,

    #[command(flatten)]
    asked: BatchArgs,

    /// Explain for a device of this machine
    #[arg(long, value_enum, conflicts_with = "limits")]
    device: Option<DeviceArg>,

    /// Explain for a named set of limits
    #[arg(long, value_name = "NAME")]
    limits: Option<String>,

    /// The inverse transform; that of r2c is --kind c2r, and that of c2r is --kind r2c
    #[arg(long)]
    inverse: bool,

    /// Input and output share their memory
    #[arg(long)]
    in_place: bool,

    /// Bytes of workspace beside the data at most, like 0 or 64MiB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_workspace: Option<u64>,

    /// Each run says how many transforms there are, up to --batch
    #[arg(long)]
    any_batch: bool,

    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

impl Explain {
    /// Runs the command.
    pub fn run(&self) -> Result<(), CliError> {
        let (inverse, in_place, max_workspace) = (self.inverse, self.in_place, self.max_workspace);
        let asked = self.asked.packed(&self.shape);
        let request = Packed { inverse, in_place, max_workspace, ..asked }.request()?;
        let problem = if self.any_batch { request.any_batch() } else { request }.build()?;
        let (explanation, tuned) = self.explained(&problem)?;
        if self.json {
            return report::json(&as_json(&explanation, tuned));
        }
        report::line(&explanation.to_string())?;
        if tuned { report::line("by wisdom, not by the model") } else { Ok(()) }
    }

    /// The explanation, and whether wisdom made the plan.
    fn explained(&self, problem: &Problem) -> Result<(Explanation, bool), CliError> {
        if let Some(name) = &self.limits {
            let known = || Limits::presets().into_iter().map(|limits| limits.name).collect();
            let limits = Limits::named(&name.to_ascii_lowercase())
                .ok_or_else(|| CliError::UnknownLimits { name: name.clone(), known: known() })?;
            return Ok((explain(problem, &limits)?, false));
        }
        let kind = self.device.map_or(DeviceKind::Auto, DeviceArg::kind);
        let device = Device::open(kind)?;
        match device.explain(problem)? {
            Some(explanation) => Ok((explanation, device.recipe(problem)?.is_some())),
            None if self.device.is_none_or(|device| device == DeviceArg::Auto) => {
                Ok((explain(problem, &Limits::h200())?, false))
            }
            None => Err(CliError::NothingToExplain { device: device.name().to_owned() }),
        }
    }
}

fn as_json(explanation: &Explanation, tuned: bool) -> Value {
    json!({
        "device": explanation.device,
        "by_wisdom": tuned,
        "plans": explanation.plans,
        "passes": explanation.passes.len(),
        "workspace_bytes": explanation.workspace_bytes,
        "by_layout": explanation.extras.iter().map(extra_json).collect::<Vec<_>>(),
        "any_batch": explanation.any_batch.as_ref().map(|open| json!({
            "most": open.dim.n,
            "distances": [open.dim.is, open.dim.os],
            "launches": open.launches.iter().map(|launch| json!({
                "blocks": launch.blocks, "for_each": launch.step,
            })).collect::<Vec<_>>(),
        })),
        "table_bytes": explanation.table_bytes,
        "bytes": explanation.bytes,
        "predicted_copies": explanation.predicted_copies,
        "copy_seconds": explanation.copy_seconds,
        "kernels": explanation.passes.iter().map(pass_json).collect::<Vec<_>>(),
    })
}

fn extra_json(extra: &ExtraSummary) -> Value {
    json!({
        "cause": extra.cause.to_string(),
        "instead": extra.cause.instead(),
        "pass": extra.pass.map(|pass| pass + 1),
        "workspace_bytes": extra.workspace_bytes,
    })
}

fn pass_json(pass: &PassSummary) -> Value {
    json!({
        "name": pass.kernel,
        "method": pass.method,
        "radices": pass.radices,
        "reads": pass.route.0,
        "writes": pass.route.1,
        "bytes_read": pass.bytes_read,
        "bytes_written": pass.bytes_written,
        "copies": pass.copies,
        "blocks": pass.blocks,
        "threads": pass.threads,
        "cluster": pass.cluster,
        "transforms_per_block": pass.transforms,
        "registers": pass.registers,
        "shared_bytes": pass.shared_bytes,
        "resident_blocks": pass.resident_blocks,
        "elements_per_thread": pass.per_thread,
        "sectors": pass.sectors,
        "exchanges": pass.exchanges,
        "conflicts": pass.conflicts,
        "instructions": pass.instructions,
        "fused": pass.fused.map(|ring| json!({
            "with": if ring.first { "next" } else { "last" },
            "slots": ring.slots,
            "ring_bytes": ring.bytes,
            "ahead": ring.ahead,
            "in_turns": ring.woven,
        })),
    })
}
