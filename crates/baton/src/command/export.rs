//! `baton export`: everything that a search finds, as JSON lines.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use ::client::{ApiCall, RestClient};
use serde_json::{Value, json};

use super::kind::Kind;
use super::{call, search};
use crate::cli::Export;
use crate::failure::Failure;
use crate::output;

/// Entities that are asked for at a time.
const PAGE: u32 = 1000;
/// Variables of one instance that are exported at the most.
const VARIABLES_MAX: u32 = 10_000;

pub(crate) async fn run(arguments: &Export) -> Result<ExitCode, Failure> {
    let Export { kind, filter, whole, .. } = arguments;
    if *whole && !matches!(kind, Kind::Processes | Kind::Instances | Kind::Variables) {
        let one = kind.names().one;
        return Err(Failure::usage(format!(
            "--whole: a {one} has no more than its line, and cannot be imported"
        )));
    }
    let filter = search::filter(*kind, filter)?;
    let mut request = json!({ "filter": filter, "page": { "limit": PAGE } });
    let client = arguments.target.connect()?;
    let mut sink = Sink::open(arguments.output.as_deref())?;
    let mut count = 0_u64;
    loop {
        let answer = page(*kind, &client, &request).await?;
        let items = answer["items"].as_array().map_or(&[][..], Vec::as_slice);
        for item in items {
            let line = if *whole { complete(*kind, &client, item).await? } else { item.to_string() };
            if !sink.write(&line)? {
                return Ok(ExitCode::SUCCESS);
            }
            count += 1;
        }
        let cursor = &answer["page"]["endCursor"];
        if items.len() < PAGE as usize || !cursor.is_string() {
            break;
        }
        request["page"]["after"] = cursor.clone();
    }
    sink.finish()?;
    output::note(format_args!("exported {count} {}", kind.names().plural));
    Ok(ExitCode::SUCCESS)
}

/// A page of a search. Values of variables are whole.
async fn page(kind: Kind, client: &RestClient, request: &Value) -> Result<Value, Failure> {
    if kind != Kind::Variables {
        return kind.search(client, request).await;
    }
    let request = request.to_string();
    let call = ApiCall::post("/variables/search?truncateValues=false", &request);
    call::json(client, &call, "search variables").await
}

/// The line of an entity with all that an import needs.
async fn complete(kind: Kind, client: &RestClient, item: &Value) -> Result<String, Failure> {
    let key = item[kind.names().columns[0]].as_str().unwrap_or_default();
    let (property, value) = match kind {
        Kind::Processes => {
            let path = format!("/process-definitions/{key}/xml");
            let xml = call::text(client, &ApiCall::get(&path), format_args!("get the XML of {key}")).await?;
            ("xml", call::quoted(&xml))
        }
        Kind::Instances => {
            let filter = json!({ "processInstanceKey": key, "scopeKey": key });
            let request = json!({ "filter": filter, "page": { "limit": VARIABLES_MAX } });
            let answer = page(Kind::Variables, client, &request).await?;
            let variables: Vec<_> = answer["items"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|v| Some((v["name"].as_str()?, v["value"].as_str().map(str::to_owned))))
                .collect();
            ("variables", call::object(&variables))
        }
        _ => return Ok(item.to_string()),
    };
    let mut line = item.to_string();
    line.truncate(line.len() - 1);
    Ok(format!("{line},{}:{value}}}", call::quoted(property)))
}

/// The place of the lines.
enum Sink {
    Output,
    File(BufWriter<File>, String),
}

impl Sink {
    fn open(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path else { return Ok(Self::Output) };
        let name = path.display().to_string();
        let file = File::create_new(path)
            .map_err(|error| Failure::usage(format!("--output: cannot make {name}: {error}")))?;
        Ok(Self::File(BufWriter::new(file), name))
    }

    /// False if nobody reads it any more.
    fn write(&mut self, line: &str) -> Result<bool, Failure> {
        match self {
            Self::Output => output::line_of_many(line),
            Self::File(file, name) => {
                writeln!(file, "{line}").map_err(|error| unwritable(name, &error))?;
                Ok(true)
            }
        }
    }

    fn finish(self) -> Result<(), Failure> {
        match self {
            Self::Output => Ok(()),
            Self::File(mut file, name) => file.flush().map_err(|error| unwritable(&name, &error)),
        }
    }
}

fn unwritable(name: &str, error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot write {name}: {error}"))
}
