//! A broker that can be crashed and started again, and short words for what a client asks of it.

use std::future::Future;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use broker::{Node, Options};
use broker_api::{Answer, Broker, JobRequest, JobStream, SubmitError};
use bytes::Bytes;
use futures::StreamExt;
use protocol::{
    ActivatedJob, Command, CompleteJob, CreateInstance, DefinitionRef, Deploy, Document, FailJob, Key, Name,
    Resource, Response,
};
use tempfile::TempDir;

/// Nothing here takes that long; what does has hung.
pub const PATIENCE: Duration = Duration::from_secs(20);
/// How often something is looked at that nobody announces.
const LOOK: Duration = Duration::from_millis(5);
/// An hour in milliseconds: longer than any test.
pub const HOUR_MS: i64 = 3_600_000;

/// A running broker and its directory.
pub struct Server {
    node: Arc<Node>,
    /// Of the next start.
    pub options: Options,
    directory: TempDir,
}

fn options_in(directory: &Path) -> Options {
    let mut options = Options::new(directory);
    options.disk.min_free_bytes = 0;
    options.partition.log.min_free_bytes = 1;
    options.partition.state.flush_interval = Duration::from_secs(3600);
    options
}

impl Deref for Server {
    type Target = Node;
    fn deref(&self) -> &Node {
        &self.node
    }
}

impl Server {
    pub async fn start() -> Self {
        Self::with(|_| {}).await
    }

    /// Starts with changed options. By default the disk is never too full, and only time flushes, rarely.
    pub async fn with(change: impl FnOnce(&mut Options)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut options = options_in(directory.path());
        change(&mut options);
        let node = Box::pin(Node::start(options.clone())).await.unwrap();
        Self { node, options, directory }
    }

    /// The broker, to be moved into a task.
    pub fn share(&self) -> Arc<Node> {
        Arc::clone(&self.node)
    }

    /// Lets go of everything at once, as a crash does, and starts again on the same directory.
    pub async fn crash(self) -> Self {
        let Self { node, options, directory } = self;
        drop(node);
        Self::reopen(options, directory).await
    }

    /// Lets go of everything at once.
    pub fn kill(self) -> Crashed {
        let Self { node, options, directory } = self;
        drop(node);
        Crashed { options, directory }
    }

    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Stops in order, and starts again on the same directory.
    pub async fn restart(self) -> Self {
        within(self.node.shutdown()).await;
        let Self { node, options, directory } = self;
        drop(node);
        let node = Box::pin(Node::start(options.clone())).await.expect("a shutdown leaves nothing open");
        Self { node, options, directory }
    }

    async fn reopen(options: Options, directory: TempDir) -> Self {
        let deadline = Instant::now() + PATIENCE;
        loop {
            // The threads of the crashed broker let go of the files a moment later.
            match Box::pin(Node::start(options.clone())).await {
                Ok(node) => return Self { node, options, directory },
                Err(error) => assert!(Instant::now() < deadline, "{error}"),
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    pub async fn deploy(&self, body: &str) {
        self.deploy_for("<default>", body).await;
    }

    pub async fn deploy_for(&self, tenant: &str, body: &str) {
        self.deploy_file(tenant, process(body)).await;
    }

    /// Deploys a model that waits for message `m` with the correlation key in variable `key`.
    pub async fn deploy_message(&self) {
        let wait = r#"<bpmn:intermediateCatchEvent id="a"><bpmn:messageEventDefinition messageRef="m"/></bpmn:intermediateCatchEvent>"#;
        let message = r#"<bpmn:message id="m" name="m"><bpmn:extensionElements><zeebe:subscription correlationKey="=key"/></bpmn:extensionElements></bpmn:message></bpmn:definitions>"#;
        let model = process(&format!("{wait}{TO_END}")).replace("</bpmn:definitions>", message);
        self.deploy_file("<default>", model).await;
    }

    async fn deploy_file(&self, tenant: &str, model: String) {
        let content = model.into_bytes();
        let resources = vec![Resource { name: Name::from("process.bpmn"), content }];
        let deploy = Deploy { resources, tenant_id: Name::from(tenant) };
        self.submit(Command::Deploy(deploy)).await.unwrap();
    }

    /// Creates an instance of process `p`.
    pub async fn create(&self) -> Key {
        created(&self.submit(create("{}")).await.unwrap())
    }

    pub async fn complete(&self, job: &ActivatedJob) -> Result<Answer, SubmitError> {
        self.submit(complete(job.key)).await
    }

    pub async fn fail(&self, job: &ActivatedJob, retries: i32, retry_backoff_ms: i64) {
        let command = FailJob {
            job_key: job.key,
            retries,
            retry_backoff_ms,
            error_message: Name::from("no luck"),
            variables: Document::empty(),
            lease: None,
        };
        self.submit(Command::FailJob(command)).await.unwrap();
    }

    /// Jobs in the queue now, up to a limit.
    pub async fn take(&self, max_jobs: u32) -> Vec<ActivatedJob> {
        within(self.activate_jobs(JobRequest { max_jobs, ..jobs("t") }, None)).await.unwrap().jobs
    }

    pub fn stream(&self, job_type: &str) -> JobStream {
        self.stream_jobs(jobs(job_type)).unwrap()
    }

    /// Last index of the log.
    pub fn index(&self) -> u64 {
        self.partition().committed_index
    }

    /// Waits until nothing is proposed any more, and gives the last index.
    pub async fn quiet(&self) -> u64 {
        let (deadline, mut last, mut since) = (Instant::now() + PATIENCE, self.index(), Instant::now());
        while since.elapsed() < Duration::from_millis(40) {
            assert!(Instant::now() < deadline, "the broker never comes to rest");
            tokio::time::sleep(LOOK).await;
            if self.index() != last {
                (last, since) = (self.index(), Instant::now());
            }
        }
        last
    }

    /// Lets the broker do what it can do at once: every entry that is under way, and what that causes.
    pub async fn quiet_moment(&self) {
        loop {
            let before = self.index();
            tokio::time::sleep(Duration::from_millis(2)).await;
            if self.index() == before {
                return;
            }
        }
    }

    /// Waits until every place of flow control is free.
    pub async fn places_free(&self) {
        until("every place is given back", || {
            let status = self.flow_control().status();
            status.in_flight == 0 && status.waiting == 0
        })
        .await;
    }
}

/// Data that a crash leaves.
pub struct Crashed {
    options: Options,
    directory: TempDir,
}

impl Crashed {
    /// Data that others have put there.
    pub fn begin(directory: TempDir) -> Self {
        Self { options: options_in(directory.path()), directory }
    }

    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// With another configuration from the next start on.
    pub fn with(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(&mut self.options);
        self
    }

    pub async fn start(self) -> Server {
        Server::reopen(self.options, self.directory).await
    }

    /// Starts once, when the threads of the crashed broker have let go of the files.
    pub async fn try_start(&self) -> Result<(), broker::StartError> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match Box::pin(Node::start(self.options.clone())).await {
                Err(error) if error.is_in_use() && Instant::now() < deadline => {
                    tokio::time::sleep(LOOK).await;
                }
                outcome => return outcome.map(drop),
            }
        }
    }
}

/// A future that must not hang.
pub async fn within<T>(future: impl Future<Output = T>) -> T {
    // In a place of its own: those of all waits of a test would fill the stack.
    tokio::time::timeout(PATIENCE, Box::pin(future)).await.expect("it hangs")
}

/// Waits until something is so.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        tokio::time::sleep(LOOK).await;
    }
}

/// The next job of a stream.
pub async fn next(stream: &mut JobStream) -> ActivatedJob {
    within(stream.next()).await.expect("the stream goes on")
}

/// Demand of a worker for jobs of the default tenant, kept for an hour.
pub fn jobs(job_type: &str) -> JobRequest {
    JobRequest {
        job_type: Name::from(job_type),
        worker: Name::from("worker"),
        timeout_ms: HOUR_MS,
        max_jobs: 1000,
        fetch_variables: vec![],
        tenant_ids: vec![Name::default_tenant()],
        caller: None,
        with_lease: false,
    }
}

pub fn instance(variables: &str) -> CreateInstance {
    CreateInstance {
        variables: Document::parse(Bytes::copy_from_slice(variables.as_bytes())).unwrap(),
        ..CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None })
    }
}

pub fn create(variables: &str) -> Command {
    Command::CreateInstance(instance(variables))
}

pub fn complete(job_key: Key) -> Command {
    let variables = Document::parse(Bytes::from_static(b"{\"done\":true}")).unwrap();
    Command::CompleteJob(CompleteJob::of(job_key, variables))
}

pub fn cancel(process_instance_key: Key) -> Command {
    Command::CancelInstance { process_instance_key, operation_reference: None }
}

/// The key of a created instance.
pub fn created(answer: &Answer) -> Key {
    match &answer.response {
        Response::InstanceCreated(created) => created.process_instance_key,
        other => panic!("not a creation: {other:?}"),
    }
}

pub fn keys(jobs: &[ActivatedJob]) -> Vec<Key> {
    jobs.iter().map(|job| job.key).collect()
}

pub fn process(body: &str) -> String {
    format!(
        r#"<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="test"><bpmn:process id="p" isExecutable="true"><bpmn:startEvent id="start"/><bpmn:sequenceFlow id="in" sourceRef="start" targetRef="a"/>{body}</bpmn:process></bpmn:definitions>"#
    )
}

const TO_END: &str =
    r#"<bpmn:sequenceFlow id="out" sourceRef="a" targetRef="end"/><bpmn:endEvent id="end"/>"#;

/// A service task whose job type may be an expression.
pub fn task(job_type: &str) -> String {
    format!(
        r#"<bpmn:serviceTask id="a"><bpmn:extensionElements><zeebe:taskDefinition type="{job_type}" retries="3"/></bpmn:extensionElements></bpmn:serviceTask>{TO_END}"#
    )
}

/// A timer of that duration.
pub fn timer(duration: &str) -> String {
    format!(
        r#"<bpmn:intermediateCatchEvent id="a"><bpmn:timerEventDefinition><bpmn:timeDuration>{duration}</bpmn:timeDuration></bpmn:timerEventDefinition></bpmn:intermediateCatchEvent>{TO_END}"#
    )
}

/// A timer of that duration, and a service task of type `t` behind it.
pub fn timer_and_task(duration: &str) -> String {
    let timer = timer(duration).replace(TO_END, "");
    let service = task("t").replace("\"a\"", "\"last\"");
    format!(r#"{timer}<bpmn:sequenceFlow id="then" sourceRef="a" targetRef="last"/>{service}"#)
}

/// A loop without end that waits for no time at all.
pub fn endless() -> String {
    r#"<bpmn:intermediateCatchEvent id="a"><bpmn:timerEventDefinition><bpmn:timeDuration>PT0S</bpmn:timeDuration></bpmn:timerEventDefinition></bpmn:intermediateCatchEvent><bpmn:sequenceFlow id="f" sourceRef="a" targetRef="b"/><bpmn:task id="b"/><bpmn:sequenceFlow id="g" sourceRef="b" targetRef="a"/>"#
        .to_owned()
}

/// So many tasks with nothing to do, and a service task of type `t` behind them.
pub fn long_way(tasks: usize) -> String {
    let mut body = String::from(r#"<bpmn:task id="a"/>"#);
    let mut before = "a".to_owned();
    for number in 0..tasks {
        let id = format!("n{number}");
        body += &format!(
            r#"<bpmn:sequenceFlow id="f{number}" sourceRef="{before}" targetRef="{id}"/><bpmn:task id="{id}"/>"#
        );
        before = id;
    }
    let service = task("t").replace("\"a\"", "\"last\"");
    format!(r#"{body}<bpmn:sequenceFlow id="l" sourceRef="{before}" targetRef="last"/>{service}"#)
}
