//! Room on the disks of a cluster: a broker without room hands over as long as another has some, and stands for no
//! election. With no room anywhere the leader stays, and refuses commands.

use std::collections::BTreeMap;
use std::time::Duration;

use parking_lot::Mutex;
use planted::Bug;
use protocol::PartitionId;
use tokio::time::Instant;

/// Time in which a leader without room still takes commands: it is about to hand over. Longer, it refuses them.
const HAND_OVER_MAX: Duration = Duration::from_secs(5);
/// Time without a leader after which a broker without room stands for election after all: it may be the only one that
/// has all of the log. It hands over then.
pub const LEADERLESS_MAX: Duration = Duration::from_secs(3);

/// A broker that has no room.
#[derive(Debug, Clone)]
struct NoRoom {
    reason: String,
    since: Instant,
}

/// Room on the disks of the other brokers, as they told a moment ago.
#[derive(Debug, Default)]
pub struct Rooms {
    told: Mutex<BTreeMap<u32, Option<NoRoom>>>,
    /// Time since which this broker leads without room while another has some.
    giving_way_since: Mutex<Option<Instant>>,
    /// Time since which partitions have no leader.
    leaderless_since: Mutex<BTreeMap<PartitionId, Instant>>,
    /// Reason why the last hand-over failed.
    failed: Mutex<Option<String>>,
}

impl Rooms {
    /// The other brokers that answer, each with the reason why it has no room.
    pub fn note(&self, told: impl Iterator<Item = (u32, Option<String>)>) {
        let mut known = self.told.lock();
        let before = std::mem::take(&mut *known);
        for (broker, reason) in told {
            let since = || before.get(&broker).and_then(|known| Some(known.as_ref()?.since));
            let no_room = reason.map(|reason| NoRoom { reason, since: since().unwrap_or_else(Instant::now) });
            known.insert(broker, no_room);
        }
    }

    /// Whether some other broker has room.
    pub fn has_any(&self) -> bool {
        self.told.lock().values().any(Option::is_none)
    }

    /// Reason why another broker has no room. `None` also if it has not told.
    pub fn no_room(&self, broker: u32) -> Option<String> {
        self.told.lock().get(&broker)?.as_ref().map(|known| known.reason.clone())
    }

    /// Reason why another broker has had no room for longer than a hand-over takes: it is no longer the leader.
    pub fn refuses(&self, broker: u32) -> Option<String> {
        let told = self.told.lock();
        let known = told.get(&broker)?.as_ref()?;
        (known.since.elapsed() > HAND_OVER_MAX).then(|| known.reason.clone())
    }

    /// Whether this broker, which has no room, is about to hand over.
    pub fn is_about_to_hand_over(&self) -> bool {
        if planted::has(Bug::LeadsWithoutRoom) {
            return false;
        }
        self.giving_way_since.lock().is_none_or(|since| since.elapsed() < HAND_OVER_MAX) && self.has_any()
    }

    /// Notes whether this broker leads without room while another has some, and returns it.
    pub fn gives_way(&self, leads_without_room: bool) -> bool {
        let gives_way = leads_without_room && self.has_any() && !planted::has(Bug::LeadsWithoutRoom);
        let mut since = self.giving_way_since.lock();
        *since = if gives_way { since.or_else(|| Some(Instant::now())) } else { None };
        gives_way
    }

    /// Notes why the hand-over failed, or that there is none. Returns whether it is another reason than the last time.
    pub fn note_failure(&self, reason: Option<&str>) -> bool {
        let mut failed = self.failed.lock();
        let is_news = failed.as_deref() != reason;
        *failed = reason.map(str::to_owned);
        is_news
    }

    /// Notes whether a partition has a leader, and returns whether it had none for long.
    pub fn is_leaderless(&self, partition: PartitionId, is_led: bool) -> bool {
        let mut all = self.leaderless_since.lock();
        if is_led {
            all.remove(&partition);
            return false;
        }
        all.entry(partition).or_insert_with(Instant::now).elapsed() > LEADERLESS_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(rooms: &Rooms, told: &[(u32, bool)]) {
        let reason = |(broker, has_room): &(u32, bool)| (*broker, (!has_room).then(|| "full".to_owned()));
        rooms.note(told.iter().map(reason));
    }

    #[tokio::test(start_paused = true)]
    async fn a_broker_gives_way_while_another_has_room() {
        let rooms = Rooms::default();
        assert!(!rooms.gives_way(true), "nobody has told that it has room");
        told(&rooms, &[(1, false), (2, true)]);
        assert!(!rooms.gives_way(false) && rooms.gives_way(true) && rooms.is_about_to_hand_over());
        assert_eq!((rooms.no_room(1).as_deref(), rooms.no_room(2)), (Some("full"), None));
        assert_eq!(rooms.refuses(1), None);
        tokio::time::advance(HAND_OVER_MAX * 2).await;
        told(&rooms, &[(1, false), (2, true)]);
        assert!(rooms.gives_way(true) && !rooms.is_about_to_hand_over(), "that takes too long");
        assert_eq!(rooms.refuses(1).as_deref(), Some("full"), "it counts from the first time on");
        told(&rooms, &[(1, false), (2, false)]);
        assert!(!rooms.gives_way(true) && !rooms.is_about_to_hand_over(), "none has room");
        told(&rooms, &[(1, true)]);
        assert!(rooms.gives_way(true) && rooms.is_about_to_hand_over());
    }

    #[tokio::test(start_paused = true)]
    async fn it_stands_for_election_when_nobody_leads_for_long() {
        let rooms = Rooms::default();
        assert!(!rooms.is_leaderless(1, false));
        tokio::time::advance(LEADERLESS_MAX / 2).await;
        assert!(!rooms.is_leaderless(1, true) && !rooms.is_leaderless(1, false));
        assert!(!rooms.is_leaderless(2, false), "another partition");
        tokio::time::advance(LEADERLESS_MAX * 2).await;
        assert!(rooms.is_leaderless(1, false));
        assert!(!rooms.is_leaderless(1, true));
    }
}
