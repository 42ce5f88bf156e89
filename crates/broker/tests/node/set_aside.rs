//! Batches that are set aside while no broker runs.

use std::path::Path;

use broker::set_aside::{ClosedPartition, SetAsideError};
use broker_api::{Broker, SubmitError};
use protocol::{Command, FIRST_PARTITION, Query, QueryReply, RejectionType};

use crate::support::{Server, complete, task, within};

fn closed(directory: &Path) -> ClosedPartition<'_> {
    ClosedPartition::new(directory, FIRST_PARTITION)
}

/// Tries until the threads of a crashed broker have let go of the files.
async fn set_aside_when_free(
    directory: &Path,
    position: u64,
    is_sure: bool,
) -> Result<broker::set_aside::SetAside, SetAsideError> {
    let attempts = async {
        loop {
            match closed(directory).set_aside(position, is_sure).await {
                Err(error) if error.is_in_use() => tokio::task::yield_now().await,
                outcome => return outcome,
            }
        }
    };
    within(attempts).await
}

async fn banned(server: &Server) -> Vec<u64> {
    match within(server.read(Query::BannedInstances { after: 0, limit: 10 })).await.unwrap() {
        QueryReply::BannedInstances(found) => found.iter().map(|instance| instance.key).collect(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_batch_that_is_set_aside_is_not_applied_and_bans_what_it_touched() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    let (first, second) = (server.create().await, server.create().await);
    let jobs = server.take(2).await;
    server.quiet().await;
    server.complete(&jobs[0]).await.unwrap();
    let position = server.quiet().await;
    let crashed = server.kill();
    let skipped = set_aside_when_free(crashed.directory(), position, true).await.unwrap();
    assert!(matches!(skipped.batch.commands[..], [Command::CompleteJob(_)]), "{:?}", skipped.batch);
    assert!(skipped.file.is_file());
    let again = set_aside_when_free(crashed.directory(), position, true).await.unwrap_err();
    assert!(matches!(again, SetAsideError::Already(known) if known == position), "{again}");

    let mut server = crashed.start().await;
    for _ in 0..2 {
        assert_eq!(banned(&server).await, [first]);
        let error = within(server.submit(complete(jobs[0].key))).await.unwrap_err();
        let SubmitError::Rejected(rejection) = error else { panic!("{error}") };
        assert_eq!(rejection.kind, RejectionType::InvalidState, "the job is there: {}", rejection.reason);
        // Applied from the log once more: the same again.
        server = server.crash().await;
    }
    server.complete(&jobs[1]).await.unwrap();
    // The job goes on when the instance is released.
    within(server.submit(Command::Unban { process_instance_key: first })).await.unwrap();
    server.complete(&jobs[0]).await.unwrap();
    assert_ne!(first, second);
    // In the state now: the files are a memory.
    let crashed = server.restart().await.kill();
    let partition = closed(crashed.directory());
    assert_eq!(partition.list().unwrap(), [partition.inspect(position).unwrap()]);
    assert!(
        ClosedPartition::new(crashed.directory(), 2).list().unwrap().is_empty(),
        "it is of another partition"
    );
    let error = partition.inspect(position + 1).unwrap_err();
    assert!(matches!(error, SetAsideError::Unknown(_)), "{error}");
    let server = crashed.start().await;
    assert!(banned(&server).await.is_empty());
}

#[tokio::test]
async fn only_the_batch_that_comes_next_is_set_aside() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    server.create().await;
    let open = closed(server.directory()).set_aside(5, true).await.unwrap_err();
    assert!(open.is_in_use(), "{open}");
    // Everything up to here is in the state on disk.
    let server = server.restart().await;
    let applied = server.partition().durable_index;
    server.create().await;
    server.create().await;
    let last = server.quiet().await;
    let crashed = server.kill();
    let directory = crashed.directory();
    let error = set_aside_when_free(directory, applied, true).await.unwrap_err();
    assert!(matches!(error, SetAsideError::Applied { .. }), "{error}");
    let error = set_aside_when_free(directory, last + 1, true).await.unwrap_err();
    assert!(matches!(error, SetAsideError::NotInLog { .. }), "{error}");
    let error = set_aside_when_free(directory, last, false).await.unwrap_err();
    let SetAsideError::NotNext { expected, .. } = error else { panic!("{error}") };
    assert!(expected < last);
    set_aside_when_free(directory, expected, false).await.unwrap();
    let nothing = closed(&directory.join("nothing")).set_aside(1, true).await.unwrap_err();
    assert!(matches!(nothing, SetAsideError::NoData(..)), "{nothing}");
    crashed.start().await;
}

/// The order is written last: without it, nothing has happened. With it for another log, nothing starts.
#[tokio::test]
async fn half_of_an_order_is_none_and_a_wrong_one_is_told() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    server.create().await;
    let position = server.quiet().await;
    let crashed = server.kill();
    let file = set_aside_when_free(crashed.directory(), position, true).await.unwrap().file;
    let order = file.with_extension("json");
    let (kept, bytes) = (std::fs::read(&order).unwrap(), std::fs::read(&file).unwrap());
    std::fs::remove_file(&order).unwrap();
    let server = crashed.start().await;
    assert_eq!(server.take(1).await.len(), 1, "the creation is applied");
    let crashed = server.kill();
    std::fs::write(&order, kept).unwrap();
    let mut wrong = bytes.clone();
    *wrong.last_mut().unwrap() ^= 1;
    std::fs::write(&file, wrong).unwrap();
    let error = crashed.try_start().await.unwrap_err();
    assert!(error.to_string().contains("not the one that was set aside"), "{error}");
    std::fs::write(&file, bytes).unwrap();
    let server = crashed.start().await;
    assert!(server.take(1).await.is_empty(), "nothing was created");
}
