//! Completes changes of the cluster that were begun: after a purge, entities and listeners of the configuration are
//! set up again, documents are removed if they shall be, and the history is waited for.
//!
//! The state says whether a change goes on, so that whoever leads completes it, also after a crash.

use std::sync::Arc;
use std::time::Duration;

use broker_api::{Broker, Leadership};
use documents::Stores;
use protocol::{Command, GlobalListener, GlobalListenerCommand};
use tokio_util::sync::CancellationToken;

use super::identity::SetUpTask;
use crate::config::Config;
use crate::failure::Failure;

/// Between two looks at whether there is something to complete.
const LOOK: Duration = Duration::from_millis(50);
/// Pause before it is tried again.
const PAUSE: Duration = Duration::from_secs(1);
/// How long one attempt waits for the history.
const HISTORY_MAX: Duration = Duration::from_secs(30);

/// The parts of a broker that a change is about.
pub(super) struct Changes {
    broker: Arc<dyn Broker>,
    set_up: Arc<SetUpTask>,
    /// Listeners of the configuration.
    listeners: Vec<GlobalListener>,
    /// Secondary storage, where there is any.
    storage: Option<gateway::rest::Storage>,
    /// Documents that a purge removes.
    documents: Option<Stores>,
}

impl Changes {
    pub(super) fn new(
        config: &Config,
        broker: &Arc<dyn Broker>,
        set_up: Arc<SetUpTask>,
        storage: Option<&gateway::rest::Storage>,
        documents: &Stores,
    ) -> Self {
        Self {
            broker: Arc::clone(broker),
            set_up,
            listeners: config.user_tasks.listeners.0.clone(),
            storage: storage.cloned(),
            documents: config.documents.purged.then(|| documents.clone()),
        }
    }

    /// Completes changes until `stop`.
    pub(super) async fn keep(self, stop: CancellationToken) {
        let work = async {
            loop {
                tokio::time::sleep(LOOK).await;
                let change = self.broker.cluster_change();
                let Some(change) = change.filter(|change| change.completed_ms.is_none()) else { continue };
                if self.broker.leadership() == Leadership::Follows {
                    continue;
                }
                match self.complete(change.id).await {
                    Ok(()) => tracing::info!(change = change.id, "the cluster was purged"),
                    Err(failure) => {
                        tracing::warn!(change = change.id, "{}; it is tried again", failure.message());
                        tokio::time::sleep(PAUSE).await;
                    }
                }
            }
        };
        let _: Option<()> = stop.run_until_cancelled(work).await;
    }

    async fn complete(&self, change_id: u64) -> Result<(), Failure> {
        self.set_up.create().await?;
        let configured = GlobalListenerCommand::Configure(self.listeners.clone());
        self.submit(Command::GlobalListener(configured)).await?;
        for store in self.documents.iter().flat_map(Stores::iter) {
            let cleared = store.clear().await;
            cleared.map_err(|error| Failure::new(format!("documents cannot be removed: {error}")))?;
        }
        if let Some(storage) = &self.storage
            && !storage.shows_all(&*self.broker, HISTORY_MAX).await
        {
            return Err(Failure::new("secondary storage has not removed all data yet"));
        }
        self.submit(Command::EndChange(change_id)).await
    }

    async fn submit(&self, command: Command) -> Result<(), Failure> {
        let done = self.broker.submit(command).await;
        done.map(drop).map_err(|error| Failure::new(format!("the change cannot be completed: {error}")))
    }
}
