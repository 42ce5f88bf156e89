//! Batch operations in tests: the search for their items, and what a script shows of them.
//!
//! A filter has the parts `id=PROCESS`, `version=2`, `not=KEY` (of an instance); others, such as `state=ACTIVE`, hold
//! for all that live. A filter of JSON is for tests that hand over items themselves.

use std::fmt::Write as _;

use engine::Engine;
use protocol::{
    AncestorScope, BatchOperationItem, BatchOperationType, BatchSearch, ElementSource, Key, MoveElement, Name,
};

use super::transcript::Transcript;

/// The beginning of a filter whose items the test hands over.
pub const BY_HAND: char = '{';

/// The items of a batch operation that are not known yet, as a search of secondary storage finds them.
pub fn find(engine: &Engine, search: &BatchSearch) -> Vec<BatchOperationItem> {
    let tables = engine.tables();
    let later = search.found_up_to + 1..search.key;
    let candidates: Vec<(Key, Key)> = if search.kind == BatchOperationType::ResolveIncident {
        let incidents = tables.incidents.scan(later, usize::MAX).unwrap();
        incidents.into_iter().map(|(key, incident)| (key, incident.process_instance_key)).collect()
    } else {
        tables.instances.keys(later, usize::MAX).unwrap().into_iter().map(|key| (key, key)).collect()
    };
    let item = |(item_key, process_instance_key): (Key, Key)| {
        let instance = tables.instances.get(&process_instance_key).unwrap()?;
        let is_called = search.kind == BatchOperationType::CancelProcessInstance && instance.parent.is_some();
        let is_meant = |term: &str| match term.split_once('=') {
            Some(("id", id)) => instance.process_id.0.as_ref() == id,
            Some(("not", key)) => process_instance_key.to_string() != key,
            Some(("version", version)) => instance.version.to_string() == version,
            _ => true,
        };
        (!is_called && search.filter.split_whitespace().all(is_meant)).then_some(BatchOperationItem {
            item_key,
            process_instance_key,
            root_process_instance_key: instance.root_key,
        })
    };
    candidates.into_iter().filter_map(item).collect()
}

/// A move of tokens, `SOURCE>TARGET`.
pub fn token_move(word: &str) -> MoveElement {
    let (source, target) = word.split_once('>').expect("SOURCE>TARGET");
    MoveElement {
        source: ElementSource::Id(Name::from(source)),
        target_id: Name::from(target),
        ancestor: AncestorScope::Inferred,
        variables: vec![],
    }
}

/// Counts and items of a batch operation.
pub fn describe(engine: &Engine, key: Key, transcript: &Transcript) -> String {
    let tables = engine.tables();
    let Some(operation) = tables.batch_operations.get(&key).unwrap() else { return "forgotten".to_owned() };
    let mut text = format!(
        "{} {}: {} of {} done, {} failed",
        transcript.batch_name(key),
        operation.state,
        operation.completed,
        operation.total,
        operation.failed
    );
    for (_, item) in tables.batch_items.scan((key, 0)..(key + 1, 0), usize::MAX).unwrap() {
        let _ = write!(text, "\n- {} {}", transcript.instance_name(item.process_instance_key), item.state);
    }
    text
}
