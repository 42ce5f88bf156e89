//! `docs/rest-operations.md` says of each operation what answers it, and which test shows it. `UPDATE_EXPECT=1`
//! writes it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::contract::{is_own, small_body, valid_path};
use super::fake::FakeBroker;
use super::fake_operations::FakeOperations;
use super::fake_storage::FakeStorage;
use super::{Options, block_on, gateway_with, request, text};
use crate::rest::contract::{Media, OPERATIONS, Operation, ROUTES};
use crate::rest::query;

const HEAD: &str = "\
# REST operations

Each of the 183 operations of release 8.9, the operations of 8.10 that are served, and who answers them. A test writes this page (`UPDATE_EXPECT=1 cargo test -p gateway documented`)
from the contract, from what an operation asks for while it is answered, and from [the compatibility table](compatibility.md), which says more.

- **command**: it goes through the log and is answered by the engine;
- **engine state**: the engine answers for what lives, at once;
- **secondary storage**: what happened, a moment later; without secondary storage it is refused with 403;
- **broker**: it is told to do something, or how it is, as at the management port;
- **gateway**: it knows by itself, or asks a store of documents.

| operation | request | answered by | shown by |
|---|---|---|---|
";

const OWN_HEAD: &str = "\
# Operations of our own

The part that answers each operation below `/baton/v1`, and which tests show it. A test writes this page
(`UPDATE_EXPECT=1 cargo test -p gateway documented`); [their description](baton-v1.md) says more.

| operation | request | answered by | shown by |
|---|---|---|---|
";

/// Sources that an operation reads.
fn answered_by(operation: Operation) -> &'static str {
    let spec = operation.spec();
    if spec.body.as_ref().is_some_and(|body| body.media == Media::Multipart) {
        return if operation == Operation::CreateDeployment { "command" } else { "gateway" };
    }
    let (broker, storage) = (Arc::new(FakeBroker::default()), Arc::new(FakeStorage::default()));
    let operations = Arc::new(FakeOperations::with_backups());
    let options =
        Options { storage: Some(storage.storage()), operations: operations.slot(), ..Options::default() };
    let gateway = gateway_with(&broker, options);
    let body = small_body(operation).map(|body| body.to_string()).unwrap_or_default();
    block_on(async { text(gateway.answer(request(spec.method, &valid_path(spec), body)).await).await });
    let is_command = !broker.commands.lock().is_empty();
    let is_activation = !broker.activations.lock().is_empty();
    let has_read = broker.reads.load(Ordering::SeqCst) > 0;
    let is_stored = !storage.searches.lock().is_empty() || !storage.statistics.lock().is_empty();
    match (is_command || is_activation, has_read, is_stored) {
        (true, ..) => "command",
        (_, true, _) if query::get_of(operation).is_some() => {
            "engine state; what has ended: secondary storage"
        }
        (_, true, true) => "engine state and secondary storage",
        (_, true, false) => "engine state",
        (_, _, true) => "secondary storage",
        _ if operations.asked.load(Ordering::SeqCst) > 0 => "broker",
        _ if query::get_of(operation).is_some() => "secondary storage",
        _ => "gateway",
    }
}

/// The kind that `api/operations.json` tells clients: a change, or a read.
#[test]
fn the_kind_of_every_operation_is_true() {
    let file: BTreeMap<String, Vec<String>> =
        serde_json::from_str(include_str!("../../../api/operations.json")).unwrap();
    assert_eq!(file.len(), OPERATIONS.len());
    for operation in ROUTES.iter().flat_map(|node| node.operations).flatten() {
        let spec = operation.spec();
        let told = file.get(spec.id).unwrap_or_else(|| panic!("{} has no kind", spec.id));
        let kind = match told.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["change"] => "change",
            [kind @ ("read" | "search"), _] => kind,
            _ => panic!("{}: {told:?}", spec.id),
        };
        let wanted = match answered_by(operation) {
            "command" => "change",
            // Changes of operators are no commands, and documents are the gateway's own.
            "broker" | "gateway" if kind == "change" && spec.method != "GET" => "change",
            "secondary storage" | "engine state and secondary storage" => "search",
            _ => "read",
        };
        assert_eq!(kind, wanted, "{}", spec.id);
    }
}

/// The tests that a table of the page names for an operation.
fn evidence(page: &str) -> BTreeMap<String, String> {
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect::<Vec<_>>());
    let mut found = BTreeMap::new();
    for cells in cells.filter(|cells| cells.len() == 3 && cells[1] != "no") {
        for name in cells[0].split('`').skip(1).step_by(2) {
            found.entry(name.to_owned()).or_insert_with(|| cells[2].to_owned());
        }
    }
    found
}

#[test]
fn the_table_of_operations_is_true() {
    check_table("compatibility.md", "rest-operations.md", HEAD, |operation| !is_own(operation.spec()));
}

#[test]
fn the_table_of_our_own_operations_is_true() {
    check_table("baton-v1.md", "baton-operations.md", OWN_HEAD, |operation| is_own(operation.spec()));
}

/// Compares a page with what is so. Tests stand in a table of another page.
fn check_table(told: &str, page: &str, head: &str, is_in: impl Fn(&Operation) -> bool) {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let evidence = evidence(&std::fs::read_to_string(docs.join(told)).unwrap());
    let mut operations: Vec<Operation> = ROUTES.iter().flat_map(|node| node.operations).flatten().collect();
    assert_eq!(operations.len(), OPERATIONS.len());
    operations.retain(is_in);
    operations.sort_by_key(|operation| operation.spec().id);
    let mut table = head.to_owned();
    for operation in operations {
        let spec = operation.spec();
        let answered_by = answered_by(operation);
        let shown_by = match evidence.get(spec.id) {
            Some(shown_by) => shown_by,
            None if answered_by == "not served" => "",
            None => panic!("docs/{told} says nothing of `{}`", spec.id),
        };
        table +=
            &format!("| `{}` | `{} {}` | {answered_by} | {shown_by} |\n", spec.id, spec.method, spec.path);
    }
    let path = docs.join(page);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &table).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == table, "docs/{page} is stale; UPDATE_EXPECT=1 writes it");
}
