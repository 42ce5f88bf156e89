//! The commands besides `start`.

pub(crate) mod act;
pub(crate) mod banned;
pub(crate) mod bench;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod deploy;
pub(crate) mod dev_cluster;
pub(crate) mod health;
pub(crate) mod history;
pub(crate) mod kind;
mod kind_names;
pub(crate) mod partition;
pub(crate) mod profile_picture;
pub(crate) mod restore;
pub(crate) mod run;
pub(crate) mod search;
pub(crate) mod show;
pub(crate) mod status;
mod table;
