//! The exporter of records as they are: one document each, in an index for each value type, release and day.
//!
//! Documents have the partition and position as their ID, so that repeating is harmless. Indices are made by the store
//! when the first document comes, from a template that is there before.

mod answer;
mod options;
mod sequences;
mod template;

use std::collections::HashSet;
use std::time::Instant;

use export::{ExportError, Exporter, Flush};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use protocol::{PartitionId, Record, ValueType};
use serde_json::json;

use crate::blocking::Blocking;
use crate::bulk::{Bulk, Outcome};
use crate::metric_definitions::BulkMetrics;
use answer::{done, failed};
use http::Method;
pub use options::RecordOptions;
use sequences::Sequences;

/// The ID of this exporter.
const ID: &str = "opensearch";

/// Sends records.
pub struct RecordExporter {
    options: RecordOptions,
    metrics: BulkMetrics,
    client: Option<Blocking>,
    bulk: Bulk,
    /// Positions of what waits in the bulk.
    positions: Vec<u64>,
    /// Since when the oldest waits.
    waiting_since: Option<Instant>,
    /// Position of the last record that was taken.
    taken: u64,
    /// Position up to which everything is stored.
    stored: u64,
    /// Value types whose template is there.
    templates: HashSet<ValueType>,
    sequences: Sequences,
    line: Vec<u8>,
}

impl RecordExporter {
    /// An exporter of one partition; nothing is connected yet.
    pub fn new(partition: PartitionId, options: RecordOptions) -> Self {
        Self {
            metrics: BulkMetrics::new(partition),
            client: None,
            bulk: Bulk::new(options.bulk),
            positions: Vec::new(),
            waiting_since: None,
            taken: 0,
            stored: 0,
            templates: HashSet::new(),
            sequences: Sequences::new(partition, &options),
            line: Vec::new(),
            options,
        }
    }

    fn client(&self) -> Result<&Blocking, ExportError> {
        self.client.as_ref().ok_or_else(closed)
    }

    /// Adds a record to what waits.
    fn push(&mut self, record: &Record) -> Result<(), ExportError> {
        let value_type = record.exported_type();
        if !self.templates.contains(&value_type) {
            self.put_template(value_type)?;
            self.templates.insert(value_type);
        }
        self.line.clear();
        export::write_line(record, &mut self.line)?;
        let client = self.client.as_ref().ok_or_else(closed)?;
        let sequence = self.sequences.next(client, value_type)?;
        // The record is an object with some members.
        self.line.truncate(self.line.len() - 1);
        self.line.extend_from_slice(format!(",\"sequence\":{sequence}}}").as_bytes());
        let action = json!({ "index": {
            "_index": index(&self.options.index_prefix, value_type, record.timestamp_ms),
            "_id": format!("{}-{}", record.partition_id, record.position),
            "routing": record.partition_id.to_string(),
        } });
        self.bulk.push(&action, Some(&self.line));
        self.positions.push(record.position);
        self.waiting_since.get_or_insert_with(Instant::now);
        Ok(())
    }

    fn put_template(&self, value_type: ValueType) -> Result<(), ExportError> {
        let name = template::name(&self.options.index_prefix, value_type);
        let body = template::body(&self.options, value_type);
        let answer = self.client()?.json(Method::PUT, &format!("/_index_template/{name}"), Some(&body));
        done(answer.map_err(failed)?).map(drop)
    }

    fn send(&mut self) -> Result<(), ExportError> {
        self.waiting_since = None;
        if !self.bulk.is_empty() {
            let positions = std::mem::take(&mut self.positions);
            let began = Instant::now();
            let client = self.client.as_ref().ok_or_else(closed)?;
            self.sequences.note(client)?;
            let outcome = client.bulk(&mut self.bulk).map_err(failed);
            let outcome = outcome.and_then(|outcomes| verdict(outcomes, &positions));
            self.metrics.sent(positions.len(), began.elapsed(), outcome.is_ok());
            outcome?;
        }
        self.stored = self.taken;
        Ok(())
    }
}

impl Exporter for RecordExporter {
    fn id(&self) -> &str {
        ID
    }

    fn open(&mut self, acknowledged: u64) -> Result<u64, ExportError> {
        self.bulk.clear();
        self.positions.clear();
        self.waiting_since = None;
        // They may have been removed together with the rest.
        self.templates.clear();
        self.sequences.forget();
        if self.client.is_none() {
            self.client = Some(Blocking::new(&self.options.client).map_err(failed)?);
        }
        (self.taken, self.stored) = (acknowledged, acknowledged);
        Ok(acknowledged)
    }

    fn export(&mut self, records: &[Record]) -> Result<(), ExportError> {
        for record in &records[records.partition_point(|record| record.position <= self.taken)..] {
            let value_type = record.exported_type();
            if value_type.is_for_others() && self.options.is_wanted(value_type) {
                self.push(record)?;
            }
            self.taken = record.position;
            if self.bulk.is_full() {
                self.send()?;
            }
        }
        Ok(())
    }

    fn replay(&mut self, record: &Record) -> Result<(), ExportError> {
        self.send()?;
        self.push(record)?;
        self.send()
    }

    /// Records may wait longer than until the next flush: those that are not sent are not acknowledged.
    fn flush(&mut self, flush: Flush) -> Result<u64, ExportError> {
        let is_due = self.waiting_since.is_none_or(|since| since.elapsed() >= self.options.delay);
        if flush.is_durable() || is_due {
            self.send()?;
        }
        Ok(self.stored)
    }
}

/// Outcome of documents as a whole: the first refusal, unless the store has failed for another.
fn verdict(outcomes: Vec<Outcome>, positions: &[u64]) -> Result<(), ExportError> {
    let mut refused = None;
    for (outcome, position) in outcomes.into_iter().zip(positions) {
        match outcome {
            Outcome::Done => {}
            Outcome::Missing => return Err(ExportError::Target("a document was not made".to_owned())),
            Outcome::Busy(reason) => return Err(ExportError::Target(reason)),
            Outcome::Refused(reason) => {
                refused.get_or_insert(ExportError::Record { position: *position, reason });
            }
        }
    }
    refused.map_or(Ok(()), Err)
}

fn closed() -> ExportError {
    ExportError::Target("the exporter is not open".to_owned())
}

/// The index of a record: by value type, release and day (UTC).
fn index(prefix: &str, value_type: ValueType, timestamp_ms: i64) -> String {
    let time = Timestamp::from_millisecond(timestamp_ms).unwrap_or_default().to_zoned(TimeZone::UTC);
    format!("{}_{}", template::name(prefix, value_type), time.strftime("%Y-%m-%d"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_named_by_day() {
        let version = env!("CARGO_PKG_VERSION");
        let name = index("zeebe-record", ValueType::ProcessInstance, 1_700_000_000_000);
        assert_eq!(name, format!("zeebe-record_process-instance_{version}_2023-11-14"));
        assert_eq!(index("p", ValueType::Job, -1), format!("p_job_{version}_1969-12-31"));
        assert_eq!(index("p", ValueType::Job, 86_400_000), format!("p_job_{version}_1970-01-02"));
    }

    #[test]
    fn a_store_that_is_busy_counts_before_a_refusal() {
        let refused = || Outcome::Refused("no".to_owned());
        let verdict = |outcomes| verdict(outcomes, &[5, 6, 7]);
        assert!(verdict(vec![Outcome::Done, Outcome::Done, Outcome::Done]).is_ok());
        let busy = Outcome::Busy("later".to_owned());
        assert!(matches!(verdict(vec![refused(), busy, Outcome::Done]), Err(ExportError::Target(_))));
        let error = verdict(vec![Outcome::Done, refused(), refused()]);
        assert!(matches!(error, Err(ExportError::Record { position: 6, .. })));
    }

    #[test]
    fn types_are_chosen() {
        let mut options = RecordOptions::new("http://a");
        assert!(options.is_wanted(ValueType::Job));
        options.exclude = vec![ValueType::Job];
        assert!(!options.is_wanted(ValueType::Job) && options.is_wanted(ValueType::Timer));
        options.include = vec![ValueType::Job, ValueType::Variable];
        assert!(!options.is_wanted(ValueType::Timer) && options.is_wanted(ValueType::Variable));
        assert!(!options.is_wanted(ValueType::Job));
    }
}
