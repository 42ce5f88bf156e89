//! Which tenants a request may name. Without multi-tenancy there is the default tenant only; with it, a request that
//! works on a tenant's data says which.

use protocol::DEFAULT_TENANT;

/// Whether requests name tenants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tenancy {
    /// Whether there are tenants beside the default one.
    pub is_enabled: bool,
}

impl Tenancy {
    /// Whether a request may name, or leave out, its tenant; else the reason.
    pub(crate) fn check(self, request: &str, tenant_id: Option<&str>) -> Result<(), String> {
        match tenant_id {
            None if self.is_enabled => Err(format!(
                "Expected to handle request {request} with a tenant identifier, but no tenant identifier was provided"
            )),
            Some(tenant_id) => self.check_named(request, tenant_id),
            None => Ok(()),
        }
    }

    /// Whether a request may name a tenant.
    pub(crate) fn check_named(self, request: &str, tenant_id: &str) -> Result<(), String> {
        if self.is_enabled || tenant_id == DEFAULT_TENANT {
            return Ok(());
        }
        Err(format!(
            "Expected to handle request {request} with tenant identifier '{tenant_id}', but multi-tenancy is disabled"
        ))
    }

    /// Whether a request for jobs may name, or leave out, its tenants.
    pub(crate) fn check_list<T: AsRef<str>>(self, request: &str, tenant_ids: &[T]) -> Result<(), String> {
        if tenant_ids.is_empty() && self.is_enabled {
            return Err(format!(
                "Expected to handle request {request} with tenant identifiers, but no tenant identifiers were provided"
            ));
        }
        tenant_ids.iter().try_for_each(|tenant_id| self.check_named(request, tenant_id.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_tenants_need_the_switch_and_with_it_one_must_be_named() {
        let (off, on) = (Tenancy::default(), Tenancy { is_enabled: true });
        assert_eq!(off.check("R", None), Ok(()));
        assert_eq!(off.check("R", Some("<default>")), Ok(()));
        assert_eq!(
            off.check("R", Some("t")).unwrap_err(),
            "Expected to handle request R with tenant identifier 't', but multi-tenancy is disabled"
        );
        assert_eq!(on.check("R", Some("t")), Ok(()));
        assert_eq!(
            on.check("R", None).unwrap_err(),
            "Expected to handle request R with a tenant identifier, but no tenant identifier was provided"
        );
        assert_eq!(off.check_list::<&str>("R", &[]), Ok(()));
        assert_eq!(on.check_list("R", &["a", "b"]), Ok(()));
        assert_eq!(
            off.check_list("R", &["<default>", "b"]).unwrap_err(),
            "Expected to handle request R with tenant identifier 'b', but multi-tenancy is disabled"
        );
        assert!(on.check_list::<&str>("R", &[]).is_err());
    }
}
