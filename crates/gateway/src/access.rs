//! Authentication: every request to a port passes here.
//!
//! Memberships and authorizations of a principal are known to the engine. They are read once and cached here, until the
//! engine says by a number that anybody's grants have changed; so no request waits for anything but the command or
//! query it is for.

use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use auth::{
    Authenticator, ClaimPath, Clock, Departed, Identity, Method, Presented, Principal, Refusal, SignIn,
    SignInFailure, SignedIn, SignedOut, Unavailable, Users, claim_values,
};
use broker_api::{Broker, SubmitError};
use futures::future::{BoxFuture, FutureExt as _};
use http::StatusCode;
use http::request::Parts;
use protocol::{
    Caller, EntityType, Grants, IdentityQuery, IdentityReply, Name, Query, QueryReply, Rejection,
    RejectionType,
};
use quick_cache::sync::Cache;
use search::Filter;
use search::model::EntityId;
use serde_json::{Map, Value};

use crate::connection::Address;

/// Interval at which the session of a waiting request is checked.
const SESSION_RECHECKED: Duration = Duration::from_secs(5);
/// Principals whose grants are remembered.
const KNOWN_MAX: usize = 10_000;
/// Most authorizations of one principal that are considered.
const AUTHORIZATIONS_MAX: usize = 20_000;
/// Claims of one token that mapping rules may meet, one for each value of a list.
const CLAIMS_MAX: usize = 1000;
/// Mapping rules that are looked through for those whose claim is a JSONPath.
const RULES_MAX: usize = 10_000;
/// Depth to which claims are searched in claims.
const CLAIM_DEPTH_MAX: usize = 8;

/// Checks beside authentication.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccessOptions {
    /// Whether requests need permissions.
    pub authorizations: bool,
    /// Whether callers must be assigned to the tenant of a request.
    pub tenants: bool,
    /// Kinds of members and owners that are kept elsewhere, by the issuer of tokens.
    pub foreign: Vec<EntityType>,
}

/// Access control. Clones share it.
#[derive(Debug, Clone)]
pub struct Access(Arc<AccessState>);

struct AccessState {
    authenticator: Authenticator,
    options: AccessOptions,
    anonymous: Arc<Principal>,
    known: Cache<Key, Arc<PrincipalGrants>>,
    expressions: Mutex<Arc<Expressions>>,
}

impl fmt::Debug for AccessState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("options", &self.options).finish_non_exhaustive()
    }
}

/// A principal as it came. Its claims count for equality, but are not worth a hash.
#[derive(Clone)]
struct Key(Arc<Principal>);

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.identity.hash(state);
        self.0.groups.hash(state);
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Eq for Key {}

/// The claims of mapping rules that are JSONPath, each once.
#[derive(Default)]
struct Expressions {
    /// See [`Broker::grants_version`]. `None`: they have never been asked for.
    valid_from: Option<u64>,
    paths: BTreeMap<Name, ClaimPath>,
}

#[derive(Debug, Default)]
pub(crate) struct PrincipalGrants {
    pub(crate) grants: Grants,
    /// Which rows of an entity it may see, as far as anybody has asked.
    filters: Mutex<HashMap<EntityId, Arc<Filter>>>,
}

impl PrincipalGrants {
    /// The filter on rows of an entity, made once.
    pub(crate) fn filter(&self, entity: EntityId, make: impl FnOnce() -> Filter) -> Arc<Filter> {
        let mut filters = self.filters.lock();
        Arc::clone(filters.entry(entity).or_insert_with(|| Arc::new(make())))
    }
}

impl Default for Access {
    /// Access without authentication: every caller is anonymous.
    fn default() -> Self {
        Self::new(Authenticator::new(Method::None, None, Clock::system()), AccessOptions::default())
    }
}

impl Access {
    /// Access for callers that `authenticator` knows.
    pub fn new(authenticator: Authenticator, options: AccessOptions) -> Self {
        let anonymous = Arc::new(Principal::anonymous());
        Self(Arc::new(AccessState {
            authenticator,
            options,
            anonymous,
            known: Cache::new(KNOWN_MAX),
            expressions: Mutex::default(),
        }))
    }

    pub(crate) fn options(&self) -> &AccessOptions {
        &self.0.options
    }

    /// The principal of a request with this head.
    pub(crate) async fn authenticate(&self, head: &Parts) -> Result<Arc<Principal>, Refusal> {
        let presented = self.presented(head)?;
        self.0.authenticator.authenticate(&presented).await
    }

    /// Refuses a change that a page of another site made a browser send.
    pub(crate) fn check_site(&self, head: &Parts) -> Result<(), Refusal> {
        let presented = self.presented(head)?;
        self.0.authenticator.check_site(&presented)
    }

    /// Resolves with the refusal once the session of a request has ended; never, if it came without one.
    pub(crate) async fn until_session_ends(&self, head: &Parts) -> Refusal {
        let ends = self.presented(head).ok().and_then(|it| self.0.authenticator.session_ends(&it));
        let Some(mut ends) = ends else { return std::future::pending().await };
        loop {
            // Its time, or that of its user, may be over without news.
            drop(tokio::time::timeout(SESSION_RECHECKED, ends.changed()).await);
            match self.authenticate(head).await {
                Err(refusal) if refusal.reason.status() == StatusCode::UNAUTHORIZED.as_u16() => {
                    return refusal;
                }
                _ => {}
            }
        }
    }

    pub(crate) async fn sign_in(&self, head: &Parts, with: SignIn<'_>) -> Result<SignedIn, Refusal> {
        let presented = self.presented(head)?;
        self.0.authenticator.sign_in(&presented, with).await
    }

    /// Ends the session, if there is one. Gives what the browser is told to forget.
    pub(crate) fn sign_out(&self, head: &Parts) -> Result<SignedOut, Refusal> {
        self.0.authenticator.sign_out(&self.presented(head)?)
    }

    /// How a browser gets a session.
    pub(crate) fn entry(&self) -> auth::SignInWay {
        self.0.authenticator.entry()
    }

    /// Redirects a browser to the issuer. See [`Authenticator::depart`].
    pub(crate) async fn depart(&self, next: &str, redirect_uri: String) -> Result<Departed, SignInFailure> {
        self.0.authenticator.depart(next, redirect_uri).await
    }

    /// Begins the session of a browser that comes back from the issuer. See [`Authenticator::arrive`].
    pub(crate) async fn arrive(
        &self,
        head: &Parts,
        field: impl Fn(&str) -> Option<String>,
    ) -> Result<Result<Departed, (SignInFailure, Departed)>, Refusal> {
        Ok(self.0.authenticator.arrive(&self.presented(head)?, field).await)
    }

    /// Name of the authentication method, as in the setting.
    pub(crate) fn method_name(&self) -> &'static str {
        self.0.authenticator.method_name()
    }

    /// Whether there are sessions that can end.
    pub(crate) fn has_sessions(&self) -> bool {
        self.0.authenticator.sessions().is_some()
    }

    /// Whether authentication depends on the address of a request.
    pub(crate) fn wants_addresses(&self) -> bool {
        self.0.authenticator.wants_addresses()
    }

    fn presented<'a>(&self, head: &'a Parts) -> Result<Presented<'a>, Refusal> {
        let presented = Presented::from_headers(&head.method, &head.headers);
        let presented = presented.map_err(|reason| self.0.authenticator.refuse(reason))?;
        let address = head.extensions.get::<Address>().map(|Address(address)| *address);
        Ok(Presented { address, ..presented })
    }

    /// The principal used when authentication is off.
    pub(crate) fn anonymous(&self) -> Arc<Principal> {
        Arc::clone(&self.0.anonymous)
    }

    /// Caller of a command. `None` if authentication is off.
    pub(crate) async fn caller(
        &self,
        broker: &Arc<dyn Broker>,
        principal: &Arc<Principal>,
    ) -> Result<Option<Caller>, SubmitError> {
        let Some(mut named) = named(principal) else { return Ok(None) };
        let AccessOptions { authorizations, tenants, foreign } = &self.0.options;
        if *authorizations || *tenants {
            let known = self.known(broker, principal).await?;
            named.groups = principal.groups.iter().map(|group| Name::from(group.as_str())).collect();
            // The engine looks at the rules anew, but claims that meet none need not stand in the log.
            named.claims.clone_from(&known.grants.claims);
        }
        Ok(Some(Caller {
            principal: named,
            checks_authorizations: *authorizations,
            checks_tenants: *tenants,
            foreign: foreign.clone(),
        }))
    }

    /// The tenants whose jobs somebody may have: those that it names, or, if it names none, those that it is
    /// assigned to.
    pub(crate) async fn tenants_of_jobs(
        &self,
        broker: &Arc<dyn Broker>,
        principal: &Arc<Principal>,
        named: Option<Vec<Name>>,
    ) -> Result<Vec<Name>, SubmitError> {
        if !self.0.options.tenants {
            return Ok(named.unwrap_or_else(|| vec![Name::default_tenant()]));
        }
        let known = self.known(broker, principal).await?;
        let assigned = &known.grants.tenants;
        let Some(named) = named else { return Ok(assigned.clone()) };
        if named.iter().all(|tenant_id| assigned.contains(tenant_id)) {
            return Ok(named);
        }
        let reason = format!(
            "Expected to activate jobs for tenants [{}], but user is not authorized. Authorized tenants are [{}]",
            listed(&named),
            listed(assigned)
        );
        Err(Rejection::new(RejectionType::Forbidden, reason).into())
    }

    /// Memberships and authorizations of a principal.
    pub(crate) async fn known(
        &self,
        broker: &Arc<dyn Broker>,
        principal: &Arc<Principal>,
    ) -> Result<Arc<PrincipalGrants>, SubmitError> {
        let Some(mut named) = named(principal) else { return Ok(Arc::default()) };
        let key = Key(Arc::clone(principal));
        if let Some(known) = self.0.known.get(&key)
            && known.grants.valid_from == broker.grants_version()
        {
            return Ok(known);
        }
        named.groups = principal.groups.iter().map(|group| Name::from(group.as_str())).collect();
        let expressions = if principal.claims.is_empty() {
            None
        } else {
            let expressions = self.expressions(broker).await?;
            for (text, path) in &expressions.paths {
                let values = path.values(&principal.claims).into_iter();
                let room = CLAIMS_MAX - named.claims.len();
                named.claims.extend(values.take(room).map(|value| (text.clone(), Name::from(value))));
            }
            collect_claims(&principal.claims, "", CLAIM_DEPTH_MAX, &mut named.claims);
            Some(expressions)
        };
        let query = IdentityQuery::Grants { principal: named, limit: AUTHORIZATIONS_MAX };
        let grants = match broker.read(Query::Identity(query)).await? {
            QueryReply::Identity(IdentityReply::Grants(grants)) => *grants,
            _ => {
                return Err(SubmitError::Internal(
                    "the broker returned a response of the wrong type".to_owned(),
                ));
            }
        };
        if grants.has_more {
            tracing::warn!(
                identity = ?principal.identity,
                limit = AUTHORIZATIONS_MAX,
                "a principal has more authorizations than the limit; the rest are ignored"
            );
        }
        let valid_from = Some(grants.valid_from);
        let known = Arc::new(PrincipalGrants { grants, filters: Mutex::default() });
        // If the rules have changed since they were looked through, what is known now is old with the next request.
        if expressions.is_none_or(|expressions| expressions.valid_from == valid_from) {
            self.0.known.insert(key, Arc::clone(&known));
        }
        Ok(known)
    }

    /// The claims of mapping rules that are to be looked for in tokens.
    async fn expressions(&self, broker: &Arc<dyn Broker>) -> Result<Arc<Expressions>, SubmitError> {
        // Before they are read: what changes meanwhile is read again with the next request.
        let valid_from = Some(broker.grants_version());
        let last = || self.0.expressions.lock();
        let known = Arc::clone(&last());
        if known.valid_from == valid_from {
            return Ok(known);
        }
        let query = IdentityQuery::MappingRules { limit: RULES_MAX };
        let QueryReply::Identity(IdentityReply::MappingRules(rules)) =
            broker.read(Query::Identity(query)).await?
        else {
            return Err(SubmitError::Internal("the broker returned a response of the wrong type".to_owned()));
        };
        let names = rules.items.into_iter().map(|rule| rule.claim_name);
        // One that cannot be read was not refused when it was made: it is a name like any other.
        let paths = names
            .filter(|name| ClaimPath::is_expression(name))
            .filter_map(|name| ClaimPath::parse(&name).ok().map(|path| (name, path)));
        let read = Arc::new(Expressions { valid_from, paths: paths.collect() });
        *last() = Arc::clone(&read);
        Ok(read)
    }
}

fn listed(names: &[Name]) -> String {
    names.iter().map(|name| &**name).collect::<Vec<_>>().join(", ")
}

/// The name of somebody in particular.
fn named(principal: &Principal) -> Option<protocol::Principal> {
    match &principal.identity {
        Identity::Anonymous => None,
        Identity::User(name) => Some(protocol::Principal::user(name.as_str())),
        Identity::Client(id) => Some(protocol::Principal::client(id.as_str())),
    }
}

/// Claims by name and value: members of lists each for itself, members of objects by their path with dots.
fn collect_claims(claims: &Map<String, Value>, prefix: &str, depth: usize, found: &mut Vec<(Name, Name)>) {
    for (name, value) in claims {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        if let Value::Object(members) = value
            && depth > 0
        {
            collect_claims(members, &path, depth - 1, found);
        }
        for text in claim_values(value) {
            if found.len() == CLAIMS_MAX {
                return;
            }
            found.push((Name::from(path.as_str()), Name::from(text.as_str())));
        }
    }
}

/// The users that the engine keeps.
pub struct EngineUsers(pub Arc<dyn Broker>);

impl Users for EngineUsers {
    fn generation(&self) -> u64 {
        self.0.grants_version()
    }

    fn password_hash<'a>(&'a self, user: &'a str) -> BoxFuture<'a, Result<Option<Arc<str>>, Unavailable>> {
        async move {
            let query = IdentityQuery::PasswordHash { username: user.into() };
            match self.0.read(Query::Identity(query)).await {
                Ok(QueryReply::Identity(IdentityReply::PasswordHash(hash))) => Ok(Some(hash.0.0)),
                Err(SubmitError::Rejected(_)) => Ok(None),
                Ok(_) => Err(Unavailable("the broker returned a response of the wrong type".to_owned())),
                Err(error) => Err(Unavailable(error.to_string())),
            }
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_named_by_their_path_each_value_for_itself() {
        let claims = serde_json::json!({
            "sub": "ann", "admin": true, "level": 3, "none": null,
            "realm": { "roles": ["a", "b", {"no": 1}], "deep": { "er": "x" } },
        });
        let mut found = vec![];
        collect_claims(claims.as_object().unwrap(), "", CLAIM_DEPTH_MAX, &mut found);
        let mut found: Vec<_> = found.iter().map(|(name, value)| format!("{name}={value}")).collect();
        found.sort();
        assert_eq!(
            found,
            ["admin=true", "level=3", "realm.deep.er=x", "realm.roles=a", "realm.roles=b", "sub=ann"]
        );
    }

    #[test]
    fn a_token_full_of_claims_is_cut() {
        let many: Vec<_> = (0..2 * CLAIMS_MAX).collect();
        let claims = serde_json::json!({ "many": many, "more": "x" });
        let mut found = vec![];
        collect_claims(claims.as_object().unwrap(), "", CLAIM_DEPTH_MAX, &mut found);
        assert_eq!(found.len(), CLAIMS_MAX);
    }
}
