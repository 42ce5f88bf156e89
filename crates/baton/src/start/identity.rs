//! Set-up at start: the default tenant and roles, and the entities of the configuration.

use std::sync::Arc;
use std::time::Duration;

use auth::Hasher;
use broker_api::{Broker, SubmitError};
use protocol::{
    Caller, CircleKind, Command, EntityType, IdentityCommand, IdentityQuery, IdentityReply, Name,
    PasswordHash, Principal, Query, QueryReply, RejectionType, User,
};

use crate::config::Identities;
use crate::failure::Failure;

/// Pause before the set-up is tried again in a cluster.
const SET_UP_PAUSE: Duration = Duration::from_secs(1);
/// Caller of the set-up.
const CONFIGURATION: &str = "configuration";

/// Creates missing entities. Existing ones stay as they are.
pub(super) async fn set_up(
    broker: &Arc<dyn Broker>,
    identities: &Identities,
    hasher: &Hasher,
    foreign: &[EntityType],
) -> Result<(), Failure> {
    let submit = async |command| submit(broker, command, foreign).await;
    let default_tenant = IdentityQuery::Circle { kind: CircleKind::Tenant, id: Name::default_tenant() };
    if broker.read(Query::Identity(default_tenant)).await.is_err() {
        submit(IdentityCommand::SetUp).await?;
    }
    for user in &identities.users {
        let query = IdentityQuery::User { username: user.username.as_str().into() };
        // Asked before the work of hashing.
        if let Ok(QueryReply::Identity(IdentityReply::User(_))) = broker.read(Query::Identity(query)).await {
            continue;
        }
        let hash = hasher.hash(&user.password).await.map_err(|error| failed(&error))?;
        let user = User {
            username: user.username.as_str().into(),
            name: user.name.as_str().into(),
            email: user.email.as_str().into(),
            password_hash: PasswordHash(hash.into()),
        };
        submit(IdentityCommand::CreateUser(user)).await?;
    }
    for command in identities.commands().map_err(|error| failed(&error))? {
        submit(command).await?;
    }
    Ok(())
}

/// The same in a cluster: tries until there is a leader that takes it.
pub(super) async fn keep_setting_up(
    broker: &Arc<dyn Broker>,
    identities: &Identities,
    hasher: &Hasher,
    foreign: &[EntityType],
) {
    while let Err(failure) = set_up(broker, identities, hasher, foreign).await {
        tracing::warn!("{}; it is tried again", failure.message());
        tokio::time::sleep(SET_UP_PAUSE).await;
    }
}

async fn submit(
    broker: &Arc<dyn Broker>,
    command: IdentityCommand,
    foreign: &[EntityType],
) -> Result<(), Failure> {
    let mut caller = Caller::unchecked(Principal::client(CONFIGURATION));
    caller.foreign = foreign.to_vec();
    match broker.submit(Command::Identity(command).asked_by(Some(caller))).await {
        Ok(_) => Ok(()),
        Err(SubmitError::Rejected(rejection)) if rejection.kind == RejectionType::AlreadyExists => Ok(()),
        // With a full disk, whoever is there already must be able to come in and look.
        Err(error @ SubmitError::ResourceExhausted(_)) => {
            tracing::error!(%error, "an entity of security.initialization is not set up");
            Ok(())
        }
        Err(error) => Err(failed(&error)),
    }
}

fn failed(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(format!("the entities of security.initialization cannot be set up: {error}"))
        .hint("look into the file of security.initialization")
}
