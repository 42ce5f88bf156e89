//! Incidents: raised where an element cannot go on, resolved by people.

use protocol::{Intent, Key};
use state::{StateError, Table};

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::entity::{ErrorType, Incident, Job};

impl CommandContext<'_> {
    /// Raises an incident at an element instance.
    pub fn raise(
        &mut self,
        at: &ActiveElement,
        error_type: ErrorType,
        message: &str,
        job_key: Option<Key>,
        resume: Option<Step>,
    ) -> Result<(), StateError> {
        self.create_incident(Incident {
            error_type,
            error_message: self.options.cut_message(message),
            element_instance_key: at.key,
            process_instance_key: at.process_instance_key,
            job_key,
            resume,
            created_ms: self.now_ms(),
        })
    }

    /// Raises an incident at the element instance of a job.
    pub fn raise_for_job(
        &mut self,
        key: Key,
        job: &Job,
        error_type: ErrorType,
        message: &str,
    ) -> Result<(), StateError> {
        self.create_incident(Incident {
            error_type,
            error_message: self.options.cut_message(message),
            element_instance_key: job.element_instance_key,
            process_instance_key: job.process_instance_key,
            job_key: Some(key),
            resume: None,
            created_ms: self.now_ms(),
        })
    }

    fn create_incident(&mut self, incident: Incident) -> Result<(), StateError> {
        let key = self.next_key();
        self.counters.incidents_created += 1;
        self.record_incident(key, Intent::Created, &incident)?;
        debug_assert!(
            !self.tables.incident_by_owner.contains(&incident.element_instance_key)?,
            "element instance {} has one incident at most",
            incident.element_instance_key
        );
        self.tables.incident_by_owner.put(incident.element_instance_key, key);
        let element_instance_key = incident.element_instance_key;
        self.tables.incidents.insert(key, incident);
        self.count_incident(element_instance_key, true)
    }

    /// Keeps the counts of an element instance, of the scopes around it, and of the instances that called.
    fn count_incident(&mut self, element_instance_key: Key, is_new: bool) -> Result<(), StateError> {
        let mut key = element_instance_key;
        while let Some(row) = self.tables.element_instances.get(&key)? {
            let before = self.tables.incident_counts.get(&key)?.map_or(0, |count| *count);
            debug_assert!(is_new || before > 0, "an incident below {key} was not counted");
            let after = if is_new { before + 1 } else { before.saturating_sub(1) };
            set_count(&mut self.tables.incident_counts, key, after);
            if row.scope_key != 0 {
                key = row.scope_key;
                continue;
            }
            let Some(instance) = self.tables.instances.get(&key)? else { return Ok(()) };
            if (before == 0) != (after == 0) {
                self.count_instance_with_incidents(instance.definition_key, is_new)?;
            }
            let Some(parent) = instance.parent else { return Ok(()) };
            key = parent.element_instance_key;
        }
        Ok(())
    }

    fn count_instance_with_incidents(&mut self, definition_key: Key, is_new: bool) -> Result<(), StateError> {
        let table = &mut self.tables.instances_with_incidents;
        let count = table.get(&definition_key)?.map_or(0, |count| *count);
        debug_assert!(is_new || count > 0, "no instance with incidents of {definition_key} was counted");
        set_count(table, definition_key, if is_new { count + 1 } else { count.saturating_sub(1) });
        Ok(())
    }

    /// Keeps the count of instances with incidents when one goes to another definition.
    pub(super) fn move_incident_counts(
        &mut self,
        instance_key: Key,
        from: Key,
        to: Key,
    ) -> Result<(), StateError> {
        if self.tables.incident_counts.contains(&instance_key)? {
            self.count_instance_with_incidents(from, false)?;
            self.count_instance_with_incidents(to, true)?;
        }
        Ok(())
    }

    /// Removes the incident of an element instance that is terminated.
    pub(super) fn clear_incident(&mut self, element_instance_key: Key) -> Result<(), Failure> {
        if let Some(key) = self.tables.incident_by_owner.get(&element_instance_key)? {
            self.remove_incident(*key)?;
        }
        Ok(())
    }

    /// Removes an incident and tells what it was.
    pub(super) fn remove_incident(&mut self, key: Key) -> Result<Option<Incident>, StateError> {
        let Some(incident) = self.tables.incidents.get(&key)? else { return Ok(None) };
        self.counters.incidents_resolved += 1;
        self.record_incident(key, Intent::Resolved, &incident)?;
        self.tables.incident_by_owner.delete(&incident.element_instance_key);
        self.tables.incidents.delete(&key);
        self.count_incident(incident.element_instance_key, false)?;
        Ok(Some((*incident).clone()))
    }
}

/// A count that is no row when it is zero.
fn set_count(table: &mut Table<Key, u64>, key: Key, count: u64) {
    if count == 0 {
        table.delete(&key);
    } else {
        table.put(key, count);
    }
}
