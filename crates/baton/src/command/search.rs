//! `baton search`.

use std::process::ExitCode;

use ::client::RestClient;
use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use serde_json::{Map, Value, json};

use super::kind::Kind;
use super::{call, table};
use crate::cli::{Search, SearchFilter};
use crate::failure::Failure;
use crate::output;

/// Advice to users whose cursor is none.
const CURSORS: &str = "a page that is not the last ends with `go on with --after CURSOR` (page.endCursor in JSON): copy it \
                       whole, for the same kind, filter and order";

pub(crate) async fn run(arguments: &Search) -> Result<ExitCode, Failure> {
    let request = request(arguments)?;
    let client = arguments.to.connect()?;
    let outcome = print(arguments.kind, &client, &request, arguments.to.json).await;
    outcome.map_err(
        |failure| {
            if failure.message().contains("page.after") { failure.hint(CURSORS) } else { failure }
        },
    )
}

/// Searches and prints what is found.
pub(super) async fn print(
    kind: Kind,
    client: &RestClient,
    request: &Value,
    json: bool,
) -> Result<ExitCode, Failure> {
    let answer = kind.search_for_answer(client, request).await?;
    if json {
        output::json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let answer = call::read(&answer)?;
    let items = answer["items"].as_array().map_or(&[][..], Vec::as_slice);
    if items.is_empty() {
        output::note(format_args!("no {} found", kind.names().plural));
        return Ok(ExitCode::SUCCESS);
    }
    output::text(table::render(kind.names().columns, items))?;
    let limit = request["page"]["limit"].as_u64().unwrap_or(0);
    if let Some(line) = remainder(&answer, items.len() as u64, limit) {
        output::line(line)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How many there are, if these are not all, and how to see the next ones, if there may be some.
fn remainder(answer: &Value, shown: u64, limit: u64) -> Option<String> {
    let page = &answer["page"];
    let total = page["totalItems"].as_u64().filter(|total| *total > shown)?;
    let at_least = if page["hasMoreTotalItems"] == Value::Bool(true) { "at least " } else { "" };
    let next = match page["endCursor"].as_str() {
        Some(cursor) if shown == limit => format!("; go on with --after {cursor}"),
        _ => String::new(),
    };
    Some(format!("{shown} of {at_least}{total}{next}"))
}

/// The filter that options make.
pub(super) fn filter(kind: Kind, options: &SearchFilter) -> Result<Map<String, Value>, Failure> {
    let mut filter: Map<String, Value> = match &options.filter {
        None => Map::new(),
        Some(text) => serde_json::from_str(text)
            .map_err(|error| Failure::usage(format!("--filter: expected a JSON object: {error}")))?,
    };
    let names = kind.names();
    let key = options.instance.map(|key| key.to_string());
    for (option, property, value) in [
        ("--process", names.process, options.process.as_ref()),
        ("--instance", names.instance, key.as_ref()),
        ("--state", names.state, options.state.as_ref()),
        ("--type", names.of_type, options.of_type.as_ref()),
    ] {
        let Some(value) = value else { continue };
        let property = property
            .ok_or_else(|| Failure::usage(format!("{option}: a {} has nothing like it", names.one)))?;
        filter.insert(property.to_owned(), Value::from(value.as_str()));
    }
    Ok(filter)
}

/// The body of the search.
fn request(arguments: &Search) -> Result<Value, Failure> {
    let filter = filter(arguments.kind, &arguments.filter)?;
    let mut sort: Vec<_> = arguments.sort.iter().map(|sort| order(sort)).collect();
    if let (Some(moment), true) = (arguments.kind.names().moment, sort.is_empty()) {
        // People look for what happened last.
        sort.push(json!({ "field": moment, "order": "DESC" }));
    }
    let mut page = json!({ "limit": arguments.limit });
    if let Some(after) = &arguments.after {
        if !is_cursor(after) {
            return Err(Failure::usage(format!("--after: '{after}' is no cursor")).hint(CURSORS));
        }
        page["after"] = Value::from(after.as_str());
    }
    Ok(json!({ "filter": filter, "sort": sort, "page": page }))
}

/// Cursors are Base64 (RFC 4648).
fn is_cursor(text: &str) -> bool {
    !text.is_empty() && STANDARD.decode(text).is_ok()
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
            parse("baton search jobs --process p --type t --instance 5 --state FAILED --filter {\"retries\":{\"$gt\":0}} --sort retries:desc --sort type --limit 7 --after Yw==").unwrap(),
            json!({
                "filter": {
                    "processDefinitionId": "p", "type": "t", "processInstanceKey": "5", "state": "FAILED",
                    "retries": { "$gt": 0 },
                },
                "sort": [{ "field": "retries", "order": "DESC" }, { "field": "type" }],
                "page": { "limit": 7, "after": "Yw==" },
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
        let failure = parse("baton search jobs --after garbage").unwrap_err();
        assert_eq!(failure.message(), "--after: 'garbage' is no cursor");
        assert!(failure.advice().unwrap().contains("go on with --after CURSOR"));
    }
}
