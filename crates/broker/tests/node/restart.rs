//! State of a broker after a crash or a stop.

use std::time::{Duration, Instant};

use broker_api::{Broker, JobRequest};
use protocol::{
    Command, GlobalListener, GlobalListenerCommand, GlobalListenerSource, JobListenerEventType, Query,
    QueryReply, Response,
};

use crate::support::{
    HOUR_MS, Server, cancel, complete, create, endless, instance, jobs, keys, long_way, task, timer_and_task,
    until, within,
};

#[tokio::test]
async fn a_crash_loses_nothing_and_repeats_nothing() {
    let mut server = Server::start().await;
    server.deploy(&task("t")).await;
    let mut instances = Vec::new();
    for _ in 0..4 {
        for _ in 0..20 {
            instances.push(server.create().await);
        }
        let before = server.partition();
        server = server.crash().await;
        let after = server.partition();
        assert_eq!(after.position, before.position + 1, "all that came is the tick of the start");
        assert!(after.committed_index > before.committed_index);
    }
    let jobs = server.take(1000).await;
    assert_eq!(jobs.iter().map(|job| job.process_instance_key).collect::<Vec<_>>(), instances);
    for job in &jobs {
        server.complete(job).await.unwrap();
    }
    let server = server.crash().await;
    assert!(server.take(1000).await.is_empty());
    for instance in instances {
        server.submit(cancel(instance)).await.expect_err("it has ended");
    }
}

#[tokio::test]
async fn a_stop_in_order_leaves_nothing_to_repeat() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    let instance = server.create().await;
    let before = server.partition();
    assert_eq!(before.durable_index, 0, "nothing is flushed yet");
    let server = server.restart().await;
    let after = server.partition();
    assert!(after.durable_index >= before.committed_index, "{after:?}");
    assert_eq!(server.take(10).await[0].process_instance_key, instance);
}

#[tokio::test]
async fn jobs_stay_with_their_workers_and_deadlines_go_on() {
    for crash in [true, false] {
        let server = Server::start().await;
        server.deploy(&task("t")).await;
        for _ in 0..6 {
            server.create().await;
        }
        let owned = server.take(2).await;
        let hasty = JobRequest { timeout_ms: 400, max_jobs: 2, ..jobs("t") };
        let lent_at = Instant::now();
        let lent = within(server.activate_jobs(hasty, None)).await.unwrap().jobs;
        let mut stream = server.stream_jobs(JobRequest { timeout_ms: HOUR_MS, ..jobs("t") }).unwrap();
        let streamed = [crate::support::next(&mut stream).await, crate::support::next(&mut stream).await];
        drop(stream);
        let server = if crash { server.crash().await } else { server.restart().await };
        let mut back = Vec::new();
        while back.len() < 2 {
            let wait = Some(Duration::from_secs(10));
            back.extend(within(server.activate_jobs(jobs("t"), wait)).await.unwrap().jobs);
        }
        assert!(lent_at.elapsed() >= Duration::from_millis(390), "crash: {crash}");
        assert_eq!(keys(&back), keys(&lent), "crash: {crash}");
        assert!(server.take(1000).await.is_empty(), "crash: {crash}");
        for job in owned.iter().chain(&back).chain(&streamed) {
            server.complete(job).await.unwrap();
        }
    }
}

#[tokio::test]
async fn timers_go_on_even_if_they_were_due_meanwhile() {
    let server = Server::start().await;
    server.deploy(&timer_and_task("PT0.3S")).await;
    let mut instances = vec![server.create().await];
    let server = server.crash().await;
    instances.push(server.create().await);
    let mut arrived = Vec::new();
    while arrived.len() < 2 {
        let wait = Some(Duration::from_secs(10));
        let jobs = within(server.activate_jobs(jobs("t"), wait)).await.unwrap().jobs;
        assert!(!jobs.is_empty(), "a timer never fires");
        arrived.extend(jobs.iter().map(|job| job.process_instance_key));
    }
    assert_eq!(arrived, instances);
}

#[tokio::test]
async fn steps_left_over_are_taken_up_again() {
    let server = Server::start().await;
    server.deploy(&long_way(1000)).await;
    let mut instances = Vec::new();
    for _ in 0..5 {
        instances.push(server.create().await);
    }
    let server = server.crash().await;
    let mut arrived = Vec::new();
    while arrived.len() < 5 {
        let wait = Some(Duration::from_secs(10));
        let jobs = within(server.activate_jobs(jobs("t"), wait)).await.unwrap().jobs;
        assert!(!jobs.is_empty());
        arrived.extend(jobs.iter().map(|job| job.process_instance_key));
    }
    arrived.sort_unstable();
    assert_eq!(arrived, instances);
}

#[tokio::test]
async fn a_loop_without_end_goes_on_until_somebody_ends_it() {
    let server = Server::start().await;
    server.deploy(&endless()).await;
    let key = server.create().await;
    let server = server.crash().await;
    let before = server.index();
    until("the loop goes on", || server.index() > before + 10).await;
    within(server.submit(cancel(key))).await.unwrap();
    server.quiet().await;
}

#[tokio::test]
async fn the_log_is_purged_behind_the_flush_and_the_rest_suffices() {
    let mut server = Server::with(|options| {
        options.partition.state.flush_interval = Duration::from_millis(20);
        options.partition.log.segment_bytes = 64 << 10;
        options.partition.log.retained_bytes = 128 << 10;
    })
    .await;
    server.deploy(&task("t")).await;
    let payload = format!("{{\"x\":\"{}\"}}", "y".repeat(4000));
    let mut created = 0;
    for _ in 0..3 {
        for _ in 0..100 {
            server.submit(create(&payload)).await.unwrap();
            created += 1;
        }
        until("everything is flushed", || server.partition().durable_index + 3 > server.index()).await;
        until("the log is cut", || server.partition().purged_index + 8 > server.index()).await;
        server = server.crash().await;
    }
    let jobs = server.take(1000).await;
    let mut seen = jobs.len();
    // A delivery is bounded by bytes.
    while seen < created {
        let more = server.take(1000).await;
        assert!(!more.is_empty(), "{seen} of {created}");
        seen += more.len();
    }
    let server = server.restart().await;
    server.submit(complete(jobs[0].key)).await.unwrap();
}

#[tokio::test]
async fn listeners_of_the_configuration_are_there_after_each_start() {
    let listener = |id: &str, job_type: &str, source| GlobalListener {
        id: id.into(),
        job_type: job_type.into(),
        retries: 3,
        event_types: vec![JobListenerEventType::Creating],
        after_non_global: false,
        priority: 50,
        source,
    };
    let (api, configuration) = (GlobalListenerSource::Api, GlobalListenerSource::Configuration);
    let find =
        async |server: &Server, id: &str| match server.read(Query::GlobalListener { id: id.into() }).await {
            Ok(QueryReply::GlobalListener(found)) => Some((found.job_type.to_string(), found.source)),
            _ => None,
        };
    let change = |command| Command::GlobalListener(command);

    let mut server = Server::start().await;
    let create = GlobalListenerCommand::Create(listener("a", "api", api));
    server.submit(change(create)).await.unwrap();
    server.options.partition.global_listeners = vec![listener("b", "mine", api), listener("a", "mine", api)];
    server = server.restart().await;
    for id in ["a", "b"] {
        assert_eq!(find(&server, id).await, Some(("mine".to_owned(), configuration)), "{id}");
    }
    // Requests change them until the next start.
    let update = GlobalListenerCommand::Update(listener("a", "api", api));
    server.submit(change(update)).await.unwrap();
    assert_eq!(find(&server, "a").await, Some(("api".to_owned(), configuration)));
    server.submit(change(GlobalListenerCommand::Delete { id: "b".into() })).await.unwrap();
    assert_eq!(find(&server, "b").await, None);
    server = server.restart().await;
    for id in ["a", "b"] {
        assert_eq!(find(&server, id).await, Some(("mine".to_owned(), configuration)), "{id}");
    }
    let before = server.partition().position;
    server = server.crash().await;
    assert_eq!(server.partition().position, before + 1, "what is there already is not written again");
    server.options.partition.global_listeners = vec![listener("b", "new", api)];
    server = server.restart().await;
    assert_eq!(find(&server, "a").await, None);
    assert_eq!(find(&server, "b").await, Some(("new".to_owned(), configuration)));
    server.options.partition.global_listeners.clear();
    server = server.restart().await;
    assert_eq!(find(&server, "b").await, None);
}

#[tokio::test]
async fn a_lower_limit_undoes_nothing_that_was_acknowledged() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    let large = format!("{{\"x\":\"{}\"}}", "y".repeat(2000));
    let accepted = server.submit(Command::CreateInstance(instance(&large))).await.unwrap();
    let Response::InstanceCreated(accepted) = accepted.response else { panic!("{accepted:?}") };
    // The log is applied anew, under the limits of then.
    let lowered = server.kill().with(|options| {
        options.partition.work.max_variable_bytes = 100;
        options.partition.bpmn.max_flow_elements = 1;
    });
    let server = lowered.start().await;
    let jobs = server.take(10).await;
    assert_eq!(
        jobs.iter().map(|job| job.process_instance_key).collect::<Vec<_>>(),
        [accepted.process_instance_key]
    );
    assert_eq!(jobs[0].variables.to_json(), large);
    let refused = server.submit(Command::CreateInstance(instance(&large))).await.unwrap_err();
    assert!(refused.to_string().contains("limits.max_variable_bytes"), "{refused}");
    // And once more under those of a broker that did not change.
    let server = server.crash().await;
    server.submit(Command::CreateInstance(instance(&large))).await.unwrap_err();
    let server =
        server.kill().with(|options| options.partition.work.max_variable_bytes = 10_000).start().await;
    server.submit(Command::CreateInstance(instance(&large))).await.unwrap();
}

#[tokio::test]
async fn settings_are_proposed_when_they_change() {
    let server = Server::start().await;
    let server = server.crash().await;
    let before = server.partition().position;
    let server = server.crash().await;
    assert_eq!(server.partition().position, before + 1, "a start takes a tick");
    let server = server.kill().with(|options| options.partition.dmn.max_cells = 7).start().await;
    assert_eq!(server.partition().position, before + 3, "and a command that configures");
}

#[tokio::test]
async fn a_broker_of_another_cluster_does_not_start_on_the_data() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    let crashed = server.crash().await.kill().with(|options| "elsewhere".clone_into(&mut options.cluster_id));
    let error = crashed.try_start().await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("cluster 'baton'") && text.contains("cluster 'elsewhere' (cluster.id)"), "{text}");
    let crashed = crashed.with(|options| {
        "baton".clone_into(&mut options.cluster_id);
        options.partition.node_id = 3;
    });
    let error = crashed.try_start().await.unwrap_err();
    assert!(error.to_string().contains("belong to broker 0, but this is broker 3"), "{error}");
    let server = crashed.with(|options| options.partition.node_id = 0).start().await;
    server.create().await;
}
