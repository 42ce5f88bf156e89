//! A question for durations.

use protocol::Name;
use search::{Filter, HOUR_MS, Operand, Test, model::ColumnId};

use crate::rest::call::Call;
use crate::rest::problem::Failure;

pub(super) struct Question {
    pub(super) definition: Operand,
    from_ms: Option<i64>,
    to_ms: Option<i64>,
    /// The element whose hours are told.
    pub(super) element_id: Option<Name>,
}

impl Question {
    pub(super) fn of(call: &Call<'_>) -> Result<Self, Failure> {
        Ok(Self {
            definition: Operand::Integer(call.key()?.cast_signed()),
            from_ms: moment(call, "from")?,
            to_ms: moment(call, "to")?,
            element_id: call.fields.text("elementId").map(|id| Name::from(&*id)),
        })
    }

    /// Rows of the definition whose moment is in the time asked for, which begins with its hour if these are counters.
    pub(super) fn filter(&self, (definition, time): (ColumnId, ColumnId), by_hour: bool) -> Filter {
        let mut filter = Filter::Column(definition, Test::Equal(self.definition.clone()));
        if let Some(from_ms) = self.from_ms {
            let from_ms = if by_hour { hour(from_ms) } else { from_ms };
            filter = filter.and(Filter::Column(time, Test::GreaterOrEqual(Operand::Integer(from_ms))));
        }
        if let Some(to_ms) = self.to_ms {
            filter = filter.and(Filter::Column(time, Test::Less(Operand::Integer(to_ms))));
        }
        filter
    }
}

/// When an hour begins.
pub(super) fn hour(moment_ms: i64) -> i64 {
    moment_ms - moment_ms.rem_euclid(HOUR_MS)
}

fn moment(call: &Call<'_>, name: &str) -> Result<Option<i64>, Failure> {
    let Some(text) = call.fields.text(name) else { return Ok(None) };
    let time: jiff::Timestamp =
        text.parse().map_err(|_| Failure::invalid(format!("{name}: is no moment")))?;
    Ok(Some(time.as_millisecond()))
}
