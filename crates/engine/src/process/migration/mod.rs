//! Migration: a process instance goes on as an instance of another definition, in whole or not at all.
//!
//! A command enters at [`CommandContext::migrate_instance`]. First everything is checked and nothing is written:
//! the mapping against the two models (`mapping.rs`), then what is active against the mapping (`check.rs`). Then
//! each element instance moves with what belongs to it: jobs, variables, incidents, timers, subscriptions, tokens
//! (`apply.rs`, `events.rs`).
//!
//! It happens in one transaction, so its size is limited: an instance with more rows than
//! [`crate::Options::max_rows_per_migration`] is refused. Instances that it called are migrated by commands of
//! their own.

mod agents;
mod apply;
mod check;
mod compensations;
mod events;
mod mapping;

use std::collections::BTreeSet;
use std::sync::Arc;

use bpmn::graph::ElementKind;
use protocol::{Intent, Key, MigrateInstance, ProcessInstanceMigrationRecord, Rejection, Response};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::entity::{DefinitionState, ElementInstance, Instance};
use mapping::Mapping;

/// Element instances whose migration is as much work as one step.
const PARTS_PER_STEP: usize = 16;

/// An element instance that is to move.
struct Part {
    key: Key,
    row: Arc<ElementInstance>,
}

/// A migration that is under way.
struct Migration {
    process_instance_key: Key,
    mapping: Mapping,
    /// Outer ones before inner ones.
    parts: Vec<Part>,
    /// Keys of scopes in which an interrupting event sub-process runs.
    interrupted: BTreeSet<Key>,
    /// Process instances below it, called by it or by one of these.
    called: Vec<Key>,
}

/// Counts the rows that a migration touches.
struct Budget {
    process_instance_key: Key,
    limit: usize,
    left: usize,
}

impl Budget {
    fn take(&mut self, rows: usize) -> Result<(), Failure> {
        match self.left.checked_sub(rows) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(refused(
                self.process_instance_key,
                format_args!(
                    "it has more than {} element instances, variables, timers, subscriptions and tokens, which is the \
                     limit of one migration",
                    self.limit
                ),
            )),
        }
    }
}

/// A refusal because of what the instance is or does.
fn refused(process_instance_key: Key, reason: impl std::fmt::Display) -> Failure {
    Rejection::invalid_state(format!(
        "Expected to migrate process instance '{process_instance_key}', but {reason}."
    ))
    .into()
}

impl CommandContext<'_> {
    /// Migrates a process instance.
    pub(super) fn migrate_instance(&mut self, migrate: &MigrateInstance) -> Result<Response, Failure> {
        let key = migrate.process_instance_key;
        let Some((instance, source)) = self.instance(key)? else {
            return Err(Rejection::not_found(format!(
                "Expected to migrate process instance but no process instance found with key '{key}'"
            ))
            .into());
        };
        self.blame(key);
        let target_key = migrate.plan.target_definition_key;
        let definition = self.tables.definitions.get(&target_key)?.filter(|definition| {
            definition.state == DefinitionState::Active && definition.tenant_id == instance.tenant_id
        });
        let Some(definition) = definition else {
            return Err(Rejection::not_found(format!(
                "Expected to migrate process instance to process definition but no process definition found with key \
                 '{target_key}'"
            ))
            .into());
        };
        let target = self.definitions.process(self.tables, target_key)?;
        let mapping = Mapping::new(key, source, target, &migrate.plan.mappings)?;
        let migration = self.survey(key, mapping)?;
        self.check_migration(&migration)?;
        self.check_agents(&migration)?;
        self.extra_steps += migration.parts.len() / PARTS_PER_STEP;
        let migrated = Instance {
            definition_key: target_key,
            process_id: definition.process_id.clone(),
            version: definition.version,
            ..(*instance).clone()
        };
        let migrated = self.move_instance(&migration, &instance, migrated)?;
        self.move_agents(&migration, &migrated)?;
        self.emit(key, Intent::Migrated, |_| ProcessInstanceMigrationRecord {
            process_instance_key: key,
            target_process_definition_key: target_key,
            mapping_instructions: migrate.plan.mappings.clone(),
            tenant_id: migrated.tenant_id.clone(),
            root_process_instance_key: migrated.root_key,
            bpmn_process_id: migrated.process_id.clone(),
        });
        Ok(Response::Done)
    }

    /// Finds everything that would move, within limits.
    fn survey(&mut self, key: Key, mapping: Mapping) -> Result<Migration, Failure> {
        if let Some(halt) = self.tables.halt_of(key)? {
            return Err(refused(key, format!("it is {halt}")));
        }
        self.check_pending_steps(key)?;
        let limit = self.options.max_rows_per_migration;
        let mut budget = Budget { process_instance_key: key, limit, left: limit };
        let parts = self.element_instances_below(key, &mut budget)?;
        for part in &parts {
            self.count_rows(part, &mut budget)?;
        }
        let interrupted = parts
            .iter()
            .filter(|part| match mapping.source_element(part.row.element).kind {
                ElementKind::EventSubProcess { start } => mapping.source.interrupts(start),
                _ => false,
            })
            .map(|part| part.row.scope_key)
            .collect();
        let mut called: Vec<Key> = parts.iter().filter_map(|part| part.row.called_instance_key).collect();
        let mut at = 0;
        while at < called.len() {
            for part in self.element_instances_below(called[at], &mut budget)? {
                called.extend(part.row.called_instance_key);
            }
            at += 1;
        }
        Ok(Migration { process_instance_key: key, mapping, parts, interrupted, called })
    }

    /// Steps that wait speak of the model as it is: they must have run before.
    fn check_pending_steps(&self, key: Key) -> Result<(), Failure> {
        if self.has_pending_steps(key)? {
            return Err(refused(
                key,
                "it is about to take a sequence flow or to handle an event; try again in a moment",
            ));
        }
        Ok(())
    }

    /// An element instance and everything inside it, outer ones first.
    fn element_instances_below(&self, key: Key, budget: &mut Budget) -> Result<Vec<Part>, Failure> {
        let Some(row) = self.tables.element_instances.get(&key)? else { return Ok(Vec::new()) };
        budget.take(1)?;
        let mut parts = vec![Part { key, row }];
        let mut at = 0;
        while at < parts.len() {
            let scope_key = parts[at].key;
            let children = self.tables.children.keys((scope_key, 0)..(scope_key + 1, 0), budget.left + 1)?;
            budget.take(children.len())?;
            for (_, key) in children {
                if let Some(row) = self.tables.element_instances.get(&key)? {
                    parts.push(Part { key, row });
                }
            }
            at += 1;
        }
        Ok(parts)
    }

    fn count_rows(&self, part: &Part, budget: &mut Budget) -> Result<(), Failure> {
        let (key, row) = (part.key, &part.row);
        if row.has_variables {
            let from = (key, Arc::from(""))..(key + 1, Arc::from(""));
            budget.take(self.tables.variables.keys(from, budget.left + 1)?.len())?;
        }
        if row.subscribed {
            let owned = (key, 0)..(key + 1, 0);
            budget.take(self.tables.timer_by_owner.keys(owned.clone(), budget.left + 1)?.len())?;
            budget.take(self.tables.subscription_by_owner.keys(owned, budget.left + 1)?.len())?;
        }
        if row.waiting_tokens > 0 {
            budget.take(row.waiting_tokens as usize)?;
        }
        budget.take(self.count_compensations(part)?)?;
        Ok(())
    }
}
