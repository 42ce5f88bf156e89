//! Flow control, as the management port shows and changes it.

use std::time::Duration;

use broker::{Node, Partition, ThrottleOptions, WriteLimitOptions};
use gateway::management::OperationError;
use serde_json::{Map, Value, json};

use crate::config::Setting;

type Members = Map<String, Value>;

/// Flow control of each partition.
pub(super) fn show(node: &Node) -> Value {
    let all = node.partitions().into_iter();
    all.map(|(number, partition)| (number.to_string(), show_one(&partition))).collect::<Members>().into()
}

fn show_one(partition: &Partition) -> Value {
    let requests = partition.flow_control().status();
    let write = partition.write_limit().status();
    let WriteLimitOptions { enabled, limit, ramp_up, throttle } = write.options;
    json!({
        "limit": requests.limit,
        "inFlight": requests.in_flight,
        "waiting": requests.waiting,
        "rejected": requests.rejected,
        "writeRateLimit": {
            "enabled": enabled,
            "limit": limit,
            "rampUp": ramp_up.show(),
            "throttling": {
                "enabled": throttle.enabled,
                "acceptableBacklog": throttle.acceptable_backlog,
                "minimumLimit": throttle.minimum_limit,
                "resolution": throttle.resolution.show(),
            },
            "currentLimit": write.limit.map(f64::round),
            "exportingRate": write.exporting_rate.round(),
            "waiting": write.waiting,
        },
    })
}

/// Changes the limits of all partitions. Everything is looked at before anything changes.
pub(super) fn change(node: &Node, change: &Value) -> Result<(), OperationError> {
    let change = read(change, node.write_limit().status().options).map_err(OperationError::Invalid)?;
    for partition in node.partitions().values() {
        if let Some(limit) = change.requests {
            partition.flow_control().set_limit(limit);
        }
        if let Some(options) = &change.write {
            partition.write_limit().set(options.clone());
        }
    }
    Ok(())
}

#[derive(Debug, PartialEq)]
struct Change {
    requests: Option<usize>,
    write: Option<WriteLimitOptions>,
}

fn read(change: &Value, write: WriteLimitOptions) -> Result<Change, String> {
    let members = members(change, "the body")?;
    let mut read = Change { requests: None, write: None };
    for (name, value) in members {
        match name.as_str() {
            "limit" => read.requests = Some(above_zero("limit", value)? as usize),
            "write" | "writeRateLimit" => read.write = Some(write_limit(name, value, write.clone())?),
            _ => return Err(unknown("", name, "'limit' and 'write'")),
        }
    }
    if read.requests.is_none() && read.write.is_none() {
        return Err("Expected {\"limit\": N} with N above 0, or {\"write\": …}".to_owned());
    }
    Ok(read)
}

fn write_limit(of: &str, value: &Value, mut options: WriteLimitOptions) -> Result<WriteLimitOptions, String> {
    for (name, value) in members(value, of)? {
        let path = format!("{of}.{name}");
        match name.as_str() {
            "enabled" => options.enabled = flag(&path, value)?,
            "limit" => options.limit = number(&path, value)?,
            "rampUp" => options.ramp_up = duration(&path, value)?,
            "throttling" | "throttle" => options.throttle = throttle(&path, value, options.throttle)?,
            _ => return Err(unknown(of, name, "'enabled', 'limit', 'rampUp' and 'throttling'")),
        }
    }
    Ok(options)
}

fn throttle(of: &str, value: &Value, mut options: ThrottleOptions) -> Result<ThrottleOptions, String> {
    for (name, value) in members(value, of)? {
        let path = format!("{of}.{name}");
        match name.as_str() {
            "enabled" => options.enabled = flag(&path, value)?,
            "acceptableBacklog" => options.acceptable_backlog = above_zero(&path, value)?,
            "minimumLimit" | "minRate" => options.minimum_limit = above_zero(&path, value)?,
            "resolution" => {
                options.resolution = duration(&path, value)?;
                if options.resolution.is_zero() {
                    return Err(format!("Expected '{path}' to be longer than nothing"));
                }
            }
            _ => {
                let known = "'enabled', 'acceptableBacklog', 'minimumLimit' and 'resolution'";
                return Err(unknown(of, name, known));
            }
        }
    }
    Ok(options)
}

fn members<'v>(value: &'v Value, path: &str) -> Result<&'v Members, String> {
    value.as_object().ok_or_else(|| format!("Expected {path} to be an object"))
}

fn unknown(of: &str, name: &str, known: &str) -> String {
    let place = if of.is_empty() { String::new() } else { format!(" in '{of}'") };
    format!("Expected {known}{place}, but found '{name}'")
}

fn flag(path: &str, value: &Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| format!("Expected '{path}' to be true or false"))
}

fn number(path: &str, value: &Value) -> Result<u64, String> {
    value.as_u64().ok_or_else(|| format!("Expected '{path}' to be a whole number"))
}

fn above_zero(path: &str, value: &Value) -> Result<u64, String> {
    number(path, value)
        .ok()
        .filter(|number| *number > 0)
        .ok_or_else(|| format!("Expected '{path}' to be a whole number above 0"))
}

/// As in the configuration, or as a number of seconds.
fn duration(path: &str, value: &Value) -> Result<Duration, String> {
    let read = match value {
        Value::String(text) => Duration::parse(text),
        Value::Number(seconds) => seconds.as_u64().map(Duration::from_secs),
        _ => None,
    };
    read.ok_or_else(|| format!("Expected '{path}' to be {}, or seconds", Duration::EXPECTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_changes_and_the_rest_stays() {
        let before = WriteLimitOptions { limit: 7, ..WriteLimitOptions::default() };
        let body = json!({ "limit": 5, "write": {
            "enabled": true, "rampUp": 0, "throttling": { "enabled": true, "acceptableBacklog": 9, "resolution": "30s" },
        }});
        let wanted = WriteLimitOptions {
            enabled: true,
            throttle: ThrottleOptions {
                enabled: true,
                acceptable_backlog: 9,
                resolution: Duration::from_secs(30),
                ..ThrottleOptions::default()
            },
            ..before.clone()
        };
        let change = read(&body, before.clone()).unwrap();
        assert_eq!(change, Change { requests: Some(5), write: Some(wanted) });
        let body = json!({ "writeRateLimit": { "limit": 0 } });
        let wanted = WriteLimitOptions { limit: 0, ..before.clone() };
        assert_eq!(read(&body, before).unwrap(), Change { requests: None, write: Some(wanted) });
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        for (body, place) in [
            (json!(3), "the body"),
            (json!({}), "limit"),
            (json!({ "limit": 0 }), "'limit'"),
            (json!({ "limits": 1 }), "'limits'"),
            (json!({ "write": 3 }), "write"),
            (json!({ "write": { "enabled": "yes" } }), "'write.enabled'"),
            (json!({ "write": { "limit": -1 } }), "'write.limit'"),
            (json!({ "write": { "rampUp": "soon" } }), "'write.rampUp'"),
            (json!({ "write": { "throttling": { "minimumLimit": 0 } } }), "'write.throttling.minimumLimit'"),
            (json!({ "write": { "throttling": { "resolution": 0 } } }), "'write.throttling.resolution'"),
            (json!({ "write": { "throttling": { "backlog": 1 } } }), "'backlog'"),
        ] {
            let error = read(&body, WriteLimitOptions::default()).unwrap_err();
            assert!(error.contains(place), "{body}: {error}");
        }
    }
}
