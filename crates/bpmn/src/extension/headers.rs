//! `zeebe:taskHeaders`: constant text for the job worker.

use std::collections::HashSet;
use std::sync::Arc;

use crate::context::Context;
use crate::problem::excerpt;
use crate::xml::{Document, NodeId};

/// Names and values, in order.
pub(super) type Headers = Vec<(Arc<str>, Arc<str>)>;

/// The headers in document order, without those that have no value.
pub(crate) fn headers(cx: &mut Context<'_, '_>) -> Headers {
    match cx.extension("taskHeaders") {
        Some(container) => headers_in(cx, container),
        None => Headers::new(),
    }
}

/// The headers in a container; those without a key or with one that was there are reported.
pub(super) fn headers_in(cx: &mut Context<'_, '_>, container: NodeId) -> Headers {
    let document = cx.document;
    let mut keys = HashSet::new();
    for header in document.zeebe_children(container, "header") {
        let Some(key) = cx.required(header, "key") else { continue };
        if !keys.insert(key) {
            cx.problem(format!("the header '{}' is given more than once", excerpt(key)));
        }
    }
    read(document, container)
}

/// The headers of the element with more that count before them. Nothing is reported a second time.
pub(super) fn with_own(cx: &Context<'_, '_>, own: Headers) -> Headers {
    let mut headers = match cx.extension("taskHeaders") {
        Some(container) => read(cx.document, container),
        None => Headers::new(),
    };
    headers.retain(|(key, _)| own.iter().all(|(known, _)| known != key));
    headers.extend(own);
    headers
}

fn read(document: &Document<'_>, container: NodeId) -> Headers {
    let header = |node| {
        let key = document.attribute(node, "key")?;
        let value = document.attribute(node, "value").filter(|value| !value.is_empty())?;
        Some((Arc::from(key), Arc::from(value)))
    };
    document.zeebe_children(container, "header").filter_map(header).collect()
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
