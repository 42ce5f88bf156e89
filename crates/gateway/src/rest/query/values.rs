//! Values of variables in filters: they are compared as texts, so they are brought into the spelling of the store.

use std::borrow::Cow;

use protocol::Name;
use search::{Operand, Test};

/// Brings the values that tests compare with into the one spelling of each. Text that is no JSON stays, and so do
/// patterns.
pub(in crate::rest) fn respell(tests: &mut [Test]) {
    for test in tests {
        match test {
            Test::Equal(operand)
            | Test::NotEqual(operand)
            | Test::Greater(operand)
            | Test::GreaterOrEqual(operand)
            | Test::Less(operand)
            | Test::LessOrEqual(operand) => respell_one(operand),
            Test::In(operands) | Test::NotIn(operands) => {
                operands.iter_mut().for_each(respell_one);
                operands.sort_unstable();
                operands.dedup();
            }
            Test::Exists(_) | Test::Like(_) => {}
        }
    }
}

fn respell_one(operand: &mut Operand) {
    if let Operand::Text(text) = operand
        && json::depth(text).is_ok()
        && let Cow::Owned(spelled) = json::canonical(text)
    {
        *text = Name::from(spelled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_brought_into_one_spelling_and_other_text_stays() {
        let text = |text: &str| Operand::Text(Name::from(text));
        let mut tests = vec![
            Test::Equal(text("\"M\\u00fcller\"")),
            Test::NotEqual(text(" 1.50 ")),
            Test::In(vec![text("{\"b\": 1, \"a\": 2}"), text("1.0"), text("1")]),
            Test::Equal(text("Müller \\u00fc")),
            Test::Like(Name::from("*1.50*")),
        ];
        respell(&mut tests);
        let expected = [
            Test::Equal(text("\"Müller\"")),
            Test::NotEqual(text("1.5")),
            Test::In(vec![text("1"), text("{\"a\":2,\"b\":1}")]),
            Test::Equal(text("Müller \\u00fc")),
            Test::Like(Name::from("*1.50*")),
        ];
        assert_eq!(tests, expected);
    }
}
