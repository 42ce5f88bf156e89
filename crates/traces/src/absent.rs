//! A build without traces: nothing can begin, so there is never anything to tell.

use crate::{RequestTrace, Settings};

/// Traces cannot be sent.
#[derive(Debug, thiserror::Error)]
#[error("this program was built without traces; they need the cargo feature 'otlp'")]
pub struct StartError;

/// There are none.
#[derive(Debug, Clone)]
pub enum Traces {}

/// There is none.
#[derive(Debug)]
pub enum Traced {}

impl Traces {
    /// Refuses.
    pub fn start(_: &Settings) -> Result<Self, StartError> {
        Err(StartError)
    }

    /// Never called.
    pub fn stop(&self) {
        match *self {}
    }

    /// Never called.
    pub fn choose(&self, _: Option<&str>) -> Option<Traced> {
        match *self {}
    }

    /// Never called.
    pub fn report(&self, traced: Traced, _: &RequestTrace<'_>) {
        match traced {}
    }
}
