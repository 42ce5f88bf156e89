//! Two tenants on one server: nobody of one sees or touches anything of the other, whatever else it may do.

use grpc as pb;
use serde_json::{Value, json};
use tonic::Code;

use crate::contract::operations;
use crate::seed::{Maker, SECRET};
use crate::server::{Server, basic, call, eventually, file, with_users};

/// Ann may do everything with processes, as bob may; only the tenants differ.
fn users() -> String {
    let mut file = "
users: [{username: ann, password: right}, {username: bob, password: right}]
tenants: [{id: north, users: [bob]}, {id: south, users: [ann]}]
authorizations:
"
    .to_owned();
    for (resource, permissions) in [
        ("AUDIT_LOG", "READ"),
        ("RESOURCE", "CREATE, READ, DELETE_PROCESS, DELETE_DRD, DELETE_FORM, DELETE_RESOURCE"),
        (
            "PROCESS_DEFINITION",
            "CREATE_PROCESS_INSTANCE, READ_PROCESS_DEFINITION, READ_PROCESS_INSTANCE, READ_USER_TASK, \
             UPDATE_PROCESS_INSTANCE, MODIFY_PROCESS_INSTANCE, CANCEL_PROCESS_INSTANCE, DELETE_PROCESS_INSTANCE, UPDATE_USER_TASK",
        ),
        (
            "DECISION_DEFINITION",
            "CREATE_DECISION_INSTANCE, READ_DECISION_DEFINITION, READ_DECISION_INSTANCE, DELETE_DECISION_INSTANCE",
        ),
        ("DECISION_REQUIREMENTS_DEFINITION", "READ"),
        ("MESSAGE", "CREATE, READ"),
        ("BATCH", "CREATE, READ, UPDATE"),
        ("DOCUMENT", "CREATE, READ, DELETE"),
        ("EXPRESSION", "EVALUATE"),
        ("SYSTEM", "READ_JOB_METRIC"),
    ] {
        for user in ["ann", "bob"] {
            file += &format!(
                "  - {{ owner_type: USER, owner_id: {user}, resource_type: {resource}, resource_id: '*', permissions: [{permissions}] }}\n"
            );
        }
    }
    file
}

/// Operations about what belongs to no tenant, or not to this one: people and what is the same for all, and batches.
fn is_of_no_tenant(id: &str) -> bool {
    let of_all = [
        "User",
        "Group",
        "Role",
        "Tenant",
        "MappingRule",
        "Authorization",
        "Client",
        "GlobalTaskListener",
        "ClusterVariable",
        "Clock",
        "License",
        "Status",
        "Topology",
        "SystemConfiguration",
        "UsageMetrics",
        "Authentication",
        "Document",
        "Expression",
        "Exporting",
        "Backup",
        "ClusterMode",
        "Secrets",
        "estore",
    ];
    let of_tasks = id.contains("UserTask");
    id.contains("BatchOperation") || (!of_tasks && of_all.iter().any(|word| id.contains(word)))
}

/// Whether an answer has no row, whatever it counts.
fn is_empty(answer: &Value) -> bool {
    fn is_nothing(value: &Value) -> bool {
        match value {
            Value::Array(items) => items.is_empty(),
            Value::Number(number) => number.as_f64() == Some(0.0),
            Value::Object(members) => members.values().all(is_nothing),
            Value::Bool(_) | Value::Null => true,
            Value::String(_) => false,
        }
    }
    is_nothing(answer.get("items").or(answer.get("jobs")).unwrap_or(answer))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_belongs_to_one_tenant_is_nothing_to_another() {
    let users = file(&users());
    let more = ["security.authorizations=true", "multi_tenancy.enabled=true"];
    let server = Server::start(&with_users(users.path(), &more));
    let (ann, bob) = (basic("ann", "right"), basic("bob", "right"));
    let maker = Maker { server: &server, credentials: &bob, tenant: Some("north") };
    let mut values = maker.run().await;
    values.insert("tenantId", "north".to_owned());
    let operations: Vec<_> =
        operations().into_iter().filter(|operation| !is_of_no_tenant(&operation.id)).collect();
    assert!(operations.len() > 70, "{}", operations.len());
    let before = maker.picture(&operations, &values).await;
    let unseen: Vec<_> = before.iter().filter(|(_, status, _)| !(200..300).contains(status)).collect();
    assert!(unseen.is_empty(), "{unseen:#?}");

    let mut leaks = vec![];
    for operation in &operations {
        let answer = operation.ask(&server, &values).by(&ann).send().await;
        let is_right = match answer.status {
            403 | 404 => true,
            200 => operation.looks() && is_empty(&answer.json()),
            _ => false,
        };
        if !is_right || answer.text.contains(SECRET) {
            leaks.push(format!("{}: {} {}", operation.id, answer.status, answer.text));
        }
    }
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
    over_grpc(&server, &ann, &values["jobKey"], &values["processInstanceKey"], &values["incidentKey"]).await;
    let after = maker.picture(&operations, &values).await;
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before, after);
    }
    nothing_in_batches(&server, &ann).await;
    // In her own tenant she can do all that, and bob sees nothing of it.
    let own = Maker { server: &server, credentials: &ann, tenant: Some("south") };
    own.run().await;
    for what in ["process-instances", "jobs", "variables", "user-tasks", "incidents"] {
        let search = json!({"filter": {"tenantId": "south"}});
        let answer = server.post(&format!("/v2/{what}/search"), &search).by(&bob).send().await;
        assert_eq!(answer.expect(200).json()["items"], json!([]), "{what}");
    }
    assert!(!server.log().contains("ERROR"), "{}", server.log());
}

/// Operations without a tenant reach no other tenant.
async fn nothing_in_batches(server: &Server, who: &str) {
    for operation in ["cancellation", "incident-resolution"] {
        let everything = json!({"filter": {"state": "ACTIVE"}});
        let created =
            server.post(&format!("/v2/process-instances/{operation}"), &everything).by(who).send().await;
        let created = created.expect(200).json();
        let key = created["batchOperationKey"].as_str().unwrap();
        let path = format!("/v2/batch-operations/{key}");
        let ended = eventually("the end of the batch operation", async || {
            let found = server.get(&path).by(who).send().await;
            (found.status == 200 && found.json()["state"] == "COMPLETED").then(|| found.json())
        })
        .await;
        assert_eq!(ended["operationsTotalCount"], 0, "{ended}");
        let items = json!({"filter": {"batchOperationKey": key}});
        let items = server.post("/v2/batch-operation-items/search", &items).by(who).send().await.expect(200);
        assert_eq!(items.json()["items"], json!([]));
    }
}

async fn over_grpc(server: &Server, who: &str, job: &str, instance: &str, incident: &str) {
    let mut client = server.grpc().await;
    let (job_key, process_instance_key) = (job.parse().unwrap(), instance.parse().unwrap());
    let incident_key = incident.parse().unwrap();
    let mut codes = vec![];
    macro_rules! refused {
        ($($method:ident $request:expr;)*) => {$(
            let result = client.$method(call($request, who)).await;
            codes.push((stringify!($method), result.map(drop).unwrap_err()));
        )*};
    }
    let tenant_id = || "north".to_owned();
    refused! {
        complete_job pb::CompleteJobRequest { job_key, ..Default::default() };
        fail_job pb::FailJobRequest { job_key, ..Default::default() };
        throw_error pb::ThrowErrorRequest { job_key, error_code: "e".to_owned(), ..Default::default() };
        update_job_retries pb::UpdateJobRetriesRequest { job_key, retries: 7, ..Default::default() };
        update_job_timeout pb::UpdateJobTimeoutRequest { job_key, timeout: 7, ..Default::default() };
        cancel_process_instance pb::CancelProcessInstanceRequest { process_instance_key, ..Default::default() };
        set_variables pb::SetVariablesRequest {
            element_instance_key: process_instance_key, variables: "{\"a\":1}".to_owned(), ..Default::default()
        };
        resolve_incident pb::ResolveIncidentRequest { incident_key, ..Default::default() };
        create_process_instance pb::CreateProcessInstanceRequest {
            bpmn_process_id: "order".to_owned(), version: -1, tenant_id: tenant_id(), ..Default::default()
        };
        publish_message pb::PublishMessageRequest {
            name: "paid".to_owned(), correlation_key: "17".to_owned(), tenant_id: tenant_id(), ..Default::default()
        };
        broadcast_signal pb::BroadcastSignalRequest {
            signal_name: "s".to_owned(), tenant_id: tenant_id(), ..Default::default()
        };
        evaluate_decision pb::EvaluateDecisionRequest {
            decision_id: "discount".to_owned(), tenant_id: tenant_id(), ..Default::default()
        };
        deploy_resource pb::DeployResourceRequest {
            resources: vec![pb::Resource {
                name: "a.bpmn".to_owned(), content: crate::seed::MARKER_PROCESS.as_bytes().to_vec()
            }],
            tenant_id: tenant_id(),
        };
    }
    for (method, status) in codes {
        let is_right = [Code::NotFound, Code::PermissionDenied].contains(&status.code());
        assert!(is_right && !status.message().contains(SECRET), "{method}: {status}");
    }
    let jobs = |tenants: &[&str]| pb::ActivateJobsRequest {
        r#type: "work".to_owned(),
        worker: "ann".to_owned(),
        timeout: 60_000,
        max_jobs_to_activate: 10,
        request_timeout: -1,
        tenant_ids: tenants.iter().map(ToString::to_string).collect(),
        ..Default::default()
    };
    let mut own = client.activate_jobs(call(jobs(&["south"]), who)).await.unwrap().into_inner();
    while let Some(batch) = own.message().await.unwrap() {
        assert!(batch.jobs.is_empty(), "{batch:?}");
    }
    for tenants in [&["north"][..], &["south", "north"]] {
        let foreign = async {
            let mut stream = client.activate_jobs(call(jobs(tenants), who)).await?.into_inner();
            while let Some(batch) = stream.message().await? {
                assert!(batch.jobs.is_empty(), "{batch:?}");
            }
            Ok::<_, tonic::Status>(())
        };
        let status = foreign.await.unwrap_err();
        assert_eq!(status.code(), Code::PermissionDenied, "{tenants:?}: {status}");
    }
}
