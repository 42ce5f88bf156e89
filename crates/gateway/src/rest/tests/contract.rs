//! The contract, checked on every operation from the same tables that the gateway reads.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::super::contract::{
    Additional, Format, Kind, Media, OPERATIONS, Object, Operation, OperationSpec, Pattern, ROUTES, Schema,
    Text, published,
};
use super::super::lenient::is_left_out;
use super::super::operation::served;
use super::super::validate::validate;
use super::fake::FakeBroker;
use super::{block_on, gateway, request, stored_gateway, text};

/// JSON that `serde_json::Value` cannot hold stands in strings with this before it.
const RAW: &str = "@raw:";

fn render(value: &Value) -> String {
    let mut text = value.to_string();
    while let Some(start) = text.find(&format!("\"{RAW}")) {
        let end = start + 1 + text[start + 1..].find('"').unwrap();
        let raw = text[start + 1 + RAW.len()..end].to_owned();
        text.replace_range(start..=end, &raw);
    }
    text
}

fn example_text(text: &Text) -> String {
    let base = match text.pattern {
        _ if text.format == Format::DateTime => "2030-01-01T00:00:00Z",
        Some(Pattern::Key) => "42",
        Some(Pattern::KeyPair) => "1-2",
        Some(Pattern::Base64) => "YWJj",
        Some(Pattern::TenantId) => "<default>",
        _ => "a",
    };
    let mut example = base.to_owned();
    while example.len() < text.min {
        example.push('a');
    }
    example
}

/// A valid value with everything in it; of several alternatives, the one with this number.
pub(super) fn example(schema: &Schema, alternative: usize) -> Value {
    match &schema.kind {
        Kind::Any => json!("any"),
        Kind::Boolean => json!(false),
        Kind::Integer { min, max } => json!(1.clamp(*min, *max)),
        Kind::Number => json!(1.5),
        Kind::Text(text) => json!(example_text(text)),
        Kind::Enum(values) => json!(values[0]),
        Kind::Array(array) => json!([example(array.items, 0)]),
        Kind::Choice(alternatives) => example(alternatives[alternative % alternatives.len()], 0),
        Kind::Object(object) => example_object(object, alternative % object.alternatives.len(), u64::MAX),
    }
}

fn example_object(object: &Object, alternative: usize, mask: u64) -> Value {
    let allowed = object.alternatives[alternative].allowed & mask;
    let mut members = Map::new();
    for (at, property) in object.properties.iter().enumerate().filter(|(at, _)| allowed & (1 << at) != 0) {
        let named = object.discriminator.as_ref().filter(|d| d.property == at);
        let value = match named.and_then(|d| d.values.iter().find(|(_, to)| *to == alternative)) {
            Some((name, _)) => json!(name),
            None => example(property.schema, 0),
        };
        members.insert(property.name.to_owned(), value);
    }
    Value::Object(members)
}

/// Only what is required.
fn minimal(schema: &Schema) -> Value {
    match &schema.kind {
        Kind::Object(object) => example_object(object, 0, object.alternatives[0].required),
        _ => example(schema, 0),
    }
}

pub(super) fn kind_takes(schema: &Schema, value: &Value) -> bool {
    match (&schema.kind, value) {
        (Kind::Any, _)
        | (Kind::Boolean, Value::Bool(_))
        | (Kind::Integer { .. } | Kind::Number, Value::Number(_))
        | (Kind::Text(_) | Kind::Enum(_), Value::String(_))
        | (Kind::Array(_), Value::Array(_))
        | (Kind::Object(_), Value::Object(_)) => true,
        (_, Value::Null) => schema.nullable,
        (Kind::Choice(alternatives), _) => alternatives.iter().any(|a| kind_takes(a, value)),
        _ => false,
    }
}

/// Invalid forms of a valid value, with the path that the problem must name.
fn spoiled(schema: &Schema, valid: &Value, path: &str) -> Vec<(Value, String)> {
    let here = if path.is_empty() { "request body".to_owned() } else { path.to_owned() };
    let types = [json!(null), json!(true), json!(1), json!("text"), json!([]), json!({})];
    let mut bad: Vec<Value> = types.into_iter().filter(|value| !kind_takes(schema, value)).collect();
    let mut found = Vec::new();
    match (&schema.kind, valid) {
        (Kind::Integer { min, max }, _) => {
            bad.extend(
                ["1e400", "1.5", "123456789012345678901234567890", "-1E3"]
                    .map(|raw| json!(format!("{RAW}{raw}"))),
            );
            bad.extend(min.checked_sub(1).map(|below| json!(below)));
            bad.extend(max.checked_add(1).map(|above| json!(above)));
        }
        (Kind::Number, _) => bad.push(json!(format!("{RAW}1e400"))),
        (Kind::Text(text), _) => {
            bad.extend((text.min > 0).then(|| json!("")));
            bad.extend((text.max < usize::MAX).then(|| json!("a".repeat(text.max + 1))));
            bad.extend(text.pattern.map(|_| json!("ä b!")));
            bad.extend((text.format == Format::DateTime).then(|| json!("2030-13-01T00:00:00Z")));
        }
        (Kind::Enum(_), _) => bad.push(json!("NO_SUCH_VALUE")),
        (Kind::Array(array), Value::Array(elements)) => {
            for (bad, path) in spoiled(array.items, &elements[0], &format!("{path}[0]")) {
                found.push((json!([bad]), path));
            }
            if array.unique {
                found.push((json!([elements[0], elements[0]]), format!("{path}[1]")));
            }
        }
        (Kind::Choice(alternatives), _) => {
            let taker = alternatives.iter().find(|a| kind_takes(a, valid)).unwrap();
            let inner = spoiled(taker, valid, path);
            found.extend(inner.into_iter().filter(|(bad, at)| *at != here || !kind_takes(schema, bad)));
        }
        (Kind::Object(object), Value::Object(members)) => found.extend(spoiled_object(object, members, path)),
        _ => {}
    }
    found.extend(bad.into_iter().map(|value| (value, here.clone())));
    found
}

fn spoiled_object(object: &Object, members: &Map<String, Value>, path: &str) -> Vec<(Value, String)> {
    let at = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let with = |name: &str, value: Value| {
        let mut members = members.clone();
        members.insert(name.to_owned(), value);
        Value::Object(members)
    };
    let mut found = Vec::new();
    if matches!(object.additional, Additional::None) {
        found.push((with("unknownOne", json!(1)), at("unknownOne")));
    }
    for (index, property) in object.properties.iter().enumerate() {
        let Some(valid) = members.get(property.name) else { continue };
        for (bad, path) in spoiled(property.schema, valid, &at(property.name)) {
            if bad.is_null() && is_left_out(object, index) {
                continue;
            }
            found.push((with(property.name, bad), path));
        }
    }
    if let [only] = object.alternatives {
        for (index, property) in object.properties.iter().enumerate() {
            if only.required & (1 << index) != 0 {
                let mut members = members.clone();
                members.remove(property.name);
                found.push((Value::Object(members), at(property.name)));
            }
        }
    }
    found
}

pub(super) fn path_of(spec: &OperationSpec) -> String {
    let mut path = spec.path.to_owned();
    for parameter in spec.path_parameters {
        let value = example(parameter.schema, 0);
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let value = value.replace('<', "%3C").replace('>', "%3E");
        path = path.replace(&format!("{{{}}}", parameter.name), &value);
    }
    let required = spec.query_parameters.iter().filter(|p| p.required);
    let query: Vec<_> =
        required.map(|p| format!("{}={}", p.name, example(p.schema, 0).as_str().unwrap())).collect();
    if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
}

/// One that leads to something. The contract takes any text for the key of a batch operation; steps are kept of one
/// instance alone.
pub(super) fn valid_path(spec: &OperationSpec) -> String {
    path_of(spec)
        .replace("/batch-operations/a", "/batch-operations/7")
        .replace("/baton/v1/process-instances/42/", "/baton/v1/process-instances/7/")
}

pub(super) fn json_body(spec: &OperationSpec) -> Option<&'static Schema> {
    spec.body.as_ref().filter(|body| body.media == Media::Json).map(|body| body.schema)
}

/// Whether a request may come without its body.
fn is_optional(spec: &OperationSpec) -> bool {
    spec.body.as_ref().is_some_and(|body| !body.required)
}

#[test]
fn a_body_of_null_counts_as_absent_where_it_is_optional() {
    let mut optional = 0;
    for operation in served() {
        let spec = operation.spec();
        if json_body(spec).is_none() {
            continue;
        }
        let broker = Arc::new(FakeBroker::default());
        let gateway = stored_gateway(&broker, &Arc::default());
        let ask = |body: &'static str| {
            let sent = request(spec.method, &valid_path(spec), body);
            let (status, answer) = block_on(async { text(gateway.answer(sent).await).await });
            (status, answer, std::mem::take(&mut *broker.commands.lock()))
        };
        let absent = ask("");
        for null in ["null", " null\n"] {
            let answered = ask(null);
            // Backups are numbered, and each one is another.
            if is_optional(spec) && spec.id.starts_with("takeRuntimeBackup") {
                assert_eq!((answered.0, &answered.2), (absent.0, &absent.2), "{}", spec.id);
            } else if is_optional(spec) {
                assert_eq!(answered, absent, "{}", spec.id);
            } else {
                assert_eq!(answered.0, 400, "{}: {}", spec.id, answered.1);
            }
        }
        optional += usize::from(is_optional(spec));
    }
    assert!(optional > 70, "only {optional} operations take no body");
}

fn alternatives(schema: &Schema) -> usize {
    match &schema.kind {
        Kind::Object(object) => object.alternatives.len(),
        Kind::Choice(alternatives) => alternatives.len(),
        _ => 1,
    }
}

/// The detail of problem details that have all their members.
pub(super) fn problem(status: u16, text: &str) -> String {
    let problem: Value = serde_json::from_str(text).unwrap_or_else(|_| panic!("no problem details: {text}"));
    let members: Vec<_> = problem.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["detail", "instance", "status", "title", "type"]);
    assert_eq!(problem["status"], status);
    problem["detail"].as_str().unwrap().to_owned()
}

#[test]
fn invalid_bodies_of_served_operations_are_refused_naming_the_field() {
    let broker = Arc::new(FakeBroker::default());
    let gateway = gateway(&broker);
    let mut count = 0;
    for operation in served() {
        let spec = operation.spec();
        let Some(schema) = json_body(spec) else { continue };
        for alternative in 0..alternatives(schema) {
            for (bad, path) in spoiled(schema, &example(schema, alternative), "") {
                if bad.is_null() && is_optional(spec) {
                    continue;
                }
                let body = render(&bad);
                let (status, answer) = block_on(async {
                    text(gateway.answer(request(spec.method, &path_of(spec), body.clone())).await).await
                });
                assert_eq!(status, 400, "{} {body}: {answer}", spec.id);
                let detail = problem(status, &answer);
                let named = detail.split("; ").any(|problem| problem.starts_with(&format!("{path}: ")));
                assert!(named, "{} {body}: {detail:?} does not name {path}", spec.id);
                count += 1;
            }
        }
    }
    assert!(broker.commands.lock().is_empty(), "an invalid request reached the broker");
    assert!(count > 400, "only {count} cases were generated");
}

#[test]
fn malformed_free_values_are_refused_naming_the_field() {
    let gateway = gateway(&Arc::default());
    let mut count = 0;
    for operation in served() {
        let spec = operation.spec();
        let Some(Kind::Object(object)) = json_body(spec).map(|schema| &schema.kind) else { continue };
        let is_free = |schema: &Schema| matches!(&schema.kind, Kind::Object(object) if object.is_free());
        for property in object.properties.iter().filter(|property| is_free(property.schema)) {
            for bad in [r#"{"a":}"#, r#"{"a":1,}"#, r#"{"a":[}]}"#, r#"{"a":01}"#, r#"{"a" 1}"#] {
                let mut body = minimal(json_body(spec).unwrap());
                body[property.name] = json!("HERE");
                let body = body.to_string().replace("\"HERE\"", bad);
                let answer = block_on(async {
                    text(gateway.answer(request(spec.method, &path_of(spec), body)).await).await
                });
                assert_eq!(answer.0, 400, "{} {bad}: {}", spec.id, answer.1);
                let detail = problem(400, &answer.1);
                assert!(
                    detail.starts_with("request body is not valid JSON: ") && detail.ends_with(property.name),
                    "{detail}"
                );
                count += 1;
            }
        }
    }
    assert!(count >= 40, "only {count} cases were generated");
}

#[test]
fn bad_path_parameters_are_refused_by_name() {
    let gateway = gateway(&Arc::default());
    let mut count = 0;
    for spec in &OPERATIONS {
        for parameter in spec.path_parameters {
            let Kind::Text(Text { pattern: Some(_), max, .. }) = &parameter.schema.kind else { continue };
            for bad in ["%20", "a%C3", "!", &"1".repeat(max.saturating_add(1).min(2000))] {
                if bad.len() <= *max && bad.starts_with('1') {
                    continue;
                }
                let path = spec.path.replace(&format!("{{{}}}", parameter.name), bad);
                let others = spec.path_parameters.iter().filter(|other| other.name != parameter.name);
                let path = others.fold(path, |path, other| {
                    let value = example(other.schema, 0);
                    let value = value.as_str().unwrap().replace('<', "%3C").replace('>', "%3E");
                    path.replace(&format!("{{{}}}", other.name), &value)
                });
                let answer =
                    block_on(async { text(gateway.answer(request(spec.method, &path, "")).await).await });
                assert_eq!(answer.0, 400, "{} {path}: {}", spec.method, answer.1);
                assert!(
                    problem(400, &answer.1).starts_with(&format!("{}: ", parameter.name)),
                    "{}",
                    answer.1
                );
                count += 1;
            }
        }
    }
    assert!(count > 150, "only {count} cases were generated");
}

/// A valid body, as small as can be.
pub(super) fn small_body(operation: Operation) -> Option<Value> {
    let spec = operation.spec();
    let mut body = json_body(spec).map(minimal);
    // Rules that the contract leaves to the description of the operation.
    match operation {
        Operation::AwaitChanges => body = Some(json!({"topics": ["incidents", "process-instance:7"]})),
        Operation::UpdateJob => body = Some(json!({"changeset": {"retries": 1}})),
        Operation::AssignUserTask => body = Some(json!({"assignee": "ann"})),
        Operation::CreateAgentInstance => {
            let definition = json!({"model": "m", "provider": "p", "systemPrompt": ""});
            body = Some(json!({"elementInstanceKey": "1", "definition": definition}));
        }
        Operation::CreateGlobalTaskListener => {
            body = Some(json!({"id": "a", "type": "t", "eventTypes": ["all"]}));
        }
        Operation::UpdateGlobalTaskListener => body = Some(json!({"type": "t", "eventTypes": ["all"]})),
        Operation::Restore | Operation::RestoreAsClusterAdmin => body = Some(json!({"backupIds": [1]})),
        // There is one with the number 1.
        Operation::TakeHistoryBackup | Operation::TakeHistoryBackupAsClusterAdmin => {
            body = Some(json!({"backupId": 2}));
        }
        Operation::EvaluateExpression => body = Some(json!({"expression": "=a"})),
        Operation::UpdateUserTask => body = Some(json!({"action": "look"})),
        Operation::GetJobTimeSeriesStatistics => {
            let time = "2030-01-01T00:00:00Z";
            let filter = json!({"from": time, "to": time, "jobType": "a", "resolution": "PT1H"});
            body = Some(json!({"filter": filter}));
        }
        _ => {}
    }
    // Batch operations must say whom they mean.
    if let Some(body) =
        body.as_mut().filter(|body| spec.id.ends_with("BatchOperation") && body.get("filter").is_some())
    {
        body["filter"] = match operation {
            Operation::DeleteDecisionInstancesBatchOperation => json!({"state": "FAILED"}),
            Operation::UpdateJobsBatchOperation => json!({"state": "CREATED"}),
            _ => json!({"state": "ACTIVE"}),
        };
        if operation == Operation::ModifyProcessInstancesBatchOperation {
            body["moveInstructions"] = json!([{"sourceElementId": "a", "targetElementId": "b"}]);
        }
        if operation == Operation::UpdateJobsBatchOperation {
            body["changeset"] = json!({"priority": 1});
        }
    }
    body
}

#[test]
fn every_operation_reference_reaches_the_broker() {
    let has_reference = |schema: &Schema| match &schema.kind {
        Kind::Object(object) => {
            object.properties.iter().any(|property| property.name == "operationReference")
        }
        _ => false,
    };
    let mut tried = 0;
    for operation in served() {
        let spec = operation.spec();
        let Some(schema) = json_body(spec) else { continue };
        let is_carried = match &schema.kind {
            Kind::Choice(alternatives) => alternatives.iter().all(|schema| has_reference(schema)),
            _ => has_reference(schema),
        };
        if !is_carried {
            continue;
        }
        let broker = Arc::new(FakeBroker::default());
        let gateway = stored_gateway(&broker, &Arc::default());
        let mut body = small_body(operation).unwrap();
        body["operationReference"] = json!(i64::MAX);
        let sent = request(spec.method, &path_of(spec), body.to_string());
        let (status, answer) = block_on(async { text(gateway.answer(sent).await).await });
        check_response(spec, status, &answer);
        assert_eq!(broker.last().facts().operation_reference, Some(i64::MAX as u64), "{}", spec.id);
        tried += 1;
    }
    assert_eq!(tried, 21);
}

#[test]
fn valid_requests_are_answered_as_the_contract_has_it() {
    for operation in served() {
        let spec = operation.spec();
        if spec.body.as_ref().is_some_and(|body| body.media == Media::Multipart) {
            continue;
        }
        // There are none, or no links to them.
        if matches!(
            operation,
            Operation::GetDocument | Operation::DeleteDocument | Operation::CreateDocumentLink
        ) {
            continue;
        }
        let gateway = stored_gateway(&Arc::default(), &Arc::default());
        let body = small_body(operation).map(|body| body.to_string()).unwrap_or_default();
        let path = valid_path(spec);
        let (status, answer) =
            block_on(async { text(gateway.answer(request(spec.method, &path, body.clone())).await).await });
        check_response(spec, status, &answer);
    }
}

/// Operations that the alpha of 8.10 had and no release has.
const OF_THE_ALPHA: &[&str] = &["createAgentInstanceHistoryItem"];

/// Strictly: declared status, every required member, nothing undeclared at any depth.
pub(super) fn check_response(spec: &OperationSpec, status: u16, body: &str) {
    assert!((200..300).contains(&status), "{}: {status} {body}", spec.id);
    let declared = spec.responses.iter().find(|(declared, _)| *declared == status);
    let (_, schema) = declared.unwrap_or_else(|| panic!("{}: {status} is not declared", spec.id));
    match schema {
        // Files are not JSON.
        None if spec.id.ends_with("XML") => {
            assert_ne!(body, "", "{} answers {status} without a file", spec.id);
        }
        None if spec.id == "getResourceContentBinary" => {}
        None => assert_eq!(body, "", "{} answers {status} with a body", spec.id),
        Some(_) if spec.id == "getResourceContent" => {}
        Some(schema) => {
            assert_eq!(validate(schema, body).err(), None, "{}: {body}", spec.id);
            if !is_own(spec) && !OF_THE_ALPHA.contains(&spec.id) {
                check_published(spec.id, status, body);
            }
        }
    }
}

/// Whether an operation is of our own, which no release of the compatible system has.
pub(super) fn is_own(spec: &OperationSpec) -> bool {
    spec.path.starts_with("/baton/")
}

/// Clients of each release that has the operation understand its answer.
fn check_published(operation: &str, status: u16, body: &str) {
    let releases = [
        ("8.9", published::release_8_9::ANSWERS.as_slice()),
        ("8.10", published::release_8_10::ANSWERS.as_slice()),
    ];
    let mut known = 0;
    for (release, answers) in releases {
        let Some(answers) = answers.iter().find(|answers| answers.operation == operation) else { continue };
        let declared = answers.responses.iter().find(|(declared, _)| *declared == status);
        let schema = declared.and_then(|(_, schema)| *schema);
        let schema = schema.unwrap_or_else(|| panic!("{operation}: {release} declares no JSON for {status}"));
        assert_eq!(validate(schema, body).err(), None, "{operation} of {release}: {body}");
        known += 1;
    }
    assert_ne!(known, 0, "no release has {operation}");
}

#[test]
fn every_operation_is_served() {
    let gateway = stored_gateway(&Arc::default(), &Arc::default());
    let all = ROUTES.iter().flat_map(|node| node.operations).flatten();
    assert_eq!(all.clone().count(), OPERATIONS.len());
    for operation in all {
        let spec = operation.spec();
        assert!(served().contains(&operation), "{}", spec.id);
        let body = json_body(spec).map(|schema| example(schema, 0).to_string()).unwrap_or_default();
        let (status, answer) =
            block_on(async { text(gateway.answer(request(spec.method, &path_of(spec), body)).await).await });
        assert_ne!(status, 501, "{}: {answer}", spec.id);
    }
}

#[test]
fn spoiled_bodies_of_all_operations_are_refused_naming_the_field() {
    for spec in &OPERATIONS {
        let Some(schema) = json_body(spec) else { continue };
        for alternative in 0..alternatives(schema) {
            let valid = example(schema, alternative);
            assert_eq!(validate(schema, &valid.to_string()).err(), None, "{} {valid}", spec.id);
            for (bad, path) in spoiled(schema, &valid, "") {
                let body = render(&bad);
                let Err(invalid) = validate(schema, &body) else { panic!("{} takes {body}", spec.id) };
                let named = invalid.0.split("; ").any(|problem| problem.starts_with(&format!("{path}: ")));
                assert!(named, "{} {body}: {:?} does not name {path}", spec.id, invalid.0);
            }
        }
    }
}
