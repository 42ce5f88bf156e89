//! `baton import`: exported lines are brought to a server. A line that fails does not stop the others.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::ExitCode;

use ::client::{ApiCall, Resource, RestClient};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::call;
use super::done::Done;
use super::kind::Kind;
use crate::cli::Import;
use crate::failure::Failure;
use crate::output;

/// Parts of exported lines that an import uses.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExportedLine<'a> {
    process_definition_id: Option<String>,
    resource_name: Option<String>,
    xml: Option<String>,
    parent_process_instance_key: Option<String>,
    #[serde(borrow)]
    variables: Option<&'a RawValue>,
    scope_key: Option<String>,
    name: Option<String>,
    value: Option<String>,
}

pub(crate) async fn run(arguments: &Import) -> Result<ExitCode, Failure> {
    let word = match arguments.kind {
        Kind::Processes => "deployed",
        Kind::Instances => "started",
        Kind::Variables => "set",
        kind => {
            return Err(Failure::usage(format!(
                "{} cannot be imported: they are the outcome of processes. An import takes processes, instances and \
                 variables",
                kind.names().plural
            )));
        }
    };
    let input = open(arguments.file.as_deref())?;
    let client = arguments.to.connect()?;
    let mut done = Done::new(word, arguments.to.json);
    for (number, line) in input.lines().enumerate() {
        let number = number + 1;
        let line = line.map_err(|error| Failure::usage(format!("line {number}: cannot be read: {error}")))?;
        if line.trim().is_empty() {
            continue;
        }
        match import(&client, arguments, &line).await {
            Ok(Some((name, answer))) => done.add_item(name, Ok(answer)),
            Ok(None) => output::note(format_args!("line {number}: left out: it is started by its parent")),
            Err(failure) => done.add_item(number, Err(failure.after(format!("line {number}:")))),
        }
    }
    done.finish()
}

fn open(path: Option<&Path>) -> Result<Box<dyn BufRead>, Failure> {
    let Some(path) = path else { return Ok(Box::new(std::io::stdin().lock())) };
    let file = File::open(path)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))?;
    Ok(Box::new(BufReader::new(file)))
}

/// Imports a line; gives a name of what came of it and the answer of the API.
async fn import(
    client: &RestClient,
    arguments: &Import,
    line: &str,
) -> Result<Option<(String, Value)>, Failure> {
    let line: ExportedLine<'_> = serde_json::from_str(line)
        .map_err(|error| Failure::usage(format!("no line of `baton export`: {error}")))?;
    let tenant = arguments.tenant.as_deref();
    match arguments.kind {
        Kind::Processes => deploy(client, &line, tenant).await.map(Some),
        Kind::Instances if line.parent_process_instance_key.is_some() => Ok(None),
        Kind::Instances => start(client, &line, tenant).await.map(Some),
        _ => set(client, &line).await.map(Some),
    }
}

fn missing(property: &str, hint: &str) -> Failure {
    Failure::usage(format!("the property {property} is missing")).hint(hint)
}

const WHOLE: &str = "`baton export --whole` writes it";

async fn deploy(
    client: &RestClient,
    line: &ExportedLine<'_>,
    tenant: Option<&str>,
) -> Result<(String, Value), Failure> {
    let id = line.process_definition_id.as_deref();
    let id = id.ok_or_else(|| missing("processDefinitionId", "is it a line of `baton export processes`?"))?;
    let xml = line.xml.as_deref().ok_or_else(|| missing("xml", WHOLE))?;
    let name = line.resource_name.clone().unwrap_or_else(|| format!("{id}.bpmn"));
    let resources = [Resource { name: &name, content: xml.as_bytes() }];
    let answer = client.deploy_for_answer(&resources, tenant).await;
    let answer = answer.map_err(|error| Failure::request(format!("deploy process '{id}'"), &error))?;
    let answer = call::read(&answer)?;
    let version = &answer["deployments"][0]["processDefinition"]["processDefinitionVersion"];
    Ok((format!("process {id} version {version}"), answer))
}

async fn start(
    client: &RestClient,
    line: &ExportedLine<'_>,
    tenant: Option<&str>,
) -> Result<(String, Value), Failure> {
    let id = line.process_definition_id.as_deref();
    let id = id.ok_or_else(|| missing("processDefinitionId", "is it a line of `baton export instances`?"))?;
    let variables = line.variables.ok_or_else(|| missing("variables", WHOLE))?;
    let body = call::object(&[
        ("processDefinitionId", Some(call::quoted(id))),
        ("variables", Some(variables.get().to_owned())),
        ("tenantId", tenant.map(call::quoted)),
    ]);
    let call = ApiCall::post("/process-instances", &body);
    let answer = call::json(client, &call, format_args!("start process '{id}'")).await?;
    let key = answer["processInstanceKey"].as_str().unwrap_or_default();
    Ok((format!("instance {key} of {id}"), answer))
}

async fn set(client: &RestClient, line: &ExportedLine<'_>) -> Result<(String, Value), Failure> {
    let hint = "is it a line of `baton export variables`?";
    let (Some(scope), Some(name), Some(value)) = (&line.scope_key, &line.name, &line.value) else {
        return Err(missing("scopeKey, name or value", hint));
    };
    serde_json::from_str::<&RawValue>(value)
        .map_err(|error| Failure::usage(format!("the value of '{name}' is not JSON: {error}")))?;
    let variables = call::object(&[(name, Some(value.clone()))]);
    let body = call::object(&[("variables", Some(variables)), ("local", Some("true".to_owned()))]);
    let path = format!("/element-instances/{scope}/variables");
    call::text(client, &ApiCall::put(&path, &body), format_args!("set variable '{name}' of {scope}")).await?;
    Ok((format!("variable {name} of {scope}"), serde_json::json!({ "scopeKey": scope, "name": name })))
}
