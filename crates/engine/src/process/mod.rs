//! Process instances: the life of their elements, scopes, joins, loops, variables, migration and incidents.

mod activate_ad_hoc;
pub(crate) mod activation;
pub(crate) mod ad_hoc;
mod business_id;
mod call_path;
mod cancel_instance;
mod children;
pub(crate) mod collection;
mod create_instance;
mod dispatch;
pub(crate) mod element;
mod erasure;
mod incident;
pub(crate) mod instance;
mod join;
mod large;
mod lifecycle;
mod looping;
mod migration;
mod modify_instance;
mod record;
mod resolve_incident;
mod set_variables;
mod suspension;
mod termination;
mod variables;
