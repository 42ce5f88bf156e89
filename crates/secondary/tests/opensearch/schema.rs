//! Indices, and what is found in them at start.

use opensearch::Method;
use search::StoreError;
use search::model::{ENTITIES, process_definition as definition, process_instance as instance};
use secondary::{Batch, DeployedModel, Loader, OpensearchLoader, OpensearchOptions, RowId};
use serde_json::json;

use crate::Opensearch;
use crate::node::Node;
use crate::suite::Store as _;

/// Called with those of the suite, which have two shards.
pub fn indices_are_as_asked(store: &Opensearch) {
    let prefix = &store.0.index_prefix;
    let job = format!("{prefix}-job");
    let settings = |index: &str| {
        let settings = store.ask(Method::GET, &format!("/{index}/_settings"), None);
        settings[format!("{job}-1")]["settings"]["index"].clone()
    };
    assert_eq!(settings(&job)["number_of_shards"], "2");
    assert_eq!(settings(&job)["number_of_replicas"], "0");
    let indices = store.ask(Method::GET, &format!("/{prefix}-*/_alias"), None);
    // One for positions, and none for counts of elements, which this store counts itself.
    assert_eq!(indices.as_object().unwrap().len(), ENTITIES.len());
    // An index that is made by hand under the pattern is like ours.
    let other = format!("/{job}-2");
    store.ask(Method::PUT, &other, None);
    let mapping = store.ask(Method::GET, &format!("{other}/_mapping"), None);
    assert_eq!(mapping[format!("{job}-2")]["mappings"]["properties"]["jobKey"]["type"], "long");
    store.ask(Method::DELETE, &other, None);
    // Copies can change.
    let changed = Opensearch(OpensearchOptions { number_of_replicas: 1, ..store.0.clone() });
    changed.writer().open().unwrap();
    assert_eq!(settings(&job)["number_of_replicas"], "1");
}

pub fn indices_are_extended(node: &mut Node) {
    let store = Opensearch::emptied(node);
    let properties = json!({ "processInstanceKey": { "type": "long" }, "gone": { "type": "long" } });
    store.ask(Method::DELETE, "/shared-process_instance-1", None);
    store.ask(Method::DELETE, "/_index_template/shared-process_instance", None);
    let former = json!({
        "mappings": { "dynamic": "strict", "properties": properties },
        "aliases": { "shared-process_instance": {} },
    });
    store.ask(Method::PUT, "/shared-process_instance-1", Some(&former));
    let mut writer = store.writer();
    writer.open().unwrap();
    let mut batch = Batch::default();
    batch.insert(&instance::ENTITY, RowId::Key(1)).set(instance::STATE, "ACTIVE");
    writer.write(&batch, 1).unwrap();
    let mapping = store.ask(Method::GET, "/shared-process_instance/_mapping", None);
    let properties = &mapping["shared-process_instance-1"]["mappings"]["properties"];
    assert_eq!(properties["state"]["type"], "keyword");
    assert_eq!(properties["gone"]["type"], "long");
}

pub fn what_is_of_a_later_release_is_refused(node: &mut Node) {
    let store = Opensearch::emptied(node);
    let later = json!({ "version": 3 });
    store.ask(Method::PUT, "/shared-progress/_doc/schema", Some(&later));
    let error = store.writer().open().unwrap_err();
    assert!(matches!(&error, StoreError::Schema(reason) if reason.contains("version 3")), "{error}");

    store.ask(Method::DELETE, "/shared-progress/_doc/schema", None);

    let store = Opensearch::new(node, "foreign");
    let foreign = json!({ "mappings": { "properties": { "state": { "type": "text" } } } });
    store.ask(Method::PUT, "/foreign-process_instance-1", Some(&foreign));
    let error = store.writer().open().unwrap_err();
    assert!(matches!(&error, StoreError::Schema(reason) if reason.contains("'state'")), "{error}");

    let store = Opensearch::new(node, "Upper");
    let error = store.writer().open().unwrap_err();
    assert!(matches!(error, StoreError::Schema(_)), "{error}");
}

pub fn models_are_found_again(node: &mut Node) {
    let store = Opensearch::emptied(node);
    let mut loader = OpensearchLoader::new(store.0.clone());
    assert_eq!(loader.load(7).unwrap(), None);
    let mut batch = Batch::default();
    batch
        .insert(&definition::ENTITY, RowId::Key(7))
        .set(definition::PROCESS_ID, "p")
        .set(definition::VERSION, 4)
        .set(definition::XML, "<x/>".repeat(10_000));
    let mut writer = store.writer();
    writer.open().unwrap();
    writer.write(&batch, 1).unwrap();
    let file = "<x/>".repeat(10_000).as_str().into();
    let model = DeployedModel { process_id: "p".into(), version: 4, file };
    assert_eq!(loader.load(7).unwrap(), Some(model));
    assert_eq!(loader.load(8).unwrap(), None);
    let nowhere = OpensearchOptions::new("http://127.0.0.1:1");
    assert!(matches!(OpensearchLoader::new(nowhere).load(7), Err(StoreError::Unavailable(_))));
}
