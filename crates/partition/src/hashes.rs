//! The hash of a whole state after an entry of the log, for a comparison of all replicas.

use std::time::Duration;

use parking_lot::Mutex;
use protocol::BatchOrigin;
use state::Snapshot;
use tokio::sync::watch;
use tokio::time::timeout;

/// Time to hash a state.
pub const HASH_TIME: Duration = Duration::from_secs(600);

/// The hash of a state after an entry of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StateHash {
    /// Index of the entry.
    pub index: u64,
    /// Hash of all rows.
    pub hash: u64,
}

/// The hash, or why there is none.
pub type HashAnswer = Result<StateHash, String>;

/// The hash that is wanted of this replica. It is kept until another one is wanted, so that all who doubt may ask.
#[derive(Default)]
pub struct WantedHash {
    wanted: Mutex<Option<WantedAfter>>,
    /// Held while the others are asked whether this replica is right.
    pub examining: tokio::sync::Mutex<()>,
}

struct WantedAfter {
    /// Number of the entry after which it is made.
    number: u64,
    /// Until it is begun.
    sender: Option<HashSender>,
    hash: watch::Receiver<Option<HashAnswer>>,
}

/// Where a hash goes.
pub type HashSender = watch::Sender<Option<HashAnswer>>;

impl WantedHash {
    /// Asks for a hash after the entry with a number. One that was wanted before is not wanted any more.
    pub fn want(&self, number: u64) {
        let (sender, hash) = watch::channel(None);
        *self.wanted.lock() = Some(WantedAfter { number, sender: Some(sender), hash });
    }

    /// The way to tell the hash, if it is wanted after an entry.
    pub fn after(&self, origin: Option<BatchOrigin>) -> Option<HashSender> {
        let mut wanted = self.wanted.lock();
        let wanted = wanted.as_mut().filter(|wanted| Some(wanted.number) == origin.map(|of| of.number))?;
        wanted.sender.take()
    }

    /// The hash after an entry with a number. Waits for it.
    pub async fn of(&self, number: u64) -> HashAnswer {
        let mut wanted = self.get(number)?;
        let hash = timeout(HASH_TIME, wanted.wait_for(Option::is_some)).await;
        let hash = hash.map_err(|_| "the hash takes too long".to_owned())?;
        let hash = hash.map_err(|_| "the hash was given up".to_owned())?;
        hash.clone().expect("it was waited for")
    }

    /// The hash after an entry, once it is there.
    fn get(&self, number: u64) -> Result<watch::Receiver<Option<HashAnswer>>, String> {
        let wanted = self.wanted.lock();
        let wanted = wanted.as_ref().filter(|wanted| wanted.number == number);
        let wanted = wanted.ok_or_else(|| "no such hash is wanted".to_owned())?;
        if wanted.sender.is_some() {
            return Err("the entry has not come here yet".to_owned());
        }
        Ok(wanted.hash.clone())
    }
}

/// Hashes a state on a thread of its own.
pub fn hash(snapshot: Snapshot, answer: HashSender) {
    let index = snapshot.applied_index();
    let run = move || {
        let hashed = snapshot.hash().map(|hash| StateHash { index, hash });
        answer.send_replace(Some(hashed.map_err(|error| error.to_string())));
    };
    if let Err(error) = std::thread::Builder::new().name("state-hash".to_owned()).spawn(run) {
        tracing::warn!(%error, "the state cannot be hashed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_told_to_all_who_ask_until_another_is_wanted() {
        let (wanted, origin) = (WantedHash::default(), |number| Some(BatchOrigin { number, term: 1 }));
        assert!(wanted.get(7).is_err() && wanted.after(origin(7)).is_none());
        wanted.want(7);
        assert!(wanted.get(7).is_err(), "its entry has not come");
        assert!(wanted.after(origin(6)).is_none());
        let sender = wanted.after(origin(7)).unwrap();
        assert!(wanted.after(origin(7)).is_none(), "it is made once");
        let hash = StateHash { index: 1, hash: 2 };
        sender.send_replace(Some(Ok(hash)));
        for _ in 0..2 {
            assert_eq!(*wanted.get(7).unwrap().borrow(), Some(Ok(hash)));
        }
        wanted.want(8);
        assert!(wanted.get(7).is_err());
    }
}
