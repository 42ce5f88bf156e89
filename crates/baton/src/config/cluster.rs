//! The brokers of a cluster.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Config;

/// Files of the TLS between brokers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PeerTlsFiles {
    pub(crate) certificate_chain: PathBuf,
    pub(crate) private_key: PathBuf,
    pub(crate) authorities: PathBuf,
}

impl Config {
    /// The TLS between brokers: all of its files, or none.
    pub(crate) fn tls_of_peers(&self) -> Result<Option<PeerTlsFiles>, String> {
        let section = &self.peers_tls;
        let files = [
            ("certificate_chain", &section.certificate_chain),
            ("private_key", &section.private_key),
            ("authorities", &section.authorities),
        ];
        match files.map(|(_, file)| file.clone()) {
            [None, None, None] => Ok(None),
            [Some(certificate_chain), Some(private_key), Some(authorities)] => {
                Ok(Some(PeerTlsFiles { certificate_chain, private_key, authorities }))
            }
            _ => {
                let missing = files.iter().filter(|(_, file)| file.is_none());
                let missing: Vec<_> = missing.map(|(key, _)| format!("'peers.tls.{key}'")).collect();
                Err(format!("'peers.tls' needs {}, too", missing.join(" and ")))
            }
        }
    }

    /// Whether this broker is one of several, whether it has their list already or asks for it.
    pub(crate) fn is_in_cluster(&self) -> bool {
        self.brokers().is_some() || !self.cluster.join.0.is_empty()
    }

    /// Addresses of all brokers, if there are several or this one is told that it is one of a list.
    pub(crate) fn brokers(&self) -> Option<&BTreeMap<u32, String>> {
        Some(&self.cluster.brokers.0).filter(|brokers| !brokers.is_empty())
    }

    pub(super) fn contradictions_of_cluster(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        wrong.extend(self.contradictions_of_peers());
        wrong.extend(self.brokers().and_then(|brokers| self.cluster.spread.contradiction(brokers.len())));
        let node_id = self.cluster.node_id;
        let joins = !self.cluster.join.0.is_empty();
        let Some(brokers) = self.brokers() else {
            wrong.extend(self.cluster.spread.contradiction(1).filter(|_| !joins));
            if node_id > 0 && !joins {
                wrong.push(format!("'cluster.node_id' is {node_id}, but 'cluster.brokers' names no brokers"));
            }
            return wrong;
        };
        if joins {
            wrong.push(
                "'cluster.join' asks for the list that 'cluster.brokers' is: give one of them".to_owned(),
            );
        }
        if !brokers.contains_key(&node_id) {
            wrong.push(format!("'cluster.brokers' has no broker {node_id}, the number of 'cluster.node_id'"));
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::with;
    use super::*;

    #[test]
    fn each_broker_has_a_replica_of_each_partition() {
        let of =
            |text: &str| with(&format!("peers: {{listen: 'localhost:0'}}\ncluster: {{{text}}}"), &[], &[]);
        let refused = |text: &str| of(text).unwrap_err().to_string();
        let brokers = "brokers: '0=a:1, 1=b:1, 2=c:1'";
        assert_eq!(
            of(&format!("{brokers}, partitions: 3, replication_factor: 3"))
                .unwrap()
                .cluster
                .spread
                .partitions,
            3
        );
        let error = refused(&format!("{brokers}, replication_factor: 1"));
        assert!(error.contains("'cluster.replication_factor' is 1, but each of the 3 brokers"), "{error}");
        let error = refused(&format!("{brokers}, replication_factor: 5"));
        assert!(error.contains("but the number of brokers is 3"), "{error}");
        assert!(refused("replication_factor: 2").contains("but the number of brokers is 1"));
        assert!(refused("partitions: 0").contains("'cluster.partitions'"));
        assert!(refused("partitions: 65").contains("from 1 to 64"));
    }

    #[test]
    fn contradictions_name_both_settings() {
        let refused = |text: &str| with(text, &[], &[]).unwrap_err().to_string();
        assert!(refused("cluster:\n  node_id: 1\n").contains("'cluster.brokers' names no brokers"));
        let brokers = "peers:\n  listen: 127.0.0.1:0\ncluster:\n  brokers: 0=a:1, 1=b:1\n";
        let error = refused(&format!("{brokers}  node_id: 2\n"));
        assert!(
            error.contains("'cluster.brokers' has no broker 2, the number of 'cluster.node_id'"),
            "{error}"
        );
        assert!(refused(&format!("{brokers}  join: a:1\n")).contains("'cluster.join' asks for the list"));
        assert!(refused("cluster: {join: a}").contains("expected addresses such as"));
        let joins = "peers: {listen: 'localhost:0'}\ncluster: {join: 'a:1, b:2', node_id: 2}";
        let joins = with(joins, &[], &[]).unwrap();
        assert_eq!((joins.cluster.join.0.len(), joins.is_in_cluster(), joins.brokers()), (2, true, None));
        let error = refused("peers:\n  tls:\n    private_key: k.pem\n");
        assert!(error.contains("'peers.tls.certificate_chain' and 'peers.tls.authorities'"), "{error}");
        assert!(
            refused("peers: {compression: zip}").contains("expected lz4 or none for 'peers.compression'")
        );
        let tls = "peers:\n  tls: {certificate_chain: c.pem, private_key: k.pem, authorities: a.pem}\n";
        let files = with(tls, &[], &[]).unwrap().tls_of_peers().unwrap().unwrap();
        assert_eq!(files.authorities, PathBuf::from("a.pem"));
        let config = with(brokers, &[], &[]).unwrap();
        assert_eq!(config.brokers().map(BTreeMap::len), Some(2));
        assert_eq!(Config::default().brokers(), None);
    }
}
