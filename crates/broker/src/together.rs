//! Answers of several partitions, as if one gave them.

use std::collections::BTreeMap;
use std::time::Duration;

use export::{ExporterStatus, Status};
use partition::Worker;

/// How exporting is, with each exporter once. Its positions are those of the first partition, since others count
/// their own. `None` if there are no exporters.
pub(crate) fn statuses_of_all(statuses: Vec<Status>) -> Option<Status> {
    statuses.into_iter().reduce(|mut whole, one| {
        whole.memory_bytes += one.memory_bytes;
        whole.spill_bytes += one.spill_bytes;
        for exporter in one.exporters {
            match whole.exporters.iter_mut().find(|known| known.id == exporter.id) {
                Some(known) => add(known, exporter),
                None => whole.exporters.push(exporter),
            }
        }
        whole
    })
}

fn add(known: &mut ExporterStatus, other: ExporterStatus) {
    known.backlog_records += other.backlog_records;
    known.backlog = Duration::max(known.backlog, other.backlog);
    known.failure = known.failure.take().or(other.failure);
    known.enabled &= other.enabled;
}

/// Workers, each once though it asks on all partitions. Several that look alike are told apart by their order.
pub(crate) fn workers_of_all(partitions: Vec<Vec<Worker>>) -> Vec<Worker> {
    let mut all = BTreeMap::new();
    for workers in partitions {
        let mut alike: BTreeMap<_, u32> = BTreeMap::new();
        for worker in workers {
            let known_as =
                (worker.job_type.clone(), worker.name.clone(), worker.is_stream, worker.tenant_ids.clone());
            let number = alike.entry(known_as.clone()).or_default();
            *number += 1;
            let known: &mut Worker = match all.entry((known_as, *number)) {
                std::collections::btree_map::Entry::Vacant(free) => {
                    free.insert(worker);
                    continue;
                }
                std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            };
            known.holds += worker.holds;
            // Each partition tells what the worker would take of its jobs alone.
            known.free_places = known.free_places.max(worker.free_places);
        }
    }
    all.into_values().collect()
}

#[cfg(test)]
mod tests {
    use protocol::Name;

    use super::*;

    fn worker(name: &str, holds: u32, free_places: u32) -> Worker {
        Worker {
            job_type: Name::from("t"),
            name: Name::from(name),
            is_stream: true,
            tenant_ids: vec![],
            holds,
            free_places,
        }
    }

    #[test]
    fn a_worker_is_told_of_once() {
        let partitions = vec![
            vec![worker("a", 1, 2), worker("b", 3, 0)],
            vec![worker("a", 4, 7), worker("b", 0, 1), worker("b", 5, 5)],
        ];
        let expected = [worker("a", 5, 7), worker("b", 3, 1), worker("b", 5, 5)];
        assert_eq!(workers_of_all(partitions), expected);
    }

    #[test]
    fn an_exporter_is_told_of_once() {
        let exporter = |backlog_records, failure: Option<&str>| ExporterStatus {
            id: "e".to_owned(),
            exported_position: 1,
            acknowledged_position: 1,
            backlog_records,
            backlog: Duration::from_secs(backlog_records),
            failure: failure.map(str::to_owned),
            enabled: true,
            is_shared: false,
        };
        let status = |exporter: ExporterStatus| Status {
            phase: export::Phase::Exporting,
            exporters: vec![exporter],
            acknowledged_position: 1,
            memory_bytes: 5,
            spill_bytes: 0,
        };
        let whole =
            statuses_of_all(vec![status(exporter(2, None)), status(exporter(3, Some("away")))]).unwrap();
        let expected = ExporterStatus { backlog: Duration::from_secs(3), ..exporter(5, Some("away")) };
        assert_eq!((whole.exporters, whole.memory_bytes), (vec![expected], 10));
        assert_eq!(statuses_of_all(vec![]), None);
    }
}
