//! Fills a store with instances as a busy system leaves them, and times the queries that a user interface asks most.
//!
//!     cargo run --release -p secondary --example queries -- --elements 10000000 --sqlite FILE
//!     cargo run --release -p secondary --example queries -- --elements 10000000 --postgres URL
//!
//! A filled store is only queried. `--repeat` is the number of runs of each query, with other values each time.
//! `--forget yes` removes from a file of SQLite all instances that have ended, in place of queries.

mod fill;
mod questions;

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use search::model::process_instance as instance;
use search::{Filter, Operand, Reader, StoreError, Test};
use secondary::{
    Cleaner, PostgresOptions, PostgresReader, PostgresWriter, SqliteCleaner, SqliteOptions, SqliteReader,
    SqliteWriter, Writer,
};

/// Bound of the 99th percentile of queries.
const WANTED: Duration = Duration::from_millis(50);

struct Options {
    elements: u64,
    repeat: u64,
    forgets: bool,
    store: Store,
}

enum Store {
    Sqlite(PathBuf),
    Postgres(String),
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = options()?;
    let (mut writer, reader): (Box<dyn Writer>, Arc<dyn Reader>) = match &options.store {
        Store::Sqlite(path) => {
            let options = SqliteOptions::new(path);
            (Box::new(SqliteWriter::new(options.clone(), 1)), Arc::new(SqliteReader::new(options)))
        }
        Store::Postgres(url) => {
            let options = PostgresOptions::new(url);
            (Box::new(PostgresWriter::new(options.clone(), 1)), Arc::new(PostgresReader::new(options)))
        }
    };
    let instances = options.elements / fill::ELEMENTS;
    let begin = Instant::now();
    let (from, rows) = fill::fill(&mut *writer, instances)?;
    let seconds = begin.elapsed().as_secs_f64();
    if rows > 0 {
        let per_second = rows as f64 / seconds;
        println!(
            "filled {from} to {instances} instances: {rows} rows in {seconds:.0} s, {per_second:.0} per second"
        );
    }
    drop(writer);
    if let (Store::Sqlite(path), true) = (&options.store, options.forgets) {
        return Ok(forget(&SqliteOptions::new(path))?);
    }
    tokio::runtime::Runtime::new()?.block_on(ask(&*reader, instances, options.repeat))
}

/// Removes instances that have ended and tells for how long that kept writers waiting.
fn forget(options: &SqliteOptions) -> Result<(), StoreError> {
    let mut cleaner = SqliteCleaner::new(options.clone());
    cleaner.open()?;
    let has_ended = Filter::Column(instance::END, Test::Less(Operand::Integer(i64::MAX)));
    let (mut things, mut rows, mut slices) = (0, 0, Vec::new());
    loop {
        let begin = Instant::now();
        let (more_things, more_rows) = cleaner.remove_packed(&instance::ENTITY, &has_ended)?;
        slices.push(begin.elapsed());
        (things, rows) = (things + more_things, rows + more_rows);
        if more_things == 0 {
            break;
        }
    }
    let total: Duration = slices.iter().sum();
    println!(
        "{things} instances, {rows} rows removed in {:.0} ms; the longest of {} transactions {:.0} ms",
        total.as_secs_f64() * 1e3,
        slices.len(),
        slices.iter().max().map_or(0.0, Duration::as_secs_f64) * 1e3
    );
    Ok(())
}

/// Asks every question many times and tells how long it took.
async fn ask(reader: &dyn Reader, instances: u64, repeat: u64) -> Result<(), Box<dyn Error>> {
    println!("{:<52} {:>7} {:>9} {:>9} {:>9}", "query", "found", "p50 ms", "p99 ms", "max ms");
    let mut late = 0;
    for (name, question) in questions::QUESTIONS {
        let mut times = Vec::new();
        let mut found = 0;
        for round in 0..repeat {
            let question = question(&questions::Draw::new(instances, round));
            let begin = Instant::now();
            found += question.ask(reader).await?;
            times.push(begin.elapsed());
        }
        times.sort_unstable();
        let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3;
        let mark = if at(99) > WANTED.as_secs_f64() * 1e3 { "  slow" } else { "" };
        late += u32::from(!mark.is_empty());
        let found = found as f64 / repeat as f64;
        println!("{name:<52} {found:>7.1} {:>9.2} {:>9.2} {:>9.2}{mark}", at(50), at(99), at(100));
    }
    println!(
        "{late} of {} are slower than {} ms at the 99th percentile",
        questions::QUESTIONS.len(),
        WANTED.as_millis()
    );
    Ok(())
}

fn options() -> Result<Options, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (mut elements, mut repeat, mut forgets, mut store) = (10_000_000, 100, false, None);
    while let Some(flag) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--elements" => elements = value.parse()?,
            "--repeat" => repeat = value.parse::<u64>()?.max(1),
            "--forget" => forgets = value == "yes",
            "--sqlite" => store = Some(Store::Sqlite(value.into())),
            "--postgres" => store = Some(Store::Postgres(value)),
            _ => return Err(format!("there is no flag {flag}").into()),
        }
    }
    let store = store.ok_or("expected --sqlite FILE or --postgres URL")?;
    Ok(Options { elements, repeat, forgets, store })
}
