//! The process instance that a step is of.

use protocol::Key;
use state::StateError;

use crate::core::step::Step;
use crate::entity::tables::Tables;

/// The fate of a step whose process instance is suspended.
pub(crate) enum InSuspension {
    Runs,
    IsLost,
    /// It is held until the instance is resumed.
    Waits,
}

impl Step {
    /// The process instance that the step is of.
    pub(crate) fn process_instance(&self, tables: &Tables) -> Result<Option<Key>, StateError> {
        let key = match self {
            Self::Activate { process_instance_key, .. }
            | Self::EvaluateConditions { process_instance_key, .. } => {
                return Ok(Some(*process_instance_key));
            }
            Self::ResumeActivation { key, .. }
            | Self::Complete { key, .. }
            | Self::Listen { key, .. }
            | Self::ListenTask { key, .. }
            | Self::BeginAdHocInner { key, .. }
            | Self::Terminate { key }
            | Self::Withdraw { key }
            | Self::CompensateCancelled { key }
            | Self::CheckComplex { key }
            | Self::Compensate { thrower_key: key, .. }
            | Self::RunHandler { host_key: key, .. }
            | Self::FinishTermination { key }
            | Self::TerminateChildren { scope_key: key, .. }
            | Self::TerminateOlder { scope_key: key, .. }
            | Self::AnnounceJobs { scope_key: key, .. }
            | Self::Revive { scope_key: key, .. }
            | Self::CheckJoins { scope_key: key }
            | Self::SpawnLoop { body_key: key }
            | Self::ActivateLoop { body_key: key, .. }
            | Self::GatherLoop { body_key: key, .. }
            | Self::ActivateAdHoc { ad_hoc_key: key, .. }
            | Self::CreateAdHocJob { ad_hoc_key: key } => *key,
            Self::TriggerCondition { subscription_key } => {
                let row = tables.condition_subscriptions.get(subscription_key)?;
                return Ok(row.map(|row| row.process_instance_key));
            }
            Self::TriggerSignal { subscription_key, .. } => {
                let row = tables.signal_subscriptions.get(subscription_key)?;
                return Ok(row.map(|row| row.process_instance_key));
            }
            Self::MatchBuffered { subscription_key } => {
                let row = tables.subscriptions.get(subscription_key)?;
                return Ok(row.map(|row| row.process_instance_key));
            }
            Self::WithOrigin { step, .. } => return step.process_instance(tables),
            // Of none, or what they are of is gone already.
            Self::ForgetLoop { .. }
            | Self::DropCompensations { .. }
            | Self::EraseBanned { .. }
            | Self::WorkOnBatch { .. }
            | Self::DoBatchItem { .. }
            | Self::ForgetBatches
            | Self::ForgetIdentity(_)
            | Self::SettleHistory { .. }
            | Self::EndAgents { .. }
            | Self::TellMigratedAgents { .. }
            | Self::StartFromBuffer { .. }
            | Self::StartByBusinessId { .. }
            | Self::BroadcastSignal { .. }
            | Self::PublishMessage { .. }
            | Self::StartBySignal { .. } => return Ok(None),
        };
        Ok(tables.element_instances.get(&key)?.map(|row| row.process_instance_key))
    }

    /// The fate of the step while its process instance, which this is, is suspended.
    pub(crate) fn in_suspension_of(&self, process_instance_key: Key) -> InSuspension {
        match self {
            // It ends the suspension.
            Self::Terminate { key } if *key == process_instance_key => InSuspension::Runs,
            // A signal is for those who wait at its time.
            Self::TriggerSignal { .. } => InSuspension::IsLost,
            Self::WithOrigin { step, .. } => step.in_suspension_of(process_instance_key),
            Self::Activate { .. }
            | Self::EvaluateConditions { .. }
            | Self::ResumeActivation { .. }
            | Self::Complete { .. }
            | Self::Listen { .. }
            | Self::ListenTask { .. }
            | Self::BeginAdHocInner { .. }
            | Self::Terminate { .. }
            | Self::Withdraw { .. }
            | Self::CompensateCancelled { .. }
            | Self::CheckComplex { .. }
            | Self::Compensate { .. }
            | Self::RunHandler { .. }
            | Self::FinishTermination { .. }
            | Self::TerminateChildren { .. }
            | Self::TerminateOlder { .. }
            | Self::AnnounceJobs { .. }
            | Self::Revive { .. }
            | Self::CheckJoins { .. }
            | Self::SpawnLoop { .. }
            | Self::ActivateLoop { .. }
            | Self::GatherLoop { .. }
            | Self::ActivateAdHoc { .. }
            | Self::CreateAdHocJob { .. }
            | Self::TriggerCondition { .. }
            | Self::MatchBuffered { .. }
            // These are of no process instance.
            | Self::ForgetLoop { .. }
            | Self::DropCompensations { .. }
            | Self::EraseBanned { .. }
            | Self::WorkOnBatch { .. }
            | Self::DoBatchItem { .. }
            | Self::ForgetBatches
            | Self::ForgetIdentity(_)
            | Self::SettleHistory { .. }
            | Self::EndAgents { .. }
            | Self::TellMigratedAgents { .. }
            | Self::StartFromBuffer { .. }
            | Self::StartByBusinessId { .. }
            | Self::BroadcastSignal { .. }
            | Self::PublishMessage { .. }
            | Self::StartBySignal { .. } => InSuspension::Waits,
        }
    }
}
