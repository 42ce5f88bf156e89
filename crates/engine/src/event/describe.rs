//! Records of what is waited for, as if the waiting began now.

use protocol::Intent;
use state::StateError;

use crate::core::context::CommandContext;
use crate::core::slices::Slices;

impl CommandContext<'_> {
    /// Records message subscriptions, timers, signal subscriptions and conditions of running instances.
    pub fn describe_awaited(&mut self) -> Result<(), StateError> {
        let mut slices = Slices::of(..);
        while let Some(rows) = slices.rows(&self.tables.subscriptions)? {
            for (key, subscription) in rows {
                self.record_subscription(key, Intent::Created, &subscription, None)?;
            }
        }
        let mut slices = Slices::of(..);
        while let Some(rows) = slices.rows(&self.tables.timers)? {
            for (key, timer) in rows {
                self.record_timer(key, Intent::Created, &timer)?;
            }
        }
        let mut slices = Slices::of(..);
        while let Some(rows) = slices.rows(&self.tables.signal_subscriptions)? {
            for (key, subscription) in rows {
                self.record_signal_subscription(key, Intent::Created, &subscription)?;
            }
        }
        let mut slices = Slices::of(..);
        while let Some(rows) = slices.rows(&self.tables.condition_subscriptions)? {
            for (key, subscription) in rows {
                self.record_condition(key, Intent::Created, &subscription)?;
            }
        }
        Ok(())
    }
}
