//! The store over HTTP, with a real node of OpenSearch, and then of Elasticsearch; arguments pick one of them, and
//! tests. Where Maven or a JDK is missing, this prints that it was not run. It has no harness, so that not having
//! run never counts as a passed test.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

#[path = "../stores/agents.rs"]
mod agents;
#[path = "../stores/candidates.rs"]
mod candidates;
#[path = "../stores/counts.rs"]
mod counts;
#[path = "../stores/durations.rs"]
mod durations;
#[path = "../stores/indexes.rs"]
mod indexes;
mod limits;
#[path = "../stores/model.rs"]
#[expect(dead_code, reason = "another store has tests that this one has not")]
mod model;
#[path = "../../../../tests/stores/node.rs"]
mod node;
mod repeating;
#[path = "../stores/replays.rs"]
mod replays;
#[path = "../stores/retention.rs"]
mod retention;
mod schema;
#[path = "../stores/steps.rs"]
mod steps;
#[path = "../stores/suite.rs"]
mod suite;
#[path = "../stores/wait_states.rs"]
mod wait_states;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use node::{Node, Product};
use opensearch::{Blocking, Method};
use search::Reader;
use secondary::{
    Cleaner, Loader, OpensearchCleaner, OpensearchLoader, OpensearchOptions, OpensearchReader,
    OpensearchWriter, Writer,
};
use serde_json::Value;
use suite::Store;

/// Random searches: each of them is some twenty requests.
const ROUNDS: u32 = 25;

type Case = (&'static str, fn(&mut Node));

const CASES: &[Case] = &[
    ("what_is_written_is_found", what_is_written_is_found),
    ("what_looks_like_a_query_is_text", limits::what_looks_like_a_query_is_text),
    ("long_texts_are_kept_and_not_looked_for", limits::long_texts_are_kept_and_not_looked_for),
    ("more_is_found_than_fits_into_an_answer", limits::more_is_found_than_fits_into_an_answer),
    ("a_query_that_takes_too_long_is_stopped", limits::a_query_that_takes_too_long_is_stopped),
    ("a_row_that_is_refused_is_named", limits::a_row_that_is_refused_is_named),
    ("numbers_are_exact", limits::numbers_are_exact),
    ("indices_are_extended", schema::indices_are_extended),
    ("what_is_of_a_later_release_is_refused", schema::what_is_of_a_later_release_is_refused),
    ("models_are_found_again", schema::models_are_found_again),
    ("repeated_batches_count_once", repeating::repeated_batches_count_once),
    ("what_arrives_late_changes_nothing", repeating::what_arrives_late_changes_nothing),
    ("what_was_deleted_does_not_come_back", repeating::what_was_deleted_does_not_come_back),
    (
        "what_belonged_to_a_deleted_instance_does_not_come_back",
        repeating::what_belonged_to_a_deleted_instance_does_not_come_back,
    ),
    ("a_request_to_delete_is_seen_last", repeating::a_request_to_delete_is_seen_last),
    ("positions_are_those_of_what_can_be_found", repeating::positions_are_those_of_what_can_be_found),
    ("nothing_is_lost_when_the_node_dies", repeating::nothing_is_lost_when_the_node_dies),
];

fn main() -> ExitCode {
    let (products, filter) = Product::wanted();
    let cases: Vec<_> = CASES.iter().filter(|(name, _)| name.contains(&filter)).collect();
    let mut failed = 0;
    for product in products {
        failed += run(product, &cases);
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs tests on a node of their own. Returns how many failed.
fn run(product: Product, cases: &[&Case]) -> usize {
    if cases.is_empty() {
        return 0;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut node = match Node::start(product, directory.path()) {
        Ok(node) => node,
        Err(reason) => {
            println!("{}: not run, {reason}", product.name());
            return 0;
        }
    };
    let mut failed = 0;
    for (name, case) in cases {
        let began = std::time::Instant::now();
        let passed = catch_unwind(AssertUnwindSafe(|| case(&mut node))).is_ok();
        failed += usize::from(!passed);
        let outcome = if passed { "ok" } else { "FAILED" };
        println!("test {name} ... {outcome} ({:.1} s)", began.elapsed().as_secs_f32());
    }
    println!("{}: {} passed, {failed} failed", product.name(), cases.len() - failed);
    failed
}

/// Indices of one test.
struct Opensearch(OpensearchOptions);

impl Opensearch {
    fn new(node: &Node, prefix: &str) -> Self {
        Self(OpensearchOptions {
            index_prefix: prefix.to_owned(),
            number_of_replicas: 0,
            ..OpensearchOptions::new(node.url())
        })
    }

    /// Indices that the tests share, since making them takes longer than most tests. They are open, with nothing in
    /// them.
    fn emptied(node: &Node) -> Self {
        let this = Self::new(node, "shared");
        this.of_partition(1).open().unwrap();
        let everything = serde_json::json!({ "query": { "match_all": {} } });
        // Rows stored by ID alone cannot be searched before.
        this.ask(Method::POST, "/shared-*/_refresh", None);
        let path = "/shared-*/_delete_by_query?refresh=true&conflicts=proceed";
        this.ask(Method::POST, path, Some(&everything));
        this
    }

    fn of_partition(&self, partition: u16) -> OpensearchWriter {
        OpensearchWriter::new(self.0.clone(), partition)
    }

    /// Asks the node itself.
    fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> Value {
        let answer = Blocking::new(&self.0.client).unwrap().json(method, path, body).unwrap();
        assert!(answer.status.is_success(), "{path}: {}", answer.reason());
        answer.json().unwrap()
    }
}

impl Store for Opensearch {
    fn writer(&self) -> Box<dyn Writer> {
        Box::new(self.of_partition(1))
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(OpensearchReader::new(self.0.clone()).unwrap())
    }

    fn cleaner(&self) -> Box<dyn Cleaner> {
        Box::new(OpensearchCleaner::new(self.0.clone()))
    }

    fn loader(&self) -> Box<dyn Loader> {
        Box::new(OpensearchLoader::new(self.0.clone()))
    }
}

/// `BATON_STORE_ROUNDS` says how many random searches there are.
fn what_is_written_is_found(node: &mut Node) {
    let rounds = std::env::var("BATON_STORE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let options = OpensearchOptions { number_of_shards: 2, ..Opensearch::new(node, "suite").0 };
    let store = Opensearch(options);
    suite::run(&store, rounds.unwrap_or(ROUNDS));
    schema::indices_are_as_asked(&store);
    // The node has less to bring back when it is started again.
    store.ask(Method::DELETE, "/suite-*", None);
}
