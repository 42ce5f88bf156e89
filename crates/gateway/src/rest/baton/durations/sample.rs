//! Durations of the latest elements that have ended.

use std::collections::BTreeMap;

use protocol::Name;
use search::model::element_instance as element;
use search::{Filter, Search, Sort, Spread, Test};

use super::super::rows;
use super::answer::{Durations, Figures, Parts};
use super::question::{Question, hour};
use crate::rest::call::Call;
use crate::rest::problem::Failure;

/// Elements that are looked at.
const SAMPLE_MAX: u32 = 10_000;

pub(super) async fn read(call: &Call<'_>, question: &Question) -> Result<Durations, Failure> {
    let filter = question.filter((element::DEFINITION_KEY, element::END), false);
    let filter = filter.and(Filter::Column(element::END, Test::Exists(true)));
    let filter = filter.and(call.visible_rows(&element::ENTITY).await?);
    let search = Search {
        sort: vec![Sort { column: element::START, descending: true }],
        count_up_to: u64::from(SAMPLE_MAX) + 1,
        columns: 1 << element::START | 1 << element::END | 1 << element::ELEMENT_ID,
        ..rows::search(&element::ENTITY, filter, SAMPLE_MAX)
    };
    let found = call.fresh_storage().await?.search(search).await?;
    let mut by_element: BTreeMap<Name, Vec<i64>> = BTreeMap::new();
    let mut by_hour: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for row in &found.rows {
        let at = |column| row[usize::from(column)].integer().unwrap_or(0);
        let id = row[usize::from(element::ELEMENT_ID)].text().cloned().unwrap_or_default();
        let took_ms = (at(element::END) - at(element::START)).max(0);
        if question.element_id.as_ref() == Some(&id) {
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
    /// Exact ones: each duration is a bucket of its own.
    fn of(mut durations_ms: Vec<i64>) -> Self {
        durations_ms.sort_unstable();
        let mut spread = Spread::default();
        for ms in durations_ms {
            spread.add(ms, 1, ms, ms);
        }
        Self::of_spread(&spread)
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
