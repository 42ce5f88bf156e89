//! Where in a token a name or a list of names stands.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::json_path::JsonPath;
use super::settings_error::SettingsError;

/// The longest path, in steps.
const STEPS_MAX: usize = 16;
/// A path to a claim. Either a name (`sub`), which may have dots (`https://example.com/groups`); or names with dots
/// between (`realm_access.roles`), which are looked for where there is no claim of the whole name; or, beginning
/// with `$`, a JSONPath (RFC 9535): `$['resource_access']['baton'].roles`, `$.groups[?@.active == true].name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimPath(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// The claim of the whole name, if there is one, goes before the steps.
    Named {
        whole: String,
        steps: Vec<String>,
    },
    Expression(JsonPath),
}

impl ClaimPath {
    /// Reads a path.
    ///
    /// # Errors
    /// [`SettingsError::ClaimPath`].
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let error = |reason: String| SettingsError::ClaimPath { path: text.to_owned(), reason };
        if Self::is_expression(text) {
            return JsonPath::parse(text).map(|path| Self(Kind::Expression(path))).map_err(error);
        }
        let steps: Vec<_> = text.split('.').map(ToOwned::to_owned).collect();
        if text.is_empty() {
            return Err(error("it names nothing".to_owned()));
        }
        if steps.len() > STEPS_MAX {
            return Err(error("it has too many steps".to_owned()));
        }
        Ok(Self(Kind::Named { whole: text.to_owned(), steps }))
    }

    /// Whether a text is read as a JSONPath.
    pub fn is_expression(text: &str) -> bool {
        text.starts_with('$')
    }

    fn select<'a>(&self, claims: &'a Map<String, Value>) -> Vec<Cow<'a, Value>> {
        match &self.0 {
            Kind::Named { whole, steps } => {
                let by_steps = || {
                    let (first, rest) = steps.split_first()?;
                    rest.iter().try_fold(claims.get(first)?, |value, name| value.get(name))
                };
                claims.get(whole).or_else(by_steps).into_iter().map(Cow::Borrowed).collect()
            }
            Kind::Expression(path) => {
                path.select(&Value::Object(claims.clone())).into_iter().map(Cow::Owned).collect()
            }
        }
    }

    /// The text there; none, if there is something else, nothing, or several.
    pub(super) fn text(&self, claims: &Map<String, Value>) -> Option<String> {
        match &self.select(claims)[..] {
            [value] => value.as_str().filter(|text| !text.is_empty()).map(ToOwned::to_owned),
            _ => None,
        }
    }

    /// All texts there, each once; empty, if there is nothing; none, if there is something else.
    pub(super) fn texts(&self, claims: &Map<String, Value>) -> Option<Vec<String>> {
        let mut texts: Vec<String> = Vec::new();
        for value in self.select(claims) {
            match &*value {
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

    /// Values of claims that mapping rules may compare with: see [`claim_values`].
    pub fn values(&self, claims: &Map<String, Value>) -> Vec<String> {
        self.select(claims).iter().flat_map(|value| claim_values(value).collect::<Vec<_>>()).collect()
    }
}

/// Texts, numbers and booleans as text, of a list those of its members; nothing of anything else.
pub fn claim_values(value: &Value) -> impl Iterator<Item = String> {
    let values = match value {
        Value::Array(members) => members.as_slice(),
        value => std::slice::from_ref(value),
    };
    values.iter().filter_map(|value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::json_path::NESTING_MAX;
    use super::*;

    fn object(claims: Value) -> Map<String, Value> {
        let Value::Object(claims) = claims else { panic!("claims are an object") };
        claims
    }

    fn texts(path: &str, claims: Value) -> Option<Vec<String>> {
        ClaimPath::parse(path).unwrap().texts(&object(claims))
    }

    #[test]
    fn names_are_found_however_they_are_written() {
        let claims = json!({
            "groups": ["b", "a", "b"],
            "one": "x",
            "https://example.com/groups": ["dotted"],
            "realm_access": {"roles": ["admin"]},
            "list": [{"name": "first", "on": true}, {"name": "second", "on": false}, {"other": 1}],
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
        assert_eq!(found("$.list[?@.on == true].name"), ["first"]);
        assert_eq!(found("$.list[0].name"), ["first"]);
        assert_eq!(found("$.groups[*]"), ["a", "b"]);
        assert_eq!(found("$.groups[-2:]"), ["a", "b"]);
        assert_eq!(found("$..roles"), ["admin"]);
        assert_eq!(found("missing.entirely"), Vec::<String>::new());
        assert_eq!(found("$.missing[*]"), Vec::<String>::new());
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
        let claims =
            object(json!({"sub": "ann", "n": 7, "empty": "", "l": ["a"], "e": [{"v": "x"}, {"v": "y"}]}));
        let text = |path: &str| ClaimPath::parse(path).unwrap().text(&claims);
        assert_eq!(text("sub").as_deref(), Some("ann"));
        assert_eq!(text("$.e[1].v").as_deref(), Some("y"));
        for path in ["n", "empty", "l", "none", "$.e[*].v", "$.n"] {
            assert_eq!(text(path), None, "{path}");
        }
    }

    #[test]
    fn rules_compare_with_texts_numbers_and_booleans() {
        let claims = object(json!({"l": ["a", 1, true, null, ["b"], {}], "d": {"x": 2.5}}));
        let values = |path: &str| ClaimPath::parse(path).unwrap().values(&claims);
        assert_eq!(values("$.l"), ["a", "1", "true"]);
        assert_eq!(values("$.l[*]"), ["a", "1", "true", "b"]);
        assert_eq!(values("$.d.x"), ["2.5"]);
        assert_eq!(values("d"), Vec::<String>::new());
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for path in ["", "$", "$x", "$.a[", "$['a", "$['a'", "$[?]", "$.a b", "$.a.", "$[?unknown(@.a) > 1]"]
        {
            assert!(ClaimPath::parse(path).is_err(), "{path}");
        }
        assert!(ClaimPath::parse(&"a.".repeat(20)).is_err());
        assert!(ClaimPath::parse(&format!("$.{}", "a".repeat(600))).is_err());
    }

    #[test]
    fn an_expression_that_takes_long_to_read_or_to_look_for_is_refused() {
        let (open, close) = ("(".repeat(NESTING_MAX - 1), ")".repeat(NESTING_MAX - 1));
        ClaimPath::parse(&format!("$[?{open}@.a == 1{close}]")).unwrap();
        assert!(ClaimPath::parse(&format!("$[?{open}@.a == {close}]")).is_err());
        assert!(ClaimPath::parse(&format!("$[?({open}@.a == 1{close})]")).is_err(), "nested too deep");
        assert!(ClaimPath::parse("$..a..b").is_err(), "too many descents");
        // A token of 16 KiB that is as deep as it can be.
        let deep =
            (0..100).fold(json!("x"), |inner, _| json!({"a": inner, "b": [1, 2, 3, 4, 5, 6, 7, 8, 9]}));
        assert!(!ClaimPath::parse("$..*").unwrap().values(&object(deep)).is_empty());
    }
}
