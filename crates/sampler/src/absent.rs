//! A build without profiles: sampling is refused, so there is never anything to render.

use std::io::{self, BufRead, Write};
use std::path::Path;

use crate::Format;

const REASON: &str = "this program was built without profiles; they need the cargo feature 'profiles'";

/// Sampling under way, of which there is none.
#[derive(Debug)]
pub enum Sampling {}

/// Samples that nothing takes.
#[derive(Debug)]
pub struct Samples(());

/// Profiles are not built in.
#[derive(Debug)]
pub struct RenderError;

impl std::fmt::Display for RenderError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(REASON)
    }
}

impl std::error::Error for RenderError {}

impl Sampling {
    /// Refuses.
    pub fn start(_: u32, _: u64) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, REASON))
    }

    /// Never called: sampling never starts.
    pub fn stop(self) -> Samples {
        match self {}
    }
}

impl Samples {
    /// Refuses.
    pub fn write(&self, _: &mut impl Write) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, REASON))
    }
}

/// Refuses.
pub fn render(_: &Path, _: impl BufRead, _: Format, _: &mut impl Write) -> Result<(), RenderError> {
    Err(RenderError)
}
