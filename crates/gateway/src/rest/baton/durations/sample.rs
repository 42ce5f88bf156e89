//! Durations of the latest elements that have ended.

use std::collections::BTreeMap;

use protocol::Name;
use search::model::element_instance as element;
use search::{EntityRef, Filter, Position, Search, Sort, Test};

use super::{Asked, Durations, Figures, Parts, hour};
use crate::rest::call::Call;
use crate::rest::problem::Failure;

/// Elements that are looked at.
const SAMPLE_MAX: u32 = 10_000;

pub(super) async fn read(call: &Call<'_>, asked: &Asked) -> Result<Durations, Failure> {
    let filter = asked.filter((element::DEFINITION_KEY, element::END), false);
    let filter = filter.and(Filter::Column(element::END, Test::Exists(true)));
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
    let mut by_element: BTreeMap<Name, Vec<i64>> = BTreeMap::new();
    let mut by_hour: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for row in &found.rows {
        let at = |column| row[usize::from(column)].integer().unwrap_or(0);
        let id = row[usize::from(element::ELEMENT_ID)].text().cloned().unwrap_or_default();
        let took_ms = (at(element::END) - at(element::START)).max(0);
        if asked.element_id.as_ref() == Some(&id) {
            by_hour.entry(hour(at(element::END))).or_default().push(took_ms);
        }
        by_element.entry(id).or_default().push(took_ms);
    }
    let of = |durations| Parts { total: Figures::of(durations), ..Parts::default() };
    let mut elements: Vec<_> = by_element.into_iter().map(|(id, durations)| (id, of(durations))).collect();
    elements.sort_by_key(|(_, parts)| std::cmp::Reverse(parts.total.total_ms));
    Ok(Durations {
        elements,
        hours: by_hour.into_iter().map(|(time_ms, durations)| (time_ms, of(durations))).collect(),
        sampled: found.rows.len() as i64,
        is_complete: found.total <= found.rows.len() as u64,
        ..Durations::default()
    })
}

impl Figures {
    /// There is at least one duration.
    fn of(mut durations_ms: Vec<i64>) -> Self {
        durations_ms.sort_unstable();
        // The nearest rank.
        let rank = |percent: usize| durations_ms[(durations_ms.len() * percent).div_ceil(100).max(1) - 1];
        let (count, total_ms) = (durations_ms.len() as i64, durations_ms.iter().sum());
        Self {
            count,
            average_ms: total_ms / count,
            p50_ms: rank(50),
            p95_ms: rank(95),
            max_ms: rank(100),
            total_ms,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let of = |durations: &[i64]| {
            let figures = Figures::of(durations.to_vec());
            [figures.count, figures.p50_ms, figures.p95_ms, figures.max_ms, figures.total_ms]
        };
        assert_eq!(of(&[7]), [1, 7, 7, 7, 7]);
        assert_eq!(of(&[4, 1, 3, 2]), [4, 2, 4, 4, 10]);
        let many: Vec<i64> = (1..=100).rev().collect();
        assert_eq!(of(&many), [100, 50, 95, 100, 5050]);
    }
}
