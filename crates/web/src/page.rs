//! The one HTML page, which all paths of the application begin with.

use std::io::Write as _;

use bytes::Bytes;
use flate2::{Compression, GzBuilder};

use crate::cache::unpack;

/// Stands in the built page for the title.
const TITLE: &str = "__TITLE__";
/// Stands in it for the path before all paths.
const BASE: &str = "__BASE__";
/// The beginning of the addresses of files, as they are built.
const ASSETS: &str = "\"./assets/";

/// The page with its title.
#[derive(Debug, Clone)]
pub(crate) struct FrontPage {
    pub(crate) packed: Bytes,
    pub(crate) tag: String,
}

impl FrontPage {
    /// `base` is the path before all paths, without a slash at its end.
    pub(crate) fn new(built: &[u8], title: &str, base: &str) -> Self {
        let text = String::from_utf8(unpack(built).to_vec()).expect("the page is UTF-8");
        assert!(text.contains(TITLE), "the built page has a place for the title");
        // A title may look like anything, so it comes last.
        let text = text.replace(BASE, &escaped(base)).replace(ASSETS, &format!("\"{base}/assets/"));
        let text = text.replace(TITLE, &escaped(title));
        let mut packer = GzBuilder::new().write(Vec::new(), Compression::best());
        packer.write_all(text.as_bytes()).expect("writing to memory does not fail");
        let packed = packer.finish().expect("writing to memory does not fail");
        Self { tag: tag(text.as_bytes()), packed: packed.into() }
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
