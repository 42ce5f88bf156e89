//! `POST /baton/v1/process-definitions/{processDefinitionKey}/durations`: how long elements take, from the latest that
//! have ended.

use std::collections::BTreeMap;

use protocol::Name;
use search::model::element_instance as element;
use search::{EntityRef, Filter, Operand, Position, Search, Sort, Test};

use crate::rest::call::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::object;

/// Elements that are looked at.
const SAMPLE_MAX: u32 = 10_000;

pub(super) async fn get(call: &Call<'_>) -> Result<Reply, Failure> {
    let key = Operand::Integer(call.key()?.cast_signed());
    let mut filter = Filter::Column(element::DEFINITION_KEY, Test::Equal(key))
        .and(Filter::Column(element::END, Test::Exists(true)));
    if let Some(from_ms) = moment(call, "from")? {
        filter = filter.and(Filter::Column(element::END, Test::GreaterOrEqual(Operand::Integer(from_ms))));
    }
    if let Some(to_ms) = moment(call, "to")? {
        filter = filter.and(Filter::Column(element::END, Test::Less(Operand::Integer(to_ms))));
    }
    let search = Search {
        entity: EntityRef(&element::ENTITY),
        filter: filter.and(call.visible_rows(&element::ENTITY).await?),
        sort: vec![Sort { column: element::START, descending: true }],
        position: Position::Offset(0),
        limit: SAMPLE_MAX,
        count_up_to: u64::from(SAMPLE_MAX) + 1,
        columns: 1 << element::START | 1 << element::END | 1 << element::ELEMENT_ID,
        cut: None,
    };
    let found = call.fresh_storage().await?.search(search).await?;
    let sampled = found.rows.len();
    let mut by_element: BTreeMap<Name, Vec<i64>> = BTreeMap::new();
    for row in &found.rows {
        let at = |column| row[usize::from(column)].integer().unwrap_or(0);
        let id = row[usize::from(element::ELEMENT_ID)].text().cloned().unwrap_or_default();
        by_element.entry(id).or_default().push((at(element::END) - at(element::START)).max(0));
    }
    let mut figures: Vec<_> = by_element.into_iter().map(Figures::of).collect();
    figures.sort_by_key(|figures| std::cmp::Reverse(figures.total_ms));
    let mut out = Vec::with_capacity(128 * figures.len() + 64);
    object(&mut out)
        .list("items", &figures, |figures, out| {
            object(out)
                .with("elementId", &figures.element_id)
                .with("count", figures.count)
                .with("averageMs", figures.total_ms / figures.count)
                .with("p50Ms", figures.p50_ms)
                .with("p95Ms", figures.p95_ms)
                .with("maxMs", figures.max_ms)
                .with("totalMs", figures.total_ms)
                .end();
        })
        .with("sampled", sampled)
        .with("isComplete", found.total <= sampled as u64)
        .end();
    Ok(Reply::json(out))
}

fn moment(call: &Call<'_>, name: &str) -> Result<Option<i64>, Failure> {
    let Some(text) = call.fields.text(name) else { return Ok(None) };
    let time: jiff::Timestamp =
        text.parse().map_err(|_| Failure::invalid(format!("{name}: is no moment")))?;
    Ok(Some(time.as_millisecond()))
}

struct Figures {
    element_id: Name,
    count: i64,
    p50_ms: i64,
    p95_ms: i64,
    max_ms: i64,
    total_ms: i64,
}

impl Figures {
    /// There is at least one duration.
    fn of((element_id, mut durations_ms): (Name, Vec<i64>)) -> Self {
        durations_ms.sort_unstable();
        // The nearest rank.
        let rank = |percent: usize| durations_ms[(durations_ms.len() * percent).div_ceil(100).max(1) - 1];
        Self {
            element_id,
            count: durations_ms.len() as i64,
            p50_ms: rank(50),
            p95_ms: rank(95),
            max_ms: rank(100),
            total_ms: durations_ms.iter().sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let of = |durations: &[i64]| {
            let figures = Figures::of((Name::from("a"), durations.to_vec()));
            [figures.count, figures.p50_ms, figures.p95_ms, figures.max_ms, figures.total_ms]
        };
        assert_eq!(of(&[7]), [1, 7, 7, 7, 7]);
        assert_eq!(of(&[4, 1, 3, 2]), [4, 2, 4, 4, 10]);
        let many: Vec<i64> = (1..=100).rev().collect();
        assert_eq!(of(&many), [100, 50, 95, 100, 5050]);
    }
}
