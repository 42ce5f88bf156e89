//! Filters as queries. Conditions on other rows are evaluated first and become a list of values.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use search::model::{Column, ColumnId, Entity, Kind};
use search::{Filter, Latest, Related, StoreError};
use search::{Operand, Test};
use serde_json::{Value as Json, json};

use super::reader::Asker;

/// Values in one clause; more are refused by default.
const TERMS_MAX: usize = 65_536;
/// Values of other rows that are looked at.
const RELATED_MAX: usize = 250_000;
/// Groups for each request, of which each brings its largest rows.
const GROUPS_PAGE: usize = 1000;
/// Rows that may be the largest of their group together.
const LARGEST_MAX: usize = 10;

pub(super) fn everything() -> Json {
    json!({ "match_all": {} })
}

pub(super) fn nothing() -> Json {
    json!({ "match_none": {} })
}

pub(super) fn not(query: Json) -> Json {
    json!({ "bool": { "must_not": [query] } })
}

fn any(queries: Vec<Json>) -> Json {
    json!({ "bool": { "should": queries, "minimum_should_match": 1 } })
}

fn exists(column: &Column) -> Json {
    let exists = json!({ "exists": { "field": column.name } });
    match column.kind {
        // Values too long for the index exist all the same.
        Kind::Text | Kind::List => {
            any(vec![exists, json!({ "term": { "tooLong": { "value": column.name } } })])
        }
        _ => exists,
    }
}

/// A column has one of these values.
pub(super) fn one_of(column: &Column, mut values: Vec<Json>) -> Json {
    match values.len() {
        0 => nothing(),
        1 => json!({ "term": { column.name: { "value": values.pop() } } }),
        _ => {
            let clauses = values.chunks(TERMS_MAX).map(|values| json!({ "terms": { column.name: values } }));
            any(clauses.collect())
        }
    }
}

impl Asker<'_> {
    /// A filter. Nests as deeply as the filter, which is built here and has a fixed depth.
    pub(super) fn filter<'a>(
        &'a self,
        entity: &'static Entity,
        filter: &'a Filter,
    ) -> BoxFuture<'a, Result<Json, StoreError>> {
        async move {
            Ok(match filter {
                Filter::All(filters) if filters.is_empty() => everything(),
                Filter::Any(filters) if filters.is_empty() => nothing(),
                Filter::All(filters) => {
                    json!({ "bool": { "filter": self.filters(entity, filters).await? } })
                }
                Filter::Any(filters) => any(self.filters(entity, filters).await?),
                Filter::Column(column, test) => on_column(&entity.columns[*column as usize], test),
                Filter::Related(related) => self.related(entity, related).await?,
                Filter::Latest(latest) => self.latest(entity, latest).await?,
            })
        }
        .boxed()
    }

    async fn filters(&self, entity: &'static Entity, filters: &[Filter]) -> Result<Vec<Json>, StoreError> {
        let mut queries = Vec::with_capacity(filters.len());
        for filter in filters {
            queries.push(self.filter(entity, filter).await?);
        }
        Ok(queries)
    }

    /// Asks which values the other rows have.
    async fn related(&self, entity: &'static Entity, related: &Related) -> Result<Json, StoreError> {
        let other = related.entity.0;
        let query = self.filter(other, &related.filter).await?;
        let mut values = Vec::new();
        let source = [(related.other, false)];
        let mut pages = self.buckets(other, &query, &source, &json!({}), None);
        while let Some(buckets) = pages.next().await? {
            for mut bucket in buckets {
                values.push(bucket["key"]["0"].take());
            }
            within(values.len(), other)?;
        }
        let query = one_of(&entity.columns[related.column as usize], values);
        Ok(if related.exists { query } else { not(query) })
    }

    /// Asks for the largest rows of each group. A row that does not count itself is never one of them.
    async fn latest(&self, entity: &'static Entity, latest: &Latest) -> Result<Json, StoreError> {
        let name = |column: ColumnId| entity.columns[column as usize].name;
        let query = self.filter(entity, &latest.among).await?;
        let source: Vec<_> = latest.group.iter().map(|column| (*column, false)).collect();
        let largest = json!({ "largest": { "top_hits": {
            "size": LARGEST_MAX,
            "sort": [{ name(latest.by): { "order": "desc" } }],
            "_source": [name(0)],
        } } });
        let mut values = Vec::new();
        let mut pages = self.buckets(entity, &query, &source, &largest, Some(GROUPS_PAGE));
        while let Some(buckets) = pages.next().await? {
            for mut bucket in buckets {
                let Json::Array(hits) = bucket["largest"]["hits"]["hits"].take() else { continue };
                let first = hits.first().map(|hit| hit["sort"].clone());
                let largest = hits.into_iter().filter(|hit| Some(&hit["sort"]) == first.as_ref());
                values.extend(largest.map(|mut hit| hit["_source"][name(0)].take()));
            }
            within(values.len(), entity)?;
        }
        // A row without a group, or without a place in it, has no predecessor.
        let mut clauses = vec![one_of(&entity.columns[0], values)];
        for column in latest.group.iter().chain([&latest.by]) {
            clauses.push(not(exists(&entity.columns[*column as usize])));
        }
        Ok(any(clauses))
    }
}

fn within(count: usize, of: &Entity) -> Result<(), StoreError> {
    if count <= RELATED_MAX {
        return Ok(());
    }
    Err(StoreError::TooSlow(format!(
        "Expected the part of the filter that is about rows of {} to match at most {RELATED_MAX}, the limit of this \
         store, but there are more; say more about them",
        of.name.replace('_', " ")
    )))
}

/// A test on a list asks whether an element passes; one that wants something not to be, whether none is it.
fn on_column(column: &Column, test: &Test) -> Json {
    let name = column.name;
    let range = |operator: &str, operand: &Operand| match value_of(operand, column.kind) {
        Some(value) => json!({ "range": { name: { operator: value } } }),
        None => nothing(),
    };
    let values = |operands: &[Operand]| {
        let values = operands.iter().filter_map(|operand| value_of(operand, column.kind));
        one_of(column, values.collect())
    };
    match test {
        Test::Equal(operand) => values(std::slice::from_ref(operand)),
        Test::NotEqual(operand) => not(values(std::slice::from_ref(operand))),
        Test::In(operands) => values(operands),
        Test::NotIn(operands) => not(values(operands)),
        Test::Exists(true) => exists(column),
        Test::Exists(false) => not(exists(column)),
        Test::Like(_) if column.kind.is_integer() => nothing(),
        Test::Like(pattern) => json!({ "wildcard": { name: { "value": wildcard(pattern) } } }),
        Test::Greater(operand) => range("gt", operand),
        Test::GreaterOrEqual(operand) => range("gte", operand),
        Test::Less(operand) => range("lt", operand),
        Test::LessOrEqual(operand) => range("lte", operand),
    }
}

/// An operand as a value of a kind of column; `None` if it cannot be one.
fn value_of(operand: &Operand, kind: Kind) -> Option<Json> {
    match operand {
        Operand::Integer(number) if kind.is_integer() => Some(Json::from(*number)),
        Operand::Text(text) if !kind.is_integer() => Some(Json::from(text.as_str())),
        _ => None,
    }
}

/// A pattern of the API, which is the same here but for a `\` that has nothing behind it, which stands for itself.
fn wildcard(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 1);
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        out.push(character);
        if character == '\\' {
            out.push(characters.next().unwrap_or('\\'));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use search::model::process_instance as instance;

    #[test]
    fn patterns_end_with_what_they_say() {
        assert_eq!(wildcard(r"a*\?b\"), r"a*\?b\\");
        assert_eq!(wildcard(r"\\"), r"\\");
    }

    #[test]
    fn too_many_other_rows_are_told_with_their_limit() {
        assert!(within(RELATED_MAX, &instance::ENTITY).is_ok());
        let error = within(RELATED_MAX + 1, &instance::ENTITY).unwrap_err();
        assert!(matches!(&error, StoreError::TooSlow(_)), "{error}");
        let text = error.to_string();
        assert!(text.contains("about rows of process instance") && text.contains("250000"), "{text}");
    }

    #[test]
    fn many_values_become_several_clauses() {
        let values = (0..=TERMS_MAX as i64).map(Json::from).collect();
        let query = one_of(&instance::ENTITY.columns[0], values);
        let clauses = query["bool"]["should"].as_array().unwrap();
        let lengths: Vec<_> = clauses
            .iter()
            .map(|clause| clause["terms"]["processInstanceKey"].as_array().unwrap().len())
            .collect();
        assert_eq!(lengths, [TERMS_MAX, 1]);
    }

    #[test]
    fn what_cannot_be_equal_is_not_asked() {
        let column = &instance::ENTITY.columns[instance::START as usize];
        let text = Operand::Text("x".into());
        assert_eq!(on_column(column, &Test::Equal(text.clone())), nothing());
        assert_eq!(on_column(column, &Test::Greater(text.clone())), nothing());
        assert_eq!(on_column(column, &Test::NotEqual(text)), not(nothing()));
    }
}
