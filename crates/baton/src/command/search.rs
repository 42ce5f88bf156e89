//! `baton search`.

use std::process::ExitCode;

use serde_json::{Map, Value, json};

use super::table;
use crate::cli::Search;
use crate::failure::Failure;
use crate::output;

pub(crate) async fn run(arguments: &Search) -> Result<ExitCode, Failure> {
    let request = request(arguments)?;
    let client = arguments.target.connect()?;
    let answer = arguments.kind.search(&client, &request).await?;
    if arguments.json {
        output::line(format_args!("{answer:#}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let items = answer["items"].as_array().map_or(&[][..], Vec::as_slice);
    if items.is_empty() {
        output::note(format_args!("no {} found", arguments.kind.names().plural));
        return Ok(ExitCode::SUCCESS);
    }
    output::text(table::render(arguments.kind.names().columns, items))?;
    if let Some(line) = remainder(&answer, items.len(), arguments.limit) {
        output::line(line)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How many there are, if these are not all, and how to see the next ones, if there may be some.
fn remainder(answer: &Value, shown: usize, limit: u32) -> Option<String> {
    let page = &answer["page"];
    let total = page["totalItems"].as_u64().filter(|total| *total > shown as u64)?;
    let at_least = if page["hasMoreTotalItems"] == Value::Bool(true) { "at least " } else { "" };
    let next = match page["endCursor"].as_str() {
        Some(cursor) if shown == limit as usize => format!("; go on with --after {cursor}"),
        _ => String::new(),
    };
    Some(format!("{shown} of {at_least}{total}{next}"))
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
    let mut sort: Vec<_> = arguments.sort.iter().map(|sort| order(sort)).collect();
    if let (Some(moment), true) = (names.moment, sort.is_empty()) {
        // People look for what happened last.
        sort.push(json!({ "field": moment, "order": "DESC" }));
    }
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
    fn the_latest_come_first_unless_another_order_is_named() {
        let sort = |line| parse(line).unwrap()["sort"].clone();
        let latest = json!([{ "field": "startDate", "order": "DESC" }]);
        assert_eq!(sort("baton search instances"), latest);
        assert_eq!(sort("baton search instances --sort state"), json!([{ "field": "state" }]));
        assert_eq!(sort("baton search variables"), json!([]));
    }

    #[test]
    fn the_next_page_is_told_whole_and_only_if_there_may_be_one() {
        let cursor = "c".repeat(100);
        let page = |total: u64, more: bool| json!({ "page": { "totalItems": total, "hasMoreTotalItems": more, "endCursor": cursor } });
        assert_eq!(
            remainder(&page(10_000, true), 20, 20),
            Some(format!("20 of at least 10000; go on with --after {cursor}"))
        );
        assert_eq!(remainder(&page(25, false), 5, 20), Some("5 of 25".to_owned()), "the last page");
        assert_eq!(remainder(&page(5, false), 5, 20), None, "all of them");
    }

    #[test]
    fn options_that_a_kind_does_not_have_are_refused() {
        let failure = parse("baton search variables --state ACTIVE").unwrap_err();
        assert_eq!(failure, Failure::usage("--state: a variable has nothing like it"));
        assert!(parse("baton search jobs --filter [1]").is_err());
    }
}
