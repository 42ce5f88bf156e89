//! Texts of other brokers, in the log and in messages of this one.

/// Bytes of such a text at most.
const TEXT_BYTES_MAX: usize = 300;

/// The beginning of a text, without line breaks and the like.
pub(crate) fn shortened(text: &str) -> String {
    let cut = text.floor_char_boundary(TEXT_BYTES_MAX);
    text[..cut].chars().map(|of| if of.is_control() { ' ' } else { of }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_short_line() {
        assert_eq!(shortened("one\ntwo"), "one two");
        assert_eq!(shortened(&"é".repeat(1000)).len(), TEXT_BYTES_MAX);
        assert_eq!(shortened(&"€".repeat(101)).len(), 300);
    }
}
