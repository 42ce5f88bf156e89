//! When the brokers of a cluster must prove to each other that they are of it, and the secret that does.

use std::path::Path;

use broker::PeerSecret;

use super::Config;
use super::peer_secret::PeerSecretKeys;
use super::value::{AuthenticationMethod, ClientCertificateMode, Setting};

/// Bytes of a file with a secret at most.
const FILE_BYTES_MAX: u64 = 8 * 1024;

impl Config {
    /// The secret of the cluster, if there is one.
    pub(crate) fn secret_of_peers(&self) -> Result<Option<PeerSecret>, String> {
        let PeerSecretKeys { secret, secret_file } = &self.peers.secrets;
        if let Some(path) = secret_file {
            let wrong = |reason: String| format!("'peers.secret_file' ({}): {reason}", path.display());
            return read_file(path).and_then(|text| secret_of(&text)).map(Some).map_err(wrong);
        }
        if secret.0.is_empty() {
            return Ok(None);
        }
        secret_of(&secret.0).map(Some).map_err(|reason| format!("'peers.secret': {reason}"))
    }

    /// Whether brokers prove to each other that they are of the cluster.
    pub(crate) fn has_proof_of_peers(&self) -> bool {
        self.peers.secrets.is_given() || matches!(self.tls_of_peers(), Ok(Some(_)))
    }

    pub(super) fn contradictions_of_peers(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let PeerSecretKeys { secret, secret_file } = &self.peers.secrets;
        match self.tls_of_peers() {
            Err(reason) => wrong.push(reason),
            Ok(Some(_)) if self.peers.secrets.is_given() => wrong.push(
                "'peers.tls' and 'peers.secret' (or 'peers.secret_file') are two ways to prove the same: give one of them"
                    .to_owned(),
            ),
            Ok(_) => {}
        }
        if !secret.0.is_empty() && secret_file.is_some() {
            wrong.push("'peers.secret' is what 'peers.secret_file' has in it: give one of them".to_owned());
        } else if secret_file.is_none() {
            wrong.extend(self.secret_of_peers().err());
        }
        if wrong.is_empty() && self.is_in_cluster() && !self.has_proof_of_peers() {
            wrong.extend(self.reason_for_proof().map(|reason| {
                format!(
                    "'peers.secret_file' is missing: {reason}, so the brokers of the cluster must prove who they are. Give all of \
                     them the same file, as `openssl rand -hex 32` prints one, or 'peers.secret', or 'peers.tls'"
                )
            }));
        }
        wrong
    }

    /// The reason why brokers must prove that they are of the cluster, if there is one.
    fn reason_for_proof(&self) -> Option<String> {
        let method = self.security_authentication.method;
        if method != AuthenticationMethod::None {
            return Some(format!("'security.authentication.method' is {}", method.show()));
        }
        let ports = [
            ("rest", &self.rest_tls.keys),
            ("grpc", &self.grpc_tls.keys),
            ("management", &self.management_tls.keys),
        ];
        let asking = ports.iter().find(|(_, keys)| keys.client_certificates != ClientCertificateMode::None);
        if let Some((name, _)) = asking {
            return Some(format!("'{name}.tls.client_certificates' asks clients who they are"));
        }
        let listen = &self.peers.listen;
        (!listen.is_loopback())
            .then(|| format!("'peers.listen' ({}) can be reached from other machines", listen.as_str()))
    }
}

fn secret_of(text: &str) -> Result<PeerSecret, String> {
    PeerSecret::new(text).map_err(|error| error.to_string())
}

fn read_file(path: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| error.to_string();
    let about = std::fs::metadata(path).map_err(failed)?;
    if !about.is_file() || about.len() > FILE_BYTES_MAX {
        return Err(format!("it is no file of {FILE_BYTES_MAX} bytes at most"));
    }
    std::fs::read_to_string(path).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::super::tests::with;

    const SECRET: &str = "0123456789abcdef0123456789abcdef";
    const LOOPBACK: &str = "cluster: {brokers: '0=a:1,1=b:1'}\npeers: {listen: '127.0.0.1:0'";

    #[test]
    fn brokers_that_others_can_reach_need_a_proof() {
        let fine = |text: &str| with(text, &[], &[]).map(|config| config.has_proof_of_peers());
        let refused = |text: &str| with(text, &[], &[]).unwrap_err().to_string();
        assert!(!fine(&format!("{LOOPBACK}}}\n")).unwrap(), "an older cluster on one machine goes on");
        assert!(!fine("cluster: {join: 'a:1', node_id: 1}\npeers: {listen: 'localhost:1'}\n").unwrap());
        assert!(!fine("security.authentication: {method: basic}\n").unwrap(), "a broker alone has no peers");
        for (text, reason) in [
            (
                "cluster: {brokers: '0=a:1,1=b:1'}\n".to_owned(),
                "'peers.listen' (0.0.0.0:26502) can be reached",
            ),
            (
                "cluster: {join: 'a:1', node_id: 1}\npeers: {listen: 'host-a:1'}\n".to_owned(),
                "'peers.listen'",
            ),
            (
                format!("{LOOPBACK}}}\nsecurity.authentication: {{method: basic}}\n"),
                "'security.authentication.method' is basic",
            ),
            (
                format!(
                    "{LOOPBACK}}}\nrest.tls: {{certificate_chain: c, private_key: k, client_certificates: required, client_authorities: a}}\n"
                ),
                "'rest.tls.client_certificates'",
            ),
        ] {
            let error = refused(&text);
            assert!(error.contains(reason) && error.contains("'peers.secret_file' is missing"), "{error}");
            assert!(error.contains("peers.secret'") && error.contains("'peers.tls'"), "{error}");
            let peers = if text.contains("peers:") {
                text.replace("peers: {", &format!("peers: {{secret: {SECRET}, "))
            } else {
                format!("{text}peers: {{secret: {SECRET}}}\n")
            };
            assert!(fine(&peers).unwrap(), "{peers}");
        }
    }

    #[test]
    fn a_secret_stands_in_one_place_and_is_shown_nowhere() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("secret");
        std::fs::write(&file, format!("{SECRET}\n")).unwrap();
        let path = file.display();
        let config = with(&format!("{LOOPBACK}, secret_file: {path}}}\n"), &[], &[]).unwrap();
        assert!(config.secret_of_peers().unwrap().is_some());
        let variable = [("BATON_PEERS_SECRET", SECRET)];
        let config = with(&format!("{LOOPBACK}}}\n"), &variable, &[]).unwrap();
        assert!(config.secret_of_peers().unwrap().is_some());
        assert!(!format!("{config:?}").contains(SECRET), "it is hidden");
        let both = with(&format!("{LOOPBACK}, secret_file: {path}}}\n"), &variable, &[]).unwrap_err();
        assert!(both.to_string().contains("give one of them"), "{both}");
        let tls = "peers.tls: {certificate_chain: c, private_key: k, authorities: a}\n";
        let both = with(&format!("{LOOPBACK}}}\n{tls}"), &variable, &[]).unwrap_err();
        assert!(both.to_string().contains("give one of them"), "{both}");
        let short =
            with(&format!("{LOOPBACK}, secret: short-and-told}}\n"), &[], &[]).unwrap_err().to_string();
        assert!(short.contains("'peers.secret': it has 14 characters") && !short.contains("told"), "{short}");
        std::fs::write(&file, "short").unwrap();
        let config = with(&format!("{LOOPBACK}, secret_file: {path}}}\n"), &[], &[]).unwrap();
        let error = config.secret_of_peers().unwrap_err();
        assert!(error.contains("'peers.secret_file'") && error.contains("it has 5 characters"), "{error}");
        std::fs::remove_file(&file).unwrap();
        assert!(config.secret_of_peers().unwrap_err().contains("'peers.secret_file'"));
    }
}
