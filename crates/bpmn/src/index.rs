//! Indexes into the parts of a process.

/// Position of an element in [`Process::elements`].
pub type ElementIndex = u32;

/// Position of a sequence flow in [`Process::flows`].
pub type FlowIndex = u32;

/// The index of the process element itself.
pub const PROCESS: ElementIndex = 0;
