//! The values of literals.

use crate::number::Number;
use crate::temporal::{Date, DateTime, Time, parse_days_time, parse_years_months};
use crate::value::Value;
use std::sync::Arc;

/// The value of a number as written.
pub(super) fn number(source: &str) -> Option<Value> {
    Number::parse(source).map(Value::Number)
}

/// The text of a string with its quotes. Unknown escapes keep their backslash, so that regular expressions need no
/// double backslashes.
pub(super) fn string(source: &str) -> Arc<str> {
    let content = &source[1..source.len().max(2) - 1];
    if !content.contains('\\') {
        return Arc::from(content);
    }
    let mut out = String::with_capacity(content.len());
    let mut rest = content;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(escape) = rest.chars().next() else {
            out.push('\\');
            break;
        };
        let plain = match escape {
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            '\'' | '"' | '\\' => Some(escape),
            _ => None,
        };
        if let Some(plain) = plain {
            out.push(plain);
            rest = &rest[1..];
        } else if let Some((character, length)) = unicode(rest) {
            out.push(character);
            rest = &rest[length..];
        } else {
            out.push('\\');
            out.push(escape);
            rest = &rest[escape.len_utf8()..];
        }
    }
    out.push_str(rest);
    Arc::from(out)
}

/// Reads `uXXXX`, two of them as a surrogate pair, or `UXXXXXX`; gives the length in bytes.
fn unicode(text: &str) -> Option<(char, usize)> {
    let unit =
        |text: &str| -> Option<u32> { u32::from_str_radix(text.strip_prefix('u')?.get(..4)?, 16).ok() };
    if let Some(long) = text.strip_prefix('U') {
        let code = u32::from_str_radix(long.get(..6)?, 16).ok()?;
        return Some((char::from_u32(code)?, 7));
    }
    let first = unit(text)?;
    if let Some(character) = char::from_u32(first) {
        return Some((character, 5));
    }
    let second = unit(text[5..].strip_prefix('\\')?)?;
    if !(0xd800..0xdc00).contains(&first) || !(0xdc00..0xe000).contains(&second) {
        return None;
    }
    Some((char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00))?, 11))
}

/// The value of `@"…"`: a date, a date and time, a duration, or a time; null if it is none.
pub(super) fn temporal(text: &str) -> Value {
    if let Some(date) = Date::parse(text) {
        return date.into();
    }
    if let Some(time) = Time::parse(text) {
        return time.into();
    }
    if let Some(value) = DateTime::parse(text) {
        return value.into();
    }
    if let Some(months) = parse_years_months(text) {
        return Value::Period(months);
    }
    parse_days_time(text).map_or(Value::Null, Value::Duration)
}
