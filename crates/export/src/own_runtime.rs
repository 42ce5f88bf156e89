//! Asynchronous clients on a thread that may block: the exporters, cleaners and loaders of remote stores.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// A runtime on the thread of its owner, which must run no tasks of another runtime.
pub struct OwnRuntime(Option<Runtime>);

impl OwnRuntime {
    /// An idle runtime.
    pub fn new() -> io::Result<Self> {
        Ok(Self(Some(Builder::new_current_thread().enable_all().build()?)))
    }

    /// Runs a future to its end, on the calling thread.
    pub fn run<F: Future>(&self, future: F) -> F::Output {
        self.0.as_ref().expect("taken by drop alone").block_on(future)
    }
}

/// Shuts down in the background: tokio panics when a runtime is dropped where another one runs.
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
