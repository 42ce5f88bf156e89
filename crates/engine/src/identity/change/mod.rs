//! Changes who there is and what they may do.

mod authorization;
mod circle;
mod forget;
mod mapping_rule;
mod member;
mod saved_view;
mod set_up;
mod user;

use protocol::{IdentityCommand, Name, Rejection, Response, is_kept_in_paths, is_path_part};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::identity::has_administrator;

impl CommandContext<'_> {
    pub(crate) fn change_identity(&mut self, command: &IdentityCommand) -> Result<Response, Failure> {
        if let IdentityCommand::SavedView(command) = command {
            // A view changes no permission.
            return Ok(self.change_saved_view(command)?.map_or(Response::Done, Response::SavedView));
        }
        let mut response = Response::Done;
        // Before, too: data of an older release may be about to lose the only one.
        self.note_administrator()?;
        match command {
            IdentityCommand::SetUp => self.set_up_identity()?,
            IdentityCommand::CreateAdministrator(user) => {
                response = Response::User(self.create_administrator(user)?);
            }
            IdentityCommand::CreateUser(user) => response = Response::User(self.create_user(user)?),
            IdentityCommand::UpdateUser(change) => response = Response::User(self.update_user(change)?),
            IdentityCommand::DeleteUser { username } => self.delete_user(username)?,
            IdentityCommand::CreateMappingRule(rule) => self.create_mapping_rule(rule)?,
            IdentityCommand::UpdateMappingRule(rule) => self.update_mapping_rule(rule)?,
            IdentityCommand::DeleteMappingRule { id } => self.delete_mapping_rule(id)?,
            IdentityCommand::CreateCircle { kind, circle } => self.create_circle(*kind, circle)?,
            IdentityCommand::UpdateCircle { kind, circle } => self.update_circle(*kind, circle)?,
            IdentityCommand::DeleteCircle { kind, id } => self.delete_circle(*kind, id)?,
            IdentityCommand::AddMember(membership) => self.add_member(membership)?,
            IdentityCommand::RemoveMember(membership) => self.remove_member(membership)?,
            IdentityCommand::CreateAuthorization(authorization) => {
                let authorization_key = self.create_authorization(authorization)?;
                response = Response::AuthorizationCreated { authorization_key };
            }
            IdentityCommand::UpdateAuthorization { authorization_key, authorization } => {
                self.update_authorization(*authorization_key, authorization)?;
            }
            IdentityCommand::DeleteAuthorization { authorization_key } => {
                self.delete_authorization(*authorization_key)?;
            }
            IdentityCommand::SavedView(_) => unreachable!("it is done above"),
        }
        self.note_administrator()?;
        self.grants_changed();
        Ok(response)
    }

    /// Refuses the ID of a new entity that is not one part of a path as it stands.
    fn check_new_id(&self, noun: &str, id: &Name) -> Result<(), Failure> {
        if is_path_part(id) {
            return Ok(());
        }
        let id = self.options.cut_message(id);
        Err(Rejection::invalid_argument(format!(
            "Expected to create a {noun} whose ID is one part of a path, neither '.' nor '..' and without any of / \\ % ? #, \
             but it was '{id}'"
        ))
        .into())
    }

    /// Refuses the ID of an entity, which may be kept elsewhere, that is a step up a path.
    fn check_named_id(&self, purpose: &str, id: &Name) -> Result<(), Failure> {
        if is_kept_in_paths(id) {
            return Ok(());
        }
        let id = self.options.cut_message(id);
        Err(Rejection::invalid_argument(format!(
            "Expected to {purpose} whose ID has no part '.' or '..', but it was '{id}'"
        ))
        .into())
    }

    /// Closes the set-up of the first administrator for good once there is one, whoever named it.
    fn note_administrator(&mut self) -> Result<(), Failure> {
        if !self.meta.had_administrator {
            self.meta.had_administrator = has_administrator(self.tables)?;
        }
        Ok(())
    }

    /// Notes a change of grants: from here on, gateways' cached ones may be wrong.
    pub(super) fn grants_changed(&mut self) {
        self.meta.grants_version = Some(self.command_position);
    }
}
