//! Something of everything, for others to want.

use serde_json::{Value, json};

use crate::contract::{Operation, Values};
use crate::server::{Answer, Server, eventually};

/// Stands in everything that may be read only by who may read it.
pub const SECRET: &str = "hush-hush";

/// Deployment without permission.
pub const MARKER_PROCESS: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t"><process id="marker" isExecutable="true"><startEvent id="s"/></process></definitions>"#;

/// Everything that a process may wait for, one beside the other.
const ORDER: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t">
  <message id="paid" name="paid"><extensionElements><zeebe:subscription correlationKey="=number"/></extensionElements></message>
  <process id="order" name="hush-hush" isExecutable="true">
    <startEvent id="start"><extensionElements><zeebe:formDefinition formId="form"/></extensionElements></startEvent>
    <sequenceFlow id="f0" sourceRef="start" targetRef="fork"/>
    <parallelGateway id="fork"/>
    <sequenceFlow id="f1" sourceRef="fork" targetRef="work"/>
    <serviceTask id="work"><extensionElements><zeebe:taskDefinition type="work"/><zeebe:agentDefinition agentType="external"/></extensionElements></serviceTask>
    <sequenceFlow id="f2" sourceRef="fork" targetRef="review"/>
    <userTask id="review"><extensionElements><zeebe:userTask/><zeebe:formDefinition formId="form"/><zeebe:assignmentDefinition assignee="root"/></extensionElements></userTask>
    <sequenceFlow id="f3" sourceRef="fork" targetRef="wait"/>
    <intermediateCatchEvent id="wait"><messageEventDefinition id="w" messageRef="paid"/></intermediateCatchEvent>
    <sequenceFlow id="f4" sourceRef="fork" targetRef="choose"/>
    <adHocSubProcess id="choose"><task id="choice"/></adHocSubProcess>
    <sequenceFlow id="f5" sourceRef="fork" targetRef="broken"/>
    <serviceTask id="broken"><extensionElements><zeebe:taskDefinition type="=hush"/></extensionElements></serviceTask>
  </process>
  <signal id="go" name="go"/>
  <process id="signalled" isExecutable="true">
    <startEvent id="start-signal"><signalEventDefinition id="g" signalRef="go"/></startEvent>
  </process>
  <process id="conditional" isExecutable="true">
    <startEvent id="start-condition"><conditionalEventDefinition id="c"><condition>=secret = 1</condition></conditionalEventDefinition></startEvent>
  </process>
</definitions>"#;

const DISCOUNT: &str = r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="discounts" name="hush-hush" namespace="t">
  <decision id="discount" name="hush-hush">
    <decisionTable id="table"><output id="o" name="o" typeRef="string"/>
      <rule id="r"><outputEntry id="e"><text>"hush-hush"</text></outputEntry></rule></decisionTable>
  </decision>
</definitions>"#;

const FORM: &str = r#"{"id":"form","type":"default","components":[{"label":"hush-hush","type":"text"}]}"#;

const ROBOT: &str = r#"{"id":"robot","script":"hush-hush"}"#;

/// Deploys files.
pub async fn deploy(server: &Server, who: &str, tenant: Option<&str>, files: &[(&str, &str)]) -> Value {
    let mut body = String::new();
    for (name, content) in files {
        body += &format!(
            "--x\r\ncontent-disposition: form-data; name=\"resources\"; filename=\"{name}\"\r\n\r\n{content}\r\n"
        );
    }
    if let Some(tenant) = tenant {
        body += &format!("--x\r\ncontent-disposition: form-data; name=\"tenantId\"\r\n\r\n{tenant}\r\n");
    }
    let ask = server.ask("POST", "/v2/deployments");
    let ask = ask.body("multipart/form-data; boundary=x", body + "--x--\r\n").by(who);
    ask.send().await.expect(200).json()
}

fn key(answer: &Value, name: &str) -> String {
    answer[name].as_str().unwrap_or_else(|| panic!("{name} of {answer}")).to_owned()
}

/// A client that makes something of everything in a tenant.
pub struct Maker<'a> {
    pub server: &'a Server,
    pub credentials: &'a str,
    pub tenant: Option<&'a str>,
}

impl Maker<'_> {
    async fn post(&self, path: &str, body: Value) -> Answer {
        let answer = self.server.post(&format!("/v2{path}"), &body).by(self.credentials).send().await;
        assert!((200..300).contains(&answer.status), "{path}: {answer:?}");
        answer
    }

    fn of_tenant(&self, mut body: Value) -> Value {
        if let Some(tenant) = self.tenant {
            body["tenantId"] = json!(tenant);
        }
        body
    }

    /// The only row that a search finds, once it does.
    async fn found(&self, what: &str, filter: Value) -> Value {
        let search = json!({ "filter": filter });
        eventually(what, async || {
            let answer = self.post(&format!("/{what}/search"), search.clone()).await.json();
            answer["items"].get(0).cloned()
        })
        .await
    }

    /// Live entities: an instance with all kinds of waiting elements, and its definition.
    pub async fn run(&self) -> Values {
        let files =
            [("order.bpmn", ORDER), ("discount.dmn", DISCOUNT), ("form.form", FORM), ("robot.rpa", ROBOT)];
        let deployed = deploy(self.server, self.credentials, self.tenant, &files).await;
        let of_kind = |kind: &str| {
            let mut found = deployed["deployments"].as_array().unwrap().iter().map(|one| &one[kind]);
            let is_wanted = |one: &&Value| {
                one.is_object() && (kind != "processDefinition" || one["processDefinitionId"] == "order")
            };
            found.find(is_wanted).unwrap_or_else(|| panic!("{kind} of {deployed}"))
        };
        let variables = json!({"secret": SECRET, "number": "17"});
        let instance = json!({"processDefinitionId": "order", "variables": variables});
        let created = self.post("/process-instances", self.of_tenant(instance)).await.json();
        let instance = key(&created, "processInstanceKey");
        let evaluated = json!({"decisionDefinitionId": "discount", "variables": variables});
        let evaluated = self.post("/decision-definitions/evaluation", self.of_tenant(evaluated)).await.json();
        let evaluation = key(&evaluated, "decisionEvaluationKey");
        let message =
            json!({"name": "later", "correlationKey": "1", "timeToLive": 3_600_000, "variables": variables});
        self.post("/messages/publication", self.of_tenant(message)).await;
        let of_instance = || json!({ "processInstanceKey": instance });
        let job = self.found("jobs", json!({"processInstanceKey": instance, "elementId": "work"})).await;
        let task = self.found("user-tasks", of_instance()).await;
        let definition = json!({"model": SECRET, "provider": SECRET, "systemPrompt": SECRET});
        let agent = json!({"elementInstanceKey": job["elementInstanceKey"], "definition": definition});
        self.post("/agent-instances", agent).await;
        let agent = self.found("agent-instances", of_instance()).await;
        let incident = self.found("incidents", of_instance()).await;
        let ad_hoc = json!({"processInstanceKey": instance, "elementId": "choose"});
        let ad_hoc = self.found("element-instances", ad_hoc).await;
        let variable = json!({"processInstanceKey": instance, "name": "secret"});
        let variable = self.found("variables", variable).await;
        self.found("message-subscriptions", of_instance()).await;
        let log = self.found("audit-logs", of_instance()).await;
        let decision = self.found("decision-instances", json!({ "decisionEvaluationKey": evaluation })).await;
        let file = self.server.ask("POST", "/v2/documents").by(self.credentials);
        let document = file.file("file", "a.txt", SECRET).send().await.expect(201).json();
        Values::from([
            ("adHocSubProcessInstanceKey", key(&ad_hoc, "elementInstanceKey")),
            ("agentDefinitionKey", key(&agent, "agentDefinitionKey")),
            ("agentElementInstanceKey", key(&job, "elementInstanceKey")),
            ("agentInstanceKey", key(&agent, "agentInstanceKey")),
            ("auditLogKey", key(&log, "auditLogKey")),
            ("backupId", "1".to_owned()),
            ("otherBackupId", "2".to_owned()),
            ("contentHash", key(&document, "contentHash")),
            ("decisionDefinitionKey", key(of_kind("decisionDefinition"), "decisionDefinitionKey")),
            ("decisionEvaluationInstanceKey", key(&decision, "decisionEvaluationInstanceKey")),
            ("decisionEvaluationKey", evaluation),
            ("decisionRequirementsKey", key(of_kind("decisionRequirements"), "decisionRequirementsKey")),
            ("documentId", key(&document, "documentId")),
            ("elementInstanceKey", key(&ad_hoc, "elementInstanceKey")),
            ("formKey", key(of_kind("form"), "formKey")),
            ("incidentKey", key(&incident, "incidentKey")),
            ("jobKey", key(&job, "jobKey")),
            ("jobType", "work".to_owned()),
            ("messageName", "paid".to_owned()),
            ("processDefinitionKey", key(of_kind("processDefinition"), "processDefinitionKey")),
            ("processInstanceKey", instance),
            ("resourceKey", key(of_kind("resource"), "resourceKey")),
            ("userTaskKey", key(&task, "userTaskKey")),
            ("variableKey", key(&variable, "variableKey")),
        ])
    }

    /// Other entities: users, their memberships, and cluster variables.
    pub async fn settle(&self) -> Values {
        let user =
            json!({"username": "bob", "password": "right", "name": SECRET, "email": "hush-hush@example.com"});
        self.post("/users", user).await;
        self.post("/groups", json!({"groupId": "clerks", "name": SECRET})).await;
        self.post("/roles", json!({"roleId": "clerk", "name": SECRET})).await;
        let rule =
            json!({"mappingRuleId": "rule", "name": SECRET, "claimName": "groups", "claimValue": SECRET});
        self.post("/mapping-rules", rule).await;
        for circle in ["/groups/clerks", "/roles/clerk", "/tenants/%3Cdefault%3E"] {
            for member in ["users/bob", "clients/robot", "mapping-rules/rule"] {
                let ask = self.server.ask("PUT", &format!("/v2{circle}/{member}")).by(self.credentials);
                ask.send().await.expect(204);
            }
        }
        let authorization = json!({
            "ownerType": "USER", "ownerId": "bob", "resourceType": "MESSAGE", "resourceId": SECRET,
            "permissionTypes": ["CREATE"],
        });
        let authorization = self.post("/authorizations", authorization).await.json();
        let variable = json!({"name": "rate", "value": SECRET});
        self.post("/cluster-variables/global", variable.clone()).await;
        self.post("/cluster-variables/tenants/%3Cdefault%3E", variable).await;
        let listener = json!({"id": "listener", "type": SECRET, "eventTypes": ["all"]});
        self.post("/global-task-listeners", listener).await;
        let nothing = json!({"filter": {"processInstanceKey": "1"}});
        let batch = self.post("/process-instances/cancellation", nothing).await.json();
        // It has nothing to do, which takes a moment.
        self.found("batch-operations", json!({"state": "COMPLETED"})).await;
        Values::from([
            ("authorizationKey", key(&authorization, "authorizationKey")),
            ("batchOperationKey", key(&batch, "batchOperationKey")),
            ("clientId", "robot".to_owned()),
            ("groupId", "clerks".to_owned()),
            ("id", "listener".to_owned()),
            ("mappingRuleId", "rule".to_owned()),
            ("name", "rate".to_owned()),
            ("roleId", "clerk".to_owned()),
            ("tenantId", "<default>".to_owned()),
            ("username", "bob".to_owned()),
        ])
    }

    /// Answers of all reading operations, after the effects of earlier requests are visible. Rows that leave by
    /// themselves are left out.
    pub async fn picture(&self, operations: &[Operation], values: &Values) -> Vec<(String, u16, String)> {
        // Changes nothing that is looked at, and gives the position that all else stands before.
        let pinned = json!({"name": "nobody-waits-for-this", "timeToLive": 0});
        let answer = self.post("/messages/publication", self.of_tenant(pinned)).await;
        let position = answer.header("baton-position").unwrap().to_owned();
        let mut picture = vec![];
        let looks = operations.iter().filter(|operation| operation.looks() && !operation.is_for_operators());
        for operation in looks {
            let ask = operation.ask(self.server, values).by(self.credentials);
            let answer = ask.header("baton-await-position", &*position).send().await;
            // Every look at the picture is in the log of what was done, by the message before it.
            if !operation.id.contains("AuditLog") {
                picture.push((operation.id.clone(), answer.status, answer.text));
            }
        }
        picture
    }
}
