//! Partitions that wait for what partition 1 gives to all: who has deployed, or granted, finds it everywhere.

use std::time::Duration;

use broker_api::SubmitError;
use futures::future::BoxFuture;
use partition::Partition;
use planted::Bug;
use protocol::{Command, CommandClass, FIRST_PARTITION, RejectionType};
use tokio::time::timeout;

use crate::node::Node;

/// Time-out of a request that waits until its partition knows what partition 1 knows.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether a command needs to find what was deployed before. Work in progress does not wait.
pub(crate) fn concerns_definitions(command: &Command) -> bool {
    command.facts().class == CommandClass::New || matches!(command.asked(), Command::MigrateInstance(_))
}

/// Whether a refusal may be one of a partition that does not know yet what was deployed or granted.
fn may_lack_rows(error: &SubmitError) -> bool {
    match error {
        SubmitError::Rejected(rejection) => {
            matches!(rejection.kind, RejectionType::NotFound | RejectionType::Forbidden)
        }
        SubmitError::ResourceExhausted(_)
        | SubmitError::DiskFull(_)
        | SubmitError::TooLarge(_)
        | SubmitError::Unavailable(_)
        | SubmitError::Timeout(_)
        | SubmitError::Internal(_) => false,
    }
}

impl Node {
    /// Asks a partition for something that needs what was deployed or granted before. A refusal counts when the
    /// partition had all that partition 1 has acknowledged, at whichever broker; else the partition is asked once
    /// more.
    pub(crate) async fn ask_informed<'a, T>(
        &'a self,
        partition: &'a Partition,
        ask: impl Fn() -> BoxFuture<'a, Result<T, SubmitError>>,
    ) -> Result<T, SubmitError> {
        self.inform(partition).await;
        let known = partition.distributed();
        let refused = match ask().await {
            Err(error)
                if may_lack_rows(&error)
                    && partition.number() != FIRST_PARTITION
                    && !planted::has(Bug::UninformedRefusals) =>
            {
                error
            }
            answer => return answer,
        };
        // Another broker may have acknowledged a deployment of which this one has not heard.
        self.first().catch_up().await?;
        if known >= self.first().distributed() {
            return Err(refused);
        }
        self.inform(partition).await;
        ask().await
    }

    /// Waits until a partition has the rows that partition 1 has given to all, as far as this broker knows.
    async fn inform(&self, partition: &Partition) {
        let wanted = self.first().distributed();
        if partition.distributed() >= wanted || self.lagging.is_given_up(partition.number(), wanted) {
            return;
        }
        if timeout(PATIENCE, partition.until_distributed(wanted)).await.is_err() {
            tracing::warn!(
                partition = partition.number(),
                "the partition does not have what was deployed or granted last"
            );
            self.lagging.give_up(partition.number(), wanted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_in_progress_does_not_wait() {
        let complete = protocol::CompleteJob::of(1, protocol::Document::empty());
        assert!(!concerns_definitions(&Command::CompleteJob(complete)));
        let definition = protocol::DefinitionRef::Key(1);
        assert!(concerns_definitions(&Command::CreateInstance(protocol::CreateInstance::of(definition))));
    }
}
