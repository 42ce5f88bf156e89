//! Addresses of brokers.

use std::collections::BTreeMap;

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

#[cfg(test)]
mod tests {
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
}
