//! How a worker is set.

use std::time::Duration;

/// How a worker is set; told as `name=value`, to the Java worker as well.
#[derive(Debug, Clone)]
pub struct Knobs {
    /// `host:port` of the REST API.
    pub rest: String,
    /// `host:port` of the gRPC API.
    pub grpc: String,
    /// Type of the jobs.
    pub job_type: String,
    /// Jobs in work at a time.
    pub threads: usize,
    /// Jobs that it holds at a time.
    pub capacity: usize,
    /// How long a job belongs to it.
    pub timeout: Duration,
    /// The shortest and the longest work.
    pub work: (Duration, Duration),
    /// Whether it opens a stream beside its polls.
    pub streams: bool,
    /// HTTP/2 window of the stream; the Java worker has its client's.
    pub window_bytes: u32,
    /// Completes over REST, otherwise over gRPC.
    pub prefers_rest: bool,
}

impl Knobs {
    /// The settings as arguments `name=value`.
    pub fn arguments(&self) -> Vec<String> {
        vec![
            format!("rest={}", self.rest),
            format!("grpc={}", self.grpc),
            format!("type={}", self.job_type),
            format!("threads={}", self.threads),
            format!("capacity={}", self.capacity),
            format!("timeout_ms={}", self.timeout.as_millis()),
            format!("work_min_ms={}", self.work.0.as_millis()),
            format!("work_max_ms={}", self.work.1.as_millis()),
            format!("streams={}", self.streams),
            format!("window_bytes={}", self.window_bytes),
            format!("prefers_rest={}", self.prefers_rest),
        ]
    }

    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let text = |name: &str| {
            let value = arguments.iter().find_map(|argument| argument.strip_prefix(name)?.strip_prefix('='));
            value.map(str::to_owned).ok_or_else(|| format!("{name} is missing"))
        };
        let number = |name: &str| text(name)?.parse::<u64>().map_err(|error| format!("{name}: {error}"));
        let flag = |name: &str| text(name)?.parse::<bool>().map_err(|error| format!("{name}: {error}"));
        Ok(Self {
            rest: text("rest")?,
            grpc: text("grpc")?,
            job_type: text("type")?,
            threads: number("threads")? as usize,
            capacity: number("capacity")? as usize,
            timeout: Duration::from_millis(number("timeout_ms")?),
            work: (
                Duration::from_millis(number("work_min_ms")?),
                Duration::from_millis(number("work_max_ms")?),
            ),
            streams: flag("streams")?,
            window_bytes: number("window_bytes")? as u32,
            prefers_rest: flag("prefers_rest")?,
        })
    }
}
