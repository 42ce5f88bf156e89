//! Standard output.

pub(crate) fn print(text: &str) {
    use std::io::Write as _;
    // A reader may stop early.
    let _ = writeln!(std::io::stdout(), "{text}");
}
