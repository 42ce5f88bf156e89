//! When requests of an open loop are meant to start: rates that follow each other, or times from a file.
//!
//! A schedule is text: parts that commas or ends of lines separate, `#` begins a comment.
//!
//! | part | meaning |
//! |---|---|
//! | `150/s for 10s` | a step: a steady rate for a while |
//! | `150/s to 300/s over 20s` | a ramp |
//! | `burst 500` | so many at once |
//! | `pause 5s` | none |

use std::path::Path;
use std::time::Duration;

use crate::duration::duration;

/// Starts in a schedule, so that a slip of the pen does not fill the memory.
const STARTS_MAX: f64 = 1e9;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    /// From one rate to another, evenly.
    Rate { from: f64, to: f64, seconds: f64 },
    /// All at once.
    Burst { count: f64 },
}

impl Part {
    fn count(self) -> f64 {
        match self {
            Self::Rate { from, to, seconds } => f64::midpoint(from, to) * seconds,
            Self::Burst { count } => count,
        }
    }

    fn stretched(self, factor: f64) -> Self {
        match self {
            Self::Rate { from, to, seconds } => {
                // Tenths of seconds are read more easily.
                let seconds = (seconds * factor * 10.0).round().max(1.0) / 10.0;
                Self::Rate { from, to, seconds }
            }
            Self::Burst { count } => Self::Burst { count: (count * factor).ceil() },
        }
    }

    fn seconds(self) -> f64 {
        match self {
            Self::Rate { seconds, .. } => seconds,
            Self::Burst { .. } => 0.0,
        }
    }

    /// Seconds after the begin of this part at which its request `index` starts.
    fn start(self, index: f64) -> f64 {
        let Self::Rate { from, to, seconds } = self else { return 0.0 };
        let growth = (to - from) / seconds;
        if growth.abs() < 1e-9 {
            return index / from;
        }
        // from · t + growth · t² / 2 = index
        let root = (from * from + 2.0 * growth * index).max(0.0).sqrt();
        ((root - from) / growth).clamp(0.0, seconds)
    }
}

/// Times at which requests are meant to start.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    parts: Vec<Part>,
    /// Times of a file, seconds; instead of parts.
    replay: Vec<f64>,
    text: String,
}

impl Schedule {
    /// One rate without end.
    pub fn steady(per_second: f64) -> Self {
        let part = Part::Rate { from: per_second, to: per_second, seconds: f64::INFINITY };
        Self { parts: vec![part], replay: Vec::new(), text: format!("{per_second}/s") }
    }

    /// Reads a schedule from text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        let words = lines.flat_map(|line| line.split(',')).map(str::trim).filter(|part| !part.is_empty());
        let parts = words
            .map(|text| part(text).map_err(|reason| format!("'{text}': {reason}")))
            .collect::<Result<Vec<_>, _>>()?;
        let schedule = Self {
            text: parts.iter().map(|part| part.text()).collect::<Vec<_>>().join(", "),
            parts,
            replay: Vec::new(),
        };
        if schedule.parts.is_empty() {
            return Err("there is no part in it; write '150/s for 10s'".to_owned());
        }
        if schedule.parts.iter().map(|part| part.count()).sum::<f64>() > STARTS_MAX {
            return Err(format!("more than {STARTS_MAX:.0} starts"));
        }
        Ok(schedule)
    }

    /// A schedule whose times are multiplied by `factor`, with its rates as they are; the size of bursts is multiplied,
    /// too.
    #[must_use]
    pub fn stretched(&self, factor: f64) -> Self {
        let parts: Vec<Part> = self.parts.iter().map(|part| part.stretched(factor)).collect();
        let replay = self.replay.iter().map(|time| time * factor).collect();
        let texts: Vec<String> = parts.iter().map(|part| part.text()).collect();
        let text = if parts.is_empty() { self.text.clone() } else { texts.join(", ") };
        Self { parts, replay, text }
    }

    /// Reads a schedule from a file.
    pub fn read(path: &str) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
        Self::parse(&text).map_err(|reason| format!("{path}: {reason}"))
    }

    /// Reads times from a file: one in a line, in seconds from the begin, in their order.
    pub fn replay(path: &str) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
        let mut replay: Vec<f64> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let wrong = |reason: &str| Err(format!("{path}, line {}: {reason}", number + 1));
            match line.parse::<f64>() {
                Ok(time) if time.is_finite() && time >= 0.0 => {
                    if replay.last().is_some_and(|last| *last > time) {
                        return wrong("a time before the one of the line above");
                    }
                    replay.push(time);
                }
                _ => return wrong(&format!("'{line}' is no number of seconds")),
            }
        }
        if replay.is_empty() {
            return Err(format!("{path}: there is no time in it"));
        }
        let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
        Ok(Self { parts: Vec::new(), text: format!("{} starts of {name}", replay.len()), replay })
    }

    /// Seconds after the begin at which request `index` starts; none when there are no more.
    pub(crate) fn start(&self, index: u64) -> Option<f64> {
        if !self.replay.is_empty() {
            return self.replay.get(usize::try_from(index).ok()?).copied();
        }
        let (mut begun, mut seconds) = (0.0, 0.0);
        let index = index as f64;
        for part in &self.parts {
            if index < begun + part.count() {
                return Some(seconds + part.start(index - begun));
            }
            begun += part.count();
            seconds += part.seconds();
        }
        None
    }

    /// Length, where it has one.
    pub fn length(&self) -> Option<Duration> {
        let seconds = match self.replay.last() {
            Some(last) => *last,
            None => self.parts.iter().map(|part| part.seconds()).sum(),
        };
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// The schedule for people.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl Part {
    fn text(self) -> String {
        match self {
            Self::Rate { from, to, seconds } if from == 0.0 && to == 0.0 => format!("pause {seconds} s"),
            Self::Rate { from, to, seconds } if (from - to).abs() < 1e-9 => {
                format!("{from}/s for {seconds} s")
            }
            Self::Rate { from, to, seconds } => format!("{from}/s to {to}/s over {seconds} s"),
            Self::Burst { count } => format!("burst {count}"),
        }
    }
}

fn part(text: &str) -> Result<Part, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let seconds = |text: &str| match duration(text) {
        Ok(length) if !length.is_zero() => Ok(length.as_secs_f64()),
        Ok(_) => Err("a part takes some time".to_owned()),
        Err(reason) => Err(reason),
    };
    match words[..] {
        [from, "for", length] => {
            let from = rate(from)?;
            Ok(Part::Rate { from, to: from, seconds: seconds(length)? })
        }
        [from, "to", to, "over", length] => {
            Ok(Part::Rate { from: rate(from)?, to: rate(to)?, seconds: seconds(length)? })
        }
        ["burst", count] => match count.parse::<u32>() {
            Ok(count) if count > 0 => Ok(Part::Burst { count: f64::from(count) }),
            _ => Err(format!("'{count}' is no number of starts")),
        },
        ["pause", length] => Ok(Part::Rate { from: 0.0, to: 0.0, seconds: seconds(length)? }),
        _ => Err("write '150/s for 10s', '150/s to 300/s over 20s', 'burst 500' or 'pause 5s'".to_owned()),
    }
}

fn rate(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix("/s").and_then(|number| number.parse::<f64>().ok());
    number
        .filter(|rate| rate.is_finite() && *rate >= 0.0)
        .ok_or_else(|| format!("'{text}' is no rate; write {}/s", text.trim_end_matches("/s")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(text: &str) -> Vec<f64> {
        let schedule = Schedule::parse(text).unwrap();
        (0..).map_while(|index| schedule.start(index)).collect()
    }

    #[test]
    fn steps_follow_each_other() {
        assert_eq!(starts("2/s for 1s, pause 1s, 4/s for 1s"), [0.0, 0.5, 2.0, 2.25, 2.5, 2.75]);
        assert_eq!(starts("pause 1s\n# all of them\nburst 3"), [1.0, 1.0, 1.0]);
    }

    #[test]
    fn a_schedule_is_stretched_and_keeps_its_rates() {
        let schedule = Schedule::parse("2/s to 8/s over 90s, burst 500, pause 5s").unwrap();
        assert_eq!(schedule.stretched(0.27).text(), "2/s to 8/s over 24.3 s, burst 135, pause 1.4 s");
        assert_eq!(schedule.stretched(1.0), schedule);
    }

    #[test]
    fn a_ramp_has_its_mean_and_grows() {
        let up = starts("0/s to 100/s over 10s");
        assert_eq!(up.len(), 500);
        assert!(up.is_sorted() && *up.last().unwrap() <= 10.0, "{:?}", up.last());
        let late = up.iter().filter(|start| **start >= 5.0).count();
        assert!((370..=380).contains(&late), "three quarters start in the second half: {late}");
        let down = starts("100/s to 0/s over 10s");
        assert!(down.iter().filter(|start| **start < 5.0).count() > 370 && down.is_sorted());
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, reason) in [
            ("", "no part"),
            ("150 for 10s", "'150' is no rate; write 150/s"),
            ("150/s for 10", "no unit"),
            ("150/s", "write '150/s for 10s'"),
            ("burst many", "'many'"),
            ("1/s for 0s", "some time"),
            ("1000000/s for 10h", "starts"),
        ] {
            let error = Schedule::parse(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn a_file_is_replayed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().display().to_string();
        std::fs::write(&path, "0.5\n\n1 # a remark\n1\n2.25\n").unwrap();
        let schedule = Schedule::replay(&path).unwrap();
        assert_eq!((schedule.start(0), schedule.start(3), schedule.start(4)), (Some(0.5), Some(2.25), None));
        assert_eq!(schedule.length(), Some(Duration::from_millis(2250)));
        std::fs::write(&path, "1\nsoon\n").unwrap();
        assert!(Schedule::replay(&path).unwrap_err().ends_with("line 2: 'soon' is no number of seconds"));
        std::fs::write(&path, "2\n1\n").unwrap();
        assert!(Schedule::replay(&path).unwrap_err().contains("line 2"));
        assert!(Schedule::replay("/nowhere/at/all").unwrap_err().starts_with("/nowhere/at/all: "));
    }

    #[test]
    fn the_length_is_that_of_all_parts() {
        let schedule = Schedule::parse("2/s for 1s, burst 5, 1/s to 2/s over 3s").unwrap();
        assert_eq!(schedule.length(), Some(Duration::from_secs(4)));
        assert_eq!(schedule.text(), "2/s for 1 s, burst 5, 1/s to 2/s over 3 s");
        assert_eq!(Schedule::steady(150.0).length(), None);
    }
}
