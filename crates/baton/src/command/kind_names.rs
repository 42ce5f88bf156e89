//! Names of kinds of entities in the API.

/// How the API names a kind and its properties.
pub(crate) struct ApiNames {
    /// Its name in messages.
    pub(crate) one: &'static str,
    /// The name of several, in messages.
    pub(crate) plural: &'static str,
    /// The property with its time, if lists can be ordered by it.
    pub(crate) moment: Option<&'static str>,
    /// Its path in the API.
    pub(crate) collection: &'static str,
    /// Its identity, and what a list shows; the identity comes first.
    pub(crate) columns: &'static [&'static str],
    /// The property that `--process` filters by.
    pub(crate) process: Option<&'static str>,
    /// The property that `--instance` filters by.
    pub(crate) instance: Option<&'static str>,
    /// The property that `--state` filters by.
    pub(crate) state: Option<&'static str>,
    /// The property that `--type` filters by.
    pub(crate) of_type: Option<&'static str>,
}

/// Defaults of most kinds.
const OF_INSTANCES: ApiNames = ApiNames {
    one: "",
    plural: "",
    moment: None,
    collection: "",
    columns: &[],
    process: Some("processDefinitionId"),
    instance: Some("processInstanceKey"),
    state: Some("state"),
    of_type: None,
};

/// The names of each kind, in the order of [`Kind`].
pub(super) const NAMES: [ApiNames; 10] = [
    ApiNames {
        one: "process instance",
        plural: "process instances",
        moment: Some("startDate"),
        collection: "process-instances",
        columns: &[
            "processInstanceKey",
            "processDefinitionId",
            "processDefinitionVersion",
            "state",
            "hasIncident",
            "startDate",
            "endDate",
        ],
        ..OF_INSTANCES
    },
    ApiNames {
        one: "element instance",
        plural: "element instances",
        collection: "element-instances",
        columns: &[
            "elementInstanceKey",
            "processInstanceKey",
            "elementId",
            "type",
            "state",
            "startDate",
            "endDate",
        ],
        of_type: Some("type"),
        ..OF_INSTANCES
    },
    ApiNames {
        one: "incident",
        plural: "incidents",
        moment: Some("creationTime"),
        collection: "incidents",
        columns: &[
            "incidentKey",
            "processInstanceKey",
            "elementId",
            "errorType",
            "state",
            "creationTime",
            "errorMessage",
        ],
        of_type: Some("errorType"),
        ..OF_INSTANCES
    },
    ApiNames {
        one: "job",
        plural: "jobs",
        collection: "jobs",
        columns: &[
            "jobKey",
            "processInstanceKey",
            "elementId",
            "type",
            "state",
            "retries",
            "worker",
            "errorMessage",
        ],
        of_type: Some("type"),
        ..OF_INSTANCES
    },
    ApiNames {
        one: "user task",
        plural: "user tasks",
        moment: Some("creationDate"),
        collection: "user-tasks",
        columns: &[
            "userTaskKey",
            "processInstanceKey",
            "elementId",
            "name",
            "state",
            "assignee",
            "creationDate",
        ],
        ..OF_INSTANCES
    },
    ApiNames {
        one: "variable",
        plural: "variables",
        collection: "variables",
        columns: &["variableKey", "processInstanceKey", "scopeKey", "name", "value"],
        process: None,
        state: None,
        ..OF_INSTANCES
    },
    ApiNames {
        one: "process definition",
        plural: "process definitions",
        collection: "process-definitions",
        columns: &[
            "processDefinitionKey",
            "processDefinitionId",
            "version",
            "versionTag",
            "name",
            "resourceName",
        ],
        instance: None,
        ..OF_INSTANCES
    },
    ApiNames {
        one: "decision instance",
        plural: "decision instances",
        moment: Some("evaluationDate"),
        collection: "decision-instances",
        columns: &[
            "decisionEvaluationInstanceKey",
            "processInstanceKey",
            "decisionDefinitionId",
            "state",
            "evaluationDate",
            "evaluationFailure",
        ],
        process: None,
        of_type: Some("decisionDefinitionType"),
        ..OF_INSTANCES
    },
    ApiNames {
        one: "message subscription",
        plural: "message subscriptions",
        collection: "message-subscriptions",
        columns: &[
            "messageSubscriptionKey",
            "processInstanceKey",
            "elementId",
            "messageName",
            "correlationKey",
            "messageSubscriptionState",
        ],
        state: Some("messageSubscriptionState"),
        ..OF_INSTANCES
    },
    ApiNames {
        one: "batch operation",
        plural: "batch operations",
        moment: Some("startDate"),
        collection: "batch-operations",
        columns: &[
            "batchOperationKey",
            "batchOperationType",
            "state",
            "startDate",
            "operationsTotalCount",
            "operationsCompletedCount",
            "operationsFailedCount",
        ],
        process: None,
        instance: None,
        of_type: Some("operationType"),
        ..OF_INSTANCES
    },
];
