//! Several lines over one quantity, as an SVG drawing to stand in a page.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use super::{COLORS, count, failed, register};
use crate::error::CliError;

const SIZE: (u32, u32) = (960, 460);
/// Pixels across for the names.
const NAMES: u32 = 250;
/// The colour of levels.
const LEVEL: RGBColor = RGBColor(90, 90, 90);
/// Values further apart than this are drawn over their logarithms.
const WIDE: f64 = 20.0;

type Area<'b> = DrawingArea<SVGBackend<'b>, Shift>;
/// Where lines are drawn.
type Chart<'a, 'b, Y> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, Y>>;

/// A line, with gaps where it has no value.
pub struct Line {
    /// Its name.
    pub name: String,
    /// Places, in order, with their values.
    pub points: Vec<(f64, Option<f64>)>,
    /// Whether its points are drawn alone.
    pub dots: bool,
}

/// What is drawn.
pub struct Lines {
    /// What lies along the axis at the bottom.
    pub x: String,
    /// What the values count.
    pub y: String,
    /// The lines.
    pub lines: Vec<Line>,
    /// Values that are the same everywhere, with their names.
    pub levels: Vec<(String, f64)>,
}

impl Lines {
    /// The drawing.
    pub fn svg(&self) -> Result<String, CliError> {
        register()?;
        let values = || {
            let points = self.lines.iter().flat_map(|line| &line.points).filter_map(|point| point.1);
            points.chain(self.levels.iter().map(|level| level.1)).filter(|value| *value > 0.0)
        };
        let (low, high) =
            values().fold((f64::MAX, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        let mut svg = String::new();
        {
            let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
            root.fill(&WHITE).map_err(failed)?;
            let (chart, names) = root.split_horizontally(SIZE.0 - NAMES);
            if high > 0.0 && high / low > WIDE {
                self.chart(&chart, (low * 0.7..high * 1.6).log_scale())?;
            } else {
                self.chart(&chart, 0.0..high.max(f64::MIN_POSITIVE) * 1.1)?;
            }
            self.legend(&names)?;
            root.present().map_err(failed)?;
        }
        Ok(svg)
    }

    fn chart<Y>(&self, root: &Area<'_>, y: Y) -> Result<(), CliError>
    where
        Y: AsRangedCoord<Value = f64>,
        Y::CoordDescType: ValueFormatter<f64> + Ranged<ValueType = f64>,
    {
        let xs = || self.lines.iter().flat_map(|line| &line.points).map(|point| point.0.log2());
        let (left, right) = (xs().fold(f64::MAX, f64::min) - 0.3, xs().fold(f64::MIN, f64::max) + 0.3);
        let (left, right) = if left < right { (left, right) } else { (0.0, 1.0) };
        let mut chart = ChartBuilder::on(root)
            .margin(12)
            .x_label_area_size(46)
            .y_label_area_size(78)
            .build_cartesian_2d(left..right, y)
            .map_err(failed)?;
        chart
            .configure_mesh()
            .x_desc(&self.x)
            .y_desc(&self.y)
            .axis_desc_style(("sans-serif", 16))
            .label_style(("sans-serif", 14))
            .max_light_lines(0)
            .bold_line_style(RGBColor(214, 214, 214))
            .x_labels(12)
            .y_labels(8)
            .x_label_formatter(&|log| {
                if log.fract().abs() < 1e-6 { count(log.exp2()) } else { String::new() }
            })
            .y_label_formatter(&|value| short(*value))
            .draw()
            .map_err(failed)?;
        self.draw(&mut chart, [left, right])
    }

    /// Levels and lines.
    fn draw<Y>(&self, chart: &mut Chart<'_, '_, Y>, [left, right]: [f64; 2]) -> Result<(), CliError>
    where
        Y: Ranged<ValueType = f64>,
    {
        for (_, level) in &self.levels {
            let across = [(left, *level), (right, *level)];
            let line = DashedLineSeries::new(across, 8, 5, LEVEL.stroke_width(2));
            chart.draw_series(line).map_err(failed)?;
        }
        for (line, color) in self.colored() {
            let place =
                |&(x, value): &(f64, Option<f64>)| Some((x.log2(), value.filter(|value| *value > 0.0)?));
            // Where a value is missing the line stops.
            for run in line.points.split(|point| place(point).is_none()).filter(|_| !line.dots) {
                let run = LineSeries::new(run.iter().filter_map(place), color.stroke_width(2));
                chart.draw_series(run).map_err(failed)?;
            }
            let dots =
                line.points.iter().filter_map(place).map(|place| Circle::new(place, 3, color.filled()));
            chart.draw_series(dots).map_err(failed)?;
        }
        Ok(())
    }

    /// Names beside the drawing, where they cover nothing.
    fn legend(&self, area: &Area<'_>) -> Result<(), CliError> {
        let levels = self.levels.iter().map(|(name, _)| (name, LEVEL));
        let names = self.colored().map(|(line, color)| (&line.name, color)).chain(levels);
        for (row, (name, color)) in names.enumerate() {
            let y = 20 + 20 * row as i32;
            area.draw(&PathElement::new([(4, y), (24, y)], color.stroke_width(3))).map_err(failed)?;
            area.draw(&Text::new(name.as_str(), (30, y - 7), ("sans-serif", 14))).map_err(failed)?;
        }
        Ok(())
    }

    fn colored(&self) -> impl Iterator<Item = (&Line, RGBColor)> {
        self.lines.iter().zip(COLORS.into_iter().cycle())
    }
}

/// A value in short, of any size.
pub fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        1e-3..10.0 => trimmed(&format!("{value:.3}")),
        10.0..100.0 => trimmed(&format!("{value:.1}")),
        100.0..1e7 => format!("{value:.0}"),
        _ => format!("{value:.2e}"),
    }
}

fn trimmed(text: &str) -> String {
    text.trim_end_matches('0').trim_end_matches('.').into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, values: &[Option<f64>]) -> Line {
        let points = values.iter().enumerate().map(|(i, value)| ((1_u64 << i) as f64, *value)).collect();
        Line { name: name.into(), points, dots: false }
    }

    #[test]
    fn lines_are_drawn_with_gaps_levels_and_names() {
        let lines = Lines {
            x: "points".into(),
            y: "GFLOPS".into(),
            lines: vec![
                line("one & all", &[Some(1.0), None, Some(2000.0), Some(3000.0)]),
                line("other", &[None, Some(1.0)]),
            ],
            levels: vec![("the most".into(), 486.0)],
        };
        let svg = lines.svg().expect("it is drawn");
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        for word in ["points", "GFLOPS", "one &amp; all", "other", "the most"] {
            assert!(svg.contains(word), "{word}");
        }
        // Four values of one line and one of the other; the legend has no circles.
        assert_eq!(svg.matches("<circle").count(), 4);
    }

    #[test]
    fn anything_is_drawn() {
        for values in [&[][..], &[None], &[Some(0.0)], &[Some(5.0)], &[Some(1e-9), Some(1e9)]] {
            let lines =
                Lines { x: "x".into(), y: "y".into(), lines: vec![line("a", values)], levels: Vec::new() };
            assert!(lines.svg().expect("it is drawn").contains("</svg>"), "{values:?}");
        }
    }

    #[test]
    fn labels_are_short() {
        let values = [0.0, 0.5, 0.0125, 486.2, 12.34, 1.5e-6, 2.5e7];
        assert_eq!(values.map(short), ["0", "0.5", "0.013", "486", "12.3", "1.50e-6", "2.50e7"]);
    }
}
