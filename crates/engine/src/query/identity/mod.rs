//! Queries about identity and authorizations.

mod grants;

use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use protocol::{
    AuthorizationView, CircleKind, CircleView, EntityType, IdentityQuery, IdentityReply, Key, MappingRule,
    Name, Page, QueryReply, Rejection, SavedView, UserView,
};
use state::StateError;

use grants::authorization_view;

use super::view::{ROWS_PER_SLICE, Read, ReadError, Scan, View, not_found};
use crate::entity::tables::Tables;
use crate::identity::row::{StoredCircle, StoredUser};
use crate::identity::{Pair, circle_exists, exists, has_administrator, pairs_of};

pub(super) fn read(view: &View<'_>, query: &IdentityQuery) -> Result<Read, ReadError> {
    let tables = view.tables;
    let reply = match query {
        IdentityQuery::User { username } => IdentityReply::User(user_view(&*user(tables, username)?)),
        IdentityQuery::PasswordHash { username } => {
            IdentityReply::PasswordHash(user(tables, username)?.user.password_hash.clone())
        }
        IdentityQuery::Users { limit } => {
            return Ok(list(.., *limit, users, IdentityReply::Users));
        }
        IdentityQuery::Circle { kind, id } => {
            let stored = tables.circles.get(&(kind.number(), Arc::clone(&id.0)))?;
            let stored = stored.ok_or_else(|| {
                let noun = capitalized(kind.as_str());
                Rejection::not_found(format!("{noun} with ID '{id}' not found"))
            })?;
            IdentityReply::Circle(circle_view(&stored))
        }
        IdentityQuery::Circles { kind, limit } => {
            let range = (kind.number(), Arc::default())..(kind.number() + 1, Arc::default());
            return Ok(list(range, *limit, circles, IdentityReply::Circles));
        }
        IdentityQuery::MappingRule { id } => {
            let stored = tables.mapping_rules.get(&id.0)?;
            let stored = stored
                .ok_or_else(|| Rejection::not_found(format!("Mapping rule with ID '{id}' not found")))?;
            IdentityReply::MappingRule(stored.rule.clone())
        }
        IdentityQuery::MappingRules { limit } => {
            return Ok(list(.., *limit, mapping_rules, IdentityReply::MappingRules));
        }
        IdentityQuery::Members { kind, circle_id, entity_type, limit } => {
            let limit = if circle_exists(tables, *kind, circle_id)? { Some(*limit) } else { None };
            return Ok(members(
                pairs_of(kind.number(), circle_id, Some(entity_type.number())),
                *entity_type,
                limit,
            ));
        }
        IdentityQuery::CirclesOf { entity_type, entity_id, kind, limit } => {
            if !exists(tables, *entity_type, entity_id)? {
                return Ok(Read::Done(QueryReply::Identity(IdentityReply::Circles(nothing()))));
            }
            let range = pairs_of(entity_type.number(), entity_id, Some(kind.number()));
            return Ok(list(range, *limit, circles_of, IdentityReply::Circles));
        }
        IdentityQuery::Authorization { key } => {
            let stored = tables.authorizations.get(key)?.ok_or_else(|| not_found("Authorization", *key))?;
            IdentityReply::Authorization(authorization_view(*key, &stored))
        }
        IdentityQuery::Authorizations { limit } => {
            return Ok(list(.., *limit, authorizations, IdentityReply::Authorizations));
        }
        IdentityQuery::HadAdministrator => {
            IdentityReply::HadAdministrator(view.had_administrator || has_administrator(tables)?)
        }
        IdentityQuery::Grants { principal, limit } => return Ok(grants::read(principal.clone(), *limit)),
        IdentityQuery::GrantsVersion => IdentityReply::GrantsVersion(view.grants_version),
        IdentityQuery::SavedViews { owner } => IdentityReply::SavedViews(saved_views(tables, owner)?),
    };
    Ok(Read::Done(QueryReply::Identity(reply)))
}

fn capitalized(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    lower[..1].to_ascii_uppercase() + &lower[1..]
}

fn user(tables: &Tables, username: &Name) -> Result<Arc<StoredUser>, ReadError> {
    let missing = || Rejection::not_found(format!("User with username '{username}' not found"));
    Ok(tables.users.get(&username.0)?.ok_or_else(missing)?)
}

fn user_view(stored: &StoredUser) -> UserView {
    let user = &stored.user;
    UserView { username: user.username.clone(), name: user.name.clone(), email: user.email.clone() }
}

fn circle_view(stored: &StoredCircle) -> CircleView {
    CircleView { key: stored.key, circle: stored.circle.clone() }
}

/// Part of a table between two keys; both bounds are owned, so that a list can go on.
type Part<K> = (Bound<K>, Bound<K>);

/// Some rows with their keys, and what is listed of each. `None`: there is nothing of it any more.
type Rows<K, T> = Result<Vec<(K, Option<T>)>, StateError>;

fn users(tables: &Tables, part: Part<Arc<str>>, limit: usize) -> Rows<Arc<str>, UserView> {
    let rows = tables.users.scan(part, limit)?.into_iter();
    Ok(rows.map(|(key, stored)| (key, Some(user_view(&stored)))).collect())
}

fn circles(tables: &Tables, part: Part<(u8, Arc<str>)>, limit: usize) -> Rows<(u8, Arc<str>), CircleView> {
    let rows = tables.circles.scan(part, limit)?.into_iter();
    Ok(rows.map(|(key, stored)| (key, Some(circle_view(&stored)))).collect())
}

fn mapping_rules(tables: &Tables, part: Part<Arc<str>>, limit: usize) -> Rows<Arc<str>, MappingRule> {
    let rows = tables.mapping_rules.scan(part, limit)?.into_iter();
    Ok(rows.map(|(key, stored)| (key, Some(stored.rule.clone()))).collect())
}

fn authorizations(tables: &Tables, part: Part<Key>, limit: usize) -> Rows<Key, AuthorizationView> {
    let rows = tables.authorizations.scan(part, limit)?.into_iter();
    Ok(rows.map(|(key, stored)| (key, Some(authorization_view(key, &stored)))).collect())
}

/// Looks up what the second half of each key names.
fn others<T>(keys: Vec<Pair>, get: impl Fn(u8, &Arc<str>) -> Result<Option<T>, StateError>) -> Rows<Pair, T> {
    keys.into_iter()
        .map(|key| {
            let other = get(key.2, &key.3)?;
            Ok((key, other))
        })
        .collect()
}

fn circles_of(tables: &Tables, part: Part<Pair>, limit: usize) -> Rows<Pair, CircleView> {
    others(tables.member_of.keys(part, limit)?, |kind, id| {
        Ok(tables.circles.get(&(kind, Arc::clone(id)))?.map(|stored| circle_view(&stored)))
    })
}

fn member_names(tables: &Tables, part: Part<Pair>, limit: usize) -> Rows<Pair, Name> {
    others(tables.members.keys(part, limit)?, |_, id| Ok(Some(Name(Arc::clone(id)))))
}

fn member_roles(tables: &Tables, part: Part<Pair>, limit: usize) -> Rows<Pair, CircleView> {
    others(tables.members.keys(part, limit)?, |_, id| {
        let stored = tables.circles.get(&(CircleKind::Role.number(), Arc::clone(id)))?;
        Ok(stored.map(|stored| circle_view(&stored)))
    })
}

fn member_rules(tables: &Tables, part: Part<Pair>, limit: usize) -> Rows<Pair, MappingRule> {
    others(tables.members.keys(part, limit)?, |_, id| {
        Ok(tables.mapping_rules.get(id)?.map(|stored| stored.rule.clone()))
    })
}

/// The members of one kind; without a limit there are none.
fn members(range: std::ops::Range<Pair>, entity_type: EntityType, limit: Option<usize>) -> Read {
    let none = |reply| Read::Done(QueryReply::Identity(reply));
    match (entity_type, limit) {
        (EntityType::Role, Some(limit)) => list(range, limit, member_roles, IdentityReply::Circles),
        (EntityType::Role, None) => none(IdentityReply::Circles(nothing())),
        (EntityType::MappingRule, Some(limit)) => {
            list(range, limit, member_rules, IdentityReply::MappingRules)
        }
        (EntityType::MappingRule, None) => none(IdentityReply::MappingRules(nothing())),
        (_, Some(limit)) => list(range, limit, member_names, IdentityReply::Members),
        (_, None) => none(IdentityReply::Members(nothing())),
    }
}

const fn nothing<T>() -> Page<T> {
    Page { items: Vec::new(), has_more: false }
}

/// Lists part of a table, in slices.
fn list<K, T>(
    range: impl RangeBounds<K>,
    limit: usize,
    next: fn(&Tables, Part<K>, usize) -> Rows<K, T>,
    reply: fn(Page<T>) -> IdentityReply,
) -> Read
where
    K: Clone + Send + 'static,
    T: Send + 'static,
{
    let part = (range.start_bound().cloned(), range.end_bound().cloned());
    Read::More(Box::new(Listing { part, limit, found: Vec::new(), next, reply }))
}

struct Listing<K, T> {
    part: Part<K>,
    limit: usize,
    found: Vec<T>,
    next: fn(&Tables, Part<K>, usize) -> Rows<K, T>,
    reply: fn(Page<T>) -> IdentityReply,
}

impl<K, T> Scan for Listing<K, T>
where
    K: Clone + Send + 'static,
    T: Send + 'static,
{
    fn slice(mut self: Box<Self>, view: &mut View<'_>) -> Result<Read, ReadError> {
        // One more tells that there are more.
        let room = (self.limit + 1 - self.found.len()).min(ROWS_PER_SLICE);
        let rows = (self.next)(view.tables, self.part.clone(), room)?;
        let is_last = rows.len() < room;
        for (key, item) in rows {
            self.part.0 = Bound::Excluded(key);
            self.found.extend(item);
        }
        if !is_last && self.found.len() <= self.limit {
            return Ok(Read::More(self));
        }
        let has_more = self.found.len() > self.limit;
        self.found.truncate(self.limit);
        Ok(Read::Done(QueryReply::Identity((self.reply)(Page { items: self.found, has_more }))))
    }
}

/// The views of an owner and those that are shared, in the order of their keys. Their number is bounded.
fn saved_views(tables: &Tables, owner: &Name) -> Result<Vec<SavedView>, StateError> {
    let owned = (owner.0.clone(), 0)..=(owner.0.clone(), Key::MAX);
    let mut keys: Vec<Key> = tables.shared_views.keys(.., SavedView::SHARED_MAX)?;
    let own = tables.view_by_owner.keys(owned, SavedView::OF_OWNER_MAX)?;
    keys.extend(own.into_iter().map(|(_, key)| key));
    keys.sort_unstable();
    keys.dedup();
    let mut views = Vec::with_capacity(keys.len());
    for key in keys {
        let stored = tables.views.get(&key)?.expect("what is listed is there");
        views.push(stored.view.clone());
    }
    Ok(views)
}
