//! Lists and settings that must be equal on all brokers of a cluster. Each tells others a digest of its own; where that
//! differs it is asked for all, and what differs is told by name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// Rounds of answers, one a second, after which another broker that cannot reach this one is believed.
const ROUNDS_UNREACHED: u32 = 5;
/// Characters of a value that are shown.
const SHOWN_MAX: usize = 100;
/// The name of the list among the settings.
const BROKERS: &str = "cluster.brokers";

/// The settings of a broker that must be equal on all, by their names, as texts. No secrets are among them.
pub type SharedSettings = BTreeMap<String, String>;

/// A setting that another broker has with another value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingDifference {
    /// Name of the setting.
    pub setting: String,
    /// Its value on this broker, nothing if this release has no such setting.
    pub here: Option<String>,
    /// Its value on the other.
    pub there: Option<String>,
}

impl fmt::Display for SettingDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown =
            |value: &Option<String>| value.as_ref().map_or("no such setting", String::as_str).to_owned();
        write!(f, "{}: {} here, {} there", self.setting, shown(&self.here), shown(&self.there))
    }
}

/// All that must be equal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Agreed {
    brokers: BTreeMap<u32, String>,
    settings: SharedSettings,
}

impl Agreed {
    /// Digest by which brokers compare their settings. The same in all releases.
    fn digest(&self) -> u64 {
        let text = serde_json::to_vec(self).expect("texts are JSON");
        text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }

    fn all(&self) -> SharedSettings {
        let mut all = self.settings.clone();
        let brokers = self.brokers.iter().map(|(number, address)| format!("{number}={address}"));
        all.insert(BROKERS.to_owned(), brokers.collect::<Vec<_>>().join(", "));
        all
    }

    pub fn differences(&self, other: &Self) -> Vec<SettingDifference> {
        let (own, theirs) = (self.all(), other.all());
        let mut names: Vec<&String> = own.keys().chain(theirs.keys()).collect();
        names.sort();
        names.dedup();
        let shown = |value: Option<&String>| value.map(|value| value.chars().take(SHOWN_MAX).collect());
        let differs = |name: &&String| own.get(*name) != theirs.get(*name);
        let difference = |name: &String| SettingDifference {
            setting: name.chars().take(SHOWN_MAX).collect(),
            here: shown(own.get(name)),
            there: shown(theirs.get(name)),
        };
        names.into_iter().filter(differs).map(difference).collect()
    }
}

/// The settings of this broker, and how those of others differ.
pub(crate) struct Agreement {
    pub own: Agreed,
    pub digest: u64,
    others: Mutex<BTreeMap<u32, Other>>,
}

/// Another broker, as it was told last.
#[derive(Default)]
struct Other {
    digest: Option<u64>,
    differences: Vec<SettingDifference>,
    /// Rounds in which it did not reach this broker, which reaches it.
    unreached: u32,
}

/// The part of a status by which brokers find out whether they agree.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct AgreementStatus {
    /// Nothing from an earlier release.
    #[serde(default)]
    pub(crate) digest: Option<u64>,
    /// Why it does not reach others, by their numbers.
    #[serde(default)]
    pub(crate) unreached: BTreeMap<u32, String>,
}

impl Agreement {
    /// Of a broker with this list and these settings.
    pub fn new(brokers: BTreeMap<u32, String>, settings: &Arc<SharedSettings>) -> Self {
        let own = Agreed { brokers, settings: SharedSettings::clone(settings) };
        Self { digest: own.digest(), own, others: Mutex::default() }
    }

    /// For others; tells why this broker does not reach some.
    pub fn status(&self, unreached: BTreeMap<u32, String>) -> AgreementStatus {
        AgreementStatus { digest: Some(self.digest), unreached }
    }

    /// All settings of this broker, for one whose digest differs.
    pub fn tell(&self) -> Bytes {
        serde_json::to_vec(&self.own).expect("texts are JSON").into()
    }

    /// Settings that differ from this broker's, by the numbers of others.
    pub fn differences(&self) -> BTreeMap<u32, Vec<SettingDifference>> {
        let others = self.others.lock();
        let differing = others.iter().filter(|(_, other)| !other.differences.is_empty());
        differing.map(|(broker, other)| (*broker, other.differences.clone())).collect()
    }

    /// Whether another broker must be asked for all of its settings.
    pub fn is_news(&self, broker: u32, digest: u64) -> bool {
        self.others.lock().entry(broker).or_default().digest != Some(digest)
    }

    /// Notes the settings of another broker. Returns what differs.
    pub fn note(&self, broker: u32, theirs: &Agreed) -> Vec<SettingDifference> {
        let differences = self.own.differences(theirs);
        let mut others = self.others.lock();
        let other = others.entry(broker).or_default();
        other.digest = Some(theirs.digest());
        other.differences.clone_from(&differences);
        differences
    }

    /// Whether it is to be told now that another broker does not reach this one.
    pub fn counts_unreached(&self, broker: u32, is_unreached: bool) -> bool {
        let mut others = self.others.lock();
        let other = others.entry(broker).or_default();
        other.unreached = if is_unreached { other.unreached.saturating_add(1) } else { 0 };
        other.unreached == ROUNDS_UNREACHED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreed(address: &str, settings: &[(&str, &str)]) -> Agreed {
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Agreed { brokers: BTreeMap::from([(0, address.to_owned())]), settings: settings.collect() }
    }

    fn agreement(of: &Agreed) -> Agreement {
        Agreement::new(of.brokers.clone(), &Arc::new(of.settings.clone()))
    }

    #[test]
    fn what_differs_is_told_by_name_until_it_is_equal() {
        let own = agreed("a:1", &[("flow.max", "8"), ("limits.x", "1"), ("of.this", "2")]);
        let agreement = agreement(&own);
        let other = agreed("b:1", &[("flow.max", "9"), ("limits.x", "1"), ("of.that", "3")]);
        assert!(agreement.is_news(1, other.digest()));
        let told: Vec<_> = agreement.note(1, &other).iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "cluster.brokers: 0=a:1 here, 0=b:1 there",
                "flow.max: 8 here, 9 there",
                "of.that: no such setting here, 3 there",
                "of.this: 2 here, no such setting there",
            ]
        );
        assert!(!agreement.is_news(1, other.digest()), "it is told once");
        assert_eq!(agreement.differences().keys().collect::<Vec<_>>(), [&1]);
        assert!(agreement.is_news(1, own.digest()));
        assert!(agreement.note(1, &own).is_empty() && agreement.differences().is_empty());
    }

    #[test]
    fn a_broker_that_is_not_reached_is_told_once_and_again_after_it_was() {
        let agreement = agreement(&agreed("a:1", &[]));
        let told = |rounds: &[bool]| rounds.iter().filter(|is| agreement.counts_unreached(1, **is)).count();
        assert_eq!(told(&[true; 4]), 0, "a start takes a moment");
        assert_eq!(told(&[true; 9]), 1);
        assert_eq!(told(&[false]), 0);
        assert_eq!(told(&[true; 5]), 1);
    }

    #[test]
    fn a_long_value_is_cut() {
        let own = agreed("a:1", &[("x", "1")]);
        let other = agreed("a:1", &[("x", &"é".repeat(1000))]);
        assert_eq!(own.differences(&other)[0].there.as_ref().unwrap().chars().count(), SHOWN_MAX);
    }
}
