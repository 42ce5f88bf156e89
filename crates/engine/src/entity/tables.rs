//! All state of a partition. The numbers are the tables' identity on disk: never reuse one.

use std::sync::Arc;

use protocol::{Key, PartitionId, Subject};

use state::StateError;

use crate::batch::row::{BatchItem, BatchOperation, BatchPlan};
use crate::core::step::Step;
use crate::entity::{
    AgentInstance, Banned, Channel, Chunk, ClusterVariableRow, Compensation, ConditionSubscription, Decision,
    DecisionRequirements, Definition, ElementInstance, Incident, Instance, Job, KeyedCommand, KeyedRequest,
    KnownHistoryItem, Loop, LoopOutput, Message, Meta, Outgoing, ParkedRecord, PendingHistoryItem,
    RemoteSubscription, RowTotals, SignalSubscription, StartSubscription, StoredFile, StoredListener,
    StoredSettings, Subscription, Timer, TimerTurns, VariableKey,
};
use crate::identity::row::{
    ClaimedRule, StoredAuthorization, StoredCircle, StoredMappingRule, StoredUser, StoredView,
};
use crate::identity::{Owned, Pair};
use crate::user_task::row::UserTask;

type Text = Arc<str>;
type Tenant = Arc<str>;
type DueMs = i64;

state::tables! {
    /// The state of one partition.
    pub struct Tables {
        /// One row: counters and clock.
        pub meta: Table<u8, Meta> = 1,
        /// One row: the settings under which commands are applied.
        pub settings: Table<u8, StoredSettings> = 236,
        /// Channels to and from other partitions.
        pub channels: Table<PartitionId, Channel> = 252,
        /// Messages on their way to other partitions: target, number.
        pub outbox: Table<(PartitionId, u64), Outgoing> = 253,
        pub definitions: Table<Key, Definition> = 2,
        // 3 to 6 were indexes of process definitions alone.
        /// Other partitions where instances of a definition that is being deleted may run: definition, partition.
        pub draining: Table<(Key, PartitionId), ()> = 254,
        /// Instances that run, by definition.
        pub running_instances: Table<Key, u64> = 7,
        pub instances: Table<Key, Instance> = 8,
        pub element_instances: Table<Key, ElementInstance> = 9,
        /// Element instances by scope.
        pub children: Table<(Key, Key), ()> = 10,
        /// Element instances by scope and element, of scopes that have had many.
        pub children_by_element: Table<(Key, u32, Key), ()> = 230,
        pub variables: Table<VariableKey, crate::entity::Variable> = 11,
        /// Bytes of the large variables of a process instance. None: no row.
        pub variable_bytes: Table<Key, u64> = 231,
        /// Tokens that wait at a join: scope, gateway, flow.
        pub join_tokens: Table<(Key, u32, u32), u32> = 12,
        pub jobs: Table<Key, Job> = 13,
        /// Queue of jobs whose priority is 0: type, tenant, job.
        pub job_queue: Table<(Text, Tenant, Key), ()> = 14,
        /// Queue of all other jobs: type, tenant, negated priority, job.
        pub job_queue_by_priority: Table<(Text, Tenant, i64, Key), ()> = 242,
        /// Activated jobs by deadline, and failed ones by the end of their backoff.
        pub job_due: Table<(DueMs, Key), ()> = 15,
        pub timers: Table<Key, Timer> = 16,
        /// Timers by due date, but those in the queue.
        pub timer_due: Table<(DueMs, Key), ()> = 17,
        /// Queue of due timers: round, due date, timer.
        pub timer_queue: Table<(u64, DueMs, Key), ()> = 234,
        /// Definitions of agents: definition of the process, element.
        pub agent_definitions: Table<(Key, u32), Key> = 243,
        pub agent_instances: Table<Key, AgentInstance> = 244,
        /// Agents by process instance.
        pub agents_by_instance: Table<(Key, Key), ()> = 245,
        /// Items of histories whose jobs have not ended: job, item.
        pub pending_history: Table<(Key, Key), PendingHistoryItem> = 246,
        /// Items of histories by agent and ID.
        pub known_history: Table<(Key, Text), KnownHistoryItem> = 247,
        /// Owners of queued timers.
        pub timer_turns: Table<Key, TimerTurns> = 235,
        /// Timers by element instance, or by definition for start events.
        pub timer_by_owner: Table<(Key, Key), ()> = 18,
        pub messages: Table<Key, Message> = 19,
        /// Buffered messages by tenant, name and correlation key.
        pub message_by_name: Table<(Tenant, Text, Text, Key), ()> = 20,
        /// Buffered messages by tenant, name, correlation key and message ID.
        pub message_by_id: Table<(Tenant, Text, Text, Text), Key> = 21,
        /// Buffered messages whose business ID must be unique, by tenant and business ID.
        pub message_by_business_id: Table<(Tenant, Text, Key), ()> = 248,
        /// Buffered messages by deadline.
        pub message_due: Table<(DueMs, Key), ()> = 22,
        /// Processes that a buffered message has been correlated to.
        pub message_correlations: Table<(Key, Text), ()> = 23,
        pub subscriptions: Table<Key, Subscription> = 24,
        /// Message subscriptions by tenant, message name, correlation key and process ID.
        pub subscription_by_name: Table<(Tenant, Text, Text, Text, Key), ()> = 68,
        /// Message subscriptions by element instance.
        pub subscription_by_owner: Table<(Key, Key), ()> = 26,
        /// Catch events of instances on other partitions that wait for a message here, by their subscription.
        pub remote_subscriptions: Table<Key, RemoteSubscription> = 250,
        /// Subscriptions that were offered a message, until the answer: message, process ID.
        pub offers: Table<(Key, Text), Key> = 251,
        /// Message start events of latest versions: tenant, message name, process ID, element.
        pub start_subscriptions: Table<(Tenant, Text, Text, u32), StartSubscription> = 27,
        /// Instances started by a message with a correlation key: tenant, process ID, correlation key.
        pub start_locks: Table<(Tenant, Text, Text), Key> = 28,
        pub incidents: Table<Key, Incident> = 29,
        /// Incident by element instance.
        pub incident_by_owner: Table<Key, Key> = 30,
        /// Steps left over for a later command.
        pub pending_steps: Table<u64, Step> = 31,
        /// Owners of the steps left over.
        pub pending_owners: Table<u64, Key> = 232,
        /// Steps left over by owner.
        pub pending_by_owner: Table<(Key, u64), ()> = 233,
        /// Commands with idempotency keys, by hash of the key.
        pub keyed_commands: Table<(u64, u64), KeyedCommand> = 237,
        /// Keyed commands by end of their time.
        pub keyed_due: Table<(DueMs, u64, u64), ()> = 238,
        /// How many of them each principal has, by hash of its kind and name.
        pub keyed_principals: Table<(u64, u64), RowTotals> = 249,
        /// Requests that wait for the answer to such a command.
        pub keyed_requests: Table<u64, KeyedRequest> = 239,
        pub banned: Table<Key, Banned> = 32,
        /// Process instances that stand still, with the time since when, Unix milliseconds of the engine's clock.
        pub suspended: Table<Key, i64> = 241,
        /// Steps of process instances that are banned or suspended.
        pub banned_steps: Table<(Key, u64), Step> = 33,
        /// Positions that exporters have acknowledged.
        pub exporters: Table<Text, u64> = 34,
        /// Records that the targets of exporters refused: exporter, position.
        pub parked_records: Table<(Text, u64), ParkedRecord> = 240,
        /// Definition of any kind by kind, tenant, ID and version. Versions that were deleted are not here.
        pub definition_by_id: Table<(u8, Tenant, Text, u32), Key> = 35,
        /// Definition of any kind by kind, tenant, ID, version tag and version.
        pub definition_by_tag: Table<(u8, Tenant, Text, Text, u32), Key> = 36,
        /// Definition of any kind by deployment, kind and ID.
        pub definition_by_deployment: Table<(Key, u8, Text), Key> = 37,
        /// Highest version ever given to an ID of a kind.
        pub last_version: Table<(u8, Tenant, Text), u32> = 38,
        pub decision_requirements: Table<Key, DecisionRequirements> = 39,
        pub decisions: Table<Key, Decision> = 40,
        /// Decision requirements graphs by tenant and namespace.
        pub requirements_by_namespace: Table<(Tenant, Text, Key), ()> = 43,
        pub forms: Table<Key, StoredFile> = 41,
        /// Resources of no kind that the engine knows.
        pub resources: Table<Key, StoredFile> = 42,
        pub signal_subscriptions: Table<Key, SignalSubscription> = 60,
        /// Signal subscriptions by tenant and signal name.
        pub signal_by_name: Table<(Tenant, Text, Key), ()> = 61,
        /// Signal subscriptions by element instance.
        pub signal_by_owner: Table<(Key, Key), ()> = 62,
        /// Signal start events of latest versions: tenant, signal name, process ID, element.
        pub signal_starts: Table<(Tenant, Text, Text, u32), StartSubscription> = 63,
        pub condition_subscriptions: Table<Key, ConditionSubscription> = 64,
        /// Condition subscriptions by element instance.
        pub condition_by_owner: Table<(Key, Key), ()> = 65,
        /// Condition subscriptions by process instance.
        pub condition_by_instance: Table<(Key, Key), ()> = 66,
        /// Conditional start events of latest versions: definition, element.
        pub condition_starts: Table<(Key, u32), StartSubscription> = 67,
        /// Multi-instance bodies and ad-hoc sub-processes.
        pub loops: Table<Key, Loop> = 70,
        /// Items of a multi-instance body, later its outputs, or those of an ad-hoc sub-process: body, number of
        /// the chunk.
        pub loop_chunks: Table<(Key, u32), Chunk> = 71,
        /// Outputs of a multi-instance body or an ad-hoc sub-process: body, place.
        pub loop_outputs: Table<(Key, u32), LoopOutput> = 72,
        /// Root instances whose business ID is theirs alone: tenant, process ID, business ID.
        pub business_ids: Table<(Tenant, Text, Text), Key> = 80,
        /// Incidents at an element instance or below it, called process instances included. None: no row.
        pub incident_counts: Table<Key, u64> = 90,
        /// Running instances with incidents, by definition. None: no row.
        pub instances_with_incidents: Table<Key, u64> = 91,
        /// Variables of the cluster, whose tenant is empty, and of tenants: tenant, name.
        pub cluster_variables: Table<(Tenant, Text), ClusterVariableRow> = 92,
        /// Completed activities that can be compensated: scope, number.
        pub compensations: Table<(Key, Key), Compensation> = 75,
        /// Handlers that run: element instance, and the completed activity.
        pub compensation_by_handler: Table<(Key, Key, Key), ()> = 76,
        /// Compensations that a throw event waits for: element instance, number of the completed activity.
        pub compensation_by_thrower: Table<(Key, Key), ()> = 77,
        /// Complex gateways that join: scope, gateway.
        pub complex_joins: Table<(Key, u32), crate::entity::ComplexJoin> = 78,
        /// How many instances of an element live in a scope, where a join asks for it: scope, element. None: no row.
        pub living: Table<(Key, u32), u32> = 79,
        pub batch_operations: Table<Key, BatchOperation> = 85,
        /// Items of batch operations: operation, instance or incident.
        pub batch_items: Table<(Key, Key), BatchItem> = 86,
        /// Plans of batch operations.
        pub batch_plans: Table<Key, BatchPlan> = 87,
        pub user_tasks: Table<Key, UserTask> = 50,
        /// Listeners of all user tasks by ID.
        pub global_listeners: Table<Text, StoredListener> = 51,
        pub users: Table<Text, StoredUser> = 120,
        /// Groups, roles and tenants: kind, ID.
        pub circles: Table<(u8, Text), StoredCircle> = 121,
        /// Mapping rules by ID.
        pub mapping_rules: Table<Text, StoredMappingRule> = 122,
        /// Mapping rules by name and value of the claim.
        pub mapping_rule_by_claim: Table<(Text, Text), ClaimedRule> = 123,
        /// Members: kind and ID of the group, role or tenant, kind and ID of the member.
        pub members: Table<Pair, ()> = 124,
        /// Memberships: kind and ID of the member, kind and ID of the group, role or tenant.
        pub member_of: Table<Pair, ()> = 125,
        pub authorizations: Table<Key, StoredAuthorization> = 126,
        /// Authorizations by owner, resource type and scope.
        pub authorization_by_owner: Table<Owned, ()> = 127,
        /// Lists that were saved with their filters.
        pub views: Table<Key, StoredView> = 128,
        /// Saved lists by owner.
        pub view_by_owner: Table<(Text, Key), ()> = 129,
        /// Views that others see, too.
        pub shared_views: Table<Key, ()> = 130,
    }
}

/// Names of the tables that say what anybody is granted. Partition 1 gives their rows to all partitions.
pub const GRANTS: &[&str] = &[
    "users",
    "circles",
    "mapping_rules",
    "mapping_rule_by_claim",
    "members",
    "member_of",
    "authorizations",
    "authorization_by_owner",
];

/// Names of the other tables whose rows partition 1 gives to all partitions.
pub const GIVEN: &[&str] = &[
    "definitions",
    "agent_definitions",
    "definition_by_id",
    "definition_by_tag",
    "definition_by_deployment",
    "last_version",
    "decision_requirements",
    "requirements_by_namespace",
    "decisions",
    "forms",
    "resources",
    "start_subscriptions",
    "global_listeners",
    "cluster_variables",
];

/// Names of further tables that may hold rows when every instance has ended.
const LASTING: &[&str] = &[
    "meta",
    "settings",
    "channels",
    "signal_starts",
    "condition_starts",
    "exporters",
    "parked_records",
    "keyed_commands",
    "keyed_due",
    "keyed_principals",
    "batch_operations",
    "batch_items",
    "batch_plans",
    "views",
    "view_by_owner",
    "shared_views",
];

/// Whether a table may hold rows when every instance has ended.
pub fn is_lasting(table: &str) -> bool {
    [GRANTS, GIVEN, LASTING].iter().any(|names| names.contains(&table))
}

impl Tables {
    /// Whether the subject of a command exists.
    pub(crate) fn has(&self, subject: Subject) -> Result<bool, StateError> {
        // Read as a whole, since whoever applies the command reads it next.
        Ok(match subject {
            Subject::Job(key) | Subject::AnsweredJob(key) => self.jobs.get(&key)?.is_some(),
            Subject::Instance(key) => self.instances.get(&key)?.is_some(),
            Subject::ElementInstance(key) => self.element_instances.get(&key)?.is_some(),
            Subject::Incident(key) => self.incidents.get(&key)?.is_some(),
            Subject::UserTask(key) => self.user_tasks.get(&key)?.is_some(),
            Subject::AgentInstance(key) => self.agent_instances.get(&key)?.is_some(),
        })
    }

    /// Whether the commands of a process instance are skipped.
    pub(crate) fn is_banned(&self, process_instance_key: Key) -> Result<bool, StateError> {
        self.banned.contains(&process_instance_key)
    }

    /// Some children of a scope after one of them and up to another, and the last of them if there may be more.
    pub(crate) fn children_between(
        &self,
        scope_key: Key,
        after: Key,
        until: Key,
        limit: usize,
    ) -> Result<(Vec<Key>, Option<Key>), StateError> {
        let found = self.children.keys((scope_key, after + 1)..=(scope_key, until), limit)?;
        let children: Vec<Key> = found.into_iter().map(|(_, child)| child).collect();
        let last = children.last().copied().filter(|_| children.len() == limit);
        Ok((children, last))
    }

    /// Some agents of a process instance after one of them.
    pub(crate) fn agents_of(
        &self,
        process_instance_key: Key,
        after: Key,
        limit: usize,
    ) -> Result<Vec<(Key, Arc<AgentInstance>)>, StateError> {
        let of_instance = (process_instance_key, after + 1)..(process_instance_key + 1, 0);
        let keys = self.agents_by_instance.keys(of_instance, limit)?;
        keys.into_iter().map(|(_, key)| Ok((key, self.agent(key)?))).collect()
    }

    /// An agent of a process instance, by its key.
    pub(crate) fn agent(&self, key: Key) -> Result<Arc<AgentInstance>, StateError> {
        let agent = self.agent_instances.get(&key)?;
        Ok(agent.expect("an agent is known by its key and by its process instance"))
    }

    /// Whether the commands of a process instance wait until it is resumed.
    pub(crate) fn is_suspended(&self, process_instance_key: Key) -> Result<bool, StateError> {
        self.suspended.contains(&process_instance_key)
    }

    /// The state that keeps a process instance from going on, as messages name it.
    pub(crate) fn halt_of(&self, process_instance_key: Key) -> Result<Option<&'static str>, StateError> {
        Ok(if self.is_banned(process_instance_key)? {
            Some("banned")
        } else if self.is_suspended(process_instance_key)? {
            Some("suspended")
        } else {
            None
        })
    }
}
