//! Saved views: lists with their filters.

#![expect(missing_docs, reason = "names say what is held")]

use minicbor::{Decode, Encode};

use crate::{Key, Name};

/// See [`crate::IdentityCommand::SavedView`].
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum SavedViewCommand {
    /// The key is given by the engine.
    #[n(0)]
    Create(#[n(0)] SavedView),
    /// Replaces one of the same owner.
    #[n(1)]
    Update(#[n(0)] SavedView),
    /// Deletes one of this owner.
    #[n(2)]
    Delete {
        #[n(0)]
        key: Key,
        #[n(1)]
        owner: Name,
    },
}

/// A list with its filters.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct SavedView {
    #[n(0)]
    pub key: Key,
    /// Kind and name of the principal that saved it, with a colon between; empty without authentication.
    #[n(1)]
    pub owner: Name,
    #[n(2)]
    pub name: Name,
    /// Path of the page.
    #[n(3)]
    pub page: Name,
    /// Query of the page.
    #[n(4)]
    pub query: Name,
    /// Whether others see it, too.
    #[n(5)]
    pub is_shared: bool,
    /// Tenants of the owner when it was saved, whose members see it if it is shared; without them, everybody does.
    #[n(6)]
    pub tenant_ids: Option<Vec<Name>>,
}

impl SavedView {
    /// Views of one owner.
    pub const OF_OWNER_MAX: usize = 200;
    /// Views that are shared.
    pub const SHARED_MAX: usize = 1_000;
    /// Views that one owner shares. Everybody is shown them with each list.
    pub const SHARED_OF_OWNER_MAX: usize = 20;

    /// The owner of a user's views.
    pub fn owner_of_user(username: &str) -> Name {
        Name::from(format!("USER:{username}"))
    }
}
