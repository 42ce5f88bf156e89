//! Moving what has been checked.

use std::sync::Arc;

use bpmn::graph::ElementKind;
use protocol::{Document, Intent, JobKind, Json, Key};

use super::{Migration, Part, refused};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::slices::rows_of_model;
use crate::core::step::Step;
use crate::entity::{Instance, Phase};

impl CommandContext<'_> {
    /// Moves an instance and everything inside it.
    pub(super) fn move_instance(
        &mut self,
        migration: &Migration,
        before: &Instance,
        mut after: Instance,
    ) -> Result<Arc<Instance>, Failure> {
        let key = migration.process_instance_key;
        self.move_start_lock(key, before, &mut after)?;
        for id in &mut after.terminate_after {
            if let Some(target) = migration.mapping.id(id) {
                *id = target;
            }
        }
        self.count_up(after.definition_key)?;
        self.move_business_id(key, before, &after)?;
        self.move_incident_counts(key, before.definition_key, after.definition_key)?;
        let after = Arc::new(after);
        self.tables.instances.put(key, (*after).clone());
        self.forget_cached();
        for part in &migration.parts {
            self.move_part(migration, part, &after)?;
        }
        for part in &migration.parts {
            self.count_living_again(part.key)?;
        }
        // Only now: it may remove the definition that the instance leaves.
        self.count_down(before.definition_key)?;
        for &called in &migration.called {
            if let Some((at, _)) = self.at(called)? {
                self.record_element(&at, Intent::AncestorMigrated);
            }
        }
        self.blame(key);
        Ok(after)
    }

    /// One that a message started keeps others of its process from starting by the same key: of its new process now.
    fn move_start_lock(&mut self, key: Key, before: &Instance, after: &mut Instance) -> Result<(), Failure> {
        let Some(correlation_key) = &before.started_by_key else { return Ok(()) };
        if before.process_id == after.process_id {
            return Ok(());
        }
        self.release_start_lock(before)?;
        let lock = (after.tenant_id.0.clone(), after.process_id.0.clone(), correlation_key.0.clone());
        if self.tables.start_locks.contains(&lock)? {
            after.started_by_key = None;
        } else {
            self.tables.start_locks.put(lock, key);
        }
        Ok(())
    }

    fn move_part(
        &mut self,
        migration: &Migration,
        part: &Part,
        instance: &Arc<Instance>,
    ) -> Result<(), Failure> {
        let mapping = &migration.mapping;
        let key = part.key;
        // Checked before: everything that is active is mapped.
        let Some(element) = mapping.element(part.row.element) else { return Ok(()) };
        let at = ActiveElement {
            key,
            process_instance_key: migration.process_instance_key,
            scope_key: part.row.scope_key,
            index: element,
            instance: Arc::clone(instance),
            process: Arc::clone(&mapping.target),
        };
        // All start listeners that were there are done, and the new model has none.
        let has_listened = part.row.job_key.is_none() && at.element().listeners.start.is_empty();
        self.tables.element_instances.update(&key, |row| {
            row.element = element;
            if has_listened && row.phase == Phase::Activating {
                row.listening = None;
            }
        })?;
        self.child_moved(part.row.scope_key, key, part.row.element, element)?;
        self.record_element(&at, Intent::ElementMigrated);
        if !self.hand_over(migration, part, &at)?
            && let Some(job_key) = part.row.job_key
        {
            self.move_job(migration, job_key)?;
        }
        if let Some(task_key) = part.row.user_task_key
            && let Some(task) = self.tables.user_tasks.get(&task_key)?
        {
            self.record_user_task(&at, task_key, Intent::Migrated, &task, "");
        }
        self.move_incident(migration, key)?;
        if part.row.has_variables {
            for (variable_key, name, value) in self.tables.local_variable_rows(key)? {
                self.record_variable(
                    variable_key,
                    Intent::Migrated,
                    key,
                    at.process_instance_key,
                    &name,
                    &value,
                )?;
            }
        }
        self.move_collected(migration, part, &at)?;
        if part.row.waiting_tokens > 0 {
            self.move_tokens(migration, key)?;
            // Fewer tokens may still arrive at a join in the new model.
            self.scope_moved(key, &part.row)?;
        }
        self.move_compensations(migration, part, instance.definition_key)?;
        self.move_events(migration, part, &at)
    }

    /// A user task that a job worker was to do becomes one for people, as old as the job was.
    fn hand_over(&mut self, migration: &Migration, part: &Part, at: &ActiveElement) -> Result<bool, Failure> {
        let is_for_people = matches!(at.element().kind, ElementKind::UserTask(_));
        let (Some(job_key), true, Phase::Activated) = (part.row.job_key, is_for_people, part.row.phase)
        else {
            return Ok(false);
        };
        let Some(job) = self.tables.jobs.get(&job_key)? else { return Ok(false) };
        if job.kind != JobKind::BpmnElement {
            return Ok(false);
        }
        let attributes = match self.evaluate_task_attributes(at) {
            Err(Failure::Incident { message, .. }) => {
                let reason = format_args!("the user task '{}' cannot be created: {message}", at.element().id);
                return Err(refused(migration.process_instance_key, reason));
            }
            attributes => attributes?.unwrap_or_default(),
        };
        self.clear_incident(part.key)?;
        self.hand_over_job(job_key)?;
        self.tables.element_instances.update(&part.key, |row| row.job_key = None)?;
        self.create_user_task(at, attributes, job.created_ms)?;
        Ok(true)
    }

    /// The collection of an ad-hoc sub-process or a multi-instance body continues under its name in the new model.
    fn move_collected(
        &mut self,
        migration: &Migration,
        part: &Part,
        at: &ActiveElement,
    ) -> Result<(), Failure> {
        let Some((before, after)) = migration.mapping.collections(part.row.element) else { return Ok(()) };
        if matches!(at.element().kind, ElementKind::MultiInstance(_)) {
            return Ok(self.rename_output_list(at, before, after)?);
        }
        let collected = match before {
            Some(name) => self.detach_collection(part.key, at.process_instance_key, &name)?,
            None => None,
        };
        let Some(name) = after else { return Ok(()) };
        if self.tables.variables.contains(&(part.key, name.0.clone()))? {
            return Ok(());
        }
        let list = collected.unwrap_or_else(|| Json::from_valid("[]"));
        Ok(self.set_locals(part.key, at.process_instance_key, &[(name, list)].into_iter().collect())?)
    }

    fn move_job(&mut self, migration: &Migration, key: Key) -> Result<(), Failure> {
        let Some(job) = self.tables.jobs.get(&key)? else { return Ok(()) };
        let Some(element) = migration.mapping.element(job.element) else { return Ok(()) };
        let mut job = (*job).clone();
        job.element = element;
        self.record_job(key, Intent::Migrated, &job, &Document::empty(), "", -1)?;
        self.tables.jobs.put(key, job);
        Ok(())
    }

    fn move_incident(&mut self, migration: &Migration, owner: Key) -> Result<(), Failure> {
        let Some(key) = self.tables.incident_by_owner.get(&owner)?.map(|key| *key) else { return Ok(()) };
        let Some(incident) = self.tables.incidents.get(&key)? else { return Ok(()) };
        debug_assert!(
            !matches!(incident.resume, Some(Step::Activate { .. })),
            "what an incident resumes knows elements of the model by their IDs"
        );
        self.record_incident(key, Intent::Migrated, &incident)?;
        if let Some(Step::BeginAdHocInner { element_id, .. }) = &incident.resume
            && let Some(target) = migration.mapping.id(element_id)
        {
            self.tables.incidents.update(&key, |incident| {
                if let Some(Step::BeginAdHocInner { element_id, .. }) = &mut incident.resume {
                    *element_id = target;
                }
            })?;
        }
        Ok(())
    }

    fn move_tokens(&mut self, migration: &Migration, scope_key: Key) -> Result<(), Failure> {
        let mapping = &migration.mapping;
        let range = (scope_key, 0, 0)..(scope_key + 1, 0, 0);
        let tokens = rows_of_model(&self.tables.join_tokens, range)?;
        for (key, _) in &tokens {
            self.tables.join_tokens.delete(key);
        }
        for ((_, gateway, flow), count) in tokens {
            // Checked before.
            let Some(gateway) = mapping.element(gateway) else { continue };
            let Some(flow) = mapping.incoming(flow, gateway) else { continue };
            self.tables.join_tokens.put((scope_key, gateway, flow), *count);
        }
        Ok(())
    }
}
