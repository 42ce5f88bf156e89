//! Cost of exporting to a store: one-task instances of the engine alone, their records through
//! the exporter, without log, network or other threads. The result is the exporter's share.
//!
//!     cargo run --release -p secondary --example exporting -- --instances 100000 --sqlite FILE
//!     cargo run --release -p secondary --example exporting -- --instances 100000 --postgres URL
//!
//! `--flush` says how many instances go into one transaction, `--in-work` how many of them are under way at a time:
//! so many have begun in one transaction and end in the next. `--variable distinct` gives each instance another
//! value of a variable in no order, where `payload` has the same long one for all.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::{Effects, Engine};
use export::{Exporter, Flush};
use protocol::{
    Batch, Command, CompleteJob, CreateInstance, DefinitionRef, Demand, Deploy, Document, ENGINE_VERSION,
    Key, Name, Record, Resource,
};
use search::Progress;
use secondary::{
    Loader, PostgresLoader, PostgresOptions, PostgresWriter, Projection, SqliteLoader, SqliteOptions,
    SqliteWriter, StoreExporter, Writer,
};
use state::Store;

const MODEL: &[u8] = include_bytes!("../../../bench/models/benchmark.bpmn");
/// Commands of one batch, as under load.
const BATCH: usize = 64;

struct Options {
    instances: usize,
    flush: usize,
    in_work: usize,
    is_distinct: bool,
    filler: Option<(Box<dyn Writer>, Box<dyn Loader>)>,
}

struct Run {
    engine: Engine,
    now_ms: i64,
    created: u64,
    is_distinct: bool,
    jobs: Vec<Key>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = options()?;
    let (writer, loader) = options.filler.ok_or("expected --sqlite FILE or --postgres URL")?;
    let mut exporter = StoreExporter::new(1, writer, Projection::new(loader), Arc::new(Progress::default()));
    exporter.open(0)?;
    let store = Store::in_memory(state::Options::default())?;
    let unwanted_records = StoreExporter::UNWANTED.to_vec();
    let options_of_engine = engine::Options { records: true, unwanted_records, ..engine::Options::default() };
    let engine = Engine::open(&store, options_of_engine)?;
    let mut run = Run { engine, now_ms: 1, created: 0, is_distinct: options.is_distinct, jobs: Vec::new() };
    let resources = vec![Resource { name: Name::from("model.bpmn"), content: MODEL.to_vec() }];
    let deploy = Command::Deploy(Deploy { resources, tenant_id: Name::default_tenant() });
    let mut waiting = vec![run.apply(vec![deploy])?];
    let (mut taking, mut flushing) = (Duration::ZERO, Duration::ZERO);
    let (mut ended, mut records, mut flushed) = (0, 0, 0);
    let mut slowest = Duration::ZERO;
    while ended < options.instances {
        waiting.push(run.create()?);
        while run.jobs.len() >= options.in_work.max(BATCH) {
            waiting.push(run.complete()?);
            ended += BATCH;
        }
        if ended >= flushed + options.flush {
            flushed = ended;
            let begin = cpu();
            for batch in &waiting {
                records += batch.len();
                exporter.export(batch)?;
            }
            waiting.clear();
            let taken = cpu();
            let started = Instant::now();
            exporter.flush(Flush::Usual)?;
            slowest = slowest.max(started.elapsed());
            taking += taken.saturating_sub(begin);
            flushing += cpu().saturating_sub(taken);
        }
    }
    let each = |time: Duration| time.as_secs_f64() * 1e6 / flushed as f64;
    println!(
        "{flushed} instances of {:.1} records, {} at once: {:.1} µs of CPU each, {:.1} of them making rows and {:.1} writing; longest \
         transaction {:.0} ms",
        records as f64 / flushed as f64,
        options.flush,
        each(taking + flushing),
        each(taking),
        each(flushing),
        slowest.as_secs_f64() * 1e3,
    );
    Ok(())
}

/// CPU time of this thread.
fn cpu() -> Duration {
    let nanos = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(nanos.split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0))
}

impl Run {
    fn apply(&mut self, commands: Vec<Command>) -> Result<Vec<Record>, Box<dyn Error>> {
        let mut effects = Effects::default();
        self.now_ms += 10;
        let demand = vec![Demand {
            subscriber_id: 1,
            job_type: Name::from("benchmark-task"),
            tenant_ids: vec![Name::default_tenant()],
            worker: Name::from("worker"),
            timeout_ms: 300_000,
            max_jobs: BATCH as u32,
            fetch_variables: vec![],
            caller: None,
            except: None,
            with_lease: false,
        }];
        let batch = Batch {
            engine_version: ENGINE_VERSION,
            timestamp_ms: self.now_ms,
            commands,
            demand,
            origin: None,
            digest: None,
        };
        self.engine.apply(&batch, &mut effects)?;
        let jobs = effects.deliveries.iter().flat_map(|delivery| &delivery.jobs);
        self.jobs.extend(jobs.map(|job| job.key));
        Ok(effects.records)
    }

    fn create(&mut self) -> Result<Vec<Record>, Box<dyn Error>> {
        let mut commands = Vec::with_capacity(BATCH);
        for _ in 0..BATCH {
            self.created += 1;
            let scattered = self.created.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let payload = if self.is_distinct {
                format!(r#"{{"order":"{scattered:016x}-{scattered:016x}"}}"#)
            } else {
                format!(r#"{{"payload":"{}"}}"#, "x".repeat(180))
            };
            commands.push(Command::CreateInstance(CreateInstance {
                variables: Document::parse(Bytes::from(payload))?,
                ..CreateInstance::of(DefinitionRef::Id { id: Name::from("benchmark"), version: None })
            }));
        }
        self.apply(commands)
    }

    fn complete(&mut self) -> Result<Vec<Record>, Box<dyn Error>> {
        let jobs: Vec<Key> = self.jobs.drain(..BATCH.min(self.jobs.len())).collect();
        let complete = |job_key| Command::CompleteJob(CompleteJob::of(job_key, Document::empty()));
        self.apply(jobs.into_iter().map(complete).collect())
    }
}

fn options() -> Result<Options, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut options =
        Options { instances: 100_000, flush: 1024, in_work: 256, is_distinct: false, filler: None };
    while let Some(flag) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--instances" => options.instances = value.parse()?,
            "--flush" => options.flush = value.parse::<usize>()?.max(1),
            "--in-work" => options.in_work = value.parse()?,
            "--variable" => options.is_distinct = value == "distinct",
            "--sqlite" => {
                let store = SqliteOptions::new(value.as_ref());
                let writer = SqliteWriter::new(store.clone(), 1);
                options.filler = Some((Box::new(writer), Box::new(SqliteLoader::new(store))));
            }
            "--postgres" => {
                let store = PostgresOptions::new(&value);
                let writer = PostgresWriter::new(store.clone(), 1);
                options.filler = Some((Box::new(writer), Box::new(PostgresLoader::new(store))));
            }
            _ => return Err(format!("there is no flag {flag}").into()),
        }
    }
    Ok(options)
}
