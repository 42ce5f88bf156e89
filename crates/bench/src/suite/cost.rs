//! Cost of exporting and access checks: the same load with and without, in turns, so that a machine that gets slower
//! slows both.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tempfile::TempDir;

use super::{
    access::AccessWays,
    exporting::{percentile, times_until_found},
    measure::{CONNECTIONS, PAYLOAD_SMALL_BYTES, Suite, THROUGHPUT_CONCURRENCY, add_errors},
    name::{ACCESS, EXPORT},
    server::Server,
    table::{Table, Target},
};
use crate::{
    Error, Options, Report,
    format::{bytes, micros, number},
};

/// Each is measured so often.
const TURNS: usize = 2;

fn settings(settings: &[String]) -> Vec<String> {
    settings.iter().flat_map(|setting| ["--set".to_owned(), setting.clone()]).collect()
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

impl Suite<'_> {
    /// One-task instances with and without secondary storage, then how soon they are found.
    pub(super) async fn exporting(&self, table: &mut Table) -> Result<(), Error> {
        const SHARE: f64 = 0.85;
        const LOAD: f64 = 0.8;
        const FOUND_AT_LOAD_MICROS: f64 = 250_000.0;
        const FOUND_AT_MAX_MICROS: f64 = 1_000_000.0;
        let off = settings(&["secondary_storage.kind=none".to_owned()]);
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            without.push(self.one_task(&off, "without secondary storage", table).await?.0);
            with.push(self.one_task(&[], "with SQLite", table).await?);
        }
        let rate = |report: &Report| report.completed_per_second;
        let base = mean(without.iter().map(rate));
        let exported = mean(with.iter().map(|(report, _)| rate(report)));
        table.add(EXPORT, "one-task instances per second", Target::None, exported, number);
        table.add(EXPORT, "without secondary storage", Target::None, base, number);
        let share = base.zip(exported).map(|(base, exported)| exported / base);
        table
            .add(EXPORT, "of the rate without", Target::AtLeast(SHARE), share, |share| format!("{share:.2}"));
        let cpu = |report: &Report| report.server.cpu_micros_per_instance;
        let spent = mean(with.iter().filter_map(|(report, _)| cpu(report)));
        table.add(EXPORT, "server CPU per instance", Target::None, spent, micros);
        table.add(EXPORT, "without", Target::None, mean(without.iter().filter_map(cpu)), micros);
        let size = mean(with.iter().filter_map(|(_, size)| *size));
        table.add(EXPORT, "SQLite file per instance", Target::None, size, bytes);
        for (report, _) in &with {
            add_errors(table, EXPORT, report);
        }

        let steady = exported.map(|rate| LOAD * rate);
        for (figure, rate, most) in [
            ("at 80 % of it, found after, p99", steady, FOUND_AT_LOAD_MICROS),
            ("at the maximum, found after, p99", None, FOUND_AT_MAX_MICROS),
        ] {
            let (server, _data) = self.fresh(&[]).await?;
            let stop = Arc::new(AtomicBool::new(false));
            let probe = tokio::spawn(times_until_found(server.rest.clone(), Arc::clone(&stop)));
            let options = Options { rate, ..self.whole_options(&server, figure) };
            let report = self.run(&server, &options, table).await?;
            stop.store(true, Ordering::Relaxed);
            let times = probe.await.map_err(|error| Error::Options(error.to_string()))??;
            server.stop().await?;
            table.add(EXPORT, figure, Target::AtMost(most), percentile(&times, 99), micros);
            table.add(EXPORT, "the same, p50", Target::None, percentile(&times, 50), micros);
            add_errors(table, EXPORT, &report);
        }
        Ok(())
    }

    /// A run of one-task instances, and how large the SQLite file is for each.
    async fn one_task(
        &self,
        settings: &[String],
        title: &str,
        table: &mut Table,
    ) -> Result<(Report, Option<f64>), Error> {
        let (server, data) = self.fresh(settings).await?;
        let report = self.run(&server, &self.whole_options(&server, title), table).await?;
        let all = report.series.iter().map(|second| second.completed_per_second).sum::<f64>();
        server.stop().await?;
        Ok((report, file_bytes(&data).map(|bytes| bytes / all.max(1.0))))
    }

    pub(super) fn whole_options(&self, server: &Server, title: &str) -> Options {
        Options {
            payload_bytes: Some(PAYLOAD_SMALL_BYTES),
            concurrency: THROUGHPUT_CONCURRENCY,
            no_workers: false,
            worker_capacity: THROUGHPUT_CONCURRENCY,
            ..self.options(server, title)
        }
    }

    /// Creations over REST: nobody asked, by password, by token, the latter two with authorizations.
    pub(super) async fn access(&self, table: &mut Table) -> Result<(), Error> {
        const SHARE: f64 = 0.85;
        let scratch = self.scratch();
        let setups = AccessWays::start(&scratch).await?;
        let mut rates = [const { Vec::new() }; 3];
        let mut spent = [const { Vec::new() }; 3];
        for _ in 0..TURNS {
            for (at, setup) in setups.ways.iter().enumerate() {
                let (server, _data) = self.fresh(&settings(&setup.settings)).await?;
                let title = format!("creations over REST, {}", setup.name);
                let options = Options {
                    authorization: setup.authorization.clone(),
                    concurrency: CONNECTIONS,
                    ..self.options(&server, &title)
                };
                let report = self.run(&server, &options, table).await?;
                server.stop().await?;
                rates[at].push(report.created_per_second);
                spent[at].extend(report.server.cpu_micros_per_instance);
                add_errors(table, ACCESS, &report);
            }
        }
        let base = mean(rates[0].iter().copied());
        for (at, setup) in setups.ways.iter().enumerate() {
            let target = match (at, base) {
                (1.., Some(base)) => Target::AtLeast(SHARE * base),
                _ => Target::None,
            };
            let figure = format!("creations per second, {}", setup.name);
            table.add(ACCESS, &figure, target, mean(rates[at].iter().copied()), number);
            let figure = format!("server CPU per creation, {}", setup.name);
            table.add(ACCESS, &figure, Target::None, mean(spent[at].iter().copied()), micros);
        }
        Ok(())
    }
}

/// The size of the store in a data directory, with what is not yet in its place.
fn file_bytes(data: &TempDir) -> Option<f64> {
    let files = std::fs::read_dir(data.path()).ok()?.flatten();
    let of_store = files.filter(|file| file.file_name().to_string_lossy().contains("sqlite"));
    let bytes: u64 = of_store.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum();
    (bytes > 0).then_some(bytes as f64)
}
