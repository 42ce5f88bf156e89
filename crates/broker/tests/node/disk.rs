//! Disks that are full or fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use broker_api::{Broker, SubmitError};
use replication::DiskFaults;

use crate::support::{Server, complete, create, instance, jobs, task, until, within};

#[tokio::test]
async fn a_disk_without_room_refuses_with_the_figures() {
    let server = Server::with(|options| options.disk.min_free_bytes = u64::MAX).await;
    for error in [
        within(server.submit(create("{}"))).await.unwrap_err(),
        within(server.submit(complete(1))).await.unwrap_err(),
        within(server.create_with_result(None, instance("{}"), vec![], Duration::from_secs(5)))
            .await
            .unwrap_err(),
    ] {
        let SubmitError::DiskFull(text) = error else { panic!("{error}") };
        assert!(text.contains("bytes left, below the limit of"), "{text}");
    }
    assert!(server.health().disk.is_err());
    assert!(server.health().partition.is_ok());
    server.places_free().await;
}

async fn faulty(faults: &Arc<DiskFaults>) -> Server {
    let server = Server::with(|options| options.partition.log.disk_faults = Some(Arc::clone(faults))).await;
    server.deploy(&task("t")).await;
    server
}

async fn fails_and_resumes(fault: fn(&DiskFaults) -> &AtomicBool) {
    let faults = Arc::new(DiskFaults::default());
    let server = faulty(&faults).await;
    let acknowledged = Arc::new(AtomicUsize::new(0));
    let refused = Arc::new(AtomicUsize::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..8)
        .map(|_| {
            let node = server.share();
            let (acknowledged, refused, stop) = (acknowledged.clone(), refused.clone(), stop.clone());
            tokio::spawn(async move {
                while !stop.load(Ordering::SeqCst) {
                    match node.submit(create("{}")).await {
                        Ok(_) => acknowledged.fetch_add(1, Ordering::SeqCst),
                        Err(SubmitError::Unavailable(text)) => {
                            assert!(text.contains("partition 1"), "{text}");
                            refused.fetch_add(1, Ordering::SeqCst)
                        }
                        Err(other) => panic!("{other}"),
                    };
                }
            })
        })
        .collect();
    for _ in 0..2 {
        let before = acknowledged.load(Ordering::SeqCst);
        until("work is done", || acknowledged.load(Ordering::SeqCst) > before + 50).await;
        let before = refused.load(Ordering::SeqCst);
        fault(&faults).store(true, Ordering::SeqCst);
        until("requests are refused", || refused.load(Ordering::SeqCst) > before + 8).await;
        assert!(server.health().partition.is_err());
        fault(&faults).store(false, Ordering::SeqCst);
        until("the broker is healthy", || server.health().partition.is_ok()).await;
    }
    let before = acknowledged.load(Ordering::SeqCst);
    until("work goes on", || acknowledged.load(Ordering::SeqCst) > before + 50).await;
    stop.store(true, Ordering::SeqCst);
    for client in clients {
        within(client).await.unwrap();
    }
    server.places_free().await;
    let server = server.crash().await;
    let mut found = 0;
    loop {
        let jobs = server.take(1000).await;
        if jobs.is_empty() {
            break;
        }
        found += jobs.len();
    }
    assert_eq!(
        found,
        acknowledged.load(Ordering::SeqCst),
        "as many as were acknowledged, no more and no fewer"
    );
}

#[tokio::test]
async fn a_full_disk_refuses_and_then_goes_on() {
    fails_and_resumes(|faults| &faults.full).await;
}

#[tokio::test]
async fn a_disk_that_cannot_sync_refuses_and_then_goes_on() {
    fails_and_resumes(|faults| &faults.failing_sync).await;
}

#[tokio::test]
async fn workers_are_served_again_when_the_disk_is_back() {
    let faults = Arc::new(DiskFaults::default());
    let server = faulty(&faults).await;
    let mut stream = server.stream("t");
    let node = server.share();
    let long_poll =
        tokio::spawn(async move { node.activate_jobs(jobs("t"), Some(Duration::from_secs(60))).await });
    server.quiet().await;
    server.create().await;
    crate::support::next(&mut stream).await;
    faults.full.store(true, Ordering::SeqCst);
    server.submit(create("{}")).await.unwrap_err();
    // A request that does not wait is answered at once.
    let poll = within(server.activate_jobs(jobs("u"), None)).await;
    assert!(matches!(poll, Err(SubmitError::Unavailable(_))), "{poll:?}");
    faults.full.store(false, Ordering::SeqCst);
    until("the broker is healthy", || server.health().partition.is_ok()).await;
    let third = within(async {
        loop {
            if let Ok(answer) = server.submit(create("{}")).await {
                return crate::support::created(&answer);
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    assert_eq!(crate::support::next(&mut stream).await.process_instance_key, third);
    drop(stream);
    server.create().await;
    let polled = within(long_poll).await.unwrap().unwrap();
    assert!(!polled.jobs.is_empty(), "the poll is served when the stream is gone");
}

#[tokio::test]
async fn a_stop_while_the_disk_fails_does_not_hang() {
    let faults = Arc::new(DiskFaults::default());
    let server = faulty(&faults).await;
    server.create().await;
    faults.failing_sync.store(true, Ordering::SeqCst);
    let clients: Vec<_> = (0..50)
        .map(|_| {
            let node = server.share();
            tokio::spawn(async move {
                loop {
                    let error = node.submit(create("{}")).await.unwrap_err();
                    assert!(matches!(error, SubmitError::Unavailable(_)), "{error}");
                    if error.to_string().contains("stopping") {
                        return;
                    }
                }
            })
        })
        .collect();
    within(server.shutdown()).await;
    for client in clients {
        within(client).await.unwrap();
    }
    server.places_free().await;
    faults.failing_sync.store(false, Ordering::SeqCst);
    let server = server.crash().await;
    // Refused writes may have reached the disk; acknowledged ones must have.
    assert!(!server.take(1000).await.is_empty());
}
