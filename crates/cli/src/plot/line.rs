//! The spectrum over one axis: a line for each channel.

use plotters::prelude::*;

use super::{COLORS, Canvas, Drawing, decibels, failed};
use crate::error::CliError;
use crate::kind::Along;

const SIZE: (u32, u32) = (1200, 640);
/// Points drawn for each line at most; more lie within one pixel.
const COLUMNS: usize = 1100;
/// Which points are drawn, and where they lie on the horizontal axis.
struct Scale {
    count: usize,
    start: f64,
    step: f64,
    label: &'static str,
}

impl Scale {
    fn new(drawing: &Drawing<'_>, axis: usize) -> Self {
        let (count, along) = (drawing.shape[axis], drawing.along(axis));
        if along == Along::Places {
            let (step, label) = match drawing.sample_rate {
                Some(rate) => (1.0 / rate, "time (s)"),
                None => (1.0, "sample"),
            };
            return Self { count, start: 0.0, step, label };
        }
        let (rate, label) = match drawing.sample_rate {
            Some(rate) if rate >= 2000.0 => (rate / 1000.0, "frequency (kHz)"),
            Some(rate) => (rate, "frequency (Hz)"),
            None => (1.0, "frequency (cycles per sample)"),
        };
        let step = rate / count as f64;
        match along {
            Along::Waves { start, period } => {
                Self { count, start: start * rate / period, step: rate / period, label }
            }
            Along::Half(points) => Self { count, start: 0.0, step: rate / points as f64, label },
            _ if drawing.shifted => Self { count, start: -((count / 2) as f64) * step, step, label },
            _ if drawing.real => Self { count: count / 2 + 1, start: 0.0, step, label },
            _ => Self { count, start: 0.0, step, label },
        }
    }

    fn range(&self) -> std::ops::Range<f64> {
        let last = self.start + (self.count - 1) as f64 * self.step;
        if last > self.start {
            self.start..last
        } else {
            self.start - self.step / 2.0..self.start + self.step / 2.0
        }
    }
}

/// Draws one line for each index of the other axes.
pub fn draw(drawing: &Drawing<'_>, axis: usize) -> Result<Canvas, CliError> {
    let (stride, peak) = (drawing.stride(axis), drawing.peak());
    let scale = Scale::new(drawing, axis);
    let lines: Vec<Vec<(f64, f64)>> = drawing
        .offsets()
        .into_iter()
        .map(|offset| {
            let level = |k: usize| decibels(drawing.samples.get(offset + k * stride).norm(), peak);
            thinned(&scale, level)
        })
        .collect();
    let lowest = lines.iter().flatten().map(|&(_, level)| level).fold(0.0, f64::min);
    let bottom = ((lowest / 10.0).floor() * 10.0).min(-10.0);

    let mut canvas = Canvas::new(SIZE);
    {
        let root = BitMapBackend::with_buffer(&mut canvas.pixels, SIZE).into_drawing_area();
        root.fill(&WHITE).map_err(failed)?;
        let mut chart = ChartBuilder::on(&root)
            .caption(&drawing.title, ("sans-serif", 26))
            .margin(18)
            .x_label_area_size(58)
            .y_label_area_size(80)
            .build_cartesian_2d(scale.range(), bottom..(-bottom * 0.04))
            .map_err(failed)?;
        chart
            .configure_mesh()
            .x_desc(scale.label)
            .y_desc("magnitude (dB below the peak)")
            .axis_desc_style(("sans-serif", 20))
            .label_style(("sans-serif", 17))
            .light_line_style(RGBColor(244, 244, 244))
            .bold_line_style(RGBColor(214, 214, 214))
            .x_labels(12)
            .y_labels(10)
            .x_label_formatter(&|value| tidy(*value))
            .y_label_formatter(&|value| format!("{value:.0}"))
            .draw()
            .map_err(failed)?;
        let several = lines.len() > 1;
        for (index, (line, color)) in lines.into_iter().zip(COLORS).enumerate() {
            let single = (line.len() == 1).then(|| line[0]);
            // One pixel wide: joints of wider lines stick out of sharp peaks, far beyond the axes.
            let series = chart.draw_series(LineSeries::new(line, color)).map_err(failed)?;
            if several {
                series
                    .label(format!("channel {index}"))
                    .legend(move |(x, y)| PathElement::new([(x, y), (x + 24, y)], color.stroke_width(3)));
            }
            if let Some(point) = single {
                chart.draw_series([Circle::new(point, 5, color.filled())]).map_err(failed)?;
            }
        }
        if several {
            chart
                .configure_series_labels()
                .position(SeriesLabelPosition::UpperRight)
                .label_font(("sans-serif", 17))
                .background_style(WHITE.mix(0.85))
                .border_style(RGBColor(180, 180, 180))
                .draw()
                .map_err(failed)?;
        }
        root.present().map_err(failed)?;
    }
    Ok(canvas)
}

/// The line's points; of those that share a column of pixels, the highest and the lowest in their order.
fn thinned(scale: &Scale, level: impl Fn(usize) -> f64) -> Vec<(f64, f64)> {
    let place = |k: usize| scale.start + k as f64 * scale.step;
    if scale.count <= 2 * COLUMNS {
        return (0..scale.count).map(|k| (place(k), level(k))).collect();
    }
    let mut points = Vec::with_capacity(2 * COLUMNS);
    for column in 0..COLUMNS {
        // 128 bits: the product of two counts.
        let edge = |column: usize| (column as u128 * scale.count as u128 / COLUMNS as u128) as usize;
        let (mut high, mut low) = ((edge(column), f64::NEG_INFINITY), (edge(column), f64::INFINITY));
        for k in edge(column)..edge(column + 1) {
            let level = level(k);
            if level > high.1 {
                high = (k, level);
            }
            if level < low.1 {
                low = (k, level);
            }
        }
        let (first, second) = if high.0 <= low.0 { (high, low) } else { (low, high) };
        points.push((place(first.0), first.1));
        points.push((place(second.0), second.1));
    }
    points
}

/// A label without a tail of zeros or of rounding errors.
pub fn tidy(value: f64) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_every_peak_column() {
        let scale = Scale { count: 1_000_000, start: 0.0, step: 1.0, label: "" };
        let points = thinned(&scale, |k| if k == 777_777 { 0.0 } else { -100.0 });
        assert!(points.len() <= 2 * COLUMNS);
        assert!(points.contains(&(777_777.0, 0.0)));
        assert!(points.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    }

    #[test]
    fn labels() {
        assert_eq!([0.5, -0.0, 12.0, 0.1 + 0.2, 1000.0].map(tidy), ["0.5", "0", "12", "0.3", "1000"]);
    }
}
