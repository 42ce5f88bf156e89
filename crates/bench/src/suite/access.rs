//! The ways in which a server may know who asks: not at all, by password, by token.

use base64::{Engine, prelude::BASE64_STANDARD as BASE64};

use super::issuer::Issuer;
use crate::Error;

const USER: &str = "bench";
/// May deploy and create instances, and nothing else.
const IDENTITIES: &str = "\
users:
  - { username: bench, password: bench }
authorizations:
  - { owner_type: USER, owner_id: bench, resource_type: RESOURCE, resource_id: '*', permissions: [CREATE] }
  - { owner_type: USER, owner_id: bench, resource_type: PROCESS_DEFINITION, resource_id: '*', permissions: [CREATE_PROCESS_INSTANCE] }
";

/// All ways, with what a server needs for them, as long as this lives.
pub struct AccessWays {
    _folder: tempfile::TempDir,
    _issuer: Issuer,
    /// The ways, the cheapest first.
    pub ways: [AccessWay; 3],
}

/// One way.
pub struct AccessWay {
    /// Such as `Basic`.
    pub name: &'static str,
    /// Settings of the server, `key=value`.
    pub settings: Vec<String>,
    /// Value of the header of requests.
    pub authorization: Option<String>,
}

impl AccessWays {
    /// Starts an issuer of tokens, and writes the user to a folder of its own below `scratch`.
    pub async fn start(scratch: &std::path::Path) -> Result<Self, Error> {
        let folder = tempfile::tempdir_in(scratch).map_err(Error::file(scratch))?;
        let identities = folder.path().join("identities.yaml");
        std::fs::write(&identities, IDENTITIES).map_err(Error::file(&identities))?;
        let issuer = Issuer::start().await?;
        let checked = |method: &str| {
            vec![
                format!("security.authentication.method={method}"),
                "security.authorizations=true".to_owned(),
                "management.authentication=false".to_owned(),
                format!("security.initialization={}", identities.display()),
            ]
        };
        let mut oidc = checked("oidc");
        oidc.push(format!("security.authentication.oidc.issuer={}", issuer.url()));
        let ways = [
            AccessWay { name: "nobody is asked", settings: Vec::new(), authorization: None },
            AccessWay {
                name: "Basic",
                settings: checked("basic"),
                authorization: Some(format!("Basic {}", BASE64.encode(format!("{USER}:bench")))),
            },
            AccessWay {
                name: "OIDC",
                settings: oidc,
                authorization: Some(format!("Bearer {}", issuer.token(USER)?)),
            },
        ];
        Ok(Self { _folder: folder, _issuer: issuer, ways })
    }
}
