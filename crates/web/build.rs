//! Makes one sorted table of the built files in `dist/`, and one of the paths that are pages.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;
use std::{env, fs};

use flate2::read::GzDecoder;
use sha2::{Digest as _, Sha256};

/// Digits of a tag: enough to tell any two builds apart.
const TAG_BYTES: usize = 8;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=dist");
    println!("cargo:rerun-if-changed=ui/src/pages.json");
    let root = env::current_dir().expect("cargo sets the folder of the crate");
    let mut out = String::new();
    files(&root.join("dist"), &mut out);
    pages(&root.join("ui/src/pages.json"), &mut out);
    let folder = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&folder).join("table.rs"), out).expect("OUT_DIR is writable");
}

/// The table of the files below `assets/`, sorted by path, and the page that all paths begin with.
fn files(dist: &Path, out: &mut String) {
    let mut names: Vec<_> = fs::read_dir(dist.join("assets"))
        .expect("dist/assets is there: `make web` builds it")
        .map(|entry| {
            entry.expect("dist/assets is readable").file_name().into_string().expect("names are UTF-8")
        })
        .collect();
    names.sort();
    writeln!(out, "static FILES: [Asset; {}] = [", names.len()).expect("memory");
    for name in &names {
        let file = dist.join("assets").join(name);
        let path = name.strip_suffix(".gz").unwrap_or_else(|| panic!("{name}: files of dist/ are packed"));
        let ending = path.rsplit('.').next().expect("a split has a first part");
        let media = match ending {
            "js" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "svg" => "image/svg+xml",
            "woff2" => "font/woff2",
            other => panic!("{name}: no media type is known for '{other}'"),
        };
        let bytes = fs::read(&file).expect("dist/ is readable");
        writeln!(
            out,
            "    Asset {{ path: {path:?}, media: {media:?}, tag: {:?}, packed: include_bytes!({:?}) }},",
            tag(&bytes),
            file.display().to_string()
        )
        .expect("memory");
    }
    out.push_str("];\n");
    let packed =
        fs::read(dist.join("index.html.gz")).expect("dist/index.html.gz is there: `make web` builds it");
    let mut page = String::new();
    GzDecoder::new(&*packed).read_to_string(&mut page).expect("dist/index.html.gz is packed text");
    writeln!(out, "static INDEX: &str = {page:?};").expect("memory");
}

fn tag(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in &Sha256::digest(bytes)[..TAG_BYTES] {
        write!(text, "{byte:02x}").expect("memory");
    }
    text
}

/// The paths of the pages, `:name` in the place of a segment that may be anything.
fn pages(file: &Path, out: &mut String) {
    let text = fs::read_to_string(file).expect("ui/src/pages.json is readable");
    let pages: Vec<String> = serde_json::from_str(&text).expect("ui/src/pages.json is a list of paths");
    writeln!(out, "static PAGES: [&str; {}] = {pages:?};", pages.len()).expect("memory");
}
