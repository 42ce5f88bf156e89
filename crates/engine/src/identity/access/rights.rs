//! A cache of authorizations, until any of them changes. Nothing is decided here that the tables
//! do not say: without it, commands would only take longer.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::Principal;
use state::StateError;

use super::need::Need;
use crate::entity::tables::Tables;
use crate::identity::{Memberships, is_allowed, is_allowed_anywhere};

/// Principals that are remembered.
const PRINCIPALS_MAX: usize = 1000;
/// Answers that are remembered per principal.
const ANSWERS_MAX: usize = 10_000;

/// Results since the last change.
#[derive(Default)]
pub(crate) struct Rights {
    version: Option<u64>,
    of: BTreeMap<Principal, CachedRights>,
}

struct CachedRights {
    standing: Arc<Memberships>,
    answers: BTreeMap<Need, bool>,
}

impl Rights {
    /// Memberships of a principal, given the version of all grants.
    pub(super) fn memberships_of(
        &mut self,
        tables: &Tables,
        version: Option<u64>,
        principal: &Principal,
    ) -> Result<Arc<Memberships>, StateError> {
        Ok(Arc::clone(&self.known(tables, version, principal)?.standing))
    }

    /// Whether a principal has a permission, given the version of all grants.
    pub(super) fn is_allowed(
        &mut self,
        tables: &Tables,
        version: Option<u64>,
        principal: &Principal,
        need: &Need,
    ) -> Result<bool, StateError> {
        let known = self.known(tables, version, principal)?;
        if let Some(answer) = known.answers.get(need) {
            return Ok(*answer);
        }
        let standing = &known.standing;
        let answer = if need.for_any_one {
            is_allowed_anywhere(tables, standing, principal, need.resource_type, need.permission)?
        } else {
            is_allowed(tables, standing, principal, &need.access())?
        };
        if known.answers.len() >= ANSWERS_MAX {
            known.answers.clear();
        }
        known.answers.insert(need.clone(), answer);
        Ok(answer)
    }

    fn known(
        &mut self,
        tables: &Tables,
        version: Option<u64>,
        principal: &Principal,
    ) -> Result<&mut CachedRights, StateError> {
        if self.version != version {
            self.version = version;
            self.of.clear();
        }
        if !self.of.contains_key(principal) {
            if self.of.len() >= PRINCIPALS_MAX {
                self.of.clear();
            }
            let standing = Arc::new(Memberships::of(tables, principal)?);
            self.of.insert(principal.clone(), CachedRights { standing, answers: BTreeMap::new() });
        }
        Ok(self.of.get_mut(principal).expect("it was just put there"))
    }
}
