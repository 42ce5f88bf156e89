//! Cost of the server: CPU, memory, bytes written. Read from its management port, or from `/proc` for a process
//! of ours.

use std::path::PathBuf;

use client::Address;

use crate::http::get;

/// Port of the management server where none is given.
const PORT_DEFAULT: u16 = 9600;
/// Clock ticks per second in `/proc`; the kernel's interface fixes it.
const TICKS_PER_SECOND: f64 = 100.0;

/// Totals since the server started.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    /// CPU time, seconds.
    pub cpu_seconds: Option<f64>,
    /// Resident memory now, bytes.
    pub resident_bytes: Option<f64>,
    /// Written to the data directory, bytes.
    pub disk_written_bytes: Option<f64>,
}

/// Where the figures come from.
#[derive(Debug, Clone, Default)]
pub struct Probe {
    /// The management port.
    pub management: Option<Address>,
    /// A process on this machine, for what the management port does not tell.
    pub process: Option<u32>,
}

impl Probe {
    /// Asks a management port alone.
    pub fn management(address: &str) -> Result<Self, client::Error> {
        Ok(Self { management: Some(Address::parse(address, PORT_DEFAULT)?), process: None })
    }

    /// Figures of the kernel about a process on this machine.
    pub fn of_process(process: u32) -> Spent {
        of_process(process)
    }

    /// The figures now; those that cannot be had are missing.
    pub async fn read(&self) -> Spent {
        let mut spent = Spent::default();
        if let Some(address) = &self.management {
            for path in ["/metrics", "/actuator/prometheus"] {
                if let Some(text) = get(address, path).await {
                    spent = of_metrics(&text);
                    break;
                }
            }
        }
        let process = self.process.map(of_process).unwrap_or_default();
        Spent {
            cpu_seconds: spent.cpu_seconds.or(process.cpu_seconds),
            resident_bytes: spent.resident_bytes.or(process.resident_bytes),
            disk_written_bytes: spent.disk_written_bytes.or(process.disk_written_bytes),
        }
    }
}

/// CPU seconds that this very process has used.
pub fn own_cpu_seconds() -> Option<f64> {
    of_process(std::process::id()).cpu_seconds
}

fn of_metrics(text: &str) -> Spent {
    Spent {
        cpu_seconds: metric(text, "process_cpu_seconds_total"),
        resident_bytes: metric(text, "process_resident_memory_bytes"),
        disk_written_bytes: metric(text, "baton_process_disk_written_bytes_total"),
    }
}

/// The sum of all series of metric `name` in the Prometheus text format.
pub fn metric(text: &str, name: &str) -> Option<f64> {
    let values = text.lines().filter_map(|line| {
        let rest = line.strip_prefix(name)?;
        // The name must end here; a label's value may contain blanks and braces, so the labels end at the last brace.
        let value = if rest.starts_with('{') { &rest[rest.rfind('}')? + 1..] } else { rest };
        value.starts_with([' ', '\t']).then(|| value.split_whitespace().next()?.parse::<f64>().ok()).flatten()
    });
    values.reduce(|sum, value| sum + value)
}

fn of_process(process: u32) -> Spent {
    let directory = PathBuf::from(format!("/proc/{process}"));
    let read = |file| std::fs::read_to_string(directory.join(file)).unwrap_or_default();
    Spent {
        cpu_seconds: cpu_of_stat(&read("stat")),
        resident_bytes: field(&read("status"), "VmRSS:").map(|kibibytes| kibibytes * 1024.0),
        disk_written_bytes: field(&read("io"), "write_bytes:"),
    }
}

/// User and system time: the 14th and 15th field, counted after the command's name, which may hold blanks.
fn cpu_of_stat(stat: &str) -> Option<f64> {
    let mut fields = stat[stat.rfind(')')? + 1..].split_whitespace().skip(11);
    let (user, system): (f64, f64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some((user + system) / TICKS_PER_SECOND)
}

fn field(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_text_format() {
        let text = "# HELP process_cpu_seconds_total cpu\n# TYPE process_cpu_seconds_total counter\n\
            process_cpu_seconds_total 12.5\nprocess_cpu_seconds_total_other 9\n\
            process_resident_memory_bytes 1.5e7 1700000000\n\
            baton_process_disk_written_bytes_total{file=\"a } b\"} 100\nbaton_process_disk_written_bytes_total{file=\"c\"} 20\n";
        let spent = of_metrics(text);
        assert_eq!(spent.cpu_seconds, Some(12.5));
        assert_eq!(spent.resident_bytes, Some(1.5e7));
        assert_eq!(spent.disk_written_bytes, Some(120.0));
        assert_eq!(metric(text, "nothing"), None);
    }

    #[test]
    fn reads_proc() {
        let stat = "42 (a b) c) S 1 42 42 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 3 0 100 0 0";
        assert_eq!(cpu_of_stat(stat), Some(3.0));
        assert_eq!(field("Name:\tx\nVmRSS:\t  2048 kB\n", "VmRSS:"), Some(2048.0));
        assert_eq!(cpu_of_stat(""), None);
    }

    #[tokio::test]
    async fn asks_the_management_port() {
        let router = axum::Router::new()
            .route("/actuator/prometheus", axum::routing::get(|| async { "process_cpu_seconds_total 3\n" }));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let spent = Probe::management(&address.to_string()).unwrap().read().await;
        assert_eq!(spent, Spent { cpu_seconds: Some(3.0), ..Spent::default() });
    }

    #[tokio::test]
    async fn asks_the_kernel_for_what_is_missing() {
        let spent = Probe { management: None, process: Some(std::process::id()) }.read().await;
        assert!(spent.cpu_seconds.is_some() && spent.resident_bytes > Some(100_000.0), "{spent:?}");
    }
}
