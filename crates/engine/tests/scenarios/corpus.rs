//! Logs that an earlier release recorded, of all scenarios, with the state that each came to: every later release comes
//! to the same one. `make record-corpus` adds the logs of a new version of the engine: `examples/pack_corpus.rs` puts
//! them into one file. Recorded ones stay.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use engine::{Effects, Engine, Options};
use minicbor::bytes::ByteVec;
use minicbor::{Decode, Encode};
use protocol::{Batch, ENGINE_VERSION};

use crate::support::harness::store;

/// The directory into which each scenario writes its log.
const RECORD_TO: &str = "BATON_RECORD_CORPUS";
/// Logs above this size are of scenarios that are large for the sake of it.
const LOG_BYTES_MAX: usize = 64 * 1024;

/// The log of a scenario.
#[derive(Encode, Decode)]
struct Recorded {
    #[n(0)]
    scenario: String,
    #[n(1)]
    batches: Vec<ByteVec>,
    #[n(2)]
    state_hash: u64,
}

/// The corpus of a version of the engine.
fn file(version: u16) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join("corpus").join(format!("version-{version}.lz4"))
}

/// Whether an engine is like one of a broker, but for its settings, which stand in the log.
fn is_usual(options: &Options) -> bool {
    let usual = Options::default();
    let alike = |options: &Options| {
        let mut options = options.clone();
        (options.work, options.bpmn, options.dmn) = (usual.work, usual.bpmn.clone(), usual.dmn.clone());
        (options.max_delivery_bytes, options.records) = (usual.max_delivery_bytes, usual.records);
        options.at_work = usual.at_work.clone();
        format!("{options:?}")
    };
    alike(options) == alike(&usual)
}

/// Writes the log of a scenario that has ended, if logs are recorded.
pub fn record(options: &Options, log: &[Batch], state_hash: u64) {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let Some(directory) = std::env::var_os(RECORD_TO) else { return };
    let scenario = std::thread::current().name().unwrap_or_default().to_owned();
    let batches: Vec<ByteVec> = log.iter().map(|batch| batch.encode().into()).collect();
    let bytes: usize = batches.iter().map(|batch| batch.len()).sum();
    if !is_usual(options) || scenario.contains("random") || bytes > LOG_BYTES_MAX {
        return;
    }
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let recorded = minicbor::to_vec(Recorded { scenario, batches, state_hash }).unwrap();
    fs::write(Path::new(&directory).join(format!("{number}.cbor")), recorded).unwrap();
}

fn replay(recorded: &Recorded, version: u16) {
    let mut engine = Engine::open(&store(), Options::default()).unwrap();
    for batch in &recorded.batches {
        let batch = Batch::decode(batch).unwrap();
        assert!(batch.engine_version <= version, "{}", recorded.scenario);
        engine.apply(&batch, &mut Effects::default()).unwrap();
    }
    let hash = engine.tables().state_hash().unwrap();
    assert_eq!(
        hash, recorded.state_hash,
        "the log of '{}', recorded at version {version} of the engine, comes to another state: replicas of two \
         releases would differ. Let what is new depend on a new ENGINE_VERSION.",
        recorded.scenario
    );
}

#[test]
fn recorded_logs_come_to_the_states_of_then() {
    let mut replayed = 0;
    for version in 0..=ENGINE_VERSION {
        let Ok(compressed) = fs::read(file(version)) else { continue };
        let bytes = lz4_flex::decompress_size_prepended(&compressed).unwrap();
        let recorded: Vec<Recorded> = minicbor::decode(&bytes).unwrap();
        for recorded in &recorded {
            replay(recorded, version);
        }
        replayed += recorded.len();
    }
    assert!(replayed > 500, "{replayed} logs");
}
