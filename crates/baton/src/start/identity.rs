//! Set-up at start: the default tenant and roles, and the entities of the configuration.

use std::net::IpAddr;
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
use super::first_administrator::FirstAdministrator;
use crate::config::{Config, Identities};
use crate::failure::Failure;

/// Pause before the set-up is tried again in a cluster.
const SET_UP_PAUSE: Duration = Duration::from_secs(1);

/// The set-up of a broker.
pub(super) struct SetUpTask {
    pub broker: Arc<dyn Broker>,
    pub identities: Identities,
    pub hasher: Hasher,
    /// Entities that the issuer of tokens keeps.
    pub foreign: Vec<EntityType>,
    /// Whether the first administrator can be created without credentials.
    pub access: SetUp,
    /// One that is created here.
    pub first: Option<FirstAdministrator>,
}

impl SetUpTask {
    /// As configured. `rest` is the address of the REST API.
    pub(super) fn new(
        config: &Config,
        identities: Identities,
        rest: IpAddr,
        broker: &Arc<dyn Broker>,
        hasher: &Hasher,
    ) -> Self {
        let access = access::set_up(config, &identities, rest);
        Self {
            broker: Arc::clone(broker),
            first: FirstAdministrator::of(config, &identities, access),
            identities,
            hasher: hasher.clone(),
            foreign: access::foreign(config),
            access,
        }
    }

    /// Creates missing entities, and warns if the cluster is anybody's. Existing ones stay as they are.
    pub(super) async fn run(&self) -> Result<(), Failure> {
        self.create().await?;
        if let Some(first) = &self.first {
            first.create(&self.broker, &self.hasher, caller()).await?;
        }
        access::warn_of_set_up(self.access, &self.broker).await;
        Ok(())
    }

    /// Tries [`Self::run`] until the cluster has a leader that takes the commands, or `stop` is cancelled.
    pub(super) async fn keep_trying(self: Arc<Self>, stop: CancellationToken) {
        let work = async {
            while let Err(failure) = self.run().await {
                tracing::warn!("{}; it is tried again", failure.message());
                tokio::time::sleep(SET_UP_PAUSE).await;
            }
        };
        let _ = stop.run_until_cancelled(work).await;
    }

    /// Creates missing entities, without a warning. Existing ones stay as they are.
    pub(super) async fn create(&self) -> Result<(), Failure> {
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

/// Caller of the set-up.
fn caller() -> Caller {
    Caller::unchecked(Principal::client("configuration"))
}

async fn submit(
    broker: &Arc<dyn Broker>,
    command: IdentityCommand,
    foreign: &[EntityType],
) -> Result<(), Failure> {
    let caller = Caller { foreign: foreign.to_vec(), ..caller() };
    match broker.submit(Command::Identity(command).asked_by(Some(caller))).await {
        Ok(_) => Ok(()),
        Err(SubmitError::Rejected(rejection)) if rejection.kind == RejectionType::AlreadyExists => Ok(()),
        // With a full disk, whoever is there already must be able to come in and look.
        Err(error @ (SubmitError::ResourceExhausted(_) | SubmitError::DiskFull(_))) => {
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
