//! `zeebe:taskHeaders`: constant text for the job worker.

use std::collections::HashSet;
use std::sync::Arc;

use crate::context::Context;
use crate::problem::excerpt;

/// The headers in document order, without those that have no value.
pub(crate) fn headers(cx: &mut Context<'_, '_>) -> Vec<(Arc<str>, Arc<str>)> {
    let Some(container) = cx.extension("taskHeaders") else { return Vec::new() };
    let document = cx.document;
    let mut keys = HashSet::new();
    let mut headers = Vec::new();
    for header in document.zeebe_children(container, "header") {
        let Some(key) = cx.required(header, "key") else { continue };
        if !keys.insert(key) {
            cx.problem(format!("the header '{}' is given more than once", excerpt(key)));
        }
        let value = document.attribute(header, "value").unwrap_or_default();
        if !value.is_empty() {
            headers.push((Arc::from(key), Arc::from(value)));
        }
    }
    headers
}

/// Headers as a JSON object of strings, in their order.
pub(crate) fn headers_json(headers: &[(Arc<str>, Arc<str>)]) -> Arc<str> {
    let mut json = String::from("{");
    for (index, (key, value)) in headers.iter().enumerate() {
        if index > 0 {
            json.push(',');
        }
        push_json_string(&mut json, key);
        json.push(':');
        push_json_string(&mut json, value);
    }
    json.push('}');
    Arc::from(json)
}

/// Appends a JSON string literal (RFC 8259 §7).
pub(crate) fn push_json_string(json: &mut String, text: &str) {
    json.push('"');
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            control if control < ' ' => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                json.push_str("\\u00");
                json.push(char::from(HEX[control as usize >> 4]));
                json.push(char::from(HEX[control as usize & 0xF]));
            }
            other => json.push(other),
        }
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_json() {
        let pair = |key: &str, value: &str| (Arc::from(key), Arc::from(value));
        assert_eq!(&*headers_json(&[]), "{}");
        assert_eq!(
            &*headers_json(&[pair("a", "1"), pair("q\"\\", "\n\t\r\u{1}\u{1f}é")]),
            r#"{"a":"1","q\"\\":"\n\t\r\u0001\u001fé"}"#
        );
    }
}
