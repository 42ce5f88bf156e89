//! Links: addresses in the cloud that let whoever has one read one document for a while.

use std::time::Duration;

use http::Method;
use object_store::{Attribute, AttributeValue, Attributes};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{CONTENTS, Document, Documents, Error, Metadata};

/// The longest life of a link. Clouds sign for no longer.
pub const LINK_LIFE_MAX: Duration = Duration::from_hours(7 * 24);
/// The longest name of a file or media type that is told along with the content.
const ATTRIBUTE_BYTES_MAX: usize = 1024;
/// Characters that file names in headers escape (RFC 8187).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');

/// An address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The URL, which is a secret as long as it is good.
    pub url: String,
    /// Until when it is good, Unix milliseconds.
    pub expires_at_ms: i64,
}

impl Documents {
    /// A link to the content, good for so long and no longer than the document. Stores without addresses of their
    /// own refuse.
    pub async fn link(&self, document: &Document, life: Duration, now_ms: i64) -> Result<Link, Error> {
        let Some(signer) = &self.signer else {
            return Err(Error::Invalid(format!("the document store '{}' does not support links", self.id)));
        };
        if life.is_zero() || life > LINK_LIFE_MAX {
            return Err(Error::Invalid(format!(
                "timeToLive: expected from 1 to {} milliseconds, but found {}",
                LINK_LIFE_MAX.as_millis(),
                life.as_millis()
            )));
        }
        let asked = now_ms.saturating_add(i64::try_from(life.as_millis()).unwrap_or(i64::MAX));
        let expires_at_ms = document.metadata.expires_at_ms.map_or(asked, |gone| gone.min(asked));
        let life_ms = u64::try_from(expires_at_ms.saturating_sub(now_ms)).unwrap_or(0);
        // They are signed for whole seconds.
        let signed = Duration::from_secs(life_ms.div_ceil(1000).max(1));
        let place = self.place([CONTENTS, &document.content]);
        let url = signer.signed_url(Method::GET, &place, signed).await?;
        Ok(Link { url: url.into(), expires_at_ms })
    }
}

/// Headers of a bucket's response to a link: the content type, and that it is a file and no page.
pub(crate) fn attributes(metadata: &Metadata) -> Attributes {
    let mut attributes = Attributes::new();
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    let kind = metadata.content_type.trim();
    if !kind.is_empty() && kind.len() <= ATTRIBUTE_BYTES_MAX && is_plain(kind) {
        attributes.insert(Attribute::ContentType, AttributeValue::from(kind.to_owned()));
    }
    let mut disposition = "attachment".to_owned();
    let name = utf8_percent_encode(&metadata.file_name, ENCODED).to_string();
    if !name.is_empty() && name.len() <= ATTRIBUTE_BYTES_MAX {
        disposition += &format!("; filename*=UTF-8''{name}");
    }
    attributes.insert(Attribute::ContentDisposition, AttributeValue::from(disposition));
    attributes
}
