//! Reads the files of a deployment, each by its kind; every problem of every file is told at once.

use bpmn::Process;
use protocol::{Deploy, Name, Rejection, Resource};

use crate::failure::Failure;
use crate::options::Options;

/// A file that can be deployed.
pub(crate) struct ReadFile<'d> {
    pub resource: &'d Resource,
    pub checksum: [u8; 16],
    pub content: Content,
}

/// What is in a file.
pub(crate) enum Content {
    Processes(Vec<Process>),
    Decisions(dmn::DecisionRequirements),
    Form(Head),
    /// Anything that the engine only keeps and hands out.
    Other(Head),
}

/// What the engine knows of a file that it does not execute.
pub(crate) struct Head {
    pub id: Name,
    pub version_tag: Option<Name>,
}

/// Reads all files.
pub(crate) fn read<'d>(deploy: &'d Deploy, options: &Options) -> Result<Vec<ReadFile<'d>>, Failure> {
    let mut problems = Vec::new();
    let mut files: Vec<ReadFile> = Vec::new();
    if deploy.resources.is_empty() {
        problems.push("Expected to deploy at least one resource, but none given".to_owned());
    }
    for (at, resource) in deploy.resources.iter().enumerate() {
        let name = &resource.name;
        if deploy.resources[..at].iter().any(|other| other.name == *name) {
            problems.push(format!("'{name}': the deployment has two resources of this name"));
            continue;
        }
        match read_file(resource, options) {
            Ok(content) => {
                let checksum = xxhash_rust::xxh3::xxh3_128(&resource.content).to_be_bytes();
                files.push(ReadFile { resource, checksum, content });
            }
            Err(found) => problems.push(format!("'{name}': {found}")),
        }
    }
    check_ids(&files, &mut problems);
    if problems.is_empty() {
        return Ok(files);
    }
    Err(Rejection::invalid_argument(with_heading(&problems.join("\n"))).into())
}

/// The text of a refusal.
pub(crate) fn with_heading(problems: &str) -> String {
    format!("Expected to deploy new resources, but encountered the following errors:\n{problems}")
}

fn read_file(resource: &Resource, options: &Options) -> Result<Content, String> {
    let content = &resource.content;
    match resource.name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "bpmn" | "xml" => bpmn::parse(content, &options.bpmn)
            .map(Content::Processes)
            .map_err(|problems| problems.to_string()),
        "dmn" => read_decisions(content, &options.dmn),
        "form" => read_head(content, "form", options).map(Content::Form),
        "rpa" => read_head(content, "script", options).map(Content::Other),
        _ => {
            let id = resource.name.clone();
            check_length(&id, "the file name", options.bpmn.max_id_chars)?;
            Ok(Content::Other(Head { id, version_tag: None }))
        }
    }
}

fn read_decisions(content: &[u8], limits: &dmn::Limits) -> Result<Content, String> {
    let graph = dmn::parse(content, limits).map_err(|problems| problems.to_string())?;
    if graph.id().trim().is_empty() {
        return Err("definitions must have a non-blank attribute 'id'".to_owned());
    }
    check_length(graph.id(), "the ID of definitions", limits.max_id_chars)?;
    Ok(Content::Decisions(graph))
}

/// ID and version tag of a file that is a JSON object.
fn read_head(content: &[u8], what: &str, options: &Options) -> Result<Head, String> {
    let json = feel::Value::from_json(bytes::Bytes::copy_from_slice(content))
        .map_err(|error| format!("the {what} is not valid JSON: {error}"))?;
    let feel::Value::Context(object) = json else {
        return Err(format!("the {what} must be a JSON object"));
    };
    let id = match object.get("id") {
        Some(feel::Value::String(id)) if !id.trim().is_empty() => Name(id),
        Some(feel::Value::String(_) | feel::Value::Null) | None => {
            return Err(format!("the {what} must have a non-blank property 'id'"));
        }
        Some(_) => return Err(format!("the property 'id' of the {what} must be a string")),
    };
    check_length(&id, "the property 'id'", options.bpmn.max_id_chars)?;
    let version_tag = match object.get("versionTag") {
        Some(feel::Value::String(tag)) => Some(Name(tag)).filter(|tag| !tag.trim().is_empty()),
        Some(feel::Value::Null) | None => None,
        Some(_) => return Err(format!("the property 'versionTag' of the {what} must be a string")),
    };
    if let Some(tag) = &version_tag {
        check_length(tag, "the property 'versionTag'", options.bpmn.max_id_chars)?;
    }
    Ok(Head { id, version_tag })
}

fn check_length(text: &str, what: &str, max_chars: usize) -> Result<(), String> {
    if text.len() > max_chars && text.chars().count() > max_chars {
        return Err(format!("{what} is longer than {max_chars} characters"));
    }
    Ok(())
}

/// An ID may occur once in a deployment for each kind of definition.
fn check_ids(files: &[ReadFile], problems: &mut Vec<String>) {
    let mut seen: std::collections::BTreeMap<(&str, &str), &Name> = std::collections::BTreeMap::new();
    for file in files {
        let name = &file.resource.name;
        let mut see = |kind: &'static str, id| {
            if let Some(other) = seen.insert((kind, id), name) {
                problems.push(format!("Duplicated {kind} id '{id}' in resources '{other}' and '{name}'"));
            }
        };
        match &file.content {
            Content::Processes(models) => models.iter().for_each(|model| see("process", &model.id)),
            Content::Decisions(graph) => {
                see("decision requirements", graph.id());
                graph.decisions().for_each(|decision| see("decision", decision.id));
            }
            Content::Form(head) => see("form", &head.id),
            Content::Other(head) => see("resource", &head.id),
        }
    }
}
