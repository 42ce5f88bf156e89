//! The measurements that the project promises, each against a freshly started server on a scratch directory.
//!
//! [`run`] takes the path of the `baton` program and gives a [`Table`] with a row for each promise: target,
//! measured value, verdict. `server` starts and ends processes, `disk` measures the disk itself, `measure`, `cost`
//! and `backlog` hold one function per row or group of rows.

mod access;
mod backlog;
mod cost;
mod disk;
mod exporting;
mod issuer;
mod large;
mod measure;
mod name;
mod server;

use std::{fmt::Write, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

pub use access::{AccessWay, AccessWays};

use crate::{Error, Report, options::duration, report::table};

/// Settings of the suite.
#[derive(Debug, Clone, clap::Args)]
pub struct SuiteOptions {
    /// The `baton` program to measure, built for release.
    #[arg(long, value_name = "FILE")]
    pub server: PathBuf,
    /// The bare server to compare with. Default: `reference-server` beside this program.
    #[arg(long, value_name = "FILE")]
    pub reference_server: Option<PathBuf>,
    /// Where scratch data directories are made: on the disk to measure. Default: the current directory.
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// Smaller and shorter, to see that it works: the figures mean little.
    #[arg(long)]
    pub quick: bool,
    /// Waiting instances in the measurement of many. Default: 1000000, quick: 100000.
    #[arg(long, value_name = "N")]
    pub waiting_instances: Option<u64>,
    /// Length of each measured window. Default: 10 s, quick: 2 s.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub window: Option<Duration>,
    /// How long the load of the measurement of the backlog lasts. Default: 1 min, quick: the window.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub backlog_window: Option<Duration>,
    /// Only measurements whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Further arguments for `baton start`.
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true)]
    pub server_argument: Vec<String>,
    /// Write the results to this file as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the results to this file as Markdown.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write a page with plots of all runs into this directory.
    #[arg(long, value_name = "DIR")]
    pub html: Option<PathBuf>,
}

impl SuiteOptions {
    pub(crate) fn window(&self) -> Duration {
        self.window.unwrap_or(Duration::from_secs(if self.quick { 2 } else { 10 }))
    }

    pub(crate) fn warm_up(&self) -> Duration {
        Duration::from_secs(if self.quick { 1 } else { 3 })
    }

    pub(crate) fn waiting_instances(&self) -> u64 {
        self.waiting_instances.unwrap_or(if self.quick { 100_000 } else { 1_000_000 })
    }

    /// Elements of the large multi-instance.
    pub(crate) fn large_elements(&self) -> u64 {
        if self.quick { 10_000 } else { 100_000 }
    }

    fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|text| name.contains(text.as_str()))
    }
}

/// Whether a promise is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// It is.
    Met,
    /// It is not.
    Missed,
    /// Written down only, nothing was promised.
    Noted,
    /// It could not be measured.
    Unknown,
}

/// One promise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Which measurement it belongs to.
    pub measurement: String,
    /// Name of the measurement.
    pub figure: String,
    /// The target, for people.
    pub target: String,
    /// The measured value, for people.
    pub measured: String,
    /// The measured value in the base unit; missing if there is none.
    pub value: Option<f64>,
    /// Whether the promise is kept.
    pub verdict: Verdict,
}

/// The results of the suite.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Table {
    /// The machine: processor, cores, memory, kernel.
    pub machine: String,
    /// One row per promise.
    pub rows: Vec<Row>,
    /// The reports behind the rows.
    pub reports: Vec<Report>,
}

/// Targets of values.
pub(crate) enum Target {
    AtLeast(f64),
    AtMost(f64),
    None,
}

impl Table {
    /// Adds a row; `write` turns target and value into text.
    pub(crate) fn add(
        &mut self,
        measurement: &str,
        figure: &str,
        target: Target,
        value: Option<f64>,
        write: impl Fn(f64) -> String,
    ) {
        let (text, met) = match target {
            Target::AtLeast(target) => (format!("≥ {}", write(target)), value.map(|value| value >= target)),
            Target::AtMost(target) => (format!("≤ {}", write(target)), value.map(|value| value <= target)),
            Target::None => ("–".to_owned(), None),
        };
        let verdict = match (met, value) {
            (_, None) => Verdict::Unknown,
            (Some(true), _) => Verdict::Met,
            (Some(false), _) => Verdict::Missed,
            (None, _) => Verdict::Noted,
        };
        self.rows.push(Row {
            measurement: measurement.to_owned(),
            figure: figure.to_owned(),
            target: text,
            measured: value.map_or_else(|| "not measured".to_owned(), write),
            value,
            verdict,
        });
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        let mut table = table(&["measurement", "figure", "target", "measured", ""]);
        for row in &self.rows {
            let mark = row.verdict.mark();
            table.add_row([&row.measurement, &row.figure, &row.target, &row.measured, mark]);
        }
        format!("{}\n{table}", self.machine)
    }

    /// For a document.
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "Machine: {}\n\n| measurement | figure | target | measured | |\n|---|---|---|---|---|\n",
            self.machine
        );
        for row in &self.rows {
            let Row { measurement, figure, target, measured, verdict, .. } = row;
            let _ =
                writeln!(text, "| {measurement} | {figure} | {target} | {measured} | {} |", verdict.mark());
        }
        text
    }

    /// For other programs.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("the results are only names and numbers")
    }
}

impl Verdict {
    fn mark(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "MISSED",
            Self::Noted => "",
            Self::Unknown => "unknown",
        }
    }
}

/// Runs all measurements. A measurement that cannot be taken becomes a row that says so; the others go on.
pub async fn run(options: &SuiteOptions) -> Result<Table, Error> {
    let mut table = Table { machine: machine(), ..Table::default() };
    let names = name::NAMES;
    for (index, name) in names.iter().enumerate().filter(|(_, name)| options.wants(name)) {
        eprintln!("[{}/{}] {name}", index + 1, names.len());
        if let Err(error) = measure::one(name, options, &mut table).await {
            eprintln!("  {error}");
            table.add(name, &format!("failed: {error}"), Target::None, None, |_| String::new());
        }
    }
    write_files(options, &table)?;
    Ok(table)
}

fn write_files(options: &SuiteOptions, table: &Table) -> Result<(), Error> {
    if let Some(path) = &options.json {
        std::fs::write(path, table.json()).map_err(Error::file(path))?;
    }
    if let Some(path) = &options.markdown {
        std::fs::write(path, table.markdown()).map_err(Error::file(path))?;
    }
    if let Some(directory) = &options.html {
        std::fs::create_dir_all(directory).map_err(Error::file(directory))?;
        for (index, report) in table.reports.iter().enumerate() {
            let path = directory.join(format!("{:02}.html", index + 1));
            std::fs::write(&path, report.html()).map_err(Error::file(path))?;
        }
    }
    Ok(())
}

/// The machine in a line: processor, cores, memory, kernel.
pub fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let after_colon = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let processor =
        after_colon(&read("/proc/cpuinfo"), "model name").unwrap_or_else(|| "unknown processor".to_owned());
    let memory = after_colon(&read("/proc/meminfo"), "MemTotal")
        .and_then(|text| text.split(' ').next()?.parse::<f64>().ok())
        .map_or_else(String::new, |kibibytes| format!(", {:.0} GiB", kibibytes / 1024.0 / 1024.0));
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let kernel = read("/proc/sys/kernel/osrelease");
    format!("{processor}, {cores} cores{memory}, Linux {}; server and load generator share it", kernel.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts() {
        let mut table = Table::default();
        let write = |value: f64| format!("{value}/s");
        table.add("rate", "created", Target::AtLeast(10.0), Some(11.0), write);
        table.add("rate", "created", Target::AtLeast(10.0), Some(9.0), write);
        table.add("rate", "latency", Target::AtMost(5.0), Some(5.0), write);
        table.add("rate", "latency", Target::AtMost(5.0), None, write);
        table.add("rate", "memory", Target::None, Some(1.0), write);
        let verdicts: Vec<Verdict> = table.rows.iter().map(|row| row.verdict).collect();
        use Verdict::{Met, Missed, Noted, Unknown};
        assert_eq!(verdicts, [Met, Missed, Met, Unknown, Noted]);
        assert!(table.text().contains("≥ 10/s") && table.text().contains("MISSED"));
        assert!(table.markdown().contains("| rate | created | ≥ 10/s | 11/s | met |"));
        assert_eq!(serde_json::from_str::<Table>(&table.json()).unwrap().rows, table.rows);
    }

    #[test]
    fn the_machine_is_named() {
        assert!(machine().contains("cores"));
    }
}
