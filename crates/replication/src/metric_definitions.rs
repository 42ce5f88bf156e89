//! Metrics of consensus and of the log, under the names that dashboards know. Handles are made once, and those of a
//! cluster when they are first needed.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use metrics::{Counter, Histogram, Label, counter, histogram};
use parking_lot::Mutex;

/// The name that dashboards know for the groups of a broker.
const GROUPS: (&str, &str) = ("partitionGroupName", "raft-partition");
/// The one group whose entries the log has.
const PARTITION: (&str, &str) = ("partition", "1");

/// Labels of a group in metrics of consensus.
pub fn group_labels(group: u64) -> Vec<Label> {
    vec![Label::from(&GROUPS), Label::new("partition", group.to_string())]
}

/// Counts bytes by KiB, which dashboards take these metrics for.
struct Kibibytes {
    counter: Counter,
    bytes: AtomicU64,
}

impl Kibibytes {
    fn new(counter: Counter) -> Self {
        Self { counter, bytes: AtomicU64::new(0) }
    }

    fn add(&self, bytes: u64) {
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.counter.increment((before + bytes) / 1024 - before / 1024);
    }
}

/// Metrics of the log on this disk.
pub(crate) struct JournalMetrics {
    append: Histogram,
    flush: Histogram,
    entries: Counter,
    kibibytes: Kibibytes,
}

impl JournalMetrics {
    pub(crate) fn new() -> Self {
        Self {
            append: histogram!("atomix_journal_append_latency_seconds", &[PARTITION]),
            flush: histogram!("atomix_journal_flush_time_seconds", &[PARTITION]),
            entries: counter!("atomix_journal_append_rate_total", &[PARTITION]),
            kibibytes: Kibibytes::new(counter!("atomix_journal_append_data_rate_total", &[PARTITION])),
        }
    }

    /// A write that took so long, `synced` of it for the sync.
    pub(crate) fn written(&self, entries: usize, bytes: usize, took: Duration, synced: Duration) {
        self.append.record(took.saturating_sub(synced));
        self.flush.record(synced);
        self.entries.increment(entries as u64);
        self.kibibytes.add(bytes as u64);
    }
}

/// Kinds of messages that a replica sends to another.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MessageKind {
    Append,
    Vote,
    Install,
}

/// Metrics of what one other replica is sent.
pub(crate) struct FollowerMetrics {
    group: u64,
    node: u64,
    appends: OnceLock<AppendMetrics>,
}

struct AppendMetrics {
    messages: Counter,
    entries: Counter,
    kibibytes: Kibibytes,
    latency: Histogram,
}

impl FollowerMetrics {
    pub(crate) fn new(group: u64, node: u64) -> Self {
        Self { group, node, appends: OnceLock::new() }
    }

    fn labels(&self, key: &'static str) -> Vec<Label> {
        let mut labels = group_labels(self.group);
        labels.push(Label::new(key, self.node.to_string()));
        labels
    }

    fn messages(&self, kind: MessageKind) -> Counter {
        let name = match kind {
            MessageKind::Append => "AppendRequest",
            MessageKind::Vote => "VoteRequest",
            MessageKind::Install => "InstallRequest",
        };
        let mut labels = self.labels("to");
        labels.push(Label::new("type", name));
        counter!("atomix_raft_messages_send_total", labels)
    }

    /// A message is sent that is no append: such are rare.
    pub(crate) fn sends(&self, kind: MessageKind) {
        self.messages(kind).increment(1);
    }

    /// Entries are sent, or a heartbeat.
    pub(crate) fn sends_append(&self, entries: usize, bytes: u64) {
        let appends = self.appends();
        appends.messages.increment(1);
        appends.entries.increment(entries as u64);
        appends.kibibytes.add(bytes);
    }

    /// Entries are with the follower.
    pub(crate) fn appended(&self, took: Duration) {
        self.appends().latency.record(took);
    }

    fn appends(&self) -> &AppendMetrics {
        self.appends.get_or_init(|| AppendMetrics {
            messages: self.messages(MessageKind::Append),
            entries: counter!("atomix_append_entries_rate_total", self.labels("follower")),
            kibibytes: Kibibytes::new(counter!(
                "atomix_append_entries_data_rate_total",
                self.labels("follower")
            )),
            latency: histogram!("atomix_append_entries_latency_seconds", self.labels("follower")),
        })
    }
}

/// Metrics of the role of a replica.
pub(crate) struct RoleMetrics {
    group: u64,
    /// When a leader was heard last.
    heard: Mutex<Option<Instant>>,
    heartbeats: OnceLock<(Histogram, Counter)>,
    is_candidate: AtomicBool,
}

impl RoleMetrics {
    pub(crate) fn new(group: u64) -> Self {
        Self {
            group,
            heard: Mutex::new(None),
            heartbeats: OnceLock::new(),
            is_candidate: AtomicBool::new(false),
        }
    }

    fn heartbeats(&self) -> &(Histogram, Counter) {
        self.heartbeats.get_or_init(|| {
            let labels = || group_labels(self.group);
            (
                histogram!("atomix_heartbeat_time_in_s_seconds", labels()),
                counter!("atomix_heartbeat_miss_count_total", labels()),
            )
        })
    }

    /// A leader is heard: by a heartbeat, or by entries.
    pub(crate) fn hears_leader(&self) {
        let now = Instant::now();
        let before = self.heard.lock().replace(now);
        let (times, _) = self.heartbeats();
        if let Some(before) = before {
            times.record(now.duration_since(before));
        }
    }

    /// Time since a leader was heard; `None` if none was since the start, or since this replica stood for election.
    pub(crate) fn silence(&self) -> Option<Duration> {
        self.heard.lock().map(|heard| heard.elapsed())
    }

    /// Whether this replica stands for election. That it begins to says that it heard no leader for too long.
    pub(crate) fn set_candidate(&self, is_candidate: bool) {
        if !self.is_candidate.swap(is_candidate, Ordering::Relaxed) && is_candidate {
            *self.heard.lock() = None;
            self.heartbeats().1.increment(1);
        }
    }

    pub(crate) fn is_candidate(&self) -> bool {
        self.is_candidate.load(Ordering::Relaxed)
    }
}

/// The log was purged, which took so long.
pub(crate) fn compacted(group: u64, took: Duration) {
    histogram!("atomix_compaction_time_ms_seconds", group_labels(group)).record(took);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn bytes_are_counted_by_kibibytes_without_a_rest_lost() {
        let counted = Arc::new(AtomicU64::new(0));
        let kibibytes = Kibibytes::new(Counter::from_arc(Arc::clone(&counted)));
        for _ in 0..10 {
            kibibytes.add(1000);
        }
        assert_eq!(counted.load(Ordering::Relaxed), 9, "and 784 bytes, which count with the next ones");
        kibibytes.add(240);
        assert_eq!(counted.load(Ordering::Relaxed), 10);
    }

    #[test]
    fn a_candidate_has_missed_heartbeats_once() {
        let role = RoleMetrics::new(1);
        role.hears_leader();
        assert!(role.silence().is_some());
        role.set_candidate(true);
        role.set_candidate(true);
        assert!(
            role.is_candidate() && role.heard.lock().is_none(),
            "the pause is no time between heartbeats"
        );
        role.set_candidate(false);
        assert!(!role.is_candidate());
    }
}
