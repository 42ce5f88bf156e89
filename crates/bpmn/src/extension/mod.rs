//! The `zeebe:` extension elements: one file per group that several kinds share.

mod agent;
mod binding;
mod headers;
mod job;
mod listener;
mod mapping;
mod publish;
mod user_task;

pub(crate) use agent::agent;
pub(crate) use binding::{binding, form_reference};
pub(crate) use headers::{headers, headers_json, push_json_string};
pub(crate) use job::{job, job_priority, job_without_type};
pub(crate) use listener::execution_listeners;
pub(crate) use mapping::mappings;
pub(crate) use publish::job_or_publish;
pub(crate) use user_task::{list_items, task_details, user_task};

use crate::xml::{Document, NodeId, Space};

/// Unsupported extension elements that would change execution, with the reason of the refusal.
const REFUSED: &[(&str, &str)] =
    &[("conditionalFilter", "belongs in the conditional event definition, not in the event")];

/// Most extension elements of one element. There are some 25 kinds, each of which may occur once.
const MAX_EXTENSIONS: usize = 64;

/// The extension elements of one element. Each may occur once.
#[derive(Debug, Default)]
pub(crate) struct Extensions {
    nodes: Vec<NodeId>,
}

impl Extensions {
    /// All of them, and findings about repeated or refused ones.
    pub(crate) fn read(document: &Document<'_>, node: NodeId) -> (Self, Vec<String>) {
        let mut extensions = Self::default();
        let mut findings = Vec::new();
        for container in document.bpmn_children(node, "extensionElements") {
            for child in document.children(container) {
                let found = document.node(child);
                if found.space != Space::Zeebe {
                    continue;
                }
                if extensions.nodes.len() == MAX_EXTENSIONS {
                    findings.push(format!("must not have more than {MAX_EXTENSIONS} extension elements"));
                    return (extensions, findings);
                }
                if extensions.find(document, found.name).is_some() {
                    findings.push(format!("must have at most one zeebe:{}", found.name));
                    continue;
                }
                extensions.nodes.push(child);
                if let Some((_, reason)) = REFUSED.iter().find(|(name, _)| *name == found.name) {
                    findings.push(format!("zeebe:{}: {reason}", found.name));
                }
            }
        }
        (extensions, findings)
    }

    pub(crate) fn find(&self, document: &Document<'_>, name: &str) -> Option<NodeId> {
        self.nodes.iter().copied().find(|&node| document.node(node).name == name)
    }
}
