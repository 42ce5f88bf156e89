//! E8: the share of routing, access and decoding in the profile.

use bench::Options;
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
    set_up: "One broker without authentication. Basic authentication and OIDC need credentials and an issuer, which \
        the lab does not bring.",
    steady_state: "As many creations over REST as go through.",
    action: "A CPU profile in collapsed form meanwhile.",
    measurement: "Samples in which a function of routing, of access or of reading the body is on the stack, of all \
        samples of threads at work.",
    reference: "A parsed-pattern matcher halved the latency; the filter chain was still some 40 % of the profile.",
    seconds: (12, 40),
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
    let server = lab.server(&[]).await?;
    let options = Options {
        no_workers: true,
        duration: crate::load::UNTIL_ENDED,
        ..lab.load_options(&server, Protocol::Rest)
    };
    lab.phase("creations");
    let load = lab.load("creations", options);
    lab.wait(lab.seconds(1.0, 5.0)).await;
    lab.phase("profile");
    let path = format!("/actuator/profile?seconds={}&format=collapsed", lab.pick(4, 15));
    let answer = server.manage("GET", &path, None).await?.good("take a profile")?;
    lab.end(load).await?;
    std::fs::write(lab.directory().join("stacks.txt"), &answer.body)
        .map_err(|error| LabError::environment("write the stacks", error))?;
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
