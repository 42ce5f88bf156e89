//! Steps: what is left to do for a command. Steps are data, so a long run of them can go on in a later command.
#![expect(missing_docs, reason = "fields are named by what they hold")]

use minicbor::{Decode, Encode};
use protocol::{Document, Key};

/// An element of an ad-hoc sub-process that is activated.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct AdHocElement {
    #[n(0)]
    pub element: u32,
    #[n(1)]
    pub variables: Document,
}

/// One move of a process instance.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub enum Step {
    /// Makes an instance of an element. Its scope counts it already.
    #[n(0)]
    Activate {
        #[n(0)]
        process_instance_key: Key,
        #[n(1)]
        element: u32,
        #[n(2)]
        scope_key: Key,
        /// Set if an event has happened that this element is the catch event of.
        #[n(3)]
        trigger: Option<Document>,
    },
    /// Goes on with an activation that an incident stopped.
    #[n(1)]
    ResumeActivation {
        #[n(0)]
        key: Key,
        #[n(1)]
        trigger: Option<Document>,
    },
    /// Completes an element instance with what its work brought.
    #[n(2)]
    Complete {
        #[n(0)]
        key: Key,
        #[n(1)]
        variables: Document,
    },
    /// Terminates an element instance.
    #[n(3)]
    Terminate {
        #[n(0)]
        key: Key,
    },
    /// Terminates what is inside a scope, a slice at a time, from after this child on.
    #[n(4)]
    TerminateChildren {
        #[n(0)]
        scope_key: Key,
        #[n(1)]
        after: Key,
    },
    /// Starts an instance from a buffered message that waited for the one before to end.
    #[n(5)]
    StartFromBuffer {
        #[n(0)]
        tenant_id: protocol::Name,
        #[n(1)]
        process_id: protocol::Name,
        #[n(2)]
        correlation_key: protocol::Name,
    },
    /// Gives a buffered message to a subscription that has just been opened.
    #[n(6)]
    MatchBuffered {
        #[n(0)]
        subscription_key: Key,
    },
    /// Creates the job of the listener of a user task at this index, or ends the operation after the last.
    #[n(121)]
    ListenTask {
        #[n(0)]
        key: Key,
        #[n(1)]
        index: u32,
    },
    /// Creates the job of the execution listener at this index, or goes on after the last.
    #[n(120)]
    Listen {
        #[n(0)]
        key: Key,
        #[n(1)]
        index: u32,
    },
    /// Looks whether joins in a scope can go on.
    #[n(170)]
    CheckJoins {
        #[n(0)]
        scope_key: Key,
    },
    /// Goes on through what is to be compensated in a scope.
    #[n(171)]
    Compensate {
        #[n(0)]
        thrower_key: Key,
        #[n(1)]
        scope_key: Key,
        #[n(2)]
        entered_by: Option<(Key, Key)>,
        #[n(3)]
        after: Key,
        #[n(4)]
        activity: Option<u32>,
        #[n(5)]
        variables: Document,
    },
    /// Starts a compensation handler. The scope it runs in counts it already.
    #[n(172)]
    RunHandler {
        #[n(0)]
        host_key: Key,
        #[n(1)]
        scope_key: Key,
        #[n(2)]
        key: Key,
        #[n(3)]
        variables: Document,
    },
    /// Removes what is left to compensate in a scope that has ended, a slice at a time.
    #[n(173)]
    DropCompensations {
        #[n(0)]
        scope_key: Key,
    },
    /// Looks whether a complex gateway goes on.
    #[n(176)]
    CheckComplex {
        #[n(0)]
        key: Key,
    },
    /// Puts back what was held inside a scope whose instance is suspended no more, a slice at a time.
    #[n(177)]
    Revive {
        #[n(0)]
        scope_key: Key,
        /// The last child that was looked at; 0 before the first.
        #[n(1)]
        after: Key,
    },
    /// Announces the jobs inside a scope whose instance is banned no more, a slice at a time.
    #[n(175)]
    AnnounceJobs {
        #[n(0)]
        scope_key: Key,
        #[n(1)]
        after: Key,
    },
    /// Everything in a cancelled transaction has ended.
    #[n(174)]
    CompensateCancelled {
        #[n(0)]
        key: Key,
    },
    /// Looks at the conditions of a process instance after its variables have changed, a slice at a time.
    #[n(143)]
    EvaluateConditions {
        #[n(0)]
        process_instance_key: Key,
        #[n(1)]
        touches: Vec<VariableUpdate>,
        /// The last subscription that was looked at.
        #[n(2)]
        after: Key,
    },
    /// Triggers an event whose condition is met.
    #[n(144)]
    TriggerCondition {
        #[n(0)]
        subscription_key: Key,
    },
    /// Tells a signal to those who wait for it, a slice at a time.
    #[n(140)]
    BroadcastSignal {
        /// Later waiting instances are not notified.
        #[n(0)]
        signal_key: Key,
        #[n(1)]
        name: protocol::Name,
        #[n(2)]
        tenant_id: protocol::Name,
        #[n(3)]
        variables: Document,
        /// The last subscription that was told.
        #[n(4)]
        after: Key,
    },
    /// Starts an instance at a signal start event.
    #[n(141)]
    StartBySignal {
        #[n(0)]
        definition_key: Key,
        #[n(1)]
        element: u32,
        #[n(2)]
        variables: Document,
    },
    /// Tells a signal to one who waits for it.
    #[n(142)]
    TriggerSignal {
        #[n(0)]
        subscription_key: Key,
        #[n(1)]
        variables: Document,
    },
    /// Starts an instance by a buffered message that waits for its business ID to be free.
    #[n(146)]
    StartByBusinessId {
        #[n(0)]
        tenant_id: protocol::Name,
        #[n(1)]
        process_id: protocol::Name,
        #[n(2)]
        business_id: protocol::Name,
    },
    /// Publishes a message that an element has sent.
    #[n(145)]
    PublishMessage {
        #[n(0)]
        message: Box<protocol::PublishMessage>,
    },
    /// Ends a termination: nothing is left inside.
    #[n(7)]
    FinishTermination {
        #[n(0)]
        key: Key,
    },
    /// Decides on the next instances of a multi-instance body, a slice at a time.
    #[n(160)]
    SpawnLoop {
        #[n(0)]
        body_key: Key,
    },
    /// Makes one instance inside a multi-instance body, which counts it already.
    #[n(161)]
    ActivateLoop {
        #[n(0)]
        body_key: Key,
        #[n(1)]
        index: u32,
    },
    /// Puts outputs of a multi-instance body together, a slice at a time, from this chunk on.
    #[n(162)]
    GatherLoop {
        #[n(0)]
        body_key: Key,
        #[n(1)]
        chunk: u32,
    },
    /// Makes instances of elements of an ad-hoc sub-process, which counts them already.
    #[n(164)]
    ActivateAdHoc {
        #[n(0)]
        ad_hoc_key: Key,
        /// Each with local variables.
        #[n(1)]
        elements: Vec<AdHocElement>,
    },
    /// Starts an element of an ad-hoc sub-process in the scope that was made for it, after an incident.
    #[n(167)]
    BeginAdHocInner {
        #[n(0)]
        key: Key,
        /// Its ID, which a migration may change.
        #[n(1)]
        element_id: protocol::Name,
        #[n(2)]
        variables: Document,
    },
    /// Creates the job of an ad-hoc sub-process, instead of the one that it has.
    #[n(165)]
    CreateAdHocJob {
        #[n(0)]
        ad_hoc_key: Key,
    },
    /// Terminates what is older inside a scope, a slice at a time, from after this child on.
    #[n(166)]
    TerminateOlder {
        #[n(0)]
        scope_key: Key,
        #[n(1)]
        after: Key,
        #[n(2)]
        until: Key,
    },
    /// Removes what is left of a multi-instance body that has ended, a slice at a time.
    #[n(163)]
    ForgetLoop {
        #[n(0)]
        body_key: Key,
    },
    /// Takes an element instance away from outside: a scope that is empty then terminates, too.
    #[n(180)]
    Withdraw {
        #[n(0)]
        key: Key,
    },
    /// Erases the banned instances of a call hierarchy, a slice at a time.
    #[n(181)]
    EraseBanned {
        #[n(0)]
        root_key: Key,
        /// The last banned instance that was looked at.
        #[n(1)]
        after: Key,
    },
    /// Has items of histories hold or not, whose job has ended, a slice at a time.
    #[n(190)]
    SettleHistory {
        #[n(0)]
        job_key: Key,
        /// The lease of the activation that ended it, if it had one.
        #[n(1)]
        lease: Option<protocol::Name>,
        #[n(2)]
        is_completed: bool,
    },
    /// Ends the agents of a process instance that has ended, a slice at a time.
    #[n(191)]
    EndAgents {
        #[n(0)]
        process_instance_key: Key,
    },
    /// Tells of the agents of a process instance that was migrated, a slice at a time.
    #[n(192)]
    TellMigratedAgents {
        #[n(0)]
        process_instance_key: Key,
        /// The last agent that was told of.
        #[n(1)]
        after: Key,
    },
    /// Does the next part of a batch operation.
    #[n(200)]
    WorkOnBatch {
        #[n(0)]
        batch_operation_key: Key,
        #[n(1)]
        life: u32,
    },
    /// Does an item of a batch operation of another partition.
    #[n(202)]
    DoBatchItem {
        /// The partition of the batch operation.
        #[n(0)]
        source: protocol::PartitionId,
        #[n(1)]
        item: Box<protocol::RemoteBatchItem>,
        /// How often it was put off.
        #[n(2)]
        attempts: u32,
    },
    /// Removes what is left of somebody who was deleted, a slice at a time.
    #[n(240)]
    ForgetIdentity(#[n(0)] crate::identity::Forgotten),
    /// Removes batch operations that ended long ago, a slice at a time.
    #[n(201)]
    ForgetBatches,
    /// A step that an operation has caused, for records. The inner one is none of these.
    #[n(230)]
    WithOrigin {
        #[n(0)]
        operation_reference: Option<u64>,
        #[n(1)]
        batch_operation_reference: Option<Key>,
        #[n(2)]
        step: Box<Step>,
    },
}

impl Step {
    /// Bytes of the variables that it carries.
    pub(crate) fn value_bytes(&self) -> usize {
        match self {
            Self::Activate { trigger, .. } | Self::ResumeActivation { trigger, .. } => {
                trigger.as_ref().map_or(0, Document::json_len)
            }
            Self::Complete { variables, .. }
            | Self::Compensate { variables, .. }
            | Self::RunHandler { variables, .. }
            | Self::BroadcastSignal { variables, .. }
            | Self::StartBySignal { variables, .. }
            | Self::TriggerSignal { variables, .. }
            | Self::BeginAdHocInner { variables, .. } => variables.json_len(),
            Self::PublishMessage { message } => message.variables.json_len(),
            Self::ActivateAdHoc { elements, .. } => {
                elements.iter().map(|element| element.variables.json_len()).sum()
            }
            Self::WithOrigin { step, .. } => step.value_bytes(),
            Self::EvaluateConditions { .. }
            | Self::Terminate { .. }
            | Self::TerminateChildren { .. }
            | Self::StartFromBuffer { .. }
            | Self::MatchBuffered { .. }
            | Self::ListenTask { .. }
            | Self::Listen { .. }
            | Self::CheckJoins { .. }
            | Self::DropCompensations { .. }
            | Self::CheckComplex { .. }
            | Self::Revive { .. }
            | Self::AnnounceJobs { .. }
            | Self::CompensateCancelled { .. }
            | Self::TriggerCondition { .. }
            | Self::StartByBusinessId { .. }
            | Self::FinishTermination { .. }
            | Self::SpawnLoop { .. }
            | Self::ActivateLoop { .. }
            | Self::GatherLoop { .. }
            | Self::CreateAdHocJob { .. }
            | Self::TerminateOlder { .. }
            | Self::ForgetLoop { .. }
            | Self::Withdraw { .. }
            | Self::EraseBanned { .. }
            | Self::SettleHistory { .. }
            | Self::EndAgents { .. }
            | Self::TellMigratedAgents { .. }
            | Self::WorkOnBatch { .. }
            | Self::DoBatchItem { .. }
            | Self::ForgetIdentity(_)
            | Self::ForgetBatches => 0,
        }
    }
}

/// A variable that has been set.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct VariableUpdate {
    /// The scope that has it.
    #[n(0)]
    pub scope_key: Key,
    #[n(1)]
    pub name: protocol::Name,
    /// Whether it is new.
    #[n(2)]
    pub created: bool,
    /// Last key given out at that time: subscriptions with a later one have seen the new value already.
    #[n(3)]
    pub stamp: Key,
}

#[cfg(test)]
mod tests {
    use super::*;
    use state::TableValue as _;

    #[test]
    fn a_step_weighs_as_much_as_the_variables_that_it_carries() {
        let text = format!(r#"{{"text":"{}"}}"#, "x".repeat(2_000));
        let variables = Document::parse(bytes::Bytes::from(text)).unwrap();
        let complete = Step::Complete { key: 1, variables };
        assert!(complete.weight() > size_of::<Step>() + 2_000);
        let weight = complete.weight();
        let caused = Step::WithOrigin {
            operation_reference: Some(1),
            batch_operation_reference: None,
            step: Box::new(complete),
        };
        assert_eq!(caused.weight(), weight);
        assert_eq!(Step::Terminate { key: 1 }.weight(), size_of::<Step>());
    }
}
