//! Results as Markdown, between two marks of a page, so that the page is never out of step with the figures.

use std::path::Path;

use super::mean;
use super::record::{self, Record, Status};
use super::run::draw;
use crate::error::CliError;
use crate::io::Output;
use crate::report as out;

const BEGIN: &str = "<!-- figures: written by warpfft bench --report -->";
const END: &str = "<!-- end of figures -->";

/// A peer counts as faster from here on.
const MARGIN: f64 = 1.05;

/// Writes the tables of a file of results to a page or to the standard output, and draws them.
pub fn report(csv: &Path, into: Option<&Path>, plot: Option<&Path>) -> Result<(), CliError> {
    let records = record::read(csv)?;
    if !records.iter().any(|record| record.copies.is_some()) {
        return Err(CliError::NothingMeasured { path: csv.into() });
    }
    if let Some(plot) = plot {
        draw(Output::create(plot)?, &records)?;
    }
    let tables = markdown(&records);
    let Some(page) = into else { return out::line(tables.trim_end()) };
    let tables = plot.map_or_else(String::new, |plot| picture(page, plot)) + &tables;
    let text =
        std::fs::read_to_string(page).map_err(|source| CliError::Read { path: page.into(), source })?;
    let text = replaced(&text, &tables).ok_or_else(|| CliError::Malformed {
        path: page.into(),
        kind: "page",
        detail: format!("it has no lines '{BEGIN}' and '{END}' to write between"),
    })?;
    let mut output = Output::create(page)?;
    output.write(|file| file.write_all(text.as_bytes()))?;
    output.commit()
}

/// A drawing, as its page names it: by the way from the page's folder, but where only the drawing was named from the root.
fn picture(page: &Path, plot: &Path) -> String {
    let folder = page.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let ends = std::path::absolute(plot).ok().zip(std::path::absolute(folder).ok());
    let way = ends.filter(|_| plot.is_relative() || page.is_absolute());
    let way =
        way.and_then(|(plot, folder)| pathdiff::diff_paths(plot, folder)).unwrap_or_else(|| plot.into());
    format!("![Copies over the points of a transform, by precision and rank]({})\n\n", way.display())
}

fn replaced(page: &str, figures: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{figures}\n{END}{after}"))
}

fn markdown(records: &[Record]) -> String {
    let measured: Vec<&Record> = records.iter().filter(|record| record.copies.is_some()).collect();
    let devices = distinct(measured.iter().map(|record| &*record.device));
    let versions = distinct(measured.iter().map(|record| &*record.version));
    let mut text = format!("Measured on {} by version {}.\n\n", devices.join(", "), versions.join(", "));
    text += &summary(&measured);
    text += &behind(&measured);
    text += &all(&measured);
    for (status, what) in [(Status::Skipped, "cannot be done yet"), (Status::Failed, "failed")] {
        let rows: Vec<&Record> = records.iter().filter(|record| record.status == status).collect();
        if !rows.is_empty() {
            let reasons = distinct(rows.iter().map(|record| &*record.note));
            let s = if rows.len() == 1 { "" } else { "s" };
            text += &format!("\n{} row{s} {what}: {}.\n", rows.len(), reasons.join("; "));
        }
    }
    text
}

fn distinct<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    all.for_each(|one| {
        if !seen.contains(&one) {
            seen.push(one);
        }
    });
    seen
}

fn best_peer(record: &Record) -> Option<f64> {
    record.cufft().into_iter().chain(record.vkfft_before).chain(record.fftw_copies).min_by(f64::total_cmp)
}

fn cell(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format!("{value:.3}"))
}

fn summary(measured: &[&Record]) -> String {
    let mut text = String::from(
        "### Means by group\n\nGeometric means, in copies; the means of a library are over the rows that it has.\n\n",
    );
    text += "| rows | count | ours | worst | cuFFT | VkFFT | FFTW | better peer |\n";
    text += "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    let mut groups = mean::groups(measured.iter().copied());
    let beside = |record: &&&Record| record.group != "sweep" && best_peer(record).is_some();
    groups.push((
        "all that a peer has, without the sweep".into(),
        measured.iter().filter(beside).copied().collect(),
    ));
    groups.push(("all".into(), measured.to_vec()));
    for (name, members) in groups {
        let of = |pick: fn(&Record) -> Option<f64>| {
            cell(mean::geometric(members.iter().filter_map(|record| pick(record))))
        };
        let worst = members.iter().max_by(|a, b| a.copies.unwrap_or(0.0).total_cmp(&b.copies.unwrap_or(0.0)));
        let worst =
            worst.map_or_else(String::new, |record| format!("{} ({})", cell(record.copies), record.shape));
        let (ours, cufft) = (of(|record| record.copies), of(Record::cufft));
        let (vkfft, fftw, best) = (of(|r| r.vkfft_before), of(|r| r.fftw_copies), of(best_peer));
        let count = members.len();
        text += &format!("| {name} | {count} | {ours} | {worst} | {cufft} | {vkfft} | {fftw} | {best} |\n");
    }
    text
}

/// Where a peer is still faster.
fn behind(measured: &[&Record]) -> String {
    let ratio = |record: &Record| Some(record.copies? / best_peer(record)?);
    let mut rows: Vec<(f64, &Record)> = measured
        .iter()
        .filter_map(|record| Some((ratio(record)?, *record)))
        .filter(|(r, _)| *r > MARGIN)
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut text = String::from("\n### Where a peer is still faster\n\n");
    if rows.is_empty() {
        return text + "Nowhere by more than 5%.\n";
    }
    text += "| transform | ours | better peer | ours over it | |\n| --- | ---: | ---: | ---: | --- |\n";
    for (ratio, record) in rows {
        let (ours, best) = (cell(record.copies), cell(best_peer(record)));
        let launch = if record.is_launch_bound() { "bound by its launch" } else { "" };
        text += &format!("| {} | {ours} | {best} | {ratio:.2} | {launch} |\n", record.key());
    }
    text
}

fn all(measured: &[&Record]) -> String {
    let mut text = String::from("\n### All rows\n\n");
    text += "| transform | copies | us | passes | workspace | plan ms | cuFFT | VkFFT | FFTW |\n";
    text += "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for record in measured {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.1}"));
        let passes = record.passes.map_or_else(String::new, |passes| passes.to_string());
        let workspace = record.workspace_bytes.map_or_else(String::new, out::bytes);
        text += &format!(
            "| {} | {} | {} | {passes} | {workspace} | {} | {} | {} | {} |\n",
            record.key(),
            cell(record.copies),
            number(record.us),
            number(record.plan_ms),
            cell(record.cufft()),
            cell(record.vkfft_before),
            cell(record.fftw_copies),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::record::tests::measured;

    #[test]
    fn figures_replace_figures_and_nothing_else() {
        let page = format!("# Title\n\n{BEGIN}\nold\n{END}\n\nmore\n");
        let once = replaced(&page, "new\n").unwrap();
        assert_eq!(once, format!("# Title\n\n{BEGIN}\n\nnew\n\n{END}\n\nmore\n"));
        assert_eq!(replaced(&once, "new\n").as_ref(), Some(&once), "again changes nothing");
        assert_eq!(replaced("# Title\n", "new"), None);
    }

    #[test]
    fn pictures_are_named_from_their_page() {
        let named = |page: &str, plot: &str| picture(Path::new(page), Path::new(plot));
        assert!(named("docs/page.md", "docs/pictures/p.png").ends_with("(pictures/p.png)\n\n"));
        assert!(named("page.md", "p.png").ends_with("(p.png)\n\n"));
        assert!(named("docs/notes/page.md", "docs/pictures/p.png").ends_with("(../pictures/p.png)\n\n"));
        assert!(named("./sub/page.md", "sub/pics/p.png").ends_with("(pics/p.png)\n\n"));
        assert!(named("/tmp/sub/page.md", "/tmp/p.png").ends_with("(../p.png)\n\n"));
        assert!(named("docs/page.md", "/tmp/p.png").ends_with("(/tmp/p.png)\n\n"));
    }

    #[test]
    fn tables_have_means_and_what_is_behind() {
        let mut records = measured(&[1.0, 2.0, 1.0]);
        let launched = Record { batch: 1, launch_us: Some(195.0), ..records[1].clone() };
        records.push(launched);
        records.push(Record {
            copies: None,
            status: Status::Skipped,
            note: "not yet".into(),
            ..records[0].clone()
        });
        let text = markdown(&records);
        for words in [
            "Measured on test by version",
            "| 1d-two-short f32 | 4 | 1.414 | 2.000 (4) |",
            "| all | 4 | 1.414 |",
            "| c2c f32 4 batch 1 | 2.000 | 0.955 | 2.10 | bound by its launch |",
            "| c2c f32 4 batch 16777216 | 2.000 | 0.955 | 2.10 |  |",
            "1 row cannot be done yet: not yet.",
        ] {
            assert!(text.contains(words), "no '{words}' in {text}");
        }
        assert!(!text.contains("| c2c f32 2 batch 33554432 | 1.000 | 0.948 | 1.05 |\n| c2c f32 4"));
    }
}
