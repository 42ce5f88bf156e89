//! CPU samples of the running process, with little memory: a signal interrupts whatever works, and its handler puts
//! the addresses of the stack into a buffer of fixed size ([`Sampling`]). Another process, which lives for as long
//! as that takes, finds their names and makes a picture of them ([`render`]), so that symbols never weigh on the
//! server.
//!
//! The one crate of the house with `unsafe` code, all of it in `signal`.

#[cfg(not(feature = "profiles"))]
mod absent;
mod format;
#[cfg(feature = "profiles")]
mod render;
#[cfg(feature = "profiles")]
mod signal;
#[cfg(feature = "profiles")]
mod symbols;

#[cfg(not(feature = "profiles"))]
pub use absent::{RenderError, Samples, Sampling, render};
pub use format::Format;
#[cfg(feature = "profiles")]
pub use render::{RenderError, render};
#[cfg(feature = "profiles")]
pub use signal::{Samples, Sampling};

/// The largest description of samples that is read, in bytes.
pub const INPUT_BYTES_MAX: u64 = 64 << 20;
