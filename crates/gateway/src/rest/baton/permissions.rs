//! `POST /baton/v1/permissions`: permissions of the caller, several questions at a time.

use protocol::{PermissionType, ResourceType};

use crate::rest::call::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::visible::ReadAuthorization;
use crate::rest::writer::object;

pub(super) async fn check(call: &Call<'_>) -> Result<Reply, Failure> {
    let sight = ReadAuthorization::of(call).await?;
    let checks = call.fields.value("checks");
    let mut out = Vec::with_capacity(1024);
    object(&mut out)
        .list("items", checks.as_array().into_iter().flatten(), |check, out| {
            let text = |name: &str| check[name].as_str();
            let resource = text("resourceType").and_then(ResourceType::from_name);
            let permission = text("permissionType").and_then(PermissionType::from_name);
            let (resource, permission) = resource.zip(permission).expect("the contract knows them all");
            let id = text("resourceId");
            let allowed = sight.as_ref().is_none_or(|sight| sight.may(resource, permission, id));
            let any = sight.as_ref().is_none_or(|sight| sight.may_some(resource, permission));
            object(out)
                .with("resourceType", resource.as_str())
                .with("permissionType", permission.as_str())
                .with("resourceId", id)
                .with("allowed", allowed)
                .with("any", any)
                .end();
        })
        .end();
    Ok(Reply::json(out))
}
