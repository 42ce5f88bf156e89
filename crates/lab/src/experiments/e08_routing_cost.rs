//! E8: the share of routing, access and decoding in the profile.

use bench::Options;
use bench::suite::{AccessWay, AccessWays};
use client::Protocol;

use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::Lab;
use crate::result::Limit;
use crate::unit::Unit;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E8",
    title: "Request routing cost",
    hypothesis: "Routing, access and decoding take less than a fifth of the CPU of a create request.",
    set_up: "A broker that asks nobody who they are, one with Basic authentication, one with OIDC and an issuer of \
        tokens in the lab; the latter two check permissions.",
    steady_state: "As many creations over REST as go through.",
    action: "A CPU profile in collapsed form meanwhile.",
    measurement: "Samples in which a function of routing, of access or of reading the body is on the stack, of all \
        samples of threads at work.",
    reference: "A parsed-pattern matcher halved the latency; the filter chain was still some 40 % of the profile.",
    seconds: (20, 80),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

const SHARE_MAX: f64 = 20.0;
/// Parts of the gateway, as they are named in stacks.
const PARTS: [(&str, &[&str]); 4] = [
    ("routing", &["gateway::rest::route", "gateway::rest::negotiate"]),
    ("access", &["gateway::rest::access", "gateway::rest::visible", "auth::"]),
    ("decoding", &["gateway::rest::validate", "gateway::rest::body", "gateway::rest::lenient", "json::"]),
    ("connection and HTTP", &["gateway::connection"]),
];

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let access = AccessWays::start(lab.directory()).await?;
    for way in &access.ways {
        of_way(lab, way).await?;
    }
    Ok(())
}

async fn of_way(lab: &mut Lab, way: &AccessWay) -> Result<(), LabError> {
    let settings: Vec<&str> = way.settings.iter().map(String::as_str).collect();
    let server = lab.server(&settings).await?;
    let options = Options {
        no_workers: true,
        authorization: way.authorization.clone(),
        duration: crate::load::UNTIL_ENDED,
        ..lab.load_options(&server, Protocol::Rest)
    };
    lab.phase(way.name);
    let load = lab.load(&format!("creations, {}", way.name), options);
    lab.wait(lab.seconds(1.0, 3.0)).await;
    let path = format!("/actuator/profile?seconds={}&format=collapsed", lab.pick(3, 15));
    let answer = server.manage("GET", &path, None).await?.good("take a profile")?;
    let report = lab.end(load).await?;
    let file = lab.directory().join(format!("stacks-{}.txt", way.name.replace(' ', "-")));
    std::fs::write(file, &answer.body).map_err(|error| LabError::environment("write the stacks", error))?;
    lab.expect("creations refused or failed", Unit::Count, Limit::Exactly(0.0), report.errors() as f64);
    lab.tell("creations", Unit::PerSecond, report.created_per_second);
    let cpu = report.server.cpu_micros_per_instance.unwrap_or(f64::INFINITY) / 1e6;
    lab.tell("server CPU for a creation", Unit::Seconds, cpu);
    let samples = samples(&answer.body);
    let all: f64 = samples.iter().map(|(_, count)| count).sum();
    lab.expect("samples", Unit::Count, Limit::AtLeast(lab.pick(20.0, 500.0)), all);
    let share = |names: &[&str]| {
        let with = samples.iter().filter(|(stack, _)| names.iter().any(|name| stack.contains(name)));
        100.0 * with.map(|(_, count)| count).sum::<f64>() / all.max(1.0)
    };
    for (part, names) in PARTS {
        lab.tell(part, Unit::Percent, share(names));
    }
    let three: Vec<&str> = PARTS[..3].iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let limit = Limit::AtMost(SHARE_MAX);
    lab.expect_in_full("routing, access and decoding", Unit::Percent, limit, share(&three));
    server.stop().await
}

/// Stacks with how often each was seen.
fn samples(collapsed: &str) -> Vec<(&str, f64)> {
    let line = |line: &'_ str| -> Option<(usize, f64)> {
        let (stack, count) = line.rsplit_once(' ')?;
        Some((stack.len(), count.parse().ok()?))
    };
    collapsed.lines().filter_map(|text| line(text).map(|(length, count)| (&text[..length], count))).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn stacks_have_counts() {
        let samples = super::samples("a;b c;d 3\nno count\n");
        assert_eq!(samples, [("a;b c;d", 3.0)]);
    }
}
