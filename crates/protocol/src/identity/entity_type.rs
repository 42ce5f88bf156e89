//! Types of entities that belong to others.

use minicbor::{Decode, Encode};

use crate::intent::named;

named! {
    /// Types of members and of owners of authorizations. Clients exist without being created.
    EntityType {
        User = 0 "USER", Client = 1 "CLIENT", Group = 2 "GROUP", Role = 3 "ROLE", MappingRule = 4 "MAPPING_RULE",
    }
}
