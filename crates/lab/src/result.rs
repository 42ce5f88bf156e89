//! The results of experiments, as they are kept.

#![expect(missing_docs, reason = "names say what is held")]

use bench::Report;
use serde::{Deserialize, Serialize};

use crate::unit::Unit;

/// Whether something is as expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Judgement {
    /// It is.
    Held,
    /// It is not.
    Missed,
    /// A figure to know: nothing is expected, or nothing can be on a machine like this.
    Noted,
    /// It was not measured as it must be: nothing is known.
    Void,
    /// It was not tried.
    NotRun,
}

impl Judgement {
    /// One word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Missed => "MISSED",
            Self::Noted => "",
            Self::Void => "VOID",
            Self::NotRun => "not run",
        }
    }
}

/// Bounds of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Limit {
    AtMost(f64),
    AtLeast(f64),
    Exactly(f64),
    /// Nothing is expected.
    None,
}

impl Limit {
    /// Whether a value keeps within it.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::AtMost(limit) => value <= limit,
            Self::AtLeast(limit) => value >= limit,
            Self::Exactly(wanted) => (value - wanted).abs() < 1e-9,
            Self::None => true,
        }
    }

    /// The limit in its unit.
    pub fn text(self, unit: Unit) -> String {
        match self {
            Self::AtMost(limit) => format!("≤ {}", unit.write(limit)),
            Self::AtLeast(limit) => format!("≥ {}", unit.write(limit)),
            Self::Exactly(wanted) => unit.write(wanted),
            Self::None => String::new(),
        }
    }
}

/// One figure of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub phase: String,
    pub figure: String,
    pub unit: Unit,
    pub limit: Limit,
    /// Infinite values are written as none.
    pub actual: Option<f64>,
    /// The smallest and the largest of several measurements.
    pub spread: Option<(f64, f64)>,
    pub judgement: Judgement,
    /// No slowness of the machine explains a miss, such as something that was acknowledged and is lost.
    #[serde(default)]
    pub stands: bool,
}

impl Finding {
    /// The measured value for people, with its spread.
    pub fn actual_text(&self) -> String {
        let text = self.actual.map_or_else(|| "never".to_owned(), |value| self.unit.write(value));
        match self.spread {
            Some((low, high)) => format!("{text} ({} to {})", self.unit.write(low), self.unit.write(high)),
            None => text,
        }
    }
}

/// A stretch of an experiment, in seconds since its begin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseSpan {
    pub name: String,
    pub from: f64,
    pub to: f64,
    pub is_fault: bool,
}

/// A figure over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// The plot in which it stands.
    pub plot: PlotKind,
    pub name: String,
    /// Seconds since the begin of the experiment, and the value.
    pub points: Vec<(f64, f64)>,
}

/// Plots of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PlotKind {
    /// Things a second.
    Rate,
    /// Milliseconds.
    Latency,
    /// Percent of a core.
    Cpu,
    /// MiB.
    Memory,
    /// Things that wait.
    Backlog,
    /// Refusals a second.
    Rejections,
}

impl PlotKind {
    pub(crate) const ALL: [Self; 6] =
        [Self::Rate, Self::Latency, Self::Cpu, Self::Memory, Self::Backlog, Self::Rejections];
}

/// A published figure in a plot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Published {
    pub plot: PlotKind,
    pub name: String,
    pub value: f64,
}

/// The results of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentResult {
    pub id: String,
    pub title: String,
    pub judgement: Judgement,
    /// Why it is void, was not run, or ended early.
    pub reason: Option<String>,
    pub seconds: f64,
    pub phases: Vec<PhaseSpan>,
    pub findings: Vec<Finding>,
    pub curves: Vec<Curve>,
    pub published: Vec<Published>,
    pub reports: Vec<Report>,
    /// Conditions under which the figures came about.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Command lines of what was started.
    pub started: Vec<String>,
    /// Whether a busy machine may have spoiled a first try.
    #[serde(default)]
    pub is_second_try: bool,
}

impl ExperimentResult {
    pub(crate) fn new(id: &str, title: &str) -> Self {
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
            judgement: Judgement::NotRun,
            reason: None,
            seconds: 0.0,
            phases: Vec::new(),
            findings: Vec::new(),
            curves: Vec::new(),
            published: Vec::new(),
            reports: Vec::new(),
            notes: Vec::new(),
            started: Vec::new(),
            is_second_try: false,
        }
    }

    /// The judgement that follows from the findings.
    pub(crate) fn judge(&mut self) {
        let any = |wanted| self.findings.iter().any(|finding| finding.judgement == wanted);
        let stands = |finding: &Finding| finding.stands && finding.judgement == Judgement::Missed;
        self.judgement = if self.findings.iter().any(stands) {
            Judgement::Missed
        } else if self.judgement == Judgement::Void || any(Judgement::Void) {
            Judgement::Void
        } else if any(Judgement::Missed) {
            Judgement::Missed
        } else if self.findings.is_empty() {
            Judgement::NotRun
        } else {
            Judgement::Held
        };
    }

    /// Whether a machine that does other things may be why it does not hold.
    pub(crate) fn may_be_the_machine(&self) -> bool {
        let stands = |finding: &Finding| finding.stands && finding.judgement == Judgement::Missed;
        matches!(self.judgement, Judgement::Missed | Judgement::Void) && !self.findings.iter().any(stands)
    }

    /// Figures that are not as expected.
    pub(crate) fn missed(&self) -> Vec<&str> {
        let missed = self.findings.iter().filter(|finding| finding.judgement == Judgement::Missed);
        missed.map(|finding| finding.figure.as_str()).collect()
    }

    /// This one as the second try of a row.
    #[must_use]
    pub(crate) fn after(mut self, first: &Self) -> Self {
        self.is_second_try = true;
        let why = first.reason.clone().unwrap_or_else(|| first.missed().join(", "));
        self.notes.push(format!("second try, alone; the first was {}: {why}", first.judgement.word()));
        self
    }

    /// A finding by its figure.
    pub fn finding(&self, figure: &str) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.figure == figure)
    }
}

/// All of a run of the lab.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabRun {
    pub machine: String,
    /// Of the program under test.
    pub version: String,
    /// `quick` or `full`, with the scale.
    pub size: String,
    /// The command line.
    pub command: String,
    /// Seconds since 1970.
    pub began: u64,
    pub results: Vec<ExperimentResult>,
}

impl LabRun {
    /// Number of experiments with a judgement.
    pub fn count(&self, judgement: Judgement) -> usize {
        self.results.iter().filter(|result| result.judgement == judgement).count()
    }

    /// The run with the rows of a later one in the place of its own. Figures of other machines, programs or sizes do
    /// not stand side by side: the error names the difference.
    pub(crate) fn with_later(mut self, later: Self) -> Result<Self, String> {
        for (what, one, other) in [
            ("machine", &self.machine, &later.machine),
            ("version", &self.version, &later.version),
            ("size", &self.size, &later.size),
        ] {
            if one != other {
                return Err(format!("the later run is of another {what}: '{other}', not '{one}'"));
            }
        }
        for result in later.results {
            match self.results.iter_mut().find(|own| own.id == result.id) {
                Some(own) => *own = result,
                None => self.results.push(result),
            }
        }
        Ok(self)
    }

    /// All of it as JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("results are names and numbers")
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn finding(figure: &str, actual: f64, judgement: Judgement) -> Finding {
        Finding {
            phase: "steady".to_owned(),
            figure: figure.to_owned(),
            unit: Unit::PerSecond,
            limit: Limit::AtLeast(140.0),
            actual: Some(actual),
            spread: None,
            judgement,
            stands: false,
        }
    }

    pub(crate) fn sample(judgement: Judgement) -> LabRun {
        let mut result = ExperimentResult::new("E1", "Standard load over gRPC");
        result.findings.push(finding("instances <ended>", 150.0, judgement));
        result.phases.push(PhaseSpan { name: "steady".to_owned(), from: 1.0, to: 5.0, is_fault: false });
        result.curves.push(Curve {
            plot: PlotKind::Rate,
            name: "started".to_owned(),
            points: vec![(1.0, 149.0), (2.0, 151.0)],
        });
        result.published.push(Published { plot: PlotKind::Rate, name: "reference".to_owned(), value: 150.0 });
        result.judge();
        LabRun {
            machine: "two cores".to_owned(),
            version: "0.1.0".to_owned(),
            size: "quick".to_owned(),
            command: "baton lab run E1".to_owned(),
            began: 0,
            results: vec![result],
        }
    }

    #[test]
    fn limits() {
        assert!(Limit::AtMost(1.0).holds(1.0) && !Limit::AtMost(1.0).holds(1.1));
        assert!(Limit::AtLeast(1.0).holds(1.0) && !Limit::AtLeast(1.0).holds(0.9));
        assert!(Limit::Exactly(0.0).holds(0.0) && !Limit::Exactly(0.0).holds(1.0));
        assert!(!Limit::AtMost(5.0).holds(f64::INFINITY) && !Limit::AtLeast(0.0).holds(f64::NAN));
        assert_eq!(Limit::AtMost(0.3).text(Unit::PerSecond), "≤ 0.30/s");
    }

    #[test]
    fn rows_of_a_later_run_take_the_place_of_the_same_ones() {
        let (first, mut later) = (sample(Judgement::Missed), sample(Judgement::Held));
        later.results.push(ExperimentResult::new("E9", "Uneven load"));
        let both = first.clone().with_later(later.clone()).expect("the same machine");
        let rows: Vec<_> = both.results.iter().map(|result| (&*result.id, result.judgement)).collect();
        assert_eq!(rows, [("E1", Judgement::Held), ("E9", Judgement::NotRun)]);
        later.size = "full size".to_owned();
        let error = first.with_later(later).expect_err("another size");
        assert_eq!(error, "the later run is of another size: 'full size', not 'quick'");
    }

    #[test]
    fn one_miss_makes_the_row_miss() {
        for (judgements, wanted) in [
            (vec![Judgement::Held, Judgement::Noted], Judgement::Held),
            (vec![Judgement::Held, Judgement::Missed], Judgement::Missed),
            (vec![Judgement::Held, Judgement::Missed, Judgement::Void], Judgement::Void),
            (vec![Judgement::Held, Judgement::Void], Judgement::Void),
            (vec![], Judgement::NotRun),
        ] {
            let mut result = ExperimentResult::new("E1", "");
            result.findings = judgements.into_iter().map(|judgement| finding("", 1.0, judgement)).collect();
            result.judge();
            assert_eq!(result.judgement, wanted);
        }
    }

    #[test]
    fn what_is_lost_is_lost_on_a_slow_machine_too() {
        let mut result = ExperimentResult::new("E1", "");
        result.judgement = Judgement::Void;
        result.findings.push(Finding { stands: true, ..finding("", 1.0, Judgement::Missed) });
        result.judge();
        assert_eq!(result.judgement, Judgement::Missed);
        assert!(!result.may_be_the_machine());
        result.findings[0].stands = false;
        assert!(result.may_be_the_machine());
        let mut second = ExperimentResult::new("E1", "");
        second.judgement = Judgement::Held;
        let second = second.after(&result);
        assert!(second.notes[0].contains("the first was MISSED"), "{:?}", second.notes);
        assert!(!second.may_be_the_machine());
    }

    #[test]
    fn json_returns_unchanged() {
        let run = sample(Judgement::Held);
        assert_eq!(serde_json::from_str::<LabRun>(&run.json()).unwrap(), run);
    }
}
