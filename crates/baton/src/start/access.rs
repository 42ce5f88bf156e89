//! Who may come in, as it is configured.

use std::sync::Arc;
use std::time::Duration;

use auth::{Authenticator, Basic, Clock, Hasher, Method, Oidc, ServerTls, SessionSettings, TlsFiles};
use broker::api::Broker;
use gateway::{Access, AccessOptions, EngineUsers};
use protocol::EntityType;
use tokio_util::sync::CancellationToken;

use crate::config::{AuthenticationMethod, Config};
use crate::failure::Failure;

/// What gateways check. `hasher` is for passwords of users that the broker keeps.
pub(super) fn access(config: &Config, broker: &Arc<dyn Broker>, hasher: &Hasher) -> Result<Access, Failure> {
    let clock = Clock::system();
    let method = match config.security_authentication.method {
        AuthenticationMethod::None => return Ok(Access::default()),
        AuthenticationMethod::Basic => {
            let users = Arc::new(EngineUsers(Arc::clone(broker)));
            Method::Basic(Arc::new(Basic::new(users, hasher.clone(), clock.clone())))
        }
        AuthenticationMethod::Oidc => {
            let settings = config.open_id_connect().map_err(Failure::new)?;
            let oidc = Oidc::new(settings, clock.clone())
                .map_err(|error| Failure::new(format!("security.authentication.oidc: {error}")))?;
            Method::Oidc(Arc::new(oidc))
        }
    };
    let section = &config.security_sessions;
    let sessions = SessionSettings {
        idle: section.idle_timeout,
        absolute: section.max_age,
        count_max: section.max_count,
        secure: section.secure_cookies,
        csrf: section.csrf,
    };
    let authenticator = Authenticator::new(method, section.enabled.then_some(sessions), clock);
    Ok(Access::new(
        authenticator,
        AccessOptions {
            authorizations: config.security.authorizations,
            tenants: config.multi_tenancy.enabled,
            foreign: foreign(config),
        },
    ))
}

/// Who is kept by the issuer of tokens, and not here.
pub(super) fn foreign(config: &Config) -> Vec<EntityType> {
    let is_oidc = config.security_authentication.method == AuthenticationMethod::Oidc;
    let groups = is_oidc && config.security_oidc.groups_claim.is_some();
    let users = is_oidc.then_some(EntityType::User);
    users.into_iter().chain(groups.then_some(EntityType::Group)).collect()
}

/// How often the files of certificates are looked at.
const CERTIFICATES_WATCH: Duration = Duration::from_secs(30);

/// The TLS of a port, watched until `stop`.
pub(super) fn tls(
    files: Result<Option<TlsFiles>, String>,
    section: &str,
    protocol: &[u8],
    stop: &CancellationToken,
) -> Result<Option<Arc<ServerTls>>, Failure> {
    let Some(files) = files.map_err(Failure::usage)? else { return Ok(None) };
    let tls = ServerTls::load(files, &[protocol]).map_err(|error| {
        Failure::new(format!("{section}: {error}")).hint("look at the files that it names")
    })?;
    let tls = Arc::new(tls);
    let (watch, stop) = (Arc::clone(&tls).watch(CERTIFICATES_WATCH), stop.clone());
    tokio::spawn(async move {
        tokio::select! {
            () = watch => {}
            () = stop.cancelled() => {}
        }
    });
    Ok(Some(tls))
}
