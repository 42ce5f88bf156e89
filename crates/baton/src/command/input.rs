//! Arguments that are texts, files or the standard input.

use std::io::Read;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::call;
use crate::failure::Failure;

/// An argument as it is, or, behind `@`, the content of the file or of the standard input; and its place.
pub(super) fn text<'a>(option: &'a str, argument: &'a str) -> Result<(&'a str, String), Failure> {
    match argument.strip_prefix('@') {
        None => Ok((option, argument.to_owned())),
        Some("-") => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .map_err(|error| Failure::usage(format!("cannot read the standard input: {error}")))?;
            Ok(("the standard input", text))
        }
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .map_err(|error| Failure::usage(format!("{option}: cannot read {path}: {error}")))?;
            Ok((path, text))
        }
    }
}

/// A JSON object, checked here so that the place of a mistake can be told; its text is kept as it is.
pub(super) fn object(option: &str, argument: &str) -> Result<String, Failure> {
    let (place, text) = text(option, argument)?;
    serde_json::from_str::<Map<String, Value>>(&text)
        .map_err(|error| Failure::usage(format!("{place} is not a JSON object: {error}")))?;
    Ok(text)
}

/// The variables of an optional `--variables`.
pub(super) fn variables(argument: Option<&str>) -> Result<Option<String>, Failure> {
    argument.map(|argument| object("--variables", argument)).transpose()
}

/// A JSON object of pairs `NAME=JSON`.
pub(super) fn pairs(pairs: &[String]) -> Result<String, Failure> {
    let mut properties = Vec::with_capacity(pairs.len());
    for pair in pairs {
        let (name, value) = pair
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| Failure::usage(format!("'{pair}' is no variable: expected NAME=JSON")))?;
        serde_json::from_str::<&RawValue>(value).map_err(|error| {
            Failure::usage(format!("the value of '{name}' is not JSON: {error}")).hint(format!(
                "a text stands in quotes, which the shell must not take: '{name}={}'",
                call::quoted(value)
            ))
        })?;
        properties.push((name, Some(value.to_owned())));
    }
    Ok(call::object(&properties))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_come_from_anywhere() {
        assert_eq!(object("--variables", "{\"a\": 1}").unwrap(), "{\"a\": 1}");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "{\"b\": 2}").unwrap();
        assert_eq!(object("--variables", &format!("@{}", file.path().display())).unwrap(), "{\"b\": 2}");
        for wrong in ["[1]", "{", "@/nowhere"] {
            assert!(object("--variables", wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn pairs_become_an_object() {
        let given = ["a=1.10", "b=\"x=y\"", "c=[null]"].map(str::to_owned);
        assert_eq!(pairs(&given).unwrap(), r#"{"a":1.10,"b":"x=y","c":[null]}"#);
        let failure = pairs(&["who=Ann".to_owned()]).unwrap_err();
        assert!(failure.advice().unwrap().ends_with("'who=\"Ann\"'"), "{failure:?}");
        assert!(pairs(&["=1".to_owned()]).is_err() && pairs(&["a".to_owned()]).is_err());
    }
}
