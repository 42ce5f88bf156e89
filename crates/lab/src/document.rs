//! docs/experiments.md: one section an experiment, in the report's form, with the figures of a run.

use std::fmt::Write;

use crate::experiment::{Body, Experiment};
use crate::experiments;
use crate::result::{ExperimentResult, Judgement, LabRun};

/// Width of the text.
const COLUMNS: usize = 120;

/// The document.
pub(crate) fn document(run: &LabRun) -> String {
    let mut text = String::from("# Experiments\n\n");
    text += &wrap(
        "Published load and chaos experiments of the reference system, run again on Baton by `baton lab`. The lab has \
         written this page itself.",
    );
    text += "\n## Repeat it\n\n```sh\nmake lab                                  # all rows in quick size, at most four minutes\n\
             baton lab list\nbaton lab run E1 E2 --out results         # in full size\n\
             baton lab run --all --quick --out results\nbaton lab report results other-results    # two runs side by side\n\
             make lab-full LAB_BUDGET=25m              # all rows in full size, shortened; writes this page and README's table\n\
             make lab-node                             # the rows with workers with the Node client\n\
             make lab-peer PEER=temporal               # another system beside it; or restate, operaton\n```\n\n";
    text += &wrap(
        "The directory of a run has `lab.json`, `lab.html` (plots over time with phases, faults and the published figures), \
         and a folder with the logs for each row. The exit code is 1 if an expectation fails or a row is void, 2 if the lab \
         cannot run here. How experiments are scaled, and how workers and attacks are built: [workers and \
         attacks](attacks.md).",
    );
    text.push('\n');
    text += &wrap(
        "Lengths and numbers of the full size are scaled with `--scale`, or with `--time-budget` so that all rows end in \
         time; each row tells its scale. A row whose load generator or worker did not keep up is void. `--again` runs \
         rows once more, alone, that are void or miss what a busy machine explains; what is lost or doubled stands. The \
         tests run all rows in quick size. A spread in brackets is the smallest and the largest of several measurements.",
    );
    text.push('\n');
    text += &wrap(
        "`--against` puts another system beside Baton (row P1), driven by a program with the system's own client \
         (`crates/lab/peers/`): Restate with its server and SDK from npm, Temporal with its server and SDK from Go \
         modules, Operaton with its Spring Boot starter from Maven Central and its REST API. `make lab-peer` builds such \
         a program and runs the row; programs for others speak the same lines of JSON (`crates/lab/src/peer/driver.rs`). \
         A broker of Camunda 8 that runs already needs none (`--peer-rest`, `--peer-grpc`). Each result tells \
         durability, replicas, warm-up and who shares the cores; [figures of each](performance.md#other-systems).",
    );
    text.push('\n');
    text += &wrap(
        "`--postgres` and `--opensearch` name stores that E15 takes away, beside the embedded one; `make lab-full` starts \
         those that can be had here (`scripts/with-stores`).",
    );
    text += "\n## Rows that do not hold\n\n";
    text += &not_held(run);
    let _ = write!(
        text,
        "\n## Results\n\n{}\n",
        wrap(&format!("Baton {}; {}; {}.", run.version, run.size, run.machine))
    );
    text += "| row | | verdict | seconds |\n|---|---|---|---|\n";
    for result in &run.results {
        let (id, title, word) = (&result.id, &result.title, result.judgement.word());
        let _ = writeln!(text, "| [{id}](#{}) | {title} | {word} | {:.0} |", anchor(result), result.seconds);
    }
    for experiment in experiments::ALL {
        let result = run.results.iter().find(|result| result.id == experiment.id);
        section(&mut text, experiment, result);
    }
    text
}

/// The table that matters most, for the first page of the project.
pub(crate) fn rest_against_grpc(run: &LabRun) -> Option<String> {
    let of = |id: &str| run.results.iter().find(|result| result.id == id);
    let (rest, grpc) = (of("E2")?, of("E1")?);
    let text = |result: &ExperimentResult, figure: &str| {
        result.finding(figure).map_or_else(|| "–".to_owned(), crate::Finding::actual_text)
    };
    let mut table = String::from(
        "| 150 instances/s, one task | gRPC, published | REST, published | gRPC, Baton | REST, Baton |\n|---|---|---|---|---|\n",
    );
    for (figure, grpc_published, rest_published) in [
        ("instances ended", "150/s", "45/s (−70 %)"),
        ("request latency, mean", "3 to 10 ms", "50 to 120 ms"),
        ("instance, p99", "0.2 s (mean)", "> 60 s"),
        ("server CPU", "1.5 cores of each broker", "twice that, throttled"),
    ] {
        let _ = writeln!(
            table,
            "| {figure} | {grpc_published} | {rest_published} | {} | {} |",
            text(grpc, figure),
            text(rest, figure)
        );
    }
    Some(table)
}

/// The lines between which that table stands.
pub(crate) const MARKS: (&str, &str) = ("<!-- REST against gRPC -->", "<!-- end -->");

/// A page with the table between its marks; `None` if it has none.
pub(crate) fn between_marks(page: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(MARKS.0)?;
    let (_, after) = rest.split_once(MARKS.1)?;
    Some(format!("{before}{}\n{}\n{}{after}", MARKS.0, table.trim_end(), MARKS.1))
}

fn not_held(run: &LabRun) -> String {
    let mut text = String::new();
    for result in &run.results {
        let why = match result.judgement {
            Judgement::Held | Judgement::Noted => continue,
            Judgement::NotRun | Judgement::Void => result.reason.clone().unwrap_or_default(),
            Judgement::Missed => {
                let missed = result.findings.iter().filter(|finding| finding.judgement == Judgement::Missed);
                let missed: Vec<String> = missed
                    .map(|finding| {
                        let limit = finding.limit.text(finding.unit);
                        format!("{}: {}, expected {limit}", finding.figure, finding.actual_text())
                    })
                    .collect();
                // Without its last dot: the line has one.
                let reason = result.reason.as_deref().map(|reason| reason.trim_end_matches('.').to_owned());
                missed.into_iter().chain(reason).collect::<Vec<_>>().join("; ")
            }
        };
        let line = format!("- {} {} ({}): {why}.", result.id, result.title, result.judgement.word());
        text += &wrap(&line).replace('\n', "\n  ");
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    for experiment in experiments::ALL {
        if run.results.iter().all(|result| result.id != experiment.id) {
            let _ = writeln!(text, "- {} {}: not in this run.", experiment.id, experiment.title);
        }
    }
    if text.is_empty() { "Every row holds.\n".to_owned() } else { text }
}

fn section(text: &mut String, experiment: &Experiment, result: Option<&ExperimentResult>) {
    let _ = write!(text, "\n## {} {}\n\n", experiment.id, experiment.title);
    for (name, part) in [
        ("Hypothesis", experiment.hypothesis),
        ("Set-up", experiment.set_up),
        ("Steady state", experiment.steady_state),
        ("Action", experiment.action),
        ("Measured", experiment.measurement),
        ("Reference", experiment.reference),
    ] {
        if !part.is_empty() {
            let _ = writeln!(text, "{}", wrap(&format!("*{name}.* {part}")));
        }
    }
    if let Body::NotRun(needs) = experiment.body {
        let _ = writeln!(text, "{}", wrap(&format!("Not run: it needs {needs}.")));
        return;
    }
    let Some(result) = result else {
        let _ = writeln!(
            text,
            "`baton lab run {}`: not in the run that this page was written of.",
            experiment.id
        );
        return;
    };
    let _ = writeln!(text, "`baton lab run {}`: {}", experiment.id, result.judgement.word());
    if !result.findings.is_empty() {
        text.push_str("\n| phase | figure | expected | actual | verdict |\n|---|---|---|---|---|\n");
        for finding in &result.findings {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} |",
                finding.phase,
                finding.figure,
                finding.limit.text(finding.unit),
                finding.actual_text(),
                finding.judgement.word()
            );
        }
    }
    for note in &result.notes {
        let _ = write!(text, "\n{}", wrap(&format!("Note: {note}.")));
    }
    if let Some(reason) = &result.reason {
        let _ = write!(text, "\n{}", wrap(&format!("{}: {reason}.", result.judgement.word())));
    }
}

/// The anchor that a heading gets.
fn anchor(result: &ExperimentResult) -> String {
    let heading = format!("{} {}", result.id, result.title).to_lowercase();
    let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-'));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// A paragraph in lines of a modest length.
fn wrap(text: &str) -> String {
    let mut lines = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        if length > 0 && length + 1 + word.len() > COLUMNS {
            lines.push('\n');
            length = 0;
        } else if length > 0 {
            lines.push(' ');
            length += 1;
        }
        lines += word;
        length += word.len();
    }
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::tests::sample;

    #[test]
    fn what_does_not_hold_comes_first() {
        let text = document(&sample(Judgement::Missed));
        let missed = text.find("instances <ended>: 150/s, expected ≥ 140/s").unwrap();
        assert!(missed < text.find("## E1").unwrap(), "{text}");
        assert!(text.contains("*Hypothesis.*") && text.contains("`baton lab run E1`"));
        assert!(text.contains("- E2 REST instead of gRPC: not in this run."));
    }

    #[test]
    fn a_table_takes_the_place_of_the_one_before() {
        let page = format!("a\n{}\nold\n{}\nb\n", MARKS.0, MARKS.1);
        let wanted = format!("a\n{}\n| new |\n{}\nb\n", MARKS.0, MARKS.1);
        assert_eq!(between_marks(&page, "| new |\n").as_deref(), Some(wanted.as_str()));
        assert_eq!(between_marks(&wanted, "| new |\n"), Some(wanted));
        assert_eq!(between_marks("no marks", "x"), None);
    }

    #[test]
    fn lines_are_modest() {
        let text = wrap(&"word ".repeat(100));
        assert!(text.lines().all(|line| line.len() <= COLUMNS) && text.lines().count() == 5);
    }
}
