//! Connections with certificates of both sides.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use transport::{
    BrokerIdentity, CallError, Certificates, Lane, Parts, Peer, PeerService, PeerStatus, Reply, Served,
    TransportOptions, serve,
};

const PATIENCE: Duration = Duration::from_secs(30);

struct Echo;

impl PeerService for Echo {
    fn call(&self, _: &BrokerIdentity, _: Lane, request: Bytes) -> Reply {
        Box::pin(async { Ok(request) })
    }

    fn upload(&self, _: &BrokerIdentity, _: Bytes, _: Parts) -> Reply {
        Box::pin(async { Err("no files here".to_owned()) })
    }
}

/// Signs certificates of brokers.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn roots(&self) -> Arc<RootCertStore> {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        Arc::new(roots)
    }

    fn certificate(&self) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        (vec![certificate.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
    }

    /// Connections that come must have a certificate of this authority.
    fn server(&self) -> Arc<ServerConfig> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(self.roots(), Arc::clone(&provider));
        let (chain, key) = self.certificate();
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier.build().unwrap())
            .with_single_cert(chain, key);
        Arc::new(config.unwrap())
    }

    /// Trusts this authority, with a certificate of one or without.
    fn client(&self, own: Option<&Self>) -> Arc<ClientConfig> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(self.roots());
        let config = match own.map(Self::certificate) {
            Some((chain, key)) => config.with_client_auth_cert(chain, key).unwrap(),
            None => config.with_no_client_auth(),
        };
        Arc::new(config)
    }
}

fn identity(broker: u32) -> BrokerIdentity {
    BrokerIdentity {
        cluster_id: "test".to_owned(),
        broker,
        directory: u64::from(broker) + 1,
        life: 1,
        engine_versions: (1, 1),
    }
}

async fn down(peer: &Peer) -> String {
    let mut status = peer.status();
    let down = status.wait_for(|status| matches!(status, PeerStatus::Down(_)));
    let down = tokio::time::timeout(PATIENCE, down).await.unwrap().unwrap();
    let PeerStatus::Down(reason) = &*down else { unreachable!() };
    reason.clone()
}

#[tokio::test]
async fn brokers_with_certificates_of_their_authority_talk_and_others_do_not() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (stop, served) = (CancellationToken::new(), Arc::new(Served::default()));
    let certificates = Certificates::new(
        {
            let server = authority.server();
            move || Arc::clone(&server)
        },
        || unreachable!("this broker connects to nobody"),
    );
    let options = TransportOptions { certificates: Some(certificates), ..TransportOptions::default() };
    tokio::spawn(serve(listener, identity(1), Arc::new(Echo), options, Arc::clone(&served), stop.clone()));
    let peer = |client: Option<Arc<ClientConfig>>| {
        let certificates = client.map(|client| {
            Certificates::new(|| unreachable!("nobody connects to this broker"), move || Arc::clone(&client))
        });
        let options = TransportOptions { certificates, ..TransportOptions::default() };
        Peer::new(identity(0), 1, address.clone(), options)
    };

    let friend = peer(Some(authority.client(Some(&authority))));
    assert_eq!(friend.call(Lane::Requests, "hello".into()).await.unwrap(), "hello");
    assert_eq!(served.brokers().len(), 1);
    drop(friend);

    let nobody = peer(Some(authority.client(None)));
    let forged = peer(Some(authority.client(Some(&stranger))));
    let wary = peer(Some(stranger.client(Some(&authority))));
    let plain = peer(None);
    for refused in [&nobody, &forged, &wary, &plain] {
        let reason = down(refused).await;
        assert!(!reason.is_empty(), "the reason is told");
        let error = refused.call(Lane::Requests, "hello".into()).await.unwrap_err();
        assert!(matches!(error, CallError::NotSent(_)), "{error}");
    }
    assert!(down(&wary).await.contains("certificate"), "the other's certificate is not trusted");
    stop.cancel();
}
