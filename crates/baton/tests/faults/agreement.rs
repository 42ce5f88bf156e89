//! All brokers show the same instances in the end, and those that the ledger knows are among them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, interval};

use crate::cluster::{BROKERS, Cluster};
use crate::http::request;
use crate::ledger::Ledger;

/// Time for stores to show what was acknowledged.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(200);
/// How many differences are shown.
const SHOWN: usize = 10;

type Shown = BTreeMap<i64, String>;

/// States of all instances, as a broker shows them; `None` while its store is not there.
async fn shown(address: &str) -> Option<Shown> {
    let (mut found, mut after) = (Shown::new(), Value::Null);
    loop {
        let mut page = json!({ "limit": 1000 });
        if !after.is_null() {
            page["after"] = after;
        }
        let body = json!({ "sort": [{ "field": "processInstanceKey" }], "page": page }).to_string();
        let (status, answer) =
            request(address, "POST", "/v2/process-instances/search", "", &body).await.ok()?;
        if status != 200 {
            return None;
        }
        let mut answer: Value = serde_json::from_str(&answer).unwrap();
        let items = answer["items"].as_array().unwrap();
        if items.is_empty() {
            return Some(found);
        }
        for item in items {
            let key = item["processInstanceKey"].as_str().unwrap().parse().unwrap();
            found.insert(key, item["state"].as_str().unwrap().to_owned());
        }
        after = answer["page"]["endCursor"].take();
    }
}

/// The first differences between brokers, or from what is known.
fn difference(shown: &[Option<Shown>], known: &[i64]) -> Option<String> {
    let Some(shown) = shown.iter().map(Option::as_ref).collect::<Option<Vec<_>>>() else {
        return Some("a store is away".to_owned());
    };
    let sizes: Vec<usize> = shown.iter().map(|shown| shown.len()).collect();
    for (broker, of) in shown.iter().enumerate() {
        let lost = known.iter().filter(|key| !of.contains_key(key)).map(|key| format!("{key} is not shown"));
        let open = of.iter().filter(|(_, state)| *state != "COMPLETED");
        let open = open.map(|(key, state)| format!("{key} is {state}"));
        let other = of.iter().filter(|(key, state)| shown[0].get(key) != Some(state));
        let other = other.map(|(key, state)| format!("{key} is {state}, not as at broker 0"));
        let wrong: Vec<String> = lost.chain(open).chain(other).take(SHOWN).collect();
        if !wrong.is_empty() {
            return Some(format!("broker {broker} of those with {sizes:?} instances: {}", wrong.join(", ")));
        }
    }
    sizes.iter().any(|size| *size != sizes[0]).then(|| format!("they have {sizes:?} instances"))
}

/// To be called when everything is worked off.
pub(crate) async fn assert_agreement(cluster: &Cluster, ledger: &Ledger) {
    let known = ledger.instances();
    let deadline = Instant::now() + PATIENCE;
    let mut looks = interval(LOOK);
    loop {
        let mut all = Vec::new();
        for broker in 0..BROKERS {
            all.push(shown(&cluster.rest(broker)).await);
        }
        match difference(&all, &known) {
            None => return,
            Some(reason) => assert!(Instant::now() < deadline, "the brokers do not agree: {reason}"),
        }
        looks.tick().await;
    }
}
