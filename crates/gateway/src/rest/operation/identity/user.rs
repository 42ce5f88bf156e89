//! `/v2/users` and `/v2/setup/user`

use auth::HashError;
use broker_api::{Answer, SubmitError};
use protocol::{
    IdentityCommand, IdentityQuery, IdentityReply, Name, PasswordHash, Rejection, RejectionType, Response,
    User, UserChange, UserView,
};

use super::super::{Call, unexpected};
use super::{created, json, text, write_object};
use crate::rest::SetUp;
use crate::rest::gateway::Gateway;
use crate::rest::limits::ENTITIES_MAX;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(crate) async fn create(call: &Call<'_>) -> Result<Reply, Failure> {
    let user = read_user(call).await?;
    let answer = call.change_identity("CREATE", IdentityCommand::CreateUser(user)).await?;
    Ok(created(json(view(&answer)?, write), &answer))
}

/// Open to everybody until there is an administrator, where users are kept here.
pub(crate) async fn create_administrator(call: &Call<'_>) -> Result<Reply, Failure> {
    const INTENT: &str = "CREATE_INITIAL_ADMIN";
    if let SetUp::Closed(reason) = call.gateway.options.set_up {
        let reason = format!("Expected to create the first administrator, but {reason}");
        let rejection = Rejection::new(RejectionType::Forbidden, reason);
        return Err(Failure::submit(SubmitError::Rejected(rejection), INTENT));
    }
    // Asked before the work of hashing; the engine decides.
    match call.read_identity(IdentityQuery::HadAdministrator).await? {
        IdentityReply::HadAdministrator(false) => {}
        IdentityReply::HadAdministrator(true) => {
            let reason = "Expected to create the first administrator, but there is or was one already";
            let rejection = Rejection::new(RejectionType::Forbidden, reason);
            return Err(Failure::submit(SubmitError::Rejected(rejection), INTENT));
        }
        other => return Err(unexpected(&other)),
    }
    let user = read_user(call).await?;
    let answer = call.change_identity(INTENT, IdentityCommand::CreateAdministrator(user)).await?;
    Ok(created(json(view(&answer)?, write), &answer))
}

/// Absent properties stay as they are, and so does the password if it is blank.
pub(crate) async fn update(call: &Call<'_>) -> Result<Reply, Failure> {
    let email = call.fields.text("email").is_some().then(|| email(call)).transpose()?;
    let password = call.fields.text("password").filter(|password| !password.trim().is_empty());
    let password_hash = match password {
        Some(password) => Some(hash(call.gateway, "password", &password).await?),
        None => None,
    };
    let change = UserChange {
        username: call.placeholder(0),
        name: call.fields.text("name").map(|name| Name::from(&*name)),
        email,
        password_hash,
    };
    let answer = call.change_identity("UPDATE", IdentityCommand::UpdateUser(change)).await?;
    Ok(Reply::json(json(view(&answer)?, write)).timed(answer.timing))
}

pub(crate) async fn delete(call: &Call<'_>) -> Result<Reply, Failure> {
    call.change_identity_only("DELETE", IdentityCommand::DeleteUser { username: call.placeholder(0) }).await
}

pub(crate) async fn get(call: &Call<'_>) -> Result<Reply, Failure> {
    match call.read_identity(IdentityQuery::User { username: call.placeholder(0) }).await? {
        IdentityReply::User(user) => Ok(Reply::json(json(&user, write))),
        other => Err(unexpected(&other)),
    }
}

pub(crate) async fn search(call: &Call<'_>) -> Result<Reply, Failure> {
    let page = |reply| match reply {
        IdentityReply::Users(page) => Ok(page),
        other => Err(unexpected(&other)),
    };
    call.search_identity(IdentityQuery::Users { limit: ENTITIES_MAX }, page, property, write).await
}

async fn read_user(call: &Call<'_>) -> Result<User, Failure> {
    call.not_blank("password")?;
    let email = email(call)?;
    let password = call.fields.text("password").unwrap_or_default();
    Ok(User {
        username: call.fields.name_or_empty("username"),
        name: call.fields.name_or_empty("name"),
        email,
        password_hash: hash(call.gateway, "password", &password).await?,
    })
}

/// The rules for new passwords; `member` is the name of one in the request.
pub(in crate::rest) fn check_password(
    gateway: &Gateway,
    member: &str,
    password: &str,
) -> Result<(), Failure> {
    let least = gateway.options.password_length_min;
    if password.trim().is_empty() || password.chars().count() < least {
        return Err(Failure::invalid(format!(
            "{member}: must have at least {least} characters, not all of them spaces"
        )));
    }
    Ok(())
}

/// A password ends here, if it is as the rules have it; what goes on is its hash.
pub(in crate::rest) async fn hash(
    gateway: &Gateway,
    member: &str,
    password: &str,
) -> Result<PasswordHash, Failure> {
    check_password(gateway, member, password)?;
    match gateway.options.hasher.hash(password).await {
        Ok(hash) => Ok(PasswordHash(hash.into())),
        Err(error @ HashError::Busy) => {
            Err(Failure::submit(SubmitError::ResourceExhausted(error.to_string()), ""))
        }
        Err(error) => Err(Failure::internal(error.to_string())),
    }
}

/// None, or one that a mail server might understand.
fn email(call: &Call<'_>) -> Result<Name, Failure> {
    let email = call.fields.name_or_empty("email");
    let is_address = email.split_once('@').is_some_and(|(local, domain)| {
        !local.is_empty()
            && !domain.is_empty()
            && !domain.contains('@')
            && !email.contains(char::is_whitespace)
    });
    if is_address || email.is_empty() {
        Ok(email)
    } else {
        Err(Failure::invalid("email: must be an address such as name@example.com"))
    }
}

fn view(answer: &Answer) -> Result<&UserView, Failure> {
    match &answer.response {
        Response::User(user) => Ok(user),
        other => Err(unexpected(other)),
    }
}

fn write(user: &UserView, out: &mut Vec<u8>) {
    write_object(&[("username", &user.username), ("name", &user.name), ("email", &user.email)], out);
}

fn property(user: &UserView, name: &str) -> Option<String> {
    match name {
        "username" => Some(user.username.to_string()),
        "name" => text(&user.name),
        "email" => text(&user.email),
        _ => None,
    }
}
