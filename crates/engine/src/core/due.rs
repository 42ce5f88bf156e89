//! Due work and its order.
//!
//! Kinds of due work take turns: a tick that has used up its budget lets the next one begin with the kind after the
//! one at which it stopped. Jobs are one kind, whether their time is over or their backoff, since each costs the
//! same.
//!
//! Among due timers, owners take turns: call hierarchies, by the key of their root instance, and definitions, for
//! start events. A tick moves due timers into a queue, in order of due time, as many as `MOVED_PER_TRIGGERED` times
//! those that it triggers. There, each gets a round: the one after that at work, or the one after the last of its
//! owner, so that an owner has one timer in a round. Within a round, the earliest due comes first. A timer with a
//! backlog of another owner before it thus waits until that has been moved, a thousand a tick, not until it has
//! been triggered. An order by owner of all timers would cost each timer more rows, and old state a migration; the
//! queue has only timers that are due.
//!
//! A timer stays in the queue if the clock is set back.

use protocol::Key;
use state::StateError;

use crate::core::options::Options;
use crate::entity::tables::Tables;
use crate::entity::{Meta, Timer, TimerTurn, TimerTurns};

/// Due timers moved into the queue per timer that a tick may trigger.
const MOVED_PER_TRIGGERED: usize = 10;

/// Something that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// With its round in the queue.
    Timer(i64, Key, u64),
    Job(i64, Key),
    Message(i64, Key),
}

impl Due {
    const KINDS: u8 = 3;

    fn kind(self) -> u8 {
        match self {
            Self::Timer(..) => 0,
            Self::Job(..) => 1,
            Self::Message(..) => 2,
        }
    }
}

/// When the next thing is due.
pub(crate) fn next_ms(tables: &Tables, now_ms: i64) -> Result<Option<i64>, StateError> {
    if !tables.timer_queue.is_empty()? {
        return Ok(Some(now_ms));
    }
    let dues = [
        tables.timer_due.keys(.., 1)?.first().map(|(due, _)| *due),
        tables.job_due.keys(.., 1)?.first().map(|(due, _)| *due),
        tables.message_due.keys(.., 1)?.first().map(|(due, _)| *due),
    ];
    Ok(dues.into_iter().flatten().min())
}

/// All that one tick may trigger, in the order of turns. Due timers are in the queue then.
pub(crate) fn next(tables: &mut Tables, meta: &Meta, options: &Options) -> Result<Vec<Due>, StateError> {
    let limit = options.max_due_per_tick;
    let end = ..=(meta.now_ms, Key::MAX);
    queue_timers(tables, meta, limit.saturating_mul(MOVED_PER_TRIGGERED))?;
    let queued = tables.timer_queue.keys(.., limit)?;
    let mut due: Vec<Due> = queued.into_iter().map(|(round, ms, key)| Due::Timer(ms, key, round)).collect();
    due.extend(tables.job_due.keys(end, limit)?.into_iter().map(|(ms, key)| Due::Job(ms, key)));
    due.extend(tables.message_due.keys(end, limit)?.into_iter().map(|(ms, key)| Due::Message(ms, key)));
    let turn = |due: &Due| (due.kind() + Due::KINDS - meta.due_kind % Due::KINDS) % Due::KINDS;
    // Stable: each kind keeps its order.
    due.sort_by_key(turn);
    Ok(due)
}

/// Notes the turn of due work.
pub(crate) fn note_turn(meta: &mut Meta, due: Due) {
    if let Due::Timer(_, _, round) = due {
        meta.timer_round = meta.timer_round.max(round);
    }
}

/// Notes the end of a tick, with the last work that it triggered. If it is through, each kind has had its turn.
pub(crate) fn note_end(meta: &mut Meta, is_through: bool, last: Option<Due>) {
    match last {
        _ if is_through => meta.due_kind = 0,
        Some(last) => meta.due_kind = (last.kind() + 1) % Due::KINDS,
        None => {}
    }
}

/// Moves timers that are due into the queue.
fn queue_timers(tables: &mut Tables, meta: &Meta, limit: usize) -> Result<(), StateError> {
    for (due_ms, key) in tables.timer_due.keys(..=(meta.now_ms, Key::MAX), limit)? {
        tables.timer_due.delete(&(due_ms, key));
        let Some(timer) = tables.timers.get(&key)? else { continue };
        let owner = match timer.process_instance_key {
            Some(key) => tables.instances.get(&key)?.map_or(key, |instance| instance.root_key),
            None => timer.definition_key,
        };
        let turns =
            tables.timer_turns.get(&owner)?.map_or(TimerTurns { last_round: 0, queued: 0 }, |row| *row);
        let round = meta.timer_round.max(turns.last_round) + 1;
        tables.timer_turns.put(owner, TimerTurns { last_round: round, queued: turns.queued + 1 });
        tables.timer_queue.insert((round, due_ms, key), ());
        tables.timers.update(&key, |timer| timer.turn = Some(TimerTurn { owner, round }))?;
    }
    Ok(())
}

/// Takes a timer out of the order of due times, or out of the queue.
pub(crate) fn forget_timer(tables: &mut Tables, key: Key, timer: &Timer) -> Result<(), StateError> {
    let Some(TimerTurn { owner, round }) = timer.turn else {
        tables.timer_due.delete(&(timer.due_ms, key));
        return Ok(());
    };
    tables.timer_queue.delete(&(round, timer.due_ms, key));
    match tables.timer_turns.get(&owner)?.map(|row| *row) {
        Some(turns) if turns.queued > 1 => {
            tables.timer_turns.put(owner, TimerTurns { queued: turns.queued - 1, ..turns });
        }
        _ => tables.timer_turns.delete(&owner),
    }
    Ok(())
}

/// Takes a timer whose instance is suspended out of the order of due times. It stays due.
pub(crate) fn hold_timer(tables: &mut Tables, key: Key) -> Result<(), StateError> {
    let Some(timer) = tables.timers.get(&key)? else { return Ok(()) };
    forget_timer(tables, key, &timer)?;
    tables.timers.put(key, Timer { turn: None, ..(*timer).clone() });
    Ok(())
}

/// Puts a timer back that was held, if it was.
pub(crate) fn release_timer(tables: &mut Tables, key: Key) -> Result<(), StateError> {
    let Some(timer) = tables.timers.get(&key)? else { return Ok(()) };
    if timer.turn.is_none() {
        tables.timer_due.put((timer.due_ms, key), ());
    }
    Ok(())
}

/// Makes a timer due at another time.
pub(crate) fn postpone_timer(tables: &mut Tables, key: Key, due_ms: i64) -> Result<(), StateError> {
    let Some(timer) = tables.timers.get(&key)? else { return Ok(()) };
    forget_timer(tables, key, &timer)?;
    tables.timer_due.put((due_ms, key), ());
    tables.timers.put(key, Timer { due_ms, turn: None, ..(*timer).clone() });
    Ok(())
}
