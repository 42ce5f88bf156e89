//! Threads: their begin and end, and everything that they wait for each other with.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use libc::{c_int, c_long, c_void, pthread_attr_t, pthread_t, timespec};

use super::{fail, nanoseconds, real, system_call};
use crate::scheduler::{self, Turn, Woken};

type Main = extern "C" fn(*mut c_void) -> *mut c_void;

struct Beginning {
    number: u32,
    turn: Turn,
    main: Main,
    argument: *mut c_void,
}

/// A key whose destructor is the last that a thread runs.
fn last_key() -> libc::pthread_key_t {
    static KEY: OnceLock<libc::pthread_key_t> = OnceLock::new();
    *KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: the key is written before it is read.
        let failed = unsafe { libc::pthread_key_create(&raw mut key, Some(last)) };
        assert_eq!(failed, 0, "there is a key");
        key
    })
}

/// Makes the key before any thread begins.
pub fn prepare() {
    last_key();
}

/// Called when the values of the thread, those with destructors of Rust's too, are gone.
unsafe extern "C" fn last(_: *mut c_void) {
    if scheduler::is_simulated() {
        scheduler::leave();
    }
}

extern "C" fn begin(beginning: *mut c_void) -> *mut c_void {
    // SAFETY: `pthread_create` below has made it, for this thread.
    let beginning = unsafe { Box::from_raw(beginning.cast::<Beginning>()) };
    let Beginning { number, turn, main, argument } = *beginning;
    scheduler::enter(number, turn);
    // SAFETY: the value is not looked at; it only must not be null.
    unsafe { libc::pthread_setspecific(last_key(), std::ptr::dangling()) };
    main(argument)
}

/// # Safety
/// As in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_create(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    main: Main,
    argument: *mut c_void,
) -> c_int {
    if !scheduler::is_simulated() {
        return real!(c"pthread_create": fn(thread => *mut pthread_t, attributes => *const pthread_attr_t, main => Main, argument => *mut c_void) -> c_int);
    }
    let (number, turn) = scheduler::announce();
    let beginning = Box::into_raw(Box::new(Beginning { number, turn, main, argument }));
    let argument = beginning.cast::<c_void>();
    let failed = real!(c"pthread_create": fn(thread => *mut pthread_t, attributes => *const pthread_attr_t, begin => Main, argument => *mut c_void) -> c_int);
    if failed == 0 {
        // SAFETY: the C library has written it.
        scheduler::announced(number, Some(unsafe { *thread }));
        scheduler::give_way();
    } else {
        scheduler::announced(number, None);
        // SAFETY: no thread has taken it.
        drop(unsafe { Box::from_raw(beginning) });
    }
    failed
}

/// # Safety
/// As in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_join(thread: pthread_t, value: *mut *mut c_void) -> c_int {
    if scheduler::is_simulated() {
        scheduler::await_end(thread);
    }
    real!(c"pthread_join": fn(thread => pthread_t, value => *mut *mut c_void) -> c_int)
}

/// # Safety
/// As in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sched_yield() -> c_int {
    if !scheduler::is_simulated() {
        return real!(c"sched_yield": fn() -> c_int);
    }
    scheduler::give_way();
    0
}

/// # Safety
/// As in the C library. Arguments of a system call are numbers and pointers, which come in the same registers whether
/// the caller knows how many there are or not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    if scheduler::is_simulated() {
        if number == libc::SYS_futex {
            // SAFETY: the caller's arguments.
            return unsafe { futex(a as *const AtomicU32, b as c_int, c as u32, d, f as u32) };
        }
        if number == libc::SYS_getrandom {
            // SAFETY: the caller's buffer.
            return unsafe { super::time::getrandom(a as *mut c_void, b as usize, 0) as c_long };
        }
    }
    system_call(number, [a, b, c, d, e, f])
}

/// # Safety
/// The address is that of a word, and the time, if it is one, a pointer to a time.
unsafe fn futex(word: *const AtomicU32, operation: c_int, value: u32, time: c_long, _: u32) -> c_long {
    let wakes = c_long::from(libc::FUTEX_WAKE);
    let kind = c_long::from(operation & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME));
    if kind == wakes {
        return scheduler::wake(word as usize, u64::from(value)) as c_long;
    }
    let is_absolute = kind == c_long::from(libc::FUTEX_WAIT_BITSET);
    assert!(is_absolute || kind == c_long::from(libc::FUTEX_WAIT), "nobody uses this futex operation");
    assert!(operation & libc::FUTEX_CLOCK_REALTIME == 0, "nobody waits for a time of the wall clock");
    // SAFETY: the caller's word.
    if unsafe { &*word }.load(Ordering::SeqCst) != value {
        return c_long::from(fail(libc::EAGAIN));
    }
    let time = time as *const timespec;
    let until_ns = if time.is_null() {
        None
    } else {
        // SAFETY: the caller's time.
        let time_ns = nanoseconds(unsafe { &*time });
        Some(if is_absolute { time_ns } else { scheduler::now_ns() + time_ns })
    };
    match scheduler::wait(word as usize, until_ns) {
        Woken::Up => 0,
        Woken::Late => c_long::from(fail(libc::ETIMEDOUT)),
    }
}
