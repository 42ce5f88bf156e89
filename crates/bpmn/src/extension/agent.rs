//! `zeebe:agentDefinition`: an element is an agent.

use crate::context::Context;
use crate::graph::{AgentType, ElementType};
use crate::problem::excerpt;

/// The kind of agent that an element is, and whether it could be read. Models that engines before version 5 took may
/// have anything there, which is passed over.
pub(crate) fn agent(cx: &mut Context<'_, '_>, element_type: ElementType) -> (Option<AgentType>, bool) {
    let Some(node) = cx.extension("agentDefinition") else { return (None, true) };
    if !matches!(element_type, ElementType::ServiceTask | ElementType::AdHocSubProcess) {
        return (None, true);
    }
    let given = cx.document.attribute(node, "agentType").map(str::trim).unwrap_or_default();
    let found = match (given, element_type) {
        ("aiAgentSubProcess", ElementType::AdHocSubProcess) => Ok(AgentType::SubProcess),
        ("aiAgentTask", ElementType::ServiceTask) => Ok(AgentType::Task),
        ("external", _) => Ok(AgentType::External),
        (_, ElementType::AdHocSubProcess) => {
            Err("'aiAgentSubProcess' or 'external' of an ad-hoc sub-process")
        }
        _ => Err("'aiAgentTask' or 'external' of a service task"),
    };
    match found {
        Ok(agent) => (Some(agent), true),
        Err(wanted) => {
            let reason = format!(
                "attribute 'agentType' of zeebe:agentDefinition must be {wanted}, but is '{}'",
                excerpt(given)
            );
            cx.problem(reason);
            (None, false)
        }
    }
}
