//! FEEL values. A value is at most 32 bytes; everything larger is shared, so cloning is cheap.
//! JSON arrays and objects stay raw bytes until something reads into them.

#![expect(missing_docs, reason = "names say what is held")]

mod context;
mod extent;
mod format;
mod function;
mod list;
mod range;

pub use context::Context;
pub use extent::{VALUE_DEPTH_MAX, VALUE_EXCESS, VALUE_WEIGHT_MAX};
pub use function::{Caller, Function, NativeFunction};
pub use list::List;
pub use range::Range;

pub(crate) use extent::Extent;
pub(crate) use function::Closure;

use crate::dialect::Dialect;
use crate::json::{self, JsonError};
use crate::number::Number;
use crate::temporal::{Date, DateTime, Time};
use bytes::Bytes;
use jiff::SignedDuration;
use std::sync::Arc;

/// Bytes of memory of lists and contexts without their content, with the overhead of the allocator.
pub(crate) const LIST_BYTES: usize = 128;
pub(crate) const CONTEXT_BYTES: usize = 192;

#[derive(Clone, Debug, Default)]
pub enum Value {
    /// `null`, also the result of most failing operations.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    Number(Number),
    String(Arc<str>),
    Date(Date),
    /// A time of day.
    Time(Arc<Time>),
    DateTime(Arc<DateTime>),
    /// A days and time duration.
    Duration(SignedDuration),
    /// A years and months duration, in months.
    Period(i64),
    List(List),
    Context(Context),
    Range(Arc<Range>),
    Function(Function),
}

impl Value {
    /// Reads a JSON document. Objects and arrays are checked now and kept raw; bounded in depth
    /// ([`crate::JSON_DEPTH_MAX`]) and size ([`json::SIZE_MAX`]).
    pub fn from_json(bytes: Bytes) -> Result<Self, JsonError> {
        let depth = json::validate(&bytes)?;
        Ok(json::read(bytes, depth))
    }

    /// Reads a JSON document that was checked before, or written from a value; `json_depth` is its
    /// [`Self::json_depth`].
    pub fn from_checked_json(bytes: Bytes, json_depth: u16) -> Self {
        json::read(bytes, json_depth)
    }

    /// How deep the JSON of the value is nested at the most.
    pub fn json_depth(&self) -> u16 {
        self.extent().json_depth
    }

    /// Reads a JSON document that is known to be valid; an invalid one reads as null.
    pub fn from_json_lazy(bytes: Bytes) -> Self {
        json::read(bytes, ::json::DEPTH_MAX as u16)
    }

    /// Appends the value as JSON, in the form of a variable. Unchanged raw JSON is copied byte for byte. Ranges and
    /// functions become null.
    pub fn to_json(&self, out: &mut Vec<u8>) {
        json::write(self, out);
    }

    /// The value as JSON, see [`Self::to_json`], unless that is longer than so many bytes. Values share their parts,
    /// so a value created in few steps may be immense as JSON; the writer stops soon after the limit.
    pub fn to_json_within(&self, max_bytes: usize) -> Option<Vec<u8>> {
        self.to_json_in(Dialect::Camunda, max_bytes)
    }

    /// The value as JSON in the form that variables have in a dialect; `None` if that is longer than `max_bytes`.
    pub fn to_json_in(&self, dialect: Dialect, max_bytes: usize) -> Option<Vec<u8>> {
        let least = usize::try_from(self.extent().json_bytes).unwrap_or(usize::MAX);
        if least > max_bytes {
            return None;
        }
        // With its quotes a string fits exactly.
        let mut out = Vec::with_capacity(least.saturating_add(2));
        json::write_within(self, &mut out, max_bytes, dialect).then_some(out)
    }

    /// The value as JSON text, see [`Self::to_json`].
    pub fn to_json_string(&self) -> String {
        let mut out = Vec::new();
        self.to_json(&mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// The name of the type as error messages of the API have it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Bool(_) => "BOOLEAN",
            Self::Number(_) => "NUMBER",
            Self::String(_) => "STRING",
            Self::Date(_) => "DATE",
            Self::Time(_) => "TIME",
            Self::DateTime(_) => "DATE_TIME",
            Self::Duration(_) => "DURATION",
            Self::Period(_) => "PERIOD",
            Self::List(_) => "ARRAY",
            Self::Context(_) => "OBJECT",
            Self::Range(_) => "RANGE",
            Self::Function(_) => "FUNCTION",
        }
    }

    pub fn string(text: &str) -> Self {
        Self::String(Arc::from(text))
    }

    /// A list of values.
    pub fn list(items: Vec<Self>) -> Self {
        Self::List(List::new(items))
    }

    /// A context; of entries with the same key the last value wins at the place of the first.
    pub fn context<K: Into<Arc<str>>>(entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Context(Context::new(entries.into_iter().map(|(key, value)| (key.into(), value)).collect()))
    }

    /// Whether the value is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    pub fn as_number(&self) -> Option<Number> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    /// The number, if it is an integer of 64 bits.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// The number as the nearest double.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number().map(Number::to_f64)
    }

    pub fn as_list(&self) -> Option<&List> {
        if let Self::List(list) = self { Some(list) } else { None }
    }

    pub fn as_context(&self) -> Option<&Context> {
        if let Self::Context(context) = self { Some(context) } else { None }
    }

    pub fn as_function(&self) -> Option<&Function> {
        if let Self::Function(function) = self { Some(function) } else { None }
    }

    /// The days and time duration.
    pub fn as_duration(&self) -> Option<SignedDuration> {
        if let Self::Duration(duration) = self { Some(*duration) } else { None }
    }

    /// The years and months duration, in months.
    pub fn as_months(&self) -> Option<i64> {
        if let Self::Period(months) = self { Some(*months) } else { None }
    }

    /// The years and months duration as a calendar span, if it is within the range of those.
    pub fn as_period(&self) -> Option<jiff::Span> {
        let months = self.as_months()?;
        jiff::Span::new().try_years(months / 12).ok()?.try_months(months % 12).ok()
    }

    /// The date, if its year is within -9999 to 9999.
    pub fn as_date(&self) -> Option<jiff::civil::Date> {
        if let Self::Date(date) = self { date.to_civil() } else { None }
    }

    /// The date and time, with or without a zone.
    pub fn as_date_time(&self) -> Option<&DateTime> {
        if let Self::DateTime(value) = self { Some(value) } else { None }
    }

    /// The moment of a date and time that has a zone or offset.
    pub fn as_timestamp(&self) -> Option<jiff::Timestamp> {
        self.as_date_time()?.to_timestamp()
    }

    /// The moment of a date and time with its zone or offset.
    pub fn as_zoned(&self) -> Option<jiff::Zoned> {
        self.as_date_time()?.to_zoned()
    }

    /// Whether the value is within [`VALUE_DEPTH_MAX`] and [`VALUE_WEIGHT_MAX`], as every result of an evaluation is.
    /// Hosts that construct values must check, since much code recurses over values.
    pub fn is_within_bounds(&self) -> bool {
        self.extent().is_within_bounds()
    }

    /// Bytes of memory that a list or a context takes by itself, without those of its parts. For hosts that construct
    /// values and take their bytes from a [`crate::Budget`].
    pub fn own_bytes(&self) -> u64 {
        let bytes = match self {
            Self::List(list) => LIST_BYTES + list.len() * size_of::<Self>(),
            Self::Context(context) => CONTEXT_BYTES + context.len() * size_of::<(Arc<str>, Self)>(),
            _ => 0,
        };
        bytes as u64
    }

    /// How deep and how large the value is.
    pub(crate) fn extent(&self) -> Extent {
        match self {
            Self::List(list) => list.extent(),
            Self::Context(context) => context.extent(),
            Self::Function(function) => function.extent(),
            Self::Range(range) => range.extent(),
            Self::String(text) => Extent::of_text(text.len()),
            _ => Extent::POINT,
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Number(value.into())
    }
}

impl From<Number> for Value {
    fn from(value: Number) -> Self {
        Self::Number(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::string(value)
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::String(Arc::from(value))
    }
}

impl From<Date> for Value {
    fn from(value: Date) -> Self {
        Self::Date(value)
    }
}

impl From<Time> for Value {
    fn from(value: Time) -> Self {
        Self::Time(Arc::new(value))
    }
}

impl From<DateTime> for Value {
    fn from(value: DateTime) -> Self {
        Self::DateTime(Arc::new(value))
    }
}

impl From<List> for Value {
    fn from(value: List) -> Self {
        Self::List(value)
    }
}

impl From<Context> for Value {
    fn from(value: Context) -> Self {
        Self::Context(value)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_small() {
        assert!(size_of::<Value>() <= 32, "{}", size_of::<Value>());
    }

    #[test]
    fn untouched_json_is_copied_byte_for_byte() {
        let text = r#"{ "a" : [1, 2.50,  {"b":"\u00e9"}] }"#;
        let value = Value::from_json(Bytes::from(text)).unwrap();
        let inner = value.as_context().unwrap().get("a").unwrap();
        assert_eq!(inner.as_list().unwrap().len(), 3);
        assert_eq!(value.to_json_string(), text);
        assert_eq!(inner.to_json_string(), r#"[1, 2.50,  {"b":"\u00e9"}]"#);
    }

    #[test]
    fn type_names_are_those_of_the_interface() {
        assert_eq!(Value::Period(3).type_name(), "PERIOD");
        assert_eq!(Value::list(vec![]).type_name(), "ARRAY");
    }
}
