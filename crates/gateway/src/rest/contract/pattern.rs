//! Matchers for the text patterns of the contract. There are few, so each is a function instead of a compiled
//! regular expression; the tests compare them with one.

/// A pattern of the contract. The build script maps its text to one of these, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pattern {
    Base64,
    Identifier,
    TenantId,
    Tag,
    Key,
    KeyPair,
    EntityId,
    MemberId,
    NumberPrefix,
}

impl Pattern {
    /// The pattern for people.
    pub(crate) const fn as_str(self) -> &'static str {
        super::tables::PATTERNS[self as usize]
    }

    /// Whether the whole text matches.
    pub(crate) fn matches(self, text: &str) -> bool {
        let bytes = text.as_bytes();
        match self {
            Self::Base64 => is_base64(bytes),
            Self::Identifier => is_identifier(text),
            Self::TenantId => text == protocol::DEFAULT_TENANT || is_entity_id(bytes),
            Self::Tag => {
                bytes.len() <= 100
                    && bytes.first().is_some_and(u8::is_ascii_alphabetic)
                    && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"_-:.".contains(b))
            }
            Self::Key => is_digits(bytes.strip_prefix(b"-").unwrap_or(bytes)),
            Self::KeyPair => {
                text.split_once('-').is_some_and(|(a, b)| is_digits(a.as_bytes()) && is_digits(b.as_bytes()))
            }
            Self::EntityId => is_entity_id(bytes),
            Self::NumberPrefix => {
                bytes.strip_suffix(b"*").is_some_and(|rest| rest.iter().all(u8::is_ascii_digit))
            }
            Self::MemberId => {
                !bytes.is_empty() && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"_~@.+-".contains(b))
            }
        }
    }
}

fn is_digits(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit)
}

fn is_entity_id(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"_@.+-".contains(b))
}

/// Letters are what Unicode calls alphabetic, which adds a few combining marks to `\p{L}`.
fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c == '_' || c.is_alphabetic())
        && chars.all(|c| matches!(c, '_' | '-' | '.') || c.is_alphanumeric())
}

/// Padding may be missing after two characters of the last group, as the pattern has it.
fn is_base64(bytes: &[u8]) -> bool {
    let padding = bytes.iter().rev().take_while(|&&b| b == b'=').count();
    let digits = &bytes[..bytes.len() - padding];
    digits.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
        && matches!((digits.len() % 4, padding), (0 | 2, 0) | (2, 2) | (3, 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Pattern;

    const ALL: [Pattern; 9] = [
        Pattern::Base64,
        Pattern::Identifier,
        Pattern::TenantId,
        Pattern::Tag,
        Pattern::Key,
        Pattern::KeyPair,
        Pattern::EntityId,
        Pattern::MemberId,
        Pattern::NumberPrefix,
    ];

    proptest! {
        #[test]
        fn matchers_agree_with_the_regular_expressions(text in "[-<>a-c0-3@._~+/=:äβ* ]{0,9}|<default>|[a:]{98,102}") {
            for pattern in ALL {
                let expression = fancy_regex::Regex::new(pattern.as_str()).unwrap();
                prop_assert_eq!(pattern.matches(&text), expression.is_match(&text).unwrap(), "{:?} {:?}", pattern, text);
            }
        }
    }
}
