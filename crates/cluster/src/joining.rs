//! A broker that is given seeds in place of the list of its cluster: it asks them for the list.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use transport::{ANY_BROKER, Network, Peer, Refusal};

use crate::identity::{Identity, IdentityError};
use crate::links::{as_told, transport_options};
use crate::options::Configured;
use crate::peer_request::RequestKind;
use crate::peers::ask;
use data_directory::durable_file;

/// Interval at which seeds are asked, time-out of one, and interval at which the log says that none answers.
const ASK_INTERVAL: Duration = Duration::from_millis(500);
const ASK_TIMEOUT: Duration = Duration::from_secs(2);
const SAY_INTERVAL: Duration = Duration::from_secs(10);

/// The reason why a broker cannot join.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "names say what is held")]
pub enum JoinError {
    #[error("'{path}': {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("the cluster has the brokers {brokers:?}, and {number} (cluster.node_id) is none of them")]
    NotListed { number: u32, brokers: Vec<u32> },
    #[error("'{seed}' does not take this broker: {refusal}; its number is that of cluster.node_id")]
    Refused { seed: String, refusal: Refusal },
    #[error(transparent)]
    Identity(#[from] IdentityError),
}

/// The file that keeps the list, for a start when no seed answers.
fn file(data_dir: &Path) -> PathBuf {
    data_dir.join("brokers.json")
}

/// Asks seeds, `host:port`, for the peer addresses of the brokers of their cluster, until one answers. A name may stand
/// for several addresses. Without an answer, the list of an earlier start counts.
pub async fn find_brokers(
    own: &Configured<'_>,
    seeds: &[String],
    network: Arc<dyn Network>,
) -> Result<BTreeMap<u32, String>, JoinError> {
    let io_error = |source| JoinError::Io { path: own.data_dir.to_owned(), source };
    std::fs::create_dir_all(own.data_dir).map_err(io_error)?;
    let identity = as_told(&Identity::next(own.data_dir, own.cluster_id, own.broker)?);
    let transport = transport_options(network, own.peers);
    let unlisted = Refusal::Unlisted { broker: own.broker };
    let mut said: Option<Instant> = None;
    loop {
        let mut reasons = Vec::new();
        for seed in seeds {
            for address in addresses(seed, transport.certificates.is_some()).await {
                let peer = Peer::new(identity.clone(), ANY_BROKER, address.clone(), transport.clone());
                let answer = ask(&peer, RequestKind::Brokers.alone(), ASK_TIMEOUT).await;
                let told = answer.and_then(|answer| {
                    serde_json::from_slice(&answer).map_err(|error: serde_json::Error| error.to_string())
                });
                match told {
                    Ok(brokers) => return listed(own, brokers),
                    Err(reason) if reason.contains(&unlisted.to_string()) => {
                        return Err(JoinError::Refused { seed: address, refusal: unlisted });
                    }
                    Err(reason) => reasons.push(format!("{address}: {reason}")),
                }
            }
        }
        if let Some(brokers) = known(own.data_dir)? {
            tracing::info!(
                ?reasons,
                "no seed answers; the brokers of the cluster are those of the last start"
            );
            return Ok(brokers);
        }
        if said.is_none_or(|said| said.elapsed() >= SAY_INTERVAL) {
            said = Some(Instant::now());
            tracing::info!(?reasons, "no seed tells the brokers of the cluster yet");
        }
        sleep(ASK_INTERVAL).await;
    }
}

/// The addresses of a seed. A certificate is one of the name, so that stays with TLS.
async fn addresses(seed: &str, has_tls: bool) -> Vec<String> {
    if has_tls {
        return vec![seed.to_owned()];
    }
    match tokio::net::lookup_host(seed).await {
        Ok(found) => found.map(|address| address.to_string()).collect(),
        // Connecting tells the same reason.
        Err(_) => vec![seed.to_owned()],
    }
}

/// Keeps the list, if this broker is on it.
fn listed(own: &Configured<'_>, brokers: BTreeMap<u32, String>) -> Result<BTreeMap<u32, String>, JoinError> {
    if !brokers.contains_key(&own.broker) {
        let brokers = brokers.into_keys().collect();
        return Err(JoinError::NotListed { number: own.broker, brokers });
    }
    let path = file(own.data_dir);
    let text = serde_json::to_vec(&brokers).expect("numbers and texts are JSON");
    durable_file::write(&path, &text).map_err(|source| JoinError::Io { path, source })?;
    Ok(brokers)
}

fn known(data_dir: &Path) -> Result<Option<BTreeMap<u32, String>>, JoinError> {
    let path = file(data_dir);
    durable_file::read_json(&path).map_err(|source| JoinError::Io { path, source })
}
