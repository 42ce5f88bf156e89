//! Values of parameters.

use super::problem::Failure;
use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use std::time::Duration;

pub(super) fn decode<'a>(name: &str, raw: &'a str) -> Result<Cow<'a, str>, Failure> {
    percent_decode_str(raw).decode_utf8().map_err(|_| Failure::invalid(format!("{name}: is not UTF-8")))
}

/// How long a request may wait, by what it says in milliseconds; `None`: it does not say.
pub(super) fn wait_of(milliseconds: Option<i64>) -> Option<Duration> {
    let milliseconds = u64::try_from(milliseconds?).ok().filter(|&ms| ms > 0)?;
    Some(Duration::from_millis(milliseconds).min(super::MAX_WAIT))
}
