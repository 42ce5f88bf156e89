//! Joins: where tokens wait for others.
//!
//! A parallel join takes one token from each incoming flow. An inclusive join takes one from each flow that has
//! one, as soon as no token can come to the other flows any more; whenever something in its scope has come or gone,
//! a step looks at it again. Scopes without a token at such a join pay a comparison, nothing else.
//!
//! Tokens that can still arrive follow from the model (`Process::can_reach`): every living element instance that
//! leads to a flow without a token holds the join up. So does another waiting join, if it can still go on itself.
//! If joins hold each other up and nothing else moves, the first of them in the document goes on, so that they
//! never wait for ever.

use std::collections::{BTreeMap, BTreeSet};

use bpmn::Process;
use bpmn::graph::{Element, ElementIndex, ElementKind, FlowIndex};
use protocol::Key;
use state::StateError;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::slices::{Slices, keys_of_model, rows_of_model};
use crate::core::step::Step;
use crate::entity::{ComplexJoin, ElementInstance, JoinCheck, Phase};

/// Joins that hold a token, with the flows that have one.
type Waiting = BTreeMap<ElementIndex, Vec<FlowIndex>>;

/// Whether tokens wait here for others.
pub(crate) fn is_join(element: &Element) -> bool {
    element.incoming.len() > 1
        && matches!(
            element.kind,
            ElementKind::Parallel | ElementKind::Inclusive { .. } | ElementKind::Complex { .. }
        )
}

impl CommandContext<'_> {
    /// Puts a token to a join. If there is one for each incoming flow now, gives how many waiting ones are used up.
    pub(super) fn arrive(
        &mut self,
        scope_key: Key,
        join: ElementIndex,
        flow: FlowIndex,
        element: &Element,
    ) -> Result<Option<i64>, Failure> {
        let is_complex = matches!(element.kind, ElementKind::Complex { .. });
        let mut complete = !is_complex;
        for &other in element.incoming.iter().filter(|&&other| other != flow) {
            complete &= self.tables.join_tokens.contains(&(scope_key, join, other))?;
        }
        if !complete {
            let key = (scope_key, join, flow);
            let count = self.tables.join_tokens.get(&key)?.map_or(0, |count| *count);
            self.tables.join_tokens.put(key, count + 1);
            if !matches!(element.kind, ElementKind::Parallel) {
                self.watch_joins(scope_key)?;
            }
            if is_complex {
                self.token_at_complex(scope_key, join)?;
            }
            return Ok(None);
        }
        for &other in element.incoming.iter().filter(|&&other| other != flow) {
            self.use_token(scope_key, join, other)?;
        }
        Ok(Some(element.incoming.len() as i64 - 1))
    }

    pub(super) fn use_token(
        &mut self,
        scope_key: Key,
        join: ElementIndex,
        flow: FlowIndex,
    ) -> Result<(), StateError> {
        let key = (scope_key, join, flow);
        match self.tables.join_tokens.get(&key)?.map_or(0, |count| *count) {
            0 | 1 => self.tables.join_tokens.delete(&key),
            count => self.tables.join_tokens.put(key, count - 1),
        }
        Ok(())
    }

    fn watch_joins(&mut self, scope_key: Key) -> Result<(), StateError> {
        self.tables.element_instances.update(&scope_key, |row| {
            if row.join_check == JoinCheck::None {
                row.join_check = JoinCheck::Waiting;
            }
        })?;
        Ok(())
    }

    /// Looks at the joins of a scope soon.
    pub(super) fn request_join_check(&mut self, scope_key: Key) -> Result<(), StateError> {
        self.watch_joins(scope_key)?;
        match self.tables.element_instances.get(&scope_key)? {
            Some(scope) => self.scope_moved(scope_key, &scope),
            None => Ok(()),
        }
    }

    /// Something has come to a scope or gone from it: what waits there may have to wait no longer.
    pub fn scope_moved(&mut self, scope_key: Key, scope: &ElementInstance) -> Result<(), StateError> {
        if scope.join_check == JoinCheck::Waiting {
            self.tables.element_instances.update(&scope_key, |row| row.join_check = JoinCheck::Underway)?;
            self.steps.push_back(Step::CheckJoins { scope_key });
        }
        Ok(())
    }

    /// Lets a join go on that nothing can come to any more. After it, the next has its turn.
    pub(super) fn check_joins(&mut self, scope_key: Key) -> Result<(), Failure> {
        let Some((at, row)) = self.at(scope_key)? else { return Ok(()) };
        self.tables.element_instances.update(&scope_key, |row| row.join_check = JoinCheck::None)?;
        if row.phase != Phase::Activated || row.interrupted {
            return Ok(());
        }
        let mut waiting = Waiting::new();
        for (_, join, flow) in keys_of_model(&self.tables.join_tokens, all_tokens(scope_key))? {
            waiting.entry(join).or_default().push(flow);
        }
        let mut patient: BTreeSet<ElementIndex> =
            waiting.keys().copied().filter(|&join| is_inclusive(&at.process, join)).collect();
        let complex = self.complex_joins_of(scope_key)?;
        for (join, state) in &complex {
            let taken = waiting.entry(*join).or_default();
            taken.extend(&state.taken);
            if state.is_resetting && !state.is_done {
                patient.insert(*join);
            }
        }
        if patient.is_empty() && complex.is_empty() {
            return Ok(());
        }
        if let Some(living) = self.living(scope_key, &row, &complex)?
            && let Some(join) = next_to_go_on(&at.process, &waiting, &patient, &living)
        {
            match complex.iter().find(|(other, _)| *other == join) {
                Some((_, state)) => self.end_phase((scope_key, join), state.instance_key)?,
                None => self.go_on_from(&at, join, &waiting[&join])?,
            }
        }
        self.watch_joins(scope_key).map_err(Failure::from)
    }

    fn complex_joins_of(&self, scope_key: Key) -> Result<Vec<(ElementIndex, ComplexJoin)>, StateError> {
        let rows = rows_of_model(&self.tables.complex_joins, (scope_key, 0)..(scope_key + 1, 0))?;
        Ok(rows.into_iter().map(|((_, join), state)| (join, (*state).clone())).collect())
    }

    /// The elements that live in a scope, joins that wait aside; `None` while some are still on their way.
    fn living(
        &mut self,
        scope_key: Key,
        scope: &ElementInstance,
        complex: &[(ElementIndex, ComplexJoin)],
    ) -> Result<Option<BTreeSet<ElementIndex>>, StateError> {
        let rows = rows_of_model(&self.tables.living, (scope_key, 0)..(scope_key + 1, 0))?;
        self.counters.join_rows += rows.len() as u64;
        let children: u64 = rows.iter().map(|(_, count)| u64::from(**count)).sum();
        if children < u64::from(scope.active_children) {
            return Ok(None);
        }
        let waits = |element: ElementIndex| {
            let waiting = complex.iter().filter(|(join, state)| *join == element && !state.is_done).count();
            waiting as u32
        };
        let living = rows.into_iter().filter(|((_, element), count)| **count > waits(*element));
        Ok(Some(living.map(|((_, element), _)| element).collect()))
    }

    /// Counts an element instance that comes to its scope or goes from it, where a join asks who lives. A scope may
    /// have very many children: nobody looks at each of them.
    pub(super) fn count_living(
        &mut self,
        child: &ActiveElement,
        scope: &ElementInstance,
        change: i64,
    ) -> Result<(), StateError> {
        if child.process.asks_who_lives(scope.element) {
            self.change_living((child.scope_key, child.index), change)?;
        }
        Ok(())
    }

    fn change_living(&mut self, key: (Key, ElementIndex), change: i64) -> Result<(), StateError> {
        let before = self.tables.living.get(&key)?.map_or(0, |count| *count);
        let after = i64::from(before) + change;
        debug_assert!(after >= 0, "{before} living children of {key:?} and a change of {change}");
        match u32::try_from(after) {
            Ok(0) | Err(_) => self.tables.living.delete(&key),
            Ok(count) => self.tables.living.put(key, count),
        }
        Ok(())
    }

    /// Counts who lives in a scope again after its model has changed.
    pub(super) fn count_living_again(&mut self, scope_key: Key) -> Result<(), StateError> {
        self.forget_living(scope_key)?;
        let Some((at, _)) = self.at(scope_key)? else { return Ok(()) };
        if !at.process.asks_who_lives(at.index) {
            return Ok(());
        }
        let mut slices = Slices::of((scope_key, 0)..(scope_key + 1, 0));
        while let Some(children) = slices.keys(&self.tables.children)? {
            for (_, child) in children {
                if let Some(row) = self.tables.element_instances.get(&child)? {
                    self.change_living((scope_key, row.element), 1)?;
                }
            }
        }
        Ok(())
    }

    /// Forgets who lives in a scope.
    pub(super) fn forget_living(&mut self, scope_key: Key) -> Result<(), StateError> {
        for key in keys_of_model(&self.tables.living, (scope_key, 0)..(scope_key + 1, 0))? {
            self.tables.living.delete(&key);
        }
        Ok(())
    }

    fn go_on_from(
        &mut self,
        at: &ActiveElement,
        join: ElementIndex,
        taken: &[FlowIndex],
    ) -> Result<(), Failure> {
        for &flow in taken {
            self.use_token(at.key, join, flow)?;
        }
        self.steps.push_back(Step::Activate {
            process_instance_key: at.process_instance_key,
            element: join,
            scope_key: at.key,
            trigger: None,
        });
        self.change_scope(at.key, 1, -(taken.len() as i64))
    }

    /// Removes all tokens that wait in a scope.
    pub(super) fn drop_tokens(&mut self, scope_key: Key) -> Result<(), StateError> {
        for key in keys_of_model(&self.tables.join_tokens, all_tokens(scope_key))? {
            self.tables.join_tokens.delete(&key);
        }
        for key in keys_of_model(&self.tables.complex_joins, (scope_key, 0)..(scope_key + 1, 0))? {
            self.tables.complex_joins.delete(&key);
        }
        Ok(())
    }
}

fn all_tokens(scope_key: Key) -> std::ops::Range<(Key, u32, u32)> {
    (scope_key, 0, 0)..(scope_key + 1, 0, 0)
}

fn is_inclusive(process: &Process, join: ElementIndex) -> bool {
    matches!(process.element(join).kind, ElementKind::Inclusive { .. })
}

/// The join that is to go on, if there is one, out of those that go on without tokens that cannot come.
fn next_to_go_on(
    process: &Process,
    waiting: &Waiting,
    patient: &BTreeSet<ElementIndex>,
    living: &BTreeSet<ElementIndex>,
) -> Option<ElementIndex> {
    let missing = |join: ElementIndex| {
        let incoming = &process.element(join).incoming;
        incoming.iter().copied().filter(move |flow| !waiting[&join].contains(flow))
    };
    // Joins that will go on later: a parallel one may get all it lacks, another one may get some.
    let mut movable = BTreeSet::new();
    loop {
        let can_come = |join: ElementIndex, flow: FlowIndex| {
            living.iter().any(|&from| process.can_reach(from, flow))
                || movable.iter().any(|&from| from != join && process.can_reach(from, flow))
        };
        let found = waiting.keys().copied().find(|&join| {
            !movable.contains(&join)
                && if matches!(process.element(join).kind, ElementKind::Parallel) {
                    missing(join).all(|flow| can_come(join, flow))
                } else {
                    missing(join).any(|flow| can_come(join, flow))
                }
        });
        match found {
            Some(join) => movable.insert(join),
            None => break,
        };
    }
    let still: Vec<ElementIndex> =
        waiting.keys().copied().filter(|join| !movable.contains(join) && patient.contains(join)).collect();
    // Of those that hold each other up, the first that holds up everybody who holds it up.
    let holds_up =
        |one: ElementIndex, other: ElementIndex| missing(other).any(|flow| process.can_reach(one, flow));
    let holders = |join: ElementIndex| {
        let mut found = BTreeSet::new();
        let mut open = vec![join];
        while let Some(held) = open.pop() {
            for &one in still.iter().filter(|&&one| one != held && holds_up(one, held)) {
                if found.insert(one) {
                    open.push(one);
                }
            }
        }
        found
    };
    still
        .iter()
        .copied()
        .find(|join| holders(*join).iter().all(|one| one == join || holders(*one).contains(join)))
}
