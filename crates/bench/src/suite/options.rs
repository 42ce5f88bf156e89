//! Settings of the suite.

use std::path::PathBuf;
use std::time::Duration;

use crate::duration::duration;

/// Settings of the suite.
#[derive(Debug, Clone, clap::Args)]
pub struct SuiteOptions {
    /// The `baton` program to measure, built for release.
    #[arg(long, value_name = "FILE")]
    pub server: PathBuf,
    /// The bare server to compare with. Default: `reference-server` beside this program.
    #[arg(long, value_name = "FILE")]
    pub reference_server: Option<PathBuf>,
    /// Where scratch data directories are made: on the disk to measure. Default: the current directory.
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// Smaller and shorter, to see that it works: the figures mean little.
    #[arg(long)]
    pub quick: bool,
    /// Waiting instances in the measurement of many. Default: 1000000, quick: 100000.
    #[arg(long, value_name = "N")]
    pub waiting_instances: Option<u64>,
    /// Length of each measured window. Default: 10 s, quick: 2 s.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub window: Option<Duration>,
    /// How long the load of the measurement of the backlog lasts. Default: 1 min, quick: the window.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub backlog_window: Option<Duration>,
    /// Only measurements whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Further arguments for `baton start`.
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true)]
    pub server_argument: Vec<String>,
    /// Write the results to this file as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the results to this file as Markdown.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write a page with plots of all runs into this directory.
    #[arg(long, value_name = "DIR")]
    pub html: Option<PathBuf>,
}

impl SuiteOptions {
    pub(crate) fn window(&self) -> Duration {
        self.window.unwrap_or(Duration::from_secs(if self.quick { 2 } else { 10 }))
    }

    pub(crate) fn warm_up(&self) -> Duration {
        Duration::from_secs(if self.quick { 1 } else { 3 })
    }

    pub(crate) fn waiting_instances(&self) -> u64 {
        self.waiting_instances.unwrap_or(if self.quick { 100_000 } else { 1_000_000 })
    }

    /// Elements of the large multi-instance.
    pub(crate) fn large_elements(&self) -> u64 {
        if self.quick { 10_000 } else { 100_000 }
    }

    pub(super) fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|text| name.contains(text.as_str()))
    }
}
