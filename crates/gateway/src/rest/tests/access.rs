//! Authentication, and callers of commands.

use std::sync::Arc;

use ::http::header::WWW_AUTHENTICATE;
use auth::{Authenticator, Basic, Clock, Cost, HashLimits, Hasher, Method, Unavailable, Users};
use broker_api::SubmitError;
use futures::future::{BoxFuture, FutureExt as _};
use protocol::{
    Authorization, AuthorizationScope, AuthorizationView, Caller, Command, EntityType, Grants,
    PermissionType, Principal, ResourceType,
};
use tokio_util::sync::CancellationToken;

use super::contract::{check_response, small_body, valid_path};
use super::fake::FakeBroker;
use super::fake_storage::FakeStorage;
use super::{Gateway, Options, block_on, request, text};
use crate::rest::contract::{Media, Operation};
use crate::rest::operation::served;
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
    gateway_with(broker, AccessOptions::default()).await
}

/// Options of a gateway that knows ann.
pub(super) async fn basic_options(checks: AccessOptions) -> Options {
    basic_options_at(Clock::system(), checks).await
}

/// Options of a gateway that knows ann, with a clock.
pub(super) async fn basic_options_at(clock: Clock, checks: AccessOptions) -> Options {
    let cost = Cost { memory_kib: 8, passes: 1, lanes: 1 };
    let hasher = Hasher::new(cost, HashLimits::default()).unwrap();
    let hash = hasher.hash("secret").await.unwrap();
    let basic = Basic::new(Arc::new(OneUser(hash.into())), hasher, clock.clone());
    let method = Method::Basic(Arc::new(basic));
    let access = Access::new(Authenticator::new(method, None, clock), checks);
    let storage = Some(Arc::<FakeStorage>::default().storage());
    Options { access, storage, ..super::running() }
}

/// One that checks more.
async fn gateway_with(broker: &Arc<FakeBroker>, checks: AccessOptions) -> Gateway {
    let options = basic_options(checks).await;
    Gateway::new(Arc::<FakeBroker>::clone(broker), options, CancellationToken::new())
}

/// Options of a gateway that cannot ask who its users are.
pub(super) fn options_without_users() -> Options {
    let hasher = Hasher::new(Cost::default(), HashLimits::default()).unwrap();
    let method = Method::Basic(Arc::new(Basic::new(Arc::new(Away), hasher, Clock::system())));
    let access = Access::new(Authenticator::new(method, None, Clock::system()), AccessOptions::default());
    Options { access, ..Options::default() }
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
        let mut of_page = request("POST", PATH, "");
        of_page.headers_mut().insert("sec-fetch-site", "same-origin".parse().unwrap());
        let refused = gateway.answer(of_page).await;
        assert_eq!(refused.headers()[WWW_AUTHENTICATE], r#"Session realm="Baton""#);
        assert_eq!(refused.status(), 401);
        assert!(broker.commands.lock().is_empty());
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
        let options = options_without_users();
        let gateway = Gateway::new(Arc::<FakeBroker>::clone(&broker), options, CancellationToken::new());
        let mut right = request("POST", PATH, "");
        right.headers_mut().insert("authorization", "Basic YW5uOnNlY3JldA==".parse().unwrap());
        let refused = gateway.answer(right).await;
        assert!(refused.headers().get(WWW_AUTHENTICATE).is_none());
        assert_eq!(refused.status(), 503);
    });
}

/// Views are changed by commands, all of which the broker here refuses.
const EVERYBODY: &[Operation] = &[
    Operation::AwaitChanges,
    Operation::CheckPermissions,
    Operation::GetBoot,
    Operation::ListViews,
    Operation::CreateAdminUser,
    Operation::GetAuthentication,
    Operation::GetClusterStatus,
    Operation::GetClusterTopology,
    Operation::GetLicense,
    Operation::GetStatus,
    Operation::GetSystemConfiguration,
    Operation::GetTopology,
    Operation::SearchOwnAuthorizations,
];

/// Status and body of a valid request of ann.
async fn ask(gateway: &Gateway, operation: Operation) -> (u16, String) {
    let spec = operation.spec();
    let is_form = spec.body.as_ref().is_some_and(|body| body.media == Media::Multipart);
    let body = small_body(operation).map(|body| body.to_string()).unwrap_or_default();
    let mut request = request(spec.method, &valid_path(spec), body);
    if is_form {
        let part = |head: &str, content: &str| {
            format!("--x\r\nContent-Disposition: form-data; {head}\r\n\r\n{content}\r\n")
        };
        let name = if operation == Operation::CreateDocument { "file" } else { "files" };
        let name = if operation == Operation::CreateDeployment { "resources" } else { name };
        let body = part(&format!("name=\"{name}\"; filename=\"a.bpmn\""), "a") + "--x--\r\n";
        *request.body_mut() = http_body_util::Full::new(body.into());
        let media = "multipart/form-data; boundary=x".parse().unwrap();
        request.headers_mut().insert("content-type", media);
    }
    request.headers_mut().insert("authorization", "Basic YW5uOnNlY3JldA==".parse().unwrap());
    text(gateway.answer(request).await).await
}

fn checked() -> AccessOptions {
    AccessOptions { authorizations: true, tenants: false, foreign: vec![] }
}

#[test]
fn whoever_may_do_nothing_sees_and_does_nothing() {
    block_on(async {
        let broker = Arc::new(FakeBroker::default());
        let gateway = gateway_with(&broker, checked()).await;
        let mut leaks = vec![];
        for operation in served() {
            let (status, body) = ask(&gateway, operation).await;
            let id = operation.spec().id;
            let nothing = [r#"{"jobs":[]}"#, r#"{"references":[]}"#, r#"{"count":0,"isExact":true}"#];
            let is_empty = body.contains(r#""items":[]"#)
                || nothing.contains(&&*body)
                || (body.ends_with(r#""slowest":[]}"#) && !body.contains(r#""started":1"#))
                || body.contains(r#""resolved":[],"errors":[{"#);
            let is_right = match status {
                403 => !EVERYBODY.contains(&operation),
                200 | 201 | 204 if EVERYBODY.contains(&operation) => true,
                200 => {
                    is_empty
                        && ["search", "get", "list", "resolve", "count"]
                            .iter()
                            .any(|verb| id.starts_with(verb))
                }
                _ => false,
            };
            if !is_right && operation != Operation::ActivateJobs {
                leaks.push(format!("{id}: {status} {body}"));
            }
        }
        assert!(leaks.is_empty(), "{}", leaks.join("\n"));
        // The engine hands out what a worker may work on.
        ask(&gateway, Operation::ActivateJobs).await;
        let (demand, _) = broker.activations.lock().pop().unwrap();
        assert!(demand.caller.unwrap().checks_authorizations);
        let commands = broker.commands.lock();
        assert!(commands.iter().all(|command| command.caller().is_none()), "{commands:?}");
    });
}

#[test]
fn whoever_may_do_everything_sees_and_does_everything() {
    block_on(async {
        let of = |resource_type: &ResourceType| Authorization {
            owner_type: EntityType::User,
            owner_id: "ann".into(),
            resource_type: *resource_type,
            scope: AuthorizationScope::Any,
            permissions: resource_type.permissions().to_vec(),
        };
        let grants = Grants {
            authorizations: ResourceType::ALL.iter().map(of).map(view).collect(),
            ..Grants::default()
        };
        let broker = Arc::new(FakeBroker { grants, ..FakeBroker::default() });
        for operation in served() {
            // Nothing is missing that an operation before it has deleted.
            let gateway = gateway_with(&broker, checked()).await;
            let is_form = operation.spec().body.as_ref().is_some_and(|body| body.media == Media::Multipart);
            // There is no document.
            let of_document =
                [Operation::GetDocument, Operation::DeleteDocument, Operation::CreateDocumentLink];
            if is_form || of_document.contains(&operation) {
                continue;
            }
            let (status, body) = ask(&gateway, operation).await;
            check_response(operation.spec(), status, &body);
        }
    });
}

fn view(authorization: Authorization) -> AuthorizationView {
    AuthorizationView { key: 41, authorization }
}

fn for_process(id: &str, permission: PermissionType) -> Grants {
    let authorization = Authorization {
        owner_type: EntityType::User,
        owner_id: "ann".into(),
        resource_type: ResourceType::ProcessDefinition,
        scope: AuthorizationScope::Id(id.into()),
        permissions: vec![permission],
    };
    Grants { authorizations: vec![view(authorization)], ..Grants::default() }
}

#[test]
fn errors_are_counted_over_what_somebody_may_see() {
    let ask = |grants: Grants, checks: AccessOptions| {
        block_on(async {
            let broker = Arc::new(FakeBroker { grants, ..FakeBroker::default() });
            let gateway = gateway_with(&broker, checks).await;
            ask(&gateway, Operation::GetProcessInstanceStatisticsByError).await
        })
    };
    let messages = |(status, body): (u16, String)| {
        assert_eq!(status, 200, "{body}");
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        let items = body["items"].as_array().unwrap().iter();
        items.map(|item| item["errorMessage"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    let read = PermissionType::ReadProcessInstance;
    assert_eq!(messages(ask(for_process("bill", read), checked())), "no");
    assert_eq!(messages(ask(for_process("order", read), checked())), "polygenelubricants");
    assert_eq!(messages(ask(for_process("other", read), checked())), "");
    let tenants = || AccessOptions { authorizations: false, tenants: true, foreign: vec![] };
    assert_eq!(messages(ask(Grants::default(), tenants())), "");
    let of_tenant = Grants { tenants: vec!["<default>".into()], ..Grants::default() };
    assert_eq!(messages(ask(of_tenant, tenants())), "no polygenelubricants");
}

#[test]
fn a_deletion_takes_its_own_permission_and_nothing_is_known_across_tenants() {
    let operations = [
        (Operation::DeleteProcessInstance, PermissionType::DeleteProcessInstance),
        (Operation::DeleteDecisionInstance, PermissionType::DeleteDecisionInstance),
    ];
    for (operation, permission) in operations {
        let ask = |grants: Grants, checks: AccessOptions| {
            block_on(async {
                let broker = Arc::new(FakeBroker { grants, ..FakeBroker::default() });
                let gateway = gateway_with(&broker, checks).await;
                let (status, _) = ask(&gateway, operation).await;
                (status, broker.commands.lock().len())
            })
        };
        // Deletion does not require permission to read: the engine decides, and knows the permission.
        assert_eq!(ask(for_process("a", permission), checked()), (204, 1));
        // As with every operation of the contract that has both answers: 403 for what is there.
        assert_eq!(ask(Grants::default(), checked()), (403, 0));
        // Entities of another tenant do not exist for the caller; the engine is not asked.
        let tenants = || AccessOptions { authorizations: false, tenants: true, foreign: vec![] };
        assert_eq!(ask(Grants::default(), tenants()), (404, 0));
        let of_tenant = Grants { tenants: vec!["a".into()], ..Grants::default() };
        assert_eq!(ask(of_tenant, tenants()), (204, 1));
    }
}

#[test]
fn a_scope_is_seen_by_those_who_may_read_its_instance() {
    let grant = |resource_type, id: Option<&str>, permission| {
        let scope = id.map_or(AuthorizationScope::Any, |id| AuthorizationScope::Id(id.into()));
        let (owner_type, owner_id) = (EntityType::User, "ann".into());
        view(Authorization { owner_type, owner_id, resource_type, scope, permissions: vec![permission] })
    };
    let evaluate = || grant(ResourceType::Expression, None, PermissionType::Evaluate);
    let read = |id| grant(ResourceType::ProcessDefinition, id, PermissionType::ReadProcessInstance);
    for (authorizations, in_scope, without) in [
        (vec![], 403, 403),
        (vec![evaluate()], 403, 200),
        (vec![read(None)], 403, 403),
        (vec![evaluate(), read(Some("q"))], 403, 200),
        (vec![evaluate(), read(Some("p"))], 200, 200),
        (vec![evaluate(), read(None)], 200, 200),
    ] {
        let grants = Grants { authorizations: authorizations.clone(), ..Grants::default() };
        let broker = Arc::new(FakeBroker { grants, ..FakeBroker::default() });
        for (body, expected) in
            [(r#"{"expression":"=a","scopeKey":"5"}"#, in_scope), (r#"{"expression":"=a"}"#, without)]
        {
            block_on(async {
                let gateway = gateway_with(&broker, checked()).await;
                let mut request = request("POST", "/v2/expression/evaluation", body.to_owned());
                request.headers_mut().insert("authorization", "Basic YW5uOnNlY3JldA==".parse().unwrap());
                let (status, answer) = text(gateway.answer(request).await).await;
                assert_eq!(status, expected, "{body} with {authorizations:?}: {answer}");
            });
        }
    }
}
