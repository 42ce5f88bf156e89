//! Conditions on one property of a row.

#![expect(missing_docs, reason = "names say what is held")]

use protocol::Name;
use serde::{Deserialize, Serialize};

/// Conditions on a property.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Test {
    Equal(Operand),
    NotEqual(Operand),
    /// There, or not there.
    Exists(bool),
    /// One of these, which are sorted.
    In(Vec<Operand>),
    /// None of these, which are sorted.
    NotIn(Vec<Operand>),
    /// Text with `*` for any characters, `?` for one and `\` before those that stand for themselves.
    Like(Name),
    Greater(Operand),
    GreaterOrEqual(Operand),
    Less(Operand),
    LessOrEqual(Operand),
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Operand {
    Text(Name),
    /// A key, number, date or flag.
    Integer(i64),
}

impl Test {
    /// Whether a value meets it. There may be none.
    pub fn is_met_by(&self, value: Option<&Operand>) -> bool {
        match self {
            Self::Equal(wanted) => value == Some(wanted),
            Self::NotEqual(unwanted) => value != Some(unwanted),
            Self::Exists(wanted) => value.is_some() == *wanted,
            Self::In(wanted) => value.is_some_and(|value| wanted.binary_search(value).is_ok()),
            Self::NotIn(unwanted) => value.is_none_or(|value| unwanted.binary_search(value).is_err()),
            Self::Like(pattern) => matches!(value, Some(Operand::Text(text)) if is_like(pattern, text)),
            Self::Greater(than) => value.is_some_and(|value| value > than),
            Self::GreaterOrEqual(than) => value.is_some_and(|value| value >= than),
            Self::Less(than) => value.is_some_and(|value| value < than),
            Self::LessOrEqual(than) => value.is_some_and(|value| value <= than),
        }
    }
}

/// One sign of a pattern.
enum Sign {
    Any,
    One,
    This(char),
}

/// Whether a text is like a pattern. Takes time by the product of their lengths at the worst.
fn is_like(pattern: &str, text: &str) -> bool {
    let mut signs = Vec::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        signs.push(match c {
            '*' => Sign::Any,
            '?' => Sign::One,
            '\\' => Sign::This(chars.next().unwrap_or('\\')),
            c => Sign::This(c),
        });
    }
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut sign) = (0, 0);
    // Where the last `*` stands, and how far the text was then: it may swallow one more.
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        let fits = match signs.get(sign) {
            Some(Sign::Any) => {
                star = Some((sign, at));
                sign += 1;
                continue;
            }
            Some(Sign::One) => true,
            Some(Sign::This(c)) => *c == text[at],
            None => false,
        };
        if fits {
            (at, sign) = (at + 1, sign + 1);
        } else if let Some((star_sign, star_at)) = star {
            star = Some((star_sign, star_at + 1));
            (at, sign) = (star_at + 1, star_sign + 1);
        } else {
            return false;
        }
    }
    signs[sign..].iter().all(|sign| matches!(sign, Sign::Any))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, text, wanted) in [
            ("", "", true),
            ("*", "", true),
            ("a*c", "abbbc", true),
            ("a*c", "abbbd", false),
            ("*b*b*", "abcb", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            (r"a\*", "a*", true),
            (r"a\*", "ab", false),
            ("ä?*", "äöü", true),
        ] {
            assert_eq!(is_like(pattern, text), wanted, "{pattern} {text}");
        }
    }

    #[test]
    fn tests_of_what_is_and_of_what_is_not_there() {
        let three = Operand::Integer(3);
        let list = || vec![Operand::Integer(1), Operand::Integer(3)];
        for (test, with_three, with_nothing) in [
            (Test::Equal(three.clone()), true, false),
            (Test::NotEqual(three.clone()), false, true),
            (Test::Exists(true), true, false),
            (Test::Exists(false), false, true),
            (Test::In(list()), true, false),
            (Test::NotIn(list()), false, true),
            (Test::Greater(Operand::Integer(2)), true, false),
            (Test::Greater(three.clone()), false, false),
            (Test::GreaterOrEqual(three.clone()), true, false),
            (Test::Less(three.clone()), false, false),
            (Test::LessOrEqual(three.clone()), true, false),
            (Test::Like("3".into()), false, false),
        ] {
            assert_eq!(test.is_met_by(Some(&three)), with_three, "{test:?}");
            assert_eq!(test.is_met_by(None), with_nothing, "{test:?}");
        }
    }
}
