//! Questions below `/baton/v1` about one instance, and how many there are: what they tell, to whom, and to whom not.

use grpc as pb;
use serde_json::{Value, json};

use crate::server::{Server, basic, call, eventually, file, with_users};

/// Waits for everything at once.
const MODEL: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t">
  <message id="m" name="paid"><extensionElements><zeebe:subscription correlationKey="=order"/></extensionElements></message>
  <process id="p" name="Order" isExecutable="true">
    <startEvent id="s"/><sequenceFlow id="f0" sourceRef="s" targetRef="fork"/>
    <parallelGateway id="fork"/>
    <sequenceFlow id="f1" sourceRef="fork" targetRef="charge"/>
    <sequenceFlow id="f2" sourceRef="fork" targetRef="review"/>
    <sequenceFlow id="f3" sourceRef="fork" targetRef="paid"/>
    <sequenceFlow id="f4" sourceRef="fork" targetRef="later"/>
    <sequenceFlow id="f5" sourceRef="fork" targetRef="call"/>
    <sequenceFlow id="f6" sourceRef="fork" targetRef="each"/>
    <serviceTask id="charge" name="Charge"><extensionElements><zeebe:taskDefinition type="charge" retries="1"/></extensionElements></serviceTask>
    <userTask id="review"><extensionElements><zeebe:userTask/><zeebe:assignmentDefinition assignee="olga" candidateGroups="clerks"/></extensionElements></userTask>
    <intermediateCatchEvent id="paid"><messageEventDefinition messageRef="m"/></intermediateCatchEvent>
    <intermediateCatchEvent id="later"><timerEventDefinition><timeDuration xsi:type="tFormalExpression">PT2H</timeDuration></timerEventDefinition></intermediateCatchEvent>
    <callActivity id="call"><extensionElements><zeebe:calledElement processId="q"/></extensionElements></callActivity>
    <subProcess id="each"><multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics inputCollection="=[1,2,3,4,5]"/></extensionElements></multiInstanceLoopCharacteristics>
      <startEvent id="si"/><sequenceFlow id="g" sourceRef="si" targetRef="pack"/>
      <serviceTask id="pack" name="Pack"><extensionElements><zeebe:taskDefinition type="pack"/></extensionElements></serviceTask>
    </subProcess>
  </process>
</definitions>"#;

const CALLED: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t">
  <process id="q" name="Called" isExecutable="true">
    <startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="pick"/>
    <serviceTask id="pick"><extensionElements><zeebe:taskDefinition type="pick"/></extensionElements></serviceTask>
  </process>
</definitions>"#;

/// Ann sees instances of `p` alone, and no task; eve sees nothing; bob is of the other tenant and may do everything.
fn users() -> String {
    let mut file = "
users: [{username: root, password: right}, {username: ann, password: right}, {username: eve, password: right}, {username: bob, password: right}]
roles: [{id: admin, users: [root]}]
tenants: [{id: south, users: [root, ann, eve]}, {id: north, users: [bob]}]
authorizations:
  - { owner_type: USER, owner_id: ann, resource_type: PROCESS_DEFINITION, resource_id: p, permissions: [READ_PROCESS_INSTANCE] }
"
    .to_owned();
    let all = "READ_PROCESS_INSTANCE, READ_USER_TASK, READ_PROCESS_DEFINITION";
    file += &format!(
        "  - {{ owner_type: USER, owner_id: bob, resource_type: PROCESS_DEFINITION, resource_id: '*', permissions: [{all}] }}\n"
    );
    file
}

fn by(user: &str) -> String {
    basic(user, "right")
}

/// A server with an instance of `p`, in the tenant `south`, that has come to all that it waits for; and its key.
async fn started(more: &[&str]) -> (tempfile::NamedTempFile, Server, String) {
    let users = file(&users());
    let settings = [&["security.authorizations=true", "multi_tenancy.enabled=true"], more].concat();
    let server = Server::start(&with_users(users.path(), &settings));
    let mut client = server.grpc().await;
    let resource = |name: &str, content: &str| pb::Resource {
        name: name.to_owned(),
        content: content.as_bytes().to_vec(),
    };
    let request = pb::DeployResourceRequest {
        resources: vec![resource("p.bpmn", MODEL), resource("q.bpmn", CALLED)],
        tenant_id: "south".to_owned(),
    };
    client.deploy_resource(call(request, &by("root"))).await.unwrap();
    let key = create(&server).await;
    let explanation = format!("/baton/v1/process-instances/{key}/explanation");
    eventually("all tokens", async || {
        let found = server.get(&explanation).by(&by("root")).send().await;
        (found.status == 200 && found.json()["totalItems"] == 10).then_some(())
    })
    .await;
    (users, server, key)
}

async fn create(server: &Server) -> String {
    let body = json!({"processDefinitionId": "p", "tenantId": "south", "variables": {"order": "A-7"}});
    let created = server.post("/v2/process-instances", &body).by(&by("root")).send().await.expect(200).json();
    created["processInstanceKey"].as_str().unwrap().to_owned()
}

fn items(answer: &Value) -> &Vec<Value> {
    answer["items"].as_array().unwrap()
}

/// The only thing that an element waits for.
fn awaited<'a>(answer: &'a Value, element_id: &str) -> &'a Value {
    let element = items(answer).iter().find(|one| one["elementId"] == element_id);
    let awaited = element.unwrap_or_else(|| panic!("{element_id}: {answer}"))["waitsFor"].as_array().unwrap();
    assert_eq!(awaited.len(), 1, "{element_id}: {awaited:?}");
    &awaited[0]
}

async fn ask(server: &Server, user: &str, path: &str) -> Value {
    server.get(path).by(&by(user)).send().await.expect(200).json()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_instance_says_what_it_waits_for_and_who_is_there() {
    let (_users, server, key) = started(&[]).await;
    let path = format!("/baton/v1/process-instances/{key}/explanation");
    let told = ask(&server, "root", &path).await;
    assert_eq!((&told["state"], items(&told).len()), (&json!("ACTIVE"), 10), "{told}");
    let job = &awaited(&told, "charge")["job"];
    assert_eq!(
        [&job["jobType"], &job["streams"], &job["polls"], &job["retries"], &job["worker"]],
        [&json!("charge"), &json!(0), &json!(0), &json!(1), &json!(null)]
    );
    assert!(awaited(&told, "charge")["since"].is_string());
    let task = &awaited(&told, "review")["userTask"];
    assert_eq!([&task["assignee"], &task["candidateGroups"]], [&json!("olga"), &json!(["clerks"])]);
    let message = &awaited(&told, "paid")["message"];
    assert_eq!(*message, json!({"messageName": "paid", "correlationKey": "A-7"}));
    let timer = &awaited(&told, "later")["timer"];
    assert!(timer["dueDate"].as_str() > awaited(&told, "later")["since"].as_str(), "{timer}");
    let called = &awaited(&told, "call")["calledInstance"];
    assert_eq!([&called["processDefinitionId"], &called["state"]], [&json!("q"), &json!("ACTIVE")]);
    assert!(!items(&told).iter().any(|one| one["elementId"] == "each"), "others run in it: {told}");

    // Ann may not see the task, nor the called instance: that there is something, her own instance tells.
    let hidden = ask(&server, "ann", &path).await;
    let task = &awaited(&hidden, "review")["userTask"];
    assert_eq!(
        [&task["assignee"], &task["candidateGroups"], &task["name"]],
        [&json!(null), &json!([]), &json!(null)]
    );
    let call_activity = items(&hidden).iter().find(|one| one["elementId"] == "call").unwrap();
    assert_eq!(call_activity["waitsFor"], json!([]));

    workers_are_counted(&server, called["processInstanceKey"].as_str().unwrap()).await;
    fails(&server, &path).await;

    // Page by page.
    let page = ask(&server, "ann", &format!("{path}?from=8&limit=5")).await;
    assert_eq!((items(&page).len(), &page["totalItems"]), (2, &json!(10)));
    refusals(&server, "GET", &path).await;
    server.get(&format!("{path}?limit=501")).by(&by("ann")).send().await.expect(400);
    server
        .ask("POST", &format!("/v2/process-instances/{key}/cancellation"))
        .json(&json!({}))
        .by(&by("root"))
        .send()
        .await
        .expect(204);
    let ended = eventually("the end", async || {
        let told = ask(&server, "ann", &path).await;
        (told["state"] == "TERMINATED").then_some(told)
    })
    .await;
    assert_eq!((items(&ended).len(), &ended["totalItems"]), (0, &json!(0)));
}

/// Workers that take jobs of the tenant are counted; those of another tenant are not.
async fn workers_are_counted(server: &Server, called_key: &str) {
    let stream = async |tenant: &str, user: &str| {
        let request = pb::StreamActivatedJobsRequest {
            r#type: "pick".to_owned(),
            worker: user.to_owned(),
            timeout: 60_000,
            tenant_ids: vec![tenant.to_owned()],
            ..Default::default()
        };
        server.grpc().await.stream_activated_jobs(call(request, &by(user))).await.unwrap()
    };
    let (_north, south) = (stream("north", "bob").await, stream("south", "root").await);
    let of_called = format!("/baton/v1/process-instances/{called_key}/explanation");
    eventually("the worker", async || {
        let told = ask(server, "root", &of_called).await;
        (awaited(&told, "pick")["job"]["streams"] == 1).then_some(())
    })
    .await;
    drop(south);
}

/// A job that failed is an incident of its element.
async fn fails(server: &Server, path: &str) {
    let body = json!({"type": "charge", "timeout": 60_000, "maxJobsToActivate": 1, "worker": "w", "tenantIds": ["south"]});
    let jobs = server.post("/v2/jobs/activation", &body).by(&by("root")).send().await.expect(200).json();
    let job = jobs["jobs"][0]["jobKey"].as_str().unwrap();
    eventually("who has the job", async || {
        (awaited(&ask(server, "ann", path).await, "charge")["job"]["worker"] == "w").then_some(())
    })
    .await;
    let fail = json!({"retries": 0, "errorMessage": "no money"});
    server.post(&format!("/v2/jobs/{job}/failure"), &fail).by(&by("root")).send().await.expect(204);
    let charge = eventually("the incident", async || {
        let told = ask(server, "ann", &format!("{path}?elementId=charge")).await;
        let charge = items(&told)[0].clone();
        (charge["incidents"] != json!([])).then_some(charge)
    })
    .await;
    assert_eq!(charge["incidents"][0]["errorMessage"], "no money");
    assert_eq!(charge["incidents"][0]["jobKey"], job);
}

/// An instance without the permission is refused, one of another tenant is not found.
async fn refusals(server: &Server, method: &str, path: &str) {
    server.ask(method, path).by(&by("eve")).send().await.expect(403);
    server.ask(method, path).by(&by("bob")).send().await.expect(404);
    server.ask(method, path).send().await.expect(401);
    let (before, after) = path.split_once("instances/").unwrap();
    let after = after.split_once('/').unwrap().1;
    server.ask(method, &format!("{before}instances/77/{after}")).by(&by("ann")).send().await.expect(404);
    server.ask(method, &format!("{before}instances/x/{after}")).by(&by("ann")).send().await.expect(400);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn children_come_in_windows_with_exact_totals() {
    let (_users, server, key) = started(&[]).await;
    let of = |key: &str, query: &str| format!("/baton/v1/element-instances/{key}/children{query}");
    let top = ask(&server, "ann", &of(&key, "")).await;
    let ids = |answer: &Value| {
        items(answer).iter().map(|one| one["elementId"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&top)[..2], ["s", "fork"]);
    assert_eq!((&top["totalItems"], &top["processInstanceKey"]), (&json!(8), &json!(key)));
    let body = items(&top).iter().find(|one| one["elementId"] == "each").unwrap();
    assert_eq!((&body["type"], &body["childCount"]), (&json!("MULTI_INSTANCE_BODY"), &json!(5)));
    let body_key = body["elementInstanceKey"].as_str().unwrap();
    let window = ask(&server, "ann", &of(body_key, "?from=3&limit=5")).await;
    assert_eq!((items(&window).len(), &window["totalItems"]), (2, &json!(5)));
    assert!(items(&window).iter().all(|one| one["childCount"] == 2), "{window}");
    // Behind a key, in both orders.
    let keys = |answer: &Value| {
        items(answer)
            .iter()
            .map(|one| one["elementInstanceKey"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let all = keys(&ask(&server, "ann", &of(body_key, "")).await);
    let behind = ask(&server, "ann", &of(body_key, &format!("?after={}&limit=2", all[1]))).await;
    assert_eq!((keys(&behind), &behind["totalItems"]), (all[2..4].to_vec(), &json!(5)));
    let back = ask(&server, "ann", &of(body_key, &format!("?order=DESC&after={}&limit=9", all[1]))).await;
    assert_eq!(keys(&back), all[..1].to_vec());

    for (query, expected) in [
        ("?text=har", vec!["charge"]),
        ("?text=Charge", vec!["charge"]),
        ("?text=*", vec![]),
        ("?state=COMPLETED", vec!["s", "fork"]),
        ("?state=ACTIVE&text=a", vec!["charge", "paid", "later", "call", "each"]),
        ("?hasIncident=true", vec![]),
    ] {
        let found = ask(&server, "ann", &of(&key, query)).await;
        let (mut found_ids, mut expected_ids) = (ids(&found), expected);
        assert_eq!(found["totalItems"], found_ids.len(), "{query}");
        found_ids.sort();
        expected_ids.sort_unstable();
        assert_eq!(found_ids, expected_ids, "{query}");
    }
    let deep = ask(&server, "ann", &of(&key, "?deep=true&text=pack&limit=3")).await;
    assert_eq!((ids(&deep), &deep["totalItems"]), (vec!["pack".to_owned(); 3], &json!(5)));
    server.get(&of(body_key, "?deep=true")).by(&by("ann")).send().await.expect(400);
    let by_key = ask(&server, "ann", &of(&key, &format!("?text={body_key}"))).await;
    assert_eq!(ids(&by_key), ["each"]);
    for (query, name) in [
        ("?state=GONE", "state"),
        ("?order=UP", "order"),
        ("?limit=0", "limit"),
        ("?hasIncident=1", "hasIncident"),
        ("?after=x", "after"),
        ("?text=", "text"),
    ] {
        let refused = server.get(&of(&key, query)).by(&by("ann")).send().await.expect(400).json();
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.starts_with(&format!("{name}: ")), "{query}: {detail}");
    }
    refusals(&server, "GET", &of(&key, "")).await;
    refusals(&server, "GET", &of(body_key, "")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instances_are_counted_as_far_as_one_may_see_them() {
    let (_users, server, key) = started(&[]).await;
    create(&server).await;
    let count = async |user: &str, filter: Value| {
        let body = json!({"filter": filter});
        let answer = server.post("/baton/v1/process-instances/count", &body).by(&by(user)).send().await;
        let answer = answer.expect(200).json();
        assert_eq!(answer["isExact"], true);
        answer["count"].as_u64().unwrap()
    };
    eventually("both", async || (count("root", json!({})).await == 4).then_some(())).await;
    assert_eq!(count("root", json!({"processDefinitionId": "q"})).await, 2);
    assert_eq!(count("root", json!({"processInstanceKey": key})).await, 1);
    assert_eq!(count("root", json!({"$or": [{"state": "COMPLETED"}, {"elementId": "pick"}]})).await, 2);
    assert_eq!((count("ann", json!({})).await, count("eve", json!({})).await), (2, 0));
    assert_eq!(count("bob", json!({})).await, 0);
    assert_eq!(count("bob", json!({"tenantId": "south"})).await, 0);
    let path = "/baton/v1/process-instances/count";
    server.post(path, &json!({})).send().await.expect(401);
    assert_eq!(server.ask("POST", path).by(&by("ann")).send().await.expect(200).json()["count"], 2);
    let bad = server.post(path, &json!({"filter": {"stat": "ACTIVE"}})).by(&by("ann")).send().await;
    assert_eq!(bad.expect(400).json()["detail"], "filter.stat: unknown property");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_instance_is_shown_as_it_was_where_steps_are_kept() {
    let (_users, server, key) = started(&["secondary_storage.steps=true"]).await;
    let path = format!("/baton/v1/process-instances/{key}");
    let body = json!({"variables": {"order": "B-8", "more": true}});
    server
        .ask("PUT", &format!("/v2/element-instances/{key}/variables"))
        .json(&body)
        .by(&by("root"))
        .send()
        .await
        .expect(204);
    let steps = eventually("the variables", async || {
        let steps = ask(&server, "ann", &format!("{path}/steps")).await;
        items(&steps).iter().any(|step| step["name"] == "more").then_some(steps)
    })
    .await;
    let position =
        |is: &dyn Fn(&Value) -> bool| items(&steps).iter().find(|step| is(step)).unwrap()["position"].clone();
    let at = async |position: &Value| ask(&server, "ann", &format!("{path}/at/{position}")).await;
    let variables = |then: &Value| {
        let text =
            |one: &Value| format!("{}={}", one["name"].as_str().unwrap(), one["value"].as_str().unwrap());
        let of_instance =
            then["variables"].as_array().unwrap().iter().filter(|one| one["scopeKey"] == json!(key));
        of_instance.map(text).collect::<Vec<_>>()
    };
    let early =
        at(&position(&|step| step["kind"] == "ELEMENT_ACTIVATED" && step["elementId"] == "fork")).await;
    assert_eq!(variables(&early), [r#"order="A-7""#]);
    assert_eq!(counts(&early, "s"), Some((json!(0), json!(1))));
    assert_eq!((counts(&early, "fork"), counts(&early, "charge")), (Some((json!(1), json!(0))), None));
    let late = at(&json!(i64::MAX)).await;
    assert_eq!(variables(&late), ["more=true", r#"order="B-8""#]);
    assert_eq!(counts(&late, "pack"), Some((json!(5), json!(0))));
    assert_eq!((&late["state"], &late["totalJobs"]), (&json!("ACTIVE"), &json!(6)));
    assert_eq!(late["position"], items(&steps).last().unwrap()["position"]);
    let few = ask(&server, "ann", &format!("{path}/at/{}?limit=2", i64::MAX)).await;
    assert_eq!(
        (few["elements"].as_array().unwrap().len(), &few["totalElements"]),
        (2, &late["totalElements"])
    );
    let missing = server.get(&format!("{path}/at/0")).by(&by("ann")).send().await.expect(404).json();
    assert!(missing["detail"].as_str().unwrap().starts_with("position: "), "{missing}");
    server.get(&format!("{path}/at/x")).by(&by("ann")).send().await.expect(400);
    refusals(&server, "GET", &format!("{path}/at/{}", i64::MAX)).await;

    let timeline = ask(&server, "ann", &format!("{path}/timeline")).await;
    assert_eq!(timeline["totalItems"], items(&timeline).len());
    let start = &items(&timeline)[0];
    assert_eq!((&start["elementId"], &start["state"]), (&json!("s"), &json!("COMPLETED")));
    assert!(start["firstPosition"].as_u64() < start["lastPosition"].as_u64(), "{start}");
    let window = ask(&server, "ann", &format!("{path}/timeline?from=1&limit=1")).await;
    assert_eq!(
        (&items(&window)[0]["elementId"], &window["totalItems"]),
        (&json!("fork"), &timeline["totalItems"])
    );
    refusals(&server, "GET", &format!("{path}/timeline")).await;

    acted_on(&server, &path).await;
}

/// Active and completed instances of an element, as of a position.
fn counts(then: &Value, id: &str) -> Option<(Value, Value)> {
    let found = then["counts"].as_array().unwrap().iter().find(|one| one["elementId"] == id);
    found.map(|one| (one["active"].clone(), one["completed"].clone()))
}

/// Actions of people are told with their names.
async fn acted_on(server: &Server, path: &str) {
    let modify = json!({"activateInstructions": [{"elementId": "charge"}]});
    for (action, body) in [("modification", modify), ("cancellation", json!({}))] {
        let done =
            server.post(&format!("{}/{action}", path.replace("/baton/v1", "/v2")), &body).by(&by("root"));
        assert!([200, 204].contains(&done.send().await.status), "{action}");
    }
    let ended = eventually("the end", async || {
        let then = ask(server, "ann", &format!("{path}/at/{}", i64::MAX)).await;
        (then["state"] == "TERMINATED").then_some(then)
    })
    .await;
    assert_eq!((counts(&ended, "charge"), &ended["totalJobs"]), (Some((json!(0), json!(0))), &json!(0)));
    let timeline = ask(server, "ann", &format!("{path}/timeline")).await;
    let events: Vec<_> =
        timeline["events"].as_array().unwrap().iter().map(|one| (&one["kind"], &one["value"])).collect();
    let by_root = |kind: &str| (json!(kind), json!("root"));
    let expected = [by_root("MODIFIED"), by_root("CANCELED")];
    assert_eq!(events, expected.iter().map(|(kind, by)| (kind, by)).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_steps_it_is_said_that_there_are_none() {
    let (_users, server, key) = started(&[]).await;
    for what in ["timeline", "at/9"] {
        let path = format!("/baton/v1/process-instances/{key}/{what}");
        let refused = server.get(&path).by(&by("ann")).send().await.expect(409).json();
        assert!(refused["detail"].as_str().unwrap().contains("secondary_storage.steps"), "{refused}");
        refusals(&server, "GET", &path).await;
    }
}
