//! Findings of a file, each with its element.

use std::fmt;

use crate::xml::{Document, NodeId};

/// Longest text that [`Problems`] prints, in bytes. A rejection travels in an HTTP header-sized message.
pub const MAX_DISPLAY_BYTES: usize = 12 * 1024;

/// Longest excerpt of the model that a reason repeats, in characters.
const MAX_EXCERPT_CHARS: usize = 120;

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// BPMN ID of the element, if it has one; `None` for the file as a whole.
    pub element_id: Option<String>,
    /// Local XML name of the element, for example `serviceTask`.
    pub element_type: Option<String>,
    /// The reason, in terms of the model.
    pub reason: String,
}

impl Problem {
    /// A finding about the file as a whole.
    pub(crate) fn of_file(reason: impl Into<String>) -> Self {
        Self { element_id: None, element_type: None, reason: reason.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.element_id, &self.element_type) {
            (Some(id), Some(kind)) => write!(f, "{kind} '{}': ", excerpt(id))?,
            (Some(id), None) => write!(f, "'{}': ", excerpt(id))?,
            (None, Some(kind)) => write!(f, "{kind} without ID: ")?,
            (None, None) => {}
        }
        f.write_str(&self.reason)
    }
}

/// All findings of one file, in document order as far as they have a place. Never empty when returned as an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Problems(pub Vec<Problem>);

/// One finding per line, at most [`MAX_DISPLAY_BYTES`] as a whole.
impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const ROOM_FOR_SUMMARY: usize = 40;
        let mut printed_bytes = 0;
        for (index, problem) in self.0.iter().enumerate() {
            let line = problem.to_string();
            let line = line.replace(['\n', '\r'], " ");
            if printed_bytes + line.len() + 1 > MAX_DISPLAY_BYTES - ROOM_FOR_SUMMARY {
                let more = self.0.len() - index;
                return write!(f, "{}… and {more} more", if index == 0 { "" } else { "\n" });
            }
            if index > 0 {
                f.write_str("\n")?;
            }
            f.write_str(&line)?;
            printed_bytes += line.len() + 1;
        }
        Ok(())
    }
}

/// Collects findings up to a bound.
#[derive(Debug)]
pub(crate) struct Report {
    /// Findings with their position in the file, by which they are sorted.
    problems: Vec<(NodeId, Problem)>,
    dropped: usize,
    max_problems: usize,
}

impl Report {
    pub(crate) fn new(max_problems: usize) -> Self {
        Self { problems: Vec::new(), dropped: 0, max_problems: max_problems.max(1) }
    }

    /// A finding about an element of the file.
    pub(crate) fn add(&mut self, document: &Document<'_>, node: NodeId, reason: impl Into<String>) {
        let problem = Problem {
            element_id: document.attribute(node, "id").filter(|id| !id.trim().is_empty()).map(excerpt),
            element_type: Some(document.node(node).name.to_owned()),
            reason: reason.into(),
        };
        self.push(node, problem);
    }

    /// A finding about the file as a whole.
    pub(crate) fn add_file(&mut self, reason: impl Into<String>) {
        self.push(0, Problem::of_file(reason));
    }

    fn push(&mut self, node: NodeId, problem: Problem) {
        if self.problems.len() < self.max_problems {
            self.problems.push((node, problem));
        } else {
            self.dropped += 1;
        }
    }

    /// The value if nothing was found, else all findings.
    pub(crate) fn finish<T>(mut self, value: T) -> Result<T, Problems> {
        if self.problems.is_empty() {
            return Ok(value);
        }
        self.problems.sort_by_key(|(node, _)| *node);
        let mut problems: Vec<Problem> = self.problems.into_iter().map(|(_, problem)| problem).collect();
        if self.dropped > 0 {
            problems.push(Problem::of_file(format!("{} more problems are not listed", self.dropped)));
        }
        Err(Problems(problems))
    }
}

/// A bounded excerpt of text from the model, safe to repeat in a reason.
pub(crate) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(MAX_EXCERPT_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_one_line_each_and_stays_within_the_bound() {
        let problem = |id: usize| Problem {
            element_id: Some(format!("task-{id}")),
            element_type: Some("serviceTask".to_owned()),
            reason: "must have a\ntask definition".to_owned(),
        };
        let few = Problems(vec![problem(1), problem(2)]);
        assert_eq!(
            few.to_string(),
            "serviceTask 'task-1': must have a task definition\nserviceTask 'task-2': must have a task definition"
        );
        let many = Problems((0..10_000).map(problem).collect()).to_string();
        assert!(many.len() <= MAX_DISPLAY_BYTES, "{}", many.len());
        assert!(many.lines().last().is_some_and(|line| line.starts_with("… and ")), "{many}");
        let long = Problem::of_file("x".repeat(MAX_DISPLAY_BYTES * 2));
        assert_eq!(Problems(vec![long]).to_string(), "… and 1 more");
    }

    #[test]
    fn counts_what_it_does_not_list() {
        let mut report = Report::new(2);
        for _ in 0..5 {
            report.add_file("bad");
        }
        let problems = report.finish(()).unwrap_err();
        assert_eq!(problems.to_string(), "bad\nbad\n3 more problems are not listed");
    }
}
