//! Settings as the parts of the server take them.

use std::path::Path;

use broker::{
    Algorithm, DiskOptions, FlowControlOptions, IngressOptions, JobOptions, StateOptions, ThrottleOptions,
    WriteLimitOptions,
};
use documents::Stores;
use export::{NdjsonOptions, StreamOptions};
use gateway::management::{Closed, Slot};
use protocol::IdempotencySettings;
use traces::Traces;

use super::access::Entrance;
use super::descriptors::ConnectionLimits;
use super::storage::sqlite_options;
use crate::config::{self, Compression, Config, StorageKind};

/// How long requests under way may take once the gateways stop. Shorter than orchestrators wait before they kill.
const STOP_GRACE: std::time::Duration = std::time::Duration::from_secs(5);

/// Of both gateways alike.
#[derive(Clone)]
pub(super) struct StartState {
    pub(super) access: gateway::Access,
    pub(super) connections: gateway::Connections,
    pub(super) limits: ConnectionLimits,
    pub(super) traces: Option<Traces>,
}

/// Requests at the management port that need credentials.
pub(super) fn closed(config: &Config) -> Closed {
    let requests = config.has_management_authentication();
    Closed {
        requests,
        probes: requests && !config.management.gate.open_probes,
        metrics: requests && !config.management.gate.open_metrics,
    }
}

/// Of the connections of all ports.
pub(super) fn connections(config: &Config) -> gateway::ConnectionSettings {
    let section = &config.connections;
    gateway::ConnectionSettings {
        head_timeout: section.head_timeout,
        slow_timeout: section.slow_timeout,
        per_address: section.max_per_address,
        transfer_bytes: section.transfer_bytes.0 as usize,
    }
}

/// Of the REST gateway.
pub(super) fn rest(
    config: &Config,
    StartState { connections, limits, traces, .. }: StartState,
    documents: Stores,
    storage: Option<gateway::rest::Storage>,
    operations: Slot,
    entrance: Entrance,
    tls: Option<std::sync::Arc<auth::ServerTls>>,
) -> gateway::rest::Options {
    let rest = &config.rest;
    let Entrance { access, set_up, hosts, set_up_hosts, hasher } = entrance;
    gateway::rest::Options {
        max_connections: limits.rest,
        idle_timeout: rest.idle_timeout,
        body_timeout: rest.body_timeout,
        await_timeout: rest.await_timeout,
        long_poll_timeout: rest.long_poll_timeout,
        stop_timeout: STOP_GRACE,
        server_timing: rest.server_timing,
        set_up,
        password_length_min: config.security_authentication.min_password_length,
        documents,
        tenancy: tenancy(config),
        storage,
        operations,
        secrets: secrets(config),
        access,
        hosts,
        set_up_hosts,
        base_path: config.web.base_path.0.clone(),
        connections,
        tls,
        hasher,
        traces,
        #[cfg(feature = "web")]
        pages: pages(config),
    }
}

/// The web application, unless it is turned off.
#[cfg(feature = "web")]
fn pages(config: &Config) -> Option<gateway::Pages> {
    let section = &config.web;
    let settings = gateway::PageSettings {
        title: section.title.0.clone(),
        frame_ancestors: section.frame_ancestors.0.clone(),
        image_origins: section.image_origins.0.clone(),
        base: section.base_path.0.prefix().to_owned(),
    };
    section.enabled.then(|| gateway::Pages::new(&settings))
}

/// Secrets of files and of the environment.
fn secrets(config: &Config) -> gateway::Secrets {
    let section = &config.secrets;
    let is_text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    gateway::Secrets::new(
        section.directory.clone(),
        section.environment_prefix.as_ref().map_or("", |prefix| prefix.0.as_str()),
        std::env::vars_os().filter_map(is_text),
    )
}

/// Traces, if there are any.
pub(super) fn traces(config: &Config) -> Result<Option<Traces>, traces::StartError> {
    let config::Tracing { enabled, endpoint, ratio, service } = &config.tracing;
    let settings =
        traces::Settings { endpoint: endpoint.0.clone(), ratio: *ratio, service: service.0.clone() };
    enabled.then(|| Traces::start(&settings)).transpose()
}

/// Of both gateways.
fn tenancy(config: &Config) -> gateway::Tenancy {
    gateway::Tenancy { is_enabled: config.multi_tenancy.enabled }
}

/// Of the gRPC gateway.
pub(super) fn grpc(
    config: &Config,
    StartState { access, connections, limits, traces }: StartState,
    tls: Option<std::sync::Arc<auth::ServerTls>>,
    tells_positions: bool,
) -> gateway::grpc::Options {
    let grpc = &config.grpc;
    gateway::grpc::Options {
        poll_timeout: grpc.long_poll_timeout,
        result_timeout: grpc.await_timeout,
        listener_timeout: grpc.listener_timeout,
        connections_max: limits.grpc,
        calls_per_connection_max: grpc.max_calls_per_connection,
        message_timeout: grpc.message_timeout,
        idle_timeout: grpc.idle_timeout,
        keep_alive_interval: grpc.keep_alive_interval,
        keep_alive_timeout: grpc.keep_alive_timeout,
        shutdown_grace: STOP_GRACE,
        tenancy: tenancy(config),
        access,
        connections,
        tls,
        traces,
        tells_positions,
    }
}

/// Where the engine is to stand still, in builds for tests.
fn stall_at() -> Option<protocol::Name> {
    if !cfg!(debug_assertions) {
        return None;
    }
    std::env::var("STALL_BATON_AT").ok().map(|element| protocol::Name::from(element.as_str()))
}

/// Of the broker; `grpc_port` is what clients find in the topology.
pub(super) fn broker(config: &Config, grpc_port: u16) -> broker::Options {
    let defaults = broker::Options::new(&config.data.directory);
    let Config { cluster, limits, .. } = config;
    broker::Options {
        backups: config.backup.directory.clone(),
        cluster_id: cluster.id.0.clone(),
        advertised_host: cluster.advertised_host.0.clone(),
        advertised_port: grpc_port,
        expression_timeout: limits.expression_timeout,
        max_evaluations_at_once: limits.max_evaluations_at_once,
        disk: disk(config),
        peers: peers(config),
        balances_leaders: cluster.spread.balance_leaders,
        partition: partition(config, defaults.partition.clone()),
        ..defaults
    }
}

/// Of each partition.
fn partition(config: &Config, defaults: broker::PartitionOptions) -> broker::PartitionOptions {
    let Config { cluster, data, jobs, limits, log, partition, state, .. } = config;
    broker::PartitionOptions {
        node_id: cluster.node_id,
        max_message_bytes: limits.max_message_bytes.0 as usize,
        max_outbox_messages: cluster.spread.max_outbox_messages,
        controlled_clock: config.clock.controlled,
        global_listeners: config.user_tasks.listeners.0.clone(),
        unique_business_ids: config.instances.unique_business_ids,
        work: work_limits(config),
        idempotency: idempotency(config),
        bpmn: bpmn::Limits {
            max_bytes: limits.max_message_bytes.0 as usize,
            max_depth: limits.max_bpmn_depth,
            max_xml_elements: limits.max_bpmn_xml_elements,
            max_flow_elements: limits.max_bpmn_flow_elements,
            ..defaults.bpmn.clone()
        },
        dmn: dmn::Limits {
            max_bytes: limits.max_message_bytes.0 as usize,
            max_depth: limits.max_dmn_depth,
            max_xml_elements: limits.max_dmn_xml_elements,
            max_cells: limits.max_dmn_cells,
            max_requirement_depth: limits.max_dmn_requirement_depth,
            ..defaults.dmn.clone()
        },
        ingress: IngressOptions {
            max_batch_commands: partition.max_batch_commands,
            max_batch_bytes: partition.max_batch_bytes.0 as usize,
            max_batches_in_flight: partition.max_batches_in_flight,
        },
        flow_control: flow_control(config),
        write_limit: write_limit(config),
        jobs: JobOptions {
            stream_buffer: jobs.stream_buffer,
            first_stream_credit: jobs.first_stream_credit,
            first_stream_credits: jobs.first_stream_credits.0.clone(),
            max_stream_credit: jobs.max_stream_credit,
            max_demand_per_batch: jobs.max_demand_per_batch,
        },
        state: StateOptions {
            flush_interval: state.flush_interval,
            flush_bytes: state.flush_bytes.0 as usize,
            page_cache_bytes: state.page_cache_bytes.0 as usize,
            value_cache_bytes: state.value_cache_bytes.0,
        },
        log: replication::LogOptions {
            segment_bytes: log.segment_bytes.0,
            retained_bytes: log.retained_bytes.0,
            compression_threshold_bytes: log.compression_threshold_bytes.0,
            cached_bytes_per_group: log.cache_bytes.0 as usize,
            min_free_bytes: data.min_free_log_bytes.0,
            ..defaults.log.clone()
        },
        log_kept_bytes: log.kept_bytes.0,
        apply_watch: broker::ApplyWatch::new(defaults.number, partition.max_apply_time),
        stall_at: stall_at(),
        export: export_options(config),
        ..defaults
    }
}

/// Disks that must have room: where the data are and, in a cluster, where another broker can lead, that of the embedded
/// store.
fn disk(config: &Config) -> DiskOptions {
    let store = sqlite_options(config).path;
    let has_store =
        config.secondary_storage.kind == StorageKind::Sqlite && !config.cluster.brokers.0.is_empty();
    let directory = &config.data.directory;
    let further = store.parent().filter(|parent| has_store && *parent != directory).map(Path::to_owned);
    DiskOptions {
        min_free_bytes: config.data.min_free_bytes.0,
        check_interval: config.data.disk_check_interval,
        further: further.into_iter().collect(),
        ..DiskOptions::default()
    }
}

/// Connections to other brokers; certificates and the secret come later.
fn peers(config: &Config) -> broker::PeerOptions {
    let peers = &config.peers;
    broker::PeerOptions {
        certificates: None,
        secret: None,
        settings: std::sync::Arc::new(config.shared_settings()),
        compresses: peers.compression == Compression::Lz4,
        snapshot_bytes_per_second: peers.snapshot_bytes_per_second.0,
    }
}

/// Export of records, and the exporters.
fn export_options(config: &Config) -> export::Options {
    let Config { data, export, export_ndjson, .. } = config;
    let defaults = export::Options::default();
    export::Options {
        unwanted_elsewhere: None,
        stream: StreamOptions {
            memory_bytes: export.memory_bytes.0 as usize,
            spill_segment_bytes: export.spill_segment_bytes.0,
            spill_max_bytes: export.max_spill_bytes.0,
            flush_interval: export.flush_interval,
            park_after: export.park_after,
            ..defaults.stream
        },
        ndjson: NdjsonOptions {
            enabled: export_ndjson.enabled,
            directory: Some(data.directory.join(&export_ndjson.directory)),
            max_file_bytes: export_ndjson.max_file_bytes.0,
            max_files: export_ndjson.max_files as usize,
        },
        others: records(config).into_iter().collect(),
    }
}

fn work_limits(Config { limits, .. }: &Config) -> broker::WorkLimits {
    broker::WorkLimits {
        max_fuel_per_command: limits.max_fuel_per_command,
        max_fuel_per_step: limits.max_fuel_per_step,
        max_bytes_per_step: limits.max_bytes_per_step.0 as usize,
        max_evaluation_bytes: limits.max_evaluation_bytes.0,
        max_variable_bytes: limits.max_variable_bytes.0 as usize,
        max_collection_bytes: limits.max_collection_bytes.0 as usize,
        max_instance_variable_bytes: limits.max_instance_variable_bytes.0,
        max_record_bytes_per_command: limits.max_record_bytes_per_command.0,
        max_entries_per_command: limits.max_entries_per_command,
        max_scope_variables: limits.max_scope_variables,
    }
}

fn idempotency(Config { idempotency, .. }: &Config) -> IdempotencySettings {
    IdempotencySettings {
        keep_ms: idempotency.keep.as_millis() as u64,
        max_keys: idempotency.max_keys,
        max_bytes: idempotency.max_bytes.0,
    }
}

fn write_limit(config: &Config) -> WriteLimitOptions {
    let (write, throttle) = (&config.flow_control_write, &config.flow_control_write_throttle);
    WriteLimitOptions {
        enabled: write.enabled,
        limit: write.limit,
        ramp_up: write.ramp_up,
        throttle: ThrottleOptions {
            enabled: throttle.enabled,
            acceptable_backlog: throttle.acceptable_backlog,
            minimum_limit: throttle.minimum_limit,
            resolution: throttle.resolution,
        },
    }
}

/// The exporter of records to OpenSearch or Elasticsearch, if there shall be one.
#[cfg(feature = "opensearch")]
fn records(config: &Config) -> Option<export::Factory> {
    let options = config.export_opensearch.enabled.then(|| config.opensearch_records())?;
    let make = std::sync::Arc::new(move |partition| -> Box<dyn export::Exporter> {
        Box::new(opensearch::RecordExporter::new(partition, options.clone()))
    });
    Some(export::Factory { make, unwanted: &[], copies: None, shown: None })
}

/// None is built in; the configuration was checked for that.
#[cfg(not(feature = "opensearch"))]
fn records(_: &Config) -> Option<export::Factory> {
    None
}

fn flow_control(config: &Config) -> FlowControlOptions {
    let flow = &config.flow_control;
    FlowControlOptions {
        algorithm: match flow.algorithm {
            config::Algorithm::Aimd => Algorithm::Aimd {
                request_timeout: config.flow_control_aimd.request_timeout,
                backoff_ratio: config.flow_control_aimd.backoff_ratio,
            },
            config::Algorithm::Fixed => Algorithm::Fixed,
            config::Algorithm::Vegas => Algorithm::Vegas {
                alpha: config.flow_control_vegas.alpha,
                beta: config.flow_control_vegas.beta,
            },
            config::Algorithm::Gradient => {
                Algorithm::Gradient { rtt_tolerance: config.flow_control_gradient.rtt_tolerance }
            }
        },
        initial_limit: flow.initial_limit,
        min_limit: flow.min_limit,
        max_limit: flow.max_limit,
        overflow: match flow.overflow {
            config::Overflow::Wait => broker::Overflow::Wait,
            config::Overflow::Reject => broker::Overflow::Reject,
        },
        max_wait: flow.max_wait,
        max_waiting: flow.max_waiting,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_broker() {
        let (ours, mut theirs) = (broker(&Config::default(), 26500), broker::Options::new("data"));
        // Left out, the broker finds this place by itself.
        theirs.partition.export.ndjson.directory = Some("data/export/ndjson".into());
        // Told to other brokers, for comparison.
        theirs.peers.settings.clone_from(&ours.peers.settings);
        let (ours, theirs) = (format!("{ours:#?}"), format!("{theirs:#?}"));
        for (ours, theirs) in ours.lines().zip(theirs.lines()) {
            assert_eq!(ours, theirs);
        }
        assert_eq!(ours.len(), theirs.len());
    }
}
