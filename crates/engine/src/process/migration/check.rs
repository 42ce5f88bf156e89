//! Checks of active elements against the mapping: nothing is written here.

use bpmn::graph::{ElementIndex, ElementKind};

use super::events::attached_events;
use super::{Migration, Part, refused};
use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::slices::keys_of_model;
use crate::entity::{AfterListeners, Cancelling, Leave, Phase};

impl CommandContext<'_> {
    /// Refuses a migration that would break a rule.
    pub(super) fn check_migration(&self, migration: &Migration) -> Result<(), Failure> {
        let mut checked = vec![false; migration.mapping.source.elements.len()];
        let mut added = 0;
        for part in &migration.parts {
            check_phase(migration, part)?;
            if !std::mem::replace(&mut checked[part.row.element as usize], true) {
                check_element(migration, part.row.element)?;
                check_catch_events(migration, part.row.element)?;
            }
            let joins = (part.key, 0)..(part.key + 1, 0);
            if !self.tables.complex_joins.keys(joins, 1)?.is_empty() {
                let id = &migration.mapping.source_element(part.row.element).id;
                let reason =
                    format_args!("a complex gateway in '{id}' waits for tokens, which cannot be migrated");
                return Err(refused(migration.process_instance_key, reason));
            }
            if part.row.waiting_tokens > 0 {
                self.check_tokens(migration, part)?;
            }
            self.check_compensations(migration, part)?;
            added += self.check_collected_list(migration, part)?;
        }
        let key = migration.process_instance_key;
        match self.check_room_for(key, added, "the collected lists under their new names") {
            Err(Failure::Incident { .. }) if added > 0 => {
                let limit = self.options.work.max_instance_variable_bytes;
                let reason = format_args!(
                    "with the collected lists under their new names, its variables would be larger than {limit} bytes \
                     (limits.max_instance_variable_bytes)"
                );
                Err(refused(key, reason))
            }
            Err(Failure::State(error)) => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// The list of an ad-hoc sub-process or a multi-instance body that goes on under another name is closed and becomes
    /// a second variable. Gives the bytes that both add to those of the process instance.
    fn check_collected_list(&self, migration: &Migration, part: &Part) -> Result<u64, Failure> {
        let Some((Some(before), after)) = migration.mapping.collections(part.row.element) else {
            return Ok(0);
        };
        let Some(row) = self.tables.variables.get(&(part.key, before.0.clone()))? else { return Ok(0) };
        let kind = &migration.mapping.source_element(part.row.element).kind;
        if matches!(kind, ElementKind::MultiInstance(_)) && row.entries.is_none() {
            return Ok(0);
        }
        let list = self.tables.variable_value(part.key, &row)?;
        let (bytes, limit) = (list.as_bytes().len(), self.options.work.max_collection_bytes);
        if bytes > limit {
            let reason = format_args!(
                "the collected list '{before}' of '{}' is larger than {limit} bytes (limits.max_collection_bytes)",
                migration.mapping.source_element(part.row.element).id
            );
            return Err(refused(migration.process_instance_key, reason));
        }
        let closed = Self::counted_bytes(&list).saturating_sub(Self::counted_bytes(&row.value));
        let moved = match after {
            Some(name) if !self.tables.variables.contains(&(part.key, name.0.clone()))? => {
                Self::counted_bytes(&list)
            }
            _ => 0,
        };
        Ok(closed + moved)
    }

    /// Tokens at a join move with it, each to a flow of its own.
    fn check_tokens(&self, migration: &Migration, part: &Part) -> Result<(), Failure> {
        let mapping = &migration.mapping;
        let refuse = |reason: String| Err(refused(migration.process_instance_key, reason));
        let tokens = keys_of_model(&self.tables.join_tokens, (part.key, 0, 0)..(part.key + 1, 0, 0))?;
        let mut taken = Vec::with_capacity(tokens.len());
        for (_, gateway, flow) in tokens {
            let from = mapping.source_element(gateway);
            let Some(to) = mapping.element(gateway) else {
                return refuse(format!(
                    "no mapping instruction is defined for the joining gateway '{}', at which tokens wait",
                    from.id
                ));
            };
            check_element(migration, gateway)?;
            let target = mapping.target_element(to);
            if target.incoming.len() < from.incoming.len() {
                return refuse(format!(
                    "the joining gateway '{}' is mapped to '{}', which has fewer incoming sequence flows",
                    from.id, target.id
                ));
            }
            let id = &mapping.source.flow(flow).id;
            match mapping.incoming(flow, to) {
                None => {
                    return refuse(format!(
                        "no mapping instruction is defined for the taken sequence flow '{id}' to one that enters the \
                         gateway '{}'",
                        target.id
                    ));
                }
                Some(flow) if taken.contains(&flow) => {
                    return refuse(format!(
                        "two taken sequence flows, one of them '{id}', are mapped to '{}'",
                        mapping.target.flow(flow).id
                    ));
                }
                Some(flow) => taken.push(flow),
            }
        }
        Ok(())
    }
}

/// An instance that is ending is not migrated.
fn check_phase(migration: &Migration, part: &Part) -> Result<(), Failure> {
    let row = &part.row;
    let has_decided = row.listening.as_ref().is_some_and(|listening| {
        !matches!(listening.then, AfterListeners::Activate(_) | AfterListeners::Leave(Leave::All))
    });
    if row.phase == Phase::Terminating
        || row.interrupted
        || row.pending_event.is_some()
        || has_decided
        || row.cancelling != Cancelling::No
    {
        let id = &migration.mapping.source_element(row.element).id;
        let reason =
            format_args!("its element '{id}' is being ended by an event or a termination; try again later");
        return Err(refused(migration.process_instance_key, reason));
    }
    Ok(())
}

/// An element must be mapped to one of the same kind in the same place.
pub(super) fn check_element(migration: &Migration, source: ElementIndex) -> Result<(), Failure> {
    let mapping = &migration.mapping;
    let refuse = |reason: String| Err(refused(migration.process_instance_key, reason));
    let from = mapping.source_element(source);
    let Some(to) = mapping.element(source) else {
        return refuse(format!(
            "no mapping instruction is defined for the active element '{}'; elements cannot be migrated without a mapping",
            from.id
        ));
    };
    let target = mapping.target_element(to);
    if from.element_type != target.element_type {
        return refuse(format!(
            "the active element '{}' of type '{}' is mapped to '{}' of type '{}'; the type must not change",
            from.id, from.element_type, target.id, target.element_type
        ));
    }
    if from.event_type != target.event_type {
        return refuse(format!(
            "the active element '{}' with event type '{}' is mapped to '{}' with event type '{}'; the event type must \
             not change",
            from.id, from.event_type, target.id, target.event_type
        ));
    }
    // The work of a user task may go from a job worker to people, but not back.
    let is_handed_over =
        matches!((&from.kind, &target.kind), (ElementKind::Job(_), ElementKind::UserTask(_)));
    if !is_handed_over && is_of_worker(&from.kind) != is_of_worker(&target.kind) {
        return refuse(format!(
            "the active element '{}' is mapped to '{}', which is not implemented in the same way (by a job worker or not)",
            from.id, target.id
        ));
    }
    if let (ElementKind::MultiInstance(one), ElementKind::MultiInstance(other)) = (&from.kind, &target.kind)
        && one.is_sequential != other.is_sequential
    {
        return refuse(format!(
            "the active multi-instance element '{}' is mapped to '{}'; parallel instances cannot become sequential ones, \
             nor the other way round",
            from.id, target.id
        ));
    }
    // The scope is active, so it is mapped, or was refused already.
    if let Some(scope) = mapping.element(from.scope)
        && scope != target.scope
    {
        return refuse(format!(
            "the flow scope of the active element '{}' is changed: as '{}' is mapped to '{}', '{}' would \
             have to stand there, but it stands in '{}'",
            from.id,
            mapping.source_element(from.scope).id,
            mapping.target_element(scope).id,
            target.id,
            mapping.target_element(target.scope).id
        ));
    }
    Ok(())
}

/// Whether a job worker does the work of an element, or decides on what runs inside it.
fn is_of_worker(kind: &ElementKind) -> bool {
    match kind {
        ElementKind::Job(_) => true,
        ElementKind::AdHoc(ad_hoc) => ad_hoc.job.is_some(),
        _ => false,
    }
}

/// Subscriptions of an active element stay with it, and none is doubled.
fn check_catch_events(migration: &Migration, source: ElementIndex) -> Result<(), Failure> {
    let mapping = &migration.mapping;
    let refuse = |reason: String| Err(refused(migration.process_instance_key, reason));
    let Some(target) = mapping.element(source) else { return Ok(()) };
    let there = attached_events(&mapping.target, target);
    let mut taken: Vec<ElementIndex> = Vec::new();
    for event in attached_events(&mapping.source, source) {
        let Some(to) = mapping.element(event) else { continue };
        let (from, into) = (mapping.source_element(event), mapping.target_element(to));
        let host = &mapping.source_element(source).id;
        if from.element_type != into.element_type || from.event_type != into.event_type {
            return refuse(format!(
                "the catch event '{}' of the active element '{host}' has type '{}' and event type '{}', and is mapped to \
                 '{}' with type '{}' and event type '{}'; they must not change",
                from.id, from.element_type, from.event_type, into.id, into.element_type, into.event_type
            ));
        }
        if !there.contains(&to) {
            return refuse(format!(
                "the catch event '{}' of the active element '{host}' is mapped to '{}', which is attached to a different \
                 element than '{}'",
                from.id,
                into.id,
                mapping.target_element(target).id
            ));
        }
        if taken.contains(&to) {
            return refuse(format!(
                "two catch events of the active element '{host}' are mapped to '{}'; each may be the target of one",
                into.id
            ));
        }
        taken.push(to);
    }
    Ok(())
}
