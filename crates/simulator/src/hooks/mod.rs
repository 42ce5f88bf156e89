//! Functions of the C library that the simulation has in their place, and the way to the real ones.
//!
//! The program and its libraries call these functions by their names, so no line of theirs is another one here. On a
//! thread that is not of the simulation each does what it always did.

mod files;
mod threads;
mod time;

use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use libc::{c_int, c_long, c_void, timespec};

/// The real function of a name, found once.
pub(crate) struct Real {
    name: &'static CStr,
    at: AtomicPtr<c_void>,
}

impl Real {
    pub const fn new(name: &'static CStr) -> Self {
        Self { name, at: AtomicPtr::new(std::ptr::null_mut()) }
    }

    pub fn get(&self) -> *mut c_void {
        let known = self.at.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: the name ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        assert!(!found.is_null(), "the C library has no such function");
        self.at.store(found, Ordering::Relaxed);
        found
    }
}

/// Calls the real function of a name.
macro_rules! real {
    ($name:literal: fn($($argument:expr => $type:ty),*) -> $result:ty) => {{
        static REAL: $crate::hooks::Real = $crate::hooks::Real::new($name);
        let address = REAL.get();
        // SAFETY: this is the function's signature in the C library.
        let function = unsafe {
            std::mem::transmute::<*mut std::ffi::c_void, unsafe extern "C" fn($($type),*) -> $result>(address)
        };
        // SAFETY: the arguments are those of a caller who keeps the function's promises.
        unsafe { function($($argument),*) }
    }};
}
pub(crate) use real;

/// The real system call, of up to six arguments.
pub(crate) fn system_call(number: c_long, arguments: [c_long; 6]) -> c_long {
    let [a, b, c, d, e, f] = arguments;
    real!(c"syscall": fn(number => c_long, a => c_long, b => c_long, c => c_long, d => c_long, e => c_long, f => c_long) -> c_long)
}

/// Sleeps, for real, as long as a word is 0.
pub(crate) fn park(word: &AtomicU32) {
    let address = std::ptr::from_ref(word) as c_long;
    let operation = c_long::from(libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG);
    system_call(libc::SYS_futex, [address, operation, 0, 0, 0, 0]);
}

/// Wakes the thread that sleeps at a word.
pub(crate) fn unpark(word: &AtomicU32) {
    let address = std::ptr::from_ref(word) as c_long;
    let operation = c_long::from(libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG);
    system_call(libc::SYS_futex, [address, operation, 1, 0, 0, 0]);
}

/// This thread's number in the kernel.
pub(crate) fn thread_id() -> u32 {
    u32::try_from(system_call(libc::SYS_gettid, [0; 6])).expect("a number of a thread")
}

/// Waits, for real, until the kernel knows a thread of this process no more.
pub(crate) fn await_thread_end(thread: u32) {
    let process = c_long::from(std::process::id());
    while system_call(libc::SYS_tgkill, [process, c_long::from(thread), 0, 0, 0, 0]) == 0 {
        system_call(libc::SYS_sched_yield, [0; 6]);
    }
}

/// Fails as functions of the C library do.
pub(crate) fn fail(error: c_int) -> c_int {
    // SAFETY: it is this thread's own.
    unsafe { *libc::__errno_location() = error };
    -1
}

pub use threads::prepare;

/// Ends the process now, whatever its threads do.
pub fn exit(code: c_int) -> ! {
    // SAFETY: nothing of this process is needed any more; what it printed is flushed line by line.
    unsafe { libc::_exit(code) }
}

/// A time of the system, in nanoseconds.
fn nanoseconds(time: &timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
