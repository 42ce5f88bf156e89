//! Brokers whose data are lost or damaged come back as other replicas.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_lost_its_data_comes_back_as_another_replica() {
    let mut cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    let lost = BROKERS.into_iter().find(|broker| *broker != leader).unwrap();
    // Twice: each replica has a number of its own.
    for generation in 1..3_u64 {
        created(&cluster.node(leader)).await;
        drop(cluster.nodes.remove(&lost));
        created(&cluster.node(leader)).await;
        cluster.directories.insert(lost, tempfile::tempdir().unwrap());
        cluster.start_again(lost).await;
        created(&cluster.node(lost)).await;
        cluster.agree().await;
        let file = std::fs::read_to_string(cluster.directories[&lost].path().join("replica.json")).unwrap();
        let replica = generation << 32 | u64::from(lost);
        assert!(file.contains(&format!("\"replica\": {replica},")), "{file}");
        cluster.until("the new replica has the vote", |cluster| is_voter(cluster, leader, replica)).await;
    }
    // Its vote counts: the leader goes away, and one of the two others takes over.
    drop(cluster.nodes.remove(&leader));
    cluster.leader().await;
    created(&cluster.node(lost)).await;
    cluster.start_again(leader).await;
    cluster.agree().await;
    // It can lead, and hand over.
    hand_over(&cluster.node(leader), lost).await;
    created(&cluster.node(leader)).await;
    cluster.stop().await;
}

fn is_voter(cluster: &Cluster, of: u32, replica: u64) -> bool {
    let members = cluster.nodes[&of].replicas();
    members.learners.is_empty() && members.voters.len() == BROKERS.len() && members.voters.contains(&replica)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_whose_files_are_damaged_is_rebuilt_and_the_files_are_kept() {
    for damaged in ["state", "log"] {
        let mut cluster = Cluster::start().await;
        let leader = cluster.leader().await;
        deploy(&cluster.node(leader)).await;
        let follower = BROKERS.into_iter().find(|broker| *broker != leader).unwrap();
        created(&cluster.node(follower)).await;
        cluster.nodes.remove(&follower).unwrap().shutdown().await;
        created(&cluster.node(leader)).await;
        let directory = cluster.directories[&follower].path().to_owned();
        for file in std::fs::read_dir(directory.join(damaged)).unwrap() {
            let path = file.unwrap().path();
            if path.is_file() && std::fs::metadata(&path).unwrap().len() > 64 {
                let mut bytes = std::fs::read(&path).unwrap();
                bytes[..64].fill(0xa5);
                std::fs::write(&path, bytes).unwrap();
            }
        }
        let error = cluster.fails_to_start(follower).await;
        assert!(error.contains("brought up by the others"), "{damaged}: {error}");
        cluster.start_again(follower).await;
        created(&cluster.node(follower)).await;
        cluster.agree().await;
        assert!(directory.join("damaged-1").join(damaged).exists());
        cluster.stop().await;
    }
}
