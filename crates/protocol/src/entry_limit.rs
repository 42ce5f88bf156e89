//! The limit for the entries of a command, which is that for the members of a document, too.

/// The most entries of one command that the setting `limits.max_entries_per_command` may allow. Readers of requests
/// give up a list that is longer, before it takes memory.
pub const ENTRIES_MAX: usize = 20_000;

/// The setting that bounds the entries of a command.
pub const ENTRIES_SETTING: &str = "limits.max_entries_per_command";
