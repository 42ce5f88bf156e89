//! A build without traces: nothing can begin, so there is never anything to tell.

use crate::{RequestTrace, Settings};

/// Traces cannot be sent.
#[derive(Debug, thiserror::Error)]
#[error("this program was built without traces; they need the cargo feature 'otlp'")]
pub struct StartError;

/// A sender of traces, of which there is none.
#[derive(Debug, Clone)]
pub enum Traces {}

/// A request that is traced, of which there is none.
#[derive(Debug)]
pub enum Traced {}

impl Traces {
    /// Refuses.
    pub fn start(_: &Settings) -> Result<Self, StartError> {
        Err(StartError)
    }

    /// Never called: there is no sender.
    pub fn stop(&self) {
        match *self {}
    }

    /// Never called: there is no sender.
    pub fn choose(&self, _: Option<&str>) -> Option<Traced> {
        match *self {}
    }

    /// Never called: there is no sender.
    pub fn report(&self, traced: Traced, _: &RequestTrace<'_>) {
        match traced {}
    }
}
