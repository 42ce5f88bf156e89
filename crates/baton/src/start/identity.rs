//! Set-up at start: the default tenant and roles, and the entities of the configuration.

use std::sync::Arc;
use std::time::Duration;

use auth::Hasher;
use broker_api::{Broker, SubmitError};
use gateway::rest::SetUp;
use protocol::{
    Caller, CircleKind, Command, EntityType, IdentityCommand, IdentityQuery, IdentityReply, Name,
    PasswordHash, Principal, Query, QueryReply, RejectionType, User,
};

use tokio_util::sync::CancellationToken;

use super::access;
use crate::config::Identities;
use crate::failure::Failure;

/// Pause before the set-up is tried again in a cluster.
const SET_UP_PAUSE: Duration = Duration::from_secs(1);
/// Caller of the set-up.
const CONFIGURATION: &str = "configuration";

/// The set-up of a broker.
pub(super) struct SetUpTask {
    pub broker: Arc<dyn Broker>,
    pub identities: Identities,
    pub hasher: Hasher,
    /// Entities that the issuer of tokens keeps.
    pub foreign: Vec<EntityType>,
    /// Whether the first administrator can be created without credentials.
    pub access: SetUp,
}

impl SetUpTask {
    /// Creates missing entities, and warns if the cluster is anybody's. Existing ones stay as they are.
    pub(super) async fn run(&self) -> Result<(), Failure> {
        self.create().await?;
        access::warn_of_set_up(self.access, &self.broker).await;
        Ok(())
    }

    /// The same in a cluster: tries until there is a leader that takes it.
    pub(super) async fn keep_trying(self, stop: CancellationToken) {
        let work = async {
            while let Err(failure) = self.run().await {
                tracing::warn!("{}; it is tried again", failure.message());
                tokio::time::sleep(SET_UP_PAUSE).await;
            }
        };
        let _ = stop.run_until_cancelled(work).await;
    }

    async fn create(&self) -> Result<(), Failure> {
        let Self { broker, identities, hasher, foreign, .. } = self;
        let submit = async |command| submit(broker, command, foreign).await;
        let default_tenant = IdentityQuery::Circle { kind: CircleKind::Tenant, id: Name::default_tenant() };
        if broker.read(Query::Identity(default_tenant)).await.is_err() {
            submit(IdentityCommand::SetUp).await?;
        }
        for user in &identities.users {
            let query = IdentityQuery::User { username: user.username.as_str().into() };
            // Asked before the work of hashing.
            if let Ok(QueryReply::Identity(IdentityReply::User(_))) =
                broker.read(Query::Identity(query)).await
            {
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
