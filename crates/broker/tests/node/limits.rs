//! Commands that are too large or take too long.

use std::time::{Duration, Instant};

use broker_api::{Broker, JobRequest, SubmitError};
use protocol::{Command, Deploy, Document, ENTRIES_SETTING, FailJob, Name, RejectionType, Resource};

use crate::support::{Server, create, instance, jobs, task, within};

#[tokio::test]
async fn a_command_larger_than_a_message_may_be_is_refused_with_the_figures() {
    let server = Server::with(|options| options.partition.max_message_bytes = 10_000).await;
    server.deploy(&task("t")).await;
    let before = server.quiet().await;
    let variables = format!("{{\"x\":\"{}\"}}", "y".repeat(20_000));
    let resource = Resource { name: Name::from("a.bpmn"), content: vec![b'<'; 20_000] };
    let deploy = Deploy { resources: vec![resource], tenant_id: Name::default_tenant() };
    for command in [create(&variables), Command::Deploy(deploy)] {
        let error = within(server.submit(command)).await.unwrap_err();
        let SubmitError::TooLarge(text) = error else { panic!("{error}") };
        let is_named = matches!(text.split_once(':'), Some(("resources" | "variables", _)));
        assert!(is_named && text.contains("10000 bytes") && text.contains("found 20"), "{text}");
    }
    assert_eq!(server.quiet().await, before);
    server.places_free().await;
    server.create().await;
}

/// Neither a log nor a worker has anything of them.
#[tokio::test]
async fn a_request_with_too_many_entries_is_refused_with_its_field_and_the_setting() {
    const LIMIT: usize = 100;
    let server = Server::with(|options| options.partition.work.max_entries_per_command = LIMIT).await;
    server.deploy(&task("t")).await;
    let before = server.quiet().await;
    let variables = |count: usize| {
        let members: Vec<_> = (0..count).map(|at| format!("\"v{at}\":0")).collect();
        format!("{{{}}}", members.join(","))
    };
    let names = |count: usize| (0..count).map(|at| Name::from(format!("v{at}"))).collect::<Vec<_>>();
    let refused = |error: SubmitError, field: &str| {
        let SubmitError::Rejected(rejection) = error else { panic!("{error}") };
        assert_eq!(rejection.kind, RejectionType::InvalidArgument);
        let reason = rejection.reason;
        assert!(
            reason.contains(ENTRIES_SETTING) && reason.contains(&format!("'{field}' has {}", LIMIT + 1)),
            "{reason}"
        );
    };
    refused(within(server.submit(create(&variables(LIMIT + 1)))).await.unwrap_err(), "variables");
    let waiting = server.create_with_result(None, instance("{}"), names(LIMIT + 1), Duration::from_secs(1));
    refused(within(waiting).await.unwrap_err(), "fetchVariables");
    let fetching = || JobRequest { fetch_variables: names(LIMIT + 1), ..jobs("t") };
    let polled = server.activate_jobs(fetching(), None);
    refused(within(polled).await.unwrap_err(), "fetchVariable");
    refused(server.stream_jobs(fetching()).err().unwrap(), "fetchVariable");
    let tenants = server.activate_jobs(JobRequest { tenant_ids: names(1001), ..jobs("t") }, None);
    assert!(within(tenants).await.unwrap_err().to_string().contains("'tenantIds' has 1001"));
    assert_eq!(server.quiet().await, before);
    within(server.submit(create(&variables(LIMIT)))).await.unwrap();
}

#[tokio::test]
async fn what_the_log_cannot_take_is_refused_and_hurts_nobody_else() {
    let server = Server::with(|options| options.partition.max_message_bytes = usize::MAX).await;
    server.deploy(&task("t")).await;
    let content = vec![b'<'; 65 << 20];
    let resource = Resource { name: Name::from("a.bpmn"), content };
    let deploy = Deploy { resources: vec![resource], tenant_id: Name::default_tenant() };
    let node = server.share();
    let large = tokio::spawn(async move { node.submit(Command::Deploy(deploy)).await });
    let mut small = 0;
    while !large.is_finished() {
        server.create().await;
        small += 1;
    }
    let error = within(large).await.unwrap().unwrap_err();
    assert!(matches!(&error, SubmitError::TooLarge(text) if text.contains("limit")), "{error}");
    server.create().await;
    assert_eq!(server.take(100_000).await.len(), small + 1);
}

/// Texts that are no variables count, too: of an entry over the limit of the log everybody would be refused.
#[tokio::test]
async fn large_commands_do_not_spoil_the_entry_of_others() {
    const COUNT: usize = 20;
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    let gate = std::sync::Arc::new(tokio::sync::Barrier::new(COUNT));
    let tasks: Vec<_> = (0..COUNT)
        .map(|_| {
            let (node, gate) = (server.share(), gate.clone());
            tokio::spawn(async move {
                let variables = Document::parse(bytes::Bytes::from_static(b"{}")).unwrap();
                let error_message = Name::from("y".repeat(4 << 20).as_str());
                let fail = FailJob {
                    job_key: 1,
                    retries: 0,
                    retry_backoff_ms: 0,
                    error_message,
                    variables,
                    lease: None,
                };
                gate.wait().await;
                node.submit(Command::FailJob(fail)).await
            })
        })
        .collect();
    for task in tasks {
        let error = within(task).await.unwrap().unwrap_err();
        assert!(matches!(error, SubmitError::Rejected(_)), "there is no such job: {error}");
    }
}

#[tokio::test]
async fn an_entry_is_closed_by_its_bytes() {
    let server = Server::with(|options| options.partition.ingress.max_batch_bytes = 1000).await;
    server.deploy(&task("t")).await;
    let before = server.quiet().await;
    let variables = format!("{{\"x\":\"{}\"}}", "y".repeat(600));
    let tasks: Vec<_> = (0..10)
        .map(|_| {
            let (node, variables) = (server.share(), variables.clone());
            tokio::spawn(async move { node.submit(create(&variables)).await })
        })
        .collect();
    for task in tasks {
        within(task).await.unwrap().unwrap();
    }
    assert_eq!(server.quiet().await, before + 10);
}

#[tokio::test]
async fn an_expression_without_end_blocks_nobody() {
    let server = Server::with(|options| options.expression_timeout = Duration::from_millis(100)).await;
    server.deploy(&task("t")).await;
    let endless = "=count(for a in 1..100000, b in 1..100000 return a * b)".to_owned();
    let began = Instant::now();
    let runaways: Vec<_> = (0..64)
        .map(|_| {
            let (node, text) = (server.share(), endless.clone());
            tokio::spawn(async move {
                node.evaluate_expression(text, Document::empty(), Name::default_tenant()).await
            })
        })
        .collect();
    for _ in 0..20 {
        server.create().await;
    }
    for runaway in runaways {
        let error = within(runaway).await.unwrap().unwrap_err();
        assert!(matches!(error, SubmitError::Rejected(_) | SubmitError::ResourceExhausted(_)), "{error}");
    }
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn expressions_beyond_the_places_wait_for_their_turn_and_are_refused_after_their_time() {
    let server = Server::with(|options| {
        options.max_evaluations_at_once = 1;
        options.expression_timeout = Duration::from_millis(100);
    })
    .await;
    let ask = |text: &str| {
        let (node, text) = (server.share(), text.to_owned());
        tokio::spawn(async move {
            node.evaluate_expression(text, Document::empty(), Name::default_tenant()).await
        })
    };
    // Runs until it has used up its fuel, which takes far longer.
    let runaways = [(); 5].map(|()| ask("=count(for a in 1..100000, b in 1..100000 return a * b)"));
    let mut waited = 0;
    for runaway in runaways {
        match within(runaway).await.unwrap().unwrap_err() {
            SubmitError::ResourceExhausted(reason) => {
                assert!(
                    reason.contains("1 others are under way (limits.max_evaluations_at_once)"),
                    "{reason}"
                );
                waited += 1;
            }
            other => assert!(matches!(other, SubmitError::Rejected(_)), "{other}"),
        }
    }
    assert!(waited > 0, "they ran all at once");
    // The place is free once the evaluation has really ended.
    let began = Instant::now();
    while within(ask("=1 + 1")).await.unwrap().is_err() {
        assert!(began.elapsed() < Duration::from_secs(30), "the place is not given back");
    }
}

#[tokio::test]
async fn expressions_give_results_warnings_and_errors() {
    let server = Server::start().await;
    let variables = Document::parse(bytes::Bytes::from_static(b"{\"a\":{\"b\":[1,2]}}")).unwrap();
    let result = server
        .evaluate_expression("=a.b[2] + 1".to_owned(), variables.clone(), Name::default_tenant())
        .await
        .unwrap();
    assert_eq!((result.result_json.as_str(), result.warnings.len()), ("3", 0));
    let result = server
        .evaluate_expression("a.c".to_owned(), variables.clone(), Name::default_tenant())
        .await
        .unwrap();
    assert_eq!(result.result_json, "null");
    assert!(!result.warnings.is_empty());
    let error =
        server.evaluate_expression("=1 +".to_owned(), variables, Name::default_tenant()).await.unwrap_err();
    assert!(matches!(&error, SubmitError::Rejected(r) if r.reason.contains("=1 +")), "{error}");
}
