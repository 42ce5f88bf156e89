//! Whether a process instance is meant by a filter.

use bpmn::Process;
use protocol::{Condition, InstanceField, InstanceFilter, Key, Name, Operand, Test, error_hash};
use state::StateError;

use crate::core::context::CommandContext;
use crate::entity::{ElementInstance, Instance};

/// Rows that are as much work as one step.
const ROWS_PER_STEP: usize = 32;
/// State of all instances that the engine knows.
const ACTIVE: &str = "ACTIVE";

fn text(value: &str) -> Operand {
    Operand::Text(Name::from(value))
}

fn key(value: Key) -> Operand {
    Operand::Integer(value as i64)
}

fn flag(value: bool) -> Operand {
    Operand::Integer(i64::from(value))
}

/// An instance that is looked at.
struct Subject<'a> {
    key: Key,
    instance: &'a Instance,
    process: &'a Process,
}

impl CommandContext<'_> {
    /// Whether an instance meets a filter.
    pub(super) fn is_match(
        &mut self,
        key: Key,
        instance: &Instance,
        process: &Process,
        filter: &InstanceFilter,
    ) -> Result<bool, StateError> {
        let subject = Subject { key, instance, process };
        if !self.meets_all(&subject, &filter.all)? {
            return Ok(false);
        }
        if filter.any.is_empty() {
            return Ok(true);
        }
        for conditions in &filter.any {
            if self.meets_all(&subject, conditions)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn meets_all(&mut self, subject: &Subject, conditions: &[Condition]) -> Result<bool, StateError> {
        let mut of_element = Vec::new();
        let mut of_variables = Vec::new();
        for condition in conditions {
            match &condition.field {
                field if field.is_of_element() => of_element.push(condition),
                InstanceField::Variable(name) => of_variables.push((name, &condition.test)),
                _ => {
                    if !self.meets(subject, condition)? {
                        return Ok(false);
                    }
                }
            }
        }
        // These may have to look at all element instances.
        for (name, test) in of_variables {
            if !self.has_variable(subject.key, name, test)? {
                return Ok(false);
            }
        }
        Ok(of_element.is_empty() || self.has_element(subject, &of_element)?)
    }

    fn meets(&mut self, subject: &Subject, condition: &Condition) -> Result<bool, StateError> {
        let instance = subject.instance;
        let test = &condition.test;
        let value = match condition.field {
            InstanceField::ProcessInstanceKey => Some(key(subject.key)),
            InstanceField::ParentProcessInstanceKey => {
                instance.parent.map(|parent| key(parent.process_instance_key))
            }
            InstanceField::ParentElementInstanceKey => {
                instance.parent.map(|parent| key(parent.element_instance_key))
            }
            InstanceField::ProcessDefinitionKey => Some(key(instance.definition_key)),
            InstanceField::ProcessDefinitionId => Some(text(&instance.process_id)),
            InstanceField::ProcessDefinitionName => subject.process.name.as_deref().map(text),
            InstanceField::ProcessDefinitionVersion => Some(Operand::Integer(i64::from(instance.version))),
            InstanceField::ProcessDefinitionVersionTag => subject.process.version_tag.as_deref().map(text),
            InstanceField::TenantId => Some(text(&instance.tenant_id)),
            InstanceField::BusinessId => instance.business_id.as_deref().map(text),
            InstanceField::State => Some(text(ACTIVE)),
            InstanceField::StartDate => Some(Operand::Integer(instance.created_ms)),
            InstanceField::HasIncident => Some(flag(self.tables.incident_counts.contains(&subject.key)?)),
            InstanceField::ErrorMessage => return self.has_error(subject, test, text),
            InstanceField::IncidentErrorHash => {
                return self.has_error(subject, test, |message| Operand::Integer(error_hash(message).into()));
            }
            InstanceField::Tag => {
                return Ok(instance.tags.iter().any(|tag| test.is_met_by(Some(&text(tag)))));
            }
            // Nothing here has ended; the others are looked at elsewhere.
            InstanceField::EndDate
            | InstanceField::Variable(_)
            | InstanceField::ElementId
            | InstanceField::ElementInstanceState
            | InstanceField::HasElementInstanceIncident => None,
        };
        Ok(test.is_met_by(value.as_ref()))
    }

    /// Whether something about the message of one of the incidents passes a test.
    fn has_error(
        &mut self,
        subject: &Subject,
        test: &Test,
        about: impl Fn(&str) -> Operand,
    ) -> Result<bool, StateError> {
        let mut is_any = false;
        let found = self.any_incident(subject, |work, incident_key| {
            let Some(incident) = work.tables.incidents.get(&incident_key)? else { return Ok(false) };
            is_any = true;
            Ok(test.is_met_by(Some(&about(&incident.error_message))))
        })?;
        Ok(found || (!is_any && test.is_met_by(None)))
    }

    /// Looks at the incidents of an instance and of those below it until one fits.
    fn any_incident(
        &mut self,
        subject: &Subject,
        mut fits: impl FnMut(&Self, Key) -> Result<bool, StateError>,
    ) -> Result<bool, StateError> {
        let (mut open, mut seen) = (vec![subject.key], 0);
        while let Some(key) = open.pop() {
            seen += 1;
            // The count of a scope is that of everything inside it.
            if !self.tables.incident_counts.contains(&key)? {
                continue;
            }
            if let Some(incident_key) = self.tables.incident_by_owner.get(&key)?
                && fits(self, *incident_key)?
            {
                return Ok(true);
            }
            let Some(row) = self.tables.element_instances.get(&key)? else { continue };
            open.extend(row.called_instance_key);
            let children = self.tables.children.keys((key, 0)..(key + 1, 0), usize::MAX)?;
            open.extend(children.into_iter().map(|(_, child)| child));
        }
        self.extra_steps += seen / ROWS_PER_STEP;
        Ok(false)
    }

    /// Whether the instance has such a variable: in its own scope, or in one inside it.
    fn has_variable(&mut self, instance_key: Key, name: &Name, test: &Test) -> Result<bool, StateError> {
        let mut is_any = false;
        let found = self.any_element_instance(instance_key, |work, key, row| {
            if !row.has_variables {
                return Ok(false);
            }
            let Some(value) = work.tables.local_variable(key, name)? else { return Ok(false) };
            is_any = true;
            Ok(test.is_met_by(Some(&text(value.as_str()))))
        })?;
        Ok(found || (!is_any && test.is_met_by(None)))
    }

    /// Whether one element instance meets all these conditions.
    fn has_element(&mut self, subject: &Subject, conditions: &[&Condition]) -> Result<bool, StateError> {
        self.any_element_instance(subject.key, |work, key, row| {
            for condition in conditions {
                let value = match condition.field {
                    InstanceField::ElementId => Some(text(&subject.process.element(row.element).id)),
                    InstanceField::ElementInstanceState => Some(text(ACTIVE)),
                    _ => Some(flag(work.tables.incident_counts.contains(&key)?)),
                };
                if !condition.test.is_met_by(value.as_ref()) {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    /// Looks at the element instances of an instance, outer ones first, until one fits.
    fn any_element_instance(
        &mut self,
        instance_key: Key,
        mut fits: impl FnMut(&Self, Key, &ElementInstance) -> Result<bool, StateError>,
    ) -> Result<bool, StateError> {
        let mut open = vec![instance_key];
        let (mut seen, mut found) = (0, false);
        while let Some(key) = open.pop() {
            seen += 1;
            let Some(row) = self.tables.element_instances.get(&key)? else { continue };
            found = fits(self, key, &row)?;
            if found {
                break;
            }
            if row.active_children > 0 {
                let children = self.tables.children.keys((key, 0)..(key + 1, 0), usize::MAX)?;
                open.extend(children.into_iter().map(|(_, child)| child));
            }
        }
        self.extra_steps += seen / ROWS_PER_STEP;
        Ok(found)
    }
}
