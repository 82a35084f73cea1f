//! Results of a suite: copies over the points of a transform, ours and other libraries', a panel for each precision
//! and for one and more dimensions.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::{Canvas, count, encoded, failed, register};
use crate::error::CliError;
use crate::suite::Record;

const PANEL: (u32, u32) = (900, 560);
/// Copies beyond this are drawn at the upper edge.
const MOST: f64 = 8.0;

/// A library's points: name, colour, and its copies in a row.
type Library = (&'static str, RGBColor, fn(&Record) -> Option<f64>);

/// Peers first, so that ours lie above.
const LIBRARIES: [Library; 4] = [
    ("VkFFT", RGBColor(44, 140, 66), |record| record.vkfft_before),
    ("cuFFT", RGBColor(214, 96, 26), Record::cufft),
    ("FFTW", RGBColor(120, 80, 170), |record| record.fftw_copies),
    ("warpfft", RGBColor(31, 82, 160), |record| record.copies),
];

/// Draws, and returns the bytes of a PNG file.
pub fn draw(records: &[Record]) -> Result<Vec<u8>, CliError> {
    register()?;
    let panels = panels(records);
    let columns = panels.len().clamp(1, 2) as u32;
    let rows = (panels.len() as u32).div_ceil(columns).max(1);
    let mut canvas = Canvas::new((PANEL.0 * columns, PANEL.1 * rows));
    {
        let root = BitMapBackend::with_buffer(&mut canvas.pixels, canvas.size).into_drawing_area();
        root.fill(&WHITE).map_err(failed)?;
        let areas = root.split_evenly((rows as usize, columns as usize));
        for (area, (title, members)) in areas.iter().zip(&panels) {
            panel(area, title, members)?;
        }
        root.present().map_err(failed)?;
    }
    encoded(&canvas)
}

/// Measured rows by what they are drawn with.
fn panels(records: &[Record]) -> Vec<(String, Vec<&Record>)> {
    let mut panels: Vec<(String, Vec<&Record>)> = Vec::new();
    for record in records.iter().filter(|record| record.copies.is_some()) {
        let rank = match record.shape.0.len() {
            1 => "one dimension",
            _ => "two and three dimensions",
        };
        // Kinds from reals to reals have few rows each.
        let kind = record.kind.real().map_or_else(|| record.kind.to_string(), |_| "reals to reals".into());
        let title = format!("{kind} {}, {rank}", record.precision);
        match panels.iter_mut().find(|(known, _)| *known == title) {
            Some((_, members)) => members.push(record),
            None => panels.push((title, vec![record])),
        }
    }
    panels
}

fn panel(
    area: &DrawingArea<BitMapBackend<'_>, Shift>,
    title: &str,
    records: &[&Record],
) -> Result<(), CliError> {
    let points = |library: &Library| -> Vec<(f64, f64)> {
        let place = |record: &&Record| Some((record.points().log2(), (library.2)(record)?.min(MOST)));
        records.iter().filter_map(place).collect()
    };
    let drawn: Vec<(&Library, Vec<(f64, f64)>)> = LIBRARIES
        .iter()
        .map(|library| (library, points(library)))
        .filter(|(_, all)| !all.is_empty())
        .collect();
    let places = || drawn.iter().flat_map(|(_, all)| all);
    let left = places().map(|place| place.0).fold(f64::MAX, f64::min) - 0.5;
    let right = places().map(|place| place.0).fold(f64::MIN, f64::max) + 0.5;
    let top = places().map(|place| place.1).fold(2.0, f64::max) * 1.05;
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 24))
        .margin(16)
        .x_label_area_size(52)
        .y_label_area_size(64)
        .build_cartesian_2d(left..right, 0.0..top)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .x_desc("points of one transform")
        .y_desc("copies")
        .axis_desc_style(("sans-serif", 19))
        .label_style(("sans-serif", 16))
        .light_line_style(RGBColor(244, 244, 244))
        .bold_line_style(RGBColor(214, 214, 214))
        .x_labels(14)
        .y_labels(10)
        .x_label_formatter(&|log| count(log.exp2()))
        .y_label_formatter(&|copies| format!("{copies:.1}"))
        .draw()
        .map_err(failed)?;
    let floor = PathElement::new([(left, 1.0), (right, 1.0)], RGBColor(90, 90, 90).stroke_width(2));
    chart.draw_series([floor]).map_err(failed)?;
    for ((name, color, _), all) in drawn {
        let color = *color;
        let dot = move |place| Circle::new(place, 4, color.mix(0.75).filled());
        let series = chart.draw_series(all.into_iter().map(dot)).map_err(failed)?;
        series.label(*name).legend(move |(x, y)| Circle::new((x + 10, y), 5, color.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .label_font(("sans-serif", 17))
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(180, 180, 180))
        .draw()
        .map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::tests::measured;

    #[test]
    fn results_are_drawn_in_panels() {
        let records = measured(&[1.0, 1.5, 20.0]);
        let size = |records: &[Record]| {
            let picture = image::load_from_memory(&draw(records).unwrap()).unwrap().into_rgb8();
            let blue = picture.pixels().filter(|pixel| pixel.0[2] > 120 && pixel.0[0] < 120).count();
            (picture.dimensions(), blue > 60)
        };
        assert_eq!(size(&records), (PANEL, true));
        assert_eq!(size(&[]), (PANEL, false), "nothing to draw is an empty sheet");
    }
}
