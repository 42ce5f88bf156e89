//! The comparison of settings with those of the other brokers, each time one has told its status.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::agreement::{AgreementStatus, SettingDifference};
use crate::links::Links;
use crate::peer_request::RequestKind;
use crate::peers::ask;

/// Time-out of another broker's settings.
const ASK_TIMEOUT: Duration = Duration::from_secs(2);

impl Links {
    /// Settings of other brokers that differ from those of this one, by the numbers of brokers.
    pub fn setting_differences(&self) -> BTreeMap<u32, Vec<SettingDifference>> {
        self.agreement.differences()
    }

    /// Compares this broker's settings with those of another that has just told its status.
    pub async fn compare_settings(&self, number: u32, status: &AgreementStatus, own: u32) {
        let reason = status.unreached.get(&own);
        if self.agreement.counts_unreached(number, reason.is_some()) {
            tracing::warn!(
                broker = number,
                address = self.brokers().get(&own),
                reason,
                "a broker that this one reaches does not reach this one: look at the address of this broker in cluster.brokers"
            );
        }
        let Some(digest) = status.digest.filter(|digest| self.agreement.is_news(number, *digest)) else {
            return;
        };
        let own_digest = self.agreement.digest;
        let theirs = if digest == own_digest {
            self.agreement.own.clone()
        } else {
            let Some(peer) = self.peers.peer(u64::from(number)) else { return };
            let answer = ask(peer, RequestKind::Settings.alone(), ASK_TIMEOUT).await;
            let theirs = answer.and_then(|answer| {
                serde_json::from_slice(&answer).map_err(|error: serde_json::Error| error.to_string())
            });
            match theirs {
                Ok(theirs) => theirs,
                // It is asked again with its next status.
                Err(reason) => {
                    return tracing::debug!(broker = number, reason, "a broker does not tell its settings");
                }
            }
        };
        let differences = self.agreement.note(number, &theirs);
        if differences.is_empty() {
            return tracing::debug!(broker = number, "a broker has the same settings");
        }
        let differences: Vec<_> = differences.iter().map(ToString::to_string).collect();
        tracing::warn!(
            broker = number,
            ?differences,
            "a broker has other settings than this one; give all brokers of the cluster the same"
        );
    }
}
