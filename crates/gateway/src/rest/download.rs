//! Files of users on their way out, with what keeps browsers from running anything in them.
//!
//! They come from the origin of the session cookie and say of themselves what they are. So each leaves as an
//! attachment, of a media type that browsers do not run, in a sandbox without an origin: any one of these would do
//! for a browser that knows it.

use http::HeaderValue;
use http::header::{
    CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, X_CONTENT_TYPE_OPTIONS,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The longest name of a file that is told, in bytes.
const NAME_BYTES_MAX: usize = 255;
/// The longest name of a charset that is told, in bytes.
const CHARSET_BYTES_MAX: usize = 40;
/// The name of a file that has none of its own.
const NO_NAME: &str = "download";
const OCTETS: &str = "application/octet-stream";
/// No scripts, no forms, no origin, and nothing is loaded.
const POLICY: HeaderValue = HeaderValue::from_static("default-src 'none'; sandbox");
const NO_SNIFFING: HeaderValue = HeaderValue::from_static("nosniff");

/// Media types of documents that are told as they were said to be: browsers run nothing in them, and take none of
/// them for a script or a style sheet. All others are told as bytes.
const HARMLESS: &[&str] = &[
    "application/gzip",
    "application/json",
    "application/msword",
    "application/pdf",
    "application/rtf",
    "application/vnd.ms-excel",
    "application/vnd.ms-powerpoint",
    "application/vnd.oasis.opendocument.presentation",
    "application/vnd.oasis.opendocument.spreadsheet",
    "application/vnd.oasis.opendocument.text",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/x-ndjson",
    "application/zip",
    "audio/mpeg",
    "audio/ogg",
    "audio/wav",
    "image/avif",
    "image/bmp",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/tiff",
    "image/webp",
    "text/csv",
    "text/markdown",
    "text/plain",
    "video/mp4",
    "video/webm",
];

/// Characters that RFC 8187 §3.2.1 escapes in the value of a parameter.
const NOT_IN_PARAMETERS: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');

/// Content type of a file.
#[derive(Debug)]
pub(crate) struct Download {
    media_type: HeaderValue,
    disposition: HeaderValue,
}

impl Download {
    /// A file of a type that the server chose.
    pub(crate) fn new(media_type: &'static str, name: &str) -> Self {
        Self { media_type: HeaderValue::from_static(media_type), disposition: attachment(name) }
    }

    /// A file of a type that a user named.
    pub(crate) fn named(media_type: &str, name: &str) -> Self {
        Self { media_type: harmless(media_type), disposition: attachment(name) }
    }

    /// Adds the headers, over others of the same names.
    pub(crate) fn write_headers(self, headers: &mut HeaderMap) {
        headers.insert(CONTENT_TYPE, self.media_type);
        headers.insert(CONTENT_DISPOSITION, self.disposition);
        headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    }
}

/// Keeps browsers from finding out for themselves what an answer is.
pub(crate) fn forbid_sniffing(headers: &mut HeaderMap) {
    headers.insert(X_CONTENT_TYPE_OPTIONS, NO_SNIFFING);
}

/// The media type, with its charset, if it is one of the list.
fn harmless(told: &str) -> HeaderValue {
    let (essence, parameters) = told.split_once(';').unwrap_or((told, ""));
    let essence = essence.trim().to_ascii_lowercase();
    let Some(found) = HARMLESS.iter().find(|one| **one == essence) else {
        return HeaderValue::from_static(OCTETS);
    };
    let charset = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches('"');
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let is_told = name.trim().eq_ignore_ascii_case("charset")
            && (1..=CHARSET_BYTES_MAX).contains(&value.len())
            && value.bytes().all(is_name);
        is_told.then_some(value)
    });
    match charset {
        None => HeaderValue::from_static(found),
        Some(charset) => {
            HeaderValue::from_str(&format!("{found}; charset={charset}")).expect("both are visible ASCII")
        }
    }
}

/// The value of `Content-Disposition` (RFC 6266): the name in ASCII, and whole beside it if that is not the same.
fn attachment(name: &str) -> HeaderValue {
    let mut whole = String::with_capacity(name.len());
    for char in name.chars().map(without_tricks) {
        if whole.len() + char.len_utf8() > NAME_BYTES_MAX {
            break;
        }
        whole.push(char);
    }
    if whole.chars().all(|char| matches!(char, '.' | ' ')) {
        NO_NAME.clone_into(&mut whole);
    }
    // Some clients take an escape in here for what it stands for.
    let is_plain = |char: char| (char.is_ascii_graphic() || char == ' ') && !matches!(char, '"' | '%');
    let plain: String = whole.chars().map(|char| if is_plain(char) { char } else { '_' }).collect();
    let mut value = format!("attachment; filename=\"{plain}\"");
    if plain != whole {
        value += "; filename*=UTF-8''";
        value.extend(utf8_percent_encode(&whole, NOT_IN_PARAMETERS));
    }
    HeaderValue::from_str(&value).expect("visible ASCII")
}

/// Neither paths nor what is not seen or turns the text around.
fn without_tricks(char: char) -> char {
    let turns = matches!(char, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if char.is_control() || turns || matches!(char, '/' | '\\') { '_' } else { char }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_types_of_the_list_are_told() {
        for (told, expected) in [
            ("text/plain", "text/plain"),
            ("Text/Plain; Charset=\"UTF-8\"; x=y", "text/plain; charset=UTF-8"),
            ("text/plain; charset=a b", "text/plain"),
            ("text/plain; charset=", "text/plain"),
            (" image/png ", "image/png"),
            ("application/pdf", "application/pdf"),
            ("text/html", OCTETS),
            ("TEXT/HTML; charset=utf-8", OCTETS),
            ("image/svg+xml", OCTETS),
            ("application/xhtml+xml", OCTETS),
            ("text/xml", OCTETS),
            ("application/xml", OCTETS),
            ("text/javascript", OCTETS),
            ("application/wasm", OCTETS),
            ("text/css", OCTETS),
            ("multipart/related", OCTETS),
            ("text/plain, text/html", OCTETS),
            ("text/plain\r\nx: y", OCTETS),
            ("größe", OCTETS),
            ("", OCTETS),
        ] {
            assert_eq!(harmless(told), expected, "{told}");
        }
        let long = format!("text/plain; charset={}", "x".repeat(CHARSET_BYTES_MAX + 1));
        assert_eq!(harmless(&long), "text/plain");
    }

    #[test]
    fn names_are_told_so_that_every_client_reads_them() {
        for (name, expected) in [
            ("a.txt", "filename=\"a.txt\""),
            ("my file.txt", "filename=\"my file.txt\""),
            ("größe.txt", "filename=\"gr__e.txt\"; filename*=UTF-8''gr%C3%B6%C3%9Fe.txt"),
            ("a\"b.txt", "filename=\"a_b.txt\"; filename*=UTF-8''a%22b.txt"),
            ("50%41.txt", "filename=\"50_41.txt\"; filename*=UTF-8''50%2541.txt"),
            ("a;b'c*.txt", "filename=\"a;b'c*.txt\""),
            ("../../etc/passwd", "filename=\".._.._etc_passwd\""),
            ("..\\x", "filename=\".._x\""),
            ("a\r\nset-cookie: b=c", "filename=\"a__set-cookie: b=c\""),
            ("invoice\u{202e}fdp.exe", "filename=\"invoice_fdp.exe\""),
            ("\0\u{7f}", "filename=\"__\""),
            ("", "filename=\"download\""),
            ("..", "filename=\"download\""),
        ] {
            assert_eq!(attachment(name), format!("attachment; {expected}"), "{name:?}");
        }
        // A name is cut between characters.
        let long = attachment(&"ö".repeat(NAME_BYTES_MAX));
        let escapes = long.to_str().unwrap().matches("%C3%B6").count();
        assert_eq!(escapes, NAME_BYTES_MAX / 2);
    }
}
