//! Users.

use protocol::{EntityType, Intent, Key, Name, Rejection, SavedView, User, UserChange, UserRecord, UserView};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::identity::Forgotten;
use crate::identity::row::StoredUser;

impl CommandContext<'_> {
    pub(super) fn create_user(&mut self, user: &User) -> Result<UserView, Failure> {
        let username = &user.username;
        self.check_new_id("user", username)?;
        if self.tables.users.contains(&username.0)? {
            return Err(Rejection::already_exists(format!(
                "Expected to create a user with username '{username}', but there is one already"
            ))
            .into());
        }
        self.check_forgotten(&Forgotten::entity(EntityType::User, username))?;
        let key = self.next_key();
        Ok(self.store_user(key, Intent::Created, user.clone()))
    }

    pub(super) fn update_user(&mut self, change: &UserChange) -> Result<UserView, Failure> {
        let stored = self.find_user(&change.username, "update")?;
        let UserChange { name, email, password_hash, .. } = change.clone();
        let mut user = stored.user;
        user.name = name.unwrap_or(user.name);
        user.email = email.unwrap_or(user.email);
        user.password_hash = password_hash.unwrap_or(user.password_hash);
        Ok(self.store_user(stored.key, Intent::Updated, user))
    }

    pub(super) fn delete_user(&mut self, username: &Name) -> Result<(), Failure> {
        let stored = self.find_user(username, "delete")?;
        self.tables.users.delete(&username.0);
        self.record_user(stored.key, Intent::Deleted, &stored.user);
        self.forget(Forgotten::entity(EntityType::User, username));
        self.forget_views(&SavedView::owner_of_user(username))
    }

    fn find_user(&self, username: &Name, purpose: &str) -> Result<StoredUser, Failure> {
        let stored = self.tables.users.get(&username.0)?.ok_or_else(|| {
            Rejection::not_found(format!(
                "Expected to {purpose} the user with username '{username}', but there is no such user"
            ))
        })?;
        Ok((*stored).clone())
    }

    fn store_user(&mut self, key: Key, intent: Intent, user: User) -> UserView {
        self.record_user(key, intent, &user);
        let view =
            UserView { username: user.username.clone(), name: user.name.clone(), email: user.email.clone() };
        self.tables.users.put(user.username.0.clone(), StoredUser { key, user });
        view
    }

    fn record_user(&mut self, key: Key, intent: Intent, user: &User) {
        self.emit(key, intent, |_| UserRecord {
            user_key: key,
            username: user.username.clone(),
            name: user.name.clone(),
            email: user.email.clone(),
        });
    }
}
