//! Operations of our own, below `/baton/v1`. They are in the contract like all others (`api/baton.json`), one file for
//! each area; `docs/baton-v1.md` tells of them.

mod boot;
mod changes;
mod cluster;
mod durations;
mod jobs;
mod lookup;
mod permissions;
mod quarantine;
mod steps;
mod views;

use super::call::Call;
use super::contract::Operation;
use super::problem::Failure;
use super::reply::Reply;

macro_rules! served {
    ($($operation:ident in $handler:path),* $(,)?) => {
        #[cfg(test)]
        pub(super) const SERVED: &[Operation] = &[$(Operation::$operation),*];

        /// Runs the operation of a call. `None`: it is none of these.
        pub(super) async fn serve(call: &Call<'_>) -> Option<Result<Reply, Failure>> {
            match call.operation {
                $(Operation::$operation => Some($handler(call).await),)*
                _ => None,
            }
        }
    };
}

served! {
    AwaitChanges in changes::wait,
    CancelBannedInstance in quarantine::cancel,
    CheckPermissions in permissions::check,
    CreateView in views::create,
    DeleteView in views::delete,
    GetBoot in boot::get,
    GetCluster in cluster::get,
    GetProcessDefinitionDurations in durations::get,
    ListBannedInstances in quarantine::list,
    ListJobTypes in jobs::types,
    ListParkedRecords in cluster::parked,
    ListProcessInstanceSteps in steps::list,
    ListViews in views::list,
    ListWorkers in jobs::workers,
    ReleaseBannedInstance in quarantine::release,
    ReplayParkedRecords in cluster::replay,
    SearchAnything in lookup::search,
    UpdateView in views::update,
}

impl Call<'_> {
    /// A number in the query, which the contract has checked.
    fn query_number(&self, name: &str) -> Result<Option<u64>, Failure> {
        Ok(self.query_parameter(name)?.and_then(|text| text.parse().ok()))
    }
}
