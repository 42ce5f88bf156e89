//! Incidents: raised where an element cannot go on, resolved by people.

use protocol::{Intent, Key};
use state::StateError;

use crate::entity::{ErrorType, Incident, Job};
use crate::failure::Failure;
use crate::step::Step;
use crate::work::{At, Work};

impl Work<'_> {
    /// Raises an incident at an element instance.
    pub fn raise(
        &mut self,
        at: &At,
        error_type: ErrorType,
        message: &str,
        job_key: Option<Key>,
        resume: Option<Step>,
    ) {
        self.create_incident(Incident {
            error_type,
            error_message: self.cut_message(message),
            element_instance_key: at.key,
            process_instance_key: at.process_instance_key,
            job_key,
            resume,
        });
    }

    /// Raises an incident at the element instance of a job.
    pub fn raise_for_job(&mut self, key: Key, job: &Job, error_type: ErrorType, message: &str) {
        self.create_incident(Incident {
            error_type,
            error_message: self.cut_message(message),
            element_instance_key: job.element_instance_key,
            process_instance_key: job.process_instance_key,
            job_key: Some(key),
            resume: None,
        });
    }

    fn create_incident(&mut self, incident: Incident) {
        let key = self.next_key();
        self.counters.incidents_created += 1;
        self.record_incident(key, Intent::Created, &incident);
        self.tables.incident_by_owner.put(incident.element_instance_key, key);
        self.tables.incidents.insert(key, incident);
    }

    /// Removes the incident of an element instance that is terminated.
    pub fn clear_incident(&mut self, element_instance_key: Key) -> Result<(), Failure> {
        if let Some(key) = self.tables.incident_by_owner.get(&element_instance_key)? {
            self.remove_incident(*key)?;
        }
        Ok(())
    }

    /// Removes an incident and tells what it was.
    pub fn remove_incident(&mut self, key: Key) -> Result<Option<Incident>, StateError> {
        let Some(incident) = self.tables.incidents.get(&key)? else { return Ok(None) };
        self.counters.incidents_resolved += 1;
        self.record_incident(key, Intent::Resolved, &incident);
        self.tables.incident_by_owner.delete(&incident.element_instance_key);
        self.tables.incidents.delete(&key);
        Ok(Some((*incident).clone()))
    }
}
