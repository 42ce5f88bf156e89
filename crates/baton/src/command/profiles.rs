//! `baton profiles`.

use std::io::Read;
use std::process::ExitCode;

use ::client::Address;
use serde_json::{Map, Value, json};

use super::table;
use crate::cli::{ProfileSettings, ProfilesAction, ProfilesCommand};
use crate::failure::Failure;
use crate::output;
use crate::profiles::{Profiles, fields};
use crate::server_settings::ServerSettings;

const COLUMNS: [&str; 5] = ["profile", "default", "rest_address", "grpc_address", "username"];
const SECRETS: [&str; 2] = ["password", "token"];

pub(crate) fn run(arguments: &ProfilesCommand) -> Result<ExitCode, Failure> {
    let mut profiles = Profiles::load()?;
    match &arguments.action {
        ProfilesAction::List { json } => return list(&profiles, *json),
        ProfilesAction::Set(settings) => set(&mut profiles, settings)?,
        ProfilesAction::Use { name } => {
            profiles.get(name)?;
            profiles.default = Some(name.clone());
        }
        ProfilesAction::Remove { name } => {
            profiles.get(name)?;
            profiles.all.remove(name);
            profiles.default.take_if(|default| default == name);
        }
    }
    profiles.save()?;
    if let Some(path) = &profiles.path {
        output::note(format_args!("written to {}", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

fn list(profiles: &Profiles, json: bool) -> Result<ExitCode, Failure> {
    let rows: Vec<_> = profiles.all.iter().map(|(name, settings)| row(profiles, name, settings)).collect();
    if json {
        output::line(format_args!("{:#}", Value::from(rows)))?;
    } else if rows.is_empty() {
        output::note("no profiles: `baton profiles set NAME --rest-address URL` makes one");
    } else {
        output::text(table::render(&COLUMNS, &rows))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A profile without its secrets.
fn row(profiles: &Profiles, name: &str, settings: &ServerSettings) -> Value {
    let mut row = Map::new();
    row.insert("profile".to_owned(), json!(name));
    row.insert("default".to_owned(), json!(profiles.default.as_deref() == Some(name)));
    for (field, text) in fields(settings) {
        let text = if SECRETS.contains(&field) { "***".to_owned() } else { text };
        row.insert(field.to_owned(), Value::from(text));
    }
    Value::Object(row)
}

fn set(profiles: &mut Profiles, arguments: &ProfileSettings) -> Result<(), Failure> {
    for (option, address) in [
        ("--rest-address", &arguments.rest_address),
        ("--grpc-address", &arguments.grpc_address),
        ("--management-address", &arguments.management_address),
    ] {
        if let Some(address) = address {
            Address::parse(address, 1).map_err(|error| Failure::usage(format!("{option}: {error}")))?;
        }
    }
    let directory = std::env::current_dir().map_err(Failure::new)?;
    let secret = if arguments.password_stdin || arguments.token_stdin { Some(secret()?) } else { None };
    let settings = profiles.all.entry(arguments.name.clone()).or_default();
    let replace = |old: &mut Option<String>, new: &Option<String>| {
        if new.is_some() {
            old.clone_from(new);
        }
    };
    replace(&mut settings.rest_address, &arguments.rest_address);
    replace(&mut settings.grpc_address, &arguments.grpc_address);
    replace(&mut settings.management_address, &arguments.management_address);
    if arguments.username.is_some() && settings.username != arguments.username {
        // The password was that of somebody else.
        settings.password = None;
    }
    replace(&mut settings.username, &arguments.username);
    for (old, new) in [
        (&mut settings.authorities, &arguments.authorities),
        (&mut settings.certificate_chain, &arguments.certificate_chain),
        (&mut settings.private_key, &arguments.private_key),
    ] {
        if let Some(path) = new {
            *old = Some(directory.join(path));
        }
    }
    if arguments.request_timeout.is_some() {
        settings.request_timeout = arguments.request_timeout;
    }
    if arguments.token_stdin {
        settings.token = secret;
        (settings.username, settings.password) = (None, None);
    } else if arguments.password_stdin {
        if settings.username.is_none() {
            return Err(Failure::usage("--password-stdin: the profile has no user: add --username NAME"));
        }
        settings.password = secret;
    }
    if arguments.username.is_some() {
        settings.token = None;
    }
    if arguments.default || profiles.all.len() == 1 {
        profiles.default = Some(arguments.name.clone());
    }
    Ok(())
}

/// The first line of the standard input.
fn secret() -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| Failure::usage(format!("cannot read the standard input: {error}")))?;
    match text.lines().next().map(str::to_owned).filter(|line| !line.is_empty()) {
        Some(line) => Ok(line),
        None => Err(Failure::usage("the standard input has no secret: its first line is empty")),
    }
}
