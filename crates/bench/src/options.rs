//! Options of a measurement. The command line embeds [`Options`]; other callers start from `Options::default()`.

use std::{path::PathBuf, time::Duration};

use client::Protocol;

use crate::duration::duration;
use crate::mix::Mix;
use crate::schedule::Schedule;

/// How jobs reach the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum WorkerTransport {
    /// Long polling over the same protocol as the requests.
    Poll,
    /// A gRPC stream.
    Stream,
}

/// Settings of one measurement.
#[derive(Debug, Clone, PartialEq, clap::Args)]
pub struct Options {
    /// REST address of the server.
    #[arg(long, value_name = "URL", default_value = "http://localhost:8080", env = "BATON_REST_ADDRESS")]
    pub rest_address: String,
    /// gRPC address of the server.
    #[arg(long, value_name = "URL", default_value = "http://localhost:26500", env = "BATON_GRPC_ADDRESS")]
    pub grpc_address: String,
    /// Management address of the server, for its CPU, memory and disk figures.
    #[arg(
        long,
        value_name = "URL",
        default_value = "http://localhost:9600",
        env = "BATON_MANAGEMENT_ADDRESS"
    )]
    pub management_address: String,
    /// Protocol of creations and completions: rest or grpc.
    #[arg(long, default_value = "rest")]
    pub protocol: Protocol,
    /// Value of the Authorization header of all requests, such as "Bearer …".
    #[arg(long, value_name = "TEXT")]
    pub authorization: Option<String>,
    /// Connections for each of starter and worker. Default: one per request in flight up to 64 for REST, 2 for gRPC.
    #[arg(long, value_name = "N")]
    pub connections: Option<usize>,

    /// Process to run: benchmark, order, ten-tasks, message, or a BPMN file. In "message" each instance waits for a
    /// message that is published once the instance is created.
    #[arg(long, value_name = "NAME|FILE", default_value = "benchmark")]
    pub process: String,
    /// Several processes with their weights instead, such as benchmark=3,order=1.
    #[arg(long, value_name = "NAME=WEIGHT,…", value_parser = Mix::<String>::parse, conflicts_with_all = ["process", "process_id", "jobs_per_instance"])]
    pub mix: Option<Mix<String>>,
    /// ID of the process, where the file has several.
    #[arg(long, value_name = "ID")]
    pub process_id: Option<String>,
    /// Jobs that end one instance of a process from a file. Default: the number of its tasks with a job type.
    #[arg(long, value_name = "N")]
    pub jobs_per_instance: Option<u32>,
    /// The process is deployed already.
    #[arg(long)]
    pub no_deploy: bool,

    /// Instances to start per second, whatever the answers (open loop). Default: as fast as they end (closed
    /// loop).
    #[arg(long, value_name = "PER_SECOND", value_parser = positive)]
    pub rate: Option<f64>,
    /// Rates that follow each other instead of one (open loop), such as "150/s for 10s, 150/s to 300/s over 20s, burst
    /// 500, pause 5s". All of it is measured: there is no warm-up, and its length is the duration.
    #[arg(long, value_name = "PARTS", value_parser = Schedule::parse, conflicts_with = "rate")]
    pub schedule: Option<Schedule>,
    /// Rates of `--schedule`, read from a file; parts may stand on lines of their own.
    #[arg(long, value_name = "FILE", value_parser = Schedule::read, conflicts_with_all = ["rate", "schedule"])]
    pub schedule_file: Option<Schedule>,
    /// Start instances at the times of a file: one in a line, in seconds from the begin.
    #[arg(long, value_name = "FILE", value_parser = Schedule::replay,
        conflicts_with_all = ["rate", "schedule", "schedule_file"])]
    pub replay: Option<Schedule>,
    /// Closed loop: instances under way at a time. Open loop: requests in flight at most.
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub concurrency: usize,
    /// End after so many instances instead of after the duration.
    #[arg(long, value_name = "N")]
    pub instances: Option<u64>,
    /// How long to run before measuring.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    pub warm_up: Duration,
    /// How long to measure.
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = duration)]
    pub duration: Duration,

    /// Size of the start variables in bytes.
    #[arg(long, value_name = "BYTES", conflicts_with = "payload")]
    pub payload_bytes: Option<usize>,
    /// Several sizes with their weights instead, such as 200=9,32768=1.
    #[arg(long, value_name = "BYTES=WEIGHT,…", value_parser = Mix::<usize>::parse, conflicts_with_all = ["payload", "payload_bytes"])]
    pub payload_sizes: Option<Mix<usize>>,
    /// File with the start variables, a JSON object.
    #[arg(long, value_name = "FILE")]
    pub payload: Option<PathBuf>,
    /// Tenants with their weights, such as a=3,b=1: the processes are deployed for each, and each instance is of one.
    #[arg(long, value_name = "TENANT=WEIGHT,…", value_parser = Mix::<String>::parse)]
    pub tenants: Option<Mix<String>>,

    /// Only start instances, work no jobs.
    #[arg(long)]
    pub no_workers: bool,
    /// How jobs reach the worker.
    #[arg(long, value_enum, default_value = "stream")]
    pub worker_transport: WorkerTransport,
    /// Workers per job type.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub workers: usize,
    /// Jobs in work at a time, for each worker.
    #[arg(long, value_name = "N", default_value_t = 128)]
    pub worker_capacity: usize,
    /// How long the work takes.
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = duration)]
    pub worker_delay: Duration,
    /// How long the work takes at the most: then each job takes any time from the delay to this.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub worker_delay_max: Option<Duration>,
    /// Share of the jobs that workers fail, from 0 to 1; each is tried again.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    pub worker_error_rate: f64,
    /// Hand out no variables with the jobs. Default: all.
    #[arg(long)]
    pub no_fetch: bool,
    /// How long a job belongs to the worker.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub job_timeout: Duration,

    /// Write the results to this file as a page with plots.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the results to this file as JSON.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Heading of the results.
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Show no progress bar.
    #[arg(long)]
    pub no_progress: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rest_address: "http://localhost:8080".to_owned(),
            grpc_address: "http://localhost:26500".to_owned(),
            management_address: "http://localhost:9600".to_owned(),
            protocol: Protocol::Rest,
            authorization: None,
            connections: None,
            process: "benchmark".to_owned(),
            mix: None,
            process_id: None,
            jobs_per_instance: None,
            no_deploy: false,
            rate: None,
            schedule: None,
            schedule_file: None,
            replay: None,
            concurrency: 64,
            instances: None,
            warm_up: Duration::from_secs(5),
            duration: Duration::from_secs(20),
            payload_bytes: None,
            payload_sizes: None,
            payload: None,
            tenants: None,
            no_workers: false,
            worker_transport: WorkerTransport::Stream,
            workers: 1,
            worker_capacity: 128,
            worker_delay: Duration::ZERO,
            worker_delay_max: None,
            worker_error_rate: 0.0,
            no_fetch: false,
            job_timeout: Duration::from_secs(30),
            html: None,
            report: None,
            title: None,
            no_progress: false,
        }
    }
}

impl Options {
    /// When requests start in an open loop; none is the closed loop.
    pub(crate) fn starts(&self) -> Option<Schedule> {
        let shaped = self.shape().cloned();
        shaped.or_else(|| self.rate.map(Schedule::steady))
    }

    /// A schedule that has an end.
    pub(crate) fn shape(&self) -> Option<&Schedule> {
        self.schedule.as_ref().or(self.schedule_file.as_ref()).or(self.replay.as_ref())
    }

    /// How long it runs before measuring; a schedule is measured whole.
    pub(crate) fn warm_up(&self) -> Duration {
        if self.shape().is_some() { Duration::ZERO } else { self.warm_up }
    }

    /// How long it measures.
    pub(crate) fn duration(&self) -> Duration {
        self.shape().and_then(Schedule::length).unwrap_or(self.duration)
    }

    /// The longest work of a job.
    pub(crate) fn longest_work(&self) -> Duration {
        self.worker_delay_max.unwrap_or(self.worker_delay).max(self.worker_delay)
    }

    /// Connections for each of starter and worker, where `in_flight` requests are made at a time.
    pub(crate) fn connections(&self, in_flight: usize) -> usize {
        const REST_CONNECTIONS_MAX: usize = 64;
        const GRPC_CONNECTIONS: usize = 2;
        self.connections.unwrap_or(match self.protocol {
            Protocol::Rest => in_flight.min(REST_CONNECTIONS_MAX),
            Protocol::Grpc => GRPC_CONNECTIONS,
        })
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("must be a number above zero".to_owned()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("must be a number from 0 to 1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn the_command_line_and_default_agree() {
        assert_eq!(Command::try_parse_from(["bench"]).unwrap().options, Options::default());
    }

    #[test]
    fn reads_a_command_line() {
        let line =
            "bench --rate 150 --protocol grpc --worker-transport poll --duration 1m --payload-bytes 200";
        let options = Command::try_parse_from(line.split(' ')).unwrap().options;
        assert_eq!(options.rate, Some(150.0));
        assert_eq!(options.protocol, Protocol::Grpc);
        assert_eq!(options.worker_transport, WorkerTransport::Poll);
        assert_eq!(options.duration, Duration::from_mins(1));
        assert!(Command::try_parse_from(["bench", "--rate", "0"]).is_err());
        assert!(Command::try_parse_from(["bench", "--rate", "NaN"]).is_err());
        assert!(Command::try_parse_from(["bench", "--payload", "a", "--payload-bytes", "1"]).is_err());
        let shaped = ["bench", "--schedule", "5/s for 2s, burst 3", "--mix", "order=2,benchmark"];
        let options = Command::try_parse_from(shaped).unwrap().options;
        assert_eq!((options.warm_up(), options.duration()), (Duration::ZERO, Duration::from_secs(2)));
        assert!(options.mix.is_some() && options.starts().is_some());
        for wrong in [["--schedule", "5 for 2s"], ["--replay", "/nowhere"], ["--worker-error-rate", "2"]] {
            assert!(Command::try_parse_from([["bench"].as_slice(), &wrong].concat()).is_err(), "{wrong:?}");
        }
    }
}
