//! Calls of the REST API, failing as commands do.

use std::fmt::Display;

use ::client::{ApiCall, RestClient};
use serde_json::Value;

use crate::failure::Failure;

/// Makes a call; `action` is what is tried, such as `publish the message`.
pub(super) async fn text(
    client: &RestClient,
    call: &ApiCall<'_>,
    action: impl Display,
) -> Result<String, Failure> {
    client.call(call).await.map_err(|error| Failure::request(action, &error))
}

/// Makes a call and parses the JSON of its answer.
pub(super) async fn json(
    client: &RestClient,
    call: &ApiCall<'_>,
    action: impl Display,
) -> Result<Value, Failure> {
    read(&text(client, call, action).await?)
}

/// Reads an answer.
pub(super) fn read(answer: &str) -> Result<Value, Failure> {
    serde_json::from_str(answer).map_err(|error| Failure::new(format!("the answer is not JSON: {error}")))
}

/// A JSON object: each property with its value as JSON text, as far as there is one.
pub(super) fn object(properties: &[(&str, Option<String>)]) -> String {
    let mut text = String::from("{");
    for (name, value) in properties {
        let Some(value) = value else { continue };
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&quoted(name));
        text.push(':');
        text.push_str(value);
    }
    text.push('}');
    text
}

/// A JSON string.
pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_moved_as_they_are() {
        let properties = [("a\"", Some("1.10".to_owned())), ("b", None), ("c", Some(quoted("x\n")))];
        assert_eq!(object(&properties), r#"{"a\"":1.10,"c":"x\n"}"#);
        assert_eq!(object(&[]), "{}");
    }
}
