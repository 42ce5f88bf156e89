//! `baton delete`.

use std::process::ExitCode;

use ::client::{ApiCall, RestClient};
use serde_json::{Value, json};

use super::call;
use super::definition::{self, VersionedId};
use super::done::Done;
use crate::cli::{Delete, DeleteAction, RestCommand};
use crate::failure::Failure;

/// Collections whose entities have IDs and versions: ID, key, and name of one.
const COLLECTIONS: [(&str, &str, &str, &str); 2] = [
    ("process-definitions", "processDefinitionId", "processDefinitionKey", "process"),
    ("decision-requirements", "decisionRequirementsId", "decisionRequirementsKey", "decision requirements"),
];

pub(crate) async fn run(arguments: &Delete) -> Result<ExitCode, Failure> {
    match &arguments.action {
        DeleteAction::Resources { resources, all_versions, history, to } => {
            let client = to.connect()?;
            let body = json!({ "deleteHistory": history }).to_string();
            let mut done = Done::new("deleted", to.json);
            for name in resources {
                match keys(&client, name, *all_versions).await {
                    Ok(keys) => {
                        for key in keys {
                            done.add_item(&key, delete_resource(&client, &key, &body).await);
                        }
                    }
                    Err(failure) => done.add_item(name, Err(failure)),
                }
            }
            done.finish()
        }
        DeleteAction::Instances { keys, to } => delete_instances(keys, to).await,
    }
}

async fn delete_resource(client: &RestClient, key: &str, body: &str) -> Result<Value, Failure> {
    let path = format!("/resources/{key}/deletion");
    call::json(client, &ApiCall::post(&path, body), format_args!("delete resource {key}")).await
}

async fn delete_instances(keys: &[i64], to: &RestCommand) -> Result<ExitCode, Failure> {
    let client = to.connect()?;
    let delete = async |key| {
        let path = format!("/process-instances/{key}/deletion");
        client.call(&ApiCall::post(&path, "{}")).await.map(drop).map_err(|error| {
            let failure = Failure::request(format!("delete process instance {key}"), &error);
            if error.is_conflict() {
                failure.hint(format!("`baton cancel {key}` ends it first"))
            } else {
                failure
            }
        })
    };
    Done::new("deleted", to.json).each(keys, delete).await
}

/// The keys of a resource that is named by its key or its ID.
async fn keys(client: &RestClient, name: &str, all_versions: bool) -> Result<Vec<String>, Failure> {
    if definition::is_key(name) {
        return Ok(vec![name.to_owned()]);
    }
    let wanted = definition::versioned(name)?;
    let mut found = Vec::new();
    for (collection, id, key, one) in COLLECTIONS {
        for item in definition::search(client, collection, id, wanted, &json!({})).await? {
            let key = item[key].as_str().unwrap_or_default().to_owned();
            found.push((key, format!("{one} version {}", item["version"])));
        }
    }
    choose(wanted, found, all_versions)
}

fn choose(
    VersionedId { id, version }: VersionedId<'_>,
    found: Vec<(String, String)>,
    all_versions: bool,
) -> Result<Vec<String>, Failure> {
    match found.len() {
        0 => Err(Failure::new(format!(
            "there is no process and there are no decision requirements '{id}'{}",
            version.map_or_else(String::new, |version| format!(" of version {version}"))
        ))
        .hint("forms and other resources are named by their keys, which `baton deploy` tells")),
        1 => Ok(found.into_iter().map(|(key, _)| key).collect()),
        _ if all_versions => Ok(found.into_iter().map(|(key, _)| key).collect()),
        _ => {
            let names: Vec<_> = found.iter().map(|(key, name)| format!("{key} ({name})")).collect();
            Err(Failure::usage(format!("'{id}' may be any of {}", names.join(", ")))
                .hint(format!("name a key or a version, as {id}:1, or all of them with --all-versions")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_with_several_versions_is_not_guessed() {
        let wanted = VersionedId { id: "order", version: None };
        let found = |versions: &[&str]| {
            versions.iter().map(|v| (format!("10{v}"), format!("process version {v}"))).collect::<Vec<_>>()
        };
        assert_eq!(choose(wanted, found(&["1"]), false).unwrap(), ["101"]);
        assert_eq!(choose(wanted, found(&["1", "2"]), true).unwrap(), ["101", "102"]);
        let failure = choose(wanted, found(&["1", "2"]), false).unwrap_err();
        assert!(
            failure.message().contains("101 (process version 1), 102 (process version 2)"),
            "{failure:?}"
        );
        assert!(choose(wanted, found(&[]), true).is_err());
    }
}
