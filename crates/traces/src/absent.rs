//! A build without traces: nothing can begin, so there is never anything to tell.

use crate::{RequestTrace, Settings};

/// Traces cannot be sent.
#[derive(Debug, thiserror::Error)]
#[error("this program was built without traces; they need the cargo feature 'otlp'")]
pub struct StartError;

#[derive(Debug, Clone)]
pub enum Traces {}

#[derive(Debug)]
pub enum Traced {}

impl Traces {
    pub fn start(_: &Settings) -> Result<Self, StartError> {
        Err(StartError)
    }

    pub fn stop(&self) {
        match *self {}
    }

    pub fn choose(&self, _: Option<&str>) -> Option<Traced> {
        match *self {}
    }

    pub fn report(&self, traced: Traced, _: &RequestTrace<'_>) {
        match traced {}
    }
}
