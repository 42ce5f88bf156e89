//! Traces by the SDK of OpenTelemetry.

use std::time::{Duration, SystemTime};

use opentelemetry::trace::{
    Span, SpanBuilder, SpanContext, SpanId, SpanKind, Status, TraceContextExt, TraceFlags, TraceId,
    TraceState, Tracer, TracerProvider,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{IdGenerator, RandomIdGenerator, Sampler, SdkTracer, SdkTracerProvider};

use crate::{RequestTrace, Settings};

/// Traces cannot be sent.
#[derive(Debug, thiserror::Error)]
#[error("traces cannot be sent: {0}")]
pub struct StartError(#[from] opentelemetry_otlp::ExporterBuildError);

/// Chooses requests and tells of them.
#[derive(Debug, Clone)]
pub struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    ratio: f64,
}

/// A request that is traced.
#[derive(Debug)]
pub struct Traced {
    parent: Context,
    started: SystemTime,
}

impl Traces {
    /// Begins; within a runtime, which carries the connection.
    pub fn start(settings: &Settings) -> Result<Self, StartError> {
        let exporter = SpanExporter::builder().with_tonic().with_endpoint(&settings.endpoint).build()?;
        let resource = Resource::builder().with_service_name(settings.service.clone()).build();
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            // The sampled requests were chosen before.
            .with_sampler(Sampler::AlwaysOn)
            .with_resource(resource)
            .build();
        Ok(Self { tracer: provider.tracer("baton"), provider, ratio: settings.ratio })
    }

    /// Sends what is left. Blocks for a moment.
    pub fn stop(&self) {
        // An unreachable collector gets nothing more.
        let _ = self.provider.shutdown();
    }

    /// Whether a request is traced, by what it says in the header [`crate::TRACE_PARENT`].
    pub fn choose(&self, traceparent: Option<&str>) -> Option<Traced> {
        let parent = traceparent.and_then(parent);
        let (is_chosen, parent) = match parent {
            Some(parent) => (parent.is_sampled(), Context::new().with_remote_span_context(parent)),
            None => (random() < self.ratio, Context::new()),
        };
        is_chosen.then(|| Traced { parent, started: SystemTime::now() })
    }

    /// Tells of a request that was answered just now.
    pub fn report(&self, traced: Traced, told: &RequestTrace<'_>) {
        let ended = SystemTime::now();
        let attributes =
            told.attributes.iter().map(|(name, value)| KeyValue::new(*name, (*value).to_owned()));
        let mut span = self.tracer.build_with_context(
            SpanBuilder::from_name(told.name)
                .with_kind(SpanKind::Server)
                .with_start_time(traced.started)
                .with_attributes(attributes.collect::<Vec<_>>()),
            &traced.parent,
        );
        if told.failed {
            span.set_status(Status::error(""));
        }
        let inside = traced.parent.with_span(span);
        let all: Duration = told.stages.iter().map(|(_, took)| *took).sum();
        let mut at = ended.checked_sub(all).map_or(traced.started, |at| at.max(traced.started));
        for (name, took) in told.stages.iter().filter(|(_, took)| !took.is_zero()) {
            let builder = SpanBuilder::from_name(*name).with_kind(SpanKind::Internal).with_start_time(at);
            let mut stage = self.tracer.build_with_context(builder, &inside);
            at += *took;
            stage.end_with_timestamp(at);
        }
        inside.span().end_with_timestamp(ended);
    }
}

/// From 0 up to 1, by the generator that makes the identities.
fn random() -> f64 {
    let random = RandomIdGenerator::default().new_span_id();
    u64::from_be_bytes(random.to_bytes()) as f64 / u64::MAX as f64
}

/// Fields of the header by the W3C: version, trace, span, flags.
fn parent(header: &str) -> Option<SpanContext> {
    let mut parts = header.trim().split('-');
    let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let hex = |text: &str, length: usize| {
        text.len() == length && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    // Later versions may append parts.
    let is_whole = version != "00" || parts.next().is_none();
    if !is_whole || version == "ff" || !hex(version, 2) || !hex(trace, 32) || !hex(span, 16) || !hex(flags, 2)
    {
        return None;
    }
    let flags = u8::from_str_radix(flags, 16).ok()?;
    let context = SpanContext::new(
        TraceId::from_hex(trace).ok()?,
        SpanId::from_hex(span).ok()?,
        TraceFlags::new(flags) & TraceFlags::SAMPLED,
        true,
        TraceState::default(),
    );
    context.is_valid().then_some(context)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_of_the_w3c_is_read() {
        let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let read = parent(text).unwrap();
        assert_eq!(read.trace_id().to_string(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(read.span_id().to_string(), "b7ad6b7169203331");
        assert!(read.is_sampled() && read.is_remote());
        assert!(!parent(&text.replace("-01", "-00")).unwrap().is_sampled());
        assert!(parent(&text.replace("00-0", "cc-0").replace("-01", "-01-what-comes")).is_some());
    }

    #[test]
    fn what_is_no_such_header_is_ignored() {
        for text in [
            "",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319é-b7ad6b7169203331-01",
        ] {
            assert!(parent(text).is_none(), "{text}");
        }
    }
}
