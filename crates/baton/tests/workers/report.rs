//! Measurements, against what is wanted.

use std::process::ExitCode;

/// One figure.
pub(crate) struct Row {
    experiment: String,
    figure: String,
    value: String,
    bound: String,
    is_met: bool,
}

impl Row {
    /// A figure that may be so large at the most.
    pub(crate) fn at_most(experiment: &str, figure: &str, value: f64, bound: f64) -> Self {
        Self::new(experiment, figure, number(value), format!("≤ {}", number(bound)), value <= bound)
    }

    /// A figure that must be so large at the least.
    pub(crate) fn at_least(experiment: &str, figure: &str, value: f64, bound: f64) -> Self {
        Self::new(experiment, figure, number(value), format!("≥ {}", number(bound)), value >= bound)
    }

    /// A figure to know, without a bound.
    pub(crate) fn told(experiment: &str, figure: &str, value: f64) -> Self {
        Self::new(experiment, figure, number(value), String::new(), true)
    }

    fn new(experiment: &str, figure: &str, value: String, bound: String, is_met: bool) -> Self {
        Self { experiment: experiment.to_owned(), figure: figure.to_owned(), value, bound, is_met }
    }

    pub(crate) fn is_met(&self) -> bool {
        self.is_met
    }
}

fn number(value: f64) -> String {
    if value.is_infinite() {
        "never".to_owned()
    } else if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}

/// Prints a table that can be pasted into Markdown.
fn print(rows: &[Row]) {
    println!("\n| experiment | figure | value | bound | |");
    println!("|---|---|---|---|---|");
    for row in rows {
        let mark = if row.is_met { "" } else { "missed" };
        println!("| {} | {} | {} | {} | {mark} |", row.experiment, row.figure, row.value, row.bound);
    }
    println!();
}

/// Prints the table and the closing line of a suite; its exit code.
pub(crate) fn close(rows: &[Row], passed: usize, failed: usize) -> ExitCode {
    print(rows);
    let word = if failed == 0 { "ok" } else { "FAILED" };
    println!("test result: {word}. {passed} passed; {failed} failed");
    ExitCode::from(u8::from(failed > 0))
}
