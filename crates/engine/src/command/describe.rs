//! The state in records, for a history that has lost what led there.

use protocol::Record;

use crate::Engine;
use crate::core::effects::Effects;
use crate::core::failure::{ApplyError, Failure};

impl Engine {
    /// Writes records of all that exists, as if it had happened now: definitions, running instances with elements,
    /// variables, jobs, user tasks and incidents, and their subscriptions. All have the present position. The state
    /// stays as it is. Takes as long as the state is large.
    pub fn describe(&mut self) -> Result<Vec<Record>, ApplyError> {
        let (mut records, mut effects) = (Vec::new(), Effects::default());
        let (position, wanted, counters) = (self.position(), self.options.records, self.counters.clone());
        self.options.records = true;
        let described = self.attempt(&mut effects, |work| {
            work.describe_definitions()?;
            work.describe_instances()?;
            work.describe_awaited()?;
            records = std::mem::take(&mut work.effects.records);
            // All of it is undone.
            Err::<(), _>(Failure::PutOff)
        });
        (self.options.records, self.counters) = (wanted, counters);
        described?;
        for record in &mut records {
            record.position = position;
        }
        Ok(records)
    }
}
