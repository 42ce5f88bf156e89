//! The engine at its outer boundary: a model and a script of commands in, a transcript of what happened out.
//!
//! `UPDATE_EXPECT=1` writes new transcripts into the tests. After each script its log is applied to other engines, which
//! must end in the same state (see [`support::harness`]).

mod lifecycle;
mod support;
