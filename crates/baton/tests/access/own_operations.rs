//! Operations below `/baton/v1`, on the real server: what they tell, to whom, and to whom not.

use std::time::{Duration, Instant};

use grpc as pb;
use serde_json::{Value, json};

use crate::server::{Server, basic, eventually, file, with_users};

const MODEL: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t">
  <process id="p" name="Order" isExecutable="true">
    <startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="work"/>
    <serviceTask id="work"><extensionElements><zeebe:taskDefinition type="work" retries="1"/></extensionElements></serviceTask>
  </process>
</definitions>"#;

const USERS: &str = "
users: [{username: root, password: right}, {username: ann, password: right}, {username: eve, password: right}]
roles: [{id: admin, users: [root]}]
authorizations:
  - { owner_type: USER, owner_id: ann, resource_type: PROCESS_DEFINITION, resource_id: p, permissions: [READ_PROCESS_INSTANCE] }
";

fn by(user: &str) -> String {
    basic(user, "right")
}

/// A server with users, an instance of `p`, and the key of it.
async fn started(more: &[&str]) -> (tempfile::NamedTempFile, Server, String) {
    let users = file(USERS);
    let settings = [&["security.authorizations=true"], more].concat();
    let server = Server::start(&with_users(users.path(), &settings));
    let deploy = server.ask("POST", "/v2/deployments").file("resources", "p.bpmn", MODEL);
    deploy.by(&by("root")).send().await.expect(200);
    let key = create(&server).await;
    (users, server, key)
}

async fn create(server: &Server) -> String {
    let body = json!({"processDefinitionId": "p", "businessId": "B-7", "variables": {"total": 3}});
    let created = server.post("/v2/process-instances", &body).by(&by("root")).send().await.expect(200).json();
    created["processInstanceKey"].as_str().unwrap().to_owned()
}

/// Completes the job of an instance, with variables.
async fn complete(server: &Server, variables: Value) {
    let body = json!({"type": "work", "timeout": 60_000, "maxJobsToActivate": 1, "worker": "w"});
    let jobs = server.post("/v2/jobs/activation", &body).by(&by("root")).send().await.expect(200).json();
    let key = jobs["jobs"][0]["jobKey"].as_str().unwrap();
    let body = json!({"variables": variables});
    server.post(&format!("/v2/jobs/{key}/completion"), &body).by(&by("root")).send().await.expect(204);
}

fn items(answer: &Value) -> &Vec<Value> {
    answer["items"].as_array().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_told_how_people_sign_in() {
    let open = Server::start(&["security.authentication.method=basic".to_owned()]);
    let boot = async || open.get("/baton/v1/boot").send().await.expect(200).json();
    let told = boot().await;
    assert_eq!(
        (&told["signIn"], &told["setUp"], &told["title"]),
        (&json!("PASSWORD"), &json!(true), &json!("Baton"))
    );
    let user =
        json!({"username": "root", "password": "long enough", "name": "Root", "email": "r@example.com"});
    open.post("/v2/setup/user", &user).send().await.expect(201);
    assert_eq!(boot().await["setUp"], false);
    let none = Server::start(&[]);
    let told = none.get("/baton/v1/boot").send().await.expect(200).json();
    assert_eq!((&told["signIn"], &told["setUp"]), (&json!("NONE"), &json!(false)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn somebody_is_told_what_it_may_do_and_finds_what_it_may_see() {
    let (_users, server, key) = started(&[]).await;
    let checks = json!({"checks": [
        {"resourceType": "PROCESS_DEFINITION", "permissionType": "READ_PROCESS_INSTANCE", "resourceId": "p"},
        {"resourceType": "PROCESS_DEFINITION", "permissionType": "READ_PROCESS_INSTANCE"},
        {"resourceType": "SYSTEM", "permissionType": "READ"},
    ]});
    let may = async |user: &str| {
        let answer =
            server.post("/baton/v1/permissions", &checks).by(&by(user)).send().await.expect(200).json();
        let pair = |item: &Value| (item["allowed"].as_bool().unwrap(), item["any"].as_bool().unwrap());
        items(&answer).iter().map(pair).collect::<Vec<_>>()
    };
    assert_eq!(may("root").await, [(true, true); 3]);
    assert_eq!(may("ann").await, [(true, true), (false, true), (false, false)]);
    assert_eq!(may("eve").await, [(false, false); 3]);
    server.post("/baton/v1/permissions", &checks).send().await.expect(401);

    let found = async |user: &str, text: &str| {
        let path = format!("/baton/v1/lookup/{text}");
        let answer = server.get(&path).by(&by(user)).send().await.expect(200).json();
        let kinds = items(&answer).iter().map(|item| item["kind"].as_str().unwrap().to_owned());
        (kinds.collect::<Vec<_>>(), answer)
    };
    let (kinds, answer) = found("ann", &key).await;
    assert_eq!(kinds, ["PROCESS_INSTANCE"]);
    let item = &items(&answer)[0];
    assert_eq!(
        (&item["key"], &item["name"], &item["state"]),
        (&json!(key), &json!("Order"), &json!("ACTIVE"))
    );
    assert_eq!(found("ann", "B-7").await.0, ["PROCESS_INSTANCE"]);
    assert_eq!(found("root", "p").await.0, ["PROCESS_DEFINITION"]);
    assert_eq!(found("ann", "p").await.0, Vec::<String>::new(), "not the definition");
    for text in [&*key, "B-7", "p"] {
        assert_eq!(found("eve", text).await.0, Vec::<String>::new(), "{text}");
    }
    assert_eq!(found("root", "nothing%2Fthere").await.0, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_looks_is_told_of_changes_that_it_may_see() {
    let (_users, server, key) = started(&[]).await;
    let topics = json!([format!("process-instance:{key}"), "process-instances", "incidents", "audit-log"]);
    let ask = async |user: &str, after: Option<&str>, timeout_ms: u64| {
        let mut body = json!({"topics": topics, "timeoutMs": timeout_ms});
        if let Some(after) = after {
            body["after"] = json!(after);
        }
        let answer = server.post("/baton/v1/changes", &body).by(&by(user)).send().await.expect(200).json();
        let changed =
            answer["changed"].as_array().unwrap().iter().map(|topic| topic.as_str().unwrap().to_owned());
        (changed.collect::<Vec<_>>(), answer["after"].as_str().unwrap().to_owned())
    };
    let (changed, ann) = ask("ann", None, 0).await;
    assert!(changed.is_empty());
    // The flush in which somebody begins to look may have brought anything, so it counts as everything; so does the
    // one behind it, if the first left an instance that had just begun.
    create(&server).await;
    ask("ann", Some(&ann), 20_000).await;
    let quiet = eventually("quiet", async || {
        let (_, after) = ask("eve", None, 0).await;
        let (told, after) = ask("eve", Some(&after), 3_000).await;
        told.is_empty().then_some(after)
    })
    .await;
    let began = Instant::now();
    let (told, ()) = tokio::join!(ask("ann", Some(&quiet), 20_000), complete(&server, json!({"total": 4})));
    assert!(told.0.contains(&topics[0].as_str().unwrap().to_owned()), "{told:?}");
    assert!(began.elapsed() < Duration::from_secs(15), "it does not wait to the end");
    assert_eq!(
        ask("eve", Some(&quiet), 3_000).await.0,
        Vec::<String>::new(),
        "nothing is told of what it may not see"
    );
    // Another instance is news for the list alone.
    let (_, after) = eventually("quiet", async || {
        let (changed, after) = ask("ann", Some(&told.1), 0).await;
        let (rest, after) = ask("ann", Some(&after), 1_000).await;
        (changed.is_empty() || rest.is_empty()).then_some((rest, after))
    })
    .await;
    let (told, _) = tokio::join!(ask("ann", Some(&after), 20_000), create(&server));
    assert!(told.0.contains(&"process-instances".to_owned()), "{told:?}");
    assert!(!told.0.contains(&topics[0].as_str().unwrap().to_owned()), "{told:?}");
    let (changed, _) = ask("ann", Some("1-1"), 20_000).await;
    assert_eq!(changed.len(), 4, "what is unknown may be anything");
    let bad = json!({"topics": ["incidents", "nothing:1"]});
    let refused = server.post("/baton/v1/changes", &bad).by(&by("ann")).send().await.expect(400).json();
    assert_eq!(refused["detail"], "topics[1]: is no topic");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_and_whoever_is_there_for_them_are_counted() {
    let (_users, server, _) = started(&[]).await;
    for user in ["ann", "eve"] {
        server.get("/baton/v1/job-types").by(&by(user)).send().await.expect(403);
        server.get("/baton/v1/job-types/other/workers").by(&by(user)).send().await.expect(403);
    }
    let types = async || {
        let answer = server.get("/baton/v1/job-types").by(&by("root")).send().await.expect(200).json();
        assert_eq!(answer["isPartial"], false);
        items(&answer).clone()
    };
    let [work] = &types().await[..] else { panic!("one type") };
    let numbers =
        |of: &Value| ["waiting", "inFlight", "failed", "streams", "polls"].map(|it| of[it].as_i64().unwrap());
    assert_eq!(numbers(work), [1, 0, 0, 0, 0]);
    assert!(work["oldestWaitingSince"].is_string(), "{work}");

    let body = json!({"type": "work", "timeout": 60_000, "maxJobsToActivate": 1, "worker": "w"});
    let jobs = server.post("/v2/jobs/activation", &body).by(&by("root")).send().await.expect(200).json();
    let job = jobs["jobs"][0]["jobKey"].as_str().unwrap().to_owned();
    eventually("the job in flight", async || (numbers(&types().await[0]) == [0, 1, 0, 0, 0]).then_some(()))
        .await;
    let fail = json!({"retries": 0, "errorMessage": "no"});
    server.post(&format!("/v2/jobs/{job}/failure"), &fail).by(&by("root")).send().await.expect(204);
    eventually("the failed job", async || (numbers(&types().await[0]) == [0, 0, 1, 0, 0]).then_some(()))
        .await;

    let request = pb::StreamActivatedJobsRequest {
        r#type: "other".to_owned(),
        worker: "streamer".to_owned(),
        timeout: 60_000,
        tenant_ids: vec!["<default>".to_owned()],
        ..Default::default()
    };
    let mut client = server.grpc().await;
    let stream = client.stream_activated_jobs(crate::server::call(request, &by("root"))).await.unwrap();
    let worker = eventually("the worker", async || {
        let path = "/baton/v1/job-types/other/workers";
        let answer = server.get(path).by(&by("root")).send().await.expect(200).json();
        items(&answer).first().cloned()
    })
    .await;
    assert_eq!(
        (&worker["worker"], &worker["kind"], &worker["count"]),
        (&json!("streamer"), &json!("STREAM"), &json!(1))
    );
    assert!(worker["freePlaces"].as_i64().unwrap() > 0, "{worker}");
    let all = types().await;
    assert_eq!(all.iter().map(|one| one["jobType"].as_str().unwrap()).collect::<Vec<_>>(), ["other", "work"]);
    assert_eq!(numbers(&all[0]), [0, 0, 0, 1, 0]);
    drop(stream);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_looks_after_the_system_sees_the_cluster() {
    let (_users, server, key) = started(&[]).await;
    let parked = "/baton/v1/exporters/secondary-storage/parked";
    for path in ["/baton/v1/cluster", "/baton/v1/banned-instances", parked] {
        server.get(path).by(&by("ann")).send().await.expect(403);
        server.get(path).send().await.expect(401);
    }
    let cluster = server.get("/baton/v1/cluster").by(&by("root")).send().await.expect(200).json();
    assert_eq!(cluster["partitions"][0]["role"], "LEADER");
    assert_eq!(cluster["exporters"][0]["exporterId"], "secondary-storage");
    assert!(cluster["flowControl"]["1"].is_object(), "{cluster}");
    assert_eq!(items(&server.get(parked).by(&by("root")).send().await.expect(200).json()).len(), 0);
    let replay = server.ask("POST", &format!("{parked}/replay"));
    assert_eq!(replay.by(&by("root")).send().await.expect(200).json()["replayed"], 0);
    server.ask("POST", &format!("{parked}/replay")).by(&by("ann")).send().await.expect(403);
    server.get("/baton/v1/exporters/nothing/parked").by(&by("root")).send().await.expect(404);
    let banned = server.get("/baton/v1/banned-instances").by(&by("root")).send().await.expect(200).json();
    assert_eq!(banned, json!({"items": []}));
    server.get("/baton/v1/banned-instances?limit=0").by(&by("root")).send().await.expect(400);
    for action in ["release", "cancellation"] {
        let path = format!("/baton/v1/banned-instances/{key}/{action}");
        server.ask("POST", &path).by(&by("ann")).send().await.expect(403);
        server.ask("POST", "/baton/v1/banned-instances/99/release").by(&by("root")).send().await.expect(404);
    }
}

/// Kinds of steps, with the name and value of variables.
fn told(answer: &Value) -> Vec<String> {
    let step = |step: &Value| match step["kind"].as_str().unwrap() {
        "VARIABLE_SET" => format!("{}={}", step["name"].as_str().unwrap(), step["value"].as_str().unwrap()),
        kind => format!("{kind} {}", step["elementId"].as_str().unwrap_or_default()),
    };
    items(answer).iter().map(step).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn steps_of_an_instance_are_kept_where_the_setting_says_so() {
    let recorded = [
        "ELEMENT_ACTIVATED p",
        "total=3",
        "ELEMENT_ACTIVATED s",
        "ELEMENT_COMPLETED s",
        "ELEMENT_ACTIVATED work",
        "JOB_CREATED work",
        "JOB_ACTIVATED work",
        "JOB_COMPLETED work",
        "total=4",
        "ELEMENT_COMPLETED work",
        "ELEMENT_COMPLETED p",
    ];
    for (setting, is_recorded) in
        [("secondary_storage.steps=true", true), ("secondary_storage.steps=false", false)]
    {
        let (_users, server, key) = started(&[setting]).await;
        complete(&server, json!({"total": 4})).await;
        let path = format!("/baton/v1/process-instances/{key}/steps");
        let ended = eventually("the end", async || {
            let answer = server.get(&path).by(&by("ann")).send().await.expect(200).json();
            (told(&answer).last()? == "ELEMENT_COMPLETED p").then_some(answer)
        })
        .await;
        assert_eq!(ended["isRecorded"], is_recorded);
        let kinds = told(&ended);
        if is_recorded {
            let mut sorted = kinds.clone();
            sorted.sort();
            let mut expected = recorded.map(str::to_owned).to_vec();
            expected.sort();
            assert_eq!(sorted, expected);
            let place = |what: &str| kinds.iter().position(|kind| kind == what).unwrap();
            assert!(
                place("total=3") < place("JOB_CREATED work")
                    && place("JOB_ACTIVATED work") < place("total=4")
            );
        } else {
            assert!(kinds.contains(&"JOB_COMPLETED work".to_owned()), "{kinds:?}");
            assert!(!kinds.iter().any(|kind| kind.starts_with("total")), "{kinds:?}");
        }
        // Page by page, they are the same.
        let (mut paged, mut after) = (Vec::new(), 0);
        loop {
            let page = server.get(&format!("{path}?limit=2&after={after}")).by(&by("ann"));
            let page = page.send().await.expect(200).json();
            paged.extend(told(&page));
            let Some(last) = items(&page).last() else { break };
            after = last["position"].as_u64().unwrap();
            if page["hasMore"] == false {
                break;
            }
        }
        assert_eq!(paged, kinds);
        server.get(&path).by(&by("eve")).send().await.expect(403);
        server.get("/baton/v1/process-instances/77/steps").by(&by("ann")).send().await.expect(404);

        let search =
            server.post("/v2/process-instances/search", &json!({})).by(&by("root")).send().await.json();
        let definition = items(&search)[0]["processDefinitionKey"].as_str().unwrap().to_owned();
        let path = format!("/baton/v1/process-definitions/{definition}/durations");
        let took = server.post(&path, &json!({})).by(&by("ann")).send().await.expect(200).json();
        assert_eq!((items(&took).len(), &took["sampled"], &took["isComplete"]), (2, &json!(2), &json!(true)));
        let none = server.post(&path, &json!({"to": "2020-01-01T00:00:00Z"})).by(&by("ann")).send().await;
        assert_eq!(items(&none.expect(200).json()).len(), 0);
        let hidden = server.post(&path, &json!({})).by(&by("eve")).send().await.expect(200).json();
        assert_eq!(items(&hidden).len(), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_day_is_told_by_the_hour() {
    let sum = |told: &Value, name: &str| -> i64 {
        told["hours"].as_array().unwrap().iter().map(|hour| hour[name].as_i64().unwrap()).sum()
    };
    for (setting, is_counted) in
        [("secondary_storage.durations=true", true), ("secondary_storage.durations=false", false)]
    {
        let (_users, server, key) = started(&[setting]).await;
        complete(&server, json!({})).await;
        eventually("the end", async || {
            let path = format!("/v2/process-instances/{key}");
            let instance = server.get(&path).by(&by("root")).send().await.expect(200).json();
            (instance["state"] == "COMPLETED").then_some(())
        })
        .await;
        let instances = async |user: &str| {
            server.get("/baton/v1/process-instances/trend").by(&by(user)).send().await.expect(200).json()
        };
        let told = instances("ann").await;
        assert_eq!((&told["isCounted"], told["hours"].as_array().unwrap().len()), (&json!(is_counted), 24));
        let counts = ["started", "ended", "incidents"].map(|name| sum(&told, name));
        assert_eq!(counts, if is_counted { [1, 1, 0] } else { [0; 3] }, "{told}");
        let slowest: Vec<_> =
            told["slowest"].as_array().unwrap().iter().map(|one| &one["elementId"]).collect();
        assert_eq!(slowest.contains(&&json!("work")), is_counted, "{told}");
        let hidden = instances("eve").await;
        assert_eq!((sum(&hidden, "started"), &hidden["slowest"]), (0, &json!([])));

        let path = "/baton/v1/jobs/trend";
        server.get(path).by(&by("ann")).send().await.expect(403);
        let jobs = server.get(path).by(&by("root")).send().await.expect(200).json();
        assert_eq!(["created", "completed", "failed"].map(|name| sum(&jobs, name)), [1, 1, 0], "{jobs}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn durations_are_counted_where_the_setting_says_so() {
    for (setting, is_counted) in
        [("secondary_storage.durations=true", true), ("secondary_storage.durations=false", false)]
    {
        let (_users, server, key) = started(&[setting]).await;
        let pause = Duration::from_millis(60);
        let created = Instant::now();
        eventually("some time", async || (created.elapsed() >= pause).then_some(())).await;
        complete(&server, json!({})).await;
        let definition = eventually("the end", async || {
            let path = format!("/v2/process-instances/{key}");
            let instance = server.get(&path).by(&by("root")).send().await.expect(200).json();
            let definition = instance["processDefinitionKey"].as_str()?.to_owned();
            (instance["state"] == "COMPLETED").then_some(definition)
        })
        .await;
        let path = format!("/baton/v1/process-definitions/{definition}/durations");
        let ask = async |user: &str, body: Value| {
            server.post(&path, &body).by(&by(user)).send().await.expect(200).json()
        };
        let took = ask("ann", json!({"elementId": "work"})).await;
        let work = &items(&took)[0];
        let pause_ms = pause.as_millis() as i64;
        assert_eq!((&work["elementId"], &work["count"]), (&json!("work"), &json!(1)), "{took}");
        assert_eq!((items(&took).len(), &took["sampled"], &took["isComplete"]), (2, &json!(2), &json!(true)));
        assert!(work["maxMs"].as_i64().unwrap() >= pause_ms, "{took}");
        let hours = took["hours"].as_array().unwrap();
        assert_eq!((hours.len(), &hours[0]["totalMs"]), (1, &work["totalMs"]), "{took}");
        if is_counted {
            assert_eq!((&took["source"], &took["countedSince"]), (&json!("COUNTERS"), &hours[0]["time"]));
            assert!(work["wait"]["p95Ms"].as_i64().unwrap() >= pause_ms, "{took}");
            assert_eq!(work["work"]["count"], 1, "{took}");
            assert!(took["process"]["totalMs"].as_i64().unwrap() >= pause_ms, "{took}");
            // An hour that it ended in counts as a whole.
            let from = hours[0]["time"].as_str().unwrap().replace(":00:00.000Z", ":59:59.999Z");
            assert_eq!(items(&ask("ann", json!({"from": from})).await).len(), 2);
            let all = ask("ann", json!({})).await;
            assert_eq!(all["hours"][0]["totalMs"], took["process"]["totalMs"]);
        } else {
            assert_eq!((&took["source"], &took["countedSince"]), (&json!("SAMPLE"), &Value::Null));
            assert_eq!((&work["wait"], &took["process"]), (&Value::Null, &Value::Null));
            assert_eq!(ask("ann", json!({})).await["hours"], json!([]));
        }
        for body in [json!({"to": "2020-01-01T00:00:00Z"}), json!({"from": "2100-01-01T00:00:00Z"})] {
            let none = ask("ann", body).await;
            assert_eq!((items(&none).len(), &none["hours"]), (0, &json!([])));
        }
        let hidden = ask("eve", json!({})).await;
        assert_eq!(
            (items(&hidden).len(), &hidden["process"], &hidden["countedSince"]),
            (0, &Value::Null, &Value::Null)
        );
        let wrong = server.post(&path, &json!({"from": "yesterday"})).by(&by("ann")).send().await.expect(400);
        assert!(wrong.json()["detail"].as_str().unwrap().contains("from"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn views_are_kept_for_whoever_saved_them() {
    let users = file(USERS);
    let mut server = Server::start(&with_users(users.path(), &["security.authorizations=true"]));
    let body = |name: &str, is_shared: bool| json!({"name": name, "page": "operate/processes", "query": "incidents=true", "isShared": is_shared});
    let mine =
        server.post("/baton/v1/views", &body("Mine", false)).by(&by("eve")).send().await.expect(201).json();
    // A user without any permission puts nothing before others.
    server.post("/baton/v1/views", &body("Ours", true)).by(&by("eve")).send().await.expect(403);
    let path = format!("/baton/v1/views/{}", mine["viewKey"].as_str().unwrap());
    server.ask("PUT", &path).json(&body("Mine", true)).by(&by("eve")).send().await.expect(403);
    let grant = json!({
        "ownerType": "USER", "ownerId": "eve", "resourceType": "COMPONENT", "resourceId": "tasklist",
        "permissionTypes": ["ACCESS"],
    });
    server.post("/v2/authorizations", &grant).by(&by("root")).send().await.expect(201);
    let ours =
        server.post("/baton/v1/views", &body("Ours", true)).by(&by("eve")).send().await.expect(201).json();
    assert_eq!(
        (&mine["owner"], &mine["isOwn"], &mine["query"]),
        (&json!("eve"), &json!(true), &json!("incidents=true"))
    );
    // They outlive the program.
    server = server.restart();
    let names = async |user: &str, page: &str| {
        let path = format!("/baton/v1/views?page={page}");
        let answer = server.get(&path).by(&by(user)).send().await.expect(200).json();
        let pair =
            |item: &Value| (item["name"].as_str().unwrap().to_owned(), item["isOwn"].as_bool().unwrap());
        items(&answer).iter().map(pair).collect::<Vec<_>>()
    };
    let page = "operate%2Fprocesses";
    assert_eq!(names("eve", page).await, [("Mine".to_owned(), true), ("Ours".to_owned(), true)]);
    assert_eq!(names("ann", page).await, [("Ours".to_owned(), false)]);
    assert_eq!(names("ann", "tasklist").await, []);
    let path = |view: &Value| format!("/baton/v1/views/{}", view["viewKey"].as_str().unwrap());
    let change = async |user: &str, view: &Value| {
        server.ask("PUT", &path(view)).json(&body("Changed", false)).by(&by(user)).send().await.status
    };
    assert_eq!((change("ann", &mine).await, change("ann", &ours).await), (404, 403));
    assert_eq!(change("eve", &ours).await, 200);
    assert_eq!(names("ann", page).await, []);
    server.ask("DELETE", &path(&mine)).by(&by("ann")).send().await.expect(404);
    server.ask("DELETE", &path(&mine)).by(&by("eve")).send().await.expect(204);
    assert_eq!(names("eve", page).await, [("Changed".to_owned(), true)]);
    for number in 0..20 {
        let view = body(&number.to_string(), true);
        server.post("/baton/v1/views", &view).by(&by("eve")).send().await.expect(201);
    }
    server.post("/baton/v1/views", &body("More", true)).by(&by("eve")).send().await.expect(409);
    server.post("/baton/v1/views", &body("Mine", false)).by(&by("eve")).send().await.expect(201);
    server.post("/baton/v1/views", &body("Others'", true)).by(&by("ann")).send().await.expect(201);
    server.post("/baton/v1/views", &body("", false)).by(&by("eve")).send().await.expect(400);
    server.post("/baton/v1/views", &body("x", false)).send().await.expect(401);
}
