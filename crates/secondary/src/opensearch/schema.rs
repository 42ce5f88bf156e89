//! Indices, made and extended at start.

use ::opensearch::{Answer, Blocking, Method, StatusCode};
use search::StoreError;
use search::model::{Column, ENTITIES, Entity, EntityId, Kind};
use serde_json::{Map, Value as Json, json};
use xxhash_rust::xxh3::xxh3_64;

use super::answer::{expect, found, unanswered};
use super::options::OpensearchOptions;
use super::row::TEXT_UNITS_MAX;

/// Grows when the meaning of what is stored changes; columns and entities that are added need no new number.
const VERSION: u64 = 2;
pub(super) const APPLY: Script = Script { name: "apply-4", source: include_str!("apply.painless") };
pub(super) const REMOVE: Script = Script { name: "remove-1", source: include_str!("remove.painless") };
/// Above what templates have that are there for everything.
const TEMPLATE_PRIORITY: u32 = 500;
/// The writer makes visible what it has written; this is for what is changed by hand.
const REFRESH_INTERVAL: &str = "30s";

/// Marks what is left of a row that was deleted: when, Unix milliseconds. See `apply.painless`.
pub(super) const DELETED: &str = "deleted";

/// A script that is stored. A release that changes it takes the next number, since the former release may still be
/// at work.
pub(super) struct Script {
    name: &'static str,
    source: &'static str,
}

impl Script {
    /// How it is called.
    pub fn id(&self, options: &OpensearchOptions) -> String {
        format!("{}-{}", options.index_prefix, self.name)
    }

    /// Stores it, unless it is there.
    fn store(&self, client: &Blocking, options: &OpensearchOptions) -> Result<(), StoreError> {
        let path = format!("/_scripts/{}", self.id(options));
        let stored = found(&client.json(Method::GET, &path, None).map_err(unanswered)?)?;
        let source = stored.as_ref().and_then(|body| body["script"]["source"].as_str());
        if source == Some(self.source) {
            return Ok(());
        }
        put(client, &path, &json!({ "script": { "lang": "painless", "source": self.source } }))
    }
}

/// An index as it shall be.
struct Index {
    alias: String,
    properties: Map<String, Json>,
}

/// Makes what is missing. Repeating is harmless, and so is doing it from several sides.
pub(super) fn prepare(client: &Blocking, options: &OpensearchOptions) -> Result<(), StoreError> {
    let get = |path: &str| client.json(Method::GET, path, None).map_err(unanswered);
    let version_path = format!("/{}/_doc/schema", options.progress());
    let stored = found(&get(&version_path)?)?.and_then(|body| body["_source"]["version"].as_u64());
    if let Some(version) = stored.filter(|version| *version > VERSION) {
        return Err(StoreError::Schema(format!(
            "the schema has version {version}, this release knows versions up to {VERSION}"
        )));
    }
    let prefix = &options.index_prefix;
    let mappings = found(&get(&format!("/{prefix}-*/_mapping"))?)?.unwrap_or_default();
    let templates = found(&get(&format!("/_index_template/{prefix}-*"))?)?.unwrap_or_default();
    for index in indices(options) {
        make(client, options, &index, &mappings, &templates)?;
    }
    for script in [APPLY, REMOVE] {
        script.store(client, options)?;
    }
    if stored != Some(VERSION) {
        put(client, &version_path, &json!({ "version": VERSION }))?;
    }
    Ok(())
}

/// The entities that have indices: elements are counted by queries here, without rows of their own.
pub(super) fn entities() -> impl Iterator<Item = &'static Entity> {
    ENTITIES.iter().copied().filter(|entity| entity.id != EntityId::ElementCount)
}

fn indices(options: &OpensearchOptions) -> Vec<Index> {
    let long = || json!({ "type": "long" });
    let mut indices: Vec<_> = entities()
        .map(|entity| {
            let columns = entity.columns.iter();
            let mut properties: Map<_, _> =
                columns.map(|Column { name, kind, .. }| ((*name).to_owned(), property(*kind))).collect();
            properties.insert("applied".to_owned(), json!({ "type": "object", "enabled": false }));
            properties.insert("tooLong".to_owned(), json!({ "type": "keyword" }));
            properties.insert(DELETED.to_owned(), long());
            Index { alias: options.alias(entity), properties }
        })
        .collect();
    let names = ["version", "position", "epoch", "gapLower", "gapUpper", "gapAccepted"];
    let properties = names.into_iter().map(|name| (name.to_owned(), long())).collect();
    indices.push(Index { alias: options.progress(), properties });
    indices
}

fn property(kind: Kind) -> Json {
    match kind {
        Kind::Key | Kind::Integer | Kind::Time | Kind::Flag => json!({ "type": "long" }),
        Kind::Text | Kind::List => json!({ "type": "keyword", "ignore_above": TEXT_UNITS_MAX }),
        Kind::Json => json!({ "type": "keyword", "index": false, "doc_values": false }),
    }
}

fn make(
    client: &Blocking,
    options: &OpensearchOptions,
    Index { alias, properties }: &Index,
    mappings: &Json,
    templates: &Json,
) -> Result<(), StoreError> {
    let replicas = json!({ "number_of_replicas": options.number_of_replicas });
    let mut template = json!({
        "index_patterns": [format!("{alias}-*")],
        "priority": TEMPLATE_PRIORITY,
        "template": {
            "settings": { "index": {
                "number_of_shards": options.number_of_shards,
                "number_of_replicas": options.number_of_replicas,
                "refresh_interval": REFRESH_INTERVAL,
            } },
            "mappings": { "dynamic": "strict", "properties": properties },
            "aliases": { alias: {} },
        },
    });
    let fingerprint = format!("{:016x}", xxh3_64(template.to_string().as_bytes()));
    let known = templates["index_templates"].as_array().into_iter().flatten();
    let known = known.filter(|known| known["name"] == **alias);
    let is_known = known
        .map(|known| &known["index_template"]["_meta"]["fingerprint"])
        .any(|known| *known == *fingerprint);
    if !is_known {
        template["_meta"] = json!({ "fingerprint": fingerprint });
        put(client, &format!("/_index_template/{alias}"), &template)?;
    }
    let index = format!("{alias}-1");
    let Some(mapping) = mappings.get(&index) else {
        let answer = client.json(Method::PUT, &format!("/{index}"), None).map_err(unanswered)?;
        let is_there = answer.reason().contains("resource_already_exists_exception");
        return if is_there { Ok(()) } else { accepted(&answer) };
    };
    if !is_known {
        put(client, &format!("/{index}/_settings"), &json!({ "index": replicas }))?;
    }
    let mut missing = Map::new();
    for (name, wanted) in properties {
        match mapping["mappings"]["properties"].get(name) {
            None => _ = missing.insert(name.clone(), wanted.clone()),
            // An object that is not looked into has no type in some releases.
            Some(known) if known.get("type").is_none_or(|kind| *kind == wanted["type"]) => {}
            Some(known) => {
                return Err(StoreError::Schema(format!(
                    "'{name}' of the index '{index}' has the type {}, not {}",
                    known["type"], wanted["type"]
                )));
            }
        }
    }
    if !missing.is_empty() {
        put(client, &format!("/{index}/_mapping"), &json!({ "properties": missing }))?;
    }
    Ok(())
}

fn put(client: &Blocking, path: &str, body: &Json) -> Result<(), StoreError> {
    accepted(&client.json(Method::PUT, path, Some(body)).map_err(unanswered)?)
}

/// A refused index would be refused again.
fn accepted(answer: &Answer) -> Result<(), StoreError> {
    match answer.status {
        StatusCode::BAD_REQUEST => Err(StoreError::Schema(answer.reason())),
        _ => expect(answer).map(|_| ()),
    }
}
