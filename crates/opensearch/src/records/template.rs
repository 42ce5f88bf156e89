//! Template of the indices of records.

use protocol::ValueType;
use serde_json::{Value as Json, json};

use super::RecordOptions;

/// Above what templates have that are there for everything.
const PRIORITY: u32 = 500;
/// The longest text that can be looked for: 32,766 bytes are the limit, and each of its units takes up to three.
const TEXT_UNITS_MAX: u32 = 8191;

/// A value type as names of indices have it.
fn part(value_type: ValueType) -> String {
    value_type.as_str().to_ascii_lowercase().replace('_', "-")
}

/// The name of a template, with which the names of its indices begin.
pub(super) fn name(prefix: &str, value_type: ValueType) -> String {
    format!("{prefix}_{}_{}", part(value_type), env!("CARGO_PKG_VERSION"))
}

pub(super) fn body(options: &RecordOptions, value_type: ValueType) -> Json {
    let prefix = &options.index_prefix;
    let text = json!({ "type": "keyword", "ignore_above": TEXT_UNITS_MAX });
    // Variables are stored without an index: they may have any shape, another one each time.
    let opaque = |name: &str| {
        let mapping = json!({ "type": "object", "enabled": false });
        json!({ name: { "match_mapping_type": "object", "match": name, "mapping": mapping } })
    };
    json!({
        "index_patterns": [format!("{}_*", name(prefix, value_type))],
        "priority": PRIORITY,
        "template": {
            "settings": { "index": {
                "number_of_shards": options.number_of_shards,
                "number_of_replicas": options.number_of_replicas,
            } },
            "mappings": {
                "date_detection": false,
                "numeric_detection": false,
                "dynamic_templates": [
                    opaque("variables"),
                    opaque("customHeaders"),
                    { "texts": { "match_mapping_type": "string", "mapping": text } },
                ],
                "properties": {
                    "position": { "type": "long" },
                    "sequence": { "type": "long" },
                    "sourceRecordPosition": { "type": "long" },
                    "key": { "type": "long" },
                    "timestamp": { "type": "date" },
                    "partitionId": { "type": "integer" },
                    "authorizations": { "type": "object", "enabled": false },
                },
            },
            "aliases": { format!("{prefix}-{}", part(value_type)): {} },
        },
    })
}
