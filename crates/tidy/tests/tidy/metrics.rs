//! The metrics that the code defines, read from its text.

use std::collections::BTreeMap;

use crate::files;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Counter,
    Gauge,
    Histogram,
}

/// A metric of the code.
#[derive(Debug)]
pub struct Metric {
    pub kind: Kind,
    /// Text of the files that define it: the names of its labels stand there.
    pub source: String,
}

/// Beginnings of definitions. The last ones are methods of the labels of a partition.
const DEFINITIONS: [(&str, Kind); 7] = [
    ("counter!(", Kind::Counter),
    ("gauge!(", Kind::Gauge),
    ("histogram!(", Kind::Histogram),
    ("partition_gauge(", Kind::Gauge),
    (".counter(", Kind::Counter),
    (".gauge(", Kind::Gauge),
    (".histogram(", Kind::Histogram),
];
/// Labels that metrics of a partition have.
const LABELS: &str = "crates/partition/src/metric_definitions/labels.rs";
/// Help text of each metric for Prometheus, as `("NAME", "HELP"),`.
const HELP: &str = "crates/gateway/src/management/help.rs";
/// Metrics of the process stand there as `metric(text, NAME, KIND, …)`.
const OF_THE_PROCESS: &str = "crates/gateway/src/management/process.rs";

/// The literal at the beginning, or the one that a constant of the file stands for.
fn name<'a>(text: &'a str, file: &'a str) -> Option<&'a str> {
    let text = text.trim_start();
    if let Some(literal) = text.strip_prefix('"') {
        return literal.split('"').next();
    }
    let constant = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()?;
    let shouted = constant.len() > 1 && !constant.contains(|c: char| c.is_ascii_lowercase());
    let definition = shouted.then(|| format!("const {constant}: &str ="))?;
    file.split_once(&definition)?.1.trim_start().strip_prefix('"')?.split('"').next()
}

/// All metrics by name.
pub fn metrics() -> BTreeMap<String, Metric> {
    let (mut metrics, labels) = (BTreeMap::new(), crate::read(LABELS));
    let mut add = |name: &str, kind, file: &str| {
        let metric = metrics.entry(name.to_owned()).or_insert_with(|| Metric { kind, source: String::new() });
        assert_eq!(metric.kind, kind, "{name} is of one kind");
        metric.source.push_str(file);
    };
    for (path, file) in files() {
        let of_a_crate = path.starts_with("crates/") && path.contains("/src/") && path.ends_with(".rs");
        if !of_a_crate || path.starts_with("crates/tidy/") {
            continue;
        }
        for (beginning, kind) in DEFINITIONS {
            for (at, _) in file.match_indices(beginning) {
                if let Some(name) = name(&file[at + beginning.len()..], &file) {
                    add(name, kind, &file);
                    if beginning.starts_with('.') {
                        add(name, kind, &labels);
                    }
                }
            }
        }
        if path == OF_THE_PROCESS {
            for call in file.split("metric(text, \"").skip(1) {
                let mut literals = call.split('"').step_by(2);
                let kind = if literals.nth(1) == Some("counter") { Kind::Counter } else { Kind::Gauge };
                add(call.split('"').next().unwrap(), kind, &file);
            }
        }
    }
    metrics
}

/// The names that have a line of help.
fn helped(text: &str) -> Vec<&str> {
    let pairs = text.split('(').filter_map(|rest| rest.trim_start().strip_prefix('"')?.split_once("\","));
    pairs.map(|(name, _)| name).collect()
}

#[test]
fn each_metric_has_help() {
    let (text, metrics) = (crate::read(HELP), metrics());
    let helped = helped(&text);
    let of_the_process = |metric: &Metric| metric.source.contains("fn metric(text");
    let missing: Vec<_> = metrics
        .iter()
        .filter(|(name, metric)| !of_the_process(metric) && !helped.contains(&name.as_str()))
        .map(|(name, _)| name.clone())
        .collect();
    crate::assert_none("each metric has its line in help.rs", &missing);
    let unknown: Vec<_> = helped
        .iter()
        .enumerate()
        .filter(|(at, name)| !metrics.contains_key(**name) || helped[..*at].contains(name))
        .map(|(_, name)| (*name).to_owned())
        .collect();
    crate::assert_none("each line of help.rs is for a metric, and none for the same", &unknown);
}

#[test]
fn definitions_are_found() {
    let metrics = metrics();
    let kind = |name: &str| metrics.get(name).map(|metric| metric.kind);
    assert_eq!(kind("http_server_requests_seconds"), Some(Kind::Histogram), "named by a constant");
    assert_eq!(kind("zeebe_gateway_total_requests_total"), Some(Kind::Counter), "a macro");
    assert_eq!(kind("zeebe_dropped_request_count_total"), Some(Kind::Counter), "a helper");
    assert_eq!(kind("zeebe_pending_incidents_total"), Some(Kind::Gauge), "a helper");
    assert_eq!(kind("process_cpu_seconds_total"), Some(Kind::Counter), "of the process");
    assert_eq!(kind("process_open_fds"), Some(Kind::Gauge), "of the process");
}
