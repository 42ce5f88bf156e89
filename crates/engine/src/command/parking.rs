//! Records that the targets of exporters refuse, kept for all replicas. Rows and bytes are bounded: then further ones
//! are refused, and the exporter waits for its target, as if that were away.
//!
//! The constants belong to a version of the engine.

use protocol::{Name, ParkRecord, Rejection, RejectionType, Response};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::entity::{PARKED_MAX, ParkedRecord};

/// Bytes of the rows of all exporters at the most.
const BYTES_MAX: u64 = 32 * 1024 * 1024;

impl CommandContext<'_> {
    pub(super) fn park_record(&mut self, park: &ParkRecord) -> Result<Response, Failure> {
        let at = (park.exporter.0.clone(), park.position);
        if self.tables.parked_records.contains(&at)? {
            return Ok(Response::Done);
        }
        // An exporter may come to a record after the purge that made it void. Parked, it would come back by a replay.
        if self.meta.purged.is_some_and(|purged| park.position < purged) {
            return Ok(Response::Done);
        }
        let row = ParkedRecord {
            record: park.record.clone(),
            reason: park.reason.clone(),
            parked_ms: park.parked_ms,
        };
        let parked = self.meta.parked.unwrap_or_default();
        let totals = parked.with(row.bytes());
        if totals.rows > PARKED_MAX as u64 || totals.bytes > BYTES_MAX {
            let reason = format!(
                "Expected to park a record of {} bytes, but {} records in {} bytes are parked; at most {PARKED_MAX} \
                 records in {BYTES_MAX} bytes are",
                row.bytes(),
                parked.rows,
                parked.bytes
            );
            return Err(Rejection::new(RejectionType::ResourceExhausted, reason).into());
        }
        self.meta.parked = Some(totals);
        self.tables.parked_records.put(at, row);
        Ok(Response::Done)
    }

    /// Removes parked records; positions that are not parked are passed over, since a request may come twice.
    pub(super) fn unpark_records(&mut self, exporter: &Name, positions: &[u64]) -> Result<Response, Failure> {
        for &position in positions {
            let at = (exporter.0.clone(), position);
            let Some(row) = self.tables.parked_records.get(&at)? else { continue };
            self.meta.parked = self.meta.parked.expect("a parked record is counted").without(row.bytes());
            self.tables.parked_records.delete(&at);
        }
        Ok(Response::Done)
    }

    /// Forgets all parked records of an exporter.
    pub(super) fn unpark_all(&mut self, exporter: &Name) -> Result<(), Failure> {
        let parked = self.tables.parked_records.keys(ParkedRecord::places(exporter.as_str()), PARKED_MAX)?;
        let positions: Vec<u64> = parked.into_iter().map(|(_, position)| position).collect();
        self.unpark_records(exporter, &positions)?;
        Ok(())
    }
}
