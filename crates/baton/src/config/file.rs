//! The configuration file: YAML, read into settings with their places.

use std::fmt;
use std::path::Path;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

use super::source::{ConfigError, Entries, Entry, Origin, Problem};

/// A configuration file larger than this is none.
const FILE_BYTES_MAX: usize = 1 << 20;
/// How deep sections may nest.
const DEPTH_MAX: usize = 4;

/// Any YAML value; scalars keep their text.
enum Node {
    Nothing,
    Scalar(String),
    List,
    Map(Vec<(Spanned<String>, Spanned<Node>)>),
}

/// Reads the settings of a file; its name is for the messages only.
pub(crate) fn read(path: &Path, text: &str) -> Result<Entries, ConfigError> {
    let place = |line, column| Origin::File { path: path.to_owned(), line, column };
    let fail = |origin, reason: String| ConfigError { problems: vec![Problem::at(origin, reason)] };
    if text.len() > FILE_BYTES_MAX {
        return Err(fail(place(0, 0), format!("larger than {FILE_BYTES_MAX} bytes")));
    }
    let root: Option<Spanned<Node>> = serde_saphyr::from_str(text).map_err(|error| {
        let (line, column) = error.location().map_or((0, 0), |at| (at.line(), at.column()));
        fail(place(line, column), format!("not valid YAML: {}", error.without_snippet()))
    })?;
    let mut entries = Entries::new();
    let mut problems = Vec::new();
    match root.map(|root| root.value) {
        None | Some(Node::Nothing) => {}
        Some(Node::Map(members)) => collect("", members, 1, &place, &mut entries, &mut problems),
        Some(_) => {
            problems.push(Problem::at(place(1, 1), "expected sections such as 'data:' with keys in them"));
        }
    }
    if problems.is_empty() { Ok(entries) } else { Err(ConfigError { problems }) }
}

fn collect(
    prefix: &str,
    members: Vec<(Spanned<String>, Spanned<Node>)>,
    depth: usize,
    place: &dyn Fn(u64, u64) -> Origin,
    entries: &mut Entries,
    problems: &mut Vec<Problem>,
) {
    for (name, node) in members {
        let key = if prefix.is_empty() { name.value } else { format!("{prefix}.{}", name.value) };
        let origin = place(name.referenced.line(), name.referenced.column());
        match node.value {
            Node::Scalar(text) => drop(entries.insert(key, Entry { text, origin })),
            Node::Map(members) if depth < DEPTH_MAX => {
                collect(&key, members, depth + 1, place, entries, problems);
            }
            Node::Map(_) => problems.push(Problem::at(origin, format!("'{key}' nests too deeply"))),
            Node::List => problems
                .push(Problem::at(origin, format!("expected one value for '{key}', but found a list"))),
            // A section whose keys are all commented out.
            Node::Nothing if depth == 1 => {}
            Node::Nothing => problems.push(Problem::at(origin, format!("'{key}' has no value"))),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

macro_rules! scalars {
    ($($visit:ident: $type:ty),*) => {
        $(fn $visit<E>(self, value: $type) -> Result<Node, E> {
            Ok(Node::Scalar(value.to_string()))
        })*
    };
}

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a section or a value")
    }

    scalars!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Nothing)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Nothing)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        Node::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        while list.next_element::<serde::de::IgnoredAny>()?.is_some() {}
        Ok(Node::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Node::Map(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Entries, ConfigError> {
        read(Path::new("b.yaml"), text)
    }

    #[test]
    fn settings_keep_their_text_and_their_place() {
        let entries =
            read_text("# Mine\ndata:\n  directory: \"0\"\n  n: 1.5\nexport:\n  ndjson:\n    on: true\n")
                .unwrap();
        let told: Vec<_> = entries.iter().map(|(key, e)| format!("{key}={} {}", e.text, e.origin)).collect();
        assert_eq!(
            told,
            ["data.directory=0 b.yaml:3:3", "data.n=1.5 b.yaml:4:3", "export.ndjson.on=true b.yaml:7:5"]
        );
        for empty in ["", "# nothing\n", "data:\n"] {
            assert!(read_text(empty).unwrap().is_empty(), "{empty:?}");
        }
    }

    #[test]
    fn what_is_no_configuration_is_refused_with_its_place() {
        for (text, mention) in [
            ("data: [1]", "b.yaml:1:1: expected one value for 'data', but found a list"),
            ("data:\n  a:\n", "b.yaml:2:3: 'data.a' has no value"),
            ("data: {\n", "b.yaml:"),
            ("data:\n  a: 1\n  a: 2\n", "b.yaml:3:3: not valid YAML"),
            ("hello", "expected sections"),
            ("a: {a: {a: {a: {a: 1}}}}", "'a.a.a.a' nests too deeply"),
        ] {
            let error = read_text(text).unwrap_err().to_string();
            assert!(error.contains(mention), "{error} does not mention {mention}");
        }
    }
}
