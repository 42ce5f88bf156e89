//! Bytes to text: UTF-8, UTF-16 with a byte order mark, ASCII and ISO 8859-1.

use std::borrow::Cow;

/// How far into the file the XML declaration is looked for, in bytes.
const MAX_DECLARATION_BYTES: usize = 200;

/// The text of a file, or why it has none.
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    match bytes {
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes).map(Cow::Owned),
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes).map(Cow::Owned),
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8(rest).map(Cow::Borrowed),
        _ => match declared(bytes) {
            None => utf8(bytes).map(Cow::Borrowed),
            Some(name) => match name.as_str() {
                "utf-8" | "utf8" | "us-ascii" | "ascii" => utf8(bytes).map(Cow::Borrowed),
                "iso-8859-1" | "latin1" => Ok(bytes.iter().map(|&byte| char::from(byte)).collect()),
                _ => Err(format!("the encoding '{name}' is not supported, use UTF-8")),
            },
        },
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes)
        .map_err(|error| format!("the file is not valid UTF-8 at byte {}", error.valid_up_to()))
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err("the file is not valid UTF-16: it has an odd number of bytes".to_owned());
    }
    char::decode_utf16(pairs.iter().map(|pair| unit(*pair)))
        .collect::<Result<_, _>>()
        .map_err(|_| "the file is not valid UTF-16".to_owned())
}

/// The encoding that the XML declaration names, in lower case.
fn declared(bytes: &[u8]) -> Option<String> {
    let head = &bytes[..bytes.len().min(MAX_DECLARATION_BYTES)];
    let head = head.strip_prefix(b"<?xml")?;
    let end = head.windows(2).position(|pair| pair == b"?>")?;
    let head = std::str::from_utf8(&head[..end]).ok()?;
    let (_, value) = head.split_once("encoding")?;
    let value = value.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let (name, _) = value[1..].split_once(quote)?;
    Some(name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, mark: [u8; 2], bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        mark.into_iter().chain(text.encode_utf16().flat_map(bytes)).collect()
    }

    #[test]
    fn decodes() {
        let text = "<?xml version='1.0'?><é/>";
        assert_eq!(decode(text.as_bytes()).unwrap(), text);
        assert_eq!(decode(&[&[0xEF, 0xBB, 0xBF], text.as_bytes()].concat()).unwrap(), text);
        assert_eq!(decode(&utf16(text, [0xFE, 0xFF], u16::to_be_bytes)).unwrap(), text);
        assert_eq!(decode(&utf16(text, [0xFF, 0xFE], u16::to_le_bytes)).unwrap(), text);
        let latin = b"<?xml version=\"1.0\" encoding = 'ISO-8859-1'?><\xE9/>";
        assert!(decode(latin).unwrap().ends_with("<é/>"));
        assert_eq!(decode(b"").unwrap(), "");
    }

    #[test]
    fn refuses() {
        for (bytes, reason) in [
            (&b"<a>\xFF</a>"[..], "the file is not valid UTF-8 at byte 3"),
            (
                b"<?xml version='1.0' encoding='EBCDIC'?><a/>",
                "the encoding 'ebcdic' is not supported, use UTF-8",
            ),
            (b"\xFF\xFEa", "the file is not valid UTF-16: it has an odd number of bytes"),
            (b"\xFE\xFF\xD8\x00", "the file is not valid UTF-16"),
        ] {
            assert_eq!(decode(bytes), Err(reason.to_owned()));
        }
    }
}
