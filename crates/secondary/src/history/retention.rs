//! How long history is kept.

use std::time::Duration;

use protocol::Name;
use search::Filter;
use search::model::ColumnId;
use search::{Operand, Test};

use super::kinds::Kind;

/// How long something is kept after its end; `None` for ever.
pub type Keep = Option<Duration>;

/// How long history is kept: the first rule that fits decides, else the age of the kind.
#[derive(Debug, Clone, Default)]
pub struct Retention {
    /// By the name of a kind. A kind that is not named is kept for ever.
    pub ages: Vec<(&'static str, Keep)>,
    /// Exceptions.
    pub rules: Vec<Rule>,
}

/// How long some things of a kind are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Name of the kind.
    pub kind: Name,
    /// Only those of this definition.
    pub definition: Option<Name>,
    /// Only those of this tenant.
    pub tenant: Option<Name>,
    /// How long.
    pub keep: Keep,
}

impl Retention {
    /// Rows of a kind to remove at a time: filters that have no row in common.
    pub(super) fn expired(&self, kind: &Kind, now_ms: i64) -> Vec<Filter> {
        let mut filters = Vec::new();
        // Rows that earlier rules leave.
        let mut rest = Filter::everything();
        for rule in self.rules.iter().filter(|rule| *rule.kind == *kind.name) {
            let Some(tests) = tests(rule, kind) else { continue };
            if let Some(age) = rule.keep {
                let these = tests.iter().map(|(column, name)| is(*column, name)).collect();
                filters.push(ended(kind, now_ms, age).and(Filter::All(these)).and(rest.clone()));
            }
            rest = rest.and(Filter::Any(tests.iter().map(|(column, name)| is_not(*column, name)).collect()));
        }
        let age = self.ages.iter().find(|(name, _)| *name == kind.name).and_then(|(_, age)| *age);
        filters.extend(age.map(|age| ended(kind, now_ms, age).and(rest)));
        filters
    }
}

/// The condition of a rule; `None` if rows of this kind lack its column.
fn tests<'r>(rule: &'r Rule, kind: &Kind) -> Option<Vec<(ColumnId, &'r Name)>> {
    let mut tests = Vec::new();
    for (wanted, column) in [(&rule.definition, kind.definition), (&rule.tenant, kind.tenant)] {
        if let Some(wanted) = wanted {
            tests.push((column?, wanted));
        }
    }
    Some(tests)
}

fn is(column: ColumnId, name: &Name) -> Filter {
    Filter::Column(column, Test::Equal(Operand::Text(name.clone())))
}

fn is_not(column: ColumnId, name: &Name) -> Filter {
    Filter::Column(column, Test::NotEqual(Operand::Text(name.clone())))
}

fn ended(kind: &Kind, now_ms: i64, age: Duration) -> Filter {
    let age_ms = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
    let before = now_ms.saturating_sub(age_ms);
    let mut filters = vec![Filter::Column(kind.end, Test::Less(Operand::Integer(before)))];
    filters.extend(kind.owner.map(|owner| Filter::Column(owner, Test::Exists(false))));
    Filter::All(filters)
}
