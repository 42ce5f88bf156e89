//! Times as people write them.

use std::time::Duration;

/// A time with its unit: `250ms`, `10s`, `2m`, `1h`; a bare number is seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds_per_unit = match unit.trim() {
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "" if digits > 0 => {
            return Err(format!("'{text}' has no unit of time; write {text}s, or ms, m or h"));
        }
        _ => return Err(format!("'{unit}' is no unit of time; use us, ms, s, m or h")),
    };
    let number: f64 = number.parse().map_err(|_| format!("'{text}' does not begin with a number"))?;
    Duration::try_from_secs_f64(number * seconds_per_unit).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("2m"), Ok(Duration::from_mins(2)));
        assert!(duration("3").unwrap_err().contains("write 3s"));
        assert!(duration("fast").is_err());
        assert!(duration("5 days").is_err());
        assert!(duration("").is_err());
    }
}
