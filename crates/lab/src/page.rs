//! One self-contained page for a run: texts, figures and plots, no script, nothing to load.

use std::fmt::Write;

use bench::STYLE;
use bench::plot::{Band, Level, Line, Plot, escape, linear};

use crate::experiment::Experiment;
use crate::experiments;
use crate::result::{ExperimentResult, Judgement, LabRun, PlotKind};

/// Added to the style of all pages.
const MORE_STYLE: &str = "td.bad{color:#dc2626;font-weight:600}dt{font-weight:600}dd{margin:0 0 .4rem 1rem}\
td:nth-child(2),td:nth-child(3){text-align:left}h2{border-top:1px solid #e2e8f0;padding-top:1rem}pre{white-space:pre-wrap;font-size:12px}";

/// The page.
pub(crate) fn page(run: &LabRun) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Lab</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}{MORE_STYLE}</style></head><body>\
         <h1>Lab</h1>\n<p>{}<br/>baton {}, {}<br/>{}</p>\n",
        escape(&run.machine),
        escape(&run.version),
        escape(&run.size),
        escape(&run.command)
    );
    page.push_str("<table><tr><th>row</th><th>title</th><th>verdict</th><th>seconds</th></tr>");
    for result in &run.results {
        let (id, title) = (&result.id, escape(&result.title));
        let _ = write!(
            page,
            "<tr><td><a href=\"#{id}\">{id}</a></td><td>{title}</td>{}<td>{:.1}</td></tr>",
            verdict(result.judgement),
            result.seconds
        );
    }
    page.push_str("</table>\n");
    for result in &run.results {
        section(&mut page, result);
    }
    page.push_str("</body></html>\n");
    page
}

fn verdict(judgement: Judgement) -> String {
    let class = match judgement {
        Judgement::Missed | Judgement::Void => " class=\"bad\"",
        _ => "",
    };
    format!("<td{class}>{}</td>", judgement.word())
}

fn section(page: &mut String, result: &ExperimentResult) {
    let _ = writeln!(page, "<h2 id=\"{}\">{} {}</h2>", result.id, result.id, escape(&result.title));
    if let Some(experiment) = experiments::find(&result.id) {
        texts(page, experiment);
    }
    if let Some(reason) = &result.reason {
        let _ = writeln!(page, "<p><strong>{}</strong>: {}</p>", result.judgement.word(), escape(reason));
    }
    if !result.findings.is_empty() {
        page.push_str(
            "<table><tr><th>phase</th><th>figure</th><th>expected</th><th>actual</th><th>verdict</th></tr>",
        );
        for finding in &result.findings {
            let _ = write!(
                page,
                "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td>{}</tr>",
                escape(&finding.phase),
                escape(&finding.figure),
                escape(&finding.limit.text(finding.unit)),
                escape(&finding.actual_text()),
                verdict(finding.judgement)
            );
        }
        page.push_str("</table>\n");
    }
    for note in &result.notes {
        let _ = writeln!(page, "<p>{}</p>", escape(note));
    }
    for kind in PlotKind::ALL {
        plot(page, result, kind);
    }
    if !result.started.is_empty() {
        let _ = writeln!(page, "<pre>{}</pre>", escape(&result.started.join("\n")));
    }
}

fn texts(page: &mut String, experiment: &Experiment) {
    page.push_str("<dl>");
    for (name, text) in [
        ("Hypothesis", experiment.hypothesis),
        ("Set-up", experiment.set_up),
        ("Steady state", experiment.steady_state),
        ("Action", experiment.action),
        ("Measured", experiment.measurement),
        ("Reference", experiment.reference),
    ] {
        if !text.is_empty() {
            let _ = write!(page, "<dt>{name}</dt><dd>{}</dd>", escape(text));
        }
    }
    page.push_str("</dl>\n");
}

fn plot(page: &mut String, result: &ExperimentResult, kind: PlotKind) {
    let lines: Vec<Line> = result
        .curves
        .iter()
        .filter(|curve| curve.plot == kind && curve.points.len() > 1)
        .filter(|curve| {
            // Lines along the bottom tell nothing.
            kind == PlotKind::Rate || curve.points.iter().any(|(_, value)| *value > 0.0)
        })
        .map(|curve| Line { name: curve.name.clone(), points: curve.points.clone() })
        .collect();
    if lines.is_empty() {
        return;
    }
    let (title, unit) = match kind {
        PlotKind::Rate => ("Rate", "per second"),
        PlotKind::Latency => ("Latency", "milliseconds"),
        PlotKind::Cpu => ("CPU", "percent of a core"),
        PlotKind::Memory => ("Memory", "MiB"),
        PlotKind::Backlog => ("Backlog", "waiting"),
        PlotKind::Rejections => ("Rejections", "per second"),
    };
    let bands: Vec<Band> = result
        .phases
        .iter()
        .map(|phase| Band {
            from: phase.from,
            to: phase.to,
            name: phase.name.clone(),
            is_fault: phase.is_fault,
        })
        .collect();
    let published = result.published.iter().filter(|published| published.plot == kind);
    let levels: Vec<Level> = published
        .map(|published| Level { name: format!("published: {}", published.name), value: published.value })
        .collect();
    let points = || lines.iter().flat_map(|line| &line.points);
    let right = points().map(|point| point.0).fold(1.0, f64::max);
    let highest = points().map(|point| point.1).fold(0.0, f64::max);
    // A published figure far above all of ours would press ours flat.
    let near = levels.iter().map(|level| level.value).filter(|value| *value < highest * 10.0);
    let top = near.fold(highest, f64::max);
    let (x, y) = (linear("seconds", right), linear(unit, top));
    let svg = Plot { lines: &lines, bands: &bands, levels: &levels, ..Plot::new(&x, &y) }.svg();
    let _ = writeln!(page, "<h3>{title}</h3>\n{svg}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::tests::sample;

    #[test]
    fn a_page_is_whole_and_loads_nothing() {
        let page = page(&sample(Judgement::Missed));
        let xml = page.replacen("<!doctype html>", "", 1).replace("<meta charset=\"utf-8\">", "");
        let xml = xml.replace("<meta name=\"viewport\" content=\"width=device-width\">", "");
        let mut reader = quick_xml::Reader::from_str(&xml);
        while reader.read_event().unwrap() != quick_xml::events::Event::Eof {}
        assert!(page.contains("published: reference") && page.contains("instances &lt;ended&gt;"));
        assert!(page.contains("<dt>Hypothesis</dt>"), "the texts of the experiment are there");
        assert!(!page.contains("<script") && !page.contains("src=") && !page.contains("url("));
    }
}
