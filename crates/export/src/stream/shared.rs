//! Exporters whose target is that of all replicas: one replica exports, the others keep what it has not acknowledged.

use std::fmt;

use protocol::Record;

use super::Stream;
use crate::exporter::ExportError;
use crate::parking::ParkedRecords;
use crate::spill::SpillReader;

/// Records after a position, as replicas give them to each other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordsAfter {
    /// Position of the last one, or a later one: none is in between.
    pub upto: u64,
    /// The records. None if they are acknowledged.
    pub records: Vec<Record>,
}

/// Bytes of encoded records at the most, but for the last one.
const ENCODED_BYTES: usize = 1 << 20;

impl RecordsAfter {
    /// The position in big-endian order, and as many of the records as fit, in CBOR. If they do not all fit, the
    /// position is that of the last that does.
    pub fn encode(&self) -> Vec<u8> {
        let mut encoded = vec![0; 8];
        let mut upto = self.upto;
        for (number, record) in self.records.iter().enumerate() {
            minicbor::encode(record, &mut encoded).expect("encoding to memory does not fail");
            if encoded.len() >= ENCODED_BYTES && number + 1 < self.records.len() {
                upto = record.position;
                break;
            }
        }
        encoded[..8].copy_from_slice(&upto.to_be_bytes());
        encoded
    }

    /// Reads what was encoded. An error says what is wrong with it.
    pub fn decode(encoded: &[u8]) -> Result<Self, String> {
        let (upto, encoded) = encoded.split_at_checked(8).ok_or("records without a position")?;
        let upto = u64::from_be_bytes(upto.try_into().expect("eight bytes"));
        let mut decoder = minicbor::Decoder::new(encoded);
        let mut records: Vec<Record> = Vec::new();
        while decoder.position() < encoded.len() {
            records.push(decoder.decode().map_err(|error| error.to_string())?);
        }
        Ok(Self { upto, records })
    }
}

/// Obtains records after a position, up to another one, from other replicas. Blocks.
pub(crate) struct FetchRecords(pub Box<dyn Fn(u64, u64) -> Result<RecordsAfter, String> + Send + Sync>);

impl fmt::Debug for FetchRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FetchRecords")
    }
}

impl Stream {
    /// This replica exports from now on, or another one does.
    pub fn lead(&self, leads: bool) {
        self.change_needs(|inner| {
            let mut has_changed = false;
            for reader in inner.readers.iter_mut().filter(|reader| reader.is_shared) {
                if reader.is_passive == leads {
                    reader.lead(leads);
                    has_changed = true;
                }
            }
            has_changed
        });
    }

    /// Another replica has exported up to a position.
    pub fn acknowledged_elsewhere(&self, reader: usize, position: u64) {
        self.change_needs(|inner| {
            let ordinal = inner.ordinal_after(position);
            let reader = &mut inner.readers[reader];
            let is_news = reader.is_passive && position > reader.acknowledged;
            if is_news {
                reader.acknowledged_elsewhere(position, ordinal);
            }
            is_news
        });
    }

    /// Position up to which an exporter has handed records on.
    pub fn handed_on(&self, reader: usize) -> u64 {
        self.lock().readers[reader].handed_on
    }

    /// Whether another replica exports in the place of this one's exporter.
    pub fn is_passive(&self, reader: usize) -> bool {
        self.lock().readers[reader].is_passive
    }

    /// Position up to which records have come, or were skipped, and up to which all exporters have acknowledged.
    pub fn extent(&self) -> (u64, u64) {
        let inner = self.lock();
        (inner.last, inner.acknowledged())
    }

    /// Position up to which an exporter that goes on after another one must ask other replicas for records.
    pub fn missing(&self, reader: usize, position: u64) -> Option<u64> {
        Some(self.lock().readers[reader].missing.upto).filter(|missing| position < *missing)
    }

    /// Where the records of an exporter are parked.
    pub fn parked(&self, reader: usize) -> &dyn ParkedRecords {
        self.parked_for_all(reader).unwrap_or(&self.own_parked)
    }

    /// Where the records of an exporter are parked for all replicas; `None` if its target is that of one replica, or
    /// the replica is alone.
    fn parked_for_all(&self, reader: usize) -> Option<&dyn ParkedRecords> {
        let shared = self.shared_parked.get()?;
        self.lock().readers[reader].is_shared.then_some(&**shared)
    }

    /// Moves records of an exporter that an earlier release has parked on this replica to where all replicas have them.
    pub fn share_parked(&self, reader: usize, id: &str) -> Result<(), ExportError> {
        let Some(shared) = self.parked_for_all(reader) else { return Ok(()) };
        let own = self.own_parked.positions(id)?;
        if own.is_empty() {
            return Ok(());
        }
        for parked in self.own_parked.list(id)? {
            shared.park(parked)?;
        }
        self.own_parked.remove(id, &own)
    }

    /// Records after a position that are missing here.
    pub fn fetch(&self, position: u64, upto: u64) -> Result<RecordsAfter, ExportError> {
        let lacking = |reason: &str| {
            ExportError::Target(format!(
                "the records after {position} up to {upto} are at other brokers only: {reason}"
            ))
        };
        // Some of them may have come before the snapshot that left out the rest.
        if let Ok(own) = self.records_after(position, upto)
            && own.upto > position
        {
            return Ok(own);
        }
        let FetchRecords(fetch) = self.fetch.get().ok_or_else(|| lacking("there is no other broker"))?;
        let fetched = fetch(position, upto).map_err(|reason| lacking(&reason))?;
        if fetched.upto <= position || fetched.records.iter().any(|record| record.position <= position) {
            return Err(lacking("another broker has answered with other records"));
        }
        Ok(fetched)
    }

    /// Records after a position, no more than an exporter takes at once, as far as they are here.
    pub fn records_after(&self, position: u64, upto: u64) -> Result<RecordsAfter, String> {
        let upto = {
            let inner = self.lock();
            let missing =
                inner.readers.iter().map(|reader| reader.missing).max_by_key(|missing| missing.upto);
            let missing = missing.unwrap_or_default();
            let Some(known) = missing.known_from(position, upto) else {
                return Err(format!("it lacks records up to {}, too", missing.upto));
            };
            let acknowledged = inner.acknowledged();
            if position < acknowledged {
                return Ok(RecordsAfter { upto: acknowledged, records: Vec::new() });
            }
            if inner.last < known {
                return Err(format!("it has records up to {}", inner.last));
            }
            known
        };
        let chunk = self.chunk_after(position, &mut SpillReader::default());
        let chunk = chunk.map_err(|error| error.to_string())?;
        let Some(chunk) = chunk else { return Ok(RecordsAfter { upto, records: Vec::new() }) };
        let wanted = chunk.records().iter().take_while(|record| record.position <= upto);
        let records: Vec<Record> = wanted.cloned().collect();
        let is_all = records.len() < chunk.records().len();
        let last = records.last().map_or(upto, |record| record.position);
        Ok(RecordsAfter { upto: if is_all { upto } else { last }, records })
    }
}

#[cfg(test)]
mod tests {
    use protocol::testing::variable;

    use super::*;

    #[test]
    fn records_come_back_as_they_went_and_no_more_than_fit() {
        let records: Vec<Record> = (5..8).map(|position| variable(position, 10)).collect();
        let found = RecordsAfter { upto: 9, records };
        assert_eq!(RecordsAfter::decode(&found.encode()), Ok(found));
        let records: Vec<Record> = (1..5).map(|position| variable(position, ENCODED_BYTES / 2)).collect();
        let part = RecordsAfter::decode(&RecordsAfter { upto: 9, records }.encode()).unwrap();
        assert!(part.records.len() < 4, "{}", part.records.len());
        assert_eq!(part.records.last().map(|record| record.position), Some(part.upto));
        assert!(RecordsAfter::decode(b"short").is_err());
        assert!(RecordsAfter::decode(b"12345678nonsense").is_err());
    }
}
