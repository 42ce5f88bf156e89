//! Operations on a partition as a whole: to pause processing, and to write its state to disk.
//!
//! While processing is paused, the log takes nothing but what the broker needs for itself. Everything else is
//! refused by the proposer, timers are late, workers get no jobs; queries are answered as ever. A start ends the
//! pause of a broker that is alone; for those of a cluster see `cluster_pause`.

use broker_api::SubmitError;

use crate::node::Node;

impl Node {
    /// Stops processing, in a cluster on all brokers that can be reached. Earlier entries of the log are applied when
    /// this returns.
    pub async fn pause_processing(&self) -> Result<(), SubmitError> {
        match &self.cluster {
            Some(cluster) => self.order_pause(cluster, true).await?,
            None => self.all().iter().for_each(|partition| partition.set_paused(true)),
        }
        for partition in self.all() {
            partition.settle().await?;
        }
        Ok(())
    }

    /// Goes on with it, in a cluster on all brokers.
    pub async fn resume_processing(&self) -> Result<(), SubmitError> {
        let Some(cluster) = &self.cluster else {
            self.all().iter().for_each(|partition| partition.set_paused(false));
            return Ok(());
        };
        self.order_pause(cluster, false).await
    }
}
