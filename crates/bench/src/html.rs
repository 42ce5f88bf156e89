//! One self-contained page: figures and plots as inline SVG, no script, no font, nothing to load.

use std::fmt::Write;

use crate::format::{bytes, micros, number};
use crate::plot::{Axis, Line, Plot, escape, linear, percentiles};
use crate::report::Report;

impl Report {
    /// All figures and plots as one page that needs nothing else.
    pub fn html(&self) -> String {
        page(std::slice::from_ref(self))
    }
}

/// The style of all pages.
pub const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:900px;margin:2rem auto;padding:0 1rem;color:#1e293b}\
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}p{color:#475569}table{border-collapse:collapse}\
td,th{padding:.25rem .8rem;border-bottom:1px solid #e2e8f0;text-align:right}td:first-child,th:first-child{text-align:left}\
svg{width:100%;height:auto}text{font:12px system-ui,sans-serif;fill:#475569}\
@media(prefers-color-scheme:dark){body{background:#0f172a;color:#e2e8f0}p,text{color:#94a3b8;fill:#94a3b8}td,th{border-color:#334155}}";

/// The page for one measurement, or for several to compare.
pub fn page(reports: &[Report]) -> String {
    let title = reports.iter().map(|report| report.title.as_str()).collect::<Vec<_>>().join(" · ");
    let title = escape(&title);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head><body><h1>{title}</h1>\n"
    );
    for report in reports {
        let _ = writeln!(page, "<p>{}</p>", escape(&report.setup.line()));
    }
    page.push_str(&figures(reports));
    let latencies = lines(reports, |report, name| {
        let curves = [("request", &report.request_latency), ("execution", &report.execution_latency)];
        let known = curves.into_iter().filter_map(|(kind, latency)| Some((kind, latency.as_ref()?)));
        known
            .map(|(kind, latency)| Line {
                name: format!("{name}{kind}"),
                points: latency
                    .curve
                    .iter()
                    .map(|&(percentile, micros)| (percentile, micros as f64 / 1000.0))
                    .collect(),
            })
            .collect()
    });
    section(&mut page, "Latency by percentile", percentiles(), "milliseconds", latencies);
    let seconds =
        reports.iter().filter_map(|report| report.series.last()).map(|row| row.second).fold(1.0, f64::max);
    let throughput = lines(reports, |report, name| {
        let line = |kind: &str, value: fn(&crate::report::Second) -> f64| Line {
            name: format!("{name}{kind}"),
            points: report.series.iter().map(|row| (row.second, value(row))).collect(),
        };
        let mut lines = vec![line("started", |row| row.created_per_second)];
        if report.completed > 0 {
            lines.push(line("ended", |row| row.completed_per_second));
        }
        lines
    });
    section(&mut page, "Instances per second", linear("seconds", seconds), "per second", throughput);
    let over_time = lines(reports, |report, name| {
        let line = |kind: &str, value: fn(&crate::report::Second) -> Option<u64>| Line {
            name: format!("{name}{kind}"),
            points: report
                .series
                .iter()
                .filter_map(|row| Some((row.second, value(row)? as f64 / 1000.0)))
                .collect(),
        };
        vec![
            line("request p99", |row| row.request_p99_micros),
            line("execution p99", |row| row.execution_p99_micros),
        ]
    });
    section(&mut page, "Latency over time, p99", linear("seconds", seconds), "milliseconds", over_time);
    page.push_str("</body></html>\n");
    page
}

fn lines(reports: &[Report], of: impl Fn(&Report, &str) -> Vec<Line>) -> Vec<Line> {
    let several = reports.len() > 1;
    let named = |report: &Report| if several { format!("{}: ", report.title) } else { String::new() };
    let lines = reports.iter().flat_map(|report| of(report, &named(report)));
    lines.filter(|line| !line.points.is_empty()).collect()
}

fn figures(reports: &[Report]) -> String {
    type Row = (&'static str, fn(f64) -> String, Vec<Option<f64>>);
    let mut rows: Vec<Row> = Vec::new();
    let row = |rows: &mut Vec<Row>, name, write, value: fn(&Report) -> Option<f64>| {
        rows.push((name, write, reports.iter().map(value).collect()));
    };
    row(&mut rows, "started per second", number, |report| Some(report.created_per_second));
    row(&mut rows, "ended per second", number, |report| Some(report.completed_per_second));
    row(&mut rows, "request latency p50", micros, |report| {
        Some(report.request_latency.as_ref()?.p50_micros as f64)
    });
    row(&mut rows, "request latency p99", micros, |report| {
        Some(report.request_latency.as_ref()?.p99_micros as f64)
    });
    row(&mut rows, "execution latency p50", micros, |report| {
        Some(report.execution_latency.as_ref()?.p50_micros as f64)
    });
    row(&mut rows, "execution latency p99", micros, |report| {
        Some(report.execution_latency.as_ref()?.p99_micros as f64)
    });
    row(&mut rows, "failed or rejected", number, |report| Some(report.errors() as f64));
    row(&mut rows, "server CPU per instance", micros, |report| report.server.cpu_micros_per_instance);
    row(&mut rows, "server resident memory", bytes, |report| report.server.resident_bytes);
    row(&mut rows, "server disk writes per instance", bytes, |report| {
        report.server.disk_written_bytes_per_instance
    });
    let mut text = String::from("<table><tr><th></th>");
    for report in reports {
        let _ = write!(text, "<th>{}</th>", escape(&report.title));
    }
    text.push_str("</tr>");
    for (name, write, values) in rows {
        if values.iter().all(Option::is_none) {
            continue;
        }
        let _ = write!(text, "<tr><td>{name}</td>");
        for value in values {
            let _ = write!(text, "<td>{}</td>", value.map_or_else(|| "–".to_owned(), write));
        }
        text.push_str("</tr>");
    }
    text.push_str("</table>\n");
    text
}

fn section(page: &mut String, title: &str, x: Axis, y_title: &'static str, lines: Vec<Line>) {
    if lines.is_empty() {
        return;
    }
    let top = lines.iter().flat_map(|line| &line.points).map(|point| point.1).fold(0.0, f64::max);
    let _ = writeln!(
        page,
        "<h2>{}</h2>\n{}",
        escape(title),
        Plot { lines: &lines, ..Plot::new(&x, &linear(y_title, top)) }.svg()
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::sample;

    /// Reads the page as XML, which it is but for its first line and two tags that HTML does not close.
    fn check_well_formed(page: &str) {
        let xml = page.replacen("<!doctype html>", "", 1).replace("<meta charset=\"utf-8\">", "");
        let xml = xml.replace("<meta name=\"viewport\" content=\"width=device-width\">", "");
        let mut reader = quick_xml::Reader::from_str(&xml);
        while reader.read_event().unwrap() != quick_xml::events::Event::Eof {}
    }

    #[test]
    fn one_run() {
        let page = sample("A <run>", 10).html();
        check_well_formed(&page);
        assert!(page.contains("A &lt;run&gt;") && !page.contains("A <run>"));
        assert_eq!(page.matches("<svg").count(), 3);
        assert!(!page.contains("<script") && !page.contains("http"), "nothing is loaded");
        assert!(!page.contains("NaN") && !page.contains("inf"), "every coordinate is a number");
    }

    #[test]
    fn two_runs_share_the_plots() {
        let page = page(&[sample("gRPC", 10), sample("REST", 20)]);
        check_well_formed(&page);
        assert_eq!(page.matches("<svg").count(), 3);
        assert!(page.contains("gRPC: request") && page.contains("REST: request"));
    }

    #[test]
    fn a_run_without_anything_is_still_a_page() {
        let mut report = sample("empty", 10);
        report.series.clear();
        report.request_latency = None;
        check_well_formed(&report.html());
    }
}
