//! How exceptions from the ages of history are written.

use std::time::Duration;

use protocol::Name;
use secondary::KINDS;
use secondary::Rule;

use super::value::Setting;

/// Written for things that are never removed.
const FOREVER: &str = "forever";

/// Exceptions from the ages of history.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RetentionRules(pub Vec<Rule>);

impl Setting for RetentionRules {
    const EXPECTED: &'static str =
        "rules such as 'process_instances definition=order tenant=a keep=7d', separated by ';'";

    fn parse(text: &str) -> Option<Self> {
        let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
        parts.map(rule).collect::<Option<_>>().map(Self)
    }

    fn show(&self) -> String {
        self.0.iter().map(show).collect::<Vec<_>>().join("; ")
    }
}

fn rule(text: &str) -> Option<Rule> {
    let mut words = text.split_whitespace();
    let name = words.next()?;
    let kind = KINDS.iter().find(|kind| kind.name == name)?;
    let (mut definition, mut tenant, mut keep) = (None, None, None);
    for word in words {
        match word.split_once('=')? {
            ("definition", id) if kind.definition.is_some() && !id.is_empty() => {
                definition = Some(Name::from(id));
            }
            ("tenant", id) if kind.tenant.is_some() && !id.is_empty() => tenant = Some(Name::from(id)),
            ("keep", FOREVER) => keep = Some(None),
            ("keep", age) => keep = Some(Some(Duration::parse(age)?)),
            _ => return None,
        }
    }
    Some(Rule { kind: Name::from(kind.name), definition, tenant, keep: keep? })
}

fn show(rule: &Rule) -> String {
    let mut text = rule.kind.to_string();
    for (name, value) in [("definition", &rule.definition), ("tenant", &rule.tenant)] {
        if let Some(value) = value {
            text += &format!(" {name}={value}");
        }
    }
    let age = rule.keep.map_or_else(|| FOREVER.to_owned(), |age| age.show());
    text + &format!(" keep={age}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_they_are_written() {
        let text = "process_instances definition=order tenant=a keep=7d; decisions tenant=b keep=forever; audit_log keep=90m";
        let rules = RetentionRules::parse(text).unwrap();
        assert_eq!(rules.0.len(), 3);
        assert_eq!(rules.0[0].definition, Some(Name::from("order")));
        assert_eq!((rules.0[0].keep, rules.0[1].keep), (Some(Duration::from_hours(168)), None));
        assert_eq!(rules.show(), text);
        assert_eq!(RetentionRules::parse(" ; "), Some(RetentionRules::default()));
    }

    #[test]
    fn what_could_mean_something_else_is_refused() {
        for text in [
            "orders keep=1d",
            "process_instances",
            "process_instances keep=soon",
            "process_instances definition= keep=1d",
            "process_instances process=a keep=1d",
            "batch_operations tenant=a keep=1d",
            "audit_log definition=a keep=1d",
        ] {
            assert_eq!(RetentionRules::parse(text), None, "{text}");
        }
    }
}
