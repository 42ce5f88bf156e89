//! The results of the suite, a row for each promise.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::Report;
use crate::report::table;

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
}
