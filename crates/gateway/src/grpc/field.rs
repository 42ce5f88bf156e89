//! Checks of request fields, each naming the field it refuses.

use std::collections::HashSet;

use bytes::Bytes;
use protocol::{BusinessIdClaim, DEFAULT_TENANT, Document, ENTRIES_MAX, ENTRIES_SETTING, Key, Name};
use tonic::Status;

use super::status::wrong_field;

/// How many tags an instance may have; the compatible API's own limit.
const TAGS_MAX: usize = 10;
/// How long a tag may be, in characters; from the schema `Tag` of the REST API.
const TAG_LENGTH_MAX: usize = 100;
/// How long the ID of a tenant may be, in characters; from the schema `TenantId` of the REST API.
const TENANT_LENGTH_MAX: usize = 256;
/// How long names and IDs may be, in bytes. Far above any real one, and small enough to be indexed.
const NAME_LENGTH_MAX: usize = 32 * 1024;

/// How long a business ID may be, in characters; from the schema `BusinessId` of the REST API.
const BUSINESS_ID_LENGTH_MAX: usize = 256;

/// A business ID; empty means none.
pub(super) fn business_id(field: &str, text: Option<String>) -> Result<Option<BusinessIdClaim>, Status> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let length = text.chars().count();
    if length > BUSINESS_ID_LENGTH_MAX {
        let wanted = format!("at most {BUSINESS_ID_LENGTH_MAX} characters long");
        return Err(wrong_field(field, &wanted, format!("{length} characters long")));
    }
    Ok(Some(BusinessIdClaim::of(Name::from(text))))
}

/// A key that some entity could have.
pub(super) fn key(field: &str, value: i64) -> Result<Key, Status> {
    match Key::try_from(value) {
        Ok(key) if key > 0 => Ok(key),
        _ => Err(wrong_field(field, "a key greater than 0", value)),
    }
}

/// A set of variables as JSON text; empty text and `null` mean none.
pub(super) fn variables(field: &str, text: String) -> Result<Document, Status> {
    if text.is_empty() || text.trim_ascii() == "null" {
        return Ok(Document::empty());
    }
    Document::parse(Bytes::from(text))
        .map_err(|error| Status::invalid_argument(format!("Expected '{field}' to be a JSON object: {error}")))
}

/// A name that may be empty.
pub(super) fn optional_name(field: &str, text: String) -> Result<Name, Status> {
    if text.len() > NAME_LENGTH_MAX {
        let found = format!("{} bytes long", text.len());
        return Err(wrong_field(field, &format!("at most {NAME_LENGTH_MAX} bytes long"), found));
    }
    Ok(Name::from(text))
}

/// A name that must be there.
pub(super) fn name(field: &str, text: String) -> Result<Name, Status> {
    if text.trim().is_empty() {
        return Err(wrong_field(field, "present", "blank"));
    }
    optional_name(field, text)
}

/// The length of a list, which is no longer than any may be. Where it is submitted, the limit may be lower.
pub(super) fn length(field: &str, found: usize) -> Result<(), Status> {
    if found > ENTRIES_MAX {
        let expectation =
            format!("a list of at most {ENTRIES_MAX} entries, the most that {ENTRIES_SETTING} may allow");
        return Err(wrong_field(field, &expectation, format!("one of {found}")));
    }
    Ok(())
}

/// Names that must each be there, such as the variables to fetch.
pub(super) fn names(field: &str, texts: Vec<String>) -> Result<Vec<Name>, Status> {
    length(field, texts.len())?;
    texts.into_iter().map(|text| name(field, text)).collect()
}

/// The tenant of a request; empty means the default one. Whether there may be others is checked where it is submitted.
pub(super) fn tenant(field: &str, text: &str) -> Result<Name, Status> {
    if text.is_empty() || text == DEFAULT_TENANT {
        return Ok(Name::default_tenant());
    }
    let is_id = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_@.+-".contains(&b));
    if is_id && text.len() <= TENANT_LENGTH_MAX {
        return Ok(Name::from(text));
    }
    let expected =
        format!("a tenant ID: '{DEFAULT_TENANT}', or up to {TENANT_LENGTH_MAX} of A-Z a-z 0-9 _ @ . + -");
    Err(wrong_field(field, &expected, format!("'{text}'")))
}

/// The tenants of a request for jobs; none means the default one.
pub(super) fn tenants(field: &str, texts: &[String]) -> Result<Vec<Name>, Status> {
    if texts.is_empty() {
        return Ok(vec![Name::default_tenant()]);
    }
    length(field, texts.len())?;
    texts.iter().map(|text| tenant(field, text)).collect()
}

/// A duration that must be above zero, in milliseconds.
pub(super) fn positive_ms(field: &str, value: i64) -> Result<i64, Status> {
    if value < 1 { Err(wrong_field(field, "greater than zero", value)) } else { Ok(value) }
}

/// A duration that may be zero, in milliseconds.
pub(super) fn non_negative_ms(field: &str, value: i64) -> Result<i64, Status> {
    if value < 0 { Err(wrong_field(field, "zero or greater", value)) } else { Ok(value) }
}

/// The tags of an instance (schema `Tag` of the REST API). They are a set: one that occurs twice counts once.
pub(super) fn tags(field: &str, mut texts: Vec<String>) -> Result<Vec<Name>, Status> {
    length(field, texts.len())?;
    let mut seen = HashSet::new();
    texts.retain(|text| seen.insert(text.clone()));
    if texts.len() > TAGS_MAX {
        return Err(wrong_field(field, &format!("at most {TAGS_MAX} tags"), texts.len()));
    }
    texts
        .into_iter()
        .map(|text| {
            if is_tag(&text) {
                Ok(Name::from(text))
            } else {
                let expectation = format!(
                    "tags that begin with a letter and go on with up to {} letters, digits, '_', '-', ':' or '.'",
                    TAG_LENGTH_MAX - 1
                );
                Err(wrong_field(field, &expectation, format!("'{text}'")))
            }
        })
        .collect()
}

fn is_tag(text: &str) -> bool {
    text.len() <= TAG_LENGTH_MAX
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-:.".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_names_its_field() {
        for refused in [
            key("jobKey", 0).map(drop),
            key("jobKey", -1).map(drop),
            variables("jobKey", "[1]".to_owned()).map(drop),
            variables("jobKey", "{\"a\":".to_owned()).map(drop),
            name("jobKey", " ".to_owned()).map(drop),
            name("jobKey", "x".repeat(NAME_LENGTH_MAX + 1)).map(drop),
            tenant("jobKey", "not one").map(drop),
            positive_ms("jobKey", 0).map(drop),
            non_negative_ms("jobKey", -1).map(drop),
            tags("jobKey", vec!["1a".to_owned()]).map(drop),
            tags("jobKey", (0..=TAGS_MAX).map(|n| format!("a{n}")).collect()).map(drop),
            tags("jobKey", vec!["a".repeat(TAG_LENGTH_MAX + 1)]).map(drop),
            tags("jobKey", vec![String::new()]).map(drop),
            tags("jobKey", vec!["a b".to_owned()]).map(drop),
            names("jobKey", vec!["a".to_owned(); ENTRIES_MAX + 1]).map(drop),
            tenants("jobKey", &vec![String::new(); ENTRIES_MAX + 1]).map(drop),
            tags("jobKey", vec!["a".to_owned(); ENTRIES_MAX + 1]).map(drop),
            length("jobKey", ENTRIES_MAX + 1),
        ] {
            let status = refused.unwrap_err();
            assert_eq!(status.code(), tonic::Code::InvalidArgument);
            assert!(status.message().contains("'jobKey'"), "{}", status.message());
        }
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        for none in ["", "null", " null\n"] {
            assert!(variables("variables", none.to_owned()).unwrap().is_empty(), "{none:?}");
        }
        assert_eq!(tenant("tenantId", "").unwrap(), Name::default_tenant());
        assert_eq!(tenants("tenantIds", &[]).unwrap(), [Name::default_tenant()]);
        let both = ["a@b".to_owned(), String::new()];
        assert_eq!(tenants("tenantIds", &both).unwrap(), [Name::from("a@b"), Name::default_tenant()]);
        assert_eq!(tags("tags", vec!["a:b-1".to_owned()]).unwrap(), [Name::from("a:b-1")]);
        let repeated = ["b", "a", "b"].into_iter().cycle().take(TAGS_MAX + 1).map(ToOwned::to_owned);
        assert_eq!(tags("tags", repeated.collect()).unwrap(), [Name::from("b"), Name::from("a")]);
    }
}
