//! `baton search`.

use std::process::ExitCode;

use serde_json::{Map, Value, json};

use super::table;
use crate::cli::Search;
use crate::failure::Failure;

pub(crate) async fn run(arguments: &Search) -> Result<ExitCode, Failure> {
    let request = request(arguments)?;
    let client = arguments.target.connect()?;
    let answer = arguments.kind.search(&client, &request).await?;
    if arguments.json {
        println!("{answer:#}");
        return Ok(ExitCode::SUCCESS);
    }
    let items = answer["items"].as_array().map_or(&[][..], Vec::as_slice);
    print!("{}", table::render(arguments.kind.names().columns, items));
    let (total, more) = (&answer["page"]["totalItems"], &answer["page"]["hasMoreTotalItems"]);
    if total.as_u64().is_some_and(|total| total > items.len() as u64) {
        let at_least = if more == &Value::Bool(true) { "at least " } else { "" };
        let cursor = table::cell(&answer["page"]["endCursor"]);
        println!("{} of {at_least}{total}; go on with --after {cursor}", items.len());
    }
    Ok(ExitCode::SUCCESS)
}

/// The body of the search.
fn request(arguments: &Search) -> Result<Value, Failure> {
    let mut filter: Map<String, Value> = match &arguments.filter {
        None => Map::new(),
        Some(text) => serde_json::from_str(text)
            .map_err(|error| Failure::usage(format!("--filter: expected a JSON object: {error}")))?,
    };
    let names = arguments.kind.names();
    let key = arguments.instance.map(|key| key.to_string());
    for (option, property, value) in [
        ("--process", names.process, arguments.process.as_ref()),
        ("--instance", names.instance, key.as_ref()),
        ("--state", names.state, arguments.state.as_ref()),
        ("--type", names.of_type, arguments.job_type.as_ref()),
    ] {
        let Some(value) = value else { continue };
        let property = property
            .ok_or_else(|| Failure::usage(format!("{option}: a {} has nothing like it", names.one)))?;
        filter.insert(property.to_owned(), Value::from(value.as_str()));
    }
    let sort: Vec<_> = arguments.sort.iter().map(|sort| order(sort)).collect();
    let mut page = json!({ "limit": arguments.limit });
    if let Some(after) = &arguments.after {
        page["after"] = Value::from(after.as_str());
    }
    Ok(json!({ "filter": filter, "sort": sort, "page": page }))
}

fn order(text: &str) -> Value {
    match text.rsplit_once(':') {
        Some((field, order)) => json!({ "field": field, "order": order.to_ascii_uppercase() }),
        None => json!({ "field": text }),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn parse(line: &str) -> Result<Value, Failure> {
        let cli = Cli::parse_from(line.split(' '));
        let Command::Search(arguments) = cli.command else { panic!("{line}") };
        request(&arguments)
    }

    #[test]
    fn options_become_a_filter() {
        assert_eq!(
            parse("baton search jobs --process p --type t --instance 5 --state FAILED --filter {\"retries\":{\"$gt\":0}} --sort retries:desc --sort type --limit 7 --after c").unwrap(),
            json!({
                "filter": {
                    "processDefinitionId": "p", "type": "t", "processInstanceKey": "5", "state": "FAILED",
                    "retries": { "$gt": 0 },
                },
                "sort": [{ "field": "retries", "order": "DESC" }, { "field": "type" }],
                "page": { "limit": 7, "after": "c" },
            })
        );
    }

    #[test]
    fn options_that_a_kind_does_not_have_are_refused() {
        let failure = parse("baton search variables --state ACTIVE").unwrap_err();
        assert_eq!(failure, Failure::usage("--state: a variable has nothing like it"));
        assert!(parse("baton search jobs --filter [1]").is_err());
    }
}
