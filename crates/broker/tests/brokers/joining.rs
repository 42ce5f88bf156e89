//! A broker that has seeds in place of the list of its cluster.

use transport::Tcp;

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_asks_seeds_for_the_list_and_keeps_it() {
    let mut cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    let joining = BROKERS.into_iter().find(|broker| *broker != leader).unwrap();
    drop(cluster.nodes.remove(&joining));
    cluster.directories.insert(joining, tempfile::tempdir().unwrap());
    let find = async |seeds: &[String], number: u32| {
        let mut options = cluster.options(joining);
        options.partition.node_id = number;
        timeout(PATIENCE, broker::find_brokers(&options, seeds, Arc::new(Tcp))).await.unwrap()
    };
    // One seed is away; the directory is that of a broker that was never started.
    let seeds = ["127.0.0.1:1".to_owned(), cluster.addresses[&leader].clone()];
    let error = find(&seeds, 7).await.unwrap_err().to_string();
    assert!(error.contains("have no number 7") && error.contains("cluster.node_id"), "{error}");
    assert_eq!(find(&seeds, joining).await.unwrap(), cluster.addresses);
    assert_eq!(find(&seeds[..1], joining).await.unwrap(), cluster.addresses, "as at the last start");
    cluster.start_again(joining).await;
    created(&cluster.node(joining)).await;
    cluster.agree().await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_list_of_brokers_adds_and_removes_no_members() {
    let mut cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    let list = cluster.addresses.clone();
    let other = BROKERS.into_iter().find(|broker| *broker != leader).unwrap();
    drop(cluster.nodes.remove(&other));
    cluster.addresses.insert(3, "127.0.0.1:1".to_owned());
    let error = cluster.fails_to_start(other).await;
    assert!(error.contains("cluster.brokers names the brokers {0, 1, 2, 3}"), "{error}");
    cluster.addresses.clone_from(&list);
    cluster.addresses.remove(&leader);
    let error = cluster.fails_to_start(other).await;
    assert!(error.contains("but the cluster has the brokers {0, 1, 2}"), "{error}");
    cluster.addresses = list;
    cluster.start_again(other).await;
    created(&cluster.node(other)).await;
    cluster.agree().await;
    assert_eq!(cluster.node(other).voters(), BROKERS.into_iter().collect());
    cluster.stop().await;
}
