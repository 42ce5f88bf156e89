//! Records of definitions other than processes, and of what decisions came to.

use minicbor::{Decode, Encode};
use serde::Serialize;

use super::field::{base64, json_as_text, key_or_none};
use crate::{Document, Json, Key, Name};

records! {
    /// A decision requirements graph.
    DecisionRequirementsRecord {
        0 decision_requirements_id: Name, 1 decision_requirements_name: Name, 2 decision_requirements_version: u32,
        3 decision_requirements_key: Key, 4 namespace: Name, 5 resource_name: Name, 6 checksum: Name,
        7 #[serde(serialize_with = "base64")] resource: Name, 8 duplicate: bool, 9 tenant_id: Name, 10 deployment_key: Key,
    }
    DecisionRecord {
        0 decision_id: Name, 1 decision_name: Name, 2 version: u32, 3 version_tag: Name, 4 decision_key: Key,
        5 decision_requirements_id: Name, 6 decision_requirements_key: Key, 7 duplicate: bool, 8 tenant_id: Name,
        9 deployment_key: Key,
        // Not exported, as in the compatible system: for those who keep definitions to be found.
        10 #[serde(skip)] decision_requirements_name: Option<Name>, 11 #[serde(skip)] decision_requirements_version: Option<u32>,
    }
    FormRecord {
        0 form_id: Name, 1 version: u32, 2 version_tag: Name, 3 form_key: Key, 4 resource_name: Name, 5 checksum: Name,
        6 #[serde(serialize_with = "base64")] resource: Name, 7 duplicate: bool, 8 tenant_id: Name, 9 deployment_key: Key,
    }
    /// A resource of no kind that the engine knows.
    ResourceRecord {
        0 resource_id: Name, 1 version: u32, 2 version_tag: Name, 3 resource_key: Key, 4 resource_name: Name,
        5 checksum: Name, 6 #[serde(rename = "resourceProp")] resource: Name, 7 duplicate: bool, 8 tenant_id: Name, 9 deployment_key: Key,
    }
    /// The evaluation of a decision, with everything it required.
    DecisionEvaluationRecord {
        0 decision_key: Key, 1 decision_id: Name, 2 decision_name: Name, 3 decision_version: u32,
        4 decision_requirements_id: Name, 5 decision_requirements_key: Key,
        6 #[serde(serialize_with = "json_as_text")] decision_output: Json, 7 variables: Document,
        8 bpmn_process_id: Name, 9 #[serde(serialize_with = "key_or_none")] process_definition_key: Option<Key>,
        10 #[serde(serialize_with = "key_or_none")] process_instance_key: Option<Key>,
        11 #[serde(serialize_with = "key_or_none")] root_process_instance_key: Option<Key>,
        12 element_id: Name, 13 #[serde(serialize_with = "key_or_none")] element_instance_key: Option<Key>,
        14 evaluated_decisions: Vec<EvaluatedDecisionRecord>, 15 evaluation_failure_message: Name,
        16 failed_decision_id: Name, 17 tenant_id: Name, 18 business_id: Option<Name>,
    }
    /// One decision of an evaluation.
    EvaluatedDecisionRecord {
        0 decision_id: Name, 1 decision_name: Name, 2 decision_key: Key, 3 decision_version: u32, 4 decision_type: Name,
        5 #[serde(serialize_with = "json_as_text")] decision_output: Json,
        6 evaluated_inputs: Vec<EvaluatedInputRecord>, 7 matched_rules: Vec<MatchedRuleRecord>, 8 tenant_id: Name,
        9 decision_evaluation_instance_key: Name,
    }
    /// An input of a decision table, evaluated.
    EvaluatedInputRecord {
        0 input_id: Name, 1 input_name: Name, 2 #[serde(serialize_with = "json_as_text")] input_value: Json,
    }
    /// A rule of a decision table that matched; counted from 1.
    MatchedRuleRecord {
        0 rule_id: Name, 1 rule_index: u32, 2 evaluated_outputs: Vec<EvaluatedOutputRecord>,
    }
    /// An output of a rule that matched.
    EvaluatedOutputRecord {
        0 output_id: Name, 1 output_name: Name, 2 #[serde(serialize_with = "json_as_text")] output_value: Json,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluations_of_decisions_tell_values_as_texts() {
        let json = |text: &'static str| Json::from_valid(text);
        let record = DecisionEvaluationRecord {
            business_id: None,
            decision_key: 4,
            decision_id: "dish".into(),
            decision_name: "Dish".into(),
            decision_version: 2,
            decision_requirements_id: "dinner".into(),
            decision_requirements_key: 3,
            decision_output: json("null"),
            variables: Document::parse(bytes::Bytes::from_static(b"{\"guests\":20}")).unwrap(),
            bpmn_process_id: Name::default(),
            process_definition_key: None,
            process_instance_key: None,
            root_process_instance_key: None,
            element_id: Name::default(),
            element_instance_key: None,
            evaluated_decisions: vec![EvaluatedDecisionRecord {
                decision_id: "dish".into(),
                decision_name: "Dish".into(),
                decision_key: 4,
                decision_version: 2,
                decision_type: "DECISION_TABLE".into(),
                decision_output: json("null"),
                evaluated_inputs: vec![EvaluatedInputRecord {
                    input_id: "i".into(),
                    input_name: "Guests".into(),
                    input_value: json("20"),
                }],
                matched_rules: vec![MatchedRuleRecord {
                    rule_id: "r".into(),
                    rule_index: 1,
                    evaluated_outputs: vec![EvaluatedOutputRecord {
                        output_id: "o".into(),
                        output_name: "Dish".into(),
                        output_value: json("\"Stew\""),
                    }],
                }],
                tenant_id: Name::default_tenant(),
                decision_evaluation_instance_key: "9-1".into(),
            }],
            evaluation_failure_message: "why".into(),
            failed_decision_id: "dish".into(),
            tenant_id: Name::default_tenant(),
        };
        let expected = serde_json::json!({
            "decisionKey": 4, "decisionId": "dish", "decisionName": "Dish", "decisionVersion": 2,
            "decisionRequirementsId": "dinner", "decisionRequirementsKey": 3, "decisionOutput": "null",
            "variables": {"guests": 20}, "bpmnProcessId": "", "processDefinitionKey": -1, "processInstanceKey": -1,
            "rootProcessInstanceKey": -1, "elementId": "", "elementInstanceKey": -1,
            "evaluatedDecisions": [{
                "decisionId": "dish", "decisionName": "Dish", "decisionKey": 4, "decisionVersion": 2,
                "decisionType": "DECISION_TABLE", "decisionOutput": "null",
                "evaluatedInputs": [{"inputId": "i", "inputName": "Guests", "inputValue": "20"}],
                "matchedRules": [{"ruleId": "r", "ruleIndex": 1, "evaluatedOutputs": [
                    {"outputId": "o", "outputName": "Dish", "outputValue": "\"Stew\""},
                ]}],
                "tenantId": "<default>", "decisionEvaluationInstanceKey": "9-1",
            }],
            "evaluationFailureMessage": "why", "failedDecisionId": "dish", "tenantId": "<default>", "businessId": null,
        });
        assert_eq!(serde_json::to_value(&record).unwrap(), expected);
    }
}
