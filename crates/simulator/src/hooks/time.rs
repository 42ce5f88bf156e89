//! Clocks, sleeps and random bits.

use libc::{c_int, c_uint, c_void, clockid_t, size_t, ssize_t, timespec};

use super::{nanoseconds, real};
use crate::scheduler;

/// # Safety
/// As in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    if !scheduler::is_simulated() {
        return real!(c"clock_gettime": fn(clock => clockid_t, time => *mut timespec) -> c_int);
    }
    let now_ns = match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE => scheduler::wall_clock_ns(),
        _ => scheduler::look_at_clock(),
    };
    let now = timespec { tv_sec: (now_ns / 1_000_000_000) as i64, tv_nsec: (now_ns % 1_000_000_000) as i64 };
    // SAFETY: the caller's place for a time.
    unsafe { time.write(now) };
    0
}

/// # Safety
/// As in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanosleep(time: *const timespec, left: *mut timespec) -> c_int {
    if !scheduler::is_simulated() {
        return real!(c"nanosleep": fn(time => *const timespec, left => *mut timespec) -> c_int);
    }
    // SAFETY: the caller's time.
    let time_ns = nanoseconds(unsafe { &*time });
    scheduler::wait(0, Some(scheduler::now_ns() + time_ns));
    0
}

/// # Safety
/// As in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_nanosleep(
    clock: clockid_t,
    flags: c_int,
    time: *const timespec,
    left: *mut timespec,
) -> c_int {
    if !scheduler::is_simulated() {
        return real!(c"clock_nanosleep": fn(clock => clockid_t, flags => c_int, time => *const timespec, left => *mut timespec) -> c_int);
    }
    // SAFETY: the caller's time.
    let time_ns = nanoseconds(unsafe { &*time });
    let is_absolute = flags & libc::TIMER_ABSTIME != 0;
    let until_ns = if is_absolute { time_ns } else { scheduler::now_ns() + time_ns };
    scheduler::wait(0, Some(until_ns));
    0
}

/// # Safety
/// As in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getrandom(buffer: *mut c_void, length: size_t, flags: c_uint) -> ssize_t {
    if !scheduler::is_simulated() {
        return real!(c"getrandom": fn(buffer => *mut c_void, length => size_t, flags => c_uint) -> ssize_t);
    }
    // SAFETY: the caller's buffer.
    let bytes = unsafe { std::slice::from_raw_parts_mut(buffer.cast::<u8>(), length) };
    for part in bytes.chunks_mut(8) {
        part.copy_from_slice(&scheduler::entropy().to_le_bytes()[..part.len()]);
    }
    length as ssize_t
}
