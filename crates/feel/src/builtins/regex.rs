//! Functions that take regular expressions.

use super::argument::text;
use super::builtin::{Failure, Outcome, message};
use crate::evaluate::Evaluator;
use crate::value::Value;
use fancy_regex::{Captures, Regex, RegexBuilder};
use std::borrow::Cow;
use std::cell::RefCell;

/// Backtracking limit of one match, by the length of the text: a few steps for each position, up to a maximum. Each
/// may scan the rest of the text.
const BACKTRACKS_MIN: usize = 256;
const BACKTRACKS_MAX: usize = 2_048;
/// Bytes scanned for one step of fuel during backtracking.
const BACKTRACKED_BYTES_PER_STEP: usize = 16;
/// Fuel of a match in any case, and of a backtracking step.
const MATCH_STEPS: usize = 8;
/// Memory of one compiled pattern, in bytes.
const COMPILED_BYTES_MAX: usize = 1 << 20;
/// Compiled patterns kept by each thread; the oldest goes first.
const KEPT_PATTERNS_MAX: usize = 32;
/// Longest pattern in bytes.
const PATTERN_BYTES_MAX: usize = 16 << 10;

thread_local! {
    /// Compiling is slow and loops repeat patterns. The cache never changes a result.
    static KEPT: RefCell<Vec<((String, usize), Regex)>> = const { RefCell::new(Vec::new()) };
}

struct Pattern {
    regex: Regex,
    /// Backtracking limit of one match, if it may backtrack.
    backtracks: Option<usize>,
}

impl Pattern {
    /// Fuel of a search for a match in a text.
    fn steps(&self, text: &str) -> usize {
        match self.backtracks {
            Some(backtracks) => MATCH_STEPS + backtracks * text.len().max(8) / BACKTRACKED_BYTES_PER_STEP,
            None => MATCH_STEPS,
        }
    }
}

fn compile(
    evaluator: &mut Evaluator<'_>,
    pattern: &str,
    flags: &str,
    input: &str,
) -> Result<Pattern, Failure> {
    evaluator.pay_for_pattern(pattern, pattern_steps(pattern))?;
    let is_known = |flag: char| "smix".contains(flag);
    let flags = match flags.chars().find(|flag| !is_known(*flag)) {
        None => Cow::Borrowed(flags),
        Some(_) if evaluator.is_lenient() => Cow::Owned(flags.replace(|flag| !is_known(flag), "")),
        Some(flag) => return message(format!("Illegal regular expression flag '{flag}'")),
    };
    if pattern.len() > PATTERN_BYTES_MAX {
        return message(format!("The pattern is longer than {PATTERN_BYTES_MAX} bytes"));
    }
    let backtracks =
        steps_back(pattern).then(|| (input.len() + BACKTRACKS_MIN).next_power_of_two().min(BACKTRACKS_MAX));
    let (pattern, flags) = if evaluator.is_standard() {
        (Cow::Owned(from_xpath(pattern, flags.contains('x'))), flags.replace('x', ""))
    } else {
        (Cow::Borrowed(pattern), flags.into_owned())
    };
    // A dot matches neither of the characters that end lines.
    let source = format!("(?{flags}R){pattern}");
    let key = (source, backtracks.unwrap_or(BACKTRACKS_MAX));
    let kept =
        KEPT.with_borrow(|kept| kept.iter().find(|(one, _)| *one == key).map(|(_, regex)| regex.clone()));
    let found = if let Some(regex) = kept {
        Pattern { regex, backtracks }
    } else {
        let regex = RegexBuilder::new(&key.0)
            .backtrack_limit(key.1)
            .delegate_size_limit(COMPILED_BYTES_MAX)
            .delegate_dfa_size_limit(COMPILED_BYTES_MAX)
            .build()
            .map_err(|error| Failure::Message(format!("Invalid pattern '{pattern}': {error}")))?;
        KEPT.with_borrow_mut(|kept| {
            if kept.len() == KEPT_PATTERNS_MAX {
                kept.remove(0);
            }
            kept.push((key, regex.clone()));
        });
        Pattern { regex, backtracks }
    };
    evaluator.spend(found.steps(input))?;
    Ok(found)
}

/// Fuel of compiling a pattern: its parts, each times the enclosing repetition counts. Classes of letters, digits and
/// the like cost more than a character.
fn pattern_steps(pattern: &str) -> usize {
    const BASE: usize = 2_000;
    const CHARACTER: usize = 20;
    const CLASS: usize = 2_000;
    /// The size of a compiled pattern has a limit, so that none costs more.
    const MOST: usize = 1_500_000;
    let bytes = pattern.as_bytes();
    // The costs of the groups that are open, and of the part that a following count would repeat.
    let (mut open, mut last) = (vec![0usize], 0usize);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'(' => {
                open.push(0);
                continue;
            }
            b')' if open.len() > 1 => last = open.pop().unwrap_or_default() + CHARACTER,
            b'{' => {
                let length = bytes[at..].iter().position(|byte| *byte == b'}').unwrap_or_default();
                let counts = bytes[at..at + length].split(|byte| *byte == b',');
                let counts =
                    counts.filter_map(|count| str::from_utf8(count).ok()?.trim().parse::<usize>().ok());
                let most = counts.max().unwrap_or(1).clamp(1, MOST);
                last = last.saturating_mul(most - 1).min(MOST);
                at += length;
            }
            b'\\' => {
                let is_class = bytes.get(at).is_some_and(|next| {
                    matches!(next, b'w' | b'W' | b'd' | b'D' | b's' | b'S' | b'p' | b'P' | b'b' | b'B')
                });
                last = if is_class { CLASS } else { CHARACTER };
                at += 1;
            }
            b'[' | b'.' => last = CLASS / 4,
            _ => last = CHARACTER,
        }
        if let Some(group) = open.last_mut() {
            *group = group.saturating_add(last).min(MOST);
        }
    }
    // Groups that are not closed are an error, which costs no more than they do.
    BASE + open.into_iter().fold(0, usize::saturating_add).min(MOST)
}

/// Whether a pattern may have look-around or back-references, which need more than one pass over the text.
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

/// Translates the XPath syntax that the standard requires: one dash subtracts classes, and the flag `x` ignores all
/// white space outside of classes.
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
    let found = compile(evaluator, pattern, flags(arguments, 2)?, input)?;
    found.regex.is_match(input).map(Value::Bool).map_err(refuse)
}

pub(super) fn replace(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let (input, pattern, replacement) = (text(&arguments[0])?, text(&arguments[1])?, text(&arguments[2])?);
    let pattern = compile(evaluator, pattern, flags(arguments, 3)?, input)?;
    let mut out = String::with_capacity(input.len());
    let mut end = 0;
    for captures in pattern.regex.captures_iter(input) {
        let captures = captures.map_err(refuse)?;
        let Some(whole) = captures.get(0) else { continue };
        out.push_str(&input[end..whole.start()]);
        expand(&captures, replacement, &mut out);
        end = whole.end();
        evaluator.check_text_bytes(out.len())?;
        // It searches for the next.
        evaluator.spend(pattern.steps(&input[end..]) + (replacement.len() + whole.as_str().len()) / 8)?;
    }
    out.push_str(&input[end..]);
    Ok(out.into())
}

/// Replaces `$n` by groups; as many digits count as make a group that exists. A backslash escapes the next character.
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

/// The parts between matches, empty ones too; an empty match at the start does not split.
pub(super) fn split(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let (input, pattern) = (text(&arguments[0])?, text(&arguments[1])?);
    let pattern = compile(evaluator, pattern, "", input)?;
    let mut parts = Vec::new();
    let mut start = 0;
    for found in pattern.regex.find_iter(input) {
        let found = found.map_err(refuse)?;
        evaluator.spend(pattern.steps(&input[found.end()..]))?;
        if found.end() == 0 {
            continue;
        }
        parts.push(evaluator.hold_value(Value::string(&input[start..found.start()]))?);
        start = found.end();
    }
    parts.push(evaluator.hold_value(Value::string(&input[start..]))?);
    Ok(evaluator.new_list(parts)?)
}

pub(super) fn extract(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let (input, pattern) = (text(&arguments[0])?, text(&arguments[1])?);
    let pattern = compile(evaluator, pattern, "", input)?;
    let mut parts = Vec::new();
    for found in pattern.regex.find_iter(input) {
        let found = found.map_err(refuse)?;
        evaluator.spend(pattern.steps(&input[found.end()..]))?;
        parts.push(evaluator.hold_value(Value::string(found.as_str()))?);
    }
    Ok(evaluator.new_list(parts)?)
}
