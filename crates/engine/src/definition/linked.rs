//! Resources that an element links to: found when its job is created, told to the worker in a header.

use bpmn::graph::LinkedResource;
use json::write_string;
use protocol::Name;

use super::describe;
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::definition::expression::Scope;
use crate::entity::{DefinitionKind, ErrorType};

impl CommandContext<'_> {
    /// The header `linkedResources` as a member of a JSON object: a string that holds a JSON list. `None` without
    /// links.
    pub fn linked_resources(
        &self,
        at: &ActiveElement,
        links: &[LinkedResource],
    ) -> Result<Option<Name>, Failure> {
        if links.is_empty() {
            return Ok(None);
        }
        let mut list = Vec::from(*b"[");
        for link in links {
            let id = self.evaluate_text(&link.id, &Scope::of(at.key))?;
            let (tenant, process) = (&at.instance.tenant_id, at.instance.definition_key);
            let key = self.bound(DefinitionKind::Resource, tenant, &id, &link.binding, process)?;
            let Some(key) = key else {
                let message = format!(
                    "Expected to link resource '{id}', but no resource found for id '{id}'{}.",
                    describe(&link.binding)
                );
                return Err(Failure::incident(ErrorType::ResourceNotFound, message));
            };
            if list.len() > 1 {
                list.push(b',');
            }
            list.extend_from_slice(format!(r#"{{"resourceKey":"{key}","resourceType":"#).as_bytes());
            write_string(&link.resource_type, &mut list);
            list.extend_from_slice(br#","linkName":"#);
            write_string(&link.link_name, &mut list);
            list.push(b'}');
        }
        list.push(b']');
        let mut member = Vec::from(*br#""linkedResources":"#);
        write_string(&String::from_utf8_lossy(&list), &mut member);
        Ok(Some(Name::from(&*String::from_utf8_lossy(&member))))
    }
}
