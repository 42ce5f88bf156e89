//! How figures are written.

use bench::{bytes, micros, number};
use serde::{Deserialize, Serialize};

/// The unit of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Unit {
    /// Things that are counted.
    Count,
    /// So many a second.
    PerSecond,
    /// A time, in seconds.
    Seconds,
    /// A size, in bytes.
    Bytes,
    /// Parts of a hundred.
    Percent,
    /// One figure divided by another.
    Ratio,
}

impl Unit {
    /// A value with its unit.
    pub fn write(self, value: f64) -> String {
        if value.is_infinite() {
            return "never".to_owned();
        }
        let sign = if value < 0.0 { "-" } else { "" };
        let size = value.abs();
        let text = match self {
            Self::Count => number(size),
            Self::PerSecond => format!("{}/s", precise(size)),
            Self::Seconds => micros(size * 1e6),
            Self::Bytes => bytes(size),
            Self::Percent => format!("{} %", precise(size)),
            Self::Ratio => format!("{size:.2}×"),
        };
        format!("{sign}{text}")
    }
}

/// More digits for small numbers.
fn precise(value: f64) -> String {
    if value > 0.0 && value < 10.0 { format!("{value:.2}") } else { number(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_units() {
        assert_eq!(Unit::PerSecond.write(150.0), "150/s");
        assert_eq!(Unit::PerSecond.write(0.08), "0.08/s");
        assert_eq!(Unit::Seconds.write(0.0035), "3.50 ms");
        assert_eq!(Unit::Bytes.write(-2048.0), "-2.0 KiB");
        assert_eq!(Unit::Ratio.write(1.818), "1.82×");
        assert_eq!(Unit::Seconds.write(f64::INFINITY), "never");
    }
}
