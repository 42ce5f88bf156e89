//! A stranger with no more than a socket to a port: of a server that listens for others, of one with users, and of one
//! whose ports a browser of its own machine reaches.

use std::process::{Command, Output};

use grpc as pb;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tonic::Code;

use crate::server::{PATIENCE, Server, basic, call, file, with_users};

/// Operations for everybody.
const PUBLIC: [&str; 3] = ["getStatus", "getLicense", "getBoot"];
/// Requests to the management port, probes and metrics aside.
const MANAGEMENT: [(&str, &str); 26] = [
    ("GET", "/actuator/loggers"),
    ("GET", "/actuator/loggers/broker"),
    ("POST", "/actuator/loggers/broker"),
    ("GET", "/actuator/profile"),
    ("GET", "/actuator/flowControl"),
    ("POST", "/actuator/flowControl"),
    ("GET", "/actuator/partitions"),
    ("POST", "/actuator/partitions/pauseProcessing"),
    ("GET", "/actuator/cluster"),
    ("POST", "/actuator/rebalance"),
    ("GET", "/actuator/exporters"),
    ("DELETE", "/actuator/exporters/a"),
    ("POST", "/actuator/exporters/a/disable"),
    ("GET", "/actuator/exporters/a/parked"),
    ("POST", "/actuator/exporters/a/parked/replay"),
    ("POST", "/actuator/exporting/pause"),
    ("GET", "/actuator/backupRuntime"),
    ("POST", "/actuator/backupRuntime"),
    ("DELETE", "/actuator/backupRuntime/1"),
    ("GET", "/actuator/backupHistory"),
    ("GET", "/actuator/bannedInstances"),
    ("POST", "/actuator/bannedInstances/1/cancellation"),
    ("GET", "/actuator/clock"),
    ("POST", "/actuator/clock/pin"),
    ("GET", "/actuator/info"),
    ("GET", "/actuator/healthy"),
];
const PROBES: [&str; 6] = [
    "/actuator/health",
    "/actuator/health/liveness",
    "/actuator/health/readiness",
    "/health",
    "/ready",
    "/startup",
];
const METRICS: [&str; 2] = ["/metrics", "/actuator/prometheus"];
/// Users of whom one may do everything.
const USERS: &str = "
users: [{username: root, password: right}]
roles: [{id: admin, users: [root]}]
";

/// Runs a command to its end, without the settings of this machine.
fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BATON_")) {
        command.env_remove(name);
    }
    command.args(arguments).output().unwrap()
}

/// How a start ends that must not come to be.
fn refused(ports: [&str; 3], settings: &[&str]) -> String {
    let data = tempfile::tempdir().unwrap();
    let directory = data.path().join("data");
    let [rest, grpc, management] = ports;
    let mut arguments = vec!["start", "--data-dir", directory.to_str().unwrap()];
    arguments.extend(["--rest", rest, "--grpc", grpc, "--management", management]);
    arguments.extend(settings.iter().flat_map(|setting| ["--set", setting]));
    let output = run(&arguments);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(!directory.exists(), "nothing was begun");
    told
}

#[test]
fn a_default_start_is_for_this_machine_alone() {
    let defaults = String::from_utf8(run(&["config"]).stdout).unwrap();
    let listens: Vec<_> = defaults.lines().filter(|line| line.trim_start().starts_with("listen:")).collect();
    for address in ["127.0.0.1:8080", "127.0.0.1:26500", "127.0.0.1:9600"] {
        assert!(listens.iter().any(|line| line.contains(address)), "{listens:?}");
    }
    let ours = "127.0.0.1:0";
    for others in ["0.0.0.0:0", "[::]:0", "[::ffff:0.0.0.0]:0"] {
        for (ports, section) in [
            ([others, ours, ours], "rest"),
            ([ours, others, ours], "grpc"),
            ([ours, ours, others], "management"),
        ] {
            let told = refused(ports, &[]);
            assert!(told.contains(&format!("'{section}.listen'")) && told.contains("--open"), "{told}");
        }
    }
    // With users, the management port alone is left.
    let open = ["security.authentication.method=basic", "management.authentication=false"];
    let told = refused([ours, ours, "0.0.0.0:0"], &open);
    assert!(told.contains("'management.listen'"), "{told}");
    // Addresses of loopback have other spellings.
    drop(Server::start_at("localhost:0", &[]));
    drop(Server::start_at("127.1.2.3:0", &[]));
}

fn warnings(server: &Server) -> Vec<String> {
    let log = server.log();
    log.lines().filter(|line| line.contains("ports without authentication")).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_line_says_which_ports_are_open() {
    let server = Server::start(&[]);
    let [line] = &warnings(&server)[..] else { panic!("{}", server.log()) };
    let addresses = ["rest", "grpc", "management"].map(|port| format!("{port} {}", server.address(port)));
    assert!(line.contains("INFO") && line.contains(&addresses.join(", ")), "{line}");
    assert!(line.contains("every program of this machine"), "{line}");

    let open = Server::start_at("0.0.0.0:0", &["security.open=true".to_owned()]);
    let [line] = &warnings(&open)[..] else { panic!("{}", open.log()) };
    assert!(line.contains("WARN") && line.contains("everybody who reaches them"), "{line}");
    open.get("/v2/topology").send().await.expect(200);

    let users = file(USERS);
    let guarded = Server::start_at("0.0.0.0:0", &with_users(users.path(), &[]));
    assert_eq!(warnings(&guarded), Vec::<String>::new());
    let left_open = Server::start(&with_users(users.path(), &["management.authentication=false"]));
    let [line] = &warnings(&left_open)[..] else { panic!("{}", left_open.log()) };
    assert!(line.contains("without authentication: management 127.0.0.1"), "{line}");
}

/// Names with which a page may lead a browser to another machine, or to this one.
const REBOUND: [&str; 9] = [
    "evil.example",
    "evil.example:8080",
    "evil.example.",
    "EVIL.example.:80",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "[::1].evil.example",
    "localhost:evil",
    "user@localhost",
];
const OURS: [&str; 8] = [
    "127.0.0.1",
    "localhost:8080",
    "LOCALHOST.",
    "localhost.:1",
    "[::1]:8080",
    "10.0.0.7",
    "desk.example",
    "[fe80::1]",
];

async fn with_host(server: &Server, port: &str, request: &str, host: &str) -> u16 {
    let head =
        format!("{request} HTTP/1.1\r\nhost: {host}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    server.raw_to(port, head.as_bytes()).await.unwrap().status
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_is_rebound_to_an_open_port_is_refused_wherever_it_listens() {
    for address in ["127.0.0.1:0", "0.0.0.0:0"] {
        let settings = ["security.open=true".to_owned(), "security.allowed_hosts=Desk.example.".to_owned()];
        let server = Server::start_at(address, &settings);
        for host in REBOUND {
            for (port, request) in [
                ("rest", "GET /v2/topology"),
                ("rest", "POST /v2/process-instances/search"),
                ("rest", "GET /baton/v1/boot"),
                ("rest", "GET /operate"),
                ("rest", "POST /login"),
                ("management", "GET /actuator/exporters"),
                ("management", "POST /actuator/exporting/pause"),
                ("management", "GET /metrics"),
                ("management", "GET /actuator/health"),
            ] {
                let status = with_host(&server, port, request, host).await;
                assert!(matches!(status, 400 | 403), "{address} {host} {request}: {status}");
            }
        }
        for host in OURS {
            assert_eq!(with_host(&server, "rest", "GET /v2/topology", host).await, 200, "{host}");
            assert_eq!(with_host(&server, "management", "GET /metrics", host).await, 200, "{host}");
        }
        assert_eq!(
            server.manage("GET", "/actuator/exporters").await.json().as_array().map(Vec::len),
            Some(1)
        );
    }
    // Others than browsers of this machine do not know what the server is called.
    let advertised = Server::start(&["cluster.advertised_host=baton-1".to_owned()]);
    assert_eq!(with_host(&advertised, "rest", "GET /v2/topology", "baton-1:8080").await, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_set_up_is_no_pages_and_where_others_listen_nobodys() {
    let user = json!({"username": "eve", "password": "long enough", "name": "Eve", "email": "e@example.com"});
    let method = "security.authentication.method=basic".to_owned();
    let server = Server::start(std::slice::from_ref(&method));
    let body = user.to_string();
    let head = |host: &str, more: &str| {
        format!(
            "POST /v2/setup/user HTTP/1.1\r\nhost: {host}\r\n{more}content-type: application/json\r\n\
             content-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
    };
    for (host, more) in [
        ("evil.example", ""),
        ("localhost", "origin: http://evil.example\r\n"),
        ("localhost", "sec-fetch-site: cross-site\r\n"),
    ] {
        let answer = server.raw(head(host, more).as_bytes()).await.unwrap();
        assert_eq!(answer.status, 403, "{host} {more}: {answer:?}");
    }
    server.post("/v2/setup/user", &user).send().await.expect(201);

    let reached = Server::start_at("0.0.0.0:0", std::slice::from_ref(&method));
    let answer = reached.post("/v2/setup/user", &user).send().await.expect(403);
    assert!(answer.text.contains("security.first_administrator"), "{answer:?}");
    assert_eq!(reached.get("/baton/v1/boot").send().await.expect(200).json()["setUp"], false);
    let told = Server::start_at("0.0.0.0:0", &[method, "security.setup=true".to_owned()]);
    assert!(told.log().contains("the set-up is open"), "{}", told.log());
    told.post("/v2/setup/user", &user).send().await.expect(201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_administrator_has_a_password_that_nobody_else_reads() {
    use std::os::unix::fs::MetadataExt as _;
    let settings = [
        "security.authentication.method=basic",
        "security.authorizations=true",
        "security.first_administrator=boss",
    ]
    .map(str::to_owned);
    let server = Server::start_at("0.0.0.0:0", &settings);
    let path = server.data().join("first-administrator");
    let text = std::fs::read_to_string(&path).unwrap();
    let [name, password] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text:?}") };
    assert_eq!((name, std::fs::metadata(&path).unwrap().mode() & 0o777), ("boss", 0o600));
    assert!(password.len() >= 20 && !server.log().contains(password), "{}", server.log());
    assert!(server.log().contains(path.to_str().unwrap()), "{}", server.log());
    let by = basic(name, password);
    server.get("/v2/users/boss").by(&by).send().await.expect(200);
    let user = json!({"username": "eve", "password": "long enough", "name": "Eve", "email": "e@example.com"});
    server.post("/v2/setup/user", &user).send().await.expect(403);
    server.post("/v2/users", &user).by(&by).send().await.expect(201);
    // There is one for good, also when the file and the user are gone.
    std::fs::remove_file(&path).unwrap();
    let server = server.restart();
    assert!(!path.exists());
    server.get("/v2/users/eve").by(&by).send().await.expect(200);
}

/// Methods and paths of all operations of a contract.
fn operations(contract: &str) -> Vec<(String, String, String)> {
    let contract: Value = serde_json::from_str(contract).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let operations = contract["operations"].as_array().unwrap().iter();
    operations.map(|it| (text(&it["id"]), text(&it["method"]), text(&it["path"]))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_users_nobody_else_is_answered() {
    let users = file(USERS);
    for more in [&[][..], &["security.authorizations=true"]] {
        let server = Server::start_at("0.0.0.0:0", &with_users(users.path(), more));
        let all = [
            operations(include_str!("../../../gateway/api/contract.json")),
            operations(include_str!("../../../gateway/api/baton.json")),
        ]
        .concat();
        assert!(all.len() > 183);
        for (id, method, path) in &all {
            let path = path.replace(['{', '}'], "1");
            let user = json!({"username": "eve", "password": "long enough", "name": "", "email": ""});
            let answer = server.ask(method, &path).json(&user).send().await;
            let wanted = match &**id {
                id if PUBLIC.contains(&id) => [200, 204],
                "createAdminUser" => [403; 2],
                _ => [401; 2],
            };
            assert!(wanted.contains(&answer.status), "{id}: {answer:?}");
        }
        for credentials in
            [basic("root", "wrong"), basic("", ""), "Bearer eyJ".to_owned(), "Basic".to_owned()]
        {
            server.get("/v2/topology").by(&credentials).send().await.expect(401);
        }
        for session in ["baton-session=x", "__Host-baton-session=x; X-CSRF-TOKEN=x"] {
            server.get("/v2/topology").header("cookie", session).send().await.expect(401);
        }
        let foreign =
            server.ask("POST", "/logout").header("origin", "http://evil.example").send().await.expect(403);
        assert_eq!(foreign.header("set-cookie"), None, "a browser would forget its session");
        over_grpc(&server).await;
        for (method, path) in MANAGEMENT {
            let answer = server.manage(method, path).await.expect(401);
            assert!(answer.header("www-authenticate").is_some(), "{answer:?}");
            server.manage_by(method, path, &basic("root", "wrong")).await;
        }
        for path in PROBES.iter().chain(&METRICS) {
            let answer = server.manage("GET", path).await;
            assert!(matches!(answer.status, 200 | 204), "{path}: {answer:?}");
        }
        server.manage_by("GET", "/actuator/exporters", &basic("root", "right")).await;
        let log = server.log();
        let failed: Vec<_> = log.lines().filter(|line| line.contains("a sign-in failed")).collect();
        assert!((1..=30).contains(&failed.len()), "{failed:#?}");
        assert!(failed[0].contains("user=\"root\" address=127.0.0.1 count=1"), "{failed:#?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_management_port_knows_the_users_too() {
    let users = file(USERS);
    let closed = ["management.open_probes=false", "management.open_metrics=false"];
    let server = Server::start(&with_users(users.path(), &closed));
    let root = basic("root", "right");
    for path in PROBES.iter().chain(&METRICS).chain(&["/actuator/exporters", "/actuator/info"]) {
        server.manage("GET", path).await.expect(401);
        let answer = server.manage_by("GET", path, &root).await;
        assert!(matches!(answer.status, 200 | 204), "{path}: {answer:?}");
    }
    let left_open = Server::start(&with_users(users.path(), &["management.authentication=false"]));
    left_open.manage("GET", "/actuator/exporters").await.expect(200);
}

async fn over_grpc(server: &Server) {
    let mut client = server.grpc().await;
    let stranger = basic("root", "wrong");
    macro_rules! refused {
        ($($method:ident $request:ident;)*) => {$(
            let bare = client.$method(pb::$request::default()).await.unwrap_err();
            assert_eq!(bare.code(), Code::Unauthenticated, "{}: {bare:?}", stringify!($method));
            let wrong = client.$method(call(pb::$request::default(), &stranger)).await.unwrap_err();
            // Too many wrong passwords are not looked at any more.
            let is_refused = matches!(wrong.code(), Code::Unauthenticated | Code::ResourceExhausted);
            assert!(is_refused, "{}: {wrong:?}", stringify!($method));
        )*};
    }
    refused! {
        activate_jobs ActivateJobsRequest;
        stream_activated_jobs StreamActivatedJobsRequest;
        cancel_process_instance CancelProcessInstanceRequest;
        complete_job CompleteJobRequest;
        create_process_instance CreateProcessInstanceRequest;
        create_process_instance_with_result CreateProcessInstanceWithResultRequest;
        evaluate_decision EvaluateDecisionRequest;
        deploy_resource DeployResourceRequest;
        fail_job FailJobRequest;
        throw_error ThrowErrorRequest;
        publish_message PublishMessageRequest;
        resolve_incident ResolveIncidentRequest;
        set_variables SetVariablesRequest;
        topology TopologyRequest;
        update_job_retries UpdateJobRetriesRequest;
        modify_process_instance ModifyProcessInstanceRequest;
        migrate_process_instance MigrateProcessInstanceRequest;
        update_job_timeout UpdateJobTimeoutRequest;
        delete_resource DeleteResourceRequest;
        broadcast_signal BroadcastSignalRequest;
        evaluate_conditional EvaluateConditionalRequest;
    }
}

/// Bytes that are no request of any protocol, or of another one than the port's.
fn noises() -> Vec<Vec<u8>> {
    let mut noises: Vec<Vec<u8>> = [
        &b"\0"[..],
        b"\r\n\r\n\r\n",
        b"GET /v2/topology\r\n\r\n",
        b"GET / HTTP/0.9\r\n\r\n",
        b"GET /v2/topology HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
        b"POST /v2/deployments HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /v2/deployments HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n",
        b"CONNECT 127.0.0.1:9600 HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"GET http://169.254.169.254/ HTTP/1.1\r\nhost: 169.254.169.254\r\nconnection: close\r\n\r\n",
        b"GET /../../../etc/passwd HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
        b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
        // A message of TLS, a preface of HTTP/2 with a broken frame, a call of gRPC-web, a frame of another broker.
        b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"POST /gateway_protocol.Gateway/Topology HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/grpc-web+proto\r\ncontent-length: 5\r\nconnection: close\r\n\r\n\0\0\0\0\0",
        b"BATN\x01\0\0\0\0\0\0\0",
    ]
    .map(<[u8]>::to_vec)
    .into();
    noises.push([b"GET /".to_vec(), vec![b'a'; 1 << 20]].concat());
    noises.push((0..=255).cycle().take(64 << 10).collect());
    noises
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn noise_at_any_port_is_no_more_than_refused() {
    let users = file(USERS);
    for settings in [vec!["security.open=true".to_owned()], with_users(users.path(), &[])] {
        let server = Server::start_at("0.0.0.0:0", &settings);
        for port in ["rest", "grpc", "management"] {
            for noise in noises() {
                let mut stream = TcpStream::connect(server.address(port)).await.unwrap();
                // A server that refuses by the first bytes does not take the rest.
                let _ = stream.write_all(&noise).await;
                let _ = stream.shutdown().await;
                let mut answer = Vec::new();
                let read = stream.read_to_end(&mut answer);
                let _ = tokio::time::timeout(PATIENCE, read).await.expect("the connection ends");
                let text = String::from_utf8_lossy(&answer);
                let is_fine = !text.starts_with("HTTP/1.1 2") && !text.contains("root:");
                let is_page = port == "rest" && text.contains("<!doctype html>");
                assert!(
                    is_fine || is_page,
                    "{port}: {:?} {text}",
                    String::from_utf8_lossy(&noise[..noise.len().min(80)])
                );
            }
        }
        server.manage("GET", "/metrics").await.expect(200);
        let log = server.log();
        assert!(!log.contains("ERROR") && !log.contains("panicked"), "{log}");
    }
}

/// Calls over gRPC as a browser could send them: HTTP/2 over TLS, with a body that needs no leave.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_makes_no_call_over_grpc() {
    let server = Server::start(&[]);
    for (name, value, code) in [
        ("origin", "http://evil.example", Code::PermissionDenied),
        ("origin", "null", Code::PermissionDenied),
        ("sec-fetch-site", "cross-site", Code::PermissionDenied),
        ("sec-fetch-site", "same-origin", Code::PermissionDenied),
    ] {
        let mut request = tonic::Request::new(pb::TopologyRequest::default());
        request.metadata_mut().insert(name, value.parse().unwrap());
        let refused = server.grpc().await.topology(request).await.unwrap_err();
        assert_eq!(refused.code(), code, "{name}: {value}");
    }
    server.grpc().await.topology(pb::TopologyRequest::default()).await.unwrap();
}

/// Everything below a directory, with its permissions.
fn modes(root: &std::path::Path, found: &mut Vec<(std::path::PathBuf, bool, u32)>) {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = std::fs::symlink_metadata(root).unwrap();
    found.push((root.to_owned(), metadata.is_dir(), metadata.mode() & 0o777));
    if metadata.is_dir() {
        for entry in std::fs::read_dir(root).unwrap() {
            modes(&entry.unwrap().path(), found);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_users_of_the_machine_read_nothing() {
    use std::os::unix::fs::PermissionsExt as _;
    let backups = tempfile::tempdir().unwrap();
    let settings = [
        "export.ndjson.enabled=true".to_owned(),
        format!("backup.directory={}", backups.path().display()),
        "state.flush_interval=100ms".to_owned(),
    ];
    let server = Server::start(&settings);
    server.ask("POST", "/v2/documents").file("file", "a.txt", "secret").send().await.expect(201);
    server.ask("PATCH", "/v2/mode?mode=RECOVERING").send().await.expect(200);
    server.post("/v2/backups/runtime", &json!({ "backupId": 1 })).send().await.expect(202);
    server.post("/v2/backups/history", &json!({ "backupId": 1 })).send().await.expect(202);
    for kind in ["runtime", "history"] {
        crate::server::eventually("the backup", async || {
            let path = format!("/v2/backups/{kind}/1");
            let answer = server.get(&path).send().await;
            (answer.status == 200 && answer.json()["state"] == "COMPLETED").then_some(())
        })
        .await;
    }
    let is_private = |root: &std::path::Path| {
        let mut found = vec![];
        modes(root, &mut found);
        assert!(found.len() > 1, "{found:?}");
        for (path, is_directory, mode) in found {
            assert_eq!(mode, if is_directory { 0o700 } else { 0o600 }, "{}", path.display());
        }
    };
    is_private(&server.data());
    is_private(&backups.path().join("1"));

    // Files that an earlier release left open are closed.
    let directory = server.stop();
    let data = directory.path().join("data");
    let mut found = vec![];
    modes(&data, &mut found);
    modes(&backups.path().join("1"), &mut found);
    for (path, is_directory, _) in found.into_iter().rev() {
        let mode = if is_directory { 0o755 } else { 0o644 };
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let server = Server::start_in(directory, settings.to_vec());
    is_private(&server.data());
    is_private(backups.path());
}
