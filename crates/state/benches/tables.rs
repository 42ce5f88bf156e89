//! Cost of the engine's usual operations, of a flush, and of scans.

#![allow(clippy::unwrap_used)]

use std::{hint::black_box, time::Instant};

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use state::{Options, Store};

#[derive(Debug, Clone, minicbor::Encode, minicbor::Decode)]
struct Element {
    #[n(0)]
    instance: u64,
    #[n(1)]
    #[cbor(with = "minicbor::bytes")]
    body: Vec<u8>,
}
state::minicbor_value!(Element, weight = |element| size_of::<Element>() + element.body.len());

state::tables! {
    struct Tables {
        elements: Table<u64, Element> = 1,
        children: Table<(u64, u64), ()> = 2,
        jobs: Table<u64, Element> = 3,
        queue: Table<(String, u64), ()> = 4,
    }
}

/// Rows of a flush.
const FLUSH_ROWS: u64 = 100_000;
/// Rows that lie in the overlay while others come and go.
const RESIDENT_ROWS: u64 = 10_000;

fn element(instance: u64, len: usize) -> Element {
    Element { instance, body: vec![7; len] }
}

fn tables() -> Tables {
    Tables::open(&Store::in_memory(Options::default()).unwrap()).unwrap()
}

fn flush(tables: &mut Tables, index: u64) {
    let outcome = tables.freeze(index).unwrap().run().unwrap();
    tables.flushed(outcome).unwrap();
}

/// Eight writes and four reads, as for a process instance with one element.
fn instance(tables: &mut Tables, key: u64) {
    tables.begin();
    tables.elements.insert(key, element(key, 0));
    tables.children.insert((key, key + 1), ());
    tables.elements.insert(key + 1, element(key, 0));
    tables.jobs.insert(key + 2, element(key, 0));
    black_box(tables.elements.get(&key).unwrap());
    tables.commit();
    tables.begin();
    black_box(tables.jobs.get(&(key + 2)).unwrap());
    tables.jobs.delete(&(key + 2));
    black_box(tables.elements.get(&(key + 1)).unwrap());
    tables.elements.delete(&(key + 1));
    tables.children.delete(&(key, key + 1));
    black_box(tables.children.keys((key, 0)..=(key, u64::MAX), 1).unwrap());
    tables.elements.delete(&key);
    tables.commit();
}

fn overlay(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("overlay");
    group.throughput(Throughput::Elements(12));
    for (name, on_disk) in [("instance of 12 operations, empty disk", false), ("with rows on disk", true)] {
        let mut tables = tables();
        for key in 0..RESIDENT_ROWS {
            tables.elements.insert(key, element(key, 0));
            tables.children.insert((key, key), ());
            tables.jobs.insert(key, element(key, 0));
        }
        if on_disk {
            flush(&mut tables, 1);
        }
        let mut key = RESIDENT_ROWS;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                instance(&mut tables, key);
                key += 3;
            });
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("get");
    let mut tables = tables();
    for key in 0..RESIDENT_ROWS {
        tables.elements.insert(key, element(key, 0));
    }
    let mut key = 0;
    let mut next = move || {
        key = (key + 7919) % RESIDENT_ROWS;
        key
    };
    group.bench_function("from the overlay", |bencher| {
        bencher.iter(|| tables.elements.get(&next()).unwrap());
    });
    flush(&mut tables, 1);
    group.bench_function("from the clean cache", |bencher| {
        bencher.iter(|| tables.elements.get(&next()).unwrap());
    });
    let options = Options { clean_cache_bytes: 0, ..Options::default() };
    let mut tables = Tables::open(&Store::in_memory(options).unwrap()).unwrap();
    for key in 0..RESIDENT_ROWS {
        tables.elements.insert(key, element(key, 0));
    }
    flush(&mut tables, 1);
    group.bench_function("from pages", |bencher| {
        bencher.iter(|| tables.elements.get(&next()).unwrap());
    });
    group.finish();
}

fn flushing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("flush");
    group.sample_size(10).throughput(Throughput::Elements(FLUSH_ROWS));
    let folder = tempfile::tempdir().unwrap();
    let mut file = 0;
    group.bench_function("100,000 new rows of 200 bytes to a file", |bencher| {
        bencher.iter_custom(|rounds| {
            let mut time = std::time::Duration::ZERO;
            for _ in 0..rounds {
                file += 1;
                let path = folder.path().join(format!("{file}.redb"));
                let store = Store::open(&path, Options::default()).unwrap();
                let mut tables = Tables::open(&store).unwrap();
                for key in 0..FLUSH_ROWS {
                    tables.elements.insert(key, element(key, 200));
                }
                let pending = tables.freeze(1).unwrap();
                let start = Instant::now();
                let outcome = pending.run().unwrap();
                time += start.elapsed();
                tables.flushed(outcome).unwrap();
            }
            time
        });
    });
    group.bench_function("100,000 replaced rows of 200 bytes", |bencher| {
        let store = Store::open(&folder.path().join("replaced.redb"), Options::default()).unwrap();
        let mut tables = Tables::open(&store).unwrap();
        for key in 0..FLUSH_ROWS {
            tables.elements.insert(key, element(key, 200));
        }
        flush(&mut tables, 1);
        bencher.iter_custom(|rounds| {
            let mut time = std::time::Duration::ZERO;
            for _ in 0..rounds {
                for key in 0..FLUSH_ROWS {
                    tables.elements.put(key, element(key + 1, 200));
                }
                let pending = tables.freeze(1).unwrap();
                let start = Instant::now();
                let outcome = pending.run().unwrap();
                time += start.elapsed();
                tables.flushed(outcome).unwrap();
            }
            time
        });
    });
    group.finish();
}

fn scanning(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scan of 100 rows");
    group.throughput(Throughput::Elements(100));
    let mut tables = tables();
    for key in 0..RESIDENT_ROWS {
        tables.elements.insert(key, element(key, 0));
    }
    group.bench_function("from the overlay", |bencher| {
        bencher.iter(|| tables.elements.scan(5000.., 100).unwrap());
    });
    flush(&mut tables, 1);
    group.bench_function("from disk", |bencher| {
        bencher.iter(|| tables.elements.scan(5000.., 100).unwrap());
    });
    group.bench_function("keys only, from disk", |bencher| {
        bencher.iter(|| tables.elements.keys(5000.., 100).unwrap());
    });
    group.finish();

    let mut group = criterion.benchmark_group("queue of 10,000");
    group.sample_size(10).throughput(Throughput::Elements(RESIDENT_ROWS));
    group.bench_function("consumed from the front, rows on disk", |bencher| {
        bencher.iter_batched(
            || {
                let mut tables = self::tables();
                for key in 0..RESIDENT_ROWS {
                    tables.queue.insert(("kind".to_owned(), key), ());
                }
                flush(&mut tables, 1);
                tables
            },
            |mut tables| {
                while let Some((key, ())) = tables.queue.first(..).unwrap().map(|(key, _)| (key, ())) {
                    tables.queue.delete(&key);
                }
                tables
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, overlay, flushing, scanning);
criterion_main!(benches);
