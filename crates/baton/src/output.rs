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

fn to(mut sink: impl Write, text: impl Display) -> Result<(), Failure> {
    match write!(sink, "{text}").and_then(|()| sink.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("cannot write the result: {error}")))
        }
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
}
