//! `baton jobs`.

use std::process::ExitCode;
use std::time::Duration;

use ::client::{ApiCall, CompleteJob, FailJob, RestClient, ThrowError};
use serde_json::{Value, json};

use super::done::Done;
use super::kind::Kind;
use super::{act, call, input, table};
use crate::cli::{
    ActivateArguments, CompleteArguments, FailArguments, JobKeys, Jobs, JobsAction, ThrowArguments,
};
use crate::failure::Failure;
use crate::output;

const COLUMNS: [&str; 6] = ["jobKey", "processInstanceKey", "elementId", "retries", "deadline", "variables"];

pub(crate) async fn run(arguments: &Jobs) -> Result<ExitCode, Failure> {
    match &arguments.action {
        JobsAction::Activate(arguments) => activate(arguments).await,
        JobsAction::Complete(arguments) => complete(arguments).await,
        JobsAction::Fail(arguments) => fail(arguments).await,
        JobsAction::Throw(arguments) => throw(arguments).await,
        JobsAction::Retry(arguments) => act::retry(arguments).await,
    }
}

async fn activate(arguments: &ActivateArguments) -> Result<ExitCode, Failure> {
    let client = arguments.to.connect()?;
    // Zero is the server's own time there.
    let wait = if arguments.wait.is_zero() { -1 } else { milliseconds(arguments.wait) };
    let mut request = json!({
        "type": arguments.job_type,
        "worker": arguments.worker.name,
        "maxJobsToActivate": arguments.count,
        "timeout": milliseconds(arguments.timeout),
        "requestTimeout": wait,
    });
    for (property, names) in
        [("fetchVariable", &arguments.worker.fetch), ("tenantIds", &arguments.worker.tenants)]
    {
        if !names.is_empty() {
            request[property] = json!(names);
        }
    }
    let request = request.to_string();
    let call = ApiCall::post("/jobs/activation", &request).waiting(arguments.wait);
    let answer = call::text(&client, &call, format_args!("activate jobs '{}'", arguments.job_type)).await?;
    if arguments.to.json {
        output::json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut answer = call::read(&answer)?;
    let Value::Array(mut jobs) = answer["jobs"].take() else { return Ok(ExitCode::SUCCESS) };
    if jobs.is_empty() {
        output::note(format_args!("no jobs of type '{}' wait", arguments.job_type));
        return Ok(ExitCode::SUCCESS);
    }
    for job in &mut jobs {
        let deadline = job["deadline"].as_i64().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
        job["deadline"] = deadline.map_or(Value::Null, |time| Value::from(format!("{time:.3}")));
    }
    output::text(table::render(&COLUMNS, &jobs))?;
    Ok(ExitCode::SUCCESS)
}

async fn complete(arguments: &CompleteArguments) -> Result<ExitCode, Failure> {
    let variables = input::variables(arguments.variables.as_deref())?;
    let JobKeys { keys, to } = &arguments.jobs;
    let client = to.connect()?;
    let complete = async |job_key| {
        let command = CompleteJob { job_key, variables: variables.as_deref() };
        let outcome = client.complete_job(&command).await;
        outcome.map_err(|error| Failure::request(format!("complete job {job_key}"), &error))
    };
    Done::new("completed", to.json).each(keys, complete).await
}

async fn fail(arguments: &FailArguments) -> Result<ExitCode, Failure> {
    let variables = input::variables(arguments.variables.as_deref())?;
    let JobKeys { keys, to } = &arguments.jobs;
    let client = to.connect()?;
    let fail = async |job_key| fail_one(&client, arguments, job_key, variables.as_deref()).await;
    Done::new("failed", to.json).each(keys, fail).await
}

async fn fail_one(
    client: &RestClient,
    arguments: &FailArguments,
    job_key: i64,
    variables: Option<&str>,
) -> Result<(), Failure> {
    let retries = match arguments.retries {
        Some(retries) => retries,
        None => retries_left(client, job_key).await.map_err(|failure| {
            failure
                .after(format!("how many retries job {job_key} has left is not known:"))
                .hint("name them: --retries N")
        })?,
    };
    let command = FailJob {
        job_key,
        retries,
        error_message: &arguments.message,
        retry_backoff: arguments.backoff,
        variables,
    };
    let outcome = client.fail_job(&command).await;
    outcome.map_err(|error| Failure::request(format!("fail job {job_key}"), &error))
}

/// One less than the job has.
async fn retries_left(client: &RestClient, job_key: i64) -> Result<i32, Failure> {
    let job = Kind::Jobs.find(client, &job_key.to_string()).await?;
    let retries = job["retries"].as_i64().and_then(|retries| i32::try_from(retries).ok());
    Ok(retries.unwrap_or(0).saturating_sub(1).max(0))
}

async fn throw(arguments: &ThrowArguments) -> Result<ExitCode, Failure> {
    let variables = input::variables(arguments.variables.as_deref())?;
    let JobKeys { keys, to } = &arguments.jobs;
    let client = to.connect()?;
    let throw = async |job_key| {
        let command = ThrowError {
            job_key,
            error_code: &arguments.code,
            error_message: &arguments.message,
            variables: variables.as_deref(),
        };
        let outcome = client.throw_error(&command).await;
        let action = format!("throw error '{}' at job {job_key}", arguments.code);
        outcome.map_err(|error| Failure::request(action, &error))
    };
    Done::new("thrown", to.json).each(keys, throw).await
}

/// As the API counts time.
pub(super) fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
