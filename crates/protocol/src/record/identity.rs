//! Records of who there is and what they may do. A password's hash is in none of them.

use minicbor::{Decode, Encode};
use serde::Serialize;

use super::field::member_type;
use crate::{Key, Name};

records! {
    UserRecord { 0 user_key: Key, 1 username: Name, 2 name: Name, 3 email: Name }
    /// A group; the entity is set when a member comes or goes.
    GroupRecord {
        0 group_key: Key, 1 group_id: Name, 2 name: Name, 3 description: Name, 4 entity_id: Name,
        5 #[serde(serialize_with = "member_type")] entity_type: Name,
    }
    /// A role; the entity is set when a member comes or goes.
    RoleRecord {
        0 role_key: Key, 1 role_id: Name, 2 name: Name, 3 description: Name, 4 entity_id: Name,
        5 #[serde(serialize_with = "member_type")] entity_type: Name,
    }
    /// A tenant; the entity is set when a member comes or goes.
    TenantRecord {
        0 tenant_key: Key, 1 tenant_id: Name, 2 name: Name, 3 description: Name, 4 entity_id: Name,
        5 #[serde(serialize_with = "member_type")] entity_type: Name,
    }
    MappingRuleRecord {
        0 mapping_rule_key: Key, 1 mapping_rule_id: Name, 2 claim_name: Name, 3 claim_value: Name, 4 name: Name,
    }
    AuthorizationRecord {
        0 authorization_key: Key, 1 owner_type: Name, 2 owner_id: Name, 3 resource_type: Name, 4 resource_matcher: Name,
        5 resource_id: Name, 6 resource_property_name: Name, 7 permission_types: Vec<Name>,
    }
}
