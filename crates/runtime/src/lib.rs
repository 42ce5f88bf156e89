//! Waiting for asynchronous clients on a thread that may block: the exporters, cleaners and loaders of remote stores.
//!
//! This crate knows nothing of stores.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// A runtime that lives on the caller's thread. Not for a thread that runs tasks.
pub struct OwnRuntime(Option<Runtime>);

impl OwnRuntime {
    /// A runtime with nothing to do yet.
    pub fn new() -> io::Result<Self> {
        Ok(Self(Some(Builder::new_current_thread().enable_all().build()?)))
    }

    /// Runs a future to its end.
    pub fn run<F: Future>(&self, future: F) -> F::Output {
        self.0.as_ref().expect("it is taken at the end only").block_on(future)
    }
}

/// Does not wait, since a runtime must not end by itself where others run.
impl Drop for OwnRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OwnRuntime;

    #[tokio::test]
    async fn it_may_end_where_another_one_runs() {
        drop(OwnRuntime::new().unwrap());
    }
}
