//! Who is asking: every request to a port passes here.

use std::sync::Arc;

use auth::{Authenticator, Clock, Identity, Method, Presented, Principal, Refusal};
use http::HeaderMap;
use protocol::Caller;

/// Who may come in. Clones share it.
#[derive(Debug, Clone)]
pub struct Access(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    authenticator: Authenticator,
    anonymous: Arc<Principal>,
}

impl Default for Access {
    /// Everybody, as nobody in particular.
    fn default() -> Self {
        Self::new(Authenticator::new(Method::None, None, Clock::system()))
    }
}

impl Access {
    /// Lets in whom `authenticator` knows.
    pub fn new(authenticator: Authenticator) -> Self {
        Self(Arc::new(Inner { authenticator, anonymous: Arc::new(Principal::anonymous()) }))
    }

    /// Who sends a request with this head.
    pub(crate) async fn authenticate(
        &self,
        method: &http::Method,
        headers: &HeaderMap,
    ) -> Result<Arc<Principal>, Refusal> {
        let authenticator = &self.0.authenticator;
        let presented =
            Presented::from_headers(method, headers).map_err(|reason| authenticator.refuse(reason))?;
        authenticator.authenticate(&presented).await
    }

    /// Whoever needs not say who it is.
    pub(crate) fn anonymous(&self) -> Arc<Principal> {
        Arc::clone(&self.0.anonymous)
    }

    /// Somebody as commands have it. Nobody in particular is left out.
    #[allow(clippy::unused_self)]
    pub(crate) fn caller(&self, principal: &Principal) -> Option<Caller> {
        Some(Caller::unchecked(match &principal.identity {
            Identity::Anonymous => return None,
            Identity::User(name) => protocol::Principal::user(name.as_str()),
            Identity::Client(id) => protocol::Principal::client(id.as_str()),
        }))
    }
}
