//! Users, groups, roles, tenants, mapping rules and authorizations.
//!
//! Many of these operations are the same but for whom they are about, so the table of served operations names a
//! function here, and whom.

pub(super) mod authorization;
pub(super) mod circle;
pub(super) mod mapping_rule;
pub(super) mod member;
pub(in crate::rest) mod user;

use broker_api::Answer;
use http::StatusCode;
use protocol::{Command, IdentityCommand, IdentityQuery, IdentityReply, Name, Page, Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::search::Search;
use crate::rest::writer::{Object, object};

impl Call<'_> {
    async fn change_identity(&self, intent: &str, command: IdentityCommand) -> Result<Answer, Failure> {
        self.submit(intent, Command::Identity(command)).await
    }

    /// A change that is answered with nothing but its success.
    async fn change_identity_only(&self, intent: &str, command: IdentityCommand) -> Result<Reply, Failure> {
        self.submit_for_nothing(intent, Command::Identity(command)).await
    }

    async fn read_identity(&self, query: IdentityQuery) -> Result<IdentityReply, Failure> {
        let reply = self.read(Query::Identity(query)).await?;
        match reply {
            QueryReply::Identity(reply) => Ok(reply),
            other => Err(unexpected(&other)),
        }
    }

    /// Searches among what a query lists.
    async fn search_identity<T>(
        &self,
        query: IdentityQuery,
        page: impl FnOnce(IdentityReply) -> Result<Page<T>, Failure>,
        property: impl Fn(&T, &str) -> Option<String>,
        write: impl FnMut(&T, &mut Vec<u8>),
    ) -> Result<Reply, Failure> {
        let search = Search::read(&self.fields)?;
        let Page { items, has_more } = page(self.read_identity(query).await?)?;
        Ok(Reply::json(search.answer(items, has_more, property, write)))
    }

    /// A text that says something.
    fn not_blank(&self, name: &str) -> Result<Name, Failure> {
        let text = self.fields.name_or_empty(name);
        match text.trim() {
            "" => Err(Failure::invalid(format!("{name}: must not be blank"))),
            _ => Ok(text),
        }
    }

    /// A placeholder of the path, counted from 0.
    fn placeholder(&self, at: usize) -> Name {
        Name::from(&*self.parameters[at])
    }
}

/// 201 with JSON.
fn created(body: Vec<u8>, answer: &Answer) -> Reply {
    Reply { status: StatusCode::CREATED, ..Reply::json(body).timed(answer.timing) }
}

/// The text, unless it is empty.
fn text(text: &Name) -> Option<String> {
    (!text.is_empty()).then(|| text.to_string())
}

/// An object of strings; what is empty is null.
fn write_object<'a>(members: &[(&'static str, &str)], out: &'a mut Vec<u8>) {
    let write = |object: Object<'a>, (name, text): &(&'static str, &str)| {
        object.with(name, Some(*text).filter(|text| !text.is_empty()))
    };
    members.iter().fold(object(out), write).end();
}

/// Bytes of what a function writes.
fn json<T>(item: &T, write: impl FnOnce(&T, &mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    write(item, &mut out);
    out
}
