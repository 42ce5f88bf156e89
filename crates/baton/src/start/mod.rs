//! `baton start`: reads the configuration, puts the parts of the server together, and takes them apart again.
//!
//! The order matters: the management port answers first, so that probes see a start that takes long; the gateways
//! accept clients only when the broker runs. At the end the gateways stop first, then the broker, then the
//! management port. [`node`] is the only place that knows which broker it is.

mod access;
mod background;
mod backups;
mod changes;
mod descriptors;
mod exporters;
mod first_administrator;
mod flow_control;
mod history;
mod identity;
mod node;
mod options;
mod partitions;
mod ports;
mod ready;
mod restoring;
mod signals;
mod storage;
mod sweep;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use auth::{Cost, HashLimits, Hasher};
use broker::Supervisor;
use broker_api::Broker;
use gateway::management::{Gate, Management, Metrics, Renderer, Slot};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::cli::Start;
use crate::config::{self, Config, Identities};
use crate::failure::Failure;
use crate::logging;
use crate::private::{self, StillOpen};
use background::Background;
use descriptors::ConnectionLimits;
use history::{History, Maintenance};
use identity::SetUpTask;
use ports::Ports;
use ready::OpenPorts;
pub(crate) use ready::ReadyLine;

/// Variable of a server that is asked to stop when its parent ends.
pub(crate) const ENDS_WITH_PARENT: &str = "BATON_ENDS_WITH_PARENT";

/// How long threads that are busy may take once everything is stopped.
const THREADS_GRACE: Duration = Duration::from_secs(2);

/// Plants what the tests of the lab ask for.
#[cfg(feature = "plantable")]
fn plant() -> Result<(), Failure> {
    if let Ok(name) = std::env::var("PLANTED_BUG")
        && !planted::plant_named(&name)
    {
        return Err(Failure::usage(format!("there is no bug '{name}' to plant")));
    }
    if let Ok(millis) = std::env::var("PLANTED_SYNC_MS") {
        let millis = millis.parse().map_err(|_| Failure::usage(format!("'{millis}' is no number")))?;
        planted::slow_syncs(Duration::from_millis(millis));
    }
    Ok(())
}

pub(crate) fn run(arguments: &Start, began: Instant) -> Result<ExitCode, Failure> {
    if std::env::var_os(ENDS_WITH_PARENT).is_some() {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))
            .map_err(Failure::new)?;
    }
    #[cfg(feature = "plantable")]
    plant()?;
    let config = load(arguments)?;
    // It is read again where it is used; nothing is begun without it.
    config.secret_of_peers().map_err(Failure::usage)?;
    let loggers = logging::begin(&config)?;
    take_back(&config);
    restoring::finish(&config)?;
    let metrics = Metrics::install().map_err(Failure::new)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("baton")
        .build()
        .map_err(|error| Failure::new(format!("cannot start threads: {error}")))?;
    let slot = Slot::default();
    let management = Management {
        broker: slot.clone(),
        metrics,
        loggers,
        version: env!("CARGO_PKG_VERSION"),
        gate: Gate::new(options::closed(&config)),
        connections: gateway::Connections::new(options::connections(&config)),
        tls: None,
        // This very program, whatever has become of its file.
        renderer: Renderer { program: "/proc/self/exe".into(), arguments: vec!["profile-picture".into()] },
    };
    let again = CancellationToken::new();
    let ended = runtime.block_on(serve(&config, management, slot, began, &again));
    runtime.shutdown_timeout(THREADS_GRACE);
    ended?;
    if again.is_cancelled() {
        return Err(Failure::new(format!("cannot start again: {}", restoring::start_again())));
    }
    Ok(ExitCode::SUCCESS)
}

/// Closes the files of the server to others.
fn take_back(config: &Config) {
    let mut still_open = StillOpen::default();
    let documents = config.document_directories();
    for directory in config.own_directories() {
        private::take_back(&directory, &documents, &mut still_open);
    }
    still_open.warn();
}

fn load(arguments: &Start) -> Result<Config, Failure> {
    let named = [
        ("--data-dir", "data.directory", &arguments.data_dir),
        ("--rest", "rest.listen", &arguments.rest),
        ("--join", "cluster.join", &arguments.join),
        ("--grpc", "grpc.listen", &arguments.grpc),
        ("--management", "management.listen", &arguments.management),
        ("--log-level", "logging.level", &arguments.log_level),
        ("--log-format", "logging.format", &arguments.log_format),
    ];
    let general =
        arguments.settings.iter().map(|(key, text)| (format!("--set {key}"), key.clone(), text.clone()));
    let open = arguments.open.then(|| ("--open".to_owned(), "security.open".to_owned(), true.to_string()));
    let named = named.into_iter().filter_map(|(flag, key, text)| {
        text.as_ref().map(|text| (flag.to_owned(), key.to_owned(), text.clone()))
    });
    let flags = general.chain(named).chain(open).collect();
    config::load(arguments.config.as_deref(), std::env::vars_os(), flags).map_err(|error| {
        Failure::usage(format!("the configuration is wrong\n{error}"))
            .hint("`baton config` prints every key with its default")
    })
}

/// Entities of the configuration.
fn identities(config: &Config) -> Result<Identities, Failure> {
    let path = config.security.initialization.as_deref();
    path.map_or_else(|| Ok(Identities::default()), |path| Identities::read(path).map_err(Failure::usage))
}

async fn serve(
    config: &Config,
    management: Management,
    slot: Slot,
    began: Instant,
    again: &CancellationToken,
) -> Result<(), Failure> {
    let stop = signals::listen()?;
    let identities = identities(config)?;
    let hasher = Hasher::new(Cost::default(), HashLimits::default()).map_err(Failure::new)?;
    let documents = config
        .open_documents()
        .map_err(|error| Failure::new(format!("documents cannot be kept: {error}")))?;
    let traces = options::traces(config)
        .map_err(|error| Failure::usage(format!("the configuration is wrong: tracing.endpoint: {error}")))?;
    let ports = Ports::bind(config).await?;
    let ready = ports.ready_line(config)?;
    let open = ports.open(config)?;
    open.warn();

    let mut background = Background::default();
    let management_stop = background.stop.clone();
    let tls_of_rest = access::tls(config.tls_of_rest(), "rest.tls", b"http/1.1", &management_stop)?;
    let tls_of_grpc = access::tls(config.tls_of_grpc(), "grpc.tls", b"h2", &management_stop)?;
    let tls = access::tls(config.tls_of_management(), "management.tls", b"http/1.1", &management_stop)?;
    let gate = gate(config, &management)?;
    let connections = management.connections.clone();
    let wanted = ConnectionLimits { rest: config.rest.max_connections, grpc: config.grpc.max_connections };
    let limits = descriptors::fit(wanted);
    let management = Management { tls, gate: gate.clone(), ..management };
    let rest_address = ports.rest.local_addr().map_err(Failure::new)?.ip();
    let grpc_port = ports.grpc.local_addr().map_err(Failure::new)?.port();
    background.spawn(sweep::keep(documents.clone(), management_stop.clone()));
    background.spawn(management.metrics.clone().keep(management_stop.clone()));
    background.spawn(gateway::management::serve(ports.management, management, management_stop.clone()));
    let cluster_part = node::cluster_part(config, ports.peers, &management_stop)?;
    let in_cluster = cluster_part.is_some();
    let (node, storage, cleaning) = tokio::select! {
        started = start_node(config, grpc_port, cluster_part, &slot, again.clone()) => started?,
        () = stop.cancelled() => {
            tracing::info!("stopped before the broker was started");
            return Ok(());
        }
    };
    if let Some(cleaning) = cleaning {
        background.spawn(history::keep(config, cleaning, node::sweeps(&node), management_stop.clone()));
    }

    let broker: Arc<dyn Broker> = node.clone();
    let set_up_task = Arc::new(SetUpTask::new(config, identities, rest_address, &broker, &hasher));
    let set_up = set_up_task.access;
    begin_set_up(&set_up_task, in_cluster, &mut background).await?;
    let changes = changes::Changes::new(config, &broker, set_up_task, storage.as_ref(), &documents);
    background.spawn(changes.keep(background.stop.clone()));
    let access = access::access(config, &broker, &hasher)?;
    gate.set(access.clone(), Arc::clone(&broker));
    let gateways_stop = CancellationToken::new();
    let tells_positions = storage.is_some();
    let entrance = access::Entrance::new(config, access.clone(), set_up, hasher);
    let shared = options::StartState { access, connections, limits, traces: traces.clone() };
    let gateways = start_gateways(
        ports.rest,
        ports.grpc,
        options::rest(config, shared.clone(), documents, storage, slot.clone(), entrance, tls_of_rest),
        options::grpc(config, shared, tls_of_grpc, tells_positions),
        broker,
        &gateways_stop,
    );
    until_told(&node, ready, &open, began, signals::any(&stop, again)).await;
    gateways_stop.cancel();
    await_end(gateways).await?;
    node.shutdown().await;
    background.end(traces).await;
    tracing::info!("stopped");
    Ok(())
}

/// Sets up what is there at first. In a cluster it waits for a leader; the ports answer meanwhile.
async fn begin_set_up(
    task: &Arc<SetUpTask>,
    in_cluster: bool,
    background: &mut Background,
) -> Result<(), Failure> {
    if !in_cluster {
        return task.run().await;
    }
    background.spawn(Arc::clone(task).keep_trying(background.stop.clone()));
    Ok(())
}

/// Starts the broker with its secondary storage: the numbers of all brokers tell whether it has a copy.
async fn start_node(
    config: &Config,
    grpc_port: u16,
    mut cluster_part: Option<node::ClusterPart>,
    slot: &Slot,
    again: CancellationToken,
) -> Result<(Arc<Supervisor>, Option<gateway::rest::Storage>, Option<history::Upkeep>), Failure> {
    let brokers = match &mut cluster_part {
        Some(part) => Box::pin(part.numbers(config, grpc_port)).await?,
        None => Vec::new(),
    };
    if let Some(wrong) = config.cluster.spread.contradiction(brokers.len().max(1)) {
        return Err(Failure::usage(format!("the configuration is wrong: {wrong}")));
    }
    let opened = storage::open(config, &brokers)?;
    let maintenance = Arc::new(Maintenance::default());
    let history = History { maintenance: Arc::clone(&maintenance), progress: opened.progress };
    let node = node::start(config, grpc_port, opened.feed, cluster_part, (slot, history), again).await?;
    let upkeep = opened.cleaning.map(|cleaning| history::Upkeep { cleaning, maintenance });
    Ok((node, opened.storage, upkeep))
}

/// The gate of the management port, with the hosts and sites that it is asked by.
fn gate(config: &Config, management: &Management) -> Result<Gate, Failure> {
    let hosts = config.hosts(config.has_management_authentication());
    Ok(management.gate.clone().with_sites(hosts, config.allowed_origins().map_err(Failure::usage)?))
}

/// Tells when the broker serves, until the server is told to stop; then, whoever waits for long is answered.
async fn until_told(
    node: &Supervisor,
    ready: ReadyLine,
    open: &OpenPorts,
    began: Instant,
    told: impl Future<Output = ()>,
) {
    tokio::pin!(told);
    tokio::select! {
        // A broker of a cluster may have to wait for its leader first.
        () = node.served() => {
            ReadyLine { milliseconds: began.elapsed().as_millis(), ..ready }.print(open);
            told.await;
        }
        () = &mut told => {}
    }
    tracing::info!("stopping: no new requests are taken");
    node.leave();
}

async fn await_end(gateways: [JoinHandle<Result<(), Failure>>; 2]) -> Result<(), Failure> {
    for gateway in gateways {
        gateway.await.map_err(|error| Failure::new(format!("a gateway failed: {error}")))??;
    }
    Ok(())
}

fn start_gateways(
    rest: TcpListener,
    grpc: TcpListener,
    rest_options: gateway::rest::Options,
    grpc_options: gateway::grpc::Options,
    broker: Arc<dyn Broker>,
    stop: &CancellationToken,
) -> [JoinHandle<Result<(), Failure>>; 2] {
    let serving = gateway::rest::serve(rest, Arc::clone(&broker), rest_options, stop.clone());
    let rest = tokio::spawn(async {
        serving.await.map_err(|error| Failure::new(format!("the REST gateway failed: {error}")))
    });
    let serving = gateway::grpc::serve(grpc, broker, grpc_options, stop.clone());
    let grpc = tokio::spawn(async {
        serving.await;
        Ok(())
    });
    [rest, grpc]
}
