//! The spectrum over two axes: a picture with frequency 0 in its middle, or at its edge where no frequency is negative;
//! rows downwards as in the array.

use std::ops::Range;

use plotters::prelude::*;

use super::line::tidy;
use super::{Canvas, Drawing, decibels, failed};
use crate::error::CliError;
use crate::kind::Along;

/// Pixels of the longer side of the spectrum.
const LONG_SIDE: f64 = 760.0;
/// Pixels of the shorter side at least, so that labels fit beside it.
const SHORT_SIDE: f64 = 260.0;
/// Space around the spectrum: left, top, right (with the colour bar), bottom.
const MARGINS: [u32; 4] = [110, 60, 150, 80];
/// The colour bar: its distance and its width.
const BAR: (u32, u32) = (24, 26);

/// The levels in dB, in the order in which they are shown.
struct Levels {
    rows: usize,
    columns: usize,
    data: Vec<f32>,
}

/// Draws the sum of the channels' powers.
pub fn draw(drawing: &Drawing<'_>) -> Result<Canvas, CliError> {
    let levels = levels(drawing);
    let longer = levels.rows.max(levels.columns) as f64;
    let side = |extent: usize| (extent as f64 / longer * LONG_SIDE).max(SHORT_SIDE) as u32;
    let (width, height) = (side(levels.columns), side(levels.rows));
    let [left, top, right, bottom] = MARGINS;
    let size = (left + width + right, top + height + bottom);
    let lowest = darkest(&levels.data);

    let mut canvas = Canvas::new(size);
    decorate(drawing, &mut canvas, (width, height), lowest)?;
    for y in 0..height {
        let rows = covered(y, height, levels.rows);
        for x in 0..width {
            let level = loudest(&levels, rows.clone(), covered(x, width, levels.columns));
            paint(&mut canvas, left + x, top + y, (level - lowest) / -lowest);
        }
        let share = 1.0 - (f64::from(y) + 0.5) / f64::from(height);
        for x in 0..BAR.1 {
            paint(&mut canvas, left + width + BAR.0 + x, top + y, share as f32);
        }
    }
    Ok(canvas)
}

/// Axes, labels and title around the spectrum and the colour bar.
fn decorate(
    drawing: &Drawing<'_>,
    canvas: &mut Canvas,
    (width, height): (u32, u32),
    lowest: f32,
) -> Result<(), CliError> {
    let [left, top, right, bottom] = MARGINS;
    let size = canvas.size;
    let root = BitMapBackend::with_buffer(&mut canvas.pixels, size).into_drawing_area();
    root.fill(&WHITE).map_err(failed)?;
    let title = ("sans-serif", 24).into_font().into_text_style(&root);
    root.draw_text(&drawing.title, &title, (left as i32, 18)).map_err(failed)?;
    let (spectrum, bar) = root.split_horizontally(left + width + BAR.0 / 2);
    let spectrum = spectrum.margin(top, 0, 0, BAR.0 / 2);
    let [row_axis, column_axis] = sorted(drawing);
    let (rows, columns) = (extent(drawing, row_axis), extent(drawing, column_axis));
    let unit = |axis| if drawing.along(axis) == Along::Places { "sample" } else { "cycles per sample" };
    let mut chart = ChartBuilder::on(&spectrum)
        .margin_left(24)
        .margin_bottom(20)
        .x_label_area_size(bottom - 20)
        .y_label_area_size(left - 24)
        // Plots count upwards and rows downwards: the axis is turned over and its labels turned back.
        .build_cartesian_2d(columns, -rows.end..-rows.start)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_desc(format!("axis {column_axis} ({})", unit(column_axis)))
        .y_desc(format!("axis {row_axis} ({})", unit(row_axis)))
        .axis_desc_style(("sans-serif", 18))
        .label_style(("sans-serif", 16))
        .x_labels((width / 90) as usize)
        .y_labels((height / 60) as usize)
        .x_label_formatter(&|value| tidy(*value))
        .y_label_formatter(&|value| tidy(-*value))
        .draw()
        .map_err(failed)?;
    let bar = bar.margin(top, bottom, BAR.0 / 2, 0);
    let mut chart = ChartBuilder::on(&bar)
        .margin_right(24)
        .set_label_area_size(LabelAreaPosition::Right, right - BAR.0 - BAR.1 - 24)
        .build_cartesian_2d(0.0..1.0, f64::from(lowest)..0.0)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .disable_x_axis()
        .y_desc("dB below the peak")
        .axis_desc_style(("sans-serif", 18))
        .label_style(("sans-serif", 16))
        .y_labels(9)
        .y_label_formatter(&|value| format!("{value:.0}"))
        .draw()
        .map_err(failed)?;
    root.present().map_err(failed)
}

/// The two axes, rows first.
fn sorted(drawing: &Drawing<'_>) -> [usize; 2] {
    let (a, b) = (drawing.axes[0], drawing.axes[1]);
    [a.min(b), a.max(b)]
}

/// What an axis spans, each cell as wide as its step: places from 0 on, frequencies around 0 or from 0 on.
fn extent(drawing: &Drawing<'_>, axis: usize) -> Range<f64> {
    let n = drawing.shape[axis];
    let cells = n as f64;
    match drawing.along(axis) {
        Along::Places => 0.0..cells,
        Along::Circle => -((n / 2) as f64) / cells..(n - n / 2) as f64 / cells,
        Along::Half(points) => 0.0..cells / points as f64,
        Along::Waves { start, period } => start / period..(start + cells) / period,
    }
}

fn levels(drawing: &Drawing<'_>) -> Levels {
    let axes = sorted(drawing);
    let [rows, columns] = axes.map(|axis| drawing.shape[axis]);
    let [row_stride, column_stride] = axes.map(|axis| drawing.stride(axis));
    let offsets = drawing.offsets();
    // Negative frequencies lie behind the others and are shown before them.
    let turned = axes.map(|axis| drawing.along(axis) == Along::Circle && !drawing.shifted);
    let place = |shown: usize, n: usize, turned| if turned { (shown + n - n / 2) % n } else { shown };
    let magnitude = |row: usize, column: usize| {
        let at = place(row, rows, turned[0]) * row_stride + place(column, columns, turned[1]) * column_stride;
        // hypot, not a sum of squares: those overflow and underflow long before magnitudes do.
        offsets.iter().fold(0.0, |sum, offset| f64::hypot(sum, drawing.samples.get(at + offset).norm()))
    };
    let cells = || (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    let all = cells().map(|(row, column)| magnitude(row, column));
    let peak = all.filter(|magnitude| magnitude.is_finite()).fold(0.0, f64::max);
    let peak = if peak > 0.0 { peak } else { 1.0 };
    #[allow(clippy::cast_possible_truncation, reason = "a level is shown, not computed with")]
    let data = cells().map(|(row, column)| decibels(magnitude(row, column), peak) as f32).collect();
    Levels { rows, columns, data }
}

/// The level of the darkest colour: almost all of the spectrum lies above it, so that a few zeros do not take
/// the contrast from the rest.
fn darkest(levels: &[f32]) -> f32 {
    let mut sorted = levels.to_vec();
    let rank = sorted.len() / 100;
    let (_, level, _) = sorted.select_nth_unstable_by(rank, f32::total_cmp);
    ((*level / 10.0).floor() * 10.0).clamp(-200.0, -20.0)
}

/// The cells that a pixel covers; at least one.
fn covered(pixel: u32, pixels: u32, cells: usize) -> Range<usize> {
    let edge = |pixel: u32| (u64::from(pixel) * cells as u64 / u64::from(pixels)) as usize;
    let start = edge(pixel);
    start..edge(pixel + 1).max(start + 1)
}

fn loudest(levels: &Levels, rows: Range<usize>, columns: Range<usize>) -> f32 {
    let mut loudest = f32::NEG_INFINITY;
    for row in rows {
        for level in &levels.data[row * levels.columns + columns.start..row * levels.columns + columns.end] {
            loudest = loudest.max(*level);
        }
    }
    loudest
}

fn paint(canvas: &mut Canvas, x: u32, y: u32, share: f32) {
    let at = 3 * (y as usize * canvas.size.0 as usize + x as usize);
    canvas.pixels[at..at + 3].copy_from_slice(&color(share));
}

/// Colours of evenly rising lightness, dark to bright, after the public-domain map viridis.
const STOPS: [[f32; 3]; 9] = [
    [68.0, 1.0, 84.0],
    [71.0, 44.0, 122.0],
    [59.0, 81.0, 139.0],
    [44.0, 113.0, 142.0],
    [33.0, 144.0, 141.0],
    [39.0, 173.0, 129.0],
    [92.0, 200.0, 99.0],
    [170.0, 220.0, 50.0],
    [253.0, 231.0, 37.0],
];

fn color(share: f32) -> [u8; 3] {
    let place = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f32;
    let below = (place as usize).min(STOPS.len() - 2);
    let part = place - below as f32;
    std::array::from_fn(|i| (STOPS[below][i] * (1.0 - part) + STOPS[below + 1][i] * part).round() as u8)
}
