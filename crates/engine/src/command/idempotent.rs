//! Commands with idempotency keys: each is done once, and one that comes again gets the first answer, if the caller
//! still may. Rows and bytes are bounded: when they are used up, commands with new keys are refused until older ones
//! are forgotten. A principal has no more of them than are free, so that there is always a place for another one. A
//! refusal had no effect and takes none.
//!
//! The constants belong to a version of the engine.

use planted::Bug;
use protocol::{Caller, Command, Idempotency, Principal, Rejection, RejectionType};
use state::StateError;
use xxhash_rust::xxh3::xxh3_128;

use crate::Engine;
use crate::command::transaction::Attempt;
use crate::core::effects::{Effects, Outcome};
use crate::core::failure::ApplyError;
use crate::core::origin::CommandOrigin;
use crate::entity::{KeptAnswer, KeptNeeds, KeyedCommand, KeyedRequest, RowTotals};

/// Expired keys that a command with a key forgets, and a tick: more than one comes with each.
const FORGOTTEN_PER_COMMAND: usize = 4;
const FORGOTTEN_PER_TICK: usize = 1000;
/// Requests that wait for one answer. More of one client are attempts that it has given up.
const MAX_WAITING: usize = 8;
/// Bytes of a row with its indexes, beside its answer.
const ROW_BYTES: u64 = 128;

/// Key of a row.
type At = (u64, u64);

impl Engine {
    /// Does a command, unless it was done before. `None`: the answer comes later.
    pub(crate) fn run_once(
        &mut self,
        by: &Idempotency,
        command: &Command,
        effects: &mut Effects,
    ) -> Result<Option<Outcome>, ApplyError> {
        self.forget_keys(FORGOTTEN_PER_COMMAND)?;
        let at = (by.key[0], by.key[1]);
        if let Some(row) = self.tables.keyed_commands.get(&at)? {
            if row.expires_ms > self.meta.wall_ms {
                let row = (*row).clone();
                if let Some(refusal) = self.refuse_again(&row, command, effects)? {
                    return Ok(Some(Err(refusal)));
                }
                return self.repeat(at, row, by, command);
            }
            self.tables.begin();
            self.forget_key(at)?;
            self.tables.commit();
        }
        let principal = command.caller().map(hash_of);
        if let Some(refusal) = self.refuse_place(principal)? {
            return Ok(Some(Err(refusal)));
        }
        // Before it is done: its subject may be gone then.
        let needs = self.needs_of_keyed(command, effects)?;
        let answer = self.run(command, effects)?;
        if matches!(&answer, Some(Err(_))) {
            return Ok(answer);
        }
        if planted::has(Bug::ForgottenKey) {
            return Ok(answer);
        }
        let number = if answer.is_none() { command.request_id() } else { None };
        let row = KeyedCommand {
            fingerprint: by.fingerprint,
            expires_ms: self.expires_ms(),
            answer: answer.as_ref().map(|answer| self.kept(answer)),
            waiting: number.into_iter().collect(),
            needs,
            principal,
        };
        self.tables.begin();
        if let Some(number) = number {
            self.tables.keyed_requests.put(number, KeyedRequest { key: by.key });
        }
        self.put_key(at, row)?;
        self.tables.commit();
        Ok(answer)
    }

    /// Reason why a principal may not have another key, if any.
    fn refuse_place(&self, principal: Option<[u64; 2]>) -> Result<Option<Rejection>, ApplyError> {
        let limits = self.options.idempotency;
        let totals = self.meta.keyed.unwrap_or_default();
        let (rows, bytes) =
            (limits.max_keys.saturating_sub(totals.rows), limits.max_bytes.saturating_sub(totals.bytes));
        let reason = if rows == 0 || bytes == 0 {
            "Expected to keep the idempotency key, but as many are kept as 'idempotency.max_keys' or \
             'idempotency.max_bytes' allows. Nothing was done."
        } else {
            let Some([high, low]) = principal else { return Ok(None) };
            let own = self.tables.keyed_principals.get(&(high, low))?;
            let own = own.map_or_else(RowTotals::default, |own| *own);
            if own.rows < rows && own.bytes < bytes {
                return Ok(None);
            }
            "Expected to keep the idempotency key, but whoever asks has as many as 'idempotency.max_keys' or \
             'idempotency.max_bytes' leaves for others. Nothing was done."
        };
        Ok(Some(Rejection::new(RejectionType::ResourceExhausted, reason)))
    }

    fn needs_of_keyed(
        &mut self,
        command: &Command,
        effects: &mut Effects,
    ) -> Result<Option<KeptNeeds>, ApplyError> {
        let attempt = self.attempt(effects, |work| {
            work.origin = CommandOrigin::of(command);
            Ok(work.check_access(command, None)?.map(|required| KeptNeeds::of(&required)))
        })?;
        Ok(match attempt {
            Attempt::Done(needs) => needs,
            // The command itself will tell.
            Attempt::Refused(_) | Attempt::Panicked { .. } => None,
        })
    }

    /// Reason why the caller does not get the earlier answer, if any: a permission was taken away since.
    fn refuse_again(
        &mut self,
        row: &KeyedCommand,
        command: &Command,
        effects: &mut Effects,
    ) -> Result<Option<Rejection>, ApplyError> {
        let required = row.needs.as_ref().map(KeptNeeds::required).transpose()?;
        let attempt = self.attempt(effects, |work| {
            work.origin = CommandOrigin::of(command);
            work.check_access(command, required)
        })?;
        Ok(match attempt {
            Attempt::Done(_) => None,
            Attempt::Refused(failure) => Some(failure.into_rejection()),
            Attempt::Panicked { reason, .. } => Some(Rejection::new(RejectionType::ProcessingError, reason)),
        })
    }

    /// Answers a command that was done before.
    fn repeat(
        &mut self,
        at: At,
        mut row: KeyedCommand,
        by: &Idempotency,
        command: &Command,
    ) -> Result<Option<Outcome>, ApplyError> {
        if row.fingerprint != by.fingerprint {
            let reason = "Expected another request with this idempotency key to be the same as the first one, but it \
                          is not. Nothing was done.";
            return Ok(Some(Err(Rejection::new(RejectionType::IdempotencyKeyReused, reason))));
        }
        if let Some(answer) = row.answer {
            return Ok(Some(answer.outcome()?));
        }
        // The same request waits in the same way.
        let Some(number) = command.request_id() else {
            return Ok(Some(Err(Rejection::invalid_state(
                "The command with this idempotency key is under way",
            ))));
        };
        self.tables.begin();
        if row.waiting.len() == MAX_WAITING {
            // The first is the one that the instance or task will answer.
            self.tables.keyed_requests.delete(&row.waiting.remove(1));
        }
        row.waiting.push(number);
        self.tables.keyed_requests.put(number, KeyedRequest { key: by.key });
        self.tables.keyed_commands.put(at, row);
        self.tables.commit();
        Ok(None)
    }

    /// Keeps late answers that commands with keys wait for, and hands them to all requests that do.
    pub(crate) fn keep_late_answers(&mut self, effects: &mut Effects, from: usize) -> Result<(), ApplyError> {
        for index in from..effects.late_responses.len() {
            let (number, outcome) = &effects.late_responses[index];
            let Some(request) = self.tables.keyed_requests.get(number)? else { continue };
            let at = (request.key[0], request.key[1]);
            let row = self.tables.keyed_commands.get(&at)?;
            let mut row = (*row.expect("a request that waits is one of a key that is kept")).clone();
            assert!(row.answer.is_none(), "there is one answer");
            let (number, outcome) = (*number, outcome.clone());
            self.tables.begin();
            for waiting in std::mem::take(&mut row.waiting) {
                self.tables.keyed_requests.delete(&waiting);
                if waiting != number {
                    effects.late_responses.push((waiting, outcome.clone()));
                }
            }
            self.forget_key(at)?;
            row.expires_ms = self.expires_ms();
            row.answer = Some(self.kept(&outcome));
            self.put_key(at, row)?;
            self.tables.commit();
        }
        Ok(())
    }

    /// Forgets expired keys, so many at most.
    pub(crate) fn forget_keys(&mut self, limit: usize) -> Result<(), ApplyError> {
        let until = (self.meta.wall_ms.saturating_add(1), 0, 0);
        let over = self.tables.keyed_due.keys(..until, limit)?;
        if over.is_empty() {
            return Ok(());
        }
        self.tables.begin();
        for (_, high, low) in over {
            self.forget_key((high, low))?;
        }
        self.tables.commit();
        Ok(())
    }

    /// Forgets expired keys during a tick.
    pub(crate) fn forget_keys_on_tick(&mut self) -> Result<(), ApplyError> {
        self.forget_keys(FORGOTTEN_PER_TICK)
    }

    fn expires_ms(&self) -> i64 {
        let keep_ms = i64::try_from(self.options.idempotency.keep_ms).unwrap_or(i64::MAX);
        self.meta.wall_ms.saturating_add(keep_ms)
    }

    /// An answer as it is kept; one that would take too many bytes is not.
    fn kept(&self, outcome: &Outcome) -> KeptAnswer {
        let answer = KeptAnswer::of(outcome);
        let used = self.meta.keyed.unwrap_or_default().bytes + ROW_BYTES;
        if used + answer.bytes() <= self.options.idempotency.max_bytes {
            return answer;
        }
        KeptAnswer::of(&Err(Rejection::invalid_state(format!(
            "The command with this idempotency key was done, but its answer of {} bytes was not kept, because of \
             'idempotency.max_bytes'",
            answer.bytes()
        ))))
    }

    fn put_key(&mut self, at: At, row: KeyedCommand) -> Result<(), StateError> {
        self.meta.keyed = Some(self.meta.keyed.unwrap_or_default().with(row_bytes(&row)));
        if let Some([high, low]) = row.principal {
            let own = self.tables.keyed_principals.get(&(high, low))?;
            let own = own.map_or_else(RowTotals::default, |own| *own).with(row_bytes(&row));
            self.tables.keyed_principals.put((high, low), own);
        }
        self.tables.keyed_due.put((row.expires_ms, at.0, at.1), ());
        self.tables.keyed_commands.put(at, row);
        Ok(())
    }

    fn forget_key(&mut self, at: At) -> Result<(), StateError> {
        let row = self.tables.keyed_commands.get(&at)?.expect("a key that is to be forgotten is there");
        self.meta.keyed = self.meta.keyed.expect("a kept key is counted").without(row_bytes(&row));
        if let Some([high, low]) = row.principal {
            let own = self.tables.keyed_principals.get(&(high, low))?;
            match own.expect("a principal's key is counted").without(row_bytes(&row)) {
                Some(own) => self.tables.keyed_principals.put((high, low), own),
                None => self.tables.keyed_principals.delete(&(high, low)),
            }
        }
        self.tables.keyed_due.delete(&(row.expires_ms, at.0, at.1));
        for number in &row.waiting {
            self.tables.keyed_requests.delete(number);
        }
        self.tables.keyed_commands.delete(&at);
        Ok(())
    }
}

fn row_bytes(row: &KeyedCommand) -> u64 {
    ROW_BYTES + row.kept_bytes()
}

/// A hash of a principal. Two with the same one share their places.
fn hash_of(caller: &Caller) -> [u64; 2] {
    let Principal { entity_type, id, .. } = &caller.principal;
    let hash = xxh3_128(&[entity_type.as_str().as_bytes(), b":", id.as_bytes()].concat());
    [(hash >> 64) as u64, hash as u64]
}
