//! Interpretation of the sections about security.

use auth::{
    ClaimPath, ClientCertificates, ClientTls, CodeFlowSettings, OidcSettings, Origin, Origins, TlsFiles,
};
use gateway::Hosts;

use super::Config;
use super::server_tls::ServerTlsKeys;
use super::value::{AuthenticationMethod, ClientCertificateMode, Text};

/// A section about the TLS of a port.
struct TlsSection<'a> {
    name: &'static str,
    keys: &'a ServerTlsKeys,
}

impl TlsSection<'_> {
    /// The files, if there shall be TLS.
    fn files(&self) -> Result<Option<TlsFiles>, String> {
        let name = self.name;
        let clients = match (self.keys.client_certificates, &self.keys.client_authorities) {
            (ClientCertificateMode::None, None) => None,
            (ClientCertificateMode::Optional, Some(path)) => Some(ClientCertificates::Optional(path.clone())),
            (ClientCertificateMode::Required, Some(path)) => Some(ClientCertificates::Required(path.clone())),
            (ClientCertificateMode::None, Some(_)) => {
                return Err(format!(
                    "'{name}.client_authorities' needs '{name}.client_certificates' other than none"
                ));
            }
            (_, None) => {
                return Err(format!("'{name}.client_certificates' needs '{name}.client_authorities'"));
            }
        };
        match (&self.keys.certificate_chain, &self.keys.private_key) {
            (Some(chain), Some(key)) => {
                Ok(Some(TlsFiles { certificate_chain: chain.clone(), private_key: key.clone(), clients }))
            }
            (None, None) if clients.is_none() => Ok(None),
            (Some(_), None) => Err(format!("'{name}.certificate_chain' needs '{name}.private_key'")),
            (None, _) => Err(format!("'{name}' needs '{name}.certificate_chain'")),
        }
    }
}

impl Config {
    /// Whether requests name their sender.
    pub(crate) fn has_authentication(&self) -> bool {
        self.security_authentication.method != AuthenticationMethod::None
    }

    /// The TLS of the REST API.
    pub(crate) fn tls_of_rest(&self) -> Result<Option<TlsFiles>, String> {
        TlsSection { name: "rest.tls", keys: &self.rest_tls.keys }.files()
    }

    /// The TLS of the gRPC API.
    pub(crate) fn tls_of_grpc(&self) -> Result<Option<TlsFiles>, String> {
        TlsSection { name: "grpc.tls", keys: &self.grpc_tls.keys }.files()
    }

    /// The TLS of the management port.
    pub(crate) fn tls_of_management(&self) -> Result<Option<TlsFiles>, String> {
        TlsSection { name: "management.tls", keys: &self.management_tls.keys }.files()
    }

    /// Which tokens are accepted.
    pub(crate) fn open_id_connect(&self) -> Result<OidcSettings, String> {
        let section = &self.security_oidc;
        let key = |name| format!("security.authentication.oidc.{name}");
        let issuer = section
            .issuer
            .as_ref()
            .ok_or_else(|| format!("'security.authentication.method' oidc needs '{}'", key("issuer")))?;
        let claim =
            |name, path: &str| ClaimPath::parse(path).map_err(|error| format!("'{}': {error}", key(name)));
        let settings = OidcSettings {
            keys_url: section.keys_url.as_ref().map(|url| url.0.clone()),
            audiences: section.audiences.0.clone(),
            authorized_parties: section.authorized_parties.0.clone(),
            clock_skew: section.clock_skew,
            user_name: claim("username_claim", &section.username_claim.0)?,
            client_id: section
                .client_id_claim
                .as_ref()
                .map(|path| claim("client_id_claim", &path.0))
                .transpose()?,
            prefer_user_name: section.prefer_username_claim,
            groups: section.groups_claim.as_ref().map(|path| claim("groups_claim", &path.0)).transpose()?,
            keys_age_max: section.keys_max_age,
            tls: ClientTls { authorities: section.authorities.clone(), ..ClientTls::default() },
            code_flow: self.code_flow()?,
            ..OidcSettings::new(&issuer.0)
        };
        Ok(settings)
    }

    /// The client that people sign in by.
    fn code_flow(&self) -> Result<Option<CodeFlowSettings>, String> {
        let section = &self.security_oidc;
        let text = |text: &Option<Text>| text.as_ref().map(|text| text.0.clone());
        let Some(client_id) = text(&section.client_id) else {
            let needless = [
                (section.client_secret.0.is_empty(), "client_secret"),
                (section.redirect_uri.is_none(), "redirect_uri"),
                (section.post_logout_redirect_uri.is_none(), "post_logout_redirect_uri"),
            ];
            let needless = needless.iter().find(|(is_absent, _)| !is_absent);
            return needless.map_or(Ok(None), |(_, key)| {
                let oidc = "security.authentication.oidc";
                Err(format!("'{oidc}.{key}' needs '{oidc}.client_id'"))
            });
        };
        Ok(Some(CodeFlowSettings {
            client_id,
            client_secret: Some(section.client_secret.0.clone()).filter(|secret| !secret.is_empty()),
            redirect_uri: text(&section.redirect_uri),
            scopes: section.scopes.0.clone(),
            post_logout_redirect_uri: text(&section.post_logout_redirect_uri),
        }))
    }

    /// Origins with the rights of the server's own pages.
    pub(crate) fn allowed_origins(&self) -> Result<Origins, String> {
        let read = |text: &String| {
            Origin::parse(text).ok_or_else(|| {
                format!("'security.allowed_origins': '{text}' is no origin such as https://desk.example.com")
            })
        };
        self.security.allowed_origins.0.iter().map(read).collect::<Result<_, _>>().map(Origins)
    }

    /// The names that a port may be called by, which is bound to loopback or not.
    pub(crate) fn hosts(&self, is_loopback: bool, has_authentication: bool) -> Hosts {
        let allowed = &self.security.allowed_hosts.0;
        if allowed.is_empty() && (!is_loopback || has_authentication) {
            return Hosts::Any;
        }
        Hosts::Only(allowed.iter().map(|name| name.to_ascii_lowercase()).collect())
    }

    pub(super) fn contradictions_of_security(&self) -> Vec<String> {
        let method = self.security_authentication.method;
        let mut wrong = Vec::new();
        for tls in [self.tls_of_rest(), self.tls_of_grpc(), self.tls_of_management()] {
            wrong.extend(tls.err());
        }
        wrong.extend(self.allowed_origins().err());
        if let Some(origin) = self.web.frame_ancestors.0.iter().find(|text| Origin::parse(text).is_none()) {
            wrong.push(format!(
                "'web.frame_ancestors': '{origin}' is no origin such as https://portal.example.com"
            ));
        }
        if let Some(host) = self.security.allowed_hosts.0.iter().find(|host| host.contains([':', '/', '*'])) {
            wrong.push(format!("'security.allowed_hosts': '{host}' is no name of a host without a port"));
        }
        if method == AuthenticationMethod::Oidc {
            wrong.extend(self.open_id_connect().err());
        }
        if method == AuthenticationMethod::None {
            for (is_on, key) in [
                (self.security.authorizations, "security.authorizations"),
                (self.management.authentication, "management.authentication"),
            ] {
                if is_on {
                    wrong.push(format!("'{key}' needs 'security.authentication.method' other than none"));
                }
            }
        }
        wrong
    }
}
