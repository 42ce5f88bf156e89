//! Requests to a partition: commands, queries, jobs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use broker_api::{Activation, Answer, JobRequest, Requester, SubmitError};
use engine::Outcome;
use protocol::{
    AwaitResult, Command, CreateInstance, ENTRIES_SETTING, Key, Name, Query, QueryReply, Rejection,
    RejectionType, Response,
};

use tokio::sync::oneshot;
use tokio::time::{timeout, timeout_at};

use crate::answers::{
    Claim, LateAnswers, PendingRequest, Waiter, no_answer, no_leader, stopped_meanwhile, stopping,
};
use crate::flow_control::{Class, Permit};
use crate::metric_definitions::Admission;
use crate::partition::Partition;
use crate::route::{PATIENCE, check_leader};
use crate::{exporting, jobs};

/// Time-out of waiting for the version of the engine that a request needs.
const VERSION_TIME: Duration = Duration::from_secs(5);
const VERSION_LOOK: Duration = Duration::from_millis(10);
/// Grace within which an entry tells its outcome, once a request in it has timed out.
const ENTRY_END: Duration = Duration::from_millis(300);
/// Tenants of a request for jobs, whatever the limit of entries: one principal may be in so many.
const TENANTS_MAX: usize = 1000;

impl Partition {
    async fn run(&self, command: Command, class: Class) -> Result<Answer, SubmitError> {
        self.pass(command, class, false).await
    }

    /// Runs a command of the broker itself: while processing is paused, too.
    pub async fn run_own(&self, command: Command) -> Result<Answer, SubmitError> {
        self.pass(command, Class::Begun, true).await
    }

    async fn pass(&self, command: Command, class: Class, is_own: bool) -> Result<Answer, SubmitError> {
        let arrived = Instant::now();
        let metrics = &self.shared.counts.metrics;
        if !is_own {
            metrics.received();
        }
        self.until_known(command.facts().since_version).await?;
        if class == Class::New {
            self.write_limit.admit(|| self.shared.applied.written()).await.inspect_err(|_| {
                metrics.admitted(Admission::TooFast);
                metrics.refused("write limit");
            })?;
        }
        let permit = self.admit(class, arrived).await?;
        metrics.admitted(if is_own { Admission::OwnAccepted } else { Admission::Accepted });
        let deadline = self.deadline(arrived);
        let (reply, mut answer) = oneshot::channel();
        let claim = Arc::<Claim>::default();
        let waiter = Waiter { reply, arrived, deadline, permit };
        let request = PendingRequest { command, waiter, is_own, claim: Arc::clone(&claim) };
        self.requests.send(request).await.map_err(|_| stopping())?;
        if let Some(deadline) = deadline {
            let answer = match timeout_at(deadline.into(), &mut answer).await {
                Ok(answer) => answer,
                Err(_) if claim.give_up() => return Err(self.given_up()),
                // It is in an entry, which ends in the same moment if it is in no log.
                Err(_) => timeout(ENTRY_END, answer).await.map_err(|_| no_answer(self.number()))?,
            };
            return answer.unwrap_or_else(|_| Err(without_answer(&claim)));
        }
        answer.await.unwrap_or_else(|_| Err(without_answer(&claim)))
    }

    /// Time until which a request may wait for a leader. Time in which it waited for a place does not count as long as
    /// the others before it get on.
    fn deadline(&self, arrived: Instant) -> Option<Instant> {
        let router = self.router.as_ref()?;
        let is_led = check_leader(&self.group, &*router.others).is_ok();
        Some(if is_led { Instant::now() } else { arrived } + PATIENCE)
    }

    /// The answer to a request that no entry has taken in time.
    fn given_up(&self) -> SubmitError {
        match &self.router {
            Some(router) if check_leader(&self.group, &*router.others).is_ok() => {
                SubmitError::Unavailable(format!(
                    "Expected to handle the command on partition {}, but the commands before it took too long; nothing has \
                 happened",
                    self.number()
                ))
            }
            _ => no_leader(self.number()),
        }
    }

    /// Takes a place of flow control. Without a leader nobody gives one back.
    async fn admit(&self, class: Class, arrived: Instant) -> Result<Permit, SubmitError> {
        let admitted = self.flow_control.admit(class);
        tokio::pin!(admitted);
        let admitted = match timeout_at((arrived + PATIENCE).into(), &mut admitted).await {
            Ok(admitted) => admitted,
            Err(_) => match &self.router {
                Some(router) if check_leader(&self.group, &*router.others).is_err() => {
                    Err(no_leader(self.number()))
                }
                _ => admitted.await,
            },
        };
        admitted.inspect_err(|_| {
            self.shared.counts.metrics.admitted(Admission::NoPlace);
            self.shared.counts.metrics.refused("flow control");
        })
    }

    /// Waits until the partition uses a version of the engine: soon after its first leader began and the last broker
    /// was upgraded.
    async fn until_known(&self, version: u16) -> Result<(), SubmitError> {
        let deadline = Instant::now() + VERSION_TIME;
        while self.shared.applied.engine_version() < version {
            if Instant::now() > deadline {
                return Err(SubmitError::Unavailable(format!(
                    "Expected to submit a command of version {version} of the engine, but the partition uses an earlier \
                     one until all of its brokers know that version; nothing has happened"
                )));
            }
            tokio::time::sleep(VERSION_LOOK).await;
        }
        Ok(())
    }

    /// Creates an instance, and waits so long for its end at the most.
    pub async fn create_with_result(
        &self,
        requester: Option<Requester>,
        mut command: CreateInstance,
        fetch_variables: Vec<Name>,
        time: Duration,
    ) -> Result<Answer, SubmitError> {
        self.check(Class::New)?;
        self.check_bytes(("variables", command.variables.json_len()))?;
        let (request_id, answer) = self.shared.late.register();
        let _forget = Forget { late: &self.shared.late, request_id };
        command.unique_business_id = self.options.unique_business_ids;
        command.await_result = Some(AwaitResult { request_id, fetch_variables });
        let command = Command::CreateInstance(command);
        self.check_entries(&command)?;
        let arrived = Instant::now();
        let wait = async {
            let command = requester.unwrap_or_default().asks(command);
            let accepted = self.run(command, Class::New).await?;
            if accepted.response != Response::Pending {
                return Ok(accepted);
            }
            self.late(accepted, answer).await
        };
        tokio::time::timeout(time, wait).await.unwrap_or_else(|_| {
            Err(SubmitError::Timeout(format!(
                "Expected the process instance to complete within {} ms, but it did not; the instance continues",
                arrived.elapsed().as_millis()
            )))
        })
    }

    /// Waits for an answer that comes later than its command is applied.
    async fn late(
        &self,
        accepted: Answer,
        answer: oneshot::Receiver<Outcome>,
    ) -> Result<Answer, SubmitError> {
        let answer = tokio::select! {
            biased;
            answer = answer => answer,
            () = self.leaving.cancelled() => return Err(SubmitError::Timeout(
                "Expected to wait for what comes of the command, but the broker is stopping; the command is accepted \
                 and goes on".to_owned(),
            )),
        };
        let response = answer.map_err(|_| stopping())?.map_err(SubmitError::Rejected)?;
        let position = self.shared.records.last();
        Ok(Answer { response, timing: accepted.timing, partition: self.number(), position })
    }

    /// Answers from state that has everything acknowledged before.
    pub async fn read(&self, query: Query) -> Result<QueryReply, SubmitError> {
        self.catch_up().await?;
        self.reads.read(query).await
    }

    /// Resolves when everything that was acknowledged before is applied here.
    pub async fn catch_up(&self) -> Result<(), SubmitError> {
        match &self.router {
            Some(router) => router.catch_up().await,
            None => Ok(()),
        }
    }

    /// Checks that there is room for commands of a class: on the disk, and for their records.
    pub fn check(&self, class: Class) -> Result<(), SubmitError> {
        self.check_disk(class).inspect_err(|_| self.shared.counts.metrics.refused("disk"))?;
        if class == Class::New && self.shared.flush.is_blocked() {
            self.shared.counts.metrics.refused("memory");
            return Err(SubmitError::ResourceExhausted(
                "Expected to handle the command, but state cannot be written to disk and memory takes no more of it"
                    .to_owned(),
            ));
        }
        if class == Class::New {
            self.shared.outbox.check().inspect_err(|_| self.shared.counts.metrics.refused("outbox"))?;
        }
        let exports = self.exports().map_or(Ok(()), |exports| exporting::check(exports, class));
        exports.inspect_err(|_| self.shared.counts.metrics.refused("exporters"))
    }

    /// Whether the disks have room. In a cluster, the leader decides: the others have to write what it takes.
    fn check_disk(&self, class: Class) -> Result<(), SubmitError> {
        match &self.router {
            Some(router) if !self.leads() || router.others.is_about_to_hand_over() => Ok(()),
            _ => self.disk.check(class),
        }
    }

    /// Whether the payload of a command is no larger than a message may be.
    fn check_bytes(&self, (field, bytes): (&str, usize)) -> Result<(), SubmitError> {
        let limit = self.options.max_message_bytes;
        if bytes <= limit {
            return Ok(());
        }
        Err(SubmitError::TooLarge(format!(
            "{field}: expected at most {limit} bytes, the limit of limits.max_message_bytes, but found {bytes}"
        )))
    }

    /// Whether a command has no more entries than one may have. The engine decides by the settings of the partition;
    /// here it costs no entry of the log.
    fn check_entries(&self, command: &Command) -> Result<(), SubmitError> {
        Ok(command.check_entries(self.options.work.max_entries_per_command)?)
    }

    /// Checks the lists of a request for jobs, which stand in each batch.
    pub(crate) fn check_lists(&self, request: &JobRequest) -> Result<(), SubmitError> {
        let limit = self.options.work.max_entries_per_command;
        // A principal may be in as many tenants as it is allowed, without naming any.
        let tenants = limit.max(TENANTS_MAX);
        let lists = [
            ("fetchVariable", request.fetch_variables.len(), limit),
            ("tenantIds", request.tenant_ids.len(), tenants),
        ];
        for (field, found, limit) in lists {
            if found > limit {
                return Err(Rejection::invalid_argument(format!(
                    "Expected at most {limit} entries in one request ({ENTRIES_SETTING}), but '{field}' has {found}"
                ))
                .into());
            }
        }
        Ok(())
    }

    /// An answer for a job was refused.
    fn answer_refused(&self, job_key: Key, kind: RejectionType) {
        if matches!(kind, RejectionType::NotFound | RejectionType::InvalidState) {
            self.shared.demand.answer_refused(job_key, kind == RejectionType::NotFound);
        }
    }
}

/// The answer to a request whose entry, or whose place in the queue, is gone without one.
fn without_answer(claim: &Claim) -> SubmitError {
    if claim.give_up() { stopping() } else { stopped_meanwhile() }
}

/// Forgets a request that waits for a later answer, when it goes away.
struct Forget<'a> {
    late: &'a LateAnswers,
    request_id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.late.forget(self.request_id);
    }
}

impl Partition {
    /// Runs a command of a client, and waits for its answer.
    pub async fn submit(&self, mut command: Command) -> Result<Answer, SubmitError> {
        let class = Class::of(&command);
        self.check(class)?;
        self.check_bytes(command.payload())?;
        self.check_entries(&command)?;
        if let Some(is_unique) = command.unique_business_id_mut() {
            *is_unique = self.options.unique_business_ids;
        }
        // It removes nothing of after a purge that the client does not know, also if it comes late.
        if let Command::Purge { after: after @ None } = command.asked_mut() {
            self.catch_up().await?;
            *after = Some(self.cluster_change().map_or(0, |change| change.id));
        }
        if matches!(command.asked(), Command::Clock(_)) && !self.options.controlled_clock {
            return Err(Rejection::new(
                RejectionType::Forbidden,
                "Expected to control the clock, but it is not controllable: set 'clock.controlled' to true",
            )
            .into());
        }
        let job_key = command.answered_job();
        let Some(slot) = command.request_id_mut() else {
            let answer = self.run(command, class).await;
            if let (Some(key), Err(SubmitError::Rejected(rejection))) = (job_key, &answer) {
                self.answer_refused(key, rejection.kind);
            }
            return answer;
        };
        let (request_id, answer) = self.shared.late.register();
        let _forget = Forget { late: &self.shared.late, request_id };
        *slot = Some(request_id);
        let accepted = self.run(command, class).await?;
        if accepted.response != Response::Pending {
            return Ok(accepted);
        }
        self.late(accepted, answer).await
    }

    /// Activates jobs, and waits so long at the most until there are some.
    pub async fn activate_jobs(
        &self,
        request: JobRequest,
        wait: Option<Duration>,
    ) -> Result<Activation, SubmitError> {
        self.check_lists(&request)?;
        jobs::poll(Arc::clone(&self.shared.demand), request, wait).await
    }
}
