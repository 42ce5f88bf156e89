//! The results of one measurement, and how they are printed.

#![expect(missing_docs, reason = "names say what is held")]

use std::{collections::BTreeMap, fmt::Write};

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::{Deserialize, Serialize};

use crate::format::{bytes, micros, number, percent};
use crate::histograms::Histograms;
use crate::latency::Latency;

/// The results of one measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub title: String,
    pub setup: Setup,
    /// From the intended start of a creation until its answer.
    pub request_latency: Option<Latency>,
    /// From the intended start of a creation until the answer to the completion of the instance's last job.
    pub execution_latency: Option<Latency>,
    /// Instances started in the measured window.
    pub created: u64,
    /// Instances ended in the measured window.
    pub completed: u64,
    /// Creations that were answered, those of the warm-up and of the end included.
    #[serde(default)]
    pub acknowledged: u64,
    /// Creations whose answer was lost: each may have made an instance or not.
    #[serde(default)]
    pub unanswered: u64,
    /// Instances started per second.
    pub created_per_second: f64,
    /// Instances ended per second.
    pub completed_per_second: f64,
    /// Instances of the window that were not seen to end.
    pub unfinished: u64,
    /// Requests without a readable answer, by kind.
    pub failures: BTreeMap<String, u64>,
    /// Requests that the server refused, by its reason.
    pub rejections: BTreeMap<String, u64>,
    /// Cost of the server in the measured window.
    pub server: ServerCost,
    /// CPU that the load generator itself used, microseconds per instance.
    pub generator_cpu_micros_per_instance: Option<f64>,
    /// How late timers of the load generator were, ninety-nine of a hundred, microseconds: when this is long, it did
    /// not keep up, and the latencies are its own.
    #[serde(default)]
    pub generator_lag_p99_micros: Option<u64>,
    /// The latencies as they were counted.
    #[serde(default)]
    pub histograms: Histograms,
    /// One row per second, warm-up included.
    pub series: Vec<Second>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// `rest` or `grpc`.
    pub protocol: String,
    pub process: String,
    /// Such as `open loop, 150/s` or `closed loop, 64 at a time`.
    pub load: String,
    /// Such as `stream, capacity 128, delay 0 ms`, or `none`.
    pub workers: String,
    /// Size of the start variables.
    pub payload_bytes: usize,
    /// Connections of the starter.
    pub connections: usize,
    /// Length of the measured window, milliseconds.
    pub measured_ms: u64,
    /// Length of the warm-up, milliseconds.
    pub warm_up_ms: u64,
}

/// Cost of the server. Missing without a management port.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerCost {
    /// CPU per instance, microseconds: per ended instance, or per started one when nobody works the jobs.
    pub cpu_micros_per_instance: Option<f64>,
    pub cpu_percent_of_core: Option<f64>,
    /// Resident memory at the end, bytes.
    pub resident_bytes: Option<f64>,
    /// Written to disk per instance, bytes.
    pub disk_written_bytes_per_instance: Option<f64>,
}

/// One second of a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Second {
    /// End of the second, counted from the first request.
    pub second: f64,
    pub created_per_second: f64,
    pub completed_per_second: f64,
    pub failed_per_second: f64,
    pub request_p50_micros: Option<u64>,
    /// 99th percentile of the request latency.
    pub request_p99_micros: Option<u64>,
    pub execution_p50_micros: Option<u64>,
    /// 99th percentile of the execution latency.
    pub execution_p99_micros: Option<u64>,
}

/// A figure of a report: its name, its value, and how to write it.
struct Figure {
    name: &'static str,
    value: Option<f64>,
    write: fn(f64) -> String,
}

impl Report {
    /// All figures as a table for a terminal.
    pub fn table(&self) -> String {
        let mut text = format!("{}\n{}\n", self.title, self.setup.line());
        let mut table = table(&["", "mean", "p50", "p90", "p99", "p99.9", "max"]);
        let latencies =
            [("request latency", &self.request_latency), ("execution latency", &self.execution_latency)];
        for (name, latency) in latencies {
            let Some(latency) = latency else { continue };
            let values = [
                latency.p50_micros,
                latency.p90_micros,
                latency.p99_micros,
                latency.p999_micros,
                latency.max_micros,
            ];
            let mut row = vec![name.to_owned(), micros(latency.mean_micros)];
            row.extend(values.map(|value| micros(value as f64)));
            table.add_row(row);
        }
        if !table.is_empty() {
            let _ = writeln!(text, "{table}");
        }
        let mut figures = crate::report::table(&["", "value"]);
        for figure in self.figures().iter().skip(LATENCY_FIGURES) {
            if let Some(value) = figure.value {
                figures.add_row([figure.name.to_owned(), (figure.write)(value)]);
            }
        }
        for (name, errors) in [("failure", &self.failures), ("rejection", &self.rejections)] {
            for (kind, count) in errors {
                figures.add_row([format!("{name}: {kind}"), count.to_string()]);
            }
        }
        let _ = write!(text, "{figures}");
        text
    }

    /// All figures as JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report has only names and numbers")
    }

    /// Refused and failed requests.
    pub fn errors(&self) -> u64 {
        self.failures.values().chain(self.rejections.values()).sum()
    }

    fn figures(&self) -> Vec<Figure> {
        let figure = |name, value, write| Figure { name, value, write };
        let request = self.request_latency.as_ref();
        let execution = self.execution_latency.as_ref();
        let server = &self.server;
        // Where nobody works the jobs, nothing is said about ends.
        let worked = |value: f64| (self.setup.workers != Setup::NO_WORKERS).then_some(value);
        vec![
            figure("request latency p50", request.map(|latency| latency.p50_micros as f64), micros),
            figure("request latency p99", request.map(|latency| latency.p99_micros as f64), micros),
            figure("execution latency p50", execution.map(|latency| latency.p50_micros as f64), micros),
            figure("execution latency p99", execution.map(|latency| latency.p99_micros as f64), micros),
            figure("instances started per second", Some(self.created_per_second), number),
            figure("instances ended per second", worked(self.completed_per_second), number),
            figure("instances started", Some(self.created as f64), number),
            figure("instances ended", worked(self.completed as f64), number),
            figure("instances not seen to end", worked(self.unfinished as f64), number),
            figure("requests failed", Some(self.failures.values().sum::<u64>() as f64), number),
            figure("requests rejected", Some(self.rejections.values().sum::<u64>() as f64), number),
            figure("server CPU per instance", server.cpu_micros_per_instance, micros),
            figure("server CPU, percent of one core", server.cpu_percent_of_core, percent),
            figure("server resident memory", server.resident_bytes, bytes),
            figure("server disk writes per instance", server.disk_written_bytes_per_instance, bytes),
            figure("load generator CPU per instance", self.generator_cpu_micros_per_instance, micros),
            figure("load generator late, p99", self.generator_lag_p99_micros.map(|lag| lag as f64), micros),
        ]
    }
}

/// The first figures are those of the latency table.
const LATENCY_FIGURES: usize = 4;

impl Setup {
    pub(crate) const NO_WORKERS: &str = "none";

    pub(crate) fn line(&self) -> String {
        format!(
            "process {}, {}, {} over {} connections, payload {}, workers: {}, measured {} s after {} s",
            self.process,
            self.load,
            self.protocol,
            self.connections,
            bytes(self.payload_bytes as f64),
            self.workers,
            self.measured_ms as f64 / 1000.0,
            self.warm_up_ms as f64 / 1000.0,
        )
    }
}

/// Two measurements side by side, with the second in relation to the first.
pub fn compare(first: &Report, second: &Report) -> String {
    let mut table = table(&["", &first.title, &second.title, "ratio"]);
    for (left, right) in first.figures().iter().zip(second.figures()) {
        if left.value.is_none() && right.value.is_none() {
            continue;
        }
        let written = |figure: &Figure| figure.value.map_or_else(|| "–".to_owned(), figure.write);
        let ratio = match (left.value, right.value) {
            (Some(left), Some(right)) if left > 0.0 => format!("{:.2}×", right / left),
            _ => String::new(),
        };
        table.add_row([left.name.to_owned(), written(left), written(&right), ratio]);
    }
    table.to_string()
}

/// An empty table without lines, for lists of things.
pub fn plain_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.iter().copied());
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table
}

/// An empty table with its numbers to the right.
pub fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(header.iter().copied());
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::latency::histogram;

    pub(crate) fn sample(title: &str, micros: u64) -> Report {
        let mut values = histogram();
        for value in 1..=1000 {
            values.record(value * micros).unwrap();
        }
        let second = |second| Second {
            second,
            created_per_second: 150.0,
            completed_per_second: 149.0,
            failed_per_second: 0.0,
            request_p50_micros: Some(500),
            request_p99_micros: Some(900),
            execution_p50_micros: None,
            execution_p99_micros: None,
        };
        Report {
            title: title.to_owned(),
            setup: Setup {
                protocol: "rest".to_owned(),
                process: "order<&>".to_owned(),
                load: "open loop, 150/s".to_owned(),
                workers: "none".to_owned(),
                payload_bytes: 200,
                connections: 4,
                measured_ms: 20_000,
                warm_up_ms: 5000,
            },
            request_latency: Latency::of(&values),
            execution_latency: None,
            created: 3000,
            completed: 2990,
            acknowledged: 3000,
            unanswered: 0,
            created_per_second: 150.0,
            completed_per_second: 149.5,
            unfinished: 10,
            failures: BTreeMap::new(),
            rejections: BTreeMap::from([("RESOURCE_EXHAUSTED".to_owned(), 3)]),
            server: ServerCost { cpu_micros_per_instance: Some(95.0), ..ServerCost::default() },
            generator_cpu_micros_per_instance: Some(40.0),
            generator_lag_p99_micros: Some(1500),
            histograms: Histograms::default(),
            series: vec![second(1.0), second(2.0)],
        }
    }

    #[test]
    fn quantiles() {
        let latency = sample("", 10).request_latency.unwrap();
        assert_eq!((latency.count, latency.min_micros), (1000, 10));
        assert!((4990..=5010).contains(&latency.p50_micros), "{latency:?}");
        assert!((9890..=9910).contains(&latency.p99_micros), "{latency:?}");
        assert!(latency.curve.len() > 20 && latency.curve.is_sorted_by(|a, b| a.0 <= b.0));
        assert_eq!(Latency::of(&histogram()), None);
    }

    #[test]
    fn the_table_has_every_known_figure() {
        let table = sample("A run", 10).table();
        for text in [
            "A run",
            "open loop, 150/s",
            "request latency",
            "3,000",
            "95 µs",
            "rejection: RESOURCE_EXHAUSTED",
        ] {
            assert!(table.contains(text), "{text} is missing in\n{table}");
        }
        assert!(!table.contains("resident"), "unknown figures are left out:\n{table}");
    }

    #[test]
    fn json_returns_unchanged() {
        let mut report = sample("A run", 10);
        // Fractions may differ in their last digit.
        if let Some(latency) = &mut report.request_latency {
            latency.mean_micros = 5005.5;
            latency.curve = vec![(50.0, 5003), (99.5, 9951)];
        }
        assert_eq!(serde_json::from_str::<Report>(&report.json()).unwrap(), report);
    }

    #[test]
    fn comparison_gives_ratios() {
        let text = compare(&sample("gRPC", 10), &sample("REST", 20));
        assert!(text.contains("gRPC") && text.contains("REST") && text.contains("2.00×"), "{text}");
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!(
            (number(1_234_567.0), number(0.0), number(12.34)),
            ("1,234,567".into(), "0".into(), "12.3".into())
        );
        assert_eq!(
            (micros(999.0), micros(1500.0), micros(2e6)),
            ("999 µs".into(), "1.50 ms".into(), "2.00 s".into())
        );
        assert_eq!((bytes(200.0), bytes(32768.0)), ("200 B".into(), "32.0 KiB".into()));
    }
}
