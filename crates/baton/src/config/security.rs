//! Interpretation of the sections about security.

use std::net::{IpAddr, SocketAddr};

use auth::{
    ClaimPath, ClientCertificates, ClientTls, CodeFlowSettings, OidcSettings, Origin, Origins, TlsFiles,
};
use gateway::Hosts;

use super::Config;
use super::server_tls::ServerTlsKeys;
use super::value::{AuthenticationMethod, ClientCertificateMode, ListenAddress, Text};

/// A port for clients.
pub(crate) struct ClientPort<'a> {
    /// Section of its settings.
    pub(crate) section: &'static str,
    pub(crate) listen: &'a ListenAddress,
    pub(crate) asks_for_credentials: bool,
}

/// Whether only programs of this machine reach an address.
pub(crate) fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

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

    /// The names that browsers may call a port by. A page may have the name of its own site lead here, whatever
    /// address the port is bound to; credentials keep it out.
    pub(crate) fn hosts(&self, has_authentication: bool) -> Hosts {
        if self.security.allowed_hosts.0.is_empty() && has_authentication {
            return Hosts::Any;
        }
        self.own_hosts()
    }

    /// The names of this server.
    pub(crate) fn own_hosts(&self) -> Hosts {
        let listens = [self.rest.listen.name(), self.management.listen.name()];
        let advertised = self.cluster.advertised_host.0.as_str();
        let allowed = self.security.allowed_hosts.0.iter().map(String::as_str);
        Hosts::only(allowed.chain([advertised]).chain(listens.into_iter().flatten()))
    }

    /// Whether requests at the management port name their sender, probes and metrics aside.
    pub(crate) fn has_management_authentication(&self) -> bool {
        self.management.gate.authentication.unwrap_or_else(|| self.has_authentication())
    }

    /// The ports for clients: the section of their settings, where they listen, and whether nobody gets through
    /// without credentials, certificates included.
    pub(crate) fn client_ports(&self) -> [ClientPort<'_>; 3] {
        let port = |section, listen, asks, tls: &ServerTlsKeys| {
            let asks_for_credentials = asks || tls.client_certificates == ClientCertificateMode::Required;
            ClientPort { section, listen, asks_for_credentials }
        };
        let asks = self.has_authentication();
        [
            port("rest", &self.rest.listen, asks, &self.rest_tls.keys),
            port("grpc", &self.grpc.listen, asks, &self.grpc_tls.keys),
            port(
                "management",
                &self.management.listen,
                self.has_management_authentication(),
                &self.management_tls.keys,
            ),
        ]
    }

    /// Whether a port may listen on an address.
    pub(crate) fn check_address(&self, port: &ClientPort<'_>, address: IpAddr) -> Result<(), String> {
        if is_loopback(address) || port.asks_for_credentials || self.security.entrance.open {
            return Ok(());
        }
        let ClientPort { section, listen, .. } = port;
        let listen = listen.as_str();
        let need = if *section == "management" && self.has_authentication() {
            "leave 'management.authentication' on"
        } else {
            "set 'security.authentication.method'"
        };
        Err(format!(
            "'{section}.listen': {listen} is no loopback address, and the port asks for no credentials; {need}, or \
             let everybody who reaches the port do everything with 'security.open' (--open)"
        ))
    }

    pub(super) fn contradictions_of_security(&self) -> Vec<String> {
        let method = self.security_authentication.method;
        let mut wrong = Vec::new();
        for tls in [self.tls_of_rest(), self.tls_of_grpc(), self.tls_of_management()] {
            wrong.extend(tls.err());
        }
        wrong.extend(self.allowed_origins().err());
        for (key, origins) in
            [("frame_ancestors", &self.web.frame_ancestors), ("image_origins", &self.web.image_origins)]
        {
            if let Some(origin) = origins.0.iter().find(|text| Origin::parse(text).is_none()) {
                wrong
                    .push(format!("'web.{key}': '{origin}' is no origin such as https://portal.example.com"));
            }
        }
        if let Some(host) = self.security.allowed_hosts.0.iter().find(|host| host.contains([':', '/', '*'])) {
            wrong.push(format!("'security.allowed_hosts': '{host}' is no name of a host without a port"));
        }
        if method == AuthenticationMethod::Oidc {
            wrong.extend(self.open_id_connect().err());
        }
        // The addresses of names are known when a port is bound.
        for port in self.client_ports() {
            if let Ok(address) = port.listen.as_str().parse::<SocketAddr>() {
                wrong.extend(self.check_address(&port, address.ip()).err());
            }
        }
        if method == AuthenticationMethod::None {
            for (is_on, key) in [
                (self.security.authorizations, "security.authorizations"),
                (self.management.gate.authentication == Some(true), "management.authentication"),
            ] {
                if is_on {
                    wrong.push(format!("'{key}' needs 'security.authentication.method' other than none"));
                }
            }
        }
        wrong
    }
}
