//! Keys of how the data are spread over brokers.

use super::schema::{KeyInfo, read, within};
use super::source::{Entry, Problem};
use super::value::Setting;

/// Most partitions of one cluster: each has some threads on each broker with a replica.
const PARTITIONS_MAX: u16 = 64;
/// Least and most messages that may wait for a partition.
const OUTBOX_MESSAGES: (u64, u64) = (1_000, 10_000_000);

/// How many partitions and replicas there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpreadKeys {
    /// Number of partitions.
    pub partitions: u16,
    /// Replicas of each partition; `None`: one on each broker.
    pub replication_factor: Option<u32>,
    /// Whether partitions go back to the brokers that are to lead them.
    pub balance_leaders: bool,
    /// Messages of a partition to another one beyond which new work is refused.
    pub max_outbox_messages: u64,
}

impl Default for SpreadKeys {
    fn default() -> Self {
        Self { partitions: 1, replication_factor: None, balance_leaders: true, max_outbox_messages: 100_000 }
    }
}

impl SpreadKeys {
    /// Sets the key of a name; `key` is its whole path. `None` when there is no such key.
    pub(crate) fn set(&mut self, name: &str, key: &str, entry: &Entry) -> Option<Result<(), Problem>> {
        Some(match name {
            "partitions" => read(entry, key)
                .and_then(|value| within(value, (1, PARTITIONS_MAX), entry, key))
                .map(|value| self.partitions = value),
            "replication_factor" => read(entry, key).map(|value| self.replication_factor = value),
            "balance_leaders" => read(entry, key).map(|value| self.balance_leaders = value),
            "max_outbox_messages" => read(entry, key)
                .and_then(|value| within(value, OUTBOX_MESSAGES, entry, key))
                .map(|value| self.max_outbox_messages = value),
            _ => return None,
        })
    }

    /// The keys, in the order of the file.
    pub(crate) fn describe(section: &str) -> Vec<KeyInfo> {
        let defaults = Self::default();
        let info = |name, docs, default| KeyInfo { path: format!("{section}.{name}"), docs, default };
        vec![
            info(
                "partitions",
                &["Number of partitions, the same on each broker. It cannot be changed once there are data."],
                defaults.partitions.show(),
            ),
            info(
                "replication_factor",
                &["Replicas of each partition. For now, all brokers have one, which is the default."],
                defaults.replication_factor.show(),
            ),
            info(
                "balance_leaders",
                &[
                    "Whether partitions go back to the brokers that are to lead them by their places, once these have been well",
                    "for ten seconds. With one partition, its leader stays.",
                ],
                defaults.balance_leaders.show(),
            ),
            info(
                "max_outbox_messages",
                &[
                    "Messages of a partition to another one that has not received them. With more, new work is refused.",
                ],
                defaults.max_outbox_messages.show(),
            ),
        ]
    }

    /// The mistake in the number of replicas, of a cluster of so many brokers.
    pub(crate) fn contradiction(&self, brokers: usize) -> Option<String> {
        let wanted = self.replication_factor.filter(|wanted| *wanted as usize != brokers)?;
        Some(if wanted as usize > brokers {
            format!(
                "'cluster.replication_factor' is {wanted}, but the number of brokers is {brokers}: each replica needs one of \
                 its own"
            )
        } else {
            format!(
                "'cluster.replication_factor' is {wanted}, but each of the {brokers} brokers has a replica of each partition \
                 for now: leave it out, or set it to {brokers}"
            )
        })
    }
}
