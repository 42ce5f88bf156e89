//! The process instance that a step is of.

use protocol::Key;
use state::StateError;

use crate::core::step::Step;
use crate::entity::tables::Tables;

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
}
