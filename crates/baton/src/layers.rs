//! Layers of what is known of a server: options of the command line, variables and a profile.
//!
//! Options come first. A profile that the command line names comes before variables, any other behind them.
//! Parts that belong together, such as a user name and a password, are taken of one layer.

use std::path::PathBuf;
use std::time::Duration;

use client::Protocol;

use crate::failure::Failure;
use crate::profiles::Profiles;
use crate::server_settings::ServerSettings;

/// How long a request may take unless told otherwise.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// The place of a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Options,
    Variables,
    Profile(String),
}

impl Origin {
    /// How a user names a setting there, `private_key` for instance.
    fn name(&self, setting: &str) -> String {
        match self {
            Self::Options => format!("--{}", setting.replace('_', "-")),
            Self::Variables => format!("BATON_{}", setting.to_uppercase()),
            Self::Profile(name) => format!("{setting} of the profile '{name}'"),
        }
    }
}

/// On whose behalf requests are made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Credentials {
    Token(String),
    Password { username: String, password: String },
}

/// The layers, the first of which counts.
#[derive(Debug)]
pub(crate) struct Layers(Vec<(Origin, ServerSettings)>);

impl Layers {
    /// Puts options over variables and a profile: the named one, that of BATON_PROFILE, or the default one.
    pub(crate) fn gather(options: ServerSettings, profile: Option<&str>) -> Result<Self, Failure> {
        let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        let variables = variables(variable);
        let profiles = Profiles::load()?;
        let (name, is_option) = match profile {
            Some(name) => (Some(name.to_owned()), true),
            None => (variable("BATON_PROFILE").or_else(|| profiles.default.clone()), false),
        };
        let profile = name.map(|name| profiles.get(&name).map(|found| (Origin::Profile(name), found)));
        Ok(Self::stack(options, variables, profile.transpose()?, is_option))
    }

    fn stack(
        options: ServerSettings,
        variables: ServerSettings,
        profile: Option<(Origin, ServerSettings)>,
        is_option: bool,
    ) -> Self {
        let mut layers = vec![(Origin::Options, options), (Origin::Variables, variables)];
        if let Some(profile) = profile {
            layers.insert(if is_option { 1 } else { 2 }, profile);
        }
        Self(layers)
    }

    /// A setting of the first layer that has it.
    pub(crate) fn first<T>(&self, get: impl Fn(&ServerSettings) -> Option<T>) -> Option<T> {
        self.0.iter().find_map(|(_, settings)| get(settings))
    }

    pub(crate) fn request_timeout(&self) -> Duration {
        self.first(|settings| settings.request_timeout).unwrap_or(REQUEST_TIMEOUT)
    }

    /// The protocol of the first layer with an address of one.
    pub(crate) fn protocol(&self) -> Protocol {
        let of = |settings: &ServerSettings| match (&settings.rest_address, &settings.grpc_address) {
            (Some(_), _) => Some(Protocol::Rest),
            (None, Some(_)) => Some(Protocol::Grpc),
            (None, None) => None,
        };
        self.first(of).unwrap_or_default()
    }

    /// The credentials of the first layer that names a user or has a token. A password alone names nobody: it
    /// belongs to a user name of another layer, or to nothing.
    pub(crate) fn credentials(&self) -> Result<Option<Credentials>, Failure> {
        let Some((origin, settings)) =
            self.0.iter().find(|(_, settings)| settings.username.is_some() || settings.token.is_some())
        else {
            return Ok(None);
        };
        match (&settings.username, &settings.token) {
            (Some(_), Some(_)) => {
                let [username, token] = ["username", "token"].map(|setting| origin.name(setting));
                Err(Failure::usage(format!(
                    "{username} and {token} are both set: a request is made by one of them"
                )))
            }
            (None, token) => Ok(token.clone().map(Credentials::Token)),
            (Some(username), None) => {
                let of_user = |other: &ServerSettings| {
                    let is_theirs = other.username.as_ref().is_none_or(|named| named == username);
                    other.password.clone().filter(|_| is_theirs)
                };
                let password = settings.password.clone().or_else(|| self.first(of_user));
                let password = password.unwrap_or_default();
                Ok(Some(Credentials::Password { username: username.clone(), password }))
            }
        }
    }

    /// The client certificate and its key, of the first layer that has one of them.
    pub(crate) fn certificate(&self) -> Result<Option<(PathBuf, PathBuf)>, Failure> {
        let Some((origin, settings)) = self
            .0
            .iter()
            .find(|(_, settings)| settings.certificate_chain.is_some() || settings.private_key.is_some())
        else {
            return Ok(None);
        };
        match (&settings.certificate_chain, &settings.private_key) {
            (Some(chain), Some(key)) => Ok(Some((chain.clone(), key.clone()))),
            (chain, _) => {
                let (there, missing) = match chain {
                    Some(_) => ("certificate_chain", "private_key"),
                    None => ("private_key", "certificate_chain"),
                };
                Err(Failure::usage(format!("{} needs {}, too", origin.name(there), origin.name(missing))))
            }
        }
    }
}

fn variables(variable: impl Fn(&str) -> Option<String>) -> ServerSettings {
    let path = |name| variable(name).map(PathBuf::from);
    ServerSettings {
        rest_address: variable("BATON_REST_ADDRESS"),
        grpc_address: variable("BATON_GRPC_ADDRESS"),
        management_address: variable("BATON_MANAGEMENT_ADDRESS"),
        username: variable("BATON_USERNAME"),
        password: variable("BATON_PASSWORD"),
        token: variable("BATON_TOKEN"),
        authorities: path("BATON_AUTHORITIES"),
        certificate_chain: path("BATON_CERTIFICATE_CHAIN"),
        private_key: path("BATON_PRIVATE_KEY"),
        request_timeout: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str, password: Option<&str>) -> ServerSettings {
        ServerSettings {
            username: Some(name.to_owned()),
            password: password.map(str::to_owned),
            ..ServerSettings::default()
        }
    }

    fn password(text: &str) -> ServerSettings {
        ServerSettings { password: Some(text.to_owned()), ..ServerSettings::default() }
    }

    fn at(address: &str) -> ServerSettings {
        ServerSettings { rest_address: Some(address.to_owned()), ..ServerSettings::default() }
    }

    fn profile(settings: ServerSettings) -> (Origin, ServerSettings) {
        (Origin::Profile("p".to_owned()), settings)
    }

    #[test]
    fn a_named_profile_comes_before_variables_and_any_other_behind() {
        let address = |options: ServerSettings, is_option| {
            let layers = Layers::stack(options, at("variable"), Some(profile(at("profile"))), is_option);
            layers.first(|settings| settings.rest_address.clone()).unwrap()
        };
        assert_eq!(address(at("option"), true), "option");
        assert_eq!(address(ServerSettings::default(), true), "profile");
        assert_eq!(address(ServerSettings::default(), false), "variable");
    }

    #[test]
    fn a_password_belongs_to_a_user() {
        let none = ServerSettings::default();
        let credentials =
            |options: &ServerSettings, variables: &ServerSettings, of_profile: ServerSettings| {
                Layers::stack(options.clone(), variables.clone(), Some(profile(of_profile)), false)
                    .credentials()
                    .unwrap()
            };
        let of = |username: &str, password: &str| {
            Some(Credentials::Password { username: username.to_owned(), password: password.to_owned() })
        };
        assert_eq!(credentials(&none, &password("x"), none.clone()), None, "a password alone is nobody");
        assert_eq!(credentials(&user("ann", None), &password("x"), none.clone()), of("ann", "x"));
        assert_eq!(credentials(&none, &password("x"), user("ann", Some("y"))), of("ann", "y"));
        assert_eq!(credentials(&user("ann", None), &none, user("ann", Some("y"))), of("ann", "y"));
        assert_eq!(credentials(&user("bob", None), &none, user("ann", Some("y"))), of("bob", ""));
    }

    #[test]
    fn contradictions_are_told_by_the_names_of_their_place() {
        let both = ServerSettings { token: Some("t".to_owned()), ..user("ann", None) };
        let none = ServerSettings::default;
        let failure = Layers::stack(none(), both, None, false).credentials().unwrap_err();
        assert!(failure.message().starts_with("BATON_USERNAME and BATON_TOKEN are both set"), "{failure:?}");
        let half = ServerSettings { private_key: Some("k".into()), ..none() };
        let failure = Layers::stack(half, none(), None, false).certificate().unwrap_err();
        assert_eq!(failure.message(), "--private-key needs --certificate-chain, too");
    }

    #[test]
    fn the_protocol_is_that_of_the_address() {
        let grpc = ServerSettings { grpc_address: Some("a".to_owned()), ..ServerSettings::default() };
        let none = ServerSettings::default;
        assert_eq!(Layers::stack(grpc.clone(), at("b"), None, false).protocol(), Protocol::Grpc);
        assert_eq!(Layers::stack(none(), grpc, None, false).protocol(), Protocol::Grpc);
        assert_eq!(Layers::stack(none(), none(), None, false).protocol(), Protocol::Rest);
    }
}
