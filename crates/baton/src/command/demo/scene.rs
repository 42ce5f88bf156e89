//! Things that a server that stays has to show: refunds with a decision and tasks, orders that went wrong, people.

use std::time::Duration;

use client::{ActivateJobs, ApiCall, CreateInstance, FailJob, Resource, RestClient};

use crate::failure::Failure;

/// The process that runs under load.
pub(super) const ORDER: &str = "order";
const REFUND: &str = "refund";
const FILES: [Resource<'static>; 3] = [
    Resource { name: "refund.bpmn", content: include_bytes!("scene/refund.bpmn") },
    Resource { name: "approver.dmn", content: include_bytes!("scene/approver.dmn") },
    Resource { name: "refund.form", content: include_bytes!("scene/refund.form") },
];
/// Customers with the amounts that they want back.
const REFUNDS: [(&str, u32); 6] =
    [("Adler", 40), ("Brandt", 720), ("Conti", 15), ("Dumas", 999), ("Ek", 120), ("Fodor", 510)];
/// Why orders went wrong.
const FAILURES: [&str; 3] = [
    "the stock cannot be read: connection refused",
    "the stock cannot be read: connection refused",
    "no such item: 4711",
];
/// People and the groups that they are in. The server of the demo asks for no password.
const PEOPLE: [(&str, &str, &str); 3] =
    [("ann", "Ann Adams", "managers"), ("bob", "Bob Brown", "clerks"), ("eve", "Eve Evans", "clerks")];
const GROUPS: [(&str, &str); 2] = [("managers", "Managers"), ("clerks", "Clerks")];

pub(super) struct Scene {
    pub(super) tasks: usize,
    pub(super) incidents: usize,
}

/// Makes it.
pub(super) async fn make(client: &RestClient, waiting: usize) -> Result<Scene, Failure> {
    client.deploy(&FILES, None).await.map_err(Failure::new)?;
    for (customer, amount) in REFUNDS {
        let variables = format!(r#"{{"customer": "{customer}", "amount": {amount}}}"#);
        let command = CreateInstance { variables: Some(&variables), ..CreateInstance::latest(REFUND) };
        client.create_instance_key(&command).await.map_err(Failure::new)?;
    }
    let variables = r#"{"items": [{"price": 12, "quantity": 1}]}"#;
    let command = CreateInstance { variables: Some(variables), ..CreateInstance::latest(ORDER) };
    for _ in 0..waiting + FAILURES.len() {
        client.create_instance_key(&command).await.map_err(Failure::new)?;
    }
    let incidents = fail(client).await?;
    people(client).await?;
    Ok(Scene { tasks: REFUNDS.len(), incidents })
}

/// Gives up some orders; each becomes an incident.
async fn fail(client: &RestClient) -> Result<usize, Failure> {
    let demand = ActivateJobs {
        job_type: "check-stock",
        worker: "demo",
        timeout: Duration::from_mins(1),
        jobs_max: FAILURES.len() as u32,
        fetch_variables: &[],
        wait: Some(Duration::from_secs(5)),
        tenant_ids: &[],
    };
    let jobs = client.activate_jobs(&demand).await.map_err(Failure::new)?;
    for (job, error_message) in jobs.iter().zip(FAILURES) {
        let failure = FailJob {
            job_key: job.key,
            retries: 0,
            error_message,
            retry_backoff: Duration::ZERO,
            variables: None,
        };
        client.fail_job(&failure).await.map_err(Failure::new)?;
    }
    Ok(jobs.len())
}

async fn people(client: &RestClient) -> Result<(), Failure> {
    for (id, name) in GROUPS {
        post(client, "/groups", &format!(r#"{{"groupId": "{id}", "name": "{name}"}}"#)).await?;
    }
    for (username, name, group) in PEOPLE {
        let user = format!(
            r#"{{"username": "{username}", "name": "{name}", "email": "{username}@example.com", "password": "{username}-demo"}}"#
        );
        post(client, "/users", &user).await?;
        let path = format!("/groups/{group}/users/{username}");
        client.call(&ApiCall::put(&path, "{}")).await.map_err(Failure::new)?;
    }
    Ok(())
}

async fn post(client: &RestClient, path: &str, body: &str) -> Result<(), Failure> {
    client.call(&ApiCall::post(path, body)).await.map(drop).map_err(Failure::new)
}
