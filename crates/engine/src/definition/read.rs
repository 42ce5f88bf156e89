//! Reads the files of a deployment, each by its kind; every problem of every file is told at once.

use std::collections::{BTreeMap, BTreeSet};

use bpmn::Process;
use dmn::Problems;
use protocol::{Deploy, Name, Rejection, Resource};
use state::StateError;

use super::imports::{Model, Models, Source};
use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::options::Options;

/// The beginning of the namespaces of all versions of DMN.
const DMN_NAMESPACE: &str = "www.omg.org/spec/DMN/";

/// A file that can be deployed.
pub(crate) struct ReadFile<'d> {
    pub resource: &'d Resource,
    pub checksum: [u8; 16],
    pub content: Content,
}

/// Content of a file.
pub(crate) enum Content {
    Processes(Vec<Process>),
    Decisions {
        graph: dmn::DecisionRequirements,
        /// Those of its deployment by their places among the files read.
        imports: Vec<Source>,
    },
    Form(Head),
    /// Anything that the engine only keeps and hands out.
    Other(Head),
}

/// Properties of a file that the engine does not execute.
pub(crate) struct Head {
    pub id: Name,
    pub version_tag: Option<Name>,
}

impl CommandContext<'_> {
    /// Reads all files. A DMN file comes behind those that it imports; else they keep their order.
    pub(super) fn read_files<'d>(&mut self, deploy: &'d Deploy) -> Result<Vec<ReadFile<'d>>, Failure> {
        let resources = &deploy.resources;
        let mut problems = Vec::new();
        if resources.is_empty() {
            problems.push("Expected to deploy at least one resource, but none given".to_owned());
        }
        let parser = dmn::Parser::new(self.options.dmn.clone());
        let is_dmn = |(_, resource): &(usize, &Resource)| extension(resource) == "dmn";
        let texts: Vec<_> = (resources.iter().enumerate().filter(is_dmn))
            .map(|(place, resource)| (place, parser.decode(&resource.content)))
            .collect();
        let models = texts.iter().map(|(place, text)| {
            let text = text.as_ref().map_err(Problems::clone);
            (*place, text.and_then(|text| parser.read(text)))
        });
        let mut models = Models::find(self, &deploy.tenant_id, resources, models)?;
        let mut names = BTreeSet::new();
        let mut files: Vec<ReadFile> = Vec::new();
        // Where the file of a place is among those that were read.
        let mut read: BTreeMap<usize, usize> = BTreeMap::new();
        for place in models.order(resources.len()) {
            let resource = &resources[place];
            let name = &resource.name;
            if !names.insert(name) {
                problems.push(format!("'{name}': the deployment has two resources of this name"));
                continue;
            }
            let content = match models.take(place) {
                Some(Ok(model)) => self.read_decisions(resources, model, parser.clone(), &files, &read)?,
                Some(Err(problem)) => Err(problem),
                None => read_file(resource, self.options),
            };
            match content {
                Ok(content) => {
                    let checksum = xxhash_rust::xxh3::xxh3_128(&resource.content).to_be_bytes();
                    read.insert(place, files.len());
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

    /// Reads a DMN file. Its imports from its deployment stand among the files already, unless they have problems or
    /// imports this one.
    fn read_decisions(
        &mut self,
        resources: &[Resource],
        model: Model,
        mut parser: dmn::Parser,
        files: &[ReadFile],
        read: &BTreeMap<usize, usize>,
    ) -> Result<Result<Content, String>, StateError> {
        let mut imports = model.imports;
        for source in &mut imports {
            match source {
                Source::Deployed(key) => {
                    parser = parser.with_import(&self.definitions.decisions(self.tables, *key)?);
                }
                Source::Beside(place) => {
                    let at = read.get(place).copied();
                    let Some((at, Content::Decisions { graph, .. })) = at.map(|at| (at, &files[at].content))
                    else {
                        let name = &resources[*place].name;
                        return Ok(Err(format!(
                            "import: '{name}' has problems of its own, or imports this file in its turn"
                        )));
                    };
                    parser = parser.with_import(graph);
                    *place = at;
                }
            }
        }
        Ok(compile(&parser, model.file, imports, &self.options.dmn))
    }
}

/// The text of a refusal.
pub(crate) fn with_heading(problems: &str) -> String {
    format!("Expected to deploy new resources, but encountered the following errors:\n{problems}")
}

/// The ending of a file's name, in small letters.
fn extension(resource: &Resource) -> String {
    resource.name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase()
}

/// The kind that a file has by its content, as the ending that its name should have, and in words.
fn looks_like(content: &[u8]) -> Option<(&'static str, &'static str)> {
    let text = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content).trim_ascii_start();
    match text.first() {
        Some(b'{') => {
            let Ok(feel::Value::Context(object)) =
                feel::Value::from_json(bytes::Bytes::copy_from_slice(text))
            else {
                return None;
            };
            let has_components = matches!(object.get("components"), Some(feel::Value::List(_)));
            let is_form = object.get("schemaVersion").is_some()
                || matches!(object.get("type"), Some(feel::Value::String(kind)) if *kind == *"default");
            (has_components && is_form).then_some(("form", "a form"))
        }
        // Also of UTF-16, which begins with a mark.
        Some(b'<' | 0xfe | 0xff) if bpmn::is_model(content) => Some(("bpmn", "a BPMN model")),
        Some(b'<') if std::str::from_utf8(text).is_ok_and(|text| text.contains(DMN_NAMESPACE)) => {
            Some(("dmn", "a DMN model"))
        }
        _ => None,
    }
}

/// Reads a file of any kind but DMN.
fn read_file(resource: &Resource, options: &Options) -> Result<Content, String> {
    let content = &resource.content;
    match &*extension(resource) {
        "xml" if !bpmn::is_model(content) => generic(resource, options),
        "bpmn" | "xml" => bpmn::parse(content, &options.bpmn)
            .map(Content::Processes)
            .map_err(|problems| problems.to_string()),
        "form" => read_head(content, "form", options).map(Content::Form),
        "rpa" => read_head(content, "script", options).map(Content::Other),
        _ => generic(resource, options),
    }
}

/// A file of no known kind: its name is its ID. One that would be of a known kind with another name is refused, since
/// nobody would run it.
fn generic(resource: &Resource, options: &Options) -> Result<Content, String> {
    if let Some((ending, what)) = looks_like(&resource.content) {
        return Err(format!("the content is {what}, but the name does not end with '.{ending}'"));
    }
    let id = resource.name.clone();
    check_length(&id, "the file name", options.bpmn.max_id_chars)?;
    Ok(Content::Other(Head { id, version_tag: None }))
}

fn compile(
    parser: &dmn::Parser,
    file: dmn::File,
    imports: Vec<Source>,
    limits: &dmn::Limits,
) -> Result<Content, String> {
    let graph = parser.compile(file).map_err(|problems| problems.to_string())?;
    if graph.id().trim().is_empty() {
        return Err("definitions must have a non-blank attribute 'id'".to_owned());
    }
    check_length(graph.id(), "the ID of definitions", limits.max_id_chars)?;
    Ok(Content::Decisions { graph, imports })
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
    let mut seen: BTreeMap<(&str, &str), &Name> = BTreeMap::new();
    for file in files {
        let name = &file.resource.name;
        let mut see = |kind: &'static str, id| {
            if let Some(other) = seen.insert((kind, id), name) {
                problems.push(format!("Duplicated {kind} id '{id}' in resources '{other}' and '{name}'"));
            }
        };
        match &file.content {
            Content::Processes(models) => models.iter().for_each(|model| see("process", &model.id)),
            Content::Decisions { graph, .. } => {
                see("decision requirements", graph.id());
                graph.decisions().for_each(|decision| see("decision", decision.id));
            }
            Content::Form(head) => see("form", &head.id),
            Content::Other(head) => see("resource", &head.id),
        }
    }
}
