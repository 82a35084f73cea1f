//! A paper's page: its figures drawn, a table under each, published numbers, and what is missing.

use std::fmt::Write;

use super::paper::{Paper, Place};
use super::published::Published;
use super::results::Results;
use super::unit::Unit;
use crate::error::CliError;
use crate::plot::lines::{Line, Lines, short};

/// How pages look.
const STYLE: &str = "body{font:16px/1.45 sans-serif;max-width:960px;margin:2em auto;padding:0 1em;color:#222}\
h1{font-size:1.5em}h2{font-size:1.2em;margin-top:2em}svg{max-width:100%;height:auto}\
table{border-collapse:collapse;font-size:.85em;margin:.6em 0}\
th,td{border:1px solid #ccc;padding:.2em .6em;text-align:right}th:first-child,td.text{text-align:left}\
.scroll{overflow-x:auto}small,.notes{color:#555;font-size:.85em}";

/// What every page of a run says.
pub struct Setting {
    /// The device's name and kind.
    pub device: String,
    /// What else there is to say of the run: other libraries, the scale.
    pub notes: Vec<String>,
}

/// A paper's page.
pub fn page(
    paper: &Paper,
    setting: &Setting,
    all: &[Results],
    published: &[Published],
) -> Result<String, CliError> {
    let mut body = format!(
        "<p><a href=\"index.html\">All papers</a> · <a href=\"{0}.csv\">{0}.csv</a>: every number</p>\n<h1>{1}</h1>\n\
         <p>{2}; {3}.</p>\n<p>{4}</p>\n",
        paper.name,
        escaped(paper.title),
        escaped(paper.authors),
        escaped(paper.published),
        escaped(paper.about),
    );
    body += &format!("<p>Measured on {}.</p>\n", escaped(&setting.device));
    body += &list(&setting.notes);
    for results in all {
        body += &section(results, published)?;
    }
    body += "<h2>Published numbers</h2>\n";
    body += &format!("<p>{}</p>\n", escaped(paper.unpublished));
    body += &published_table(published);
    Ok(document(paper.title, &body))
}

/// The page that leads to the others: papers with whether they have a page.
pub fn index(papers: &[(&Paper, bool)], setting: &Setting) -> String {
    let mut body = format!(
        "<h1>Published algorithms, measured again</h1>\n<p>Each paper's experiments at today's scale, by its own \
         algorithms and by the planner. Last measured on {}.</p>\n<ul>\n",
        escaped(&setting.device)
    );
    for (paper, there) in papers {
        let title = escaped(paper.title);
        let link = if *there { format!("<a href=\"{}.html\">{title}</a>", paper.name) } else { title };
        let missing = if *there { "" } else { " (not measured yet)" };
        let _ = writeln!(
            body,
            "<li>{link}{missing}. {}; {}.</li>",
            escaped(paper.authors),
            escaped(paper.published)
        );
    }
    body += "</ul>\n";
    body += &list(&setting.notes);
    document("Published algorithms, measured again", &body)
}

fn document(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n<style>{STYLE}</style>\n</head>\n\
         <body>\n{body}<p><small>warpfft {}</small></p>\n</body>\n</html>\n",
        escaped(title),
        env!("CARGO_PKG_VERSION")
    )
}

/// An experiment: for each unit a drawing and a table.
fn section(results: &Results, published: &[Published]) -> Result<String, CliError> {
    let experiment = results.experiment;
    let mut text = format!(
        "<h2 id=\"{}\">{}</h2>\n<p>{}</p>\n",
        experiment.name,
        escaped(experiment.title),
        escaped(experiment.about)
    );
    for &unit in experiment.units {
        let title = unit.title(results.reference());
        let _ = writeln!(text, "<figure id=\"{}-{}\">", experiment.name, slug(unit));
        text += &lines(results, unit, title.clone(), published).svg()?;
        let _ = writeln!(text, "<figcaption>{}</figcaption>\n</figure>", escaped(&title));
        text += &table(results, unit);
    }
    let checked = results.samples.iter().filter_map(|sample| sample.error).fold(0.0, f64::max);
    let mut notes = results.notes.clone();
    if checked > 0.0 {
        notes.push(format!("The largest relative error among those that were checked is {checked:.1e}."));
    }
    notes.extend(results.missing());
    Ok(text + &list(&notes))
}

/// A unit's name for addresses in the page.
fn slug(unit: Unit) -> &'static str {
    match unit {
        Unit::Gflops => "gflops",
        Unit::Seconds => "seconds",
        Unit::MicrosecondsEach => "each",
        Unit::GigabytesPerSecond => "bandwidth",
        Unit::SpeedUp => "speed-up",
    }
}

fn lines(results: &Results, unit: Unit, y: String, published: &[Published]) -> Lines {
    let experiment = results.experiment;
    let (places, names) = (results.places(), results.names());
    let value =
        |name: &str, place: Place| results.sample(name, place).and_then(|sample| results.value(unit, sample));
    let line = |name: &String| Line {
        name: name.clone(),
        points: places.iter().map(|&place| (experiment.x(place) as f64, value(name, place))).collect(),
        dots: false,
    };
    let mut lines: Vec<Line> = names.iter().map(line).collect();
    let mut levels = Vec::new();
    for row in published.iter().filter(|row| row.is_drawn(experiment.name, unit)) {
        let name = format!("published: {} ({})", row.series, row.hardware);
        match row.x {
            Some(x) => match lines.iter_mut().find(|line| line.name == name) {
                Some(line) => line.points.push((x as f64, Some(row.value))),
                None => lines.push(Line { name, points: vec![(x as f64, Some(row.value))], dots: true }),
            },
            None => levels.push((format!("published: {}", row.series), row.value)),
        }
    }
    Lines { x: experiment.x_name().into(), y, lines, levels }
}

fn table(results: &Results, unit: Unit) -> String {
    let (places, names) = (results.places(), results.names());
    if places.is_empty() {
        return "<p>Nothing was measured.</p>\n".into();
    }
    let mut text = format!(
        "<div class=\"scroll\"><table>\n<tr><th>{}</th><th>batch</th>{}</tr>\n",
        escaped(results.experiment.x_name()),
        names.iter().map(|name| format!("<th>{}</th>", escaped(name))).collect::<String>()
    );
    for place in places {
        let shape = results.experiment.shape(place);
        let _ = write!(text, "<tr><td>{shape}</td><td>{}</td>", place.batch);
        for name in &names {
            let value = results.sample(name, place).and_then(|sample| results.value(unit, sample));
            let _ = write!(text, "<td>{}</td>", value.map_or_else(String::new, short));
        }
        text += "</tr>\n";
    }
    text + "</table></div>\n"
}

fn published_table(published: &[Published]) -> String {
    if published.is_empty() {
        return String::new();
    }
    let mut text = "<div class=\"scroll\"><table>\n<tr><th>published</th><th>value</th><th>of</th><th>source</th></tr>\n"
        .to_owned();
    for row in published {
        let _ = writeln!(
            text,
            "<tr><td class=\"text\">{}</td><td>{} {}</td><td class=\"text\">{}</td><td class=\"text\">{}</td></tr>",
            escaped(&row.series),
            short(row.value),
            escaped(&row.unit),
            escaped(&row.hardware),
            source(&row.source)
        );
    }
    text + "</table></div>\n"
}

fn source(text: &str) -> String {
    let shown = escaped(text);
    if text.starts_with("http") { format!("<a href=\"{shown}\">{shown}</a>") } else { shown }
}

fn list(items: &[String]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let items: String = items.iter().map(|item| format!("<li>{}</li>\n", escaped(item))).collect();
    format!("<ul class=\"notes\">\n{items}</ul>\n")
}

/// Text that means nothing to a browser.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::results::Sample;
    use super::super::{keskin, paper, published};
    use super::*;

    fn setting() -> Setting {
        Setting { device: "a <device>".into(), notes: vec!["one & two".into()] }
    }

    #[test]
    fn a_page_has_every_figure_and_its_numbers() {
        let paper = &keskin::PAPER;
        let mut all: Vec<Results> = paper.experiments.iter().map(Results::new).collect();
        let place = paper.experiments[0].places()[2];
        all[0].samples.push(Sample {
            series: "keskin-3d".into(),
            place,
            seconds: 1e-6,
            error: Some(1e-7),
            device: "here".into(),
        });
        let rows = published::of(paper.name).unwrap();
        let text = page(paper, &setting(), &all, &rows).unwrap();
        for experiment in paper.experiments {
            assert!(text.contains(&format!("id=\"{}-gflops\"", experiment.name)), "{}", experiment.name);
        }
        assert_eq!(text.matches("<svg").count(), paper.experiments.len());
        // 16 cubes of 64 points: 16 x 5 x 64 x 6 operations in a microsecond.
        assert!(text.contains("<td>4x4x4</td><td>16</td><td>30.7</td>"), "{text}");
        for word in ["a &lt;device&gt;", "one &amp; two", "486 GFLOPS", "1.0e-7", "pdfslide"] {
            assert!(text.contains(word), "{word}");
        }
    }

    #[test]
    fn the_index_leads_to_the_pages_that_there_are() {
        let papers: Vec<_> = paper::ALL.into_iter().map(|paper| (paper, paper.name == "lloyd")).collect();
        let text = index(&papers, &setting());
        assert!(text.contains("href=\"lloyd.html\"") && !text.contains("href=\"mitra.html\""));
        assert_eq!(text.matches("not measured yet").count(), 4);
    }
}
