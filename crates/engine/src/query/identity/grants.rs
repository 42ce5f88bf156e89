//! Everything that is granted to a principal: what it belongs to at once, authorizations owner by owner.
//!
//! The version is taken before anything is read. If something changes meanwhile, the version is old already, and
//! whoever compares it reads again.

use std::collections::VecDeque;
use std::ops::Bound;

use protocol::{AuthorizationView, EntityType, Grants, IdentityReply, Key, Name, Principal, QueryReply};

use crate::identity::row::StoredAuthorization;
use crate::identity::{Memberships, Owned, owned_by};
use crate::query::view::{ROWS_PER_SLICE, Read, ReadError, Scan, View};

pub(super) fn read(principal: Principal, limit: usize) -> Read {
    Read::More(Box::new(Begin { principal, limit }))
}

struct Begin {
    principal: Principal,
    limit: usize,
}

impl Scan for Begin {
    fn slice(self: Box<Self>, view: &mut View<'_>) -> Result<Read, ReadError> {
        let standing = Memberships::of(view.tables, &self.principal)?;
        let owners = standing.owners(&self.principal).map(|(kind, id)| (kind, id.clone())).collect();
        let Memberships { claims, mapping_rules, groups, roles, tenants } = standing;
        let grants = Grants {
            valid_from: view.grants_version,
            claims: claims.into_iter().collect(),
            mapping_rules: mapping_rules.into_iter().collect(),
            groups: groups.into_iter().collect(),
            roles: roles.into_iter().collect(),
            tenants: tenants.into_iter().collect(),
            authorizations: Vec::new(),
            has_more: false,
        };
        Ok(Read::More(Box::new(Gather { grants, owners, after: None, limit: self.limit })))
    }
}

struct Gather {
    grants: Grants,
    /// Those whose authorizations are still to be read.
    owners: VecDeque<(EntityType, Name)>,
    /// The last one read of the first of them.
    after: Option<Owned>,
    limit: usize,
}

impl Scan for Gather {
    fn slice(mut self: Box<Self>, view: &mut View<'_>) -> Result<Read, ReadError> {
        let mut room = ROWS_PER_SLICE;
        while room > 0
            && let Some((owner_type, owner_id)) = self.owners.front()
        {
            let range = owned_by(*owner_type, owner_id);
            let from = self.after.take().map_or(Bound::Included(range.start), Bound::Excluded);
            let keys = view.tables.authorization_by_owner.keys((from, Bound::Excluded(range.end)), room)?;
            // An owner without any costs a look, too.
            let is_last = keys.len() < room;
            room = room.saturating_sub(keys.len().max(1));
            for owned in keys {
                let stored = view.tables.authorizations.get(&owned.4)?;
                self.grants.authorizations.extend(stored.map(|stored| authorization_view(owned.4, &stored)));
                self.after = Some(owned);
            }
            if is_last {
                self.owners.pop_front();
                self.after = None;
            }
            if self.grants.authorizations.len() > self.limit {
                self.grants.authorizations.truncate(self.limit);
                self.grants.has_more = true;
                self.owners.clear();
            }
        }
        if !self.owners.is_empty() {
            return Ok(Read::More(self));
        }
        Ok(Read::Done(QueryReply::Identity(IdentityReply::Grants(Box::new(self.grants)))))
    }
}

pub(super) fn authorization_view(key: Key, stored: &StoredAuthorization) -> AuthorizationView {
    AuthorizationView { key, authorization: stored.authorization.clone() }
}
