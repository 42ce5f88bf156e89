//! Operations that take a permission for themselves: neither the engine nor the rows that they show can check it.

use protocol::{PermissionType as P, ResourceType as R};

use super::{ReadAuthorization, forbidden};
use crate::rest::call::Call;
use crate::rest::contract::Operation;
use crate::rest::problem::Failure;
use crate::rest::problem_code::Code;

impl Call<'_> {
    /// Refuses to put something before others on behalf of somebody without any permission.
    pub(in crate::rest) async fn check_sharing(&self) -> Result<(), Failure> {
        let sight = ReadAuthorization::of(self).await?;
        if sight.is_none_or(|sight| sight.may_anything()) {
            return Ok(());
        }
        let detail = "Sharing a view takes a permission of any kind";
        Err(Failure::new(Code::Forbidden, detail))
    }

    /// Refuses an operation that whoever asks may not have, and one for a tenant that it is not assigned to.
    pub(in crate::rest) async fn check_operation(&self) -> Result<(), Failure> {
        let needed = self.operation.checks().permissions;
        // The tenant of a scope is that of its instance, which is looked at by itself.
        let names_tenant = self.operation == Operation::EvaluateExpression
            && (self.fields.text("tenantId").is_some() || self.fields.text("scopeKey").is_none());
        if needed.is_empty() && !names_tenant {
            return Ok(());
        }
        let Some(sight) = ReadAuthorization::of(self).await? else { return Ok(()) };
        if let Some((resource, permission)) = needed.first()
            && !needed.iter().any(|(resource, permission)| sight.may(*resource, *permission, None))
        {
            return Err(forbidden(*resource, *permission));
        }
        if names_tenant && !sight.is_of_tenant(&self.fields.tenant()) {
            return Err(forbidden(R::Expression, P::Evaluate));
        }
        Ok(())
    }
}
