mod fake_s3;

use std::convert::Infallible;

use fake_s3::{FakeS3, fetch};
use futures::stream;
use tokio::net::TcpListener;

use super::*;

fn bucket() -> BucketOptions {
    BucketOptions {
        name: fake_s3::BUCKET.to_owned(),
        prefix: "some/where".to_owned(),
        connect_timeout: Duration::from_secs(5),
        request_timeout: Duration::from_secs(10),
        retries_max: 2,
        authorities: None,
    }
}

fn s3(endpoint: &str, max_bytes: u64) -> Documents {
    let options = S3Options {
        region: Some(fake_s3::REGION.to_owned()),
        endpoint: Some(endpoint.to_owned()),
        credentials: Some((fake_s3::ACCESS_KEY.to_owned(), fake_s3::SECRET_KEY.to_owned())),
    };
    Documents::in_s3(&bucket(), &options, max_bytes).unwrap()
}

fn pieces(texts: &[&'static str]) -> BoxStream<'static, Result<Bytes, Infallible>> {
    let pieces: Vec<_> = texts.iter().map(|text| Ok(Bytes::from_static(text.as_bytes()))).collect();
    stream::iter(pieces).boxed()
}

async fn content(documents: &Documents, document: &Document) -> String {
    let pieces: Vec<Bytes> = documents.read(document).try_collect().await.unwrap();
    String::from_utf8(pieces.concat()).unwrap()
}

async fn check_life(documents: &Documents) {
    let metadata = Metadata { file_name: "a.txt".into(), expires_at_ms: Some(100), ..Metadata::default() };
    let stored = documents.create(Some("a".into()), metadata, pieces(&["he", "llo"])).await.unwrap();
    assert_eq!(stored.content_hash, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
    assert_eq!(stored.size_bytes, 5);
    let found = documents.find("a", Some(&stored.content_hash), 99).await.unwrap();
    assert_eq!(found, stored);
    assert_eq!(content(documents, &found).await, "hello");
    assert!(matches!(documents.find("a", Some("00"), 99).await, Err(Error::Invalid(_))));
    let again = documents.create(Some("a".into()), Metadata::default(), pieces(&["x"])).await;
    assert!(matches!(again, Err(Error::AlreadyExists(_))));
    assert_eq!(content(documents, &found).await, "hello");
    assert!(matches!(documents.find("a", None, 100).await, Err(Error::NotFound(_))), "expired");
    assert!(matches!(documents.find("a", None, 99).await, Err(Error::NotFound(_))), "gone for good");
    let gone = documents.create(Some("gone".into()), Metadata::default(), pieces(&["x"])).await.unwrap();
    assert_eq!(documents.clear().await.unwrap(), 1);
    assert!(matches!(documents.find(&gone.id, None, 0).await, Err(Error::NotFound(_))));
    assert_eq!(documents.clear().await.unwrap(), 0);
    let named = documents.create(None, Metadata::default(), pieces(&[])).await.unwrap();
    assert_eq!(named.metadata.file_name, named.id, "a file without a name");
    documents.delete(&named.id, 0).await.unwrap();
    assert!(matches!(documents.delete(&named.id, 0).await, Err(Error::NotFound(_))));
}

fn files(directory: &Path) -> usize {
    let entries = std::fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().path()).map(|path| if path.is_dir() { files(&path) } else { 1 }).sum()
}

#[tokio::test]
async fn documents_live_in_memory_in_directories_and_in_buckets() {
    check_life(&Documents::in_memory("m", 1000)).await;
    let directory = tempfile::tempdir().unwrap();
    check_life(&Documents::in_directory("d", &directory.path().join("new"), 1000, 0).unwrap()).await;
    assert_eq!(files(directory.path()), 0, "nothing is left of them");
    let fake = FakeS3::start().await;
    check_life(&s3(&fake.endpoint, 1000)).await;
    assert_eq!(fake.names(), [""; 0], "nothing is left of them");
}

#[tokio::test]
async fn what_is_too_large_or_breaks_off_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    check_limits(&Documents::in_directory("d", directory.path(), 4, 0).unwrap()).await;
    assert_eq!(files(directory.path()), 0);
    let fake = FakeS3::start().await;
    check_limits(&s3(&fake.endpoint, 4)).await;
    assert_eq!(fake.names(), [""; 0]);
}

async fn check_limits(documents: &Documents) {
    let large = documents.create(None, Metadata::default(), pieces(&["abc", "de"])).await;
    assert!(matches!(large, Err(Error::TooLarge(4))));
    let broken = stream::iter([Ok(Bytes::from_static(b"a")), Err("the client went away")]).boxed();
    let broken = documents.create(None, Metadata::default(), broken).await;
    assert!(matches!(broken, Err(Error::Invalid(reason)) if reason == "the client went away"));
    let metadata =
        Metadata { custom_properties: Some("x".repeat(METADATA_BYTES_MAX)), ..Metadata::default() };
    let described = documents.create(None, metadata, pieces(&["a"])).await;
    assert!(matches!(described, Err(Error::Invalid(reason)) if reason.contains("metadata")));
}

#[tokio::test]
async fn an_id_leads_nowhere_else() {
    let fake = FakeS3::start().await;
    let long = "a".repeat(ID_BYTES_MAX + 1);
    for documents in [Documents::in_memory("m", 10), s3(&fake.endpoint, 10)] {
        for id in ["", ".", "..", "../x", "a/b", "a\\b", "/etc/passwd", "a\0", "ä", "%2e%2e", &long] {
            let created = documents.create(Some(id.into()), Metadata::default(), pieces(&["a"])).await;
            assert!(matches!(created, Err(Error::Invalid(_))), "{id}");
            assert!(matches!(documents.find(id, None, 0).await, Err(Error::NotFound(_))), "{id}");
        }
    }
    assert_eq!(fake.take_log(), [""; 0], "it is not even asked");
}

#[tokio::test]
async fn what_has_expired_is_swept() {
    let directory = tempfile::tempdir().unwrap();
    let fake = FakeS3::start().await;
    for documents in [
        Documents::in_memory("m", 1000),
        Documents::in_directory("d", directory.path(), 1000, 0).unwrap(),
        s3(&fake.endpoint, 1000),
    ] {
        let until = |at| Metadata { expires_at_ms: at, ..Metadata::default() };
        for (id, at) in
            [("a_1", Some(100)), ("b~", Some(100)), ("c", Some(101)), ("d", None), ("e", Some(-1))]
        {
            documents.create(Some(id.to_owned()), until(at), pieces(&["x"])).await.unwrap();
        }
        assert_eq!(documents.sweep(99, 10).await.unwrap(), 1, "the one that was never to be read");
        assert_eq!(documents.sweep(100, 1).await.unwrap(), 1, "not more than asked for");
        assert_eq!(documents.sweep(100, 10).await.unwrap(), 1);
        assert_eq!(documents.sweep(100, 10).await.unwrap(), 0);
        for gone in ["a_1", "b~", "e"] {
            assert!(matches!(documents.find(gone, None, 0).await, Err(Error::NotFound(_))), "{gone}");
        }
        documents.delete("c", 100).await.unwrap();
        documents.delete("d", 100).await.unwrap();
        assert_eq!(documents.sweep(i64::MAX, 10).await.unwrap(), 0);
    }
    assert_eq!(fake.names(), [""; 0], "nothing is left of them");
    assert_eq!(files(directory.path()), 0, "nothing is left of them");
}

#[tokio::test]
async fn a_sweep_of_a_bucket_lists_no_more_than_what_is_due() {
    let fake = FakeS3::start().await;
    let documents = s3(&fake.endpoint, 1000);
    for at in 0..20 {
        let metadata = Metadata { expires_at_ms: Some(at * 1000), ..Metadata::default() };
        documents.create(None, metadata, pieces(&["x"])).await.unwrap();
    }
    fake.take_log();
    assert_eq!(documents.sweep(2500, 10).await.unwrap(), 3);
    let listed = fake.take_log().iter().filter(|asked| *asked == "GET list-type").count();
    assert!(listed <= 3, "{listed} pages of two");
}

#[tokio::test]
async fn everything_in_a_bucket_is_below_the_prefix() {
    let fake = FakeS3::start().await;
    let metadata = Metadata { expires_at_ms: Some(100), ..Metadata::default() };
    s3(&fake.endpoint, 1000).create(Some("a".into()), metadata, pieces(&["x"])).await.unwrap();
    let names = fake.names();
    assert!(names.iter().all(|name| name.starts_with("some/where/")), "{names:?}");
    assert!(names.contains(&"some/where/descriptions/a.json".to_owned()), "{names:?}");
    assert!(names.contains(&"some/where/expiries/0000000000000000100_a".to_owned()), "{names:?}");
    assert_eq!(names.len(), 3);
}

#[tokio::test]
async fn a_large_document_goes_in_parts() {
    let fake = FakeS3::start().await;
    let documents = s3(&fake.endpoint, 20 << 20);
    let piece = Bytes::from((0..=255).cycle().take(3 << 20).collect::<Vec<u8>>());
    let many = |count: usize| {
        let pieces = stream::iter((0..count).map(|_| Ok::<_, Infallible>(piece.clone())).collect::<Vec<_>>());
        documents.create(None, Metadata::default(), pieces.boxed())
    };
    let stored = many(6).await.unwrap();
    let asked = fake.take_log();
    assert!(
        asked.contains(&"POST uploads".to_owned()) && asked.contains(&"PUT uploadId".to_owned()),
        "{asked:?}"
    );
    assert_eq!(stored.size_bytes, 18 << 20);
    let pieces: Vec<Bytes> = documents.read(&stored).try_collect().await.unwrap();
    assert!(pieces.concat() == piece.repeat(6));
    assert!(matches!(many(7).await, Err(Error::TooLarge(_))));
    assert_eq!((fake.names().len(), fake.unfinished()), (2, 0), "the one that is too large is taken back");
}

#[tokio::test]
async fn a_link_gives_the_content_to_whoever_has_it() {
    let fake = FakeS3::start().await;
    let documents = s3(&fake.endpoint, 1000);
    let metadata = Metadata {
        content_type: "text/plain".into(),
        file_name: "a \"ö\".txt".into(),
        expires_at_ms: Some(1_000_000),
        ..Metadata::default()
    };
    let stored = documents.create(None, metadata, pieces(&["hello"])).await.unwrap();
    let link = documents.link(&stored, Duration::from_millis(90_500), 1000).await.unwrap();
    assert_eq!(link.expires_at_ms, 91_500);
    assert!(link.url.contains("X-Amz-Expires=91"), "{}", link.url);
    assert!(!link.url.contains(fake_s3::SECRET_KEY), "{}", link.url);
    let answer = fetch(&link.url).await;
    assert!(answer.starts_with("HTTP/1.0 200") && answer.ends_with("\r\n\r\nhello"), "{answer}");
    assert!(answer.contains("content-type: text/plain"), "{answer}");
    assert!(
        answer.contains("content-disposition: attachment; filename*=UTF-8''a%20%22%C3%B6%22.txt"),
        "{answer}"
    );
    let (bare, _) = link.url.split_once('?').unwrap();
    assert!(fetch(bare).await.starts_with("HTTP/1.0 403"), "the address alone opens nothing");
    let longer = link.url.replace("X-Amz-Expires=91", "X-Amz-Expires=9100");
    assert!(fetch(&longer).await.starts_with("HTTP/1.0 403"), "nobody can make it last");
    let link = documents.link(&stored, LINK_LIFE_MAX, 1000).await.unwrap();
    assert_eq!(link.expires_at_ms, 1_000_000, "no longer than the document");
    assert!(link.url.contains("X-Amz-Expires=999"), "{}", link.url);
    for wrong in [Duration::ZERO, LINK_LIFE_MAX + Duration::from_millis(1)] {
        let refused = documents.link(&stored, wrong, 0).await;
        assert!(matches!(refused, Err(Error::Invalid(reason)) if reason.starts_with("timeToLive")));
    }
    let refused = Documents::in_memory("m", 10).link(&stored, Duration::from_secs(1), 0).await;
    assert!(matches!(refused, Err(Error::Invalid(reason)) if reason.contains("does not support links")));
}

#[tokio::test]
async fn a_bucket_that_is_away_is_told_and_comes_back() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let documents = s3(&format!("http://{free}"), 1000);
    let created = documents.create(None, Metadata::default(), pieces(&["x"])).await;
    assert!(matches!(created, Err(Error::Store(_))));
    assert!(matches!(documents.find("a", None, 0).await, Err(Error::Store(_))));
    assert!(matches!(documents.sweep(0, 10).await, Err(Error::Store(_))));
    let fake = FakeS3::start().await;
    let documents = s3(&fake.endpoint, 1000);
    fake.fail(2);
    documents.create(Some("a".into()), Metadata::default(), pieces(&["x"])).await.unwrap();
    fake.fail(u32::MAX);
    assert!(matches!(documents.find("a", None, 0).await, Err(Error::Store(_))), "it does not try for ever");
    fake.fail(0);
    assert_eq!(documents.find("a", None, 0).await.unwrap().size_bytes, 1);
}

#[tokio::test]
async fn a_document_whose_description_seemed_to_fail_is_there_if_it_was_written() {
    let fake = FakeS3::start().await;
    let documents = s3(&fake.endpoint, 1000);
    fake.lose_answer();
    documents.create(Some("a".into()), Metadata::default(), pieces(&["hello"])).await.unwrap();
    let found = documents.find("a", None, 0).await.unwrap();
    assert_eq!(content(&documents, &found).await, "hello");
}

#[tokio::test]
async fn a_bucket_that_lets_nobody_in_is_told() {
    let fake = FakeS3::start().await;
    let options = S3Options {
        region: Some(fake_s3::REGION.to_owned()),
        endpoint: Some(fake.endpoint.clone()),
        credentials: Some((fake_s3::ACCESS_KEY.to_owned(), "guessed".to_owned())),
    };
    let documents = Documents::in_s3(&bucket(), &options, 1000).unwrap();
    let created = documents.create(None, Metadata::default(), pieces(&["x"])).await;
    assert!(
        matches!(created, Err(Error::Store(object_store::Error::PermissionDenied { .. }))),
        "{created:?}"
    );
    let wrong = BucketOptions { prefix: "a/../b".to_owned(), ..bucket() };
    let refused = Documents::in_s3(&wrong, &options, 10);
    assert!(matches!(refused, Err(Error::Invalid(reason)) if reason.starts_with("prefix 'a/../b'")));
}

#[test]
fn other_clouds_are_opened_by_what_is_said_of_them() {
    let azure =
        AzureOptions { account: Some("account".into()), access_key: Some("a2V5".into()), endpoint: None };
    assert_eq!(Documents::in_azure(&bucket(), &azure, 10).unwrap().store_id(), "azure");
    let missing = GcsOptions { service_account: Some("/not/there.json".into()), endpoint: None };
    assert!(matches!(Documents::in_gcs(&bucket(), &missing, 10), Err(Error::Store(_))));
}

#[tokio::test]
async fn a_disk_without_room_takes_nothing_and_keeps_what_it_has() {
    let directory = tempfile::tempdir().unwrap();
    let open = |min_free_bytes| Documents::in_directory("d", directory.path(), 1000, min_free_bytes).unwrap();
    let stored = open(0).create(Some("a".into()), Metadata::default(), pieces(&["hello"])).await.unwrap();
    let full = open(u64::MAX);
    let refused = full.create(None, Metadata::default(), pieces(&["x"])).await;
    assert!(matches!(&refused, Err(Error::Full(reason)) if reason.contains("are needed")), "{refused:?}");
    assert_eq!(files(directory.path()), 2, "a content and its description");
    assert_eq!(content(&full, &stored).await, "hello");
    full.delete("a", 0).await.unwrap();
    assert_eq!(files(directory.path()), 0);
}

#[test]
fn errors_of_a_full_disk_are_told_from_others() {
    let of = |error: std::io::Error| {
        Error::from(object_store::Error::Generic { store: "directory", source: Box::new(error) })
    };
    assert!(matches!(of(std::io::ErrorKind::StorageFull.into()), Error::Full(_)));
    assert!(matches!(of(std::io::ErrorKind::QuotaExceeded.into()), Error::Full(_)));
    assert!(matches!(of(std::io::ErrorKind::PermissionDenied.into()), Error::Store(_)));
}

#[tokio::test]
async fn a_content_that_has_changed_is_not_read_to_its_end() {
    let directory = tempfile::tempdir().unwrap();
    let documents = Documents::in_directory("d", directory.path(), 1000, 0).unwrap();
    let stored = documents.create(None, Metadata::default(), pieces(&["hello"])).await.unwrap();
    let contents = std::fs::read_dir(directory.path().join(CONTENTS)).unwrap();
    let file = contents.map(|entry| entry.unwrap().path()).next().unwrap();
    std::fs::write(&file, "hallo").unwrap();
    let read: Result<Vec<Bytes>, _> = documents.read(&stored).try_collect().await;
    assert!(matches!(read, Err(Error::Damaged(id)) if id == stored.id));
}

#[tokio::test]
async fn what_was_garbled_by_hand_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let documents = Documents::in_directory("d", directory.path(), 1000, 0).unwrap();
    let stored = documents.create(Some("a".into()), Metadata::default(), pieces(&["hello"])).await.unwrap();
    let read = async || documents.read(&stored).try_collect::<Vec<Bytes>>().await;
    let content = directory.path().join(CONTENTS).join(&stored.content);
    // A longer one is not handed out either: the document has five bytes, and they are others.
    for garbled in ["", "hell", "jello, again"] {
        std::fs::write(&content, garbled).unwrap();
        assert!(read().await.is_err(), "{garbled}");
    }
    std::fs::remove_file(&content).unwrap();
    assert!(matches!(read().await, Err(Error::NotFound(id)) if id == "a"));
    let description = directory.path().join(DESCRIPTIONS).join("a.json");
    let whole = std::fs::read_to_string(&description).unwrap();
    let others = [whole.replace("\"a\"", "\"b\""), whole.replace(":5", ":-5"), whole.replace('}', "")];
    for garbled in others.iter().map(String::as_bytes).chain([&b""[..], b"{}", b"null", b"\xff\xfe"]) {
        std::fs::write(&description, garbled).unwrap();
        let found = documents.find("a", None, 0).await;
        assert!(matches!(&found, Err(Error::Garbled(id, _)) if id == "a"), "{found:?}");
        assert!(matches!(documents.delete("a", 0).await, Err(Error::Garbled(..))));
        let again = documents.create(Some("a".into()), Metadata::default(), pieces(&["x"])).await;
        assert!(matches!(again, Err(Error::AlreadyExists(_))), "{again:?}");
    }
    // Names that lead elsewhere, sizes that are none: nothing is read beyond, and nothing panics.
    for (from, to) in [(stored.content.as_str(), "../../x"), (":5", ":18446744073709551615"), (":5", ":6")] {
        std::fs::write(&content, "hello").unwrap();
        std::fs::write(&description, whole.replace(from, to)).unwrap();
        let found = documents.find("a", None, 0).await.unwrap();
        let read = documents.read(&found).try_collect::<Vec<Bytes>>().await;
        assert!(read.is_err(), "{to}: {read:?}");
    }
}

#[tokio::test]
async fn a_content_is_a_document_once_it_is_described_and_else_gone_after_a_crash() {
    let directory = tempfile::tempdir().unwrap();
    let open = || Documents::in_directory("d", directory.path(), 1000, 0).unwrap();
    let documents = open();
    let stage = async |id: &str| {
        documents.stage(Some(id.into()), &Metadata::default(), pieces(&["hello"])).await.unwrap()
    };
    drop(stage("a").await);
    assert_eq!(files(directory.path()), 0, "one that is not wanted goes at once");
    let kept = stage("k~").await.commit(Metadata::default()).await.unwrap();
    assert_eq!(files(directory.path()), 2, "a content and its description");
    // As if the server had been killed: with its content alone, with its content in place, in the middle of a
    // write, and after the description was written.
    std::mem::forget(stage("b").await);
    let staged = stage("c_c").await;
    let place = documents.place([CONTENTS, &staged.content]);
    documents.directory.as_ref().unwrap().link(&staged.place, &place).await.unwrap();
    std::mem::forget(staged);
    std::fs::write(directory.path().join(UPLOADS).join("x_d#1"), "he").unwrap();
    std::fs::write(directory.path().join(DESCRIPTIONS).join("d.json#1"), "{").unwrap();
    let left = directory.path().join(UPLOADS).join(format!("{}_k%7E", kept.content));
    std::fs::hard_link(directory.path().join(CONTENTS).join(&kept.content), left).unwrap();
    assert_eq!(files(directory.path()), 8);
    let documents = open();
    assert_eq!(files(directory.path()), 2);
    let found = documents.find("k~", None, 0).await.unwrap();
    assert_eq!(content(&documents, &found).await, "hello");
}

#[tokio::test]
async fn long_contents_come_in_parts_and_leave_nothing_when_they_break_off() {
    const PIECE: usize = 1 << 20;
    let directory = tempfile::tempdir().unwrap();
    let fake = FakeS3::start().await;
    for documents in [
        Documents::in_memory("m", 64 << 20),
        Documents::in_directory("d", directory.path(), 64 << 20, 0).unwrap(),
        s3(&fake.endpoint, 64 << 20),
    ] {
        let long =
            stream::iter((0..13_u8).map(|at| Ok::<_, Infallible>(Bytes::from(vec![at; PIECE])))).boxed();
        let stored = documents.create(None, Metadata::default(), long).await.unwrap();
        assert_eq!(stored.size_bytes, 13 << 20);
        let read: Vec<Bytes> = documents.read(&stored).try_collect().await.unwrap();
        let expected: Vec<u8> = (0..13_u8).flat_map(|at| vec![at; PIECE]).collect();
        assert!(read.concat() == expected);
        documents.delete(&stored.id, 0).await.unwrap();
        let broken =
            (0..13_u8).map(|at| if at < 12 { Ok(Bytes::from(vec![at; PIECE])) } else { Err("gone") });
        let broken = documents.create(None, Metadata::default(), stream::iter(broken).boxed()).await;
        assert!(matches!(broken, Err(Error::Invalid(_))), "{broken:?}");
    }
    assert_eq!(files(directory.path()), 0);
    assert_eq!(fake.names(), [""; 0]);
}
