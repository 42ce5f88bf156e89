//! Every permission of every kind of resource: without it, an operation is refused to whoever may do everything
//! else; with it and nothing else, it is done.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use protocol::{PermissionType as P, ResourceType as R};
use serde_json::{Value, json};

use crate::contract::{Operation, Values, operations};
use crate::operators;
use crate::seed::{Maker, deploy};
use crate::server::{Answer, Server, basic, eventually, file};

const USERS: &str = "
users: [{username: root, password: right}, {username: ann, password: right}, {username: eve, password: right}]
roles: [{id: admin, users: [root]}]
";

/// Permissions that no operation requires: messages are not listed, and the other is for the management port.
const FOR_NOTHING: [(R, P); 2] = [(R::Message, P::Read), (R::System, P::Read)];

const FOUND_WITHIN_TRIES: u32 = 50;
const TRY_EVERY: Duration = Duration::from_millis(100);
/// Components that no operation asks for.
const COMPONENTS_OF_NOBODY: [&str; 2] = ["nothing", "neither"];

/// One permission.
pub(super) struct Row {
    pub(super) of: (R, P),
    /// Operations that take it. Behind one may stand `a=b`: the value `b` where `a` is asked for.
    pub(super) asks: &'static [&'static str],
    /// Permissions of which each would do instead.
    pub(super) instead: &'static [(R, P)],
    /// Permissions needed beside it.
    pub(super) also: Option<(R, P)>,
    /// Preparation by another principal.
    pub(super) before: Option<&'static str>,
}

pub(super) const fn row(resource: R, permission: P, asks: &'static [&'static str]) -> Row {
    Row { of: (resource, permission), asks, instead: &[], also: None, before: None }
}

const TASK_READERS: &[(R, P)] = &[(R::ProcessDefinition, P::ReadUserTask), (R::UserTask, P::Read)];
const TASK_UPDATERS: &[(R, P)] = &[(R::ProcessDefinition, P::UpdateUserTask), (R::UserTask, P::Update)];
const TASK_CLAIMERS: &[(R, P)] = &[
    (R::ProcessDefinition, P::ClaimUserTask),
    (R::UserTask, P::Claim),
    (R::ProcessDefinition, P::UpdateUserTask),
    (R::UserTask, P::Update),
];
const TASK_COMPLETERS: &[(R, P)] = &[
    (R::ProcessDefinition, P::CompleteUserTask),
    (R::UserTask, P::Complete),
    (R::ProcessDefinition, P::UpdateUserTask),
    (R::UserTask, P::Update),
];
const LOG_READERS: &[(R, P)] = &[
    (R::AuditLog, P::Read),
    (R::ProcessDefinition, P::ReadProcessInstance),
    (R::ProcessDefinition, P::ReadUserTask),
    (R::UserTask, P::Read),
];
const BATCH: &[(R, P)] = &[(R::Batch, P::Create)];

/// In an order in which what is changed is not needed any more.
fn table() -> Vec<Row> {
    let mut table = vec![
        Row { instead: LOG_READERS, ..row(R::AuditLog, P::Read, &["searchAuditLogs", "getAuditLog"]) },
        row(R::Authorization, P::Read, &["getAuthorization", "searchAuthorizations"]),
        row(R::Batch, P::Read, &["getBatchOperation", "searchBatchOperations"]),
        row(
            R::ClusterVariable,
            P::Read,
            &["getGlobalClusterVariable", "getTenantClusterVariable", "searchClusterVariables"],
        ),
        row(R::Component, P::Access, &["getAuthentication"]),
        row(
            R::DecisionDefinition,
            P::ReadDecisionDefinition,
            &["getDecisionDefinition", "getDecisionDefinitionXML", "searchDecisionDefinitions"],
        ),
        row(
            R::DecisionDefinition,
            P::ReadDecisionInstance,
            &["getDecisionInstance", "searchDecisionInstances"],
        ),
        row(
            R::DecisionRequirementsDefinition,
            P::Read,
            &["getDecisionRequirements", "getDecisionRequirementsXML", "searchDecisionRequirements"],
        ),
        row(R::Document, P::Read, &["getDocument"]),
        row(R::Expression, P::Evaluate, &["evaluateExpression"]),
        row(
            R::Group,
            P::Read,
            &[
                "getGroup",
                "searchGroups",
                "searchUsersForGroup",
                "searchClientsForGroup",
                "searchMappingRulesForGroup",
            ],
        ),
        row(
            R::Role,
            P::Read,
            &[
                "getRole",
                "searchRoles",
                "searchUsersForRole",
                "searchClientsForRole",
                "searchMappingRulesForRole",
            ],
        ),
        row(
            R::Tenant,
            P::Read,
            &[
                "getTenant",
                "searchTenants",
                "searchUsersForTenant",
                "searchClientsForTenant",
                "searchMappingRulesForTenant",
            ],
        ),
        row(R::User, P::Read, &["getUser", "searchUsers"]),
        row(R::MappingRule, P::Read, &["getMappingRule", "searchMappingRule"]),
        row(
            R::ProcessDefinition,
            P::ReadProcessDefinition,
            &[
                "getProcessDefinition",
                "getProcessDefinitionXML",
                "getStartProcessForm",
                "searchProcessDefinitions",
                "getAgentDefinition",
                "searchAgentDefinitions",
            ],
        ),
        row(
            R::ProcessDefinition,
            P::ReadProcessInstance,
            &[
                "searchProcessDefinitionVariableNames",
                "getProcessInstance",
                "getProcessInstanceCallHierarchy",
                "getProcessInstanceSequenceFlows",
                "getProcessInstanceStatistics",
                "getProcessInstanceStatisticsByError",
                "getProcessInstanceWaitStateStatistics",
                "searchElementInstanceWaitStates",
                "getAgentInstance",
                "searchAgentInstances",
                "getProcessDefinitionStatistics",
                "getProcessDefinitionInstanceStatistics",
                "getProcessDefinitionInstanceVersionStatistics",
                "getProcessDefinitionMessageSubscriptionStatistics",
                "getElementInstance",
                "getVariable",
                "getIncident",
                "searchProcessInstances",
                "searchElementInstances",
                "searchVariables",
                "searchIncidents",
                "searchProcessInstanceIncidents",
                "searchJobs",
                "searchMessageSubscriptions",
            ],
        ),
        Row {
            instead: LOG_READERS,
            ..row(R::ProcessDefinition, P::ReadProcessInstance, &["searchAuditLogs", "getAuditLog"])
        },
        Row {
            instead: TASK_READERS,
            ..row(
                R::ProcessDefinition,
                P::ReadUserTask,
                &[
                    "getUserTask",
                    "getUserTaskForm",
                    "searchUserTasks",
                    "searchUserTaskVariables",
                    "searchUserTaskEffectiveVariables",
                ],
            )
        },
        Row {
            instead: LOG_READERS,
            before: Some("updateUserTask"),
            ..row(R::ProcessDefinition, P::ReadUserTask, &["searchAuditLogs", "searchUserTaskAuditLogs"])
        },
        Row { instead: TASK_READERS, ..row(R::UserTask, P::Read, &["getUserTask", "searchUserTasks"]) },
        Row {
            instead: LOG_READERS,
            ..row(R::UserTask, P::Read, &["searchAuditLogs", "searchUserTaskAuditLogs"])
        },
        row(R::System, P::ReadUsageMetric, &["getUsageMetrics"]),
        row(
            R::System,
            P::ReadJobMetric,
            &[
                "getGlobalJobStatistics",
                "getJobTypeStatistics",
                "getJobWorkerStatistics",
                "getJobTimeSeriesStatistics",
                "getJobErrorStatistics",
            ],
        ),
        // Creations.
        row(R::Authorization, P::Create, &["createAuthorization"]),
        row(R::ClusterVariable, P::Create, &["createGlobalClusterVariable", "createTenantClusterVariable"]),
        row(R::DecisionDefinition, P::CreateDecisionInstance, &["evaluateDecision"]),
        row(R::Document, P::Create, &["createDocument", "createDocuments"]),
        row(R::Group, P::Create, &["createGroup"]),
        row(R::Role, P::Create, &["createRole"]),
        row(R::Tenant, P::Create, &["createTenant"]),
        row(R::User, P::Create, &["createUser"]),
        row(R::MappingRule, P::Create, &["createMappingRule"]),
        row(R::Message, P::Create, &["publishMessage"]),
        row(R::ProcessDefinition, P::CreateProcessInstance, &["createProcessInstance", "broadcastSignal"]),
        row(R::Resource, P::Create, &["createDeployment"]),
        Row {
            instead: &[(R::Batch, P::CreateBatchOperationCancelProcessInstance)],
            ..row(R::Batch, P::Create, &["cancelProcessInstancesBatchOperation"])
        },
    ];
    for (permission, asks) in [
        (P::CreateBatchOperationCancelProcessInstance, &["cancelProcessInstancesBatchOperation"]),
        (P::CreateBatchOperationDeleteDecisionInstance, &["deleteDecisionInstancesBatchOperation"]),
        (P::CreateBatchOperationDeleteProcessInstance, &["deleteProcessInstancesBatchOperation"]),
        (P::CreateBatchOperationModifyProcessInstance, &["modifyProcessInstancesBatchOperation"]),
        (P::CreateBatchOperationResolveIncident, &["resolveIncidentsBatchOperation"]),
    ] {
        table.push(Row { instead: BATCH, ..row(R::Batch, permission, asks) });
    }
    table.extend([
        Row {
            instead: BATCH,
            // The permission for the target of the migration.
            also: Some((R::ProcessDefinition, P::UpdateProcessInstance)),
            ..row(
                R::Batch,
                P::CreateBatchOperationMigrateProcessInstance,
                &["migrateProcessInstancesBatchOperation"],
            )
        },
        // Changes.
        row(R::Authorization, P::Update, &["updateAuthorization"]),
        row(R::Batch, P::Update, &["suspendBatchOperation"]),
        row(R::ClusterVariable, P::Update, &["updateGlobalClusterVariable", "updateTenantClusterVariable"]),
        row(R::Group, P::Update, &["updateGroup", "unassignUserFromGroup", "assignUserToGroup"]),
        row(R::Role, P::Update, &["updateRole", "unassignRoleFromUser", "assignRoleToUser"]),
        row(R::Tenant, P::Update, &["updateTenant", "unassignUserFromTenant", "assignUserToTenant"]),
        row(R::User, P::Update, &["updateUser"]),
        row(R::MappingRule, P::Update, &["updateMappingRule"]),
        row(R::System, P::Update, &["resetClock"]),
        row(
            R::ProcessDefinition,
            P::UpdateProcessInstance,
            &[
                "createElementInstanceVariables",
                "updateJob",
                "resolveIncident",
                "activateAdHocSubProcessActivities",
                "failJob",
                "createAgentInstance elementInstanceKey=agentElementInstanceKey",
                "updateAgentInstance elementInstanceKey=agentElementInstanceKey",
                "createAgentInstanceHistoryItem elementInstanceKey=agentElementInstanceKey",
            ],
        ),
        row(R::ProcessDefinition, P::ModifyProcessInstance, &["modifyProcessInstance"]),
        Row {
            instead: TASK_UPDATERS,
            ..row(R::ProcessDefinition, P::UpdateUserTask, &["updateUserTask", "assignUserTask"])
        },
        Row {
            instead: TASK_UPDATERS,
            before: Some("unassignUserTask"),
            ..row(R::UserTask, P::Update, &["updateUserTask", "assignUserTask", "unassignUserTask"])
        },
        Row { instead: TASK_CLAIMERS, ..row(R::ProcessDefinition, P::ClaimUserTask, &["claim"]) },
        Row {
            instead: TASK_CLAIMERS,
            before: Some("unassignUserTask"),
            ..row(R::UserTask, P::Claim, &["claim"])
        },
        Row {
            instead: TASK_COMPLETERS,
            ..row(R::ProcessDefinition, P::CompleteUserTask, &["completeUserTask"])
        },
        Row {
            instead: TASK_COMPLETERS,
            ..row(R::UserTask, P::Complete, &["completeUserTask userTaskKey=otherUserTaskKey"])
        },
        row(R::ProcessDefinition, P::CancelProcessInstance, &["cancelProcessInstance"]),
        // Deletions.
        row(R::ProcessDefinition, P::DeleteProcessInstance, &["deleteProcessInstance"]),
        row(R::DecisionDefinition, P::DeleteDecisionInstance, &["deleteDecisionInstance"]),
        row(R::Authorization, P::Delete, &["deleteAuthorization"]),
        row(R::ClusterVariable, P::Delete, &["deleteGlobalClusterVariable", "deleteTenantClusterVariable"]),
        row(R::Document, P::Delete, &["deleteDocument"]),
        row(R::Group, P::Delete, &["deleteGroup"]),
        row(R::Role, P::Delete, &["deleteRole"]),
        row(R::Tenant, P::Delete, &["deleteTenant tenantId=made"]),
        row(R::User, P::Delete, &["deleteUser"]),
        row(R::MappingRule, P::Delete, &["deleteMappingRule"]),
        row(R::Resource, P::DeleteResource, &["deleteResource"]),
        row(R::Resource, P::DeleteForm, &["deleteResource resourceKey=form"]),
        row(R::Resource, P::DeleteProcess, &["deleteResource resourceKey=process"]),
        row(R::Resource, P::DeleteDrd, &["deleteResource resourceKey=decisionRequirements"]),
        Row {
            instead: BATCH,
            also: Some((R::Resource, P::DeleteProcess)),
            ..row(
                R::Batch,
                P::CreateBatchOperationDeleteProcessDefinition,
                &["deleteWithHistory resourceKey=otherProcess"],
            )
        },
        Row {
            instead: BATCH,
            also: Some((R::Resource, P::DeleteDrd)),
            ..row(
                R::Batch,
                P::CreateBatchOperationDeleteDecisionDefinition,
                &["deleteWithHistory resourceKey=otherDecisionRequirements"],
            )
        },
        // While there are listeners, tasks wait for them.
        row(R::GlobalListener, P::CreateTaskListener, &["createGlobalTaskListener"]),
        row(
            R::GlobalListener,
            P::ReadTaskListener,
            &["getGlobalTaskListener id=made", "searchGlobalTaskListeners"],
        ),
        row(R::GlobalListener, P::UpdateTaskListener, &["updateGlobalTaskListener id=made"]),
        row(R::GlobalListener, P::DeleteTaskListener, &["deleteGlobalTaskListener id=made"]),
    ]);
    table
}

/// A user that asks.
struct Who {
    name: &'static str,
    credentials: String,
}

impl Who {
    fn new(name: &'static str) -> Self {
        Self { name, credentials: basic(name, "right") }
    }
}

struct World<'a> {
    server: &'a Server,
    root: Who,
    operations: BTreeMap<String, Operation>,
    values: Values,
}

impl World<'_> {
    /// Asks for an operation, as the table names it.
    async fn ask(&self, ask: &'static str, who: &Who) -> Answer {
        let (id, other) = ask.split_once(' ').unwrap_or((ask, ""));
        let mut values = self.values.clone();
        if let Some((name, other)) = other.split_once('=') {
            values.insert(name, self.values[other].clone());
        }
        let (server, by) = (self.server, &who.credentials);
        match id {
            "claim" => {
                let path = format!("/v2/user-tasks/{}/assignment", values["userTaskKey"]);
                server.post(&path, &json!({"assignee": who.name, "allowOverride": false})).by(by).send().await
            }
            "deleteWithHistory" => {
                let path = format!("/v2/resources/{}/deletion", values["resourceKey"]);
                server.post(&path, &json!({"deleteHistory": true})).by(by).send().await
            }
            _ => self.operations[id].ask(server, &values).by(by).send().await,
        }
    }

    fn grant(owner: &str, resource: R, id: &str, permissions: &[P]) -> Value {
        let permissions: Vec<_> = permissions.iter().map(|permission| permission.as_str()).collect();
        json!({
            "ownerType": "USER", "ownerId": owner, "resourceType": resource.as_str(), "resourceId": id,
            "permissionTypes": permissions,
        })
    }

    /// A new authorization.
    async fn allow(&self, grant: Value) -> String {
        let made = self.server.post("/v2/authorizations", &grant).by(&self.root.credentials).send().await;
        made.expect(201).json()["authorizationKey"].as_str().unwrap().to_owned()
    }

    async fn change(&self, key: &str, grant: Value) {
        let ask = self.server.ask("PUT", &format!("/v2/authorizations/{key}")).json(&grant);
        ask.by(&self.root.credentials).send().await.expect(204);
    }

    /// A new user task of an instance of its own.
    async fn other_task(&self) -> String {
        let create = json!({"processDefinitionId": "order", "variables": {"number": "18"}});
        let made = self.server.post("/v2/process-instances", &create).by(&self.root.credentials).send().await;
        let search = json!({"filter": {"processInstanceKey": made.expect(200).json()["processInstanceKey"]}});
        eventually("the task", async || {
            let found =
                self.server.post("/v2/user-tasks/search", &search).by(&self.root.credentials).send().await;
            found.json()["items"][0]["userTaskKey"].as_str().map(str::to_owned)
        })
        .await
    }

    /// Resources that nothing else needs.
    async fn deploy_more(&mut self) {
        let process = |id: &str| crate::seed::MARKER_PROCESS.replace("marker", id);
        let decision = |id: &str| {
            format!(
                r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="{id}" name="a" namespace="t">
                <decision id="{id}-decision" name="a"><literalExpression id="{id}-text"><text>1</text></literalExpression></decision></definitions>"#
            )
        };
        let form = r#"{"id":"gone","type":"default","components":[]}"#;
        for (name, content, kind, key, value) in [
            ("a.form", form, "form", "formKey", "form"),
            ("a.bpmn", &*process("gone"), "processDefinition", "processDefinitionKey", "process"),
            ("b.bpmn", &*process("gone-too"), "processDefinition", "processDefinitionKey", "otherProcess"),
            (
                "a.dmn",
                &*decision("gone"),
                "decisionRequirements",
                "decisionRequirementsKey",
                "decisionRequirements",
            ),
            (
                "b.dmn",
                &*decision("gone-too"),
                "decisionRequirements",
                "decisionRequirementsKey",
                "otherDecisionRequirements",
            ),
        ] {
            let deployed = deploy(self.server, &self.root.credentials, None, &[(name, content)]).await;
            let found =
                deployed["deployments"].as_array().unwrap().iter().find_map(|one| one[kind][key].as_str());
            self.values.insert(value, found.unwrap_or_else(|| panic!("{kind} of {deployed}")).to_owned());
        }
    }
}

/// Whether an answer is one for somebody who may not: of lists, one without anything.
fn is_refused(answer: &Answer) -> bool {
    answer.status == 403 || (answer.status == 200 && is_empty(answer) == Some(true))
}

/// Of a list, whether there is nothing in it.
fn is_empty(answer: &Answer) -> Option<bool> {
    let answer: Value = serde_json::from_str(&answer.text).ok()?;
    let lists = ["items", "authorizedComponents", "references", "resolved"];
    let list = lists.iter().find_map(|name| answer.get(name))?;
    Some(list.as_array()?.iter().all(|one| COMPONENTS_OF_NOBODY.iter().any(|name| one == name)))
}

/// Whether an answer is one for somebody who may.
fn is_done(ask: &str, answer: &Answer) -> bool {
    match ask {
        // No job has failed with an error.
        "getJobErrorStatistics" => answer.status == 200,
        // A principal with the permission gets the other reasons: the entity exists already, has ended or is not
        // activated, and whom an authorization names that is not there.
        // A cluster that runs is not restored.
        "restore"
        | "restoreAsClusterAdmin"
        | "suspendBatchOperation"
        | "createGlobalClusterVariable"
        | "createTenantClusterVariable"
        | "updateMappingRule"
        | "createAgentInstance elementInstanceKey=agentElementInstanceKey" => answer.status == 409,
        // The job is not activated.
        "createAgentInstanceHistoryItem elementInstanceKey=agentElementInstanceKey"
        | "createAuthorization"
        | "updateAuthorization"
        | "getRestoreStatus" => answer.status == 404,
        _ => (200..300).contains(&answer.status) && is_empty(answer) != Some(true),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_permission_is_needed_and_enough() {
    let users = file(USERS);
    let backups = tempfile::tempdir().unwrap();
    let server = Server::start(&operators::settings(users.path(), backups.path()));
    let (root, ann, eve) = (Who::new("root"), Who::new("ann"), Who::new("eve"));
    let maker = Maker { server: &server, credentials: &root.credentials, tenant: None };
    let mut values = maker.run().await;
    values.extend(maker.settle().await);
    values.insert("made", "made-by-somebody".to_owned());
    let operations = operations().into_iter().map(|operation| (operation.id.clone(), operation)).collect();
    let root = Who::new("root");
    let mut world = World { server: &server, root, operations, values };
    world.ask("deleteGlobalTaskListener", &world.root).await.expect(204);
    let task = world.other_task().await;
    world.values.insert("otherUserTaskKey", task);
    world.deploy_more().await;
    // Ann may do one thing, eve all the others.
    let nothing = |id: &str| World::grant("ann", R::Component, id, &[P::Access]);
    let (one, another) = (world.allow(nothing("nothing")).await, world.allow(nothing("neither")).await);
    let mut of_eve = BTreeMap::new();
    for resource in R::ALL {
        let grant = World::grant("eve", *resource, "*", resource.permissions());
        of_eve.insert(*resource, world.allow(grant).await);
    }
    let mut wrong = vec![];
    let mut seen = BTreeSet::from(FOR_NOTHING);
    let rows = [operators::rows(), table(), operators::later_rows()];
    for Row { of, asks, instead, also, before } in rows.into_iter().flatten() {
        seen.insert(of);
        if let Some(before) = before {
            world.ask(before, &world.root).await.expect(204);
        }
        let taken: BTreeSet<_> = instead.iter().copied().chain([of]).collect();
        for resource in taken.iter().map(|(resource, _)| *resource).collect::<BTreeSet<_>>() {
            let all = resource.permissions().iter().copied();
            let left: Vec<_> = all.filter(|permission| !taken.contains(&(resource, *permission))).collect();
            let grant = if left.is_empty() {
                World::grant("eve", resource, "nothing", resource.permissions())
            } else {
                World::grant("eve", resource, "*", &left)
            };
            world.change(&of_eve[&resource], grant).await;
        }
        world.change(&one, World::grant("ann", of.0, "*", &[of.1])).await;
        world
            .change(
                &another,
                also.map_or_else(
                    || nothing("neither"),
                    |(resource, permission)| World::grant("ann", resource, "*", &[permission]),
                ),
            )
            .await;
        for ask in asks {
            if *ask == "deleteProcessInstance" {
                eventually("the end of the instance", async || {
                    let found = world.ask("getProcessInstance", &world.root).await.json();
                    (found["state"] == "TERMINATED").then_some(())
                })
                .await;
            }
            let refused = world.ask(ask, &eve).await;
            if !is_refused(&refused) {
                wrong.push(format!("{ask} without {of:?}: {} {:.300}", refused.status, refused.text));
            }
            let mut done = world.ask(ask, &ann).await;
            // Recent changes may not be searchable yet.
            for _ in 0..FOUND_WITHIN_TRIES {
                if is_done(ask, &done) || is_empty(&done).is_none() {
                    break;
                }
                tokio::time::sleep(TRY_EVERY).await;
                done = world.ask(ask, &ann).await;
            }
            if !is_done(ask, &done) {
                wrong.push(format!("{ask} with {of:?} alone: {} {:.300}", done.status, done.text));
            }
        }
        for resource in taken.iter().map(|(resource, _)| *resource).collect::<BTreeSet<_>>() {
            world
                .change(&of_eve[&resource], World::grant("eve", resource, "*", resource.permissions()))
                .await;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let all = R::ALL.iter().flat_map(|resource| resource.permissions().iter().map(|it| (*resource, *it)));
    let missing: Vec<_> = all.filter(|pair| !seen.contains(pair)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(!server.log().contains("ERROR"), "{}", server.log());
}
