//! Records that the targets of exporters refuse, kept in the state.

use engine::Outcome;
use engine::entity::RowTotals;
use protocol::{Command, Intent, Name, ParkRecord, RejectionType, Response};

use crate::support::Harness;

/// Rows and bytes of all parked records at the most.
const RECORDS_MAX: u64 = 1000;
const BYTES_MAX: u64 = 32 * 1024 * 1024;

fn park(exporter: &str, position: u64, bytes: usize) -> Command {
    Command::ParkRecord(Box::new(ParkRecord {
        exporter: Name::from(exporter),
        position,
        record: vec![position as u8; bytes],
        reason: Name::from("the field is too long"),
        parked_ms: 1003,
    }))
}

fn unpark(exporter: &str, positions: &[u64]) -> Command {
    Command::UnparkRecords { exporter: Name::from(exporter), positions: positions.to_vec() }
}

fn done(outcome: Option<Outcome>) -> bool {
    outcome == Some(Ok(Response::Done))
}

/// Exporters and positions of all rows, whose number and bytes are those of the totals.
fn parked(harness: &Harness) -> Vec<(String, u64)> {
    let engine = harness.engine();
    let rows = engine.tables().parked_records.scan(.., usize::MAX).unwrap();
    let bytes = rows.iter().map(|(_, row)| row.bytes()).sum();
    let totals = RowTotals { rows: rows.len() as u64, bytes };
    assert_eq!(engine.parked(), totals);
    rows.into_iter().map(|((exporter, position), _)| (exporter.to_string(), position)).collect()
}

fn at(rows: &[(&str, u64)]) -> Vec<(String, u64)> {
    rows.iter().map(|(exporter, position)| ((*exporter).to_owned(), *position)).collect()
}

#[test]
fn parked_records_stay_until_the_target_has_them() {
    let mut harness = Harness::new();
    for (exporter, position) in [("b", 3), ("a", 9), ("a", 3)] {
        assert!(done(harness.command(park(exporter, position, 100))));
    }
    // The same again, as after an answer that was lost; the first reason and time stay.
    assert!(done(harness.command(park("a", 3, 7))));
    harness.flush_and_reopen();
    assert_eq!(parked(&harness), at(&[("a", 3), ("a", 9), ("b", 3)]));
    let row = harness.engine().tables().parked_records.get(&("a".into(), 3)).unwrap().unwrap();
    assert_eq!((row.record.len(), row.parked_ms, &*row.reason.0), (100, 1003, "the field is too long"));
    assert!(done(harness.command(unpark("a", &[3, 4]))));
    assert!(done(harness.command(unpark("a", &[3]))), "twice is as once");
    assert_eq!(parked(&harness), at(&[("a", 9), ("b", 3)]));
    assert!(done(harness.command(unpark("b", &[3]))));
    assert!(done(harness.command(unpark("a", &[9]))));
    assert_eq!(parked(&harness), at(&[]));
    harness.verify_replay(1);
}

#[test]
fn a_forgotten_exporter_takes_its_parked_records_along() {
    let mut harness = Harness::new();
    harness.command(Command::AcknowledgeExport { exporter: Name::from("a"), position: 9 });
    for (exporter, position) in [("a", 3), ("a", u64::MAX), ("aa", 3)] {
        assert!(done(harness.command(park(exporter, position, 1))));
    }
    assert!(done(harness.command(Command::ForgetExporter { exporter: Name::from("a") })));
    assert_eq!(parked(&harness), at(&[("aa", 3)]));
}

#[test]
fn records_of_before_a_purge_are_not_parked_after_it() {
    let mut harness = Harness::new();
    let last = harness.engine().position();
    assert!(done(harness.command(park("a", last, 1))));
    harness.command(Command::Purge { after: None }).unwrap().unwrap();
    assert_eq!(parked(&harness), at(&[]));
    // An exporter whose target was away comes to them now. The record of the purge is the first of after it.
    harness.flush_and_reopen();
    let purged = harness.records().find(|record| record.intent == Intent::Purged).unwrap().position;
    for position in [last, purged - 1, purged] {
        assert!(done(harness.command(park("a", position, 1))));
    }
    assert_eq!(parked(&harness), at(&[("a", purged)]));
}

#[test]
fn parked_records_are_bounded_in_number_and_bytes() {
    let mut harness = Harness::new();
    for position in 1..=RECORDS_MAX {
        assert!(done(harness.command(park("a", position, 1))));
    }
    let refused = harness.command(park("b", 1, 1)).unwrap().unwrap_err();
    assert_eq!(refused.kind, RejectionType::ResourceExhausted);
    assert!(refused.reason.contains("1000 records"), "{}", refused.reason);
    assert!(done(harness.command(park("a", 1, 1))), "one that is there needs no room");
    assert!(done(harness.command(unpark("a", &[7]))));
    let refused = harness.command(park("b", 1, BYTES_MAX as usize)).unwrap().unwrap_err();
    assert_eq!(refused.kind, RejectionType::ResourceExhausted);
    assert_eq!(parked(&harness).len() as u64, RECORDS_MAX - 1);
    assert!(done(harness.command(park("b", 1, 1 << 20))));
    assert_eq!(parked(&harness).len() as u64, RECORDS_MAX);
}
