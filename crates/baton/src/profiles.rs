//! Profiles: servers that the user's configuration file of commands knows by name.
//!
//! The file is `baton/profiles.yaml` in the user's configuration directory (`$XDG_CONFIG_HOME`, else `~/.config`).
//! It may hold secrets; then nobody else may read it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::config::did_you_mean;
use crate::failure::Failure;
use crate::server_settings::ServerSettings;

/// Bits of the mode by which others than the owner may do anything.
const OF_OTHERS: u32 = 0o077;

/// All profiles.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Profiles {
    /// File they are in, if there is a place for one.
    pub(crate) path: Option<PathBuf>,
    /// The profile of commands that name none.
    pub(crate) default: Option<String>,
    pub(crate) all: BTreeMap<String, ServerSettings>,
}

/// The file as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfilesFile {
    default: Option<String>,
    #[serde(default)]
    profiles: BTreeMap<String, ProfileEntry>,
}

/// A profile as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileEntry {
    rest_address: Option<String>,
    grpc_address: Option<String>,
    management_address: Option<String>,
    username: Option<String>,
    password: Option<String>,
    token: Option<String>,
    authorities: Option<PathBuf>,
    certificate_chain: Option<PathBuf>,
    private_key: Option<PathBuf>,
    request_timeout: Option<String>,
}

impl ProfileEntry {
    /// Paths are relative to the directory of the file.
    fn settings(self, directory: &Path) -> Result<ServerSettings, String> {
        let path = |path: Option<PathBuf>| path.map(|path| directory.join(path));
        let request_timeout = self.request_timeout.as_deref().map(bench::duration).transpose();
        Ok(ServerSettings {
            rest_address: self.rest_address,
            grpc_address: self.grpc_address,
            management_address: self.management_address,
            username: self.username,
            password: self.password,
            token: self.token,
            authorities: path(self.authorities),
            certificate_chain: path(self.certificate_chain),
            private_key: path(self.private_key),
            request_timeout: request_timeout.map_err(|reason| format!("request_timeout: {reason}"))?,
        })
    }
}

fn default_path() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|text| !text.is_empty()).map(PathBuf::from);
    let directory = variable("XDG_CONFIG_HOME").or_else(|| Some(variable("HOME")?.join(".config")))?;
    Some(directory.join("baton").join("profiles.yaml"))
}

impl Profiles {
    /// The profiles of the user; none if there is no file.
    pub(crate) fn load() -> Result<Self, Failure> {
        match default_path() {
            Some(path) => Self::read(&path),
            None => Ok(Self::default()),
        }
    }

    fn read(path: &Path) -> Result<Self, Failure> {
        let place = path.display();
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self { path: Some(path.to_owned()), ..Self::default() });
            }
            Err(error) => return Err(Failure::usage(format!("cannot read {place}: {error}"))),
        };
        let file: Option<ProfilesFile> = serde_saphyr::from_str(&text).map_err(|error| {
            Failure::usage(format!("{place} is no file of profiles: {}", error.without_snippet()))
                .hint("`baton profiles set NAME` writes it; docs/command-line.md shows its keys")
        })?;
        let file = file.unwrap_or_default();
        let directory = path.parent().unwrap_or(Path::new("."));
        let mut all = BTreeMap::new();
        for (name, entry) in file.profiles {
            let settings = entry.settings(directory);
            let settings =
                settings.map_err(|reason| Failure::usage(format!("{place}: profile '{name}': {reason}")))?;
            all.insert(name, settings);
        }
        let profiles = Self { path: Some(path.to_owned()), default: file.default, all };
        profiles.check_mode(path)?;
        Ok(profiles)
    }

    fn has_secrets(&self) -> bool {
        self.all.values().any(|settings| settings.password.is_some() || settings.token.is_some())
    }

    fn check_mode(&self, path: &Path) -> Result<(), Failure> {
        let mode = fs::metadata(path).map_err(Failure::usage)?.permissions().mode();
        if mode & OF_OTHERS == 0 || !self.has_secrets() {
            return Ok(());
        }
        let place = path.display();
        let failure = Failure::usage(format!(
            "{place} has passwords or tokens, and others may use it: its mode is {:03o}",
            mode & 0o777
        ));
        Err(failure.hint(format!("chmod 600 {place}")))
    }

    /// The settings of one.
    pub(crate) fn get(&self, name: &str) -> Result<ServerSettings, Failure> {
        if let Some(settings) = self.all.get(name) {
            return Ok(settings.clone());
        }
        let place = self.path.as_ref().map_or_else(String::new, |path| format!(" in {}", path.display()));
        let similar = did_you_mean(name, self.all.keys().map(String::as_str));
        let failure = Failure::usage(format!("there is no profile '{name}'{place}{similar}"));
        Err(failure.hint("`baton profiles list` shows all, `baton profiles set NAME` makes one"))
    }

    /// Writes them, readable by the user alone.
    pub(crate) fn save(&self) -> Result<(), Failure> {
        let Some(path) = &self.path else {
            return Err(Failure::usage("there is no place for profiles: HOME is not set"));
        };
        let failed =
            |error: std::io::Error| Failure::new(format!("cannot write {}: {error}", path.display()));
        let directory = path.parent().unwrap_or(Path::new("."));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed)?;
        // A temporary file is its owner's alone.
        let mut file = tempfile::NamedTempFile::new_in(directory).map_err(failed)?;
        file.write_all(self.to_yaml().as_bytes()).map_err(failed)?;
        file.persist(path).map_err(|error| failed(error.error))?;
        Ok(())
    }

    /// JSON strings are YAML, too.
    fn to_yaml(&self) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let mut yaml = String::from("# Servers that `baton --profile NAME` knows.\n");
        if let Some(default) = &self.default {
            let _ = writeln!(yaml, "default: {}", quoted(default));
        }
        if !self.all.is_empty() {
            yaml.push_str("profiles:\n");
        }
        for (name, settings) in &self.all {
            let fields = fields(settings);
            let _ = writeln!(yaml, "  {}:{}", quoted(name), if fields.is_empty() { " {}" } else { "" });
            for (field, text) in fields {
                let _ = writeln!(yaml, "    {field}: {}", quoted(&text));
            }
        }
        yaml
    }
}

/// The settings that a profile has, as text.
pub(crate) fn fields(settings: &ServerSettings) -> Vec<(&'static str, String)> {
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let timeout = settings.request_timeout.map(|time| format!("{}ms", time.as_millis()));
    [
        ("rest_address", settings.rest_address.clone()),
        ("grpc_address", settings.grpc_address.clone()),
        ("management_address", settings.management_address.clone()),
        ("username", settings.username.clone()),
        ("password", settings.password.clone()),
        ("token", settings.token.clone()),
        ("authorities", path(&settings.authorities)),
        ("certificate_chain", path(&settings.certificate_chain)),
        ("private_key", path(&settings.private_key)),
        ("request_timeout", timeout),
    ]
    .into_iter()
    .filter_map(|(name, text)| Some((name, text?)))
    .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn written(text: &str, mode: u32) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("profiles.yaml");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        (directory, path)
    }

    #[test]
    fn profiles_are_read_as_they_were_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("deep").join("profiles.yaml");
        let settings = ServerSettings {
            rest_address: Some("https://a:1".to_owned()),
            username: Some("a \"b\": c".to_owned()),
            password: Some("#\n".to_owned()),
            private_key: Some(directory.path().join("key.pem")),
            request_timeout: Some(Duration::from_millis(1500)),
            ..ServerSettings::default()
        };
        let profiles = Profiles {
            path: Some(path.clone()),
            default: Some("prod".to_owned()),
            all: BTreeMap::from([
                ("prod".to_owned(), settings),
                ("empty".to_owned(), ServerSettings::default()),
            ]),
        };
        profiles.save().unwrap();
        assert_eq!(Profiles::read(&path).unwrap(), profiles);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn secrets_are_their_owners_alone() {
        let secret = "profiles: {a: {token: t}}";
        let (_directory, path) = written(secret, 0o640);
        let failure = Profiles::read(&path).unwrap_err();
        assert!(failure.message().ends_with("its mode is 640"), "{failure:?}");
        assert!(failure.advice().unwrap().starts_with("chmod 600"));
        let (_directory, path) = written(secret, 0o600);
        assert!(Profiles::read(&path).is_ok());
        let (_directory, path) = written("profiles: {a: {rest_address: x}}", 0o644);
        assert!(Profiles::read(&path).is_ok());
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        let (_directory, path) = written("profiles: {prod: {address: x}}", 0o600);
        let failure = Profiles::read(&path).unwrap_err();
        assert!(failure.message().contains("address"), "{failure:?}");
        let (_directory, path) = written("profiles: {prod: {request_timeout: 5}}", 0o600);
        let failure = Profiles::read(&path).unwrap_err();
        assert!(failure.message().contains("profile 'prod': request_timeout: "), "{failure:?}");
        let (_directory, path) = written("profiles: {prod: {authorities: ca.pem}}", 0o600);
        let profiles = Profiles::read(&path).unwrap();
        let authorities = profiles.get("prod").unwrap().authorities.unwrap();
        assert_eq!(authorities, path.with_file_name("ca.pem"));
        let failure = profiles.get("prot").unwrap_err();
        assert!(failure.message().ends_with("; did you mean 'prod'?"), "{failure:?}");
    }
}
