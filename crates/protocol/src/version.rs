//! Versions of the behaviour of the engine.

/// The latest version of the behaviour that this release knows. Replicas apply a batch as its version says, and a batch
/// asks for the version that is active in the state, so that a rolling upgrade never diverges. From the first release
/// on, a change of what a command does is another version, and what earlier versions do stays.
pub const ENGINE_VERSION: u16 = 1;

/// The version that is active where no command has activated one.
pub const FIRST_ACTIVE_VERSION: u16 = 1;
