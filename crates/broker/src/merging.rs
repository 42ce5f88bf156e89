//! The answers of all partitions to a query, put together as if there were one.

use std::collections::BTreeMap;
use std::fmt::Debug;

use protocol::{BatchItemView, ErrorView, FailingDefinitionView, Query, QueryReply, RunningDefinitionView};

/// The parts of a list, each in order and with whether its partition has more behind it.
type PartLists<T> = Vec<(Vec<T>, bool)>;

/// Puts lists together: things with the same key are added up, the rest stands in the order of its keys. A partition
/// that has more behind the end of its list would have added to what comes later, so that is left out.
fn sum<T, K: Ord + Clone>(
    parts: PartLists<T>,
    key: impl Fn(&T) -> K,
    add: impl Fn(&mut T, T),
    limit: Option<usize>,
) -> (Vec<T>, bool) {
    let ends = parts.iter().filter(|(_, has_more)| *has_more).map(|(part, _)| part.last().map(&key));
    // `None` comes first: a partition that gave nothing, and has more.
    let end: Option<Option<K>> = ends.min();
    let mut all: BTreeMap<K, T> = BTreeMap::new();
    for thing in parts.into_iter().flat_map(|(part, _)| part) {
        let of = key(&thing);
        match all.get_mut(&of) {
            Some(known) => add(known, thing),
            None => drop(all.insert(of, thing)),
        }
    }
    let mut has_more = end.is_some();
    if let Some(end) = end {
        all.retain(|key, _| end.as_ref().is_some_and(|end| key <= end));
    }
    let mut all: Vec<T> = all.into_values().collect();
    if let Some(limit) = limit.filter(|limit| all.len() > *limit) {
        all.truncate(limit);
        has_more = true;
    }
    (all, has_more)
}

/// Things of which no two partitions have the same.
fn never<T: Debug>(known: &mut T, other: T) {
    unreachable!("two partitions have {known:?} and {other:?}")
}

/// The parts of the answers, which must be of one kind.
macro_rules! parts {
    ($replies:expr, $variant:ident { $list:ident }) => {
        $replies
            .into_iter()
            .map(|reply| match reply {
                QueryReply::$variant { $list, has_more } => ($list, has_more),
                other => unreachable!("an answer of another kind: {other:?}"),
            })
            .collect()
    };
}

/// Definitions with what runs of them.
fn running(replies: Vec<QueryReply>, limit: usize) -> QueryReply {
    let add = |known: &mut RunningDefinitionView, other: RunningDefinitionView| {
        known.running += other.running;
        known.with_incidents += other.with_incidents;
    };
    let parts = parts!(replies, RunningDefinitions { definitions });
    let (definitions, has_more) = sum(parts, |definition| definition.key, add, Some(limit));
    QueryReply::RunningDefinitions { definitions, has_more }
}

/// Parts of which each is whole as far as its partition looked at incidents, and whether one did not look at all.
fn as_far_as_looked<T>(parts: PartLists<T>) -> (PartLists<T>, bool) {
    let has_more = parts.iter().any(|(_, has_more)| *has_more);
    (parts.into_iter().map(|(part, _)| (part, false)).collect(), has_more)
}

fn errors(replies: Vec<QueryReply>) -> QueryReply {
    let add = |known: &mut ErrorView, other: ErrorView| known.instances += other.instances;
    let (parts, has_more) = as_far_as_looked(parts!(replies, Errors { errors }));
    let (errors, _) = sum(parts, |error| error.message.clone(), add, None);
    QueryReply::Errors { errors, has_more }
}

fn failing(replies: Vec<QueryReply>) -> QueryReply {
    let add = |known: &mut FailingDefinitionView, other: FailingDefinitionView| {
        known.instances += other.instances;
    };
    let (parts, has_more) = as_far_as_looked(parts!(replies, FailingDefinitions { definitions }));
    let (definitions, _) = sum(parts, |definition| definition.key, add, None);
    QueryReply::FailingDefinitions { definitions, has_more }
}

fn banned(replies: Vec<QueryReply>, limit: usize) -> QueryReply {
    let part = |reply| match reply {
        QueryReply::BannedInstances(found) => (found, false),
        other => unreachable!("an answer of another kind: {other:?}"),
    };
    let parts = replies.into_iter().map(part).collect();
    let (found, _) = sum(parts, |one| one.key, never, Some(limit));
    QueryReply::BannedInstances(found)
}

/// Short lists, one behind the other in the order of partitions, which is that of keys.
fn listed<T>(replies: Vec<QueryReply>, list: impl Fn(QueryReply) -> Vec<T>) -> Vec<T> {
    replies.into_iter().flat_map(list).collect()
}

/// The answer to a query of which each partition has answered its part, the first partition first.
pub(crate) fn merge(query: &Query, replies: Vec<QueryReply>) -> QueryReply {
    match query {
        Query::BatchItems { limit, .. } => {
            let parts = parts!(replies, BatchItems { items });
            let key = |item: &BatchItemView| (item.batch_operation_key, item.item_key);
            // The partition of its instance tells as much of an item as the first one.
            let (items, has_more) = sum(parts, key, |_, _| {}, Some(*limit));
            QueryReply::BatchItems { items, has_more }
        }
        Query::RunningDefinitions { limit, .. } => running(replies, *limit),
        Query::Errors { .. } => errors(replies),
        Query::FailingDefinitions { .. } => failing(replies),
        Query::Subscriptions { limit } => {
            let parts = parts!(replies, Subscriptions { subscriptions });
            let (subscriptions, has_more) = sum(parts, |one| one.key, never, Some(*limit));
            QueryReply::Subscriptions { subscriptions, has_more }
        }
        Query::BannedInstances { limit, .. } => banned(replies, *limit),
        Query::BatchOperations => QueryReply::BatchOperations(listed(replies, |reply| match reply {
            QueryReply::BatchOperations(operations) => operations,
            other => unreachable!("an answer of another kind: {other:?}"),
        })),
        Query::BatchSearches => QueryReply::BatchSearches(listed(replies, |reply| match reply {
            QueryReply::BatchSearches(searches) => searches,
            other => unreachable!("an answer of another kind: {other:?}"),
        })),
        Query::BatchOperation { .. }
        | Query::ProcessInstance { .. }
        | Query::ElementInstance { .. }
        | Query::Variable { .. }
        | Query::Incident { .. }
        | Query::CallHierarchy { .. }
        | Query::ProcessDefinition { .. }
        | Query::Decision { .. }
        | Query::DecisionRequirements { .. }
        | Query::Source { .. }
        | Query::Form { .. }
        | Query::StartForm { .. }
        | Query::Resource { .. }
        | Query::Resources { .. }
        | Query::ClusterVariable { .. }
        | Query::ClusterVariables { .. }
        | Query::ClusterContext { .. }
        | Query::Scope { .. }
        | Query::UserTask { .. }
        | Query::UserTaskForm { .. }
        | Query::GlobalListener { .. }
        | Query::GlobalListeners { .. }
        | Query::Identity(_) => unreachable!("one partition answers {query:?}"),
    }
}

#[cfg(test)]
mod tests {
    use protocol::Name;

    use super::*;

    #[test]
    fn what_partitions_have_in_common_is_added_up() {
        let error = |message: &str, instances| ErrorView { message: Name::from(message), instances };
        let replies = vec![
            QueryReply::Errors { errors: vec![error("a", 1), error("c", 2)], has_more: false },
            QueryReply::Errors { errors: vec![error("b", 3), error("c", 4)], has_more: true },
        ];
        let query = Query::Errors { limit: 10, of: protocol::Instances::default() };
        let QueryReply::Errors { errors, has_more } = merge(&query, replies) else { unreachable!() };
        assert_eq!(errors, [error("a", 1), error("b", 3), error("c", 6)]);
        assert!(has_more);
    }

    #[test]
    fn nothing_is_told_of_which_a_partition_may_have_more() {
        let parts = |first: (&[u32], bool), second: (&[u32], bool), limit| {
            let part = |(keys, has_more): (&[u32], bool)| {
                (keys.iter().map(|key| (*key, 1)).collect::<Vec<_>>(), has_more)
            };
            sum(vec![part(first), part(second)], |(key, _)| *key, |known, (_, count)| known.1 += count, limit)
        };
        let all = [(1, 1), (2, 2), (3, 1)];
        assert_eq!(parts((&[1, 2], false), (&[2, 3], false), Some(3)), (all.to_vec(), false));
        assert_eq!(parts((&[1, 2], false), (&[2, 3], false), Some(2)), (all[..2].to_vec(), true));
        // The first may have a 3, too.
        assert_eq!(parts((&[1, 2], true), (&[2, 3], false), Some(9)), (all[..2].to_vec(), true));
        assert_eq!(parts((&[], true), (&[2, 3], false), Some(9)), (vec![], true));
    }
}
