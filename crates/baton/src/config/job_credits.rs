//! How the first credits of job streams are written, by job type.

use std::collections::BTreeMap;

use protocol::Name;

use super::value::Setting;

/// Credit of a stream at the most.
const CREDIT_MAX: u32 = 10_000;

/// Credits of new job streams, by job type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobCredits(pub BTreeMap<Name, u32>);

impl Setting for JobCredits {
    const EXPECTED: &'static str = "job types, each once, with a number from 1 to 10000, such as 'archive=1000;print=1', separated by ';'";

    fn parse(text: &str) -> Option<Self> {
        let mut credits = BTreeMap::new();
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            // A job type may have any character.
            let (job_type, credit) = part.rsplit_once('=')?;
            let credit = credit.trim().parse().ok().filter(|credit| (1..=CREDIT_MAX).contains(credit))?;
            let job_type = job_type.trim();
            if job_type.is_empty() || credits.insert(Name::from(job_type), credit).is_some() {
                return None;
            }
        }
        Some(Self(credits))
    }

    fn show(&self) -> String {
        let credits = self.0.iter().map(|(job_type, credit)| format!("{job_type}={credit}"));
        credits.collect::<Vec<_>>().join(";")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_job_type_has_a_number() {
        let credits = JobCredits::parse(" archive = 1000; a=b=7;").unwrap();
        assert_eq!(credits.0[&Name::from("archive")], 1000);
        assert_eq!(credits.0[&Name::from("a=b")], 7);
        assert_eq!(JobCredits::parse(&credits.show()), Some(credits));
        assert_eq!(JobCredits::parse(""), Some(JobCredits::default()));
        for text in ["archive", "archive=0", "archive=10001", "=3", "a=1;a=2", "a=x"] {
            assert_eq!(JobCredits::parse(text), None, "{text}");
        }
    }
}
