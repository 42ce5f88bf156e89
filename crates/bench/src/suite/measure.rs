//! One function per measurement.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use client::Protocol;
use tempfile::TempDir;

use super::{
    disk::fsync_latency,
    exporting::percentile,
    large,
    name::{ACCESS, CREATION, EXPORT, EXPORT_BACKLOG, LARGE, PAYLOAD, PROTOCOLS, START, STEADY, THROUGHPUT},
    options::SuiteOptions,
    server::Server,
    table::{Table, Target},
};
use crate::{
    Error, Options, Report,
    format::{bytes, micros, number},
    load::run_with,
};

pub(super) const CONNECTIONS: usize = 64;
/// Enough instances under way to fill every batch of the log.
pub(super) const THROUGHPUT_CONCURRENCY: usize = 256;
const STEADY_RATE: u32 = 150;
pub(super) const PAYLOAD_SMALL_BYTES: usize = 200;
const PAYLOAD_LARGE_BYTES: usize = 32 * 1024;
const STARTS: usize = 5;
const MEBIBYTE: f64 = 1024.0 * 1024.0;

/// Takes the measurement `name`.
pub(super) async fn one(name: &str, options: &SuiteOptions, table: &mut Table) -> Result<(), Error> {
    let suite = Suite { options };
    match name {
        START => suite.start(table).await,
        CREATION => suite.creation(table).await,
        PROTOCOLS => suite.protocols(table).await,
        THROUGHPUT => suite.throughput(table).await,
        STEADY => suite.steady(table).await,
        PAYLOAD => suite.payload(table).await,
        EXPORT => suite.exporting(table).await,
        EXPORT_BACKLOG => suite.backlog(table).await,
        ACCESS => suite.access(table).await,
        LARGE => suite.large(table).await,
        _ => suite.many(table).await,
    }
}

pub(super) struct Suite<'a> {
    options: &'a SuiteOptions,
}

impl Suite<'_> {
    /// A fresh server on a fresh directory, with further arguments.
    pub(super) async fn fresh(&self, more: &[String]) -> Result<(Server, TempDir), Error> {
        let scratch = self.scratch();
        let data =
            tempfile::Builder::new().prefix("bench-").tempdir_in(&scratch).map_err(Error::file(scratch))?;
        let arguments = [&self.options.server_argument, more].concat();
        let server = Server::start(&self.options.server, data.path(), &arguments).await?;
        Ok((server, data))
    }

    pub(super) fn scratch(&self) -> PathBuf {
        self.options.scratch.clone().unwrap_or_else(|| PathBuf::from("."))
    }

    /// How long the load lasts that exporting must keep up with.
    pub(super) fn backlog_window(&self) -> Duration {
        let default = if self.options.quick { self.options.window() } else { Duration::from_mins(1) };
        self.options.backlog_window.unwrap_or(default)
    }

    async fn server(&self, data: &Path) -> Result<Server, Error> {
        Server::start(&self.options.server, data, &self.options.server_argument).await
    }

    fn reference(&self) -> Result<PathBuf, Error> {
        if let Some(path) = &self.options.reference_server {
            return Ok(path.clone());
        }
        let own = std::env::current_exe().map_err(Error::file("this program"))?;
        Ok(own.with_file_name("reference-server"))
    }

    pub(super) fn options(&self, server: &Server, title: &str) -> Options {
        Options {
            rest_address: server.rest.clone(),
            grpc_address: server.grpc.clone(),
            warm_up: self.options.warm_up(),
            duration: self.options.window(),
            payload_bytes: Some(PAYLOAD_SMALL_BYTES),
            concurrency: CONNECTIONS,
            no_workers: true,
            title: Some(title.to_owned()),
            ..Options::default()
        }
    }

    pub(super) async fn run(
        &self,
        server: &Server,
        options: &Options,
        table: &mut Table,
    ) -> Result<Report, Error> {
        let report = run_with(options, &server.probe(), &AtomicBool::new(false)).await?;
        eprintln!(
            "  {}: {}/s started, {}/s ended, {} errors",
            report.title,
            number(report.created_per_second),
            number(report.completed_per_second),
            report.errors()
        );
        table.reports.push(report.clone());
        Ok(report)
    }

    /// One run with nothing but creations on a server of its own.
    async fn creations(&self, protocol: Protocol, title: &str, table: &mut Table) -> Result<Report, Error> {
        let (server, _data) = self.fresh(&[]).await?;
        let options = Options { protocol, ..self.options(&server, title) };
        let report = self.run(&server, &options, table).await?;
        server.stop().await?;
        Ok(report)
    }

    async fn bare(&self, protocol: Protocol, title: &str, table: &mut Table) -> Result<Report, Error> {
        let server = Server::start_reference(&self.reference()?, &protocol.to_string()).await?;
        let options = Options { protocol, no_deploy: true, ..self.options(&server, title) };
        let report = self.run(&server, &options, table).await?;
        server.kill().await;
        Ok(report)
    }

    async fn start(&self, table: &mut Table) -> Result<(), Error> {
        let mut times = Vec::new();
        for _ in 0..STARTS {
            let (server, _data) = self.fresh(&[]).await?;
            times.push(server.ready_after.as_micros() as f64);
            server.stop().await?;
        }
        times.sort_by(f64::total_cmp);
        let middle = percentile(&times, 50);
        table.add(START, "start to ready, median", Target::AtMost(200_000.0), middle, micros);
        Ok(())
    }

    async fn creation(&self, table: &mut Table) -> Result<(), Error> {
        const SHARE: f64 = 0.4;
        let bare = self.bare(Protocol::Rest, "bare axum server, creations", table).await?;
        let real = self.creations(Protocol::Rest, "durable creations over REST", table).await?;
        let name = format!("{CREATION}, closed loop, {CONNECTIONS} connections");
        let target = Target::AtLeast(SHARE * bare.created_per_second);
        table.add(&name, "durable creations per second", target, Some(real.created_per_second), number);
        table.add(&name, "the bare server's", Target::None, Some(bare.created_per_second), number);
        table.add(
            &name,
            "server CPU per creation",
            Target::None,
            real.server.cpu_micros_per_instance,
            micros,
        );
        table.add(&name, "the bare server's", Target::None, bare.server.cpu_micros_per_instance, micros);
        let p99 = real.request_latency.as_ref().map(|latency| latency.p99_micros as f64);
        table.add(&name, "request latency p99", Target::None, p99, micros);
        add_errors(table, &name, &real);
        Ok(())
    }

    async fn protocols(&self, table: &mut Table) -> Result<(), Error> {
        const RATE: f64 = 2000.0;
        let mut spent = Vec::new();
        for protocol in [Protocol::Grpc, Protocol::Rest] {
            let (server, _data) = self.fresh(&[]).await?;
            let title = format!("creations over {protocol} at {RATE}/s");
            let options = Options { protocol, rate: Some(RATE), ..self.options(&server, &title) };
            let report = self.run(&server, &options, table).await?;
            server.stop().await?;
            spent.push(report.server.cpu_micros_per_instance);
            add_errors(table, PROTOCOLS, &report);
        }
        let [grpc, rest] = spent[..] else { return Ok(()) };
        let figure = format!("REST, {RATE} creations/s");
        table.add(PROTOCOLS, &figure, grpc.map_or(Target::None, Target::AtMost), rest, micros);
        table.add(PROTOCOLS, "gRPC, the same", Target::None, grpc, micros);
        let bare = self.bare(Protocol::Grpc, "bare tonic server, creations", table).await?;
        table.add(
            PROTOCOLS,
            "bare tonic server, closed loop",
            Target::None,
            bare.server.cpu_micros_per_instance,
            micros,
        );
        Ok(())
    }

    /// Create, one job by stream, complete.
    async fn whole(
        &self,
        payload_bytes: usize,
        no_fetch: bool,
        title: &str,
        table: &mut Table,
    ) -> Result<Report, Error> {
        let (server, _data) = self.fresh(&[]).await?;
        let options = Options {
            payload_bytes: Some(payload_bytes),
            no_fetch,
            concurrency: THROUGHPUT_CONCURRENCY,
            no_workers: false,
            worker_capacity: THROUGHPUT_CONCURRENCY,
            ..self.options(&server, title)
        };
        let report = self.run(&server, &options, table).await?;
        server.stop().await?;
        Ok(report)
    }

    async fn throughput(&self, table: &mut Table) -> Result<(), Error> {
        let report =
            self.whole(PAYLOAD_SMALL_BYTES, false, "create, one job by stream, complete", table).await?;
        let name = format!("{THROUGHPUT}, closed loop, stream, {PAYLOAD_SMALL_BYTES} B");
        let rate = Some(report.completed_per_second);
        table.add(&name, "instances per second", Target::AtLeast(8000.0), rate, number);
        table.add(
            &name,
            "server CPU per instance",
            Target::AtMost(110.0),
            report.server.cpu_micros_per_instance,
            micros,
        );
        let written = report.server.disk_written_bytes_per_instance;
        table.add(&name, "disk writes per instance", Target::None, written, bytes);
        table.add(&name, "resident memory", Target::None, report.server.resident_bytes, bytes);
        let own = report.generator_cpu_micros_per_instance;
        table.add(&name, "load generator CPU per instance", Target::None, own, micros);
        add_errors(table, &name, &report);
        Ok(())
    }

    async fn steady(&self, table: &mut Table) -> Result<(), Error> {
        const PROBES: u32 = 600;
        let (server, data) = self.fresh(&[]).await?;
        let directory = data.path().to_owned();
        let rate = if self.options.quick { 10 * STEADY_RATE } else { STEADY_RATE };
        let probe = move || fsync_latency(&directory, PROBES, rate);
        let fsync =
            tokio::task::spawn_blocking(probe).await.map_err(|error| Error::Options(error.to_string()))??;
        let options = Options {
            rate: Some(f64::from(STEADY_RATE)),
            no_workers: false,
            // Long enough for a 99th percentile that a few slow writes do not make.
            duration: self.options.window() * 3,
            ..self.options(&server, "open loop, 150 instances per second")
        };
        let report = self.run(&server, &options, table).await?;
        server.stop().await?;
        let fsync_p99 = fsync.map(|latency| latency.p99_micros as f64);
        table.add(STEADY, "the disk's own fsync p99", Target::None, fsync_p99, micros);
        let execution = report.execution_latency.as_ref();
        let target = Target::AtMost(5000.0 + fsync_p99.unwrap_or(0.0));
        table.add(
            STEADY,
            "execution p99",
            target,
            execution.map(|latency| latency.p99_micros as f64),
            micros,
        );
        table.add(
            STEADY,
            "execution p50",
            Target::None,
            execution.map(|latency| latency.p50_micros as f64),
            micros,
        );
        let cpu = report.server.cpu_percent_of_core;
        table
            .add(STEADY, "server CPU", Target::AtMost(8.0), cpu, |value| format!("{value:.1} % of one core"));
        table.add(
            STEADY,
            "resident memory",
            Target::AtMost(80.0 * MEBIBYTE),
            report.server.resident_bytes,
            bytes,
        );
        add_errors(table, STEADY, &report);
        Ok(())
    }

    async fn payload(&self, table: &mut Table) -> Result<(), Error> {
        const FACTOR: f64 = 3.0;
        let small = self.whole(PAYLOAD_SMALL_BYTES, true, "payload of 200 B", table).await?;
        let large = self.whole(PAYLOAD_LARGE_BYTES, true, "payload of 32 KiB", table).await?;
        let (before, after) = (small.server.cpu_micros_per_instance, large.server.cpu_micros_per_instance);
        let target = before.map_or(Target::None, |before| Target::AtMost(FACTOR * before));
        table.add(PAYLOAD, "server CPU per instance", target, after, micros);
        table.add(PAYLOAD, "with 200 B", Target::None, before, micros);
        let rate = Target::AtLeast(small.completed_per_second / FACTOR);
        table.add(PAYLOAD, "instances per second", rate, Some(large.completed_per_second), number);
        table.add(PAYLOAD, "with 200 B", Target::None, Some(small.completed_per_second), number);
        let written = large.server.disk_written_bytes_per_instance;
        table.add(PAYLOAD, "disk writes per instance", Target::None, written, bytes);
        add_errors(table, PAYLOAD, &large);
        Ok(())
    }

    /// The steady load alone, then beside one instance after the other that is very wide.
    async fn large(&self, table: &mut Table) -> Result<(), Error> {
        const FACTOR: f64 = 2.0;
        const TIME_MAX_MICROS: f64 = 10_000_000.0;
        let elements = self.options.large_elements();
        let name = format!("parallel multi-instance of {} elements", number(elements as f64));
        let (server, _data) = self.fresh(&[]).await?;
        let load = |title: &str| Options {
            rate: Some(f64::from(STEADY_RATE)),
            no_workers: false,
            duration: self.options.window() * 2,
            ..self.options(&server, title)
        };
        let alone = self.run(&server, &load("open loop alone"), table).await?;
        let stop = Arc::new(AtomicBool::new(false));
        let wide = tokio::spawn(large::one_after_the_other(server.rest.clone(), elements, Arc::clone(&stop)));
        let beside = self.run(&server, &load("open loop beside a large multi-instance"), table).await?;
        stop.store(true, Ordering::Relaxed);
        let mut times = wide.await.map_err(|error| Error::Options(error.to_string()))??;
        server.stop().await?;
        times.sort_by(f64::total_cmp);
        let longest = times.last().copied();
        table.add(&name, "longest, creation to result", Target::AtMost(TIME_MAX_MICROS), longest, micros);
        let p99 =
            |report: &Report| report.execution_latency.as_ref().map(|latency| latency.p99_micros as f64);
        let target = p99(&alone).map_or(Target::None, |alone| Target::AtMost(FACTOR * alone));
        table.add(&name, "execution p99 of others meanwhile", target, p99(&beside), micros);
        table.add(&name, "the same without it", Target::None, p99(&alone), micros);
        add_errors(table, &name, &beside);
        Ok(())
    }

    async fn many(&self, table: &mut Table) -> Result<(), Error> {
        /// Creation rates are compared over such a part of the run at its beginning and its end.
        const PART: usize = 10;
        const SHARE: f64 = 0.7;
        let instances = self.options.waiting_instances();
        let name = format!("{} waiting instances", number(instances as f64));
        let (server, data) = self.fresh(&[]).await?;
        let options = Options {
            instances: Some(instances),
            warm_up: Duration::ZERO,
            ..self.options(&server, "many waiting instances")
        };
        let report = self.run(&server, &options, table).await?;
        let rates: Vec<f64> = report.series.iter().map(|second| second.created_per_second).collect();
        let part = (rates.len() / PART).max(1).min(rates.len());
        let mean =
            |rates: &[f64]| (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64);
        let (first, last) = (mean(&rates[..part]), mean(&rates[rates.len() - part..]));
        let target = first.map_or(Target::None, |first| Target::AtLeast(SHARE * first));
        table.add(&name, "creations per second, last tenth", target, last, number);
        table.add(&name, "creations per second, first tenth", Target::None, first, number);
        table.add(&name, "resident memory", Target::None, report.server.resident_bytes, bytes);
        let written = report.server.disk_written_bytes_per_instance;
        table.add(&name, "disk writes per instance", Target::None, written, bytes);
        add_errors(table, &name, &report);

        server.kill().await;
        self.restart(data.path(), &name, "killed and restarted, to ready", table).await?.stop().await?;
        let server = self.restart(data.path(), &name, "stopped and restarted, to ready", table).await?;
        let after = server.probe().read().await.resident_bytes;
        table.add(&name, "resident memory after restart", Target::None, after, bytes);
        server.stop().await
    }

    async fn restart(
        &self,
        data: &Path,
        name: &str,
        figure: &str,
        table: &mut Table,
    ) -> Result<Server, Error> {
        let server = self.server(data).await?;
        let time = Some(server.ready_after.as_micros() as f64);
        table.add(name, figure, Target::AtMost(5_000_000.0), time, micros);
        Ok(server)
    }
}

/// A measurement with errors is not worth much, so they are shown, but only then.
pub(super) fn add_errors(table: &mut Table, name: &str, report: &Report) {
    if report.errors() + report.unfinished > 0 {
        let kinds: Vec<&str> =
            report.failures.keys().chain(report.rejections.keys()).map(String::as_str).collect();
        let figure = format!("errors and instances not seen to end {}", kinds.join(", "));
        table.add(
            name,
            figure.trim_end(),
            Target::AtMost(0.0),
            Some((report.errors() + report.unfinished) as f64),
            number,
        );
    }
}
