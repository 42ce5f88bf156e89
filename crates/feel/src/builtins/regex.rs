//! Functions that take regular expressions.

use super::{Failure, Outcome, message, text};
use crate::evaluate::Evaluator;
use crate::value::Value;
use fancy_regex::{Captures, Regex, RegexBuilder};
use std::borrow::Cow;
use std::cell::RefCell;

/// Steps back that one match may take.
const BACKTRACKS_MAX: usize = 100_000;
/// What the first use of a pattern costs, in steps, and what each byte of it costs.
const PATTERN_STEPS: usize = 10_000;
const PATTERN_BYTE_STEPS: usize = 20;
/// What one match costs if the pattern may step back, for it may do so up to its limit.
const BACKTRACKING_STEPS: usize = 2_000;
/// Memory of one compiled pattern, in bytes.
const COMPILED_BYTES_MAX: usize = 1 << 20;
/// Compiled patterns kept by each thread; the oldest goes first.
const KEPT_PATTERNS_MAX: usize = 32;
/// Longest pattern in bytes.
const PATTERN_BYTES_MAX: usize = 16 << 10;

thread_local! {
    /// Compiling is slow and loops repeat patterns. What is kept never changes a result.
    static KEPT: RefCell<Vec<(String, Regex)>> = const { RefCell::new(Vec::new()) };
}

fn compile(evaluator: &mut Evaluator<'_>, pattern: &str, flags: &str) -> Result<(Regex, usize), Failure> {
    evaluator.pay_for_pattern(pattern, PATTERN_STEPS + PATTERN_BYTE_STEPS * pattern.len())?;
    let steps = if steps_back(pattern) { BACKTRACKING_STEPS } else { 1 };
    evaluator.spend(steps)?;
    if let Some(flag) = flags.chars().find(|flag| !"smix".contains(*flag)) {
        return message(format!("Illegal regular expression flag '{flag}'"));
    }
    let (pattern, flags) = if evaluator.is_standard() {
        (Cow::Owned(from_xpath(pattern, flags.contains('x'))), flags.replace('x', ""))
    } else {
        (Cow::Borrowed(pattern), flags.to_owned())
    };
    // A dot matches neither of the characters that end lines.
    let source = format!("(?{flags}R){pattern}");
    let kept =
        KEPT.with_borrow(|kept| kept.iter().find(|(key, _)| *key == source).map(|(_, regex)| regex.clone()));
    if let Some(regex) = kept {
        return Ok((regex, steps));
    }
    if pattern.len() > PATTERN_BYTES_MAX {
        return message(format!("The pattern is longer than {PATTERN_BYTES_MAX} bytes"));
    }
    let regex = RegexBuilder::new(&source)
        .backtrack_limit(BACKTRACKS_MAX)
        .delegate_size_limit(COMPILED_BYTES_MAX)
        .delegate_dfa_size_limit(COMPILED_BYTES_MAX)
        .build()
        .map_err(|error| Failure::Message(format!("Invalid pattern '{pattern}': {error}")))?;
    KEPT.with_borrow_mut(|kept| {
        if kept.len() == KEPT_PATTERNS_MAX {
            kept.remove(0);
        }
        kept.push((source, regex.clone()));
    });
    Ok((regex, steps))
}

/// Whether a pattern may look around or refer back, which takes more than one pass over the text.
fn steps_back(pattern: &str) -> bool {
    let refers_back = pattern
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0] == b'\\' && (matches!(pair[1], b'1'..=b'9' | b'k' | b'g' | b'G' | b'K')));
    refers_back
        || ["(?=", "(?!", "(?<", "(?>", "(?(", "(?P", "*+", "++", "?+"]
            .iter()
            .any(|mark| pattern.contains(mark))
}

/// Where the expressions of XPath, which the standard asks for, are written differently: classes
/// are subtracted with one dash, and the flag `x` leaves out all space outside of classes.
fn from_xpath(pattern: &str, without_space: bool) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut depth = 0usize;
    let mut escaped = false;
    let mut braced = false;
    let mut previous = ' ';
    for character in pattern.chars() {
        if without_space && (depth == 0 || braced) && character.is_ascii_whitespace() {
            continue;
        }
        if !escaped {
            match character {
                '[' => {
                    if depth > 0 && previous == '-' {
                        out.push('-');
                    }
                    depth += 1;
                }
                ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        braced = (braced && character != '}') || (escaped && matches!(character, 'p' | 'P'));
        escaped = !escaped && character == '\\';
        previous = character;
        out.push(character);
    }
    out.replace("\\p{IsBasicLatin}", "[\\x00-\\x7f]").replace("\\P{IsBasicLatin}", "[^\\x00-\\x7f]")
}

fn refuse(error: fancy_regex::Error) -> Failure {
    Failure::Message(format!("The pattern cannot be matched: {error}"))
}

fn flags(arguments: &[Value], index: usize) -> Result<&str, Failure> {
    match arguments.get(index) {
        None | Some(Value::Null) => Ok(""),
        Some(flags) => text(flags),
    }
}

/// Whether a part of the text matches.
pub(super) fn matches(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let (input, pattern) = (text(&arguments[0])?, text(&arguments[1])?);
    let (regex, _) = compile(evaluator, pattern, flags(arguments, 2)?)?;
    regex.is_match(input).map(Value::Bool).map_err(refuse)
}

pub(super) fn replace(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let (input, pattern, replacement) = (text(&arguments[0])?, text(&arguments[1])?, text(&arguments[2])?);
    let (regex, steps) = compile(evaluator, pattern, flags(arguments, 3)?)?;
    let mut out = String::with_capacity(input.len());
    let mut end = 0;
    for captures in regex.captures_iter(input) {
        let captures = captures.map_err(refuse)?;
        let Some(whole) = captures.get(0) else { continue };
        out.push_str(&input[end..whole.start()]);
        expand(&captures, replacement, &mut out);
        end = whole.end();
        evaluator.spend(steps + (replacement.len() + whole.as_str().len()) / 8)?;
    }
    out.push_str(&input[end..]);
    Ok(out.into())
}

/// Puts groups for `$n`; as many digits count as make a group that exists. A backslash makes the
/// next character plain.
fn expand(captures: &Captures<'_, str>, replacement: &str, out: &mut String) {
    let mut rest = replacement;
    while let Some(at) = rest.find(['$', '\\']) {
        out.push_str(&rest[..at]);
        let escaped = rest.as_bytes()[at] == b'\\';
        rest = &rest[at + 1..];
        if escaped {
            let length = rest.chars().next().map_or(0, char::len_utf8);
            out.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        let mut group = None;
        let mut length = 0;
        for (index, digit) in rest.bytes().take(4).take_while(u8::is_ascii_digit).enumerate() {
            let longer = group.unwrap_or(0) * 10 + usize::from(digit - b'0');
            if index > 0 && longer >= captures.len() {
                break;
            }
            group = Some(longer);
            length = index + 1;
        }
        match group {
            Some(group) => out.push_str(captures.get(group).map_or("", |found| found.as_str())),
            None => out.push('$'),
        }
        rest = &rest[length..];
    }
    out.push_str(rest);
}

/// The parts between matches, empty ones too; an empty match at the start parts nothing.
pub(super) fn split(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let (input, pattern) = (text(&arguments[0])?, text(&arguments[1])?);
    let (regex, steps) = compile(evaluator, pattern, "")?;
    let mut parts = Vec::new();
    let mut start = 0;
    for found in regex.find_iter(input) {
        let found = found.map_err(refuse)?;
        evaluator.spend(steps)?;
        if found.end() == 0 {
            continue;
        }
        parts.push(Value::string(&input[start..found.start()]));
        start = found.end();
    }
    parts.push(Value::string(&input[start..]));
    Ok(evaluator.new_list(parts)?)
}

/// All matches.
pub(super) fn extract(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let (input, pattern) = (text(&arguments[0])?, text(&arguments[1])?);
    let (regex, steps) = compile(evaluator, pattern, "")?;
    let mut parts = Vec::new();
    for found in regex.find_iter(input) {
        evaluator.spend(steps)?;
        parts.push(Value::string(found.map_err(refuse)?.as_str()));
    }
    Ok(evaluator.new_list(parts)?)
}
