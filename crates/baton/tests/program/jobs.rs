//! `baton jobs`.

use crate::models::TASK_BPMN;
use crate::support::{Server, failed, text};

#[test]
fn jobs_are_taken_and_ended_one_by_one() {
    let server = Server::start(&[]);
    server.deploy("errand.bpmn", TASK_BPMN);
    let none = server.command(&["jobs", "activate", "errand"]).output().unwrap();
    assert!(none.status.success() && none.stdout.is_empty(), "{none:?}");
    assert_eq!(text(&none.stderr), "no jobs of type 'errand' wait\n");

    let instance = server.start_instance("errand", r#"{"who": "ann"}"#);
    let listed = server.ok(&["jobs", "activate", "errand", "--timeout", "1m", "--fetch", "who"]);
    let (titles, row) = listed.trim().split_once('\n').unwrap();
    assert!(titles.starts_with("jobKey") && titles.ends_with("variables"), "{listed}");
    let cells: Vec<_> = row.split_whitespace().collect();
    assert_eq!((cells[1], cells[2], cells[3]), (instance.as_str(), "task", "3"));
    assert!(cells[4].ends_with('Z') && row.ends_with(r#"{"who":"ann"}"#), "{row}");
    let job = cells[0];

    // One retry less than it had.
    assert_eq!(server.ok(&["jobs", "fail", job, "--message", "no shoes"]), format!("failed {job}\n"));
    let again = server.json(&["jobs", "activate", "errand", "--wait", "10s"]);
    assert_eq!((&again["jobs"][0]["jobKey"], &again["jobs"][0]["retries"]), (&job.into(), &2.into()));
    server.ok(&["jobs", "fail", job, "--retries", "0", "--message", "no shoes"]);
    let incident = server.found(&["incidents", "--instance", &instance, "--state", "ACTIVE"]);
    assert_eq!(incident["errorMessage"], "no shoes");
    assert_eq!(server.ok(&["jobs", "retry", job]), format!("retried {job}\n"));
    server.ok(&["jobs", "activate", "errand", "--wait", "10s"]);
    let done = server.json(&["jobs", "complete", job, "--variables", r#"{"total": 1.10}"#]);
    assert_eq!(done, serde_json::json!([{ "key": job, "completed": true }]));
    let ended = server.found(&["instances", "--instance", &instance, "--state", "COMPLETED"]);
    assert_eq!(ended["processInstanceKey"], instance.as_str());
    assert_eq!(server.variable(&instance, "total"), "1.1");

    let gone = server.command(&["jobs", "complete", job, "7"]).output().unwrap();
    failed(&gone, 1, &[&format!("cannot complete job {job}"), "cannot complete job 7", "NOT_FOUND"]);
    let wrong = server.command(&["jobs", "complete", "7", "--variables", "[1]"]).output().unwrap();
    failed(&wrong, 2, &["--variables is not a JSON object"]);
    server.stop_clean();
}

#[test]
fn a_thrown_error_is_caught_by_the_process() {
    let server = Server::start(&[]);
    server.deploy("errand.bpmn", TASK_BPMN);
    let instance = server.start_instance("errand", "{}");
    let job = server.json(&["jobs", "activate", "errand"])["jobs"][0]["jobKey"].as_str().unwrap().to_owned();
    assert_eq!(server.ok(&["jobs", "throw", "SOLD_OUT", &job]), format!("thrown {job}\n"));
    let caught = server.found(&["elements", "--instance", &instance, "--filter", r#"{"elementId":"gone"}"#]);
    assert_eq!(caught["state"], "COMPLETED");
    let again = server.command(&["jobs", "throw", "SOLD_OUT", &job]).output().unwrap();
    failed(&again, 1, &["cannot throw error 'SOLD_OUT' at job"]);
    server.stop_clean();
}
