//! Waiting for the database on a thread that may block.

use std::io;

use tokio::runtime::{Builder, Runtime};

use crate::store::StoreError;

/// A runtime that lives on the caller's thread.
pub(super) struct Blocking(Option<Runtime>);

impl Blocking {
    pub fn new() -> Result<Self, StoreError> {
        let failed =
            |error: io::Error| StoreError::Unavailable(format!("the runtime does not start: {error}"));
        Ok(Self(Some(Builder::new_current_thread().enable_all().build().map_err(failed)?)))
    }

    /// Runs a future to its end.
    pub fn run<F: Future>(&self, future: F) -> F::Output {
        self.0.as_ref().expect("it is taken at the end only").block_on(future)
    }
}

/// A runtime must not end by itself where others run.
impl Drop for Blocking {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
