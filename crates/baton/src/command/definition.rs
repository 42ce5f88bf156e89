//! Definitions by their IDs and versions.

use ::client::{ApiCall, RestClient};
use serde_json::{Value, json};

use super::call;
use crate::failure::Failure;

/// Definitions that are looked at for one ID.
const FOUND_MAX: u32 = 1000;

/// A definition as users name it: `order`, `order:2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct VersionedId<'a> {
    pub(super) id: &'a str,
    pub(super) version: Option<i64>,
}

/// Whether a text is a key: IDs do not begin with digits.
pub(super) fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads `ID[:VERSION]`. IDs of XML have no colon.
pub(super) fn versioned(text: &str) -> Result<VersionedId<'_>, Failure> {
    let Some((id, version)) = text.split_once(':') else {
        return Ok(VersionedId { id: text, version: None });
    };
    match version.parse() {
        Ok(version) if version > 0 && !id.is_empty() => Ok(VersionedId { id, version: Some(version) }),
        _ => Err(Failure::usage(format!("'{text}': expected ID:VERSION, with a version from 1 on"))),
    }
}

/// Definitions of a collection such as `process-definitions` that have this ID, and this version if it has one.
pub(super) async fn search(
    client: &RestClient,
    collection: &str,
    id_property: &str,
    VersionedId { id, version }: VersionedId<'_>,
    more: &Value,
) -> Result<Vec<Value>, Failure> {
    let mut filter = more.clone();
    filter[id_property] = Value::from(id);
    if let Some(version) = version {
        filter["version"] = Value::from(version);
    }
    let request = json!({ "filter": filter, "page": { "limit": FOUND_MAX } }).to_string();
    let path = format!("/{collection}/search");
    let mut answer =
        call::json(client, &ApiCall::post(&path, &request), format_args!("look for '{id}'")).await?;
    match answer["items"].take() {
        Value::Array(items) => Ok(items),
        _ => Ok(Vec::new()),
    }
}

/// The key of a process definition that is named by its key, `ID` (the latest version) or `ID:VERSION`.
pub(super) async fn process_key(client: &RestClient, text: &str) -> Result<String, Failure> {
    if is_key(text) {
        return Ok(text.to_owned());
    }
    let wanted = versioned(text)?;
    let latest = if wanted.version.is_none() { json!({ "isLatestVersion": true }) } else { json!({}) };
    let found = search(client, "process-definitions", "processDefinitionId", wanted, &latest).await?;
    match found.as_slice() {
        [] => Err(Failure::new(format!("there is no process '{text}'"))
            .hint("`baton search processes` shows what is deployed")),
        [one] => Ok(one["processDefinitionKey"].as_str().unwrap_or_default().to_owned()),
        _ => Err(Failure::new(format!("several tenants have a process '{text}'"))
            .hint("name it by its key: `baton search processes` shows it")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_have_names_keys_and_versions() {
        assert!(is_key("2251799813685306") && !is_key("order") && !is_key(""));
        assert_eq!(versioned("order").unwrap(), VersionedId { id: "order", version: None });
        assert_eq!(versioned("order:2").unwrap(), VersionedId { id: "order", version: Some(2) });
        for wrong in ["order:", "order:0", "order:x", ":1"] {
            assert!(versioned(wrong).is_err(), "{wrong}");
        }
    }
}
