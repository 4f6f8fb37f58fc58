//! Lines as a picture: how much of its budget each one takes.
//!
//! Budgets are of several kinds (at most, at least, within a time), so the axis has none of the figures but
//! their share of the budget: 1 is all of it, 0.5 is twice as good as promised. It is logarithmic, so that
//! twice as good and twice as bad are equally far from the middle.

use std::fmt::Write;

use crate::line::{Line, Verdict};
use crate::report::Report;

const WIDTH: f64 = 960.0;
/// Where the axis begins and ends, from the left.
const AXIS: (f64, f64) = (470.0, 780.0);
/// The shares that the axis begins and ends with; what lies beyond is drawn at the end.
const SHARES: (f64, f64) = (1.0 / 16.0, 4.0);
const TICKS: [(f64, &str); 7] =
    [(0.0625, "1/16"), (0.125, "1/8"), (0.25, "1/4"), (0.5, "1/2"), (1.0, "budget"), (2.0, "2x"), (4.0, "4x")];
/// Above the first line.
const TOP: f64 = 78.0;
const LINE_HEIGHT: f64 = 17.0;
/// Colours that also those tell apart who see red and green alike.
const KEPT: &str = "#0072b2";
const MISSED: &str = "#d55e00";

/// The lines that have a budget, drawn.
pub(crate) fn svg(report: &Report) -> String {
    let drawn: Vec<(&Line, f64)> =
        report.lines.iter().filter_map(|line| line.taken().map(|taken| (line, taken))).collect();
    let height = drawn.len() as f64 * LINE_HEIGHT + TOP + 16.0;
    let bottom = height - 16.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    text(&mut svg, (16.0, 24.0), "start", "#000", &format!("What each line takes of its budget, {}", report.date));
    let below = format!("{}. Left of the budget is better; {}", report.machine.shown(), report.summary());
    text(&mut svg, (16.0, 42.0), "start", "#555", &below);
    for (share, label) in TICKS {
        let x = place(share);
        text(&mut svg, (x, TOP - 12.0), "middle", "#555", label);
        let colour = if label == "budget" { "#555" } else { "#ddd" };
        push(&mut svg, &format!("<path d=\"M{x:.1} {:.1}V{bottom}\" stroke=\"{colour}\"/>", TOP - 6.0));
    }
    for (number, (line, taken)) in drawn.into_iter().enumerate() {
        row(&mut svg, TOP + (number as f64 + 0.5) * LINE_HEIGHT, line, taken);
    }
    push(&mut svg, "</svg>");
    svg
}

fn row(svg: &mut String, y: f64, line: &Line, taken: f64) {
    let colour = if line.verdict == Verdict::Missed { MISSED } else { KEPT };
    let (x, middle, baseline) = (place(taken), place(1.0), y + 4.0);
    text(svg, (AXIS.0 - 14.0, baseline), "end", "#000", &line.title());
    push(svg, &format!("<path d=\"M{middle:.1} {y}H{x:.1}\" stroke=\"{colour}\" stroke-width=\"3\"/>"));
    push(svg, &format!("<circle cx=\"{x:.1}\" cy=\"{y}\" r=\"4\" fill=\"{colour}\"/>"));
    let figures = format!("{} (budget {})", line.shown_ratio(), line.shown_budget());
    text(svg, (AXIS.1 + 14.0, baseline), "start", colour, &figures);
}

/// Where a share stands on the axis.
fn place(share: f64) -> f64 {
    let (from, to) = (SHARES.0.log2(), SHARES.1.log2());
    let along = (share.log2().clamp(from, to) - from) / (to - from);
    (AXIS.1 - AXIS.0).mul_add(along, AXIS.0)
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, colour: &str, content: &str) {
    let content = content.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    push(svg, &format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{content}</text>"));
}

fn push(svg: &mut String, element: &str) {
    // Writing to a string can't fail.
    let _ = writeln!(svg, "{element}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Measure;

    #[test]
    fn better_is_further_left_and_nothing_leaves_the_axis() {
        let places: Vec<f64> = [0.0001, 0.0625, 0.5, 1.0, 3.0, 4.0, 99.0].map(place).to_vec();
        assert!(places.is_sorted(), "{places:?}");
        assert_eq!((places.first(), places.last()), (Some(&AXIS.0), Some(&AXIS.1)));
    }

    #[test]
    fn lines_with_a_budget_are_drawn_and_their_names_are_escaped() {
        let mut report = Report::new(1);
        report.add(Line::new(Measure::time("memory/get", "RwLock<BTreeMap>").at_most(2.0), vec![9.0], vec![1.0]));
        report.add(Line::new(Measure::time("tables/open", "with 10"), vec![1.0], vec![1.0]));
        let svg = svg(&report);
        assert!(svg.contains("memory/get vs RwLock&lt;BTreeMap&gt;") && svg.contains(MISSED), "{svg}");
        assert!(!svg.contains("tables/open"), "{svg}");
    }
}
