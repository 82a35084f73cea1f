//! What the suite's problems become on an H200, without one: plans, passes, threads, shared memory, exchanges, bank
//! conflicts, sectors, registers and occupancy of every row, beside an accepted text. A change shows as a difference,
//! to be looked at and then accepted:
//!
//! ```sh
//! INSTA_UPDATE=always cargo test -p warpfft-core --test suite
//! ```

use std::fmt::Write;

use warpfft_core::explain::{Explanation, PassSummary, explain};
use warpfft_core::problem::Precision;
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

const SUITE: &str = include_str!("../../../bench/suites/h200.csv");
const COLUMNS: &str = "kind,precision,shape,batch,";

/// One row of the suite.
struct Row<'a> {
    precision: &'a str,
    shape: &'a str,
    batch: &'a str,
}

/// The rows that can be compiled: complex ones in single and double precision.
fn rows() -> Vec<Row<'static>> {
    let mut lines = SUITE.lines().filter(|line| !line.starts_with('#'));
    assert!(lines.next().is_some_and(|header| header.starts_with(COLUMNS)));
    let row = |line: &'static str| {
        let mut fields = line.split(',');
        let mut next = || fields.next().unwrap_or_else(|| panic!("{line}: too short"));
        (next(), Row { precision: next(), shape: next(), batch: next() })
    };
    lines
        .map(row)
        .filter(|(kind, row)| *kind == "c2c" && row.precision != "f16")
        .map(|(_, row)| row)
        .collect()
}

fn explained(row: &Row<'_>) -> Explanation {
    let number = |text: &str| text.parse::<u64>().unwrap_or_else(|_| panic!("{text} is no number"));
    let precision = if row.precision == "f64" { Precision::F64 } else { Precision::F32 };
    let shape: Vec<u64> = row.shape.split('x').map(number).collect();
    let request = Fft::new(shape).batch(number(row.batch)).precision(precision);
    let problem = request.build().expect("the suite's rows are possible");
    explain(&problem, &Limits::h200()).unwrap_or_else(|error| panic!("{}: {error}", row.shape))
}

fn pass_line(pass: &PassSummary) -> String {
    let mut shared = if pass.cluster > 1 { format!(", cluster {}", pass.cluster) } else { String::new() };
    if let Some(ring) = pass.fused {
        shared += &format!(", ring {} ahead {}", ring.slots, ring.ahead);
    }
    format!(
        "  {} | {} x {}{shared} | shared {} | exchanges {} | conflicts {:.2} | sectors {:.2} {:.2} | registers {} | \
         resident {} | {:.2}",
        pass.method,
        pass.threads,
        pass.per_thread,
        pass.shared_bytes,
        pass.exchanges,
        pass.conflicts,
        pass.sectors[0],
        pass.sectors[1],
        pass.registers,
        pass.resident_blocks,
        pass.copies
    )
}

/// A row's lines: the problem with its plan, and one for each pass.
fn lines(row: &Row<'_>) -> String {
    let found = explained(row);
    let passes = found.passes.len();
    let mut plans = found.plans.clone();
    plans.dedup();
    let workspace = found.workspace_bytes as f64 / (found.bytes as f64 / 2.0);
    let mut text = format!("{} {} batch {}: {passes} pass", row.precision, row.shape, row.batch);
    text += if passes == 1 { "" } else { "es" };
    let _ = write!(text, ", {:.2} copies, ", found.predicted_copies);
    if workspace > 0.0 {
        let _ = write!(text, "workspace {workspace:.2}, ");
    }
    text += &plans.join(" ");
    found.passes.iter().map(pass_line).fold(text, |text, line| text + "\n" + &line)
}

#[test]
fn the_suites_plans_are_as_accepted() {
    let rows = rows();
    assert!(rows.len() > 350, "only {} rows", rows.len());
    let texts: Vec<String> = rows.iter().map(lines).collect();
    let head = "For each pass: transform | threads x elements of each, and the ring of passes that share a launch | shared bytes | exchanges | bank conflicts over \
                none | sectors read and written over the fewest | registers | blocks resident on a multiprocessor | \
                copies. All by the model.\n\n";
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("golden");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("suite-h200", format!("{head}{}", texts.join("\n"))));
}
