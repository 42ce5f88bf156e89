//! The commands besides `start`.

pub(crate) mod banned;
pub(crate) mod bench;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod deploy;
pub(crate) mod run;
pub(crate) mod status;
