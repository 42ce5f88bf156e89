//! The text that is written for Prometheus.

use gateway::management::Metrics;

/// The number of lines of a metric's buckets.
fn buckets(text: &str, name: &str) -> usize {
    let start = format!("{name}_bucket");
    text.lines().filter(|line| line.starts_with(&start)).count()
}

#[test]
fn histograms_without_samples_are_left_out_and_nothing_else() {
    let (recorder, metrics) = Metrics::recorder();
    metrics::with_local_recorder(&recorder, || {
        metrics::histogram!("used_seconds", "kind" => "a").record(0.002);
        let _ = metrics::histogram!("used_seconds", "kind" => "b");
        let _ = metrics::histogram!("unused_seconds");
        let _ = metrics::counter!("zero_count");
        metrics::gauge!("zero").set(0.0);
    });
    let text = metrics.render();
    assert!(!text.contains("unused_seconds") && !text.contains("kind=\"b\""), "{text}");
    let lines: Vec<_> = text.lines().collect();
    for line in [
        "# TYPE used_seconds histogram",
        "used_seconds_bucket{kind=\"a\",le=\"0.001\"} 0",
        "used_seconds_bucket{kind=\"a\",le=\"0.0025\"} 1",
        "used_seconds_count{kind=\"a\"} 1",
        "zero_count 0",
        "zero 0",
    ] {
        assert!(lines.contains(&line), "{line} in {text}");
    }
    assert_eq!(buckets(&text, "used_seconds"), 15);
    assert!(
        lines.iter().any(|line| line.starts_with("process_cpu_seconds_total ")),
        "the next one has its line"
    );
}

#[test]
fn families_have_buckets_of_their_range() {
    let (recorder, metrics) = Metrics::recorder();
    let bounds = [
        ("zeebe_log_appender_commit_latency_seconds", "0.0001", "5"),
        ("atomix_journal_flush_time_seconds", "0.0001", "5"),
        ("zeebe_stream_processor_batch_processing_commands", "1", "4096"),
        ("zeebe_job_life_time_seconds", "0.001", "86400"),
        ("http_server_requests_seconds", "0.0005", "30"),
        ("zeebe_sequencer_batch_length_bytes", "0.25", "16384"),
    ];
    metrics::with_local_recorder(&recorder, || {
        for (name, ..) in bounds {
            metrics::histogram!(name).record(1.0);
        }
    });
    let text = metrics.render();
    for (name, least, most) in bounds {
        let of_name: Vec<_> =
            text.lines().filter(|line| line.starts_with(&format!("{name}_bucket"))).collect();
        assert!(of_name[0].contains(&format!("le=\"{least}\"")), "{of_name:?}");
        // The last one is infinite.
        assert!(of_name[of_name.len() - 2].contains(&format!("le=\"{most}\"")), "{of_name:?}");
        assert!(of_name.len() <= 16, "{of_name:?}");
    }
}
