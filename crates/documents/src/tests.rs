use std::convert::Infallible;

use futures::stream;

use super::*;

fn pieces(texts: &[&'static str]) -> BoxStream<'static, Result<Bytes, Infallible>> {
    let pieces: Vec<_> = texts.iter().map(|text| Ok(Bytes::from_static(text.as_bytes()))).collect();
    stream::iter(pieces).boxed()
}

async fn content(documents: &Documents, document: &Document) -> String {
    let pieces: Vec<Bytes> = documents.read(document).await.unwrap().try_collect().await.unwrap();
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
    let named = documents.create(None, Metadata::default(), pieces(&[])).await.unwrap();
    documents.delete(&named.id, 0).await.unwrap();
    assert!(matches!(documents.delete(&named.id, 0).await, Err(Error::NotFound(_))));
}

fn files(directory: &Path) -> usize {
    let entries = std::fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().path()).map(|path| if path.is_dir() { files(&path) } else { 1 }).sum()
}

#[tokio::test]
async fn documents_live_in_memory_and_in_directories() {
    check_life(&Documents::in_memory("m", 1000)).await;
    let directory = tempfile::tempdir().unwrap();
    check_life(&Documents::in_directory("d", &directory.path().join("new"), 1000).unwrap()).await;
    assert_eq!(files(directory.path()), 0, "nothing is left of them");
}

#[tokio::test]
async fn what_is_too_large_or_breaks_off_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let documents = Documents::in_directory("d", directory.path(), 4).unwrap();
    let large = documents.create(None, Metadata::default(), pieces(&["abc", "de"])).await;
    assert!(matches!(large, Err(Error::Invalid(reason)) if reason.contains("4 bytes")));
    let broken = stream::iter([Ok(Bytes::from_static(b"a")), Err("the client went away")]).boxed();
    let broken = documents.create(None, Metadata::default(), broken).await;
    assert!(matches!(broken, Err(Error::Invalid(reason)) if reason == "the client went away"));
    let metadata =
        Metadata { custom_properties: Some("x".repeat(METADATA_BYTES_MAX)), ..Metadata::default() };
    let described = documents.create(None, metadata, pieces(&["a"])).await;
    assert!(matches!(described, Err(Error::Invalid(reason)) if reason.contains("metadata")));
    assert_eq!(files(directory.path()), 0);
}

#[tokio::test]
async fn an_id_leads_nowhere_else() {
    let documents = Documents::in_memory("m", 10);
    let long = "a".repeat(ID_BYTES_MAX + 1);
    for id in ["", ".", "..", "../x", "a/b", "a\\b", "/etc/passwd", "a\0", "ä", "%2e%2e", &long] {
        let created = documents.create(Some(id.into()), Metadata::default(), pieces(&["a"])).await;
        assert!(matches!(created, Err(Error::Invalid(_))), "{id}");
        assert!(matches!(documents.find(id, None, 0).await, Err(Error::NotFound(_))), "{id}");
    }
}

#[tokio::test]
async fn what_has_expired_is_swept() {
    let directory = tempfile::tempdir().unwrap();
    for documents in
        [Documents::in_memory("m", 1000), Documents::in_directory("d", directory.path(), 1000).unwrap()]
    {
        let until = |at| Metadata { expires_at_ms: at, ..Metadata::default() };
        for (id, at) in [("a_1", Some(100)), ("b", Some(100)), ("c", Some(101)), ("d", None), ("e", Some(-1))]
        {
            documents.create(Some(id.to_owned()), until(at), pieces(&["x"])).await.unwrap();
        }
        assert_eq!(documents.sweep(99, 10).await.unwrap(), 1, "the one that was never to be read");
        assert_eq!(documents.sweep(100, 1).await.unwrap(), 1, "not more than asked for");
        assert_eq!(documents.sweep(100, 10).await.unwrap(), 1);
        assert_eq!(documents.sweep(100, 10).await.unwrap(), 0);
        for gone in ["a_1", "b", "e"] {
            assert!(matches!(documents.find(gone, None, 0).await, Err(Error::NotFound(_))), "{gone}");
        }
        documents.delete("c", 100).await.unwrap();
        documents.delete("d", 100).await.unwrap();
        assert_eq!(documents.sweep(i64::MAX, 10).await.unwrap(), 0);
    }
    assert_eq!(files(directory.path()), 0, "nothing is left of them");
}
