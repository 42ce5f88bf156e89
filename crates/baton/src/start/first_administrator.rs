//! The first administrator, with a generated password: the way in where others reach the ports.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use auth::{Hasher, generated_password};
use broker_api::{Broker, SubmitError};
use gateway::rest::SetUp;
use protocol::{
    Caller, Command, IdentityCommand, IdentityQuery, IdentityReply, PasswordHash, Query, QueryReply, User,
};

use crate::config::{AuthenticationMethod, Config, Identities};
use crate::failure::Failure;

/// The file with the password, below the data directory.
const FILE: &str = "first-administrator";

/// A user that is created while there has never been an administrator.
pub(super) struct FirstAdministrator {
    username: String,
    file: PathBuf,
}

impl FirstAdministrator {
    /// As configured; `None` if others say who it is.
    pub(super) fn of(config: &Config, identities: &Identities, set_up: SetUp) -> Option<Self> {
        let is_basic = config.security_authentication.method == AuthenticationMethod::Basic;
        let username = &config.security.entrance.first_administrator.as_ref()?.0;
        (is_basic && set_up != SetUp::Open && !identities.names_anybody())
            .then(|| Self { username: username.clone(), file: config.data.directory.join(FILE) })
    }

    /// Creates the user. The password is in the file before anybody can have it.
    pub(super) async fn create(
        &self,
        broker: &Arc<dyn Broker>,
        hasher: &Hasher,
        caller: Caller,
    ) -> Result<(), Failure> {
        let failed = |error: &dyn std::fmt::Display| {
            Failure::new(format!("the first administrator cannot be created: {error}"))
        };
        match broker.read(Query::Identity(IdentityQuery::HadAdministrator)).await {
            Ok(QueryReply::Identity(IdentityReply::HadAdministrator(false))) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(failed(&error)),
        }
        let password = generated_password();
        let hash = hasher.hash(&password).await.map_err(|error| failed(&error))?;
        let (username, file) = (&self.username, self.file.display());
        write(&self.file, username, &password)
            .map_err(|error| failed(&format_args!("{file} cannot be written: {error}")))?;
        let user = User {
            username: username.as_str().into(),
            name: username.as_str().into(),
            email: "".into(),
            password_hash: PasswordHash(hash.into()),
        };
        let command = Command::Identity(IdentityCommand::CreateAdministrator(user));
        match broker.submit(command.asked_by(Some(caller))).await {
            Ok(_) => {
                tracing::info!("the first administrator '{username}' is there; its password is in {file}");
                Ok(())
            }
            // Another broker was faster, or somebody else has the name.
            Err(SubmitError::Rejected(rejection)) => {
                fs::remove_file(&self.file).map_err(|error| failed(&error))?;
                tracing::warn!(
                    "the first administrator '{username}' is not created here: {}",
                    rejection.reason
                );
                Ok(())
            }
            Err(error @ (SubmitError::ResourceExhausted(_) | SubmitError::DiskFull(_))) => {
                tracing::error!(%error, "the first administrator is not created");
                Ok(())
            }
            Err(error) => Err(failed(&error)),
        }
    }
}

/// Writes a file that nobody else may read.
fn write(path: &Path, username: &str, password: &str) -> io::Result<()> {
    let directory = path.parent().ok_or_else(|| io::Error::other("a file must be in a directory"))?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    writeln!(file, "{username}\n{password}")?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    fs::File::open(directory)?.sync_all()
}
