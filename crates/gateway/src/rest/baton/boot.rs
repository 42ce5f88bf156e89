//! `GET /baton/v1/boot`: what pages must know before anybody has signed in. It is told to everybody, so it says nothing
//! that the login page does not show.

use auth::SignInWay;
use protocol::{IdentityQuery, IdentityReply, Query, QueryReply};

use crate::rest::SetUp;
use crate::rest::call::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::object;

pub(super) async fn get(call: &Call<'_>) -> Result<Reply, Failure> {
    let options = &call.gateway.options;
    let sign_in = match options.access.entry() {
        SignInWay::Open => "NONE",
        SignInWay::Password => "PASSWORD",
        SignInWay::Redirect => "REDIRECT",
        SignInWay::Token => "TOKEN",
    };
    let mut out = Vec::with_capacity(192);
    object(&mut out)
        .with("title", title(call))
        .with("version", env!("CARGO_PKG_VERSION"))
        .with("authentication", options.access.method_name())
        .with("signIn", sign_in)
        .with("setUp", is_set_up_open(call).await)
        .with("passwordLengthMin", options.password_length_min)
        .end();
    Ok(Reply::json(out))
}

#[cfg(feature = "web")]
fn title<'a>(call: &'a Call<'_>) -> &'a str {
    call.gateway.options.pages.as_ref().map_or("Baton", |pages| pages.title())
}

#[cfg(not(feature = "web"))]
fn title(_: &Call<'_>) -> &'static str {
    "Baton"
}

/// Whether the first administrator can be created. A broker that cannot tell now has none created.
async fn is_set_up_open(call: &Call<'_>) -> bool {
    let query = Query::Identity(IdentityQuery::HadAdministrator);
    call.gateway.options.set_up == SetUp::Open
        && call.gateway.options.access.entry() == SignInWay::Password
        && matches!(
            call.read_unseen(query).await,
            Ok(QueryReply::Identity(IdentityReply::HadAdministrator(false)))
        )
}
