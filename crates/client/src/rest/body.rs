//! Request bodies, written straight into one buffer.

use std::time::Duration;

use bytes::Bytes;
use json::write_string;

/// A JSON object under construction. Field names are written as they are: they need no escaping.
pub(crate) struct Object {
    text: Vec<u8>,
}

impl Object {
    /// An empty object with room for `capacity` bytes.
    pub(crate) fn new(capacity: usize) -> Self {
        let mut text = Vec::with_capacity(capacity);
        text.push(b'{');
        Self { text }
    }

    fn name(&mut self, name: &str) {
        if self.text.len() > 1 {
            self.text.push(b',');
        }
        self.text.push(b'"');
        self.text.extend_from_slice(name.as_bytes());
        self.text.extend_from_slice(b"\":");
    }

    pub(crate) fn string(mut self, name: &str, value: &str) -> Self {
        self.name(name);
        write_string(value, &mut self.text);
        self
    }

    /// A string, escaped, unless absent.
    pub(crate) fn optional_string(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.string(name, value),
            None => self,
        }
    }

    pub(crate) fn integer(mut self, name: &str, value: i64) -> Self {
        self.name(name);
        self.text.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
        self
    }

    /// A duration in milliseconds.
    pub(crate) fn millis(self, name: &str, value: Duration) -> Self {
        self.integer(name, millis(value))
    }

    /// A key: REST writes keys as decimal strings.
    pub(crate) fn key(mut self, name: &str, value: i64) -> Self {
        self.name(name);
        self.text.push(b'"');
        self.text.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
        self.text.push(b'"');
        self
    }

    /// `true` or `false`.
    pub(crate) fn boolean(mut self, name: &str, value: bool) -> Self {
        self.name(name);
        self.text.extend_from_slice(if value { b"true" } else { b"false" });
        self
    }

    /// JSON text, copied as it is, unless absent.
    pub(crate) fn raw(mut self, name: &str, json: Option<&str>) -> Self {
        if let Some(json) = json {
            self.name(name);
            self.text.extend_from_slice(json.as_bytes());
        }
        self
    }

    /// A list of strings, unless empty.
    pub(crate) fn strings(mut self, name: &str, values: &[&str]) -> Self {
        if !values.is_empty() {
            self.name(name);
            for (index, value) in values.iter().enumerate() {
                self.text.push(if index == 0 { b'[' } else { b',' });
                write_string(value, &mut self.text);
            }
            self.text.push(b']');
        }
        self
    }

    /// A list of objects with one string each, unless empty.
    pub(crate) fn objects(mut self, name: &str, field: &str, values: &[&str]) -> Self {
        if !values.is_empty() {
            self.name(name);
            for (index, value) in values.iter().enumerate() {
                self.text.push(if index == 0 { b'[' } else { b',' });
                self.text.extend_from_slice(&Self::new(32).string(field, value).finish());
            }
            self.text.push(b']');
        }
        self
    }

    pub(crate) fn finish(mut self) -> Bytes {
        self.text.push(b'}');
        Bytes::from(self.text)
    }
}

/// Whole milliseconds, as many as the protocol can carry.
pub(crate) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_json() {
        let body = Object::new(0)
            .string("a", "q\"\n")
            .optional_string("b", None)
            .integer("c", -7)
            .key("d", i64::MAX)
            .boolean("e", true)
            .raw("f", Some(r#"{"x":[1]}"#))
            .raw("g", None)
            .strings("h", &["x", "y\\"])
            .strings("i", &[])
            .objects("j", "elementId", &["one", "two"])
            .millis("k", Duration::from_secs(2))
            .finish();
        let value: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            value,
            serde_json::json!({
                "a": "q\"\n", "c": -7, "d": "9223372036854775807", "e": true, "f": {"x": [1]}, "h": ["x", "y\\"],
                "j": [{"elementId": "one"}, {"elementId": "two"}], "k": 2000
            })
        );
    }

    #[test]
    fn an_empty_object_is_one() {
        assert_eq!(&Object::new(2).finish()[..], b"{}");
    }
}
