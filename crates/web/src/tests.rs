use http::HeaderName;
use http::header::{ACCEPT_ENCODING, IF_NONE_MATCH};

use super::*;

fn ask(method: &Method, path: &str, headers: &[(HeaderName, &str)]) -> Option<Response<Bytes>> {
    let headers: HeaderMap =
        headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
    Pages::new(&PageSettings::default()).answer(method, path, &headers)
}

fn get(path: &str, headers: &[(HeaderName, &str)]) -> Response<Bytes> {
    ask(&Method::GET, path, headers).expect(path)
}

#[test]
fn pages_have_the_policy_and_are_asked_for_again() {
    for path in [
        "/",
        "/login",
        "/operate",
        "/operate/",
        "/operate/processes/2251799813685249/incidents",
        "/tasklist/5",
    ] {
        let page = get(path, &[]);
        assert_eq!(page.status(), 200, "{path}");
        let headers = page.headers();
        assert_eq!(headers["content-type"], HTML);
        assert_eq!(headers["cache-control"], "no-cache");
        assert_eq!(headers["x-content-type-options"], "nosniff");
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(policy.ends_with("frame-ancestors 'none'"), "{policy}");
        let text = std::str::from_utf8(page.body()).unwrap();
        assert!(text.contains("<title>Baton</title>"), "{text}");
        assert!(!text.contains("<script>") && !text.contains("://"), "{text}");
        let again = get(path, &[(IF_NONE_MATCH, headers["etag"].to_str().unwrap())]);
        assert_eq!((again.status().as_u16(), again.body().len()), (304, 0));
    }
}

#[test]
fn files_are_kept_for_a_year_and_unpacked_for_whom_it_suits() {
    for file in &FILES {
        let path = format!("{ASSETS}{}", file.path);
        let packed = get(&path, &[(ACCEPT_ENCODING, "gzip")]);
        let plain = get(&path, &[]);
        assert_eq!((packed.status().as_u16(), plain.status().as_u16()), (200, 200));
        assert_eq!(packed.headers()["cache-control"], IMMUTABLE);
        assert_eq!(packed.headers()["content-encoding"], "gzip");
        assert!(!plain.headers().contains_key("content-encoding"));
        assert_eq!(unpack(packed.body()), *plain.body());
        assert_eq!(plain.headers()["content-type"], file.media);
    }
}

#[test]
fn unknown_paths_are_told_by_what_is_asked_for() {
    let html = [(ACCEPT, "text/html,*/*;q=0.8")];
    for path in [
        "/operate/nothing",
        "/operate/processes/1/variables/more",
        "/assets/../Cargo.toml",
        "/assets/%2e%2e/index.html",
        "/assets/gone.js",
        "//evil.example/operate",
        "/operate//processes",
    ] {
        assert_eq!(get(path, &html).status(), 404, "{path}");
        let bare = ask(&Method::GET, path, &[]);
        assert!(bare.is_none_or(|answer| answer.status() == 404 && answer.body().is_empty()), "{path}");
    }
    assert!(ask(&Method::POST, "/operate/nothing", &html).is_none());
    assert_eq!(ask(&Method::POST, "/operate", &html).unwrap().status(), 405);
}

#[test]
fn a_title_is_text_and_frames_are_for_those_named() {
    let settings = PageSettings {
        title: "<b>A & \"B\"</b>".to_owned(),
        frame_ancestors: vec!["https://portal.example".to_owned(), "https://x.example:8443".to_owned()],
        image_origins: vec!["https://images.example".to_owned()],
        ..PageSettings::default()
    };
    let page = Pages::new(&settings).answer(&Method::GET, "/", &HeaderMap::new()).unwrap();
    let text = std::str::from_utf8(page.body()).unwrap();
    assert!(text.contains("<title>&lt;b&gt;A &amp; &quot;B&quot;&lt;/b&gt;</title>"), "{text}");
    let policy = page.headers()["content-security-policy"].to_str().unwrap();
    assert!(policy.ends_with("frame-ancestors https://portal.example https://x.example:8443"), "{policy}");
    assert!(policy.contains("img-src 'self' data: blob: https://images.example;"), "{policy}");
    assert!(!page.headers().contains_key("x-frame-options"));
}

#[test]
fn the_page_names_the_path_before_all_paths() {
    let page = |base: &str| {
        let settings = PageSettings { base: base.to_owned(), ..PageSettings::default() };
        let page = Pages::new(&settings).answer(&Method::GET, "/operate", &HeaderMap::new()).unwrap();
        std::str::from_utf8(page.body()).unwrap().to_owned()
    };
    let (root, below) = (page(""), page("/tools/baton"));
    assert!(root.contains(r#"<meta name="base-path" content="" />"#), "{root}");
    assert!(below.contains(r#"<meta name="base-path" content="/tools/baton" />"#), "{below}");
    for (text, start) in [(&root, "\"/assets/"), (&below, "\"/tools/baton/assets/")] {
        assert_eq!(text.matches("assets/").count(), text.matches(start).count(), "{text}");
        assert!(text.matches(start).count() >= 3, "{text}");
    }
}

#[test]
fn what_browsers_load_stays_small() {
    let kib =
        |files: &mut dyn Iterator<Item = &Asset>| files.map(|file| file.packed.len()).sum::<usize>() / 1024;
    let all = kib(&mut FILES.iter());
    assert!(all <= 900, "all files have {all} KiB");
    let first = kib(&mut FILES.iter().filter(|file| INDEX.contains(file.path)));
    assert!(0 < first && first <= 90, "the first page has {first} KiB");
}
