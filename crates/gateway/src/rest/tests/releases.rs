//! Members of answers against those that each release has published.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::super::contract::Operation;
use super::contract::check_response;
use super::fake_storage::FakeStorage;
use super::{block_on, request, stored_gateway, text};

/// Members of answers beyond release 8.9, whose clients ignore them.
const BEYOND_8_9: &[&str] = &[
    "ActivatedJobResult.businessId",
    "ActivatedJobResult.jobLeaseToken",
    "ActivatedJobResult.physicalTenantId",
    "ActivatedJobResult.priority",
    "AuditLogResult.inboundChannelToolName",
    "AuditLogResult.inboundChannelType",
    "BrokerInfo.brokerId",
    "ClusterVariableResult.kind",
    "ClusterVariableResult.metadata",
    "ClusterVariableSearchResult.kind",
    "ClusterVariableSearchResult.metadata",
    "CorrelatedMessageSubscriptionResult.businessId",
    "DecisionInstanceGetQueryResult.businessId",
    "DecisionInstanceResult.businessId",
    "ExpressionEvaluationResult.referencedSecrets",
    "JobSearchResult.businessId",
    "JobSearchResult.priority",
    "MessageSubscriptionResult.businessId",
    "MessageSubscriptionResult.inboundConnectorType",
    "MessageSubscriptionResult.messageSubscriptionType",
    "MessageSubscriptionResult.processDefinitionName",
    "MessageSubscriptionResult.processDefinitionVersion",
    "MessageSubscriptionResult.toolName",
    "MessageSubscriptionResult.toolProperties",
    "Partition.state",
    "ProcessInstanceResult.suspendedDate",
    "SystemConfigurationResponse.authentication",
    "SystemConfigurationResponse.cloud",
    "SystemConfigurationResponse.components",
    "SystemConfigurationResponse.deployment",
    "UserTaskResult.businessId",
];

struct Published(Value);

impl Published {
    fn read(text: &str) -> Self {
        Self(serde_json::from_str(text).unwrap())
    }

    fn operations(&self) -> impl Iterator<Item = (&str, &Map<String, Value>)> {
        let operations = self.0["operations"].as_array().unwrap().iter();
        operations.map(|one| (one["id"].as_str().unwrap(), one["responses"].as_object().unwrap()))
    }

    /// A schema without its reference, and the name of the last schema above it.
    fn resolved<'a>(&'a self, mut schema: &'a Value, mut name: &'a str) -> (&'a Value, &'a str) {
        while let Some(reference) = schema["$ref"].as_str() {
            (schema, name) = (&self.0["schemas"][reference], reference);
        }
        (schema, name)
    }
}

/// Notes members that an answer of ours has and that of a release has not.
fn beyond(ours: (&Published, &Value, &str), theirs: (&Published, &Value), found: &mut BTreeSet<String>) {
    let (our, name) = ours.0.resolved(ours.1, ours.2);
    let (their, _) = theirs.0.resolved(theirs.1, "");
    if our["items"].is_object() {
        return beyond((ours.0, &our["items"], name), (theirs.0, &their["items"]), found);
    }
    for (at, alternative) in our["oneOf"].as_array().into_iter().flatten().enumerate() {
        beyond((ours.0, alternative, name), (theirs.0, &their["oneOf"][at]), found);
    }
    for (member, shape) in our["properties"].as_object().into_iter().flatten() {
        match their["properties"].get(member) {
            None => drop(found.insert(format!("{name}.{member}"))),
            Some(theirs_of_it) => beyond((ours.0, shape, name), (theirs.0, theirs_of_it), found),
        }
    }
}

fn all_beyond(release: &str) -> BTreeSet<String> {
    let (ours, theirs) =
        (Published::read(include_str!("../../../api/contract.json")), Published::read(release));
    let mut found = BTreeSet::new();
    for (id, responses) in ours.operations() {
        let Some((_, published)) = theirs.operations().find(|(other, _)| *other == id) else { continue };
        for (status, schema) in responses.iter().filter(|(_, schema)| !schema.is_null()) {
            beyond((&ours, schema, id), (&theirs, &published[status]), &mut found);
        }
    }
    found
}

#[test]
fn answers_have_no_member_that_the_newest_release_lacks() {
    let found = all_beyond(include_str!("../../../api/answers-8.10.json"));
    assert_eq!(found, BTreeSet::new(), "its strictest client refuses answers with unknown members");
}

#[test]
fn members_that_the_older_release_lacks_are_known() {
    let found = all_beyond(include_str!("../../../api/answers-8.9.json"));
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), BEYOND_8_9);
}

/// Clients of 8.8 and 8.9 read these keys as numbers, whatever the contract allows.
#[test]
fn evaluations_without_an_instance_have_numbers_for_its_keys() {
    let keys = ["processDefinitionKey", "processInstanceKey", "elementInstanceKey"];
    let storage = Arc::new(FakeStorage { empty: keys.to_vec(), ..FakeStorage::default() });
    let gateway = stored_gateway(&Arc::default(), &storage);
    let ask = |method, path: &str, body: &'static str| {
        block_on(async { text(gateway.answer(request(method, path, body)).await).await })
    };
    let (status, found) = ask("POST", "/v2/decision-instances/search", "{}");
    check_response(Operation::SearchDecisionInstances.spec(), status, &found);
    let found: Value = serde_json::from_str(&found).unwrap();
    let (status, one) = ask("GET", "/v2/decision-instances/7-1", "");
    check_response(Operation::GetDecisionInstance.spec(), status, &one);
    let one: Value = serde_json::from_str(&one).unwrap();
    for key in keys {
        assert_eq!((&found["items"][0][key], &one[key]), (&"-1".into(), &"-1".into()), "{key}");
    }
    // Others have no number where they have no value.
    let (_, found) = ask("POST", "/v2/incidents/search", "{}");
    assert!(!found.contains("\"-1\""), "{found}");
}
