//! The configuration: a YAML file, `BATON_*` variables and flags, later ones winning, checked as a whole before
//! anything starts.
//!
//! [`sections`] declares every key once; [`load`] brings the layers together. [`file`] reads the file, [`value`]
//! the text form of each type, [`source`] says where a setting came from, [`text`] prints the commented default
//! file.
//!
//! Nothing here knows what the settings do; `start` hands them to the parts of the server.

mod broker_addresses;
mod built_in;
mod cluster;
mod contradictions;
mod directories;
mod document_stores;
mod documents;
mod entrance;
mod file;
mod identity;
mod job_credits;
mod listeners;
#[cfg(feature = "opensearch")]
mod opensearch;
mod peer_proof;
mod peer_secret;
mod resolved_stores;
mod retention;
mod schema;
mod secret;
mod sections;
mod security;
mod server_tls;
mod shared;
mod source;
mod spread;
mod text;
mod value;

use std::ffi::OsString;
use std::path::Path;

pub(crate) use cluster::PeerTlsFiles;
pub(crate) use identity::Identities;
pub use sections::{Config, Tracing};
pub(crate) use security::{ClientPort, is_loopback};
pub use source::ConfigError;
pub(crate) use source::did_you_mean;
use source::{Entries, Entry, Origin, Problem};
pub use text::default_file;
pub(crate) use value::Setting;
pub use value::{Algorithm, AuthenticationMethod, Compression, LogFormat, Overflow, StorageKind};

/// Variables of the same prefix that are not settings of the server: what commands use to reach one, and the file
/// itself.
const OTHER_VARIABLES: [&str; 12] = [
    "BATON_CONFIG",
    "BATON_REST_ADDRESS",
    "BATON_GRPC_ADDRESS",
    "BATON_MANAGEMENT_ADDRESS",
    "BATON_USERNAME",
    "BATON_AUTHORITIES",
    "BATON_CERTIFICATE_CHAIN",
    "BATON_PRIVATE_KEY",
    "BATON_PASSWORD",
    "BATON_TOKEN",
    "BATON_PROFILE",
    "BATON_ENDS_WITH_PARENT",
];
const PREFIX: &str = "BATON_";

/// A setting from the command line: the flag as the user wrote it, the key it sets, the value.
pub type FlagSetting = (String, String, String);

/// Brings the layers together. Everything that is wrong is told at once.
pub fn load(
    path: Option<&Path>,
    variables: impl IntoIterator<Item = (OsString, OsString)>,
    flags: Vec<FlagSetting>,
) -> Result<Config, ConfigError> {
    let mut entries = match path {
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|error| {
                let origin = Origin::File { path: path.to_owned(), line: 0, column: 0 };
                ConfigError { problems: vec![Problem::at(origin, format!("cannot be read: {error}"))] }
            })?;
            file::read(path, &text)?
        }
        None => Entries::new(),
    };
    let known: Vec<String> =
        Config::describe().into_iter().flat_map(|section| section.keys).map(|key| key.path).collect();
    let mut problems = Vec::new();
    read_variables(variables, &known, &mut entries, &mut problems);
    for (flag, key, text) in flags {
        entries.insert(key, Entry { text, origin: Origin::Flag(flag) });
    }

    let mut config = Config::default();
    for (key, entry) in &entries {
        match config.set(key, entry) {
            Some(Ok(())) => {}
            Some(Err(problem)) => problems.push(problem),
            None => {
                let hint = did_you_mean(key, known.iter().map(String::as_str));
                problems.push(Problem::at(entry.origin.clone(), format!("there is no key '{key}'{hint}")));
            }
        }
    }
    if problems.is_empty() {
        problems.extend(config.contradictions().into_iter().map(|reason| Problem { origin: None, reason }));
    }
    if problems.is_empty() { Ok(config) } else { Err(ConfigError { problems }) }
}

fn read_variables(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
    known: &[String],
    entries: &mut Entries,
    problems: &mut Vec<Problem>,
) {
    let names: Vec<(String, &String)> = known.iter().map(|key| (variable_of(key), key)).collect();
    let mut ours: Vec<_> = variables
        .into_iter()
        .filter_map(|(name, text)| Some((name.into_string().ok()?, text)))
        .filter(|(name, _)| name.starts_with(PREFIX) && !OTHER_VARIABLES.contains(&name.as_str()))
        .collect();
    ours.sort();
    for (name, text) in ours {
        let origin = Origin::Variable(name.clone());
        let Some((_, key)) = names.iter().find(|(known, _)| *known == name) else {
            let hint = did_you_mean(&name, names.iter().map(|(name, _)| name.as_str()));
            problems.push(Problem::at(origin, format!("there is no such setting{hint}")));
            continue;
        };
        match text.into_string() {
            Ok(text) => drop(entries.insert((*key).clone(), Entry { text, origin })),
            Err(_) => problems.push(Problem::at(origin, "its value is not UTF-8")),
        }
    }
}

fn variable_of(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', "_").to_uppercase())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::io::Write;
    use std::time::Duration;

    use super::value::Size;
    use super::*;

    pub(super) fn with(
        file: &str,
        variables: &[(&str, &str)],
        flags: &[(&str, &str, &str)],
    ) -> Result<Config, ConfigError> {
        let mut on_disk = tempfile::NamedTempFile::new().unwrap();
        on_disk.write_all(file.as_bytes()).unwrap();
        let variables = variables.iter().map(|(name, text)| (name.into(), text.into()));
        let flags =
            flags.iter().map(|(a, b, c)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned())).collect();
        load(Some(on_disk.path()), variables.collect::<Vec<_>>(), flags)
    }

    #[test]
    fn the_default_file_says_exactly_the_defaults() {
        let text = default_file();
        assert_eq!(with(&text, &[], &[]).unwrap(), Config::default());
        let entries = file::read(Path::new("default"), &text).unwrap();
        let shown: BTreeSet<_> = entries.into_keys().collect();
        let known = Config::describe().into_iter().flat_map(|section| section.keys);
        assert_eq!(shown, known.map(|key| key.path).collect());
        assert!(text.lines().all(|line| line.chars().count() <= 101), "{text}");
    }

    #[test]
    fn every_key_has_words_and_its_own_variable() {
        let sections = Config::describe();
        let keys: Vec<_> = sections.iter().flat_map(|section| &section.keys).collect();
        assert!(keys.iter().all(|key| !key.docs.is_empty()));
        assert!(sections.iter().all(|section| !section.docs.is_empty()));
        let variables: BTreeSet<_> = keys.iter().map(|key| variable_of(&key.path)).collect();
        assert_eq!(variables.len(), keys.len());
        assert!(OTHER_VARIABLES.iter().all(|other| !variables.contains(*other)));
    }

    #[test]
    fn later_layers_win() {
        let file = "state:\n  flush_interval: 1s\n  flush_bytes: 2MiB\n  page_cache_bytes: 3MiB\n";
        let variables =
            [("BATON_STATE_FLUSH_BYTES", "4MiB"), ("BATON_STATE_PAGE_CACHE_BYTES", "5MiB"), ("HOME", "/")];
        let flags = [("--set", "state.page_cache_bytes", "6MiB")];
        let state = with(file, &variables, &flags).unwrap().state;
        assert_eq!(state.flush_interval, Duration::from_secs(1));
        assert_eq!((state.flush_bytes, state.page_cache_bytes), (Size::mib(4), Size::mib(6)));
        assert_eq!(state.value_cache_bytes, Config::default().state.value_cache_bytes);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place_all_at_once() {
        let file = "state:\n  flush_intervall: 1s\n  flush_bytes: lots\nrest:\n  max_connections: 0\n";
        let variables = [
            ("BATON_STAT_FLUSH_BYTES", "4MiB"),
            ("BATON_REST_ADDRESS", "http://localhost:8080"),
            ("BATON_TOKEN", "t"),
            ("BATON_PROFILE", "prod"),
        ];
        let flags = [("--rest", "rest.listen", "8080")];
        let error = with(file, &variables, &flags).unwrap_err().to_string();
        for mention in [
            ":2:3: there is no key 'state.flush_intervall'; did you mean 'state.flush_interval'?",
            ":3:3: expected a size such as 64KiB, 4MiB or 2GiB for 'state.flush_bytes', but found 'lots'",
            ":5:3: expected a whole number from 1 to 1000000 for 'rest.max_connections', but found '0'",
            "environment variable BATON_STAT_FLUSH_BYTES: there is no such setting; did you mean 'BATON_STATE_FLUSH_BYTES'?",
            "flag --rest: expected an address such as",
        ] {
            assert!(error.contains(mention), "{error}\ndoes not mention\n{mention}");
        }
        assert_eq!(error.lines().count(), 5, "{error}");
    }

    #[test]
    fn keys_that_contradict_each_other_are_told() {
        let error =
            with("flow_control: {min_limit: 2000, max_limit: 3000}", &[], &[]).unwrap_err().to_string();
        assert_eq!(error, "'flow_control.min_limit' is greater than 'flow_control.initial_limit'");
    }

    #[test]
    fn settings_of_security_that_do_not_go_together_are_told() {
        for (file, mention) in [
            (
                "security: {authorizations: true}",
                "'security.authorizations' needs 'security.authentication.method' other than none",
            ),
            (
                "management: {authentication: true}",
                "'management.authentication' needs 'security.authentication.method' other than none",
            ),
            (
                "security: {authentication: {method: oidc}}",
                "'security.authentication.method' oidc needs 'security.authentication.oidc.issuer'",
            ),
            (
                "security: {authentication: {method: oidc, oidc: {issuer: 'https://i', groups_claim: '$[*'}}}",
                "'security.authentication.oidc.groups_claim': '$[*' is no path to a claim",
            ),
            (
                "rest: {tls: {certificate_chain: c.pem}}",
                "'rest.tls.certificate_chain' needs 'rest.tls.private_key'",
            ),
            ("grpc: {tls: {private_key: k.pem}}", "'grpc.tls' needs 'grpc.tls.certificate_chain'"),
            (
                "management: {tls: {certificate_chain: c, private_key: k, client_certificates: required}}",
                "'management.tls.client_certificates' needs 'management.tls.client_authorities'",
            ),
            ("security: {authentication: {method: ldap}}", "expected none, basic or oidc"),
        ] {
            let error = with(file, &[], &[]).unwrap_err().to_string();
            assert!(error.contains(mention), "{error}\ndoes not mention\n{mention}");
        }
        let oidc =
            "security: {authentication: {method: oidc, oidc: {issuer: 'https://i', audiences: 'a, b'}}}";
        let settings = with(oidc, &[], &[]).unwrap().open_id_connect().unwrap();
        assert_eq!(
            (&*settings.issuer, settings.audiences),
            ("https://i", vec!["a".to_owned(), "b".to_owned()])
        );
    }

    #[test]
    fn what_is_secret_is_not_told_when_it_is_wrong() {
        let file = "secondary_storage: {postgres: {url: 'mysql://user:hush@host/db', password: hush}}";
        let error = with(file, &[], &[]).unwrap_err().to_string();
        assert!(error.contains("expected a URL such as postgres://") && !error.contains("hush"), "{error}");
        let right = with(&file.replace("mysql", "postgres"), &[], &[]).unwrap();
        assert!(!format!("{right:?}").contains("hush"));
        assert_eq!(right.secondary_storage_postgres.password.0, "hush");
    }

    #[test]
    fn a_file_that_is_not_there_is_told() {
        let error = load(Some(Path::new("/nowhere/b.yaml")), [], vec![]).unwrap_err().to_string();
        assert!(error.starts_with("/nowhere/b.yaml: cannot be read"), "{error}");
    }
}
