//! Records that an exporter's target refuses: how often, and when to park them.

use std::collections::BTreeSet;

use protocol::{Record, RecordValue};

use crate::batch::now_ms;
use crate::exporter::{ExportError, Exporter};
use crate::parking::{Parked, ParkedRecords};
use crate::reader::Replayed;

/// When so many records were parked and none passed in between, it is not the records: the target is treated as away.
const PARKED_IN_A_ROW_MAX: u32 = 16;

/// Records that one exporter skips, and those it will skip.
#[derive(Debug)]
pub(crate) struct Refusals {
    park_after: u32,
    /// Positions of parked records that may come again.
    parked: BTreeSet<u64>,
    /// Position of the last record that was parked.
    last_parked: u64,
    /// The record that was refused last.
    refused: Option<Refused>,
    /// Records parked since one passed.
    in_a_row: u32,
    /// Position of the last record that the exporter was given.
    given: u64,
    /// Position of the last one that it was not.
    passed_over: u64,
}

#[derive(Debug)]
struct Refused {
    position: u64,
    times: u32,
    reason: String,
}

impl Refusals {
    pub fn new(park_after: u32) -> Self {
        let parked = BTreeSet::new();
        let (last_parked, in_a_row, given, passed_over) = (0, 0, 0, 0);
        Self { park_after, parked, last_parked, refused: None, in_a_row, given, passed_over }
    }

    /// The exporter begins after a position. Another replica may have parked records meanwhile.
    pub fn begins(&mut self, position: u64, parked: BTreeSet<u64>) {
        (self.given, self.passed_over) = (position, 0);
        self.parked.extend(parked);
        self.parked.retain(|parked| *parked > position);
    }

    pub fn failed(&mut self, error: &ExportError) {
        let ExportError::Record { position, reason } = error else { return };
        let times =
            self.refused.as_ref().filter(|last| last.position == *position).map_or(0, |last| last.times);
        self.refused = Some(Refused { position: *position, times: times + 1, reason: reason.clone() });
    }

    /// The reason why a record is to be parked now.
    fn verdict(&self, position: u64) -> Option<&Refused> {
        let refused = self.refused.as_ref().filter(|refused| refused.position == position)?;
        let parks = self.park_after > 0 && refused.times >= self.park_after;
        (parks && self.in_a_row < PARKED_IN_A_ROW_MAX).then_some(refused)
    }

    /// Gives records to the exporter, but for those that are parked; one that was refused often enough is parked first.
    pub fn export(
        &mut self,
        records: &[Record],
        exporter: &mut dyn Exporter,
        id: &str,
        parking: &dyn ParkedRecords,
    ) -> Result<(), ExportError> {
        let mut rest = records;
        while let Some(at) = rest.iter().position(|record| matches!(record.value, RecordValue::Purge(_))) {
            let (upto, after) = rest.split_at(at + 1);
            self.export_era(upto, exporter, id, parking)?;
            self.passes_purge(upto[at].position, id, parking)?;
            rest = after;
        }
        self.export_era(rest, exporter, id, parking)
    }

    /// A purge empties the target: later records that are parked no more come again, though the target has taken them,
    /// since it may have done so before it was emptied. Those that were parked before it are void. They are forgotten
    /// before the purge is durable: an exporter that began again behind it would never come to that. One that begins
    /// again before it parks them anew.
    fn passes_purge(&mut self, purge: u64, id: &str, parking: &dyn ParkedRecords) -> Result<(), ExportError> {
        let mut void = parking.positions(id)?;
        let later = void.split_off(&purge);
        if !void.is_empty() {
            parking.remove(id, &void)?;
        }
        self.parked.retain(|parked| *parked < purge);
        self.parked.extend(later);
        Ok(())
    }

    /// Exports records with no purge between them.
    fn export_era(
        &mut self,
        records: &[Record],
        exporter: &mut dyn Exporter,
        id: &str,
        parking: &dyn ParkedRecords,
    ) -> Result<(), ExportError> {
        let mut rest = records;
        let is_left_out = |this: &Self, record: &Record| {
            this.parked.contains(&record.position) || this.verdict(record.position).is_some()
        };
        while let Some(at) = rest.iter().position(|record| is_left_out(self, record)) {
            let (before, from) = rest.split_at(at);
            self.give(before, exporter)?;
            self.park(&from[0], id, parking)?;
            self.passed_over = from[0].position;
            exporter.pass_over(self.passed_over);
            rest = &from[1..];
        }
        self.give(rest, exporter)
    }

    fn give(&mut self, records: &[Record], exporter: &mut dyn Exporter) -> Result<(), ExportError> {
        let Some(last) = records.last() else { return Ok(()) };
        exporter.export(records)?;
        self.given = last.position;
        Ok(())
    }

    /// Parks a record, if it is not.
    fn park(&mut self, record: &Record, id: &str, parking: &dyn ParkedRecords) -> Result<(), ExportError> {
        if self.parked.contains(&record.position) {
            return Ok(());
        }
        let Some(Refused { reason, times, .. }) = self.verdict(record.position) else { return Ok(()) };
        let parked = Parked {
            exporter: id.to_owned(),
            reason: reason.clone(),
            parked_ms: now_ms(),
            record: record.clone(),
        };
        parking.park(parked)?;
        tracing::warn!(
            exporter = id,
            position = record.position,
            times,
            reason,
            "a record is refused repeatedly; it is parked, and exporting continues without it"
        );
        self.parked.insert(record.position);
        self.last_parked = record.position;
        self.refused = None;
        self.in_a_row += 1;
        Ok(())
    }

    /// The exporter has made records durable up to a position. Returns up to where nothing is missing but what is
    /// parked.
    pub fn flushed(&mut self, position: u64) -> u64 {
        if position < self.given {
            return position;
        }
        if self.last_parked < self.given {
            self.in_a_row = 0;
        }
        position.max(self.passed_over)
    }

    /// Tries the parked records again. An error other than a refusal leaves the rest parked.
    pub fn replay(
        &mut self,
        exporter: &mut dyn Exporter,
        id: &str,
        parking: &dyn ParkedRecords,
    ) -> Result<Replayed, ExportError> {
        let mut outcome = Replayed { replayed: 0, refused: 0, reason: None };
        let mut done = BTreeSet::new();
        let mut failure = None;
        let reached = self.given.max(self.passed_over);
        for parked in parking.list(id)? {
            if parked.record.position > reached {
                // Another replica has parked it. A target that took it now would look as if it had all before it.
                outcome.refused += 1;
                outcome.reason.get_or_insert_with(|| "records before it are not exported yet".to_owned());
                continue;
            }
            match exporter.replay(&parked.record) {
                Ok(()) => {
                    done.insert(parked.record.position);
                    outcome.replayed += 1;
                }
                Err(ExportError::Record { reason, .. }) => {
                    outcome.refused += 1;
                    outcome.reason.get_or_insert(reason);
                }
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        if !done.is_empty() {
            // They are still passed over: records may come again, but these are exported.
            parking.remove(id, &done)?;
        }
        failure.map_or(Ok(outcome), Err)
    }
}
