//! Output of commands: results on the standard output, the rest on the standard error output.
//!
//! A reader may stop early, as `head` does. That is no failure, and keeps no command from doing all that it
//! was asked for.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use crate::failure::Failure;

/// Prints a text as it is.
pub(crate) fn text(text: impl Display) -> Result<(), Failure> {
    to(io::stdout().lock(), text)
}

/// Prints a text and ends its line.
pub(crate) fn line(text: impl Display) -> Result<(), Failure> {
    to(io::stdout().lock(), format_args!("{text}\n"))
}

/// Prints JSON text with a line for each part, and all else as it is: order, and digits of numbers.
pub(crate) fn json(text: &str) -> Result<(), Failure> {
    line(indented(text))
}

/// Prints a line of many; false if nobody reads them any more.
pub(crate) fn line_of_many(text: impl Display) -> Result<bool, Failure> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(unwritable(&error)),
    }
}

/// JSON text on several lines.
fn indented(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    let new_line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    let mut letters = text.trim().chars().filter(|c| !matches!(c, '\r' | '\n')).peekable();
    while let Some(letter) = letters.next() {
        if in_string {
            out.push(letter);
            in_string = is_escaped || letter != '"';
            is_escaped = letter == '\\' && !is_escaped;
            continue;
        }
        match letter {
            '"' => {
                in_string = true;
                out.push(letter);
            }
            '{' | '[' => {
                out.push(letter);
                while letters.next_if(char::is_ascii_whitespace).is_some() {}
                if letters.peek().is_some_and(|next| !matches!(next, '}' | ']')) {
                    depth += 1;
                    new_line(&mut out, depth);
                } else {
                    out.extend(letters.next());
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(letter);
            }
            ',' => {
                out.push(letter);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            letter if letter.is_ascii_whitespace() => {}
            letter => out.push(letter),
        }
    }
    out
}

/// Says something to people beside the result. If nobody can be told, so be it.
pub(crate) fn note(text: impl Display) {
    let _ = to(io::stderr().lock(), format_args!("{text}\n"));
}

/// Reports a failure on the standard error output.
pub(crate) fn report(failure: &Failure) -> ExitCode {
    note(format_args!("error: {}", failure.message()));
    if let Some(advice) = failure.advice() {
        note(format_args!("hint: {advice}"));
    }
    failure.exit_code()
}

fn unwritable(error: &io::Error) -> Failure {
    Failure::new(format!("cannot write the result: {error}"))
}

fn to(mut sink: impl Write, text: impl Display) -> Result<(), Failure> {
    match write!(sink, "{text}").and_then(|()| sink.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(unwritable(&error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Broken(ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn who_stops_reading_is_no_failure_and_a_full_disk_is_one() {
        assert_eq!(to(Broken(ErrorKind::BrokenPipe), "a"), Ok(()));
        let failure = to(Broken(ErrorKind::StorageFull), "a").unwrap_err();
        assert_eq!(failure, Failure::new("cannot write the result: no storage space"));
        let mut out = Vec::new();
        to(&mut out, "a\n").unwrap();
        assert_eq!(out, b"a\n");
    }

    #[test]
    fn json_keeps_its_order_and_its_digits() {
        let text = r#"{"b":[1.10,{}, []],"a":{"c":"{\"x\": [1,2]}\\","d":12345678901234567890.5}}"#;
        let expected = "{\n  \"b\": [\n    1.10,\n    {},\n    []\n  ],\n  \"a\": {\n    \"c\": \"{\\\"x\\\": [1,2]}\\\\\",\n    \
                        \"d\": 12345678901234567890.5\n  }\n}";
        assert_eq!(indented(text), expected);
        assert_eq!(indented(expected), expected);
        assert_eq!(indented("[]"), "[]");
    }
}
