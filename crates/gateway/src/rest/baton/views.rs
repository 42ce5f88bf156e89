//! `/baton/v1/views`: lists with their filters, kept for the user who saved them, and shared if that user wants it.

use http::StatusCode;
use protocol::{
    Command, IdentityCommand, IdentityQuery, IdentityReply, Key, Name, Query, QueryReply, Response,
    SavedView, SavedViewCommand,
};

use crate::rest::call::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::visible::ReadAuthorization;
use crate::rest::writer::{Digits, object};

/// The owner of views of the caller; empty without authentication.
fn owner(call: &Call<'_>) -> Name {
    match (call.principal.user_name(), call.principal.client_id()) {
        (Some(user), _) => SavedView::owner_of_user(user),
        (None, Some(client)) => Name::from(format!("CLIENT:{client}")),
        (None, None) => Name::default(),
    }
}

/// Own views and shared ones.
async fn visible(call: &Call<'_>, owner: Name) -> Result<Vec<SavedView>, Failure> {
    match call.read(Query::Identity(IdentityQuery::SavedViews { owner })).await? {
        QueryReply::Identity(IdentityReply::SavedViews(views)) => Ok(views),
        other => Err(unexpected(&other)),
    }
}

pub(super) async fn list(call: &Call<'_>) -> Result<Reply, Failure> {
    let owner = owner(call);
    let page = call.query_parameter("page")?;
    let views = visible(call, owner.clone()).await?;
    let sight = ReadAuthorization::of(call).await?;
    let is_visible = |view: &&SavedView| {
        let of_page = page.as_ref().is_none_or(|page| **page == *view.page);
        let of_tenant = match (&sight, &view.tenant_ids) {
            (Some(sight), Some(tenants)) => {
                sight.tenants().is_none() || tenants.iter().any(|id| sight.is_of_tenant(id))
            }
            _ => true,
        };
        of_page && (view.owner == owner || of_tenant)
    };
    let mut out = Vec::with_capacity(256);
    object(&mut out)
        .list("items", views.iter().filter(is_visible), |view, out| write(view, &owner, out))
        .end();
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

/// The view of the body, if the caller may show it to others or does not want to.
async fn read(call: &Call<'_>, key: Key) -> Result<SavedView, Failure> {
    let is_shared = call.fields.flag("isShared");
    if is_shared {
        call.check_sharing().await?;
    }
    let sight = ReadAuthorization::of(call).await?;
    let tenants = sight.as_ref().and_then(ReadAuthorization::tenants);
    Ok(SavedView {
        key,
        owner: owner(call),
        name: call.fields.name_or_empty("name"),
        page: call.fields.name_or_empty("page"),
        query: call.fields.name_or_empty("query"),
        is_shared,
        tenant_ids: tenants.filter(|_| is_shared).map(<[Name]>::to_vec),
    })
}

pub(super) async fn create(call: &Call<'_>) -> Result<Reply, Failure> {
    let command = SavedViewCommand::Create(read(call, 0).await?);
    Ok(Reply { status: StatusCode::CREATED, ..store(call, "CREATE", command).await? })
}

pub(super) async fn update(call: &Call<'_>) -> Result<Reply, Failure> {
    let view = read(call, call.key()?).await?;
    store(call, "UPDATE", SavedViewCommand::Update(view)).await
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
