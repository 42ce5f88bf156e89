//! Old copies of data directories that are put back, and clusters that begin with a backup.

use std::path::Path;

use broker::{BackupState, restore};

use super::*;

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (entry, target) = (entry.as_ref().unwrap().path(), to.join(entry.as_ref().unwrap().file_name()));
        if entry.is_dir() {
            copy(&entry, &target);
        } else {
            std::fs::copy(&entry, &target).unwrap();
        }
    }
}

fn replica_file(cluster: &Cluster, broker: u32) -> String {
    std::fs::read_to_string(cluster.directories[&broker].path().join("replica.json")).unwrap()
}

fn has_replica(cluster: &Cluster, broker: u32, generation: u64) -> bool {
    let replica = generation << 32 | u64::from(broker);
    replica_file(cluster, broker).contains(&format!("\"replica\": {replica},"))
}

/// Reads an instance. A broker that is sent a snapshot answers a moment later.
async fn assert_has(node: &Node, key: Key) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match timeout(PATIENCE, node.read(Query::ProcessInstance { key })).await.unwrap() {
            Ok(QueryReply::ProcessInstance(_)) => return,
            Err(SubmitError::Unavailable(_)) if Instant::now() < deadline => look().await,
            other => panic!("{key}: {other:?}"),
        }
    }
}

impl Cluster {
    async fn shut_down(&mut self, broker: u32) {
        self.nodes.remove(&broker).unwrap().shutdown().await;
    }

    /// A copy of the directory of a broker that is stopped, as an operator takes it.
    pub(super) fn copied(&self, broker: u32) -> TempDir {
        let target = tempfile::tempdir().unwrap();
        copy(self.directories[&broker].path(), target.path());
        target
    }

    /// Puts a copy, or these parts of it, in the place of a directory.
    pub(super) fn put_back(&mut self, broker: u32, old: &TempDir, parts: &[&str]) {
        if parts.is_empty() {
            let target = tempfile::tempdir().unwrap();
            copy(old.path(), target.path());
            self.directories.insert(broker, target);
        }
        for part in parts {
            let target = self.directories[&broker].path().join(part);
            std::fs::remove_dir_all(&target).unwrap();
            copy(&old.path().join(part), &target);
        }
    }

    /// Starts a broker whose files are an old copy: it comes back as this replica, or as a later one if a busy machine
    /// lets it ask for a number twice. Either the others tell it, or its log and its state do not fit together, which
    /// its start finds.
    pub(super) async fn start_anew(&mut self, broker: u32, generation: u64) {
        self.start_again(broker).await;
        let is_new = |cluster: &Self| (generation..9).any(|later| has_replica(cluster, broker, later));
        let is_told = |cluster: &Self| replica_file(cluster, broker).contains("given-up");
        self.until("it is told", |cluster| is_new(cluster) || is_told(cluster)).await;
        if is_told(self) {
            let node = self.nodes.remove(&broker).unwrap();
            assert!(!node.leads());
            drop(node);
            self.start_again(broker).await;
        }
        assert!(is_new(self), "{}", replica_file(self, broker));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_copy_of_a_directory_comes_back_as_another_replica() {
    let mut cluster = Cluster::start().await;
    let mut expected = BTreeSet::new();
    let first = cluster.leader().await;
    deploy(&cluster.node(first)).await;
    // Of a follower, whole; of the leader, whole; of its log alone.
    for (of_leader, parts) in [(false, &[][..]), (true, &[]), (false, &["log"])] {
        let leader = cluster.leader().await;
        let broker = BROKERS.into_iter().find(|broker| (*broker == leader) == of_leader).unwrap();
        let before = (0..9).find(|generation| has_replica(&cluster, broker, *generation)).unwrap();
        cluster.shut_down(broker).await;
        let old = cluster.copied(broker);
        cluster.start_again(broker).await;
        // It acknowledges these: one of the others is away.
        let away =
            BROKERS.into_iter().find(|other| *other != broker && !cluster.nodes[other].leads()).unwrap();
        cluster.shut_down(away).await;
        for _ in 0..5 {
            expected.insert(created(&cluster.node(broker)).await);
        }
        cluster.start_again(away).await;
        cluster.shut_down(broker).await;
        cluster.put_back(broker, &old, parts);
        cluster.start_anew(broker, before + 1).await;
        expected.insert(created(&cluster.node(broker)).await);
        cluster.agree().await;
        // Until its new replica is a voter and the former one is none, the next loss may be that of a majority.
        cluster.until("it is ready", |cluster| cluster.nodes[&broker].health().partition.is_ok()).await;
        let directory = cluster.directories[&broker].path();
        assert!((1..9).any(|number| directory.join(format!("damaged-{number}/log")).exists()));
    }
    // All is there when any of them leads.
    for broker in BROKERS {
        hand_over(&cluster.node(broker), broker).await;
        for key in &expected {
            assert_has(&cluster.node(broker), *key).await;
        }
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_that_is_not_old_is_as_good_as_the_directory() {
    let mut cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    let follower = BROKERS.into_iter().find(|broker| *broker != leader).unwrap();
    cluster.shut_down(follower).await;
    let moved = cluster.copied(follower);
    created(&cluster.node(leader)).await;
    cluster.put_back(follower, &moved, &[]);
    cluster.start_again(follower).await;
    created(&cluster.node(follower)).await;
    cluster.agree().await;
    assert!(has_replica(&cluster, follower, 0));
    // All of them are stopped, copied and moved.
    for broker in BROKERS {
        cluster.shut_down(broker).await;
    }
    let moved = BROKERS.map(|broker| cluster.copied(broker));
    for (broker, moved) in BROKERS.into_iter().zip(&moved) {
        cluster.put_back(broker, moved, &[]);
        cluster.start_again(broker).await;
    }
    created(&cluster.node(0)).await;
    cluster.agree().await;
    assert!(BROKERS.into_iter().all(|broker| has_replica(&cluster, broker, 0)));
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copied_directory_waits_for_all_brokers_and_has_no_vote_until_then() {
    let mut cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    let [follower, third] = [1, 2].map(|place| (leader + place) % 3);
    cluster.shut_down(follower).await;
    let old = cluster.copied(follower);
    cluster.shut_down(leader).await;
    cluster.put_back(follower, &old, &[]);
    cluster.start_again(follower).await;
    // A majority is there, and one of them may know less than the one that is away.
    let refused = cluster.node(third).submit(Command::CreateInstance(create())).await;
    assert!(matches!(refused, Err(SubmitError::Unavailable(_) | SubmitError::Timeout(_))), "{refused:?}");
    cluster.start_again(leader).await;
    created(&cluster.node(third)).await;
    cluster.agree().await;
    // In its place it does not wait for one that is away.
    cluster.shut_down(leader).await;
    cluster.shut_down(follower).await;
    cluster.start_again(follower).await;
    created(&cluster.node(third)).await;
    cluster.stop().await;
}

/// Ends a cluster, and begins these brokers anew with a backup of it, the others with empty directories.
async fn restored(backups: &Path, begin: &[u32]) -> (Cluster, Key) {
    let directory = backups.to_owned();
    let store: SetUp = Box::new(move |options| options.backups = Some(directory.clone()));
    let mut cluster = Cluster::start_with(Settings { store: Some(store), ..Settings::default() }).await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    let key = created(&cluster.node(leader)).await;
    cluster.node(leader).take_backup(Some(5)).await.unwrap();
    let deadline = Instant::now() + PATIENCE;
    loop {
        let backups = cluster.node(leader).backups().await.unwrap();
        if backups.iter().all(|backup| backup.state == BackupState::Completed) {
            break;
        }
        assert!(Instant::now() < deadline, "{backups:?}");
        look().await;
    }
    for broker in BROKERS {
        cluster.shut_down(broker).await;
        let new = tempfile::tempdir().unwrap();
        if begin.contains(&broker) {
            restore(new.path(), backups, 5).unwrap();
        }
        cluster.directories.insert(broker, new);
    }
    (cluster, key)
}

impl Cluster {
    /// All brokers begin at the same time.
    async fn begin_all(&mut self) {
        let starting = BROKERS.map(|broker| {
            let (addresses, options) = (self.addresses.clone(), self.options(broker));
            async move {
                let deadline = Instant::now() + PATIENCE;
                // The former life lets go of the port and the files a moment later.
                loop {
                    let error = match TcpListener::bind(&addresses[&broker]).await {
                        Err(error) => error.to_string(),
                        Ok(listener) => {
                            let replica = Replica { brokers: addresses.clone(), attachment: listener.into() };
                            match Box::pin(Node::start_replica(options.clone(), replica)).await {
                                Ok(node) => return (broker, node),
                                Err(error) => error.to_string(),
                            }
                        }
                    };
                    assert!(Instant::now() < deadline, "{error}");
                    look().await;
                }
            }
        });
        self.nodes = futures::future::join_all(starting).await.into_iter().collect();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_broker_of_a_restored_cluster_is_sent_the_state() {
    let backups = tempfile::tempdir().unwrap();
    let (mut cluster, key) = restored(backups.path(), &BROKERS).await;
    cluster.begin_all().await;
    let leader = cluster.leader().await;
    created(&cluster.node(leader)).await;
    let lost = BROKERS.into_iter().find(|broker| *broker != leader).unwrap();
    cluster.shut_down(lost).await;
    cluster.directories.insert(lost, tempfile::tempdir().unwrap());
    cluster.start_again(lost).await;
    assert_has(&cluster.node(lost), key).await;
    created(&cluster.node(lost)).await;
    cluster.agree().await;
    // It leads as well as another, also after a start of all of them.
    cluster
        .until("it has its vote", |cluster| {
            // A later one, if a busy machine lets it ask for a number twice.
            (1..9).any(|generation| {
                cluster.nodes[&leader].replicas().voters.contains(&(generation << 32 | u64::from(lost)))
            })
        })
        .await;
    hand_over(&cluster.node(leader), lost).await;
    created(&cluster.node(leader)).await;
    for broker in BROKERS {
        cluster.shut_down(broker).await;
    }
    cluster.begin_all().await;
    created(&cluster.node(leader)).await;
    cluster.agree().await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_does_not_begin_with_different_backups() {
    let backups = tempfile::tempdir().unwrap();
    let (mut cluster, key) = restored(backups.path(), &[0, 1]).await;
    let late = timeout(Duration::from_secs(3), cluster.begin_all()).await;
    assert!(late.is_err(), "a broker without the backup takes part");
    assert!(!cluster.directories[&2].path().join("log").exists(), "it has a vote");
    cluster.directories.insert(2, tempfile::tempdir().unwrap());
    restore(cluster.directories[&2].path(), backups.path(), 5).unwrap();
    cluster.begin_all().await;
    assert_has(&cluster.node(2), key).await;
    cluster.agree().await;
    cluster.stop().await;
}
