//! Plots as inline SVG.

use std::fmt::Write;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 260.0;
const MARGIN_LEFT: f64 = 70.0;
const MARGIN_RIGHT: f64 = 15.0;
const MARGIN_TOP: f64 = 15.0;
const MARGIN_BOTTOM: f64 = 40.0;
const RIGHT: f64 = WIDTH - MARGIN_RIGHT;
const BOTTOM: f64 = HEIGHT - MARGIN_BOTTOM;
const COLORS: [&str; 6] = ["#2563eb", "#ea580c", "#16a34a", "#9333ea", "#dc2626", "#0891b2"];

/// Lines of levels and bands.
const MUTED: &str = "#94a3b8";

/// A line of a plot.
#[derive(Debug, Clone)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Places on both axes.
    pub points: Vec<(f64, f64)>,
}

/// A part of the horizontal axis that is shaded, with its name.
#[derive(Debug, Clone)]
pub struct Band {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// Written at its top.
    pub name: String,
    /// Shaded as a fault.
    pub is_fault: bool,
}

/// A horizontal line, such as a published figure.
#[derive(Debug, Clone)]
pub struct Level {
    /// Written on it.
    pub name: String,
    /// Its height.
    pub value: f64,
}

/// An axis: how to place a value between 0 and 1, where its ticks are, and how to write them.
pub struct Axis {
    title: &'static str,
    pub(crate) max: f64,
    pub(crate) place: fn(value: f64, max: f64) -> f64,
    pub(crate) ticks: Vec<(f64, String)>,
}

/// Lines over an axis.
pub struct Plot<'a> {
    /// The horizontal axis.
    pub x: &'a Axis,
    /// The vertical axis.
    pub y: &'a Axis,
    /// The measured values.
    pub lines: &'a [Line],
    /// Shaded times.
    pub bands: &'a [Band],
    /// Values to compare with.
    pub levels: &'a [Level],
}

impl<'a> Plot<'a> {
    /// One without anything in it.
    pub fn new(x: &'a Axis, y: &'a Axis) -> Self {
        Self { x, y, lines: &[], bands: &[], levels: &[] }
    }

    /// The plot as an element of a page.
    pub fn svg(&self) -> String {
        let height = HEIGHT + 20.0 * self.lines.len().div_ceil(2) as f64;
        let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">");
        self.draw_bands(&mut svg);
        self.draw_axes(&mut svg);
        self.draw_levels(&mut svg);
        self.draw_lines(&mut svg);
        svg.push_str("</svg>");
        svg
    }

    fn at_x(&self, value: f64) -> f64 {
        MARGIN_LEFT + (self.x.place)(value, self.x.max).clamp(0.0, 1.0) * (RIGHT - MARGIN_LEFT)
    }

    fn at_y(&self, value: f64) -> f64 {
        BOTTOM - (self.y.place)(value, self.y.max).clamp(0.0, 1.0) * (BOTTOM - MARGIN_TOP)
    }

    fn draw_bands(&self, svg: &mut String) {
        for (index, band) in self.bands.iter().enumerate() {
            let (from, to) = (self.at_x(band.from), self.at_x(band.to));
            let (color, opacity) = match (band.is_fault, index % 2) {
                (true, _) => ("#dc2626", ".16"),
                (false, 0) => (MUTED, ".10"),
                (false, _) => (MUTED, ".20"),
            };
            let _ = write!(
                svg,
                "<rect x=\"{from:.1}\" y=\"{MARGIN_TOP}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{color}\" fill-opacity=\"{opacity}\"><title>{}</title></rect>",
                (to - from).max(0.5),
                BOTTOM - MARGIN_TOP,
                escape(&band.name)
            );
        }
    }

    fn draw_axes(&self, svg: &mut String) {
        for (value, label) in &self.y.ticks {
            let at = self.at_y(*value);
            let _ = write!(
                svg,
                "<line x1=\"{MARGIN_LEFT}\" x2=\"{RIGHT}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"{MUTED}\" stroke-opacity=\".35\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                MARGIN_LEFT - 8.0,
                at + 4.0
            );
        }
        for (value, label) in &self.x.ticks {
            let _ = write!(
                svg,
                "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
                self.at_x(*value),
                BOTTOM + 16.0
            );
        }
        let _ = write!(
            svg,
            "<text x=\"{RIGHT}\" y=\"{}\" text-anchor=\"end\">{}</text><text x=\"{MARGIN_LEFT}\" y=\"10\">{}</text>",
            BOTTOM + 32.0,
            self.x.title,
            self.y.title
        );
    }

    fn draw_levels(&self, svg: &mut String) {
        for level in self.levels.iter().filter(|level| level.value <= self.y.max) {
            let at = self.at_y(level.value);
            let _ = write!(
                svg,
                "<line x1=\"{MARGIN_LEFT}\" x2=\"{RIGHT}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#dc2626\" stroke-dasharray=\"6 4\"/>\
                 <text x=\"{RIGHT}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                at - 4.0,
                escape(&level.name)
            );
        }
    }

    fn draw_lines(&self, svg: &mut String) {
        for (index, line) in self.lines.iter().enumerate() {
            let color = COLORS[index % COLORS.len()];
            let mut points = String::with_capacity(line.points.len() * 12);
            for &(px, py) in &line.points {
                let _ = write!(points, "{:.1},{:.1} ", self.at_x(px), self.at_y(py));
            }
            let (column, row) = ((index % 2) as f64, (index / 2) as f64);
            let (legend_x, legend_y) = (MARGIN_LEFT + column * 390.0, HEIGHT + 8.0 + row * 20.0);
            let _ = write!(
                svg,
                "<polyline fill=\"none\" stroke=\"{color}\" stroke-width=\"2\" points=\"{}\"/>\
                 <rect x=\"{legend_x}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{color}\"/>\
                 <text x=\"{}\" y=\"{legend_y}\">{}</text>",
                points.trim_end(),
                legend_y - 11.0,
                legend_x + 18.0,
                escape(&line.name)
            );
        }
    }
}

/// An axis from zero, with ticks at round numbers.
pub fn linear(title: &'static str, max: f64) -> Axis {
    let max = if max > 0.0 && max.is_finite() { max } else { 1.0 };
    let magnitude = 10_f64.powf((max / 5.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * magnitude);
    let step = steps.into_iter().find(|step| max / step <= 6.0).unwrap_or(max);
    let decimals = if step < 1.0 { (-step.log10().floor()) as usize } else { 0 };
    let count = (max / step).ceil() as u32;
    let ticks = (0..=count).map(|index| {
        let value = f64::from(index) * step;
        (value, format!("{value:.decimals$}"))
    });
    Axis { title, max: f64::from(count) * step, place: |value, max| value / max, ticks: ticks.collect() }
}

/// An axis on which each further nine of a percentile takes the same room.
pub(crate) fn percentiles() -> Axis {
    const NINES_MAX: f64 = 5.0;
    let nines = |percentile: f64, max: f64| -(1.0 - percentile / 100.0).max(10_f64.powf(-max)).log10() / max;
    let ticks = [0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999].map(|value| (value, format!("{value} %")));
    Axis { title: "percentile", max: NINES_MAX, place: nines, ticks: ticks.to_vec() }
}

/// Text as it stands in a page.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_cover_the_values() {
        for max in [0.0, 0.03, 1.0, 7.3, 149.9, 72_000.0] {
            let axis = linear("", max);
            assert!(axis.max >= max && (2..=7).contains(&axis.ticks.len()), "{max}: {:?}", axis.ticks);
        }
        let axis = linear("", 149.9);
        let labels: Vec<&str> = axis.ticks.iter().map(|tick| tick.1.as_str()).collect();
        assert_eq!(labels, ["0", "50", "100", "150"]);
    }

    #[test]
    fn each_nine_takes_the_same_room() {
        let axis = percentiles();
        let at = |value| (axis.place)(value, axis.max);
        assert!((at(99.0) - at(90.0) - (at(99.9) - at(99.0))).abs() < 1e-9);
        assert!((at(100.0) - 1.0).abs() < 1e-9 && at(0.0).abs() < 1e-9);
    }
}
