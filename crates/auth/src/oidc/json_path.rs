//! JSONPath (RFC 9535), as far as it may be asked for in a token.

#[cfg(not(feature = "jsonpath"))]
use absent::JsonPath as Expression;
use serde_json::Value;
#[cfg(feature = "jsonpath")]
use serde_json_path::JsonPath as Expression;

/// The longest JSONPath, in bytes.
const EXPRESSION_BYTES_MAX: usize = 500;
/// How deep brackets may be nested in a JSONPath: each level multiplies the time to read it.
pub(super) const NESTING_MAX: usize = 4;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JsonPath(Expression);

impl JsonPath {
    /// Reads one that is short and simple enough to be looked for with every request.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text == "$" {
            return Err("it names nothing".to_owned());
        }
        if text.len() > EXPRESSION_BYTES_MAX {
            return Err(format!("it is longer than {EXPRESSION_BYTES_MAX} bytes"));
        }
        // A second time, and looking in a large token takes seconds.
        if text.matches("..").count() > 1 {
            return Err("it has '..' more than once".to_owned());
        }
        let mut depth = 0_usize;
        for c in text.chars() {
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > NESTING_MAX {
                return Err(format!("its brackets are nested deeper than {NESTING_MAX}"));
            }
        }
        Expression::parse(text).map(Self).map_err(|error| error.to_string())
    }

    pub(super) fn select(&self, value: &Value) -> Vec<Value> {
        self.0.query(value).iter().map(|&value| value.clone()).collect()
    }
}

/// A build without: no expression is read.
#[cfg(not(feature = "jsonpath"))]
mod absent {
    use serde_json::Value;

    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(super) enum JsonPath {}

    impl JsonPath {
        pub(super) fn parse(_: &str) -> Result<Self, &'static str> {
            Err("this program was built without JSONPath, which needs the cargo feature 'jsonpath'")
        }

        pub(super) fn query<'a>(&self, _: &'a Value) -> Vec<&'a Value> {
            match *self {}
        }
    }
}
