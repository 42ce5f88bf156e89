//! `baton show`.

use std::fmt::Write;
use std::process::ExitCode;

use ::client::RestClient;
use serde_json::{Value, json};

use super::kind::Kind;
use super::table;
use crate::cli::Show;
use crate::failure::Failure;
use crate::output;

/// Most parts of an instance that are shown.
const PARTS_MAX: u32 = 100;
/// Parts of a process instance, in their order.
const PARTS: [(Kind, &str); 3] =
    [(Kind::Elements, "startDate"), (Kind::Variables, "name"), (Kind::Incidents, "creationTime")];

pub(crate) async fn run(arguments: &Show) -> Result<ExitCode, Failure> {
    let client = arguments.to.connect()?;
    let mut item = arguments.kind.find(&client, &arguments.key).await?;
    // An instance that lives is known without secondary storage; what belongs to it is not.
    let (parts, missing) = match arguments.kind {
        Kind::Instances => match parts(&client, &arguments.key).await {
            Ok(parts) => (parts, None),
            Err(failure) => (Vec::new(), Some(failure)),
        },
        _ => (Vec::new(), None),
    };
    let code =
        |missing: Option<Failure>| missing.map_or(ExitCode::SUCCESS, |failure| output::report(&failure));
    if arguments.to.json {
        for (kind, items) in parts {
            item[kind.names().collection] = Value::from(items);
        }
        output::line(format_args!("{item:#}"))?;
        return Ok(code(missing));
    }
    output::text(properties(&item))?;
    for (kind, items) in parts.into_iter().filter(|(_, items)| !items.is_empty()) {
        let names = kind.names();
        let columns: Vec<_> =
            names.columns.iter().copied().filter(|column| *column != "processInstanceKey").collect();
        output::text(format_args!("\n{}\n{}", names.collection, table::render(&columns, &items)))?;
    }
    Ok(code(missing))
}

async fn parts(client: &RestClient, key: &str) -> Result<Vec<(Kind, Vec<Value>)>, Failure> {
    let mut parts = Vec::with_capacity(PARTS.len());
    for (kind, sort) in PARTS {
        let request = json!({
            "filter": { "processInstanceKey": key }, "sort": [{ "field": sort }], "page": { "limit": PARTS_MAX },
        });
        let mut answer = kind.search(client, &request).await?;
        if let Value::Array(items) = answer["items"].take() {
            parts.push((kind, items));
        }
    }
    Ok(parts)
}

/// A line for each property that says something.
pub(super) fn properties(item: &Value) -> String {
    let object = item.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let object: Vec<_> = object.collect();
    let width = object.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, value) in object {
        let _ = writeln!(text, "{name:width$}  {}", table::line(value));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_nothing_is_left_out() {
        let item = json!({ "key": "1", "endDate": null, "hasIncident": false });
        assert_eq!(properties(&item), "hasIncident  false\nkey          1\n");
    }
}
