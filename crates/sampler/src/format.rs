//! The forms of a profile.

use std::str::FromStr;

/// Forms of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A flame graph.
    Svg,
    /// A line for each stack: its thread and functions, the outermost first, with `;` between them, and how often
    /// it was seen. Most tools read it.
    Collapsed,
}

impl Format {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Collapsed => "collapsed",
        }
    }
}

impl FromStr for Format {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Svg, Self::Collapsed].into_iter().find(|format| format.as_str() == text).ok_or(())
    }
}
