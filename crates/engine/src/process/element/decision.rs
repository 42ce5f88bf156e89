//! Business rule task that evaluates a decision.

use bpmn::graph::ElementKind;
use protocol::{Document, Name};

use super::kind::{Behavior, Next};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::definition::describe;
use crate::definition::expression::Scope;
use crate::entity::{DefinitionKind, ErrorType};

pub(super) struct Decision;

impl Behavior for Decision {
    fn activate(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        _trigger: Option<&Document>,
    ) -> Result<Next, Failure> {
        let ElementKind::Decision(called) = &at.element().kind else {
            return Ok(Next::Complete(Document::empty()));
        };
        let id = work.evaluate_text(&called.id, &Scope::of(at.key))?;
        let (tenant, process) = (&at.instance.tenant_id, at.instance.definition_key);
        let decision_key = work.bound(DefinitionKind::Decision, tenant, &id, &called.binding, process)?;
        let Some(decision_key) = decision_key else {
            let message = format!(
                "Expected to evaluate decision '{id}', but no decision found for id '{id}'{}.",
                describe(&called.binding)
            );
            return Err(Failure::incident(ErrorType::CalledDecisionError, message));
        };
        let result = work.evaluate_decision(at, decision_key)?;
        Ok(Next::Complete([(Name::from(&called.result_variable), result)].into_iter().collect()))
    }
}
