//! Authentication, as configured.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use auth::{
    AttemptLimits, Authenticator, Basic, Clock, Hasher, Method, Oidc, ServerTls, SessionSettings, TlsError,
    TlsFiles,
};
use broker_api::Broker;
use gateway::rest::SetUp;
use gateway::{Access, AccessOptions, EngineUsers, Hosts};
use protocol::{EntityType, IdentityQuery, IdentityReply, Query, QueryReply};
use tokio_util::sync::CancellationToken;

use crate::config::{AuthenticationMethod, Config, Identities, PeerTlsFiles, is_loopback};
use crate::failure::Failure;

/// Authentication settings of the REST gateway.
pub(super) struct Entrance {
    pub(super) access: Access,
    pub(super) set_up: SetUp,
    pub(super) hosts: Hosts,
    pub(super) set_up_hosts: Hosts,
    pub(super) hasher: Hasher,
}

impl Entrance {
    pub(super) fn new(config: &Config, access: Access, set_up: SetUp, hasher: Hasher) -> Self {
        let hosts = config.hosts(config.has_authentication());
        Self { access, set_up, hosts, set_up_hosts: config.own_hosts(), hasher }
    }
}

/// Checks of the gateways. `hasher` is for passwords of users that the broker keeps.
pub(super) fn access(config: &Config, broker: &Arc<dyn Broker>, hasher: &Hasher) -> Result<Access, Failure> {
    let clock = Clock::system();
    let origins = config.allowed_origins().map_err(Failure::usage)?;
    let method = match config.security_authentication.method {
        AuthenticationMethod::None => {
            let authenticator = Authenticator::new(Method::None, None, clock).with_origins(origins);
            return Ok(Access::new(authenticator, AccessOptions::default()));
        }
        AuthenticationMethod::Basic => {
            let users = Arc::new(EngineUsers(Arc::clone(broker)));
            let limits = AttemptLimits { per_address: config.security_authentication.max_checks_per_address };
            let basic = Basic::new(users, hasher.clone(), clock.clone()).with_limits(limits);
            Method::Basic(Arc::new(basic))
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
        per_user_max: section.max_per_user,
        secure: section.secure_cookies,
        csrf: section.csrf,
        path: Some(config.web.base_path.0.prefix()).filter(|path| !path.is_empty()).unwrap_or("/").to_owned(),
    };
    let authenticator =
        Authenticator::new(method, section.enabled.then_some(sessions), clock).with_origins(origins);
    Ok(Access::new(
        authenticator,
        AccessOptions {
            authorizations: config.security.authorizations,
            tenants: config.multi_tenancy.enabled,
            foreign: foreign(config),
        },
    ))
}

/// Whether the first administrator can be created without credentials.
///
/// By default, where others reach the port, they must not be faster than the owner.
pub(super) fn set_up(config: &Config, identities: &Identities, rest: IpAddr) -> SetUp {
    let entrance = &config.security.entrance;
    if config.security_authentication.method != AuthenticationMethod::Basic {
        SetUp::Closed("that is for the method 'basic' of security.authentication alone")
    } else if entrance.setup == Some(false) {
        SetUp::Closed("security.setup is false")
    } else if identities.names_anybody() {
        // Even if the file could not be applied, for want of room on the disk.
        SetUp::Closed("the file of security.initialization defines the users and their access")
    } else if entrance.setup.is_none() && entrance.first_administrator.is_some() {
        SetUp::Closed("security.first_administrator names it")
    } else if entrance.setup.is_none() && !is_loopback(rest) {
        SetUp::Closed(
            "others reach this address: use security.first_administrator or security.initialization, or set \
             security.setup to true",
        )
    } else {
        SetUp::Open
    }
}

/// Says so while the cluster is anybody's.
pub(super) async fn warn_of_set_up(set_up: SetUp, broker: &Arc<dyn Broker>) {
    let query = Query::Identity(IdentityQuery::HadAdministrator);
    if set_up == SetUp::Open
        && let Ok(QueryReply::Identity(IdentityReply::HadAdministrator(false))) = broker.read(query).await
    {
        tracing::warn!(
            "the set-up is open: the first client of POST /v2/setup/user becomes administrator; to close it, send POST /v2/setup/user, \
             name an administrator in the file of security.initialization, or set security.setup to false"
        );
    }
}

/// Entities that the issuer of tokens keeps.
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
    watched(ServerTls::load(files, &[protocol]), section, stop).map(Some)
}

/// The TLS between brokers, watched until `stop`.
pub(super) fn peer_certificates(
    config: &Config,
    stop: &CancellationToken,
) -> Result<Option<broker::Certificates>, Failure> {
    let Some(files) = config.tls_of_peers().map_err(Failure::usage)? else { return Ok(None) };
    let PeerTlsFiles { certificate_chain, private_key, authorities } = files;
    let loaded = ServerTls::load_mutual(certificate_chain, private_key, authorities);
    let server = watched(loaded, "peers.tls", stop)?;
    let client = Arc::clone(&server);
    Ok(Some(broker::Certificates::new(
        move || server.config(),
        move || client.client_config().expect("it was loaded for both sides"),
    )))
}

fn watched(
    loaded: Result<ServerTls, TlsError>,
    section: &str,
    stop: &CancellationToken,
) -> Result<Arc<ServerTls>, Failure> {
    let tls = loaded.map_err(|error| {
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
    Ok(tls)
}
