//! Very wide instances: one after the other, to see how long each takes and what others suffer.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use client::CreateInstance;

use super::server::deployed;
use crate::Error;

const LARGE_BPMN: &str = include_str!("../../models/large.bpmn");
/// An instance that takes longer is given up.
const WAIT_MAX: Duration = Duration::from_mins(2);

/// Runs instances of a parallel multi-instance with so many elements until told to stop; how long each took, in
/// microseconds.
pub(super) async fn one_after_the_other(
    address: String,
    elements: u64,
    stop: Arc<AtomicBool>,
) -> Result<Vec<f64>, Error> {
    let client = deployed(address, WAIT_MAX, "large.bpmn", LARGE_BPMN).await?;
    let items: Vec<String> = (0..elements).map(|item| item.to_string()).collect();
    let variables = format!(r#"{{"items":[{}]}}"#, items.join(","));
    let command = CreateInstance { variables: Some(&variables), ..CreateInstance::latest("large") };
    let mut times = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let begin = Instant::now();
        client
            .create_instance_with_result(&command, &["nothing"], WAIT_MAX)
            .await
            .map_err(Error::request("run the wide process"))?;
        times.push(begin.elapsed().as_micros() as f64);
    }
    Ok(times)
}
