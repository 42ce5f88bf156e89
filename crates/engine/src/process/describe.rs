//! Records of the process instances that run, as if they had come to where they are now.

use protocol::{Document, Intent, Key, Name};
use state::StateError;

use crate::core::context::CommandContext;
use crate::core::slices::Slices;
use crate::entity::scope::scope_range;

impl CommandContext<'_> {
    /// Records instances with their elements, variables, incidents, jobs and user tasks.
    pub fn describe_instances(&mut self) -> Result<(), StateError> {
        // Scopes have lower keys than what is in them.
        let mut slices = Slices::of(..);
        while let Some(keys) = slices.keys(&self.tables.element_instances)? {
            for key in keys {
                self.describe_element(key)?;
            }
        }
        let mut slices = Slices::of(..);
        while let Some(incidents) = slices.rows(&self.tables.incidents)? {
            for (key, incident) in incidents {
                self.record_incident(key, Intent::Created, &incident)?;
            }
        }
        let mut slices = Slices::of(..);
        while let Some(jobs) = slices.rows(&self.tables.jobs)? {
            for (key, job) in jobs {
                self.record_job(key, Intent::Created, &job, &Document::empty(), "", -1)?;
            }
        }
        let mut slices = Slices::of(..);
        while let Some(tasks) = slices.rows(&self.tables.user_tasks)? {
            for (key, task) in tasks {
                let Some((at, _)) = self.at(task.element_instance_key)? else { continue };
                for intent in [Intent::Creating, Intent::Created] {
                    self.record_user_task(&at, key, intent, &task, "");
                }
            }
        }
        Ok(())
    }

    fn describe_element(&mut self, key: Key) -> Result<(), StateError> {
        let Some((at, _)) = self.at(key)? else { return Ok(()) };
        self.record_element(&at, Intent::ElementActivating);
        if self.tables.suspended.contains(&key)? {
            self.record_element(&at, Intent::Suspended);
        }
        self.describe_variables(key, at.process_instance_key)
    }

    fn describe_variables(&mut self, scope_key: Key, process_instance_key: Key) -> Result<(), StateError> {
        let mut slices = Slices::of(scope_range(scope_key));
        while let Some(rows) = slices.rows(&self.tables.variables)? {
            for ((_, name), variable) in rows {
                let value = self.tables.variable_value(scope_key, &variable)?;
                let (key, name) = (variable.key, Name::from(&*name));
                self.record_variable(key, Intent::Created, scope_key, process_instance_key, &name, &value)?;
            }
        }
        Ok(())
    }
}
