//! Threads that take turns, on a clock that goes on when nobody works.
//!
//! All threads of the process are real, and run the code of the program as it is. But one runs at a time: it has the
//! turn, and passes it on when it waits (for a lock, a channel, a sleep, a sync of a file) or, now and then, when it
//! wakes another. A random number of the seed tells which is next. When all wait, the clock jumps to the next
//! deadline. So a run is a function of its seed, and every order of events that threads can have is in reach.
//!
//! A thread belongs to a host: that of the thread that began it. The threads of a host can be held up, as by a
//! `SIGSTOP`, or never go on, as after a `SIGKILL`.
//!
//! `hooks` calls this from the functions of the C library that it replaces.

use std::cell::{Cell, UnsafeCell};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::hooks::{await_thread_end, park, thread_id, unpark};
use crate::random::Random;

/// Threads of the simulation itself.
pub const CONTROLLER: u32 = 0;

/// One look at the clock takes so long, so that a loop until a time ends.
const LOOK_NS: u64 = 200;
/// One turn takes so long.
const TURN_NS: u64 = 1_000;
/// One of so many wakers passes the turn on.
const YIELDS: u64 = 6;

/// The wall clock at the beginning, nanoseconds since 1970.
const EPOCH_NS: u64 = 1_700_000_000_000_000_000;

const NONE: u32 = u32::MAX;

/// The thread that passed the turn on for the last time, by its number in the kernel; 0: none. The next waits until it
/// is gone, since its stack and its part of the heap go to threads that begin later: addresses would depend on a race.
static LEAVING: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// The number of this thread, if it is one of the simulation.
    static ME: Cell<u32> = const { Cell::new(NONE) };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ThreadState {
    Runnable,
    /// Waits at an address (0: for time only), until a time.
    Waiting {
        address: usize,
        until_ns: Option<u64>,
    },
    Ended,
}

/// The result of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// Another thread woke it.
    Up,
    /// Its time was over.
    Late,
}

struct Thread {
    host: u32,
    state: ThreadState,
    woken: Woken,
    /// Set to give this thread the turn. Its address stays.
    turn: Box<AtomicU32>,
    /// Its number in the C library, once it is known.
    handle: Option<libc::pthread_t>,
}

/// The threads of one life of a broker.
#[derive(Debug, Clone, Default)]
pub struct Host {
    /// They wait, whatever happens.
    pub is_held_up: bool,
    /// They never go on.
    pub is_dead: bool,
    /// Its wall clock, relative to that of the simulation.
    pub clock_offset_ns: i64,
}

/// All threads, and the clock.
pub struct Scheduler {
    threads: Vec<Thread>,
    hosts: Vec<Host>,
    now_ns: u64,
    random: Random,
    entropy: Random,
    /// Depth of sections in which the turn is not passed on.
    quiet: u32,
    /// The host of the next thread, if it is not that of its parent.
    host_of_next: Option<u32>,
    turns: u64,
    trace: u64,
}

struct SchedulerSlot(UnsafeCell<*mut Scheduler>);

// SAFETY: only the thread that has the turn looks at it, see `with`.
unsafe impl Sync for SchedulerSlot {}

static SCHEDULER: SchedulerSlot = SchedulerSlot(UnsafeCell::new(null_mut()));

/// Whether this thread is one of the simulation.
pub fn is_simulated() -> bool {
    ME.get() != NONE
}

/// Looks at the scheduler. `look` must not wait, nor call what may.
fn with<T>(look: impl FnOnce(&mut Scheduler, u32) -> T) -> T {
    let me = ME.get();
    assert!(me != NONE, "this thread is not of the simulation");
    // SAFETY: `begin` has set it, and this thread has the turn: no other is here, and `look` calls nothing that is.
    look(unsafe { &mut **SCHEDULER.0.get() }, me)
}

/// Begins the simulation, with this thread as its first.
pub fn begin(seed: u64) {
    assert!(!is_simulated(), "the simulation has begun");
    let mut random = Random::new(seed ^ 0x5eed);
    let entropy = random.fork();
    let mut scheduler = Scheduler {
        threads: Vec::new(),
        hosts: vec![Host::default()],
        now_ns: 1_000_000_000,
        random,
        entropy,
        quiet: 0,
        host_of_next: None,
        turns: 0,
        trace: seed,
    };
    scheduler.threads.push(Thread::new(CONTROLLER));
    // SAFETY: there is no other thread of the simulation yet.
    unsafe { *SCHEDULER.0.get() = Box::into_raw(Box::new(scheduler)) };
    ME.set(0);
}

impl Thread {
    fn new(host: u32) -> Self {
        Self {
            host,
            state: ThreadState::Runnable,
            woken: Woken::Up,
            turn: Box::new(AtomicU32::new(0)),
            handle: None,
        }
    }
}

impl Scheduler {
    fn mix(&mut self, event: u64) {
        self.trace = (self.trace.rotate_left(5) ^ event).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    /// The thread that has the next turn. The clock goes on as far as it must.
    fn next(&mut self) -> u32 {
        self.turns += 1;
        self.now_ns += TURN_NS;
        loop {
            let (mut ready, mut earliest) = (0, u64::MAX);
            for thread in &mut self.threads {
                let host = &self.hosts[thread.host as usize];
                if host.is_dead || host.is_held_up {
                    continue;
                }
                match thread.state {
                    ThreadState::Runnable => ready += 1,
                    ThreadState::Waiting { until_ns: Some(until_ns), .. } if until_ns <= self.now_ns => {
                        (thread.state, thread.woken) = (ThreadState::Runnable, Woken::Late);
                        ready += 1;
                    }
                    ThreadState::Waiting { until_ns: Some(until_ns), .. } => {
                        earliest = earliest.min(until_ns);
                    }
                    ThreadState::Waiting { .. } | ThreadState::Ended => {}
                }
            }
            if ready > 0 {
                let chosen = self.random.below(ready);
                let is_ready = |thread: &Thread| {
                    let host = &self.hosts[thread.host as usize];
                    thread.state == ThreadState::Runnable && !host.is_dead && !host.is_held_up
                };
                let mut found = self.threads.iter().enumerate().filter(|(_, thread)| is_ready(thread));
                let number = found.nth(chosen as usize).expect("so many are ready").0 as u32;
                self.mix(self.now_ns ^ (u64::from(number) << 48));
                return number;
            }
            assert!(earliest != u64::MAX, "all threads wait for each other:\n{}", self.describe());
            self.now_ns = earliest;
        }
    }

    fn describe(&self) -> String {
        let mut text = String::new();
        for (number, thread) in self.threads.iter().enumerate() {
            if thread.state != ThreadState::Ended {
                text.push_str(&format!("thread {number} of host {}: {:?}\n", thread.host, thread.state));
            }
        }
        text
    }

    fn wake(&mut self, address: usize, most: u64) -> u64 {
        let mut woken = 0;
        for thread in &mut self.threads {
            if woken == most {
                break;
            }
            if matches!(thread.state, ThreadState::Waiting { address: at, .. } if at == address) {
                (thread.state, thread.woken) = (ThreadState::Runnable, Woken::Up);
                woken += 1;
            }
        }
        woken
    }
}

/// Passes the turn on, and comes back with it.
fn pass_on() {
    let (next, turn, mine) = with(|scheduler, me| {
        assert!(scheduler.quiet == 0, "a thread waits where it must not");
        let next = scheduler.next();
        let turn: *const AtomicU32 = &raw const *scheduler.threads[next as usize].turn;
        let mine: *const AtomicU32 = &raw const *scheduler.threads[me as usize].turn;
        (next, turn, mine)
    });
    if next == ME.get() {
        return;
    }
    give(turn);
    take(mine);
}

fn give(turn: *const AtomicU32) {
    // SAFETY: words of turns are never freed.
    let turn = unsafe { &*turn };
    turn.store(1, Ordering::Release);
    unpark(turn);
}

fn take(turn: *const AtomicU32) {
    // SAFETY: words of turns are never freed.
    let turn = unsafe { &*turn };
    while turn.swap(0, Ordering::Acquire) == 0 {
        park(turn);
    }
    let leaving = LEAVING.swap(0, Ordering::Relaxed);
    if leaving != 0 {
        await_thread_end(leaving);
    }
}

/// Waits at an address until it is woken, or until a time.
pub fn wait(address: usize, until_ns: Option<u64>) -> Woken {
    with(|scheduler, me| {
        scheduler.threads[me as usize].state = ThreadState::Waiting { address, until_ns };
    });
    pass_on();
    with(|scheduler, me| scheduler.threads[me as usize].woken)
}

/// Wakes threads that wait at an address; tells how many.
pub fn wake(address: usize, most: u64) -> u64 {
    let (woken, yields) = with(|scheduler, _| {
        let woken = scheduler.wake(address, most);
        (woken, woken > 0 && scheduler.quiet == 0 && scheduler.random.one_in(YIELDS))
    });
    if yields {
        pass_on();
    }
    woken
}

/// Lets others go first.
pub fn give_way() {
    if with(|scheduler, _| scheduler.quiet == 0) {
        pass_on();
    }
}

/// Does something while no other thread runs. It must not wait.
pub fn quietly<T>(act: impl FnOnce() -> T) -> T {
    with(|scheduler, _| scheduler.quiet += 1);
    let done = act();
    with(|scheduler, _| scheduler.quiet -= 1);
    done
}

/// The time since the beginning, nanoseconds. Looking takes a moment.
pub fn look_at_clock() -> u64 {
    with(|scheduler, _| {
        scheduler.now_ns += LOOK_NS;
        scheduler.now_ns
    })
}

/// The time, without taking any.
pub fn now_ns() -> u64 {
    with(|scheduler, _| scheduler.now_ns)
}

/// The wall clock of this thread's host, nanoseconds since 1970.
pub fn wall_clock_ns() -> u64 {
    let now = look_at_clock();
    with(|scheduler, me| {
        let host = scheduler.threads[me as usize].host;
        (EPOCH_NS + now).saturating_add_signed(scheduler.hosts[host as usize].clock_offset_ns)
    })
}

/// The host of this thread.
pub fn host() -> u32 {
    with(|scheduler, me| scheduler.threads[me as usize].host)
}

/// A new host.
pub fn add_host(host: Host) -> u32 {
    with(|scheduler, _| {
        scheduler.hosts.push(host);
        scheduler.hosts.len() as u32 - 1
    })
}

/// Changes a host, from another one.
pub fn change_host(number: u32, change: impl FnOnce(&mut Host)) {
    with(|scheduler, me| {
        assert!(scheduler.threads[me as usize].host != number, "a host does not change itself");
        change(&mut scheduler.hosts[number as usize]);
    });
}

/// The next thread that this one begins is of another host.
pub fn next_thread_is_of(host: u32) {
    with(|scheduler, _| scheduler.host_of_next = Some(host));
}

/// Random bits for whoever asks the operating system for some.
pub fn entropy() -> u64 {
    with(|scheduler, _| scheduler.entropy.bits())
}

/// Turns until now, and a number that tells one order of them from another.
pub fn trace() -> (u64, u64) {
    with(|scheduler, _| (scheduler.turns, scheduler.trace))
}

/// Notes an event in the trace.
pub fn note(event: u64) {
    with(|scheduler, _| scheduler.mix(event));
}

/// The word that tells a thread that it has the turn.
#[derive(Clone, Copy)]
pub(crate) struct Turn(*const AtomicU32);

/// A thread is about to begin; gives its number.
pub(crate) fn announce() -> (u32, Turn) {
    with(|scheduler, me| {
        let parent = scheduler.threads[me as usize].host;
        let host = scheduler.host_of_next.take().unwrap_or(parent);
        let thread = Thread::new(host);
        let turn = Turn(&raw const *thread.turn);
        scheduler.threads.push(thread);
        (scheduler.threads.len() as u32 - 1, turn)
    })
}

/// The number that the C library gives to a thread that was announced.
pub(crate) fn announced(number: u32, handle: Option<libc::pthread_t>) {
    with(|scheduler, _| {
        let thread = &mut scheduler.threads[number as usize];
        match handle {
            Some(_) => thread.handle = handle,
            None => thread.state = ThreadState::Ended,
        }
    });
}

/// Begins an announced thread, on itself: waits for its turn.
pub(crate) fn enter(number: u32, turn: Turn) {
    take(turn.0);
    ME.set(number);
}

/// Ends this thread, and passes the turn on.
pub(crate) fn leave() {
    let turn = with(|scheduler, me| {
        scheduler.threads[me as usize].state = ThreadState::Ended;
        let at = ended_at(me);
        scheduler.wake(at, u64::MAX);
        let next = scheduler.next();
        &raw const *scheduler.threads[next as usize].turn
    });
    ME.set(NONE);
    LEAVING.store(thread_id(), Ordering::Relaxed);
    give(turn);
}

/// The address at which threads wait for the end of one: none of the program's.
fn ended_at(number: u32) -> usize {
    number as usize * 2 + 1
}

/// Waits until a thread has ended, if it is one of the simulation.
pub(crate) fn await_end(handle: libc::pthread_t) {
    loop {
        let waits_at = with(|scheduler, _| {
            let of_handle = |thread: &Thread| thread.handle == Some(handle);
            let number = scheduler.threads.iter().rposition(of_handle)?;
            (scheduler.threads[number].state != ThreadState::Ended).then(|| ended_at(number as u32))
        });
        match waits_at {
            Some(address) => wait(address, None),
            None => return,
        };
    }
}
