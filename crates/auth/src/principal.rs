//! The principal of a request.

use serde_json::{Map, Value};

/// The name behind a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Identity {
    /// No principal in particular: authentication is off.
    Anonymous,
    /// A person, by user name.
    User(String),
    /// A program, by client ID.
    Client(String),
}

/// The principal of a request, with the claims of its credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The name.
    pub identity: Identity,
    /// Groups that the issuer of a token vouches for. Members of groups that Baton itself keeps are not known here.
    pub groups: Vec<String>,
    /// All claims of a token, for mapping rules. Empty otherwise.
    pub claims: Map<String, Value>,
}

impl Principal {
    /// No principal in particular.
    pub fn anonymous() -> Self {
        Self::new(Identity::Anonymous)
    }

    /// A user whom only its name is known of.
    pub fn user(name: impl Into<String>) -> Self {
        Self::new(Identity::User(name.into()))
    }

    fn new(identity: Identity) -> Self {
        Self { identity, groups: vec![], claims: Map::new() }
    }

    /// The user name, if a user is asking.
    pub fn user_name(&self) -> Option<&str> {
        match &self.identity {
            Identity::User(name) => Some(name),
            Identity::Anonymous | Identity::Client(_) => None,
        }
    }

    /// The client ID, if a client is asking.
    pub fn client_id(&self) -> Option<&str> {
        match &self.identity {
            Identity::Client(id) => Some(id),
            Identity::Anonymous | Identity::User(_) => None,
        }
    }
}
