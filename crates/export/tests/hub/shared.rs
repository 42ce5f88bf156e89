//! Exporters whose target is that of all replicas.

use export::RecordsAfter;

use super::*;

/// A replica's hub with one shared exporter.
fn replica(directory: &Path, acknowledged: u64) -> (Hub, Arc<Target>, Receiver<u64>) {
    let (exporter, target, received) = probe("a", Mood::Works);
    let assigned = vec![Assigned { exporter, acknowledged, is_shared: true }];
    (Hub::open(options(), directory, 1, assigned, 0).unwrap(), target, received)
}

#[track_caller]
fn nothing_comes(received: &Receiver<u64>) {
    assert!(received.recv_timeout(Duration::from_millis(50)).is_err(), "another replica exports");
}

#[test]
fn only_the_replica_that_leads_exports_and_the_others_keep_what_it_has_not_acknowledged() {
    let directories = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let (first, _, from_first) = replica(directories[0].path(), 0);
    let (second, target, from_second) = replica(directories[1].path(), 0);
    first.lead(true);
    for hub in [&first, &second] {
        hub.append(records(1..6));
        hub.make_durable(5).unwrap();
    }
    assert_eq!(receive(&from_first, 5), [1, 2, 3, 4, 5]);
    nothing_comes(&from_second);
    assert!(spilled(directories[1].path()), "the state may be durable: the log goes");
    second.acknowledged_elsewhere("a", 3);
    assert_eq!(second.status().acknowledged_position, 3);
    // The leader is lost.
    drop(first);
    second.lead(true);
    assert_eq!(receive(&from_second, 2), [4, 5]);
    assert_eq!(*target.opened.lock(), [3]);
    second.lead(false);
    second.append(records([6]));
    nothing_comes(&from_second);
    second.acknowledged_elsewhere("a", 6);
    second.lead(true);
    second.append(records([7]));
    assert_eq!(receive(&from_second, 1), [7]);
    assert_eq!(*target.opened.lock(), [3, 6]);
}

#[test]
fn what_came_before_a_snapshot_is_still_there_for_others() {
    let directories = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    // Each was sent a snapshot, one of them later.
    let (first, ..) = replica(directories[0].path(), 0);
    first.append(records(1..12));
    first.skip_to(20).unwrap();
    first.append(records([21, 22]));
    drop(first);
    let (first, ..) = replica(directories[0].path(), 0);
    let (second, _, received) = replica(directories[1].path(), 0);
    second.append(records(1..3));
    second.skip_to(11).unwrap();
    second.append(records(12..14));
    assert!(first.records_after(11, 12).unwrap_err().contains("lacks records up to 20"));
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    second.fetch_with(move |after, upto| {
        noted.lock().push(after);
        first.records_after(after, upto)
    });
    second.lead(true);
    assert_eq!(receive(&received, 13), (1..14).collect::<Vec<_>>());
    assert_eq!(asked.lock()[..], [2], "its own are not asked for");
}

#[test]
fn what_a_snapshot_has_left_out_comes_from_another_replica() {
    let directories = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let (whole, _, _) = replica(directories[0].path(), 0);
    whole.append(records(1..9));
    whole.append(records([20, 21]));
    // Part of it is on disk.
    whole.make_durable(8).unwrap();
    let (lacking, _, received) = replica(directories[1].path(), 0);
    lacking.append(records(1..3));
    lacking.skip_to(15).unwrap();
    drop(lacking);
    drop(received);
    // It knows after a restart, too.
    let (lacking, _, received) = replica(directories[1].path(), 2);
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (noted, whole) = (Arc::clone(&asked), Arc::new(whole));
    let other = Arc::clone(&whole);
    lacking.fetch_with(move |after, upto| {
        let mut asked = noted.lock();
        asked.push((after, upto));
        // The first time nobody is there.
        if asked.len() == 1 { Err("away".to_owned()) } else { other.records_after(after, upto) }
    });
    lacking.append(records([20, 21]));
    lacking.lead(true);
    assert_eq!(receive(&received, 8), [3, 4, 5, 6, 7, 8, 20, 21]);
    assert_eq!(asked.lock()[..2], [(2, 15), (2, 15)]);
    assert!(lacking.records_after(2, 15).unwrap_err().contains("lacks records"), "it has gone on");
    // A reader that asks for acknowledged records is told so.
    whole.acknowledged_elsewhere("a", 20);
    assert_eq!(whole.records_after(7, 15), Ok(RecordsAfter { upto: 20, records: vec![] }));
    assert!(whole.records_after(20, 30).unwrap_err().contains("up to 21"));
}
