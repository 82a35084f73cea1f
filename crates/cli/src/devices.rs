//! `warpfft devices`: what this machine has.

use clap::Args;
use serde_json::{Value, json};
use warpfft::DeviceReport;
use warpfft::core::target::{Api, Limits};

use crate::error::CliError;
use crate::report;

/// What `devices` takes.
#[derive(Debug, Args)]
pub struct Devices {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

impl Devices {
    /// Runs the command.
    pub fn run(&self) -> Result<(), CliError> {
        let found = warpfft::survey();
        if self.json {
            return report::json(&Value::Array(found.iter().map(as_json).collect()));
        }
        for device in &found {
            report::line(&as_text(device))?;
        }
        Ok(())
    }
}

fn as_text(device: &DeviceReport) -> String {
    let kind = device.kind.to_string();
    let detail = if device.detail.is_empty() { String::new() } else { format!(" ({})", device.detail) };
    let mut text = match &device.usable {
        Ok(()) => format!("{kind:<6} usable      {}{detail}", device.name),
        Err(reason) => {
            let name = if device.name.is_empty() { String::new() } else { format!("{}: ", device.name) };
            format!("{kind:<6} not usable  {name}{reason}{detail}")
        }
    };
    if let Some(limits) = &device.limits {
        let threads = format!(
            "\n        {}, {} threads a block, subgroups of {}, {} multiprocessors, clusters of {}",
            api(limits.api),
            limits.max_threads,
            limits.subgroup,
            limits.multiprocessors,
            limits.max_cluster,
        );
        let memory = format!(
            "\n        shared memory {} a block, {} registers a thread, L2 {}, buffers to {}",
            report::bytes(limits.shared_bytes.into()),
            limits.registers_per_thread,
            report::bytes(limits.l2_bytes),
            report::bytes(limits.max_buffer_bytes),
        );
        let can =
            abilities(limits).iter().filter(|(_, able)| *able).map(|&(name, _)| name).collect::<Vec<_>>();
        text += &format!(
            "{threads}{memory}\n        can: {}",
            if can.is_empty() { "f32 only".into() } else { can.join(", ") }
        );
    }
    text
}

fn abilities(limits: &Limits) -> [(&'static str, bool); 5] {
    [
        ("f64", limits.f64),
        ("f16", limits.f16),
        ("64-bit indices", limits.index64),
        ("shuffle", limits.shuffle),
        ("bulk copy", limits.bulk_copy),
    ]
}

fn api(api: Api) -> String {
    match api {
        Api::Ptx { sm } => format!("PTX sm_{sm}"),
        Api::Wgsl { browser: false } => "WGSL".into(),
        Api::Wgsl { browser: true } => "WGSL for browsers".into(),
        Api::OpenCl => "OpenCL C".into(),
    }
}

fn as_json(device: &DeviceReport) -> Value {
    json!({
        "kind": device.kind.to_string(),
        "name": device.name,
        "usable": device.usable.is_ok(),
        "reason": device.usable.as_ref().err().map(ToString::to_string),
        "detail": device.detail,
        "limits": device.limits.as_ref().map(limits_json),
    })
}

fn limits_json(limits: &Limits) -> Value {
    json!({
        "name": limits.name,
        "api": api(limits.api),
        "max_threads": limits.max_threads,
        "shared_bytes": limits.shared_bytes,
        "shared_per_sm": limits.shared_per_sm,
        "registers_per_thread": limits.registers_per_thread,
        "registers_per_sm": limits.registers_per_sm,
        "threads_per_sm": limits.threads_per_sm,
        "blocks_per_sm": limits.blocks_per_sm,
        "multiprocessors": limits.multiprocessors,
        "subgroup": limits.subgroup,
        "max_cluster": limits.max_cluster,
        "l2_bytes": limits.l2_bytes,
        "max_buffer_bytes": limits.max_buffer_bytes,
        "max_blocks": limits.max_blocks,
        "index64": limits.index64,
        "f64": limits.f64,
        "f16": limits.f16,
        "shuffle": limits.shuffle,
        "bulk_copy": limits.bulk_copy,
        "copy_bytes_per_second": limits.copy_bytes_per_second,
    })
}
