//! Snapshots that take the place of the log.

use super::*;

/// Stops a follower, and has the others purge the entries after that. Returns the follower and the leader.
async fn absent_and_leader(cluster: &Cluster) -> (u64, u64) {
    cluster.propose("before").await;
    let (leader, _) = cluster.leader().await;
    let absent = [1, 2, 3].into_iter().find(|node| *node != leader).unwrap();
    cluster.ledgers[&absent].reaches(1).await;
    cluster.unplug(absent).await;
    for number in 0..40 {
        cluster.propose(&format!("{number}")).await;
    }
    for (node, group) in cluster.groups() {
        cluster.ledgers[&node].reaches(41).await;
        let durable = cluster.ledgers[&node].flush();
        group.purge(durable).await;
        assert_eq!(group.metrics().purged_index, durable);
    }
    (absent, leader)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_whose_snapshot_may_not_outlive_a_crash_is_at_its_end() {
    let cluster = Cluster::of_three().await;
    let (absent, _) = absent_and_leader(&cluster).await;
    *cluster.ledgers[&absent].is_unsure.lock() = true;
    cluster.plug(absent).await;
    let group = cluster.wire.nodes.lock()[&absent].clone();
    let broken = async {
        while group.failure().is_none() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(ANSWER_MAX, broken).await.expect("it does not go on");
    assert!(group.failure().unwrap().reason.contains("not made sure of"), "{:?}", group.failure());
    assert_eq!(*cluster.ledgers[&absent].installed.lock(), 1);
    // The state that the disk has after all is one to begin with.
    *cluster.ledgers[&absent].is_unsure.lock() = false;
    cluster.unplug(absent).await;
    cluster.plug(absent).await;
    cluster.propose("after").await;
    cluster.ledgers[&absent].reaches(42).await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_voter_that_missed_too_much_is_sent_a_snapshot() {
    let cluster = Cluster::of_three().await;
    let (absent, leader) = absent_and_leader(&cluster).await;
    cluster.plug(absent).await;
    cluster.propose("after").await;
    for ledger in cluster.ledgers.values() {
        ledger.reaches(42).await;
        assert_eq!(ledger.texts(), cluster.ledgers[&leader].texts());
    }
    assert_eq!(*cluster.ledgers[&absent].installed.lock(), 1);
    // It restarts from the snapshot it was sent.
    cluster.unplug(absent).await;
    cluster.plug(absent).await;
    cluster.propose("last").await;
    cluster.ledgers[&absent].reaches(43).await;
    assert_eq!(*cluster.ledgers[&absent].installed.lock(), 1);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_former_leader_answers_when_a_snapshot_takes_the_place_of_entries() {
    let cluster = Cluster::of_three().await;
    cluster.propose("before").await;
    let (former, group) = cluster.settled().await;
    let others = || cluster.groups().into_iter().filter(|(node, _)| *node != former);
    cluster.ledgers[&former].reaches(1).await;
    *cluster.wire.cut_off.lock() = Some(former);
    let before = group.metrics().last_log_index;
    let (proposing, changing) = (group.clone(), group.clone());
    let lost =
        tokio::spawn(async move { proposing.propose(Payload::new(Bytes::from_static(b"lost"))).await });
    let change = tokio::spawn(async move { changing.add_learner(9, "node-9").await });
    while group.metrics().last_log_index < before + 2 {
        tokio::task::yield_now().await;
    }
    // Another one leads, and purges what the former leader lacks.
    let mut done = 0;
    while done < 5 {
        let leads = |(_, group): &(u64, Group)| group.is_leader();
        match others().find(leads) {
            Some((_, leader)) => {
                done += usize::from(leader.propose(Payload::new(Bytes::from_static(b"other"))).await.is_ok());
            }
            None => tokio::task::yield_now().await,
        }
    }
    for (node, other) in others() {
        cluster.ledgers[&node].reaches(1 + done).await;
        let durable = cluster.ledgers[&node].flush();
        // Entries that are being sent to the former leader stay until they are given up.
        while other.metrics().purged_index <= before + 2 {
            other.purge(durable).await;
        }
    }
    *cluster.wire.cut_off.lock() = None;
    let answered = tokio::time::timeout(ANSWER_MAX, lost).await.expect("it is answered").unwrap();
    assert_eq!(answered, Err(ProposeError::Superseded));
    let answered = tokio::time::timeout(ANSWER_MAX, change).await.expect("it is answered").unwrap();
    assert_eq!(answered, Err(MembershipError::NotLeader));
    assert_eq!(*cluster.ledgers[&former].installed.lock(), 1);
    assert_eq!(group.logged_members().await.learners, [].into());
    drop(group);
    cluster.unplug(former).await;
    cluster.plug(former).await;
    let (_, group) = cluster.groups().into_iter().find(|(node, _)| *node == former).unwrap();
    assert_eq!(group.logged_members().await.learners, [].into(), "the change is not in the log");
    // Its requests have answers, so that it can hand over when it leads again.
    cluster.propose("after").await;
    for ledger in cluster.ledgers.values() {
        ledger.reaches(2 + done).await;
        assert!(!ledger.texts().contains(&"lost".to_owned()));
    }
    drop(group);
    cluster.stop().await;
}
