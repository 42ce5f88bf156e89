//! Findings of a file, each with its element.

use std::fmt;

/// Longest text that [`Problems`] prints, in bytes.
pub const MAX_DISPLAY_BYTES: usize = 12 * 1024;

/// Longest excerpt of the model that a finding repeats, in characters.
const MAX_EXCERPT_CHARS: usize = 200;

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The ID of the decision, business knowledge model, or service.
    pub element_id: Option<String>,
    /// Local XML name of the innermost element with a name for it, for example `inputEntry`.
    pub element_type: Option<String>,
    /// The reason, in terms of the model.
    pub reason: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.element_id, &self.element_type) {
            (Some(id), Some(kind)) => write!(f, "{kind} of '{id}': ")?,
            (Some(id), None) => write!(f, "'{id}': ")?,
            (None, Some(kind)) => write!(f, "{kind}: ")?,
            (None, None) => {}
        }
        f.write_str(&self.reason)
    }
}

/// All findings of one file. Never empty when returned as an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Problems(pub Vec<Problem>);

impl Problems {
    pub(crate) fn of_file(reason: impl Into<String>) -> Self {
        Self(vec![Problem { element_id: None, element_type: None, reason: reason.into() }])
    }
}

/// One finding per line, at most [`MAX_DISPLAY_BYTES`] as a whole.
impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printed_bytes = 0;
        for (index, problem) in self.0.iter().enumerate() {
            let line = problem.to_string().replace(['\n', '\r'], " ");
            if printed_bytes + line.len() > MAX_DISPLAY_BYTES - 40 {
                return write!(f, "\n… and {} more", self.0.len() - index);
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

/// The beginning of a text from the model.
pub(crate) fn excerpt(text: &str) -> String {
    let mut short: String = text.chars().take(MAX_EXCERPT_CHARS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
