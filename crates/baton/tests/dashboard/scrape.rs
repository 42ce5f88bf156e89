//! The text that a server has for Prometheus.

use std::io::{Read, Write};
use std::net::TcpStream;

pub(crate) struct Scrape {
    pub(crate) text: String,
}

impl Scrape {
    pub(crate) fn of(management: &str) -> Self {
        let mut stream = TcpStream::connect(management).unwrap();
        write!(stream, "GET /actuator/prometheus HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.0 200"), "{head}");
        Self { text: body.to_owned() }
    }

    /// The labels and values of a metric.
    fn series<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a str, f64)> {
        self.text.lines().filter_map(move |line| {
            let rest = line.strip_prefix(name)?;
            let (labels, value) = rest.rsplit_once(' ')?;
            let labels = match labels {
                "" => "",
                labels => labels.strip_prefix('{')?.strip_suffix('}')?,
            };
            Some((labels, value.parse().unwrap()))
        })
    }

    /// Whether a metric has a series with these labels.
    pub(crate) fn has(&self, name: &str, labels: &[String]) -> bool {
        self.series(name).any(|(found, _)| has_all(found, labels))
    }

    /// The sum of all such series.
    pub(crate) fn sum(&self, name: &str, labels: &[String]) -> f64 {
        self.series(name).filter(|(found, _)| has_all(found, labels)).map(|(_, value)| value).sum()
    }
}

fn has_all(found: &str, labels: &[String]) -> bool {
    labels.iter().all(|label| {
        let (name, value) = label.split_once('=').map_or((label.as_str(), None), |(n, v)| (n, Some(v)));
        let start = value.map_or_else(|| format!("{name}=\""), |value| format!("{name}=\"{value}\""));
        found.split(',').any(|one| one.starts_with(&start))
    })
}
