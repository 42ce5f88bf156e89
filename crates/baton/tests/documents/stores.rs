//! The stores that documents are tested in: what the server is told of each, what is in it, and how it goes away.

use std::sync::Arc;

use futures::TryStreamExt as _;
use object_store::ObjectStore;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;

use crate::emulators::Emulator;
use crate::fake_s3::{self, FakeS3};
use crate::proxy::{Mode, Proxy};

/// Prefix of all objects in a bucket.
const PREFIX: &str = "baton/documents";
/// The account of Azurite that everybody knows.
const AZURITE: &str = "devstoreaccount1";
const AZURITE_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// A store.
pub(crate) struct Store {
    /// Store ID in references to its documents.
    pub(crate) id: &'static str,
    pub(crate) settings: Vec<String>,
    /// Secrets that no log may show.
    pub(crate) secret: String,
    /// Direct access to the objects of the store, without the server.
    seen: Option<Arc<dyn ObjectStore>>,
    between: Between,
    /// Dropped last.
    _emulator: Option<Emulator>,
    _fake: Option<FakeS3>,
}

/// How a store goes away.
enum Between {
    Proxy(Proxy),
    Directory(tempfile::TempDir),
    Nothing,
}

impl Store {
    pub(crate) fn in_memory() -> Self {
        Self::new("in-memory", &[("kind", "memory")], Between::Nothing)
    }

    pub(crate) fn in_directory() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let files = directory.path().join("files");
        let settings = [("kind", "directory"), ("directory", files.to_str().unwrap())];
        std::fs::create_dir(&files).unwrap();
        let seen = Arc::new(LocalFileSystem::new_with_prefix(&files).unwrap());
        let store = Self::new("local", &settings, Between::Directory(directory));
        Self { seen: Some(seen), ..store }
    }

    /// The S3 that unit tests have, without anything to install.
    pub(crate) async fn in_fake_s3() -> Self {
        let fake = FakeS3::start().await;
        let address = fake.endpoint.trim_start_matches("http://").to_owned();
        let store =
            Self::in_s3(address, fake_s3::ACCESS_KEY.to_owned(), fake_s3::SECRET_KEY.to_owned()).await;
        Self { _fake: Some(fake), ..store }
    }

    pub(crate) async fn in_moto() -> Result<Self, String> {
        let moto = Emulator::moto("s3")?;
        let (key, secret) = (moto.account("access_key_id"), moto.account("secret_access_key"));
        let store = Self::in_s3(moto.address(), key, secret).await;
        Ok(Self { _emulator: Some(moto), ..store })
    }

    async fn in_s3(address: String, key: String, secret: String) -> Self {
        let (proxy, address) = Proxy::tcp(address, b"").await;
        let endpoint = format!("http://{address}");
        let seen = AmazonS3Builder::new()
            .with_endpoint(&endpoint)
            .with_allow_http(true)
            .with_region(fake_s3::REGION)
            .with_bucket_name(fake_s3::BUCKET)
            .with_access_key_id(&key)
            .with_secret_access_key(&secret);
        let settings = [
            ("kind", "s3"),
            ("s3.endpoint", &endpoint),
            ("s3.region", fake_s3::REGION),
            ("s3.access_key_id", &key),
            ("s3.secret_access_key", &secret),
        ];
        let store = Self::new("aws", &settings, Between::Proxy(proxy));
        Self { seen: Some(Arc::new(seen.build().unwrap())), secret, ..store }
    }

    pub(crate) async fn in_gcs() -> Result<Self, String> {
        let moto = Emulator::moto("gcs")?;
        let (proxy, address) = Proxy::tcp(moto.address(), b"").await;
        let endpoint = format!("http://{address}");
        let account = moto.account_file();
        let account = account.to_str().unwrap();
        let seen = GoogleCloudStorageBuilder::new()
            .with_base_url(&endpoint)
            .with_client_options(object_store::ClientOptions::new().with_allow_http(true))
            .with_bucket_name(fake_s3::BUCKET)
            .with_service_account_path(account);
        let settings = [("kind", "gcs"), ("gcs.endpoint", &endpoint), ("gcs.service_account", account)];
        let store = Self::new("gcp", &settings, Between::Proxy(proxy));
        let secret = moto.account("private_key");
        Ok(Self { seen: Some(Arc::new(seen.build().unwrap())), secret, _emulator: Some(moto), ..store })
    }

    pub(crate) async fn in_azurite() -> Result<Self, String> {
        let azurite = Emulator::azurite()?;
        let (proxy, address) = Proxy::tcp(azurite.address(), b"").await;
        let endpoint = format!("http://{address}/{AZURITE}");
        let seen = MicrosoftAzureBuilder::new()
            .with_endpoint(endpoint.clone())
            .with_allow_http(true)
            .with_account(AZURITE)
            .with_access_key(AZURITE_KEY)
            .with_container_name(fake_s3::BUCKET);
        let settings = [
            ("kind", "azure"),
            ("azure.endpoint", &*endpoint),
            ("azure.account", AZURITE),
            ("azure.access_key", AZURITE_KEY),
        ];
        let store = Self::new("azure", &settings, Between::Proxy(proxy));
        let secret = AZURITE_KEY.to_owned();
        Ok(Self { seen: Some(Arc::new(seen.build().unwrap())), secret, _emulator: Some(azurite), ..store })
    }

    fn new(id: &'static str, settings: &[(&str, &str)], between: Between) -> Self {
        let mut settings = settings.to_vec();
        if matches!(between, Between::Proxy(_)) {
            settings.extend([
                ("bucket.name", fake_s3::BUCKET),
                ("bucket.prefix", PREFIX),
                ("bucket.request_timeout", "60s"),
                ("bucket.retries_max", "1"),
            ]);
        }
        let settings = settings.iter().map(|(key, value)| format!("documents.{key}={value}")).collect();
        let secret = "a secret of nobody".to_owned();
        Self { id, settings, secret, seen: None, between, _emulator: None, _fake: None }
    }

    /// Whether it hands out links, and several servers share it, both of which clouds do.
    pub(crate) fn is_cloud(&self) -> bool {
        matches!(self.between, Between::Proxy(_))
    }

    /// The names of what is in it, if that can be seen.
    pub(crate) async fn names(&self) -> Option<Vec<String>> {
        let list: Vec<_> = self.seen.as_ref()?.list(None).try_collect().await.unwrap();
        Some(list.into_iter().map(|object| object.location.to_string()).collect())
    }

    /// Whether a name is where the server may write.
    pub(crate) fn is_ours(&self, name: &str) -> bool {
        !self.is_cloud() || name.starts_with(&format!("{PREFIX}/"))
    }

    /// False if it cannot go away.
    pub(crate) fn goes_away(&self) -> bool {
        match &self.between {
            Between::Proxy(proxy) => proxy.set(Mode::Refuse),
            // As a network drive that is not mounted any more.
            Between::Directory(outside) => rename(outside, "files", "away"),
            Between::Nothing => return false,
        }
        true
    }

    pub(crate) fn comes_back(&self) {
        match &self.between {
            Between::Proxy(proxy) => proxy.set(Mode::Pass),
            Between::Directory(outside) => rename(outside, "away", "files"),
            Between::Nothing => {}
        }
    }
}

fn rename(outside: &tempfile::TempDir, from: &str, to: &str) {
    std::fs::rename(outside.path().join(from), outside.path().join(to)).unwrap();
}
