//! The one HTML page, which all paths of the application begin with.

use bytes::Bytes;

/// Stands in the built page for the title.
const TITLE: &str = "__TITLE__";
/// Stands in it for the path before all paths.
const BASE: &str = "__BASE__";
/// The beginning of the addresses of files, as they are built.
const ASSETS: &str = "\"./assets/";

/// The page with its title. It is sent as it is: it fits into one segment, and packing it takes a megabyte or two.
#[derive(Debug, Clone)]
pub(crate) struct FrontPage {
    pub(crate) text: Bytes,
    pub(crate) tag: String,
}

impl FrontPage {
    /// `base` is the path before all paths, without a slash at its end.
    pub(crate) fn new(built: &str, title: &str, base: &str) -> Self {
        assert!(built.contains(TITLE), "the built page has a place for the title");
        // A title may look like anything, so it comes last.
        let text = built.replace(BASE, &escaped(base)).replace(ASSETS, &format!("\"{base}/assets/"));
        let text = text.replace(TITLE, &escaped(title));
        Self { tag: tag(text.as_bytes()), text: text.into() }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// FNV-1a: only tells one build from another, and nobody gains by a collision.
fn tag(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}
