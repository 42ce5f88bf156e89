//! Who is let in, and what commands say about who asks.

use std::sync::Arc;

use ::http::header::WWW_AUTHENTICATE;
use auth::{Authenticator, Basic, Clock, Cost, HashLimits, Hasher, Method, Unavailable, Users};
use broker::api::SubmitError;
use futures::future::{BoxFuture, FutureExt as _};
use protocol::{Caller, Command, Principal};
use tokio_util::sync::CancellationToken;

use super::fake::FakeBroker;
use super::{Gateway, Options, block_on, request, text};
use crate::{Access, AccessOptions};

/// One user: ann, with the password "secret".
struct OneUser(Arc<str>);

impl Users for OneUser {
    fn generation(&self) -> u64 {
        0
    }

    fn password_hash<'a>(&'a self, user: &'a str) -> BoxFuture<'a, Result<Option<Arc<str>>, Unavailable>> {
        let hash = (user == "ann").then(|| Arc::clone(&self.0));
        std::future::ready(Ok(hash)).boxed()
    }
}

/// A gateway that knows ann.
async fn basic_gateway(broker: &Arc<FakeBroker>) -> Gateway {
    let cost = Cost { memory_kib: 8, passes: 1, lanes: 1 };
    let hasher = Hasher::new(cost, HashLimits::default()).unwrap();
    let hash = hasher.hash("secret").await.unwrap();
    let basic = Basic::new(Arc::new(OneUser(hash.into())), hasher, Clock::system());
    let method = Method::Basic(Arc::new(basic));
    let access = Access::new(Authenticator::new(method, None, Clock::system()), AccessOptions::default());
    let options = Options { access, ..Options::default() };
    Gateway::new(Arc::<FakeBroker>::clone(broker), options, CancellationToken::new())
}

const PATH: &str = "/v2/incidents/7/resolution";

#[test]
fn whoever_does_not_say_who_it_is_is_told_how_to() {
    block_on(async {
        let broker = Arc::new(FakeBroker::default());
        let gateway = basic_gateway(&broker).await;
        let refused = gateway.answer(request("POST", PATH, "")).await;
        assert_eq!(refused.headers()[WWW_AUTHENTICATE], r#"Basic realm="Baton", charset="UTF-8""#);
        let expected = format!(
            r#"{{"type":"about:blank","title":"Unauthorized","status":401,"detail":"credentials are missing","instance":"{PATH}"}}"#
        );
        assert_eq!(text(refused).await, (401, expected));
        let mut wrong = request("POST", PATH, "");
        // ann:guess
        wrong.headers_mut().insert("authorization", "Basic YW5uOmd1ZXNz".parse().unwrap());
        assert_eq!(gateway.answer(wrong).await.status(), 401);
        assert!(broker.commands.lock().unwrap().is_empty());
        for path in ["/v2/license", "/v2/status"] {
            assert!(gateway.answer(request("GET", path, "")).await.status().is_success(), "{path}");
        }
    });
}

#[test]
fn commands_tell_who_asks_for_them() {
    block_on(async {
        let broker = Arc::new(FakeBroker::default());
        let gateway = basic_gateway(&broker).await;
        let mut right = request("POST", PATH, "");
        // ann:secret
        right.headers_mut().insert("authorization", "Basic YW5uOnNlY3JldA==".parse().unwrap());
        assert_eq!(gateway.answer(right).await.status(), 204);
        let command = Command::ResolveIncident { incident_key: 7, operation_reference: None };
        let caller = Caller::unchecked(Principal::user("ann"));
        assert_eq!(broker.last(), command.clone().asked_by(Some(caller)));
        // Where nobody needs to say who it is, commands say nothing either.
        let open = super::gateway(&broker);
        assert_eq!(open.answer(request("POST", PATH, "")).await.status(), 204);
        assert_eq!(broker.last(), command);
    });
}

/// A store of users that is away.
struct Away;

impl Users for Away {
    fn generation(&self) -> u64 {
        0
    }

    fn password_hash<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<Arc<str>>, Unavailable>> {
        let error = SubmitError::Unavailable("away".to_owned());
        std::future::ready(Err(Unavailable(error.to_string()))).boxed()
    }
}

#[test]
fn without_the_users_nobody_is_let_in_but_may_come_again() {
    block_on(async {
        let broker = Arc::new(FakeBroker::default());
        let hasher = Hasher::new(Cost::default(), HashLimits::default()).unwrap();
        let method = Method::Basic(Arc::new(Basic::new(Arc::new(Away), hasher, Clock::system())));
        let access = Access::new(Authenticator::new(method, None, Clock::system()), AccessOptions::default());
        let options = Options { access, ..Options::default() };
        let gateway = Gateway::new(Arc::<FakeBroker>::clone(&broker), options, CancellationToken::new());
        let mut right = request("POST", PATH, "");
        right.headers_mut().insert("authorization", "Basic YW5uOnNlY3JldA==".parse().unwrap());
        let refused = gateway.answer(right).await;
        assert!(refused.headers().get(WWW_AUTHENTICATE).is_none());
        assert_eq!(refused.status(), 503);
    });
}
