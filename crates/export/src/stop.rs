//! The end of an exporter's thread.

/// How an exporter's thread is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It flushes what it took.
    Flush,
    Abandon,
}
