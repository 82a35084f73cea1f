//! Temporary: times every tile of some lengths.
use std::time::Duration;
use warpfft::core::request::Fft;
use warpfft::{Device, DeviceKind};
fn main() {
    // args: n[=plan]
    for arg in std::env::args().skip(1) {
        let (n, plan) = match arg.split_once('=') {
            Some((n, p)) => (n, Some(p)),
            None => (&arg[..], None),
        };
        let shape: Vec<u64> = n.split('x').map(|s| s.parse().unwrap()).collect();
        let points: u64 = shape.iter().product();
        unsafe {
            std::env::remove_var("WARPFFT_TILE");
            match plan {
                Some(p) => std::env::set_var("WARPFFT_PLAN", p),
                None => std::env::remove_var("WARPFFT_PLAN"),
            }
        }
        let problem = Fft::new(shape).batch(((1 << 26) / points).max(1)).build().unwrap();
        let limits = warpfft::core::target::Limits::h200();
        let base = warpfft::core::program::Compiled::of(&problem, &limits).unwrap();
        println!(
            "## {n} plan {} auto {} x {:?}",
            base.schedule.plans[0], base.parts[0].tile.threads, base.parts[0].tile.batch
        );
        let mut rows = Vec::new();
        unsafe {
            std::env::set_var("WARPFFT_PLAN", base.schedule.plans[0].to_string());
        }
        let pass = &base.schedule.passes[0];
        let mut cands: Vec<(f64, u64, u32)> = Vec::new();
        for batch in [1u64, 2, 3, 4, 5, 6, 8, 12, 16, 24] {
            for t in (32..=1024u32).step_by(1) {
                if batch * points > 29000 {
                    continue;
                }
                let elements = pass.axes[0].method.points() * batch;
                let ok = pass.axes[0].method.stages().iter().any(|s| {
                    let g = batch * s.points / s.radix as u64;
                    (1..=8).any(|k| g.div_ceil(k) == t as u64)
                });
                let e = elements as f64 / t as f64;
                if !ok || e < 4.0 || e > 52.0 {
                    continue;
                }
                unsafe {
                    std::env::set_var("WARPFFT_TILE", format!("{batch}:{t}"));
                }
                if let Ok(c) = warpfft::core::program::Compiled::of(&problem, &limits) {
                    cands.push((c.parts[0].cost, batch, t));
                }
            }
        }
        cands.sort_by(|a, b| a.0.total_cmp(&b.0));
        cands.truncate(4);
        for hold in ["13", "9", "5", "1", "8", "15"] {
            for minb in ["0", "-1", "-99"] {
                for &(cost, batch, t) in &cands {
                    unsafe {
                        std::env::set_var("WARPFFT_MINB", minb);
                    }
                    unsafe {
                        std::env::set_var("WARPFFT_HOLD", hold);
                    }
                    unsafe {
                        std::env::set_var("WARPFFT_TILE", format!("{batch}:{t}"));
                        std::env::set_var(
                            "WARPFFT_CACHE_DIR",
                            format!("/tmp/wx/{n}-{batch}-{t}-{hold}-{minb}-{}", std::process::id()),
                        );
                        std::env::set_var("WARPFFT_PLAN", base.schedule.plans[0].to_string());
                    }
                    let device = Device::open(DeviceKind::Cuda).unwrap();
                    let Ok(plan) = device.plan(&problem) else { continue };
                    let Ok(took) = plan.measure(Duration::from_millis(30)) else { continue };
                    let insts: usize = plan.program().unwrap().kernels[0].body.insts.len();
                    rows.push((
                        took.copies(),
                        cost,
                        batch,
                        t,
                        plan.cuda_registers().unwrap_or_default(),
                        insts,
                        hold,
                        minb,
                    ));
                }
            }
        }
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (c, cost, batch, t, regs, insts, hold, minb) in rows.iter().take(12) {
            println!(
                "{c:.3} model {cost:.3} batch {batch} threads {t} regs {:?} insts {insts} hold {hold} minb {minb}",
                regs
            );
        }
    }
}
