//! A cache of authorizations, until any of them changes. Nothing is decided here that the tables
//! do not say: without it, commands would only take longer.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::Principal;
use state::StateError;

use super::Need;
use crate::core::context::CommandContext;
use crate::identity::{Memberships, is_allowed, is_allowed_anywhere};

/// Principals that are remembered.
const PRINCIPALS_MAX: usize = 1000;
/// Answers that are remembered of one of them.
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

impl CommandContext<'_> {
    pub(super) fn memberships_of(&mut self, principal: &Principal) -> Result<Arc<Memberships>, StateError> {
        Ok(Arc::clone(&self.known(principal)?.standing))
    }

    /// Whether somebody may do something.
    pub(super) fn is_allowed(&mut self, principal: &Principal, need: &Need) -> Result<bool, StateError> {
        let known = self.known(principal)?;
        if let Some(answer) = known.answers.get(need) {
            return Ok(*answer);
        }
        let standing = Arc::clone(&known.standing);
        let answer = if need.for_any_one {
            is_allowed_anywhere(self.tables, &standing, principal, need.resource_type, need.permission)?
        } else {
            is_allowed(self.tables, &standing, principal, &need.access())?
        };
        let known = self.known(principal)?;
        if known.answers.len() >= ANSWERS_MAX {
            known.answers.clear();
        }
        known.answers.insert(need.clone(), answer);
        Ok(answer)
    }

    fn known(&mut self, principal: &Principal) -> Result<&mut CachedRights, StateError> {
        if self.rights.version != self.meta.grants_version {
            self.rights.version = self.meta.grants_version;
            self.rights.of.clear();
        }
        if !self.rights.of.contains_key(principal) {
            if self.rights.of.len() >= PRINCIPALS_MAX {
                self.rights.of.clear();
            }
            let standing = Arc::new(Memberships::of(self.tables, principal)?);
            self.rights.of.insert(principal.clone(), CachedRights { standing, answers: BTreeMap::new() });
        }
        Ok(self.rights.of.get_mut(principal).expect("it was just put there"))
    }
}
