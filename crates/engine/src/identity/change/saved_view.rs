//! Lists that a user saves with their filters. The owner alone changes them.

use std::sync::Arc;

use protocol::{Key, Name, Rejection, RejectionType, SavedView, SavedViewCommand};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::identity::row::StoredView;

impl CommandContext<'_> {
    /// The view as it is then, unless it was deleted.
    pub(super) fn change_saved_view(
        &mut self,
        command: &SavedViewCommand,
    ) -> Result<Option<SavedView>, Failure> {
        match command {
            SavedViewCommand::Create(view) => {
                let owned = (view.owner.0.clone(), 0)..=(view.owner.0.clone(), Key::MAX);
                let count = self.tables.view_by_owner.keys(owned, SavedView::OF_OWNER_MAX)?.len();
                check_room(count, SavedView::OF_OWNER_MAX, "of one owner")?;
                self.check_shared(view, false)?;
                let view = SavedView { key: self.next_key(), ..view.clone() };
                self.tables.view_by_owner.put((view.owner.0.clone(), view.key), ());
                self.store_view(view.clone());
                Ok(Some(view))
            }
            SavedViewCommand::Update(view) => {
                let before = self.own_view(view.key, &view.owner, "update")?;
                self.check_shared(view, before.is_shared)?;
                self.store_view(view.clone());
                Ok(Some(view.clone()))
            }
            SavedViewCommand::Delete { key, owner } => {
                self.own_view(*key, owner, "delete")?;
                self.remove_view(*key, &owner.0);
                Ok(None)
            }
        }
    }

    /// Deletes all views of a user who was deleted: a later user of that name does not find them.
    pub(super) fn forget_views(&mut self, owner: &Name) -> Result<(), Failure> {
        let owned = (owner.0.clone(), 0)..=(owner.0.clone(), Key::MAX);
        for (_, key) in self.tables.view_by_owner.keys(owned, SavedView::OF_OWNER_MAX)? {
            self.remove_view(key, &owner.0);
        }
        Ok(())
    }

    fn store_view(&mut self, view: SavedView) {
        if view.is_shared {
            self.tables.shared_views.put(view.key, ());
        } else {
            self.tables.shared_views.delete(&view.key);
        }
        self.tables.views.put(view.key, StoredView { view });
    }

    fn remove_view(&mut self, key: Key, owner: &Arc<str>) {
        self.tables.views.delete(&key);
        self.tables.view_by_owner.delete(&(Arc::clone(owner), key));
        self.tables.shared_views.delete(&key);
    }

    /// Whether there is room for one more that is shared.
    fn check_shared(&self, view: &SavedView, is_shared_already: bool) -> Result<(), Failure> {
        if !view.is_shared || is_shared_already {
            return Ok(());
        }
        let count = self.tables.shared_views.keys(.., SavedView::SHARED_MAX)?.len();
        check_room(count, SavedView::SHARED_MAX, "that are shared")?;
        // Without authentication there is one owner.
        if view.owner.is_empty() {
            return Ok(());
        }
        let owned = (view.owner.0.clone(), 0)..=(view.owner.0.clone(), Key::MAX);
        let mut shared = 0;
        for (_, key) in self.tables.view_by_owner.keys(owned, SavedView::OF_OWNER_MAX)? {
            shared += usize::from(self.tables.shared_views.get(&key)?.is_some());
        }
        check_room(shared, SavedView::SHARED_OF_OWNER_MAX, "that one owner shares")
    }

    /// A view of the owner. A private view of another owner is as good as none.
    fn own_view(&self, key: Key, owner: &Name, purpose: &str) -> Result<SavedView, Failure> {
        let stored = self.tables.views.get(&key)?.map(|stored| stored.view.clone());
        match stored {
            Some(view) if view.owner == *owner => Ok(view),
            Some(view) if view.is_shared => {
                let reason =
                    format!("Expected to {purpose} the view '{key}', but it belongs to somebody else");
                Err(Rejection::new(RejectionType::Forbidden, reason).into())
            }
            _ => {
                let reason = format!("Expected to {purpose} the view '{key}', but there is no such view");
                Err(Rejection::not_found(reason).into())
            }
        }
    }
}

fn check_room(count: usize, max: usize, which: &str) -> Result<(), Failure> {
    if count < max {
        return Ok(());
    }
    let reason = format!("Expected at most {max} views {which}, but there are as many already");
    Err(Rejection::new(RejectionType::InvalidState, reason).into())
}
