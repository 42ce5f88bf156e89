//! Results on a terminal.

use std::fmt::Write;

use bench::table;

use crate::result::{ExperimentResult, Judgement, LabRun};

/// One experiment: phase, figure, expected, actual, verdict.
pub(crate) fn experiment(result: &ExperimentResult) -> String {
    let mut text = format!("{} {}\n", result.id, result.title);
    let mut rows = table(&["phase", "figure", "expected", "actual", "verdict"]);
    for finding in &result.findings {
        let expected = finding.limit.text(finding.unit);
        let (phase, figure) = (finding.phase.as_str(), finding.figure.as_str());
        rows.add_row([phase, figure, &expected, &finding.actual_text(), finding.judgement.word()]);
    }
    if !rows.is_empty() {
        let _ = writeln!(text, "{rows}");
    }
    for note in &result.notes {
        let _ = writeln!(text, "- {note}");
    }
    if let Some(reason) = &result.reason {
        let _ = writeln!(text, "{}: {reason}", result.judgement.word());
    }
    text
}

/// One line for each experiment, and the sum.
pub(crate) fn summary(run: &LabRun) -> String {
    let mut text = String::new();
    for result in &run.results {
        let missed = result.missed();
        let why = match (&result.reason, missed.is_empty()) {
            (Some(reason), _) => format!(": {reason}"),
            (None, false) => format!(": {}", missed.join(", ")),
            (None, true) => String::new(),
        };
        let word = result.judgement.word();
        let _ = writeln!(text, "{:<5} {word:<7} {:>6.1} s  {}{why}", result.id, result.seconds, result.title);
    }
    // One line for each row that did not hold at once and is no failure, as `scripts/run-tests` counts them.
    for result in &run.results {
        if result.may_be_the_machine() {
            let _ = writeln!(text, "at no try: {} {}", result.id, result.judgement.word());
        } else if result.is_second_try && result.judgement == Judgement::Held {
            let _ = writeln!(text, "at a second try: {}", result.id);
        }
    }
    let count = |judgement| run.count(judgement);
    let _ = write!(
        text,
        "{} held, {} missed, {} void, {} not run; {}, {}",
        count(Judgement::Held),
        count(Judgement::Missed),
        count(Judgement::Void),
        count(Judgement::NotRun),
        run.size,
        run.machine,
    );
    text
}

/// Two runs side by side.
pub(crate) fn side_by_side(first: &LabRun, second: &LabRun) -> String {
    let mut text = format!(
        "A: {}, {}, {}\nB: {}, {}, {}\n",
        first.version, first.size, first.machine, second.version, second.size, second.machine
    );
    let mut rows = table(&["experiment", "figure", "A", "B", "B by A", "A", "B"]);
    for left in &first.results {
        let Some(right) = second.results.iter().find(|right| right.id == left.id) else { continue };
        for finding in &left.findings {
            let same = right
                .findings
                .iter()
                .find(|other| (&other.figure, &other.phase) == (&finding.figure, &finding.phase));
            let Some(other) = same else { continue };
            let ratio = match (finding.actual, other.actual) {
                (Some(left), Some(right)) if left > 0.0 => format!("{:.2}×", right / left),
                _ => String::new(),
            };
            rows.add_row([
                &left.id,
                &finding.figure,
                &finding.actual_text(),
                &other.actual_text(),
                &ratio,
                finding.judgement.word(),
                other.judgement.word(),
            ]);
        }
        if left.judgement != right.judgement {
            rows.add_row([
                &left.id,
                "the whole row",
                "",
                "",
                "",
                left.judgement.word(),
                right.judgement.word(),
            ]);
        }
    }
    let _ = write!(text, "{rows}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::tests::sample;

    #[test]
    fn a_miss_is_named_in_the_summary() {
        let run = sample(Judgement::Missed);
        let text = summary(&run);
        assert!(text.contains("E1    MISSED") && text.contains(": instances <ended>"), "{text}");
        assert!(text.contains("0 held, 1 missed, 0 void, 0 not run"), "{text}");
        assert!(experiment(&run.results[0]).contains("≥ 140/s"));
    }

    #[test]
    fn rows_that_did_not_hold_at_once_are_told_one_by_one() {
        let of = |mut run: LabRun| {
            run.results[0].findings.iter_mut().for_each(|finding| finding.stands = false);
            run.results[0] = run.results[0].clone().after(&run.results[0]);
            summary(&run)
        };
        assert!(!summary(&sample(Judgement::Held)).contains(" try: "));
        assert!(of(sample(Judgement::Held)).contains("\nat a second try: E1\n"));
        assert!(of(sample(Judgement::Missed)).contains("\nat no try: E1 MISSED\n"));
    }

    #[test]
    fn runs_stand_side_by_side() {
        let text = side_by_side(&sample(Judgement::Held), &sample(Judgement::Missed));
        assert!(text.contains("1.00×") && text.contains("the whole row"), "{text}");
    }
}
