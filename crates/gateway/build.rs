//! Compiles `api/contract.json` and `api/baton.json` to static tables: schemas, operations, routes; and the answers
//! that releases have published, for tests. Stops at what it does not know.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::{env, fs, path::Path};

use serde_json::{Map, Value};

/// Patterns of the contract and the matchers for them in `src/rest/contract/pattern.rs`, in the order there.
const PATTERNS: [(&str, &str); 9] = [
    ("^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=)?$", "Base64"),
    (r"^[\p{L}_][\p{L}\p{N}_\-\.]*$", "Identifier"),
    ("^(<default>|[A-Za-z0-9_@.+-]+)$", "TenantId"),
    (r"^[A-Za-z][A-Za-z0-9_\-:.]{0,99}$", "Tag"),
    ("^-?[0-9]+$", "Key"),
    ("^[0-9]+-[0-9]+$", "KeyPair"),
    ("^[A-Za-z0-9_@.+-]+$", "EntityId"),
    ("^[A-Za-z0-9_~@.+-]+$", "MemberId"),
    (r"^\d*\*$", "NumberPrefix"),
];
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];
/// An object's properties are counted in a 64-bit mask.
const MAX_PROPERTIES: usize = 64;

fn main() {
    println!("cargo:rerun-if-changed=api");
    println!("cargo:rerun-if-changed=build.rs");
    let contract = merged(read("contract"), read("baton"));
    let mut compiler = Compiler::new(&contract, Unnamed::Refused);
    let operations = contract["operations"].as_array().expect("operations is a list");
    let texts = PATTERNS.map(|(text, _)| text);
    writeln!(compiler.out, "pub(crate) static PATTERNS: [&str; {}] = {texts:?};", texts.len())
        .expect("memory");
    compiler.operations(operations);
    compiler.routes(operations);
    write("contract", &compiler.out);
    // Releases add members to answers, so that clients of an older one must ignore them.
    for (release, unnamed) in [("answers-8.9", Unnamed::Ignored), ("answers-8.10", Unnamed::Refused)] {
        let contract = read(release);
        let mut compiler = Compiler::new(&contract, unnamed);
        compiler.answers(contract["operations"].as_array().expect("operations is a list"));
        write(release, &compiler.out);
    }
}

fn read(name: &str) -> Value {
    let text = fs::read_to_string(format!("api/{name}.json")).expect("the contract is readable");
    serde_json::from_str(&text).expect("the contract is JSON")
}

/// The contract with the operations of our own.
fn merged(mut contract: Value, own: Value) -> Value {
    let (schemas, operations) = (&own["schemas"], &own["operations"]);
    let all = contract["schemas"].as_object_mut().expect("schemas by name");
    for (name, schema) in schemas.as_object().expect("schemas by name") {
        assert!(all.insert(name.clone(), schema.clone()).is_none(), "two schemas are named {name}");
    }
    let all = contract["operations"].as_array_mut().expect("operations is a list");
    all.extend(operations.as_array().expect("operations is a list").iter().cloned());
    contract
}

fn write(name: &str, tables: &str) {
    let dir = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&dir).join(format!("{name}.rs")), tables).expect("OUT_DIR is writable");
}

/// Members that an object does not name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unnamed {
    Refused,
    Ignored,
}

struct Compiler<'a> {
    contract: &'a Value,
    unnamed: Unnamed,
    /// Rendered schema to the name of its static.
    idents: HashMap<String, String>,
    out: String,
}

impl<'a> Compiler<'a> {
    fn new(contract: &'a Value, unnamed: Unnamed) -> Self {
        Self { contract, unnamed, idents: HashMap::new(), out: String::new() }
    }

    /// Follows references; the reference may add `nullable`.
    fn resolve(&self, schema: &Value) -> Map<String, Value> {
        let schema = schema.as_object().expect("a schema is an object");
        let Some(name) = schema.get("$ref").and_then(Value::as_str) else { return schema.clone() };
        let target = &self.contract["schemas"][name];
        assert!(target.is_object(), "schema {name} is missing");
        let mut target = self.resolve(target);
        if let Some(nullable) = schema.get("nullable") {
            target.insert("nullable".into(), nullable.clone());
        }
        target
    }

    /// The static for a schema.
    fn schema(&mut self, schema: &Value) -> String {
        let schema = self.resolve(schema);
        let nullable = schema.get("nullable") == Some(&Value::Bool(true));
        let kind = self.kind(&schema);
        self.named(&format!("Schema {{ nullable: {nullable}, kind: {kind} }}"))
    }

    /// The name of the static with a rendered schema.
    fn named(&mut self, rendered: &str) -> String {
        if let Some(ident) = self.idents.get(rendered) {
            return ident.clone();
        }
        let ident = format!("S{}", self.idents.len());
        writeln!(self.out, "pub(crate) static {ident}: Schema = {rendered};").expect("memory");
        self.idents.insert(rendered.to_owned(), ident.clone());
        ident
    }

    fn kind(&mut self, schema: &Map<String, Value>) -> String {
        if let Some(alternatives) = schema.get("oneOf").and_then(Value::as_array) {
            return self.choice(alternatives, schema.get("discriminator"));
        }
        let number = |key: &str| schema.get(key).and_then(Value::as_i64);
        match schema.get("type").and_then(Value::as_str) {
            None => {
                let known = schema.keys().all(|k| k == "nullable");
                assert!(known, "a schema without a type: {schema:?}");
                "Kind::Any".into()
            }
            Some("boolean") => "Kind::Boolean".into(),
            Some("integer") => {
                let (min, max) = match schema.get("format").and_then(Value::as_str) {
                    Some("int32") => (i64::from(i32::MIN), i64::from(i32::MAX)),
                    _ => (i64::MIN, i64::MAX),
                };
                let (min, max) = (number("minimum").unwrap_or(min), number("maximum").unwrap_or(max));
                // i64::MIN has no literal.
                let min = if min == i64::MIN { "i64::MIN".into() } else { min.to_string() };
                format!("Kind::Integer {{ min: {min}, max: {max} }}")
            }
            Some("number") => "Kind::Number".into(),
            Some("string") => text_kind(schema),
            Some("array") => {
                let items = self.schema(&schema["items"]);
                let (min, max) = (number("minItems").unwrap_or(0), number("maxItems"));
                let max = max.map_or("usize::MAX".into(), |max| max.to_string());
                let unique = schema.get("uniqueItems").is_some();
                format!("Kind::Array(Array {{ items: &{items}, min: {min}, max: {max}, unique: {unique} }})")
            }
            Some("object") => self.object(std::slice::from_ref(schema), None),
            Some(other) => panic!("unknown type {other}"),
        }
    }

    /// Objects among the alternatives become one object with alternatives; the rest must differ in JSON type.
    fn choice(&mut self, alternatives: &[Value], discriminator: Option<&Value>) -> String {
        let mut objects = Vec::new();
        let mut others = Vec::new();
        let mut types = Vec::new();
        for alternative in self.flattened(alternatives) {
            let resolved = self.resolve(&alternative);
            if resolved.get("type").and_then(Value::as_str) == Some("object") {
                objects.push(resolved);
                continue;
            }
            let ident = self.schema(&alternative);
            if !others.contains(&ident) {
                let name = resolved["type"].as_str().expect("an alternative has a type").to_owned();
                assert!(!types.contains(&name), "two alternatives of type {name}: {alternatives:?}");
                types.push(name);
                others.push(ident);
            }
        }
        let merged = (!objects.is_empty()).then(|| self.object(&objects, discriminator));
        match (merged, others.as_slice()) {
            (Some(kind), []) => kind,
            (None, [_]) => self.kind(&self.resolve(&self.flattened(alternatives)[0])),
            (merged, _) => {
                if let Some(kind) = merged {
                    others.push(self.named(&format!("Schema {{ nullable: false, kind: {kind} }}")));
                }
                format!("Kind::Choice(&[&{}])", others.join(", &"))
            }
        }
    }

    /// Alternatives of alternatives are alternatives.
    fn flattened(&self, alternatives: &[Value]) -> Vec<Value> {
        let mut flat = Vec::new();
        for alternative in alternatives {
            match self.resolve(alternative).get("oneOf").and_then(Value::as_array) {
                Some(inner) => flat.extend(self.flattened(inner)),
                None => flat.push(alternative.clone()),
            }
        }
        flat
    }

    /// The static for a property as the alternatives of an object have it: where they differ, it is one or the other.
    fn property(&mut self, schemas: &[&Value]) -> String {
        let idents: BTreeSet<_> = schemas.iter().map(|schema| self.schema(schema)).collect();
        if idents.len() == 1 {
            return self.schema(schemas[0]);
        }
        let nullable = schemas.iter().any(|schema| schema["nullable"] == Value::Bool(true));
        let plain = schemas.iter().map(|schema| {
            let mut plain = (*schema).clone();
            plain.as_object_mut().expect("a schema is an object").remove("nullable");
            plain
        });
        let plain: Vec<_> = plain.collect();
        self.schema(&serde_json::json!({"nullable": nullable, "oneOf": plain}))
    }

    fn object(&mut self, alternatives: &[Map<String, Value>], discriminator: Option<&Value>) -> String {
        let mut schemas: BTreeMap<&String, Vec<&Value>> = BTreeMap::new();
        for alternative in alternatives {
            for (name, schema) in
                alternative.get("properties").and_then(Value::as_object).into_iter().flatten()
            {
                schemas.entry(name).or_default().push(schema);
            }
        }
        let properties: BTreeMap<String, String> =
            schemas.into_iter().map(|(name, schemas)| (name.clone(), self.property(&schemas))).collect();
        assert!(properties.len() <= MAX_PROPERTIES, "more than {MAX_PROPERTIES} properties");
        let index = |name: &str| {
            properties.keys().position(|p| p == name).unwrap_or_else(|| panic!("no property {name}"))
        };
        let mut masks = Vec::new();
        for alternative in alternatives {
            let allowed = alternative.get("properties").and_then(Value::as_object).into_iter().flatten();
            let allowed: u64 = allowed.map(|(name, _)| 1 << index(name)).sum();
            let required = alternative.get("required").and_then(Value::as_array).into_iter().flatten();
            let required: u64 = required.map(|name| 1 << index(name.as_str().expect("a name"))).sum();
            masks.push(format!("Alternative {{ allowed: {allowed:#x}, required: {required:#x} }}"));
        }
        let discriminator = discriminator.map_or("None".into(), |discriminator| {
            let property = index(discriminator["property"].as_str().expect("a name"));
            let mapping = discriminator["mapping"].as_object().expect("a mapping");
            assert_eq!(mapping.len(), alternatives.len(), "a discriminator names every alternative");
            let values = mapping.iter().map(|(value, name)| {
                let target = self.resolve(&self.contract["schemas"][name.as_str().expect("a name")]);
                let at = alternatives.iter().position(|a| *a == target).expect("mapped to an alternative");
                format!("({value:?}, {at})")
            });
            let values = values.collect::<Vec<_>>().join(", ");
            format!("Some(Discriminator {{ property: {property}, values: &[{values}] }})")
        });
        let additional = match alternatives[0].get("additionalProperties") {
            Some(Value::Bool(true)) => "Additional::Any".into(),
            Some(schema @ Value::Object(_)) => format!("Additional::Each(&{})", self.schema(schema)),
            _ if properties.is_empty() || self.unnamed == Unnamed::Ignored => "Additional::Any".into(),
            _ => "Additional::None".to_owned(),
        };
        let properties: Vec<_> =
            properties.iter().map(|(n, s)| format!("Property {{ name: {n:?}, schema: &{s} }}")).collect();
        format!(
            "Kind::Object(Object {{ properties: &[{}], alternatives: &[{}], discriminator: {discriminator}, \
             additional: {additional} }})",
            properties.join(", "),
            masks.join(", ")
        )
    }

    /// Statuses of an operation with the schemas of their JSON.
    fn responses(&mut self, operation: &Value) -> String {
        let responses = operation["responses"].as_object().expect("responses").iter();
        let responses = responses.map(|(status, schema)| {
            let schema =
                if schema.is_null() { "None".into() } else { format!("Some(&{})", self.schema(schema)) };
            format!("({status}, {schema})")
        });
        responses.collect::<Vec<_>>().join(", ")
    }

    fn answers(&mut self, operations: &[Value]) {
        let mut answers = String::new();
        for operation in operations {
            let id = operation["id"].as_str().expect("an id");
            let responses = self.responses(operation);
            writeln!(answers, "    Answers {{ operation: {id:?}, responses: &[{responses}] }},")
                .expect("memory");
        }
        let count = operations.len();
        writeln!(self.out, "pub(crate) static ANSWERS: [Answers; {count}] = [\n{answers}];").expect("memory");
    }

    fn operations(&mut self, operations: &[Value]) {
        let mut specs = String::new();
        let mut names = String::new();
        for operation in operations {
            let id = operation["id"].as_str().expect("an id");
            let parameters = |compiler: &mut Self, place: &str| {
                let list = operation[place].as_array().into_iter().flatten();
                let list = list.map(|p| {
                    let (name, schema) = (&p["name"], compiler.schema(&p["schema"]));
                    let required = place == "pathParameters" || p["required"] == Value::Bool(true);
                    format!("Parameter {{ name: {name}, schema: &{schema}, required: {required} }}")
                });
                list.collect::<Vec<_>>().join(", ")
            };
            let path_parameters = parameters(self, "pathParameters");
            let query_parameters = parameters(self, "queryParameters");
            let body = match &operation["body"] {
                Value::Null => "None".into(),
                body => {
                    let media = match body["media"].as_str() {
                        Some("application/json") => "Json",
                        Some("multipart/form-data") => "Multipart",
                        other => panic!("unknown media type {other:?}"),
                    };
                    let (schema, required) =
                        (self.schema(&body["schema"]), body["required"] == Value::Bool(true));
                    format!("Some(Body {{ media: Media::{media}, schema: &{schema}, required: {required} }})")
                }
            };
            let responses = self.responses(operation);
            let method = operation["method"].as_str().expect("a method");
            let path = operation["path"].as_str().expect("a path");
            writeln!(names, "    /// `{method} {path}`.\n    {},", pascal(id)).expect("memory");
            writeln!(
                specs,
                "    OperationSpec {{ id: {id:?}, method: {method:?}, path: {path:?}, \
                 path_parameters: &[{path_parameters}], query_parameters: &[{query_parameters}], body: {body}, \
                 responses: &[{responses}] }},"
            )
            .expect("memory");
        }
        let count = operations.len();
        writeln!(
            self.out,
            "/// The operations of the contract, in its order.\n\
             #[derive(Debug, Clone, Copy, PartialEq, Eq)]\n#[repr(u16)]\n\
             pub(crate) enum Operation {{\n{names}}}\n\
             pub(crate) static OPERATIONS: [OperationSpec; {count}] = [\n{specs}];"
        )
        .expect("memory");
    }

    fn routes(&mut self, operations: &[Value]) {
        let mut nodes = vec![Node::default()];
        for operation in operations {
            let path = operation["path"].as_str().expect("a path");
            let mut at = 0;
            for segment in path.trim_start_matches('/').split('/') {
                let fresh = nodes.len();
                let next = if segment.starts_with('{') && segment.ends_with('}') {
                    *nodes[at].parameter.get_or_insert(fresh)
                } else {
                    assert!(!segment.contains('{'), "a parameter inside a segment: {path}");
                    *nodes[at].literals.entry(segment.to_owned()).or_insert(fresh)
                };
                if next == fresh {
                    nodes.push(Node::default());
                }
                at = next;
            }
            let method = METHODS.iter().position(|m| operation["method"] == *m).expect("a known method");
            let id = operation["id"].as_str().expect("an id");
            assert!(nodes[at].operations[method].replace(pascal(id)).is_none(), "two operations at {path}");
        }
        writeln!(self.out, "pub(crate) static ROUTES: [RouteNode; {}] = [", nodes.len()).expect("memory");
        for node in &nodes {
            let literals: Vec<_> =
                node.literals.iter().map(|(name, at)| format!("({name:?}, {at})")).collect();
            let operation = |id: &Option<String>| {
                id.as_ref().map_or("None".into(), |id| format!("Some(Operation::{id})"))
            };
            let operations: Vec<_> = node.operations.iter().map(operation).collect();
            writeln!(
                self.out,
                "    RouteNode {{ literals: &[{}], parameter: {:?}, operations: [{}] }},",
                literals.join(", "),
                node.parameter,
                operations.join(", ")
            )
            .expect("memory");
        }
        self.out.push_str("];\n");
    }
}

#[derive(Default)]
struct Node {
    literals: BTreeMap<String, usize>,
    parameter: Option<usize>,
    operations: [Option<String>; METHODS.len()],
}

fn text_kind(schema: &Map<String, Value>) -> String {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let values: Vec<_> = values.iter().filter(|v| v.is_string()).map(Value::to_string).collect();
        return format!("Kind::Enum(&[{}])", values.join(", "));
    }
    let number = |key: &str| schema.get(key).and_then(Value::as_u64);
    let pattern = schema.get("pattern").and_then(Value::as_str).map_or("None".into(), |pattern| {
        let known = PATTERNS.iter().find(|(text, _)| *text == pattern);
        let (_, name) = known.unwrap_or_else(|| panic!("no matcher for the pattern {pattern}"));
        format!("Some(Pattern::{name})")
    });
    let format = match schema.get("format").and_then(Value::as_str) {
        None => "Format::Plain",
        Some("date-time") => "Format::DateTime",
        Some("binary") => "Format::Binary",
        Some(other) => panic!("unknown text format {other}"),
    };
    let (min, max) = (number("minLength").unwrap_or(0), number("maxLength"));
    let max = max.map_or("usize::MAX".into(), |max| max.to_string());
    format!("Kind::Text(Text {{ min: {min}, max: {max}, pattern: {pattern}, format: {format} }})")
}

fn pascal(id: &str) -> String {
    let mut chars = id.chars();
    chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect()
}
