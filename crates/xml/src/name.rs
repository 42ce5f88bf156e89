//! Names of XML without a colon, which IDs are.

/// Characters that a name may begin with, beyond ASCII.
const STARTS: &[(char, char)] = &[
    ('\u{C0}', '\u{D6}'),
    ('\u{D8}', '\u{F6}'),
    ('\u{F8}', '\u{2FF}'),
    ('\u{370}', '\u{37D}'),
    ('\u{37F}', '\u{1FFF}'),
    ('\u{200C}', '\u{200D}'),
    ('\u{2070}', '\u{218F}'),
    ('\u{2C00}', '\u{2FEF}'),
    ('\u{3001}', '\u{D7FF}'),
    ('\u{F900}', '\u{FDCF}'),
    ('\u{FDF0}', '\u{FFFD}'),
    ('\u{10000}', '\u{EFFFF}'),
];
/// Further characters of a name, beyond ASCII.
const REST: &[(char, char)] = &[('\u{B7}', '\u{B7}'), ('\u{300}', '\u{36F}'), ('\u{203F}', '\u{2040}')];

fn is_in(ranges: &[(char, char)], one: char) -> bool {
    ranges.iter().any(|(from, to)| (*from..=*to).contains(&one))
}

fn may_begin(one: char) -> bool {
    one.is_ascii_alphabetic() || one == '_' || is_in(STARTS, one)
}

/// Whether a text is an `NCName` of "Namespaces in XML 1.0": the type `xsd:ID` takes no other text.
pub fn is_name(text: &str) -> bool {
    let mut all = text.chars();
    let may_follow =
        |one: char| may_begin(one) || one.is_ascii_digit() || matches!(one, '-' | '.') || is_in(REST, one);
    all.next().is_some_and(may_begin) && all.all(may_follow)
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn names_are_told_from_other_texts() {
        for name in ["a", "_", "Process_1", "a-b.c", "größe", "注文", "a\u{b7}1", "Activity_0x9f"] {
            assert!(is_name(name), "{name}");
        }
        for other in ["", "@ID@", "1a", "-a", ".a", "a b", " a", "a:b", "${id}", "a/b", "a%", "×", "\u{300}a"]
        {
            assert!(!is_name(other), "{other}");
        }
    }
}
