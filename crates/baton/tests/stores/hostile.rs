//! Values made to be taken for a query, for a place in an order or for a name, sent over REST: the same to every
//! store. Each text means itself alone, and whatever is no text where it stands is refused with a reason.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use search::{Operand, Test};
use serde_json::{Value, json};

use crate::Site;
use crate::http;

/// Names and values of variables. In the order of bytes, which is that of the stores.
const TEXTS: &[&str] = &[
    " OR 1=1",
    "\"},\"match_all\":{},\"x\":{\"",
    "%",
    "' OR '1'='1",
    "'; DROP TABLE variable; --",
    "*",
    ".*",
    "/.*/",
    "1 UNION SELECT * FROM variable",
    "<1-100>",
    "?",
    "[a-z]*",
    "\\",
    "\\*",
    "\\\\?",
    "_",
    "_all",
    "a*b",
    "axb",
    "name:*",
    "{\"$neq\":null}",
    "{{#toJson}}params{{/toJson}}",
    "~\u{2028}",
    "ä",
];

/// Unknown fields of sorts and filters.
const NO_NAMES: &[&str] =
    &["name; DROP TABLE variable", "name\" OR 1=1 --", "_script", "_source", "deleted", "applied", "*", ""];

struct Searches<'s> {
    site: &'s Site,
    /// Keys of the instances, each with a variable that has the text of its place as name and as value.
    instances: Vec<String>,
}

pub(crate) async fn searches_mean_what_they_say(site: &Site) {
    assert!(TEXTS.is_sorted());
    site.deploy().await;
    let mut instances = Vec::new();
    for text in TEXTS {
        instances.push(site.run("brief", json!({ *text: text })).await);
    }
    site.expect("variables", json!({}), TEXTS.len()).await;
    let searches = Searches { site, instances };
    searches.texts_are_texts().await;
    searches.patterns_match_what_they_say().await;
    searches.no_filter_is_an_outage().await;
    searches.what_is_no_text_is_refused().await;
    searches.cursors_are_places_or_refused().await;
    searches.keys_are_numbers().await;
    // It is all there yet, once.
    assert_eq!(searches.of("variables", json!({})).await.len(), TEXTS.len());
}

/// As a variable has it.
fn value(text: &str) -> String {
    Value::from(text).to_string()
}

/// Matches itself alone.
fn escaped(text: &str) -> String {
    text.chars().flat_map(|character| ['\\', character]).collect()
}

impl Searches<'_> {
    /// Which texts are found, by the keys of their instances, in the order of the answer.
    async fn of(&self, kind: &str, filter: Value) -> Vec<usize> {
        let body = json!({ "filter": filter, "page": { "limit": 1000 }, "sort": [{ "field": "processInstanceKey" }] });
        let found = self.site.post(&format!("/v2/{kind}/search"), body).await;
        let items = found["items"].as_array().unwrap();
        items.iter().map(|item| self.place(item)).collect()
    }

    fn place(&self, item: &Value) -> usize {
        let key = item["processInstanceKey"].as_str().unwrap();
        self.instances.iter().position(|known| known == key).unwrap()
    }

    /// Asserts that a search is refused with a status and a detail that says where.
    async fn refuses(&self, kind: &str, body: &Value, mention: &str) {
        let path = format!("/v2/{kind}/search");
        let answer = http::ask(&self.site.rest, "POST", &path, Some(body)).await.unwrap();
        assert_eq!(answer.status, 400, "{body:.300}: {answer:?}");
        let problem = answer.json();
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(mention) && detail.len() < 2000, "{body:.300}: {detail:.1000}");
    }

    async fn texts_are_texts(&self) {
        let all: Vec<_> = (0..TEXTS.len()).collect();
        for (place, text) in TEXTS.iter().enumerate() {
            let others: Vec<_> = all.iter().copied().filter(|other| *other != place).collect();
            for (filter, wanted) in [
                (json!({ "name": text }), &[place][..]),
                (json!({ "value": value(text) }), &[place]),
                (json!({ "name": { "$neq": text }, "value": { "$neq": value(text) } }), &others),
                (json!({ "name": { "$in": [text, "nobody"] }, "value": { "$notIn": ["x"] } }), &[place]),
                (json!({ "name": { "$like": escaped(text) } }), &[place]),
                (json!({ "processInstanceKey": self.instances[place], "name": text }), &[place]),
            ] {
                assert_eq!(self.of("variables", filter.clone()).await, wanted, "{filter}");
            }
            let with = |name: &str, value: Value| json!({ "variables": [{ "name": name, "value": value }] });
            for (filter, wanted) in [
                (with(text, value(text).into()), &[place][..]),
                (with(text, json!({ "$like": "*" })), &[place]),
                (with(text, "nothing".into()), &[]),
                (json!({ "$or": [{ "businessId": text }, { "tenantId": "t" }] }), &[]),
            ] {
                assert_eq!(self.of("process-instances", filter.clone()).await, wanted, "{filter}");
            }
            // Invalid names of tenants and processes are refused, and all others find nothing.
            for name in ["tenantId", "processDefinitionId"] {
                for test in [json!(text), json!({ "$eq": text }), json!({ "$in": [text] })] {
                    let search = json!({ "filter": { name: test } });
                    let path = "/v2/process-instances/search";
                    let answer = http::ask(&self.site.rest, "POST", path, Some(&search)).await.unwrap();
                    let is_refused = answer.status == 400 && answer.body.contains(&format!("filter.{name}"));
                    assert!(is_refused || answer.good()["items"] == json!([]), "{search}");
                }
            }
            let create = json!({ "processDefinitionId": "brief", "tenantId": text });
            let answer = http::ask(&self.site.rest, "POST", "/v2/process-instances", Some(&create)).await;
            assert_eq!(answer.unwrap().status, 400, "{text}");
        }
    }

    /// `*` and `?` stand for others, and `\` takes that from them; nothing else does anything.
    async fn patterns_match_what_they_say(&self) {
        for pattern in
            TEXTS.iter().copied().chain(["*\\**", "\\?", "?*", "*\\\\*", "a?b", "a\\*b", "A*", "*%*"])
        {
            let test = Test::Like(pattern.into());
            let is_met = |place: &usize| test.is_met_by(Some(&Operand::Text(TEXTS[*place].into())));
            let wanted: Vec<_> = (0..TEXTS.len()).filter(is_met).collect();
            let found = self.of("variables", json!({ "name": { "$like": pattern } })).await;
            assert_eq!(found, wanted, "{pattern}");
        }
        // The worst that there may be ends, one way or the other.
        for pattern in [format!("{}b", "*a".repeat(499)), format!("*{}b*", "?".repeat(990)), "*".repeat(1000)]
        {
            let search = json!({ "filter": { "name": { "$like": pattern } } });
            let answer = http::ask(&self.site.rest, "POST", "/v2/variables/search", Some(&search)).await;
            let answer = answer.unwrap();
            assert!([200, 400, 504].contains(&answer.status), "{answer:?}");
        }
    }

    /// The largest filters that the gateway lets pass are answered, given up or refused, and no outage.
    async fn no_filter_is_an_outage(&self) {
        let variable = |at: usize| json!({ "name": format!("v{at}"), "value": { "$neq": at.to_string() } });
        let keys: Vec<_> = (0..5000).map(|key: u32| key.to_string()).collect();
        for filter in [
            json!({ "$or": vec![json!({}); 1000] }),
            json!({ "$or": (0..1000).map(|at| json!({ "businessId": at.to_string() })).collect::<Vec<_>>() }),
            json!({ "variables": (0..1000).map(variable).collect::<Vec<_>>() }),
            json!({ "$or": (0..1000).map(|at| json!({ "variables": [variable(at)] })).collect::<Vec<_>>() }),
            json!({ "processInstanceKey": { "$in": keys } }),
            json!({ "variables": [{ "name": "a", "value": { "$notIn": keys } }] }),
            json!({ "businessId": "x".repeat(1 << 20) }),
        ] {
            let search = json!({ "filter": filter });
            let path = "/v2/process-instances/search";
            let answer = http::ask(&self.site.rest, "POST", path, Some(&search)).await.unwrap();
            assert!([200, 400, 504].contains(&answer.status), "{search:.200}: {:.500}", answer.body);
        }
        let too_many = json!({ "filter": { "$or": vec![json!({}); 1001] } });
        self.refuses("process-instances", &too_many, "1000 conditions").await;
    }

    async fn what_is_no_text_is_refused(&self) {
        for name in NO_NAMES {
            self.refuses("variables", &json!({ "sort": [{ "field": name }] }), "sort[0].field").await;
            self.refuses("variables", &json!({ "filter": { *name: "x" } }), "filter").await;
            let sort = json!({ "sort": [{ "field": "name", "order": name }] });
            self.refuses("variables", &sort, "sort[0].order").await;
        }
        for operator in ["$where", "$regex", "match_all", "query_string", "script", "$like; --"] {
            self.refuses("variables", &json!({ "filter": { "name": { operator: "*" } } }), "filter.name")
                .await;
        }
        for wrong in [json!({ "match_all": {} }), json!(["a"]), json!({ "$eq": { "$neq": "a" } })] {
            self.refuses("variables", &json!({ "filter": { "name": wrong } }), "filter.name").await;
            let nested = json!({ "filter": { "variables": [{ "name": "a", "value": wrong }] } });
            self.refuses("process-instances", &nested, "filter.variables").await;
        }
        for wrong in [json!("1 OR 1=1"), json!(-1), json!({ "gte": 0 })] {
            self.refuses("variables", &json!({ "page": { "limit": wrong } }), "page").await;
            self.refuses("variables", &json!({ "page": { "from": wrong } }), "page").await;
        }
    }

    /// A cursor is no secret: whoever makes one up is at another place of the same search, and nowhere else.
    async fn cursors_are_places_or_refused(&self) {
        let sort = json!([{ "field": "name" }]);
        let search = async |page: Value| {
            let body = json!({ "sort": sort, "page": page });
            http::ask(&self.site.rest, "POST", "/v2/variables/search", Some(&body)).await.unwrap()
        };
        let first = search(json!({ "limit": 1 })).await.good();
        let cursor = first["page"]["endCursor"].as_str().unwrap().to_owned();
        let parts: Value = serde_json::from_slice(&BASE64_STANDARD.decode(&cursor).unwrap()).unwrap();
        let bent = |parts: Value| BASE64_STANDARD.encode(parts.to_string());
        for (place, text) in TEXTS.iter().enumerate() {
            let after = json!({ "after": bent(json!([parts[0], text, i64::MAX])), "limit": 1000 });
            let found = search(after).await.good();
            let places: Vec<_> =
                found["items"].as_array().unwrap().iter().map(|item| self.place(item)).collect();
            assert_eq!(places, (place + 1..TEXTS.len()).collect::<Vec<_>>(), "{text}");
        }
        let other = json!({ "page": { "limit": 1 } });
        let other = self.site.post("/v2/process-instances/search", other).await;
        let mut wrong = vec![other["page"]["endCursor"].as_str().unwrap().to_owned()];
        wrong.extend(["", "x", "AAAA", "W10=", "e30=", "' OR 1=1 --"].map(str::to_owned));
        wrong.push("A".repeat(1 << 20));
        wrong.push(cursor[1..].to_owned());
        wrong.push(bent(json!([parts[0], parts[1]])));
        wrong.push(bent(json!([parts[0], parts[1], parts[2], parts[2]])));
        wrong.push(bent(json!([[parts[0]], parts[1], parts[2]])));
        wrong.push(bent(json!([parts[0], { "gte": "" }, parts[2]])));
        wrong.push(bent(json!([parts[0], parts[1], "1; DROP TABLE variable"])));
        wrong.push(bent(json!([parts[0], parts[1], 0.5])));
        wrong.push(bent(json!(["variable+name' OR '1'='1", parts[1], parts[2]])));
        for cursor in wrong {
            for name in ["after", "before"] {
                let body = json!({ "sort": sort, "page": { name: cursor } });
                self.refuses("variables", &body, &format!("page.{name}")).await;
            }
        }
    }

    async fn keys_are_numbers(&self) {
        for key in ["1%20OR%201=1", "..%2f_search", "_all", "*", "%22", "1%27%3B--", "99999999999999999999"] {
            for kind in ["variables", "process-instances", "element-instances", "incidents"] {
                let path = format!("/v2/{kind}/{key}");
                let answer = http::ask(&self.site.rest, "GET", &path, None).await.unwrap();
                assert!([400, 404].contains(&answer.status), "{path}: {answer:?}");
            }
        }
    }
}
