//! `/baton/v1/views`: lists with their filters, kept for the user who saved them, and shared if that user wants it.

use http::StatusCode;
use protocol::{
    Command, IdentityCommand, IdentityQuery, IdentityReply, Key, Name, Query, QueryReply, Response,
    SavedView, SavedViewCommand,
};

use crate::rest::call::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, object};

/// The owner of views of the caller; empty without authentication.
fn owner(call: &Call<'_>) -> Name {
    match (call.principal.user_name(), call.principal.client_id()) {
        (Some(user), _) => SavedView::owner_of_user(user),
        (None, Some(client)) => Name::from(format!("CLIENT:{client}")),
        (None, None) => Name::default(),
    }
}

pub(super) async fn list(call: &Call<'_>) -> Result<Reply, Failure> {
    let owner = owner(call);
    let page = call.query_parameter("page")?;
    let query = IdentityQuery::SavedViews { owner: owner.clone() };
    let reply = call.read(Query::Identity(query)).await?;
    let QueryReply::Identity(IdentityReply::SavedViews(views)) = reply else {
        return Err(unexpected(&reply));
    };
    let of_page = |view: &&SavedView| page.as_ref().is_none_or(|page| **page == *view.page);
    let mut out = Vec::with_capacity(256);
    object(&mut out).list("items", views.iter().filter(of_page), |view, out| write(view, &owner, out)).end();
    Ok(Reply::json(out))
}

fn write(view: &SavedView, owner: &Name, out: &mut Vec<u8>) {
    object(out)
        .with("viewKey", Digits(view.key))
        .with("name", &view.name)
        .with("page", &view.page)
        .with("query", &view.query)
        .with("isShared", view.is_shared)
        .with("owner", view.owner.split_once(':').map(|(_, name)| name))
        .with("isOwn", view.owner == *owner)
        .end();
}

/// The view of the body.
fn read(call: &Call<'_>, key: Key) -> SavedView {
    SavedView {
        key,
        owner: owner(call),
        name: call.fields.name_or_empty("name"),
        page: call.fields.name_or_empty("page"),
        query: call.fields.name_or_empty("query"),
        is_shared: call.fields.flag("isShared"),
    }
}

pub(super) async fn create(call: &Call<'_>) -> Result<Reply, Failure> {
    let command = SavedViewCommand::Create(read(call, 0));
    Ok(Reply { status: StatusCode::CREATED, ..store(call, "CREATE", command).await? })
}

pub(super) async fn update(call: &Call<'_>) -> Result<Reply, Failure> {
    store(call, "UPDATE", SavedViewCommand::Update(read(call, call.key()?))).await
}

async fn store(call: &Call<'_>, intent: &str, command: SavedViewCommand) -> Result<Reply, Failure> {
    let command = Command::Identity(IdentityCommand::SavedView(command));
    let answer = call.submit(intent, command).await?;
    let Response::SavedView(view) = &answer.response else { return Err(unexpected(&answer.response)) };
    let mut out = Vec::with_capacity(256);
    write(view, &owner(call), &mut out);
    Ok(Reply::json(out).timed(answer.timing))
}

pub(super) async fn delete(call: &Call<'_>) -> Result<Reply, Failure> {
    let command = SavedViewCommand::Delete { key: call.key()?, owner: owner(call) };
    call.submit_for_nothing("DELETE", Command::Identity(IdentityCommand::SavedView(command))).await
}
