//! A client that removes all data of the cluster while the others are at work.

use std::sync::Arc;
use std::time::Duration;

use broker_api::Broker as _;
use protocol::{Command, Key, Query, QueryReply, RejectionType, Response};
use tokio::time::{sleep, timeout};

use super::{Asked, PATIENCE, Scene};

impl Scene {
    /// Purges the cluster so often, now and then.
    pub async fn purger(self: Arc<Self>, purges: u64) {
        for _ in 0..purges {
            sleep(Duration::from_millis(300 + self.below(3_000))).await;
            if self.stops() {
                return;
            }
            let running = self.ledger().open();
            self.ledger().purge_begins();
            if let Err(reason) = self.purge().await {
                return self.ledger().violated(reason);
            }
            self.deploy().await;
            self.ledger().purge_ends();
            for instance in running.into_iter().take(3) {
                self.look_for(instance).await;
            }
        }
    }

    /// Purges once, whatever becomes of requests. Changes of the cluster are numbered.
    async fn purge(&self) -> Result<(), String> {
        let number = self.ledger().purges();
        let mut is_open = false;
        loop {
            match self.ask(Command::Purge { after: None }).await {
                Asked::Answer(Response::ChangeBegun { change_id }) if change_id == number => break,
                Asked::Answer(other) => return Err(format!("purge {number} was answered with {other:?}")),
                // An earlier request has done it.
                Asked::Refused(RejectionType::InvalidState, _) if is_open => break,
                Asked::Refused(kind, reason) => return Err(format!("a purge is refused: {kind:?} {reason}")),
                Asked::Open => is_open = true,
                Asked::Not => {}
            }
            self.pause().await;
        }
        match self.ask_until(Command::EndChange(number)).await {
            Ok(_) => Ok(()),
            Err((kind, reason)) => Err(format!("the end of a purge is refused: {kind:?} {reason}")),
        }
    }

    /// An instance that ran before a purge is not there.
    async fn look_for(&self, key: Key) {
        let life = self.any().await;
        let asked = life.call(move |node| async move { node.read(Query::ProcessInstance { key }).await });
        if let Ok(Some(Ok(QueryReply::ProcessInstance(view)))) = timeout(PATIENCE, asked).await {
            let broker = life.broker;
            self.ledger().violated(format!("broker {broker} shows {view:?}, which was purged"));
        }
    }
}
