//! The brokers of a cluster.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Config;
use super::value::Setting;

/// Brokers of a cluster at most.
const BROKERS_MAX: u32 = 1023;

/// Addresses of brokers by their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Brokers(pub BTreeMap<u32, String>);

impl Setting for Brokers {
    const EXPECTED: &'static str = "brokers with different numbers and addresses such as '0=host-a:26502, 1=host-b:26502, 2=host-c:26502'";

    fn parse(text: &str) -> Option<Self> {
        let mut brokers = BTreeMap::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (number, address) = part.split_once('=')?;
            let number: u32 = number.trim().parse().ok().filter(|number| *number <= BROKERS_MAX)?;
            let address = address.trim();
            let (host, port) = address.rsplit_once(':')?;
            let is_port = port.parse::<u16>().is_ok_and(|port| port > 0);
            let is_new = brokers.values().all(|other| other != address) && !brokers.contains_key(&number);
            if host.is_empty() || !is_port || !is_new {
                return None;
            }
            brokers.insert(number, address.to_owned());
        }
        Some(Self(brokers))
    }

    fn show(&self) -> String {
        let shown: Vec<String> =
            self.0.iter().map(|(number, address)| format!("{number}={address}")).collect();
        shown.join(", ")
    }
}

/// Addresses of brokers that know the others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seeds(pub Vec<String>);

impl Setting for Seeds {
    const EXPECTED: &'static str = "addresses such as 'host-a:26502, host-b:26502'";

    fn parse(text: &str) -> Option<Self> {
        let seeds = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let is_address = |seed: &str| {
            let port = seed.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port);
            port.is_some_and(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
        };
        seeds.map(|seed| is_address(seed).then(|| seed.to_owned())).collect::<Option<_>>().map(Self)
    }

    fn show(&self) -> String {
        self.0.join(", ")
    }
}

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
        wrong.extend(self.tls_of_peers().err());
        let node_id = self.cluster.node_id;
        let joins = !self.cluster.join.0.is_empty();
        let Some(brokers) = self.brokers() else {
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
    fn brokers_have_numbers_and_addresses() {
        let brokers = Brokers::parse(" 1=b:2,0=[::1]:1 , ").unwrap();
        assert_eq!(brokers.show(), "0=[::1]:1, 1=b:2");
        assert_eq!(Brokers::parse(&brokers.show()), Some(brokers));
        for wrong in
            ["a:1", "0=a", "0=a:0", "0=:1", "0=a:70000", "x=a:1", "0=a:1,0=b:1", "0=a:1,1=a:1", "1024=a:1"]
        {
            assert_eq!(Brokers::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn contradictions_name_both_settings() {
        let refused = |text: &str| with(text, &[], &[]).unwrap_err().to_string();
        assert!(refused("cluster:\n  node_id: 1\n").contains("'cluster.brokers' names no brokers"));
        let brokers = "cluster:\n  brokers: 0=a:1, 1=b:1\n";
        let error = refused(&format!("{brokers}  node_id: 2\n"));
        assert!(
            error.contains("'cluster.brokers' has no broker 2, the number of 'cluster.node_id'"),
            "{error}"
        );
        assert!(refused(&format!("{brokers}  join: a:1\n")).contains("'cluster.join' asks for the list"));
        assert!(refused("cluster: {join: a}").contains("expected addresses such as"));
        let joins = with("cluster: {join: 'a:1, b:2', node_id: 2}", &[], &[]).unwrap();
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
