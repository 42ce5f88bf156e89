//! Acknowledgements of other nodes, beside the entries: written with them, at no cost of a sync.

use std::io;

use super::{ACKNOWLEDGED, GroupLog};
use crate::acknowledged::{Acknowledged, Acknowledgements};
use crate::log::LogError;
use crate::log::writer::read_error;
use crate::record::{self, LogIdFact, log_id};

fn key(node: u64) -> Vec<u8> {
    let mut key = vec![ACKNOWLEDGED];
    key.extend_from_slice(&node.to_be_bytes());
    key
}

impl GroupLog {
    /// Acknowledgements of other nodes to this one.
    pub(crate) fn acknowledgements(&self) -> &Acknowledgements {
        &self.acknowledgements
    }

    /// Changes to store with the next entries.
    pub(super) fn new_acknowledgements(&self) -> impl Iterator<Item = (Vec<u8>, Option<Vec<u8>>)> {
        self.acknowledgements.take_new().into_iter().map(|(node, acknowledged)| {
            let Acknowledged { term, node: voted, index } = acknowledged;
            (key(node), Some(record::encode(&LogIdFact::of(&log_id(term, voted, index)))))
        })
    }

    /// Reads what was stored.
    pub(super) fn read_acknowledgements(&self) -> Result<(), LogError> {
        let (from, to) = ([ACKNOWLEDGED], [ACKNOWLEDGED + 1]);
        self.store.shared().read(self.group, |engine| {
            let mut broken = None;
            let each = |key: &[u8], value: &[u8]| {
                let node = key.get(1..).and_then(|node| node.try_into().ok()).map(u64::from_be_bytes);
                match (node, record::decode::<LogIdFact>(value)) {
                    (Some(node), Ok(fact)) => {
                        let id = fact.log_id();
                        let (term, voted) = (id.leader_id.term, id.leader_id.node_id);
                        self.acknowledgements.note(node, Acknowledged { term, node: voted, index: id.index });
                    }
                    (None, _) => {
                        broken = Some(record::corrupt("an acknowledgement names no node".to_owned()));
                    }
                    (_, Err(error)) => broken = Some(error),
                }
                broken.is_none()
            };
            let read = engine.scan_raw_messages(self.group, Some(&from), Some(&to), false, each);
            read.map_err(|error| read_error(&error))?;
            broken.map_or(Ok(()), io::Result::Err)
        })?;
        // They are stored.
        drop(self.acknowledgements.take_new());
        Ok(())
    }
}
