//! Definitions by their keys, and the files that they came from.

use std::ops::Bound;

use bpmn::graph::{ElementKind, FormReference, PROCESS, Text};
use protocol::{
    DecisionRequirementsView, DecisionView, FileView, Key, Name, ProcessDefinitionView, QueryReply, SourceOf,
};

use super::view::{ROWS_PER_SLICE, Read, ReadError, Scan, View, not_found};
use crate::definition::bound;
use crate::entity::{DecisionRequirements, DefinitionKind, DefinitionState, StoredFile};

pub(super) fn process(view: &mut View<'_>, key: Key) -> Result<QueryReply, ReadError> {
    let found = view.tables.definitions.get(&key)?;
    let definition = found.ok_or_else(|| not_found("Process definition", key))?;
    let process = view.process(key)?;
    Ok(QueryReply::ProcessDefinition(ProcessDefinitionView {
        key,
        process_id: definition.process_id.clone(),
        name: process.name.as_ref().map(Name::from),
        version: definition.version,
        version_tag: definition.version_tag.clone(),
        resource_name: definition.resource_name.clone(),
        tenant_id: definition.tenant_id.clone(),
        has_start_form: start_form_of(&process).is_some(),
        is_draining: definition.state == DefinitionState::Draining,
    }))
}

pub(super) fn decision(view: &View<'_>, key: Key) -> Result<QueryReply, ReadError> {
    let missing = || not_found("Decision definition", key);
    let decision = view.tables.decisions.get(&key)?.ok_or_else(missing)?;
    let graph = view.tables.decision_requirements.get(&decision.requirements_key)?.ok_or_else(missing)?;
    Ok(QueryReply::Decision(DecisionView {
        key,
        id: decision.id.clone(),
        name: decision.name.clone(),
        version: decision.version,
        requirements: graph_view(decision.requirements_key, &graph),
    }))
}

pub(super) fn requirements(view: &View<'_>, key: Key) -> Result<QueryReply, ReadError> {
    let found = view.tables.decision_requirements.get(&key)?;
    let graph = found.ok_or_else(|| not_found("Decision requirements", key))?;
    Ok(QueryReply::DecisionRequirements(graph_view(key, &graph)))
}

fn graph_view(key: Key, graph: &DecisionRequirements) -> DecisionRequirementsView {
    DecisionRequirementsView {
        key,
        id: graph.id.clone(),
        name: graph.name.clone(),
        version: graph.version,
        resource_name: graph.resource_name.clone(),
        tenant_id: graph.tenant_id.clone(),
    }
}

pub(super) fn source(view: &View<'_>, of: SourceOf, key: Key) -> Result<QueryReply, ReadError> {
    let tables = view.tables;
    let graph = |key| -> Result<Option<Vec<u8>>, ReadError> {
        Ok(tables.decision_requirements.get(&key)?.map(|graph| graph.resource.clone()))
    };
    let (source, what) = match of {
        SourceOf::Process => {
            (tables.definitions.get(&key)?.map(|found| found.resource.clone()), "Process definition")
        }
        SourceOf::Decision => {
            let source = match tables.decisions.get(&key)? {
                Some(decision) => graph(decision.requirements_key)?,
                None => None,
            };
            (source, "Decision definition")
        }
        SourceOf::DecisionRequirements => (graph(key)?, "Decision requirements"),
    };
    source.map(QueryReply::Source).ok_or_else(|| not_found(what, key))
}

pub(super) fn form(view: &View<'_>, key: Key) -> Result<QueryReply, ReadError> {
    let form = view.tables.forms.get(&key)?.ok_or_else(|| not_found("Form", key))?;
    Ok(QueryReply::Form(file_view(key, &form, true)))
}

pub(super) fn start_form(view: &mut View<'_>, key: Key) -> Result<QueryReply, ReadError> {
    let found = view.tables.definitions.get(&key)?;
    let definition = found.ok_or_else(|| not_found("Process definition", key))?;
    let process = view.process(key)?;
    let Some(form) = start_form_of(&process) else { return Ok(QueryReply::StartForm(None)) };
    let id = match &form.id {
        Text::Static(id) => Some(Name::from(id)),
        // There is no instance yet, so there are no variables.
        Text::Expression(expression) => expression
            .evaluate(&(), &feel::Environment::default())
            .ok()
            .and_then(|evaluation| evaluation.value.as_str().map(Name::from)),
    };
    let missing = || not_found("Start form of process definition", key);
    let id = id.ok_or_else(missing)?;
    let tenant = &definition.tenant_id;
    let form_key = bound(view.tables, DefinitionKind::Form, tenant, &id, &form.binding, key)?;
    let form_key = form_key.ok_or_else(missing)?;
    let file = view.tables.forms.get(&form_key)?.ok_or_else(missing)?;
    Ok(QueryReply::StartForm(Some(file_view(form_key, &file, true))))
}

fn start_form_of(process: &bpmn::Process) -> Option<&FormReference> {
    match &process.element(process.none_start(PROCESS)?).kind {
        ElementKind::StartEvent(start) => start.form.as_ref(),
        _ => None,
    }
}

pub(super) fn resource(view: &View<'_>, key: Key, with_content: bool) -> Result<QueryReply, ReadError> {
    let file = view.tables.resources.get(&key)?.ok_or_else(|| not_found("Resource", key))?;
    Ok(QueryReply::Resource(file_view(key, &file, with_content)))
}

/// All resources in slices, in the order of their keys, up to a limit.
pub(super) fn resources(limit: usize) -> Read {
    Read::More(Box::new(Resources { after: None, limit, found: Vec::new() }))
}

struct Resources {
    after: Option<Key>,
    limit: usize,
    found: Vec<FileView>,
}

impl Scan for Resources {
    fn slice(mut self: Box<Self>, view: &mut View<'_>) -> Result<Read, ReadError> {
        // One more tells that there are more.
        let room = (self.limit + 1 - self.found.len()).min(ROWS_PER_SLICE);
        let from = self.after.map_or(Bound::Unbounded, Bound::Excluded);
        let rows = view.tables.resources.scan((from, Bound::Unbounded), room)?;
        let is_last = rows.len() < room;
        for (key, file) in rows {
            self.after = Some(key);
            self.found.push(file_view(key, &file, false));
        }
        if !is_last && self.found.len() <= self.limit {
            return Ok(Read::More(self));
        }
        let has_more = self.found.len() > self.limit;
        self.found.truncate(self.limit);
        Ok(Read::Done(QueryReply::Resources { resources: self.found, has_more }))
    }
}

fn file_view(key: Key, file: &StoredFile, with_content: bool) -> FileView {
    FileView {
        key,
        id: file.id.clone(),
        version: file.version,
        version_tag: file.version_tag.clone(),
        resource_name: file.resource_name.clone(),
        tenant_id: file.tenant_id.clone(),
        deployment_key: file.deployment_key,
        content: if with_content { file.content.clone() } else { Vec::new() },
    }
}
