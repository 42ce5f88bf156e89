//! Where in a token a name or a list of names stands.

use serde_json::{Map, Value};

use super::SettingsError;

/// The longest path, in steps.
const STEPS_MAX: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Name(String),
    /// All members of a list.
    Each,
}

/// A path to a claim. Either a name (`sub`), which may have dots (`https://example.com/groups`); or names with dots
/// between (`realm_access.roles`), which are looked for where there is no claim of the whole name; or of JSONPath
/// (RFC 9535) names and `[*]` (`$['resource_access']['baton'].roles`, `$.groups[*].name`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimPath {
    /// The claim of this name, if there is one, goes before the steps.
    whole: Option<String>,
    steps: Vec<Step>,
}

impl ClaimPath {
    /// Reads a path.
    ///
    /// # Errors
    /// [`SettingsError::ClaimPath`].
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let error = |reason| SettingsError::ClaimPath { path: text.to_owned(), reason };
        let path = match text.strip_prefix('$') {
            Some(rest) => Self { whole: None, steps: steps(rest).map_err(error)? },
            None => Self {
                whole: Some(text.to_owned()),
                steps: text.split('.').map(|name| Step::Name(name.to_owned())).collect(),
            },
        };
        if text.is_empty() || path.steps.is_empty() {
            return Err(error("it names nothing"));
        }
        if path.steps.len() > STEPS_MAX {
            return Err(error("it has too many steps"));
        }
        Ok(path)
    }

    fn select<'a>(&self, claims: &'a Map<String, Value>) -> Vec<&'a Value> {
        if let Some(value) = self.whole.as_ref().and_then(|name| claims.get(name)) {
            return vec![value];
        }
        let mut steps = self.steps.iter();
        let mut found: Vec<&Value> = match steps.next() {
            Some(Step::Name(name)) => claims.get(name).into_iter().collect(),
            _ => vec![],
        };
        for step in steps {
            found = found
                .into_iter()
                .flat_map(|value| -> Vec<&Value> {
                    match (step, value) {
                        (Step::Name(name), Value::Object(members)) => members.get(name).into_iter().collect(),
                        (Step::Each, Value::Array(members)) => members.iter().collect(),
                        _ => vec![],
                    }
                })
                .collect();
        }
        found
    }

    /// The text there; none, if there is something else, nothing, or several.
    pub(super) fn text<'a>(&self, claims: &'a Map<String, Value>) -> Option<&'a str> {
        match self.select(claims)[..] {
            [value] => value.as_str().filter(|text| !text.is_empty()),
            _ => None,
        }
    }

    /// All texts there, each once; empty, if there is nothing; none, if there is something else.
    pub(super) fn texts(&self, claims: &Map<String, Value>) -> Option<Vec<String>> {
        let mut texts: Vec<String> = Vec::new();
        for value in self.select(claims) {
            match value {
                Value::String(text) => texts.push(text.clone()),
                Value::Array(members) => {
                    for member in members {
                        texts.push(member.as_str()?.to_owned());
                    }
                }
                Value::Null => {}
                _ => return None,
            }
        }
        texts.sort_unstable();
        texts.dedup();
        Some(texts)
    }
}

/// What follows the `$` of a JSONPath.
fn steps(mut rest: &str) -> Result<Vec<Step>, &'static str> {
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("[*]") {
            steps.push(Step::Each);
            rest = after;
        } else if let Some(after) = rest.strip_prefix('[') {
            let quote = after.chars().next().filter(|c| matches!(c, '\'' | '"'));
            let quote = quote.ok_or("in brackets there is a name in quotes or *")?;
            let (name, after) = after[1..].split_once(quote).ok_or("a quote is not closed")?;
            if name.contains('\\') {
                return Err("names with a backslash are not supported");
            }
            steps.push(Step::Name(name.to_owned()));
            rest = after.strip_prefix(']').ok_or("a bracket is not closed")?;
        } else if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            let (name, after) = after.split_at(end);
            if name.is_empty() || name == "*" {
                return Err("a name must follow a dot");
            }
            steps.push(Step::Name(name.to_owned()));
            rest = after;
        } else {
            return Err("after $ there are names behind dots or in brackets");
        }
    }
    if steps.first() == Some(&Step::Each) {
        return Err("a name comes first");
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts(path: &str, claims: Value) -> Option<Vec<String>> {
        let Value::Object(claims) = claims else { panic!("claims are an object") };
        ClaimPath::parse(path).unwrap().texts(&claims)
    }

    #[test]
    fn names_are_found_however_they_are_written() {
        let claims = json!({
            "groups": ["b", "a", "b"],
            "one": "x",
            "https://example.com/groups": ["dotted"],
            "realm_access": {"roles": ["admin"]},
            "list": [{"name": "first"}, {"name": "second"}, {"other": 1}],
        });
        let found = |path: &str| texts(path, claims.clone()).unwrap();
        assert_eq!(found("groups"), ["a", "b"]);
        assert_eq!(found("one"), ["x"]);
        assert_eq!(found("https://example.com/groups"), ["dotted"]);
        assert_eq!(found("realm_access.roles"), ["admin"]);
        assert_eq!(found("$.realm_access.roles"), ["admin"]);
        assert_eq!(found("$['realm_access'][\"roles\"]"), ["admin"]);
        assert_eq!(found("$['https://example.com/groups']"), ["dotted"]);
        assert_eq!(found("$.list[*].name"), ["first", "second"]);
        assert_eq!(found("$.groups[*]"), ["a", "b"]);
        assert_eq!(found("missing.entirely"), Vec::<String>::new());
    }

    #[test]
    fn the_claim_of_the_whole_name_goes_first() {
        assert_eq!(texts("a.b", json!({"a.b": "whole", "a": {"b": "steps"}})).unwrap(), ["whole"]);
    }

    #[test]
    fn what_is_no_list_of_names_is_none() {
        assert_eq!(texts("groups", json!({"groups": {"a": 1}})), None);
        assert_eq!(texts("groups", json!({"groups": ["a", 1]})), None);
        assert_eq!(texts("groups", json!({"groups": null})), Some(vec![]));
    }

    #[test]
    fn a_name_is_one_text() {
        let Value::Object(claims) = json!({"sub": "ann", "n": 7, "empty": "", "l": ["a"]}) else { panic!() };
        let text = |path: &str| ClaimPath::parse(path).unwrap().text(&claims);
        assert_eq!(text("sub"), Some("ann"));
        assert_eq!((text("n"), text("empty"), text("l"), text("none")), (None, None, None, None));
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for path in ["", "$", "$x", "$..a", "$.a[", "$['a", "$['a'", "$[0]", "$[*]", "$.*", "$['a\\'b']"] {
            assert!(ClaimPath::parse(path).is_err(), "{path}");
        }
        assert!(ClaimPath::parse(&"a.".repeat(20)).is_err());
    }
}
