//! Every operation of the REST API as a request, made of the contract.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::server::{Ask, Server};

/// One operation.
pub struct Operation {
    pub id: String,
    pub method: String,
    path: String,
    media: Option<String>,
    body: Option<Value>,
    query: Vec<String>,
}

/// The batch operation whose filter is about jobs.
const JOBS: &str = "updateJobsBatchOperation";

/// Values of names and keys, by the name of the field.
pub type Values = BTreeMap<&'static str, String>;

/// All of them.
pub fn operations() -> Vec<Operation> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../gateway/api/contract.json");
    let contract: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let operations: Vec<_> = contract["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|operation| {
            let text = |value: &Value| value.as_str().map(str::to_owned);
            let empty = vec![];
            let required = operation["queryParameters"].as_array().unwrap_or(&empty).iter();
            Operation {
                id: text(&operation["id"]).unwrap(),
                method: text(&operation["method"]).unwrap(),
                path: text(&operation["path"]).unwrap(),
                media: text(&operation["body"]["media"]),
                body: operation["body"].get("schema").map(|schema| resolved(schema, &contract["schemas"], 0)),
                query: required
                    .filter(|parameter| parameter["required"] == true)
                    .filter_map(|parameter| text(&parameter["name"]))
                    .collect(),
            }
        })
        .collect();
    assert!(operations.len() >= 183, "those of 8.9 at least");
    operations
}

/// A schema with what it refers to, down to some depth: small bodies do not go further.
fn resolved(schema: &Value, schemas: &Value, depth: usize) -> Value {
    const DEPTH_MAX: usize = 12;
    if depth == DEPTH_MAX {
        return json!({});
    }
    match schema {
        Value::Object(members) => match members.get("$ref").and_then(Value::as_str) {
            Some(name) => resolved(&schemas[name], schemas, depth + 1),
            None => members
                .iter()
                .map(|(name, member)| (name.clone(), resolved(member, schemas, depth + 1)))
                .collect::<Map<_, _>>()
                .into(),
        },
        Value::Array(members) => members.iter().map(|one| resolved(one, schemas, depth + 1)).collect(),
        other => other.clone(),
    }
}

/// A value that a schema takes, as small as can be.
fn example(name: &str, schema: &Value, values: &Values) -> Value {
    if let Some(known) = values.get(name) {
        return json!(known);
    }
    if let Some(first) = schema["oneOf"].get(0) {
        return example(name, first, values);
    }
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("integer" | "number") => json!(schema["minimum"].as_i64().unwrap_or(1).max(1)),
        Some("boolean") => json!(true),
        Some("array") => {
            let count = usize::from(schema["minItems"].as_u64().unwrap_or(1) > 0);
            vec![example(name, &schema["items"], values); count].into()
        }
        Some("object") | None => {
            let mut object = Map::new();
            for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                let value = example(required, &schema["properties"][required], values);
                object.insert(required.to_owned(), value);
            }
            // Tenant of all requests that may name one.
            for optional in ["tenantId", "tenantIds"] {
                if let (Some(tenant), Some(property)) =
                    (values.get("tenantId"), schema["properties"].get(optional))
                {
                    let is_list = property["type"] == "array";
                    object.insert(optional.to_owned(), if is_list { json!([tenant]) } else { json!(tenant) });
                }
            }
            object.into()
        }
        Some("string") if schema["format"] == "date-time" => json!("2030-01-01T00:00:00Z"),
        Some(_) => json!("1"),
    }
}

impl Operation {
    /// Whether it only looks.
    pub fn looks(&self) -> bool {
        self.method == "GET" || self.is_search()
    }

    /// Whether it is about the server as a whole, and looks different from one time to the next.
    pub fn is_for_operators(&self) -> bool {
        ["/backups/", "/restore"].iter().any(|part| self.path.contains(part))
            || self.path.contains("/exporting")
    }

    /// Whether it finds rows, or counts them.
    pub fn is_search(&self) -> bool {
        let finds = ["Statistics", "SequenceFlows"].iter().any(|what| self.id.contains(what));
        self.id.starts_with("search") || (self.id.starts_with("get") && finds)
    }

    /// A valid request about `values`.
    pub fn ask<'a>(&self, server: &'a Server, values: &Values) -> Ask<'a> {
        let filled = self.path.split('/').map(|part| {
            match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
                None => part.to_owned(),
                // As the default tenant has them.
                Some(name) => values
                    .get(name)
                    .unwrap_or_else(|| panic!("no {name}"))
                    .replace('<', "%3C")
                    .replace('>', "%3E"),
            }
        });
        let mut path = filled.collect::<Vec<_>>().join("/");
        for (at, name) in self.query.iter().enumerate() {
            if name == "mode" {
                path += "?mode=PROCESSING";
                continue;
            }
            let time = if name == "to" || name.starts_with("end") { "2099" } else { "2020" };
            path += &format!("{}{name}={time}-01-01T00:00:00Z", if at == 0 { '?' } else { '&' });
        }
        if self.id == "getDocument" || self.id == "createDocumentLink" {
            path += &format!("?contentHash={}", values["contentHash"]);
        }
        let ask = server.ask(&self.method, &path);
        match self.media.as_deref() {
            None => ask,
            Some("application/json") => ask.json(&self.small_body(values)),
            Some(_) => {
                let field = match &*self.id {
                    "createDeployment" => "resources",
                    "createDocument" => "file",
                    _ => "files",
                };
                let tenant = values.get("tenantId").filter(|_| self.id == "createDeployment");
                let tenant = tenant.map_or(String::new(), |tenant| {
                    format!("--x\r\ncontent-disposition: form-data; name=\"tenantId\"\r\n\r\n{tenant}\r\n")
                });
                let head = format!("form-data; name=\"{field}\"; filename=\"a.bpmn\"");
                let body = format!(
                    "{tenant}--x\r\ncontent-disposition: {head}\r\ncontent-type: text/xml\r\n\r\n{}\r\n--x--\r\n",
                    crate::seed::MARKER_PROCESS
                );
                ask.body("multipart/form-data; boundary=x", body)
            }
        }
    }

    fn body_of_operators(&self) -> Value {
        match &*self.id {
            JOBS => json!({"filter": {"state": "CREATED"}, "changeset": {"retries": 2}}),
            "takeRuntimeBackup" | "takeHistoryBackup" => json!({"backupId": 1}),
            "takeRuntimeBackupAsClusterAdmin" | "takeHistoryBackupAsClusterAdmin" => json!({"backupId": 2}),
            "restore" | "restoreAsClusterAdmin" => json!({"backupIds": [1]}),
            // One of the variables that tests have.
            "resolveSecrets" => json!({"references": ["DIR"]}),
            _ => json!({}),
        }
    }

    fn small_body(&self, values: &Values) -> Value {
        // Properties that are called as path parameters are called, but mean something new.
        let mut values = values.clone();
        if self.id.starts_with("create") && self.path.matches('/').count() == 2 {
            for new in ["groupId", "roleId", "mappingRuleId", "username", "name", "id"] {
                values.insert(new, "made-by-somebody".to_owned());
            }
            if self.id == "createTenant" {
                values.insert("tenantId", "made-by-somebody".to_owned());
            }
        }
        let mut body = example("", self.body.as_ref().unwrap(), &values);
        // Rules that the contract leaves to the description of the operation.
        let more = match &*self.id {
            "updateJob" => json!({"changeset": {"retries": 1}}),
            "assignUserTask" => json!({"assignee": "somebody"}),
            "createAgentInstance" => {
                json!({"definition": {"model": "m", "provider": "p", "systemPrompt": "s"}})
            }
            "createAgentInstanceHistoryItem" => json!({"content": []}),
            "createGlobalTaskListener" | "updateGlobalTaskListener" => {
                json!({"type": "t", "eventTypes": ["all"]})
            }
            "broadcastSignal" => json!({"signalName": "go"}),
            "evaluateExpression" => json!({"expression": "=1"}),
            "updateUserTask" => json!({"action": "look"}),
            "activateJobs" => json!({"type": values["jobType"], "requestTimeout": -1, "timeout": 60_000}),
            "publishMessage" | "correlateMessage" => {
                json!({"name": values["messageName"], "correlationKey": "1"})
            }
            "evaluateDecision" => json!({"decisionDefinitionKey": values["decisionDefinitionKey"]}),
            "createProcessInstance" => json!({"processDefinitionKey": values["processDefinitionKey"]}),
            "createElementInstanceVariables" => json!({"variables": {"secret": "gone"}}),
            "activateAdHocSubProcessActivities" => json!({"elements": [{"elementId": "choice"}]}),
            "migrateProcessInstance" => {
                json!({"mappingInstructions": [{"sourceElementId": "work", "targetElementId": "work"}], "targetProcessDefinitionKey": values["processDefinitionKey"]})
            }
            "modifyProcessInstance" => json!({"activateInstructions": [{"elementId": "work"}]}),
            "setVariables" => json!({"variables": {"secret": 1}}),
            "createUser" | "createAdminUser" | "updateUser" => {
                json!({"password": "right", "email": "a@example.com"})
            }
            "createAuthorization" | "updateAuthorization" => json!({
                "ownerType": "USER", "ownerId": "nobody", "resourceType": "PROCESS_DEFINITION", "resourceId": "*",
                "permissionTypes": ["READ_PROCESS_INSTANCE"],
            }),
            "getJobTimeSeriesStatistics"
            | "getJobTypeStatistics"
            | "getJobWorkerStatistics"
            | "getJobErrorStatistics" => json!({"filter": {
                "from": "2020-01-01T00:00:00Z", "to": "2099-01-01T00:00:00Z", "jobType": values["jobType"],
            }}),
            "getProcessInstanceStatisticsByDefinition" => json!({"filter": {"errorHashCode": 1}}),
            "getProcessDefinitionInstanceVersionStatistics" => {
                json!({"filter": {"processDefinitionId": "order"}})
            }
            id if id.ends_with("BatchOperation") && id != JOBS && body.get("filter").is_some() => match id {
                "modifyProcessInstancesBatchOperation" => json!({
                    "filter": {"state": "ACTIVE"},
                    "moveInstructions": [{"sourceElementId": "work", "targetElementId": "review"}],
                }),
                "migrateProcessInstancesBatchOperation" => json!({
                    "filter": {"state": "ACTIVE"},
                    "migrationPlan": {
                        "mappingInstructions": [{"sourceElementId": "work", "targetElementId": "work"}],
                        "targetProcessDefinitionKey": values["processDefinitionKey"],
                    },
                }),
                "deleteDecisionInstancesBatchOperation" => {
                    json!({"filter": {"decisionDefinitionId": "discount"}})
                }
                _ => json!({"filter": {"state": "ACTIVE"}}),
            },
            _ => self.body_of_operators(),
        };
        if self.id == "evaluateDecision" {
            body.as_object_mut().unwrap().remove("decisionDefinitionId");
        }
        let takes_type = !matches!(&*self.id, "getJobTypeStatistics");
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        if !takes_type {
            body["filter"].as_object_mut().unwrap().remove("jobType");
        }
        body
    }
}
