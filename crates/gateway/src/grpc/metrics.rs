//! Metrics of gRPC calls. A handle is resolved when it is first needed, so that no series is there for what nobody
//! has called; a call costs two samples and two counts.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use broker_api::Timing;
use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};
use tonic::Code;
use tonic::metadata::MetadataMap;
use traces::{RequestTrace, TRACE_PARENT, Traced, Traces};

use super::status::code_name;

const SERVICE: &str = "gateway_protocol.Gateway";
/// Calls are for the one partition.
const PARTITION: &str = "1";
/// Codes of gRPC, from 0 on.
const CODES: usize = Code::Unauthenticated as usize + 1;

/// One method of the service.
pub(super) struct Method {
    name: &'static str,
    kind: &'static str,
    /// `VALUE_TYPE#INTENT` of the command behind it, as dashboards of the compatible system group by.
    request_type: &'static str,
    requests: OnceLock<Counter>,
    latency: OnceLock<Histogram>,
    ends: [OnceLock<CallEnd>; CODES],
    traces: Option<Traces>,
}

/// Handles of calls that end with one code.
struct CallEnd {
    handled: Counter,
    processing: Histogram,
    /// Unless the code is OK.
    failed: Option<Counter>,
}

impl Method {
    fn new(
        name: &'static str,
        kind: &'static str,
        request_type: &'static str,
        traces: Option<&Traces>,
    ) -> Arc<Self> {
        Arc::new(Self {
            name,
            kind,
            request_type,
            requests: OnceLock::new(),
            latency: OnceLock::new(),
            ends: [const { OnceLock::new() }; CODES],
            traces: traces.cloned(),
        })
    }

    /// Starts the measurement of one call.
    pub(super) fn start(self: &Arc<Self>, metadata: &MetadataMap) -> Call {
        let requests = || counter!("zeebe_gateway_total_requests_total", "partition" => PARTITION, "requestType" => self.request_type);
        self.requests.get_or_init(requests).increment(1);
        let traceparent = || metadata.get(TRACE_PARENT)?.to_str().ok();
        let traced = self.traces.as_ref().and_then(|traces| traces.choose(traceparent()));
        let method = Arc::clone(self);
        Call { method, started: Instant::now(), code: Code::Cancelled, timing: Timing::default(), traced }
    }

    fn latency(&self) -> &Histogram {
        let latency = || histogram!("zeebe_gateway_request_latency_seconds", "partition" => PARTITION, "requestType" => self.request_type);
        self.latency.get_or_init(latency)
    }

    fn end(&self, code: Code) -> &CallEnd {
        self.ends[code as usize].get_or_init(|| {
            let name = code_name(code);
            let failed = || {
                counter!("zeebe_gateway_failed_requests_total",
                    "partition" => PARTITION, "requestType" => self.request_type, "error" => name)
            };
            CallEnd {
                handled: counter!("grpc_server_handled_total", "grpc_service" => SERVICE, "grpc_method" => self.name,
                    "grpc_type" => self.kind, "grpc_code" => name, "code" => name),
                processing: histogram!("grpc_server_processing_duration_seconds", "service" => SERVICE,
                    "method" => self.name, "methodType" => self.kind, "statusCode" => name),
                failed: (code != Code::Ok).then(failed),
            }
        })
    }
}

/// A call under way. Dropped without an end, it counts as cancelled.
pub(super) struct Call {
    method: Arc<Method>,
    started: Instant,
    code: Code,
    timing: Timing,
    traced: Option<Traced>,
}

impl Call {
    /// Notes how the call ends.
    pub(super) fn ends(&mut self, code: Code) {
        self.code = code;
    }

    /// Notes what the call waited for.
    pub(super) fn took(&mut self, timing: Timing) {
        self.timing = timing;
    }

    /// By the names of OpenTelemetry's conventions for RPC.
    fn report(&mut self) {
        let Some((traces, traced)) = self.method.traces.as_ref().zip(self.traced.take()) else { return };
        let told = RequestTrace {
            name: self.method.name,
            attributes: &[
                ("rpc.system", "grpc"),
                ("rpc.service", SERVICE),
                ("rpc.method", self.method.name),
                ("rpc.grpc.status_code", code_name(self.code)),
            ],
            failed: matches!(self.code, Code::Internal | Code::Unavailable | Code::Unknown | Code::DataLoss),
            stages: &self.timing.stages(),
        };
        traces.report(traced, &told);
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.report();
        let method = &self.method;
        let seconds = self.started.elapsed().as_secs_f64();
        let end = method.end(self.code);
        end.processing.record(seconds);
        end.handled.increment(1);
        match &end.failed {
            None => method.latency().record(seconds),
            Some(failed) => failed.increment(1),
        }
    }
}

macro_rules! methods {
    ($($field:ident: $name:literal, $kind:literal, $request_type:literal;)*) => {
        /// Handles of all methods.
        pub(super) struct Metrics {
            $(pub(super) $field: Arc<Method>,)*
            pub(super) job_streams: Gauge,
            /// Jobs handed to streams.
            pub(super) pushed: Counter,
        }

        impl Metrics {
            pub(super) fn new(traces: Option<&Traces>) -> Self {
                Self {
                    $($field: Method::new($name, $kind, $request_type, traces),)*
                    job_streams: gauge!("zeebe_gateway_job_stream_clients"),
                    pushed: counter!("zeebe_gateway_job_stream_push_total", "status" => "success"),
                }
            }
        }
    };
}

methods! {
    activate_jobs: "ActivateJobs", "SERVER_STREAMING", "JOB_BATCH#ACTIVATE";
    stream_activated_jobs: "StreamActivatedJobs", "SERVER_STREAMING", "JOB_STREAM#OPEN";
    cancel_process_instance: "CancelProcessInstance", "UNARY", "PROCESS_INSTANCE#CANCEL";
    complete_job: "CompleteJob", "UNARY", "JOB#COMPLETE";
    create_process_instance: "CreateProcessInstance", "UNARY", "PROCESS_INSTANCE_CREATION#CREATE";
    create_with_result: "CreateProcessInstanceWithResult", "UNARY",
        "PROCESS_INSTANCE_CREATION#CREATE_WITH_AWAITING_RESULT";
    evaluate_decision: "EvaluateDecision", "UNARY", "DECISION_EVALUATION#EVALUATE";
    deploy_process: "DeployProcess", "UNARY", "DEPLOYMENT#CREATE";
    deploy_resource: "DeployResource", "UNARY", "DEPLOYMENT#CREATE";
    fail_job: "FailJob", "UNARY", "JOB#FAIL";
    throw_error: "ThrowError", "UNARY", "JOB#THROW_ERROR";
    publish_message: "PublishMessage", "UNARY", "MESSAGE#PUBLISH";
    resolve_incident: "ResolveIncident", "UNARY", "INCIDENT#RESOLVE";
    set_variables: "SetVariables", "UNARY", "VARIABLE_DOCUMENT#UPDATE";
    topology: "Topology", "UNARY", "TOPOLOGY#GET";
    update_job_retries: "UpdateJobRetries", "UNARY", "JOB#UPDATE_RETRIES";
    modify_process_instance: "ModifyProcessInstance", "UNARY", "PROCESS_INSTANCE_MODIFICATION#MODIFY";
    migrate_process_instance: "MigrateProcessInstance", "UNARY", "PROCESS_INSTANCE_MIGRATION#MIGRATE";
    update_job_timeout: "UpdateJobTimeout", "UNARY", "JOB#UPDATE_TIMEOUT";
    delete_resource: "DeleteResource", "UNARY", "RESOURCE_DELETION#DELETE";
    broadcast_signal: "BroadcastSignal", "UNARY", "SIGNAL#BROADCAST";
    evaluate_conditional: "EvaluateConditional", "UNARY", "CONDITIONAL_EVALUATION#EVALUATE";
}
