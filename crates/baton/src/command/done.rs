//! Outcome of commands that do the same for several keys: one that fails does not stop the others.

use std::fmt::Display;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output;

/// Outcome of each key.
pub(super) struct Done {
    word: &'static str,
    json: bool,
    items: Vec<Value>,
    failed: Option<ExitCode>,
}

impl Done {
    /// `word` tells what was done, such as `canceled`.
    pub(super) const fn new(word: &'static str, json: bool) -> Self {
        Self { word, json, items: Vec::new(), failed: None }
    }

    /// Does the same for each key, and finishes.
    pub(super) async fn each<K: Display + Copy>(
        mut self,
        keys: &[K],
        act: impl AsyncFn(K) -> Result<(), Failure>,
    ) -> Result<ExitCode, Failure> {
        for &key in keys {
            self.add(key, act(key).await);
        }
        self.finish()
    }

    /// Adds the outcome of one.
    pub(super) fn add(&mut self, key: impl Display, outcome: Result<(), Failure>) {
        let item = json!({ "key": key.to_string(), self.word: outcome.is_ok() });
        if outcome.is_err() {
            self.items.push(item.clone());
        }
        self.add_item(key, outcome.map(|()| item));
    }

    /// Adds the outcome of one, which the output shows as the API has answered; a failure adds no item.
    pub(super) fn add_item(&mut self, key: impl Display, outcome: Result<Value, Failure>) {
        let told = match outcome {
            Ok(item) => {
                self.items.push(item);
                if self.json { Ok(()) } else { output::line(format_args!("{} {key}", self.word)) }
            }
            Err(failure) => Err(failure),
        };
        if let Err(failure) = told {
            self.failed = Some(output::report(&failure));
        }
    }

    /// Prints JSON, if that is wanted, and gives the exit code.
    pub(super) fn finish(self) -> Result<ExitCode, Failure> {
        if self.json {
            output::line(format_args!("{:#}", Value::from(self.items)))?;
        }
        Ok(self.failed.unwrap_or(ExitCode::SUCCESS))
    }
}
