//! Listeners of elements, and headers.

use std::fmt::Write as _;

use super::element::{Element, escape};

/// Task headers from attributes such as `header:KEY=VALUE`.
pub(super) fn headers(e: &Element) -> String {
    let mut headers = String::new();
    for (key, value) in &e.attributes {
        if let Some(key) = key.strip_prefix("header:") {
            let _ = write!(headers, r#"<zeebe:header key="{key}" value="{}"/>"#, escape(value));
        }
    }
    if headers.is_empty() {
        return headers;
    }
    format!("<zeebe:taskHeaders>{headers}</zeebe:taskHeaders>")
}

/// Listeners from attributes such as `listen:start=TYPE`, `listen:start=TYPE/RETRIES` or `listen:start=TYPE?KEY=VALUE`,
/// which has a header.
pub(super) fn listeners(e: &Element, prefix: &str, kind: &str) -> String {
    let mut listeners = String::new();
    for (key, value) in &e.attributes {
        let Some(event) = key.strip_prefix(prefix).and_then(|key| key.strip_prefix(':')) else { continue };
        let (value, header) = value.split_once('?').unwrap_or((value, ""));
        let (job_type, retries) = value.rsplit_once('/').unwrap_or((value, "3"));
        let headers = match header.split_once('=') {
            Some((key, value)) => format!(
                r#"<zeebe:taskHeaders><zeebe:header key="{}" value="{}"/></zeebe:taskHeaders>"#,
                escape(key),
                escape(value)
            ),
            None => String::new(),
        };
        let _ = write!(
            listeners,
            r#"<zeebe:{kind}Listener eventType="{event}" type="{}" retries="{}">{headers}</zeebe:{kind}Listener>"#,
            escape(job_type),
            escape(retries)
        );
    }
    if listeners.is_empty() {
        return listeners;
    }
    format!("<zeebe:{kind}Listeners>{listeners}</zeebe:{kind}Listeners>")
}
