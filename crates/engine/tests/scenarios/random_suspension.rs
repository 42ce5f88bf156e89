//! Suspensions, resumptions and changes of jobs at any moment.

use protocol::{Command, UpdateJob};

use crate::random_process::Run;

impl Run {
    /// Suspends an instance, whether it has been called or not.
    pub fn suspend(&mut self) {
        let keys = self.harness.engine().tables().instances.keys(.., 20).unwrap();
        if keys.is_empty() {
            return;
        }
        let process_instance_key = keys[self.random.below(keys.len() as u64) as usize];
        self.run(Command::SuspendInstance { process_instance_key, operation_reference: None });
    }

    pub fn resume_all(&mut self) {
        for process_instance_key in self.harness.engine().tables().suspended.keys(.., usize::MAX).unwrap() {
            self.run(Command::ResumeInstance { process_instance_key, operation_reference: None });
        }
    }

    pub fn update_a_job(&mut self) {
        let keys = self.harness.engine().tables().jobs.keys(.., 20).unwrap();
        if keys.is_empty() {
            return;
        }
        let job_key = keys[self.random.below(keys.len() as u64) as usize];
        let priority = Some(self.random.below(5) as i32 - 2);
        let (retries, timeout_ms, operation_reference, lease) = (None, None, None, None);
        self.run(Command::UpdateJob(UpdateJob {
            job_key,
            retries,
            timeout_ms,
            operation_reference,
            priority,
            lease,
        }));
    }
}
