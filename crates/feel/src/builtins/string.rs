//! Functions of texts (DMN 1.5 table 74, and Camunda's additions). Positions count UTF-16 units as
//! the reference does, characters in the standard dialect.

use super::argument::{self, integer, text};
use super::builtin::{Builtin, Failure, Outcome, fixed, function, message};
use super::regex;
use crate::evaluate::{Evaluator, Fatal};
use crate::value::Value;

pub(super) const FUNCTIONS: &[Builtin] = &[
    function(
        "substring",
        &[fixed(&["string", "start position"]), fixed(&["string", "start position", "length"])],
        substring,
    ),
    function("string length", &[fixed(&["string"])], string_length),
    function("upper case", &[fixed(&["string"])], upper_case),
    function("lower case", &[fixed(&["string"])], lower_case),
    function("trim", &[fixed(&["string"])], trim),
    function("is blank", &[fixed(&["string"])], is_blank),
    function("substring before", &[fixed(&["string", "match"])], substring_before),
    function("substring after", &[fixed(&["string", "match"])], substring_after),
    function("contains", &[fixed(&["string", "match"])], contains),
    function("starts with", &[fixed(&["string", "match"])], starts_with),
    function("ends with", &[fixed(&["string", "match"])], ends_with),
    function(
        "matches",
        &[fixed(&["input", "pattern"]), fixed(&["input", "pattern", "flags"])],
        regex::matches,
    ),
    function(
        "replace",
        &[fixed(&["input", "pattern", "replacement"]), fixed(&["input", "pattern", "replacement", "flags"])],
        regex::replace,
    ),
    function("split", &[fixed(&["string", "delimiter"])], regex::split),
    function("extract", &[fixed(&["input", "pattern"])], regex::extract),
    function("uuid", &[fixed(&[])], uuid),
    function("to base64", &[fixed(&["value"])], to_base64),
    function("from base64", &[fixed(&["value"])], from_base64),
    function(
        "string join",
        &[fixed(&["list"]), fixed(&["list", "delimiter"]), fixed(&["list", "delimiter", "prefix", "suffix"])],
        string_join,
    ),
];

fn substring(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let source = text(&arguments[0])?;
    let start = integer(&arguments[1])?;
    let length = match arguments.get(2) {
        None => None,
        Some(Value::Null) if evaluator.is_standard() => None,
        Some(length) => Some(integer(length)?),
    };
    if source.is_ascii() {
        let (from, to) =
            cut(source.len(), start, length).ok_or_else(|| out_of_range(evaluator, source, start))?;
        return Ok(Value::string(&source[from..to]));
    }
    if evaluator.is_standard() {
        let characters: Vec<char> = source.chars().collect();
        let (from, to) =
            cut(characters.len(), start, length).ok_or_else(|| out_of_range(evaluator, source, start))?;
        return Ok(characters[from..to].iter().collect::<String>().into());
    }
    let units: Vec<u16> = source.encode_utf16().collect();
    let (from, to) = cut(units.len(), start, length).ok_or_else(|| out_of_range(evaluator, source, start))?;
    Ok(String::from_utf16_lossy(&units[from..to]).into())
}

/// The places from and to of a part, if it begins within the text or just behind it.
fn cut(total: usize, start: i64, length: Option<i64>) -> Option<(usize, usize)> {
    let from = match start {
        0 => return None,
        1.. => usize::try_from(start - 1).ok()?,
        _ => total.checked_sub(usize::try_from(start.unsigned_abs()).ok()?)?,
    };
    let left = total.checked_sub(from)?;
    let length = match length {
        None => left,
        Some(length) => usize::try_from(length).ok()?.min(left),
    };
    Some((from, from + length))
}

fn out_of_range(evaluator: &Evaluator<'_>, source: &str, start: i64) -> Failure {
    let text = format!("position {start} is outside of a text of {} characters", source.chars().count());
    if evaluator.is_standard() { Failure::Message(text) } else { Failure::Fatal(Fatal::new(text)) }
}

fn string_length(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let source = text(&arguments[0])?;
    let length = if evaluator.is_standard() { source.chars().count() } else { source.encode_utf16().count() };
    Ok((length as i64).into())
}

fn upper_case(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    Ok(text(&arguments[0])?.to_uppercase().into())
}

fn lower_case(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    Ok(text(&arguments[0])?.to_lowercase().into())
}

fn trim(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    Ok(text(&arguments[0])?.trim().into())
}

fn is_blank(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    Ok(Value::Bool(text(&arguments[0])?.trim().is_empty()))
}

fn substring_before(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let (source, part) = (text(&arguments[0])?, text(&arguments[1])?);
    Ok(source.split_once(part).map_or("", |(before, _)| before).into())
}

fn substring_after(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let (source, part) = (text(&arguments[0])?, text(&arguments[1])?);
    Ok(source.split_once(part).map_or("", |(_, after)| after).into())
}

fn contains(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    Ok(Value::Bool(text(&arguments[0])?.contains(text(&arguments[1])?)))
}

fn starts_with(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    Ok(Value::Bool(text(&arguments[0])?.starts_with(text(&arguments[1])?)))
}

fn ends_with(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    Ok(Value::Bool(text(&arguments[0])?.ends_with(text(&arguments[1])?)))
}

/// A version 7 UUID (RFC 9562 §5.7) of the clock and the seed.
fn uuid(evaluator: &mut Evaluator<'_>, _: &[Value]) -> Outcome {
    let (first, second) = (evaluator.next_random(), evaluator.next_random());
    let time = (evaluator.environment.now_ms as u64) & 0xffff_ffff_ffff;
    let third = 0x7000 | (first & 0x0fff);
    let fourth = 0x8000 | ((first >> 12) & 0x3fff);
    let last = second & 0xffff_ffff_ffff;
    Ok(format!("{:08x}-{:04x}-{third:04x}-{fourth:04x}-{last:012x}", time >> 16, time & 0xffff).into())
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn to_base64(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let source = text(&arguments[0])?.as_bytes();
    let mut out = String::with_capacity(source.len().div_ceil(3) * 4);
    for chunk in source.chunks(3) {
        let bits = chunk
            .iter()
            .enumerate()
            .fold(0u32, |bits, (index, byte)| bits | u32::from(*byte) << (16 - 8 * index));
        for index in 0..4 {
            out.push(if index <= chunk.len() {
                char::from(ALPHABET[(bits >> (18 - 6 * index)) as usize & 63])
            } else {
                '='
            });
        }
    }
    Ok(out.into())
}

fn from_base64(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let source = text(&arguments[0])?;
    match decode_base64(source.as_bytes()).and_then(|bytes| String::from_utf8(bytes).ok()) {
        Some(decoded) => Ok(decoded.into()),
        None => message(format!("Invalid Base64 value '{source}'")),
    }
}

fn decode_base64(source: &[u8]) -> Option<Vec<u8>> {
    let padding = source.iter().rev().take(2).take_while(|byte| **byte == b'=').count();
    let digits = &source[..source.len() - padding];
    if digits.len() % 4 == 1 || (padding > 0 && !source.len().is_multiple_of(4)) {
        return None;
    }
    let mut out = Vec::with_capacity(source.len() / 4 * 3);
    for chunk in digits.chunks(4) {
        let mut bits = 0u32;
        for (index, byte) in chunk.iter().enumerate() {
            let digit = ALPHABET.iter().position(|candidate| candidate == byte)?;
            bits |= (digit as u32) << (18 - 6 * index);
        }
        out.extend_from_slice(&bits.to_be_bytes()[1..chunk.len()]);
    }
    Some(out)
}

fn string_join(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let optional = |index: usize| match arguments.get(index) {
        None | Some(Value::Null) => Ok(""),
        Some(value) => text(value),
    };
    let (delimiter, prefix, suffix) = (optional(1)?, optional(2)?, optional(3)?);
    let mut out = String::from(prefix);
    let mut first = true;
    for item in argument::list(&arguments[0])? {
        if item.is_null() {
            continue;
        }
        let item = text(item)?;
        evaluator.spend(1 + (item.len() + delimiter.len()) / 8)?;
        evaluator.check_text_bytes(out.len() + item.len() + delimiter.len())?;
        if !first {
            out.push_str(delimiter);
        }
        first = false;
        out.push_str(item);
    }
    out.push_str(suffix);
    Ok(out.into())
}
