//! Sampling: the timer of the process's CPU time, the handler of its signal, and the buffer that it fills.
//!
//! The handler allocates nothing, takes no lock, and waits for nobody. It follows a stack only if code of the program
//! itself was interrupted: within the C library the unwinder's own locks may be held.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use libc::{c_int, c_void};

/// Frames of one stack; deeper ones are left out.
const DEPTH_MAX: usize = 128;
/// Size of all stacks together, in words of 8 bytes.
const WORDS_MAX: usize = 1 << 20;
/// Average size of one stack, at least.
const WORDS_USUAL: u64 = 48;
/// Where the kernel tells what is mapped.
const MAPS: &str = "/proc/self/maps";

// Stacks may not need the memory that a profile is allowed to take.
const _: () = assert!(WORDS_MAX * size_of::<AtomicU64>() <= 8 << 20);

/// Where the handler writes; null while nothing is sampled.
static STACKS: AtomicPtr<Stacks> = AtomicPtr::new(null_mut());
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// The timer and its signal belong to the process.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Stacks one after the other: a word with the thread and the number of frames, then their addresses, the innermost
/// first.
struct Stacks {
    words: Box<[AtomicU64]>,
    used: AtomicUsize,
    lost: AtomicU64,
    /// The code of the program.
    code: Range<u64>,
}

/// Samples are being taken until this is stopped or dropped.
#[derive(Debug)]
pub struct Sampling {
    stacks: *mut Stacks,
}

// SAFETY: the pointer is to memory that this value alone frees, and that others change with atomics alone.
unsafe impl Send for Sampling {}

/// The samples.
pub struct Samples {
    stacks: Box<Stacks>,
}

impl std::fmt::Debug for Samples {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Samples").field("lost", &self.lost()).finish_non_exhaustive()
    }
}

impl Sampling {
    /// Begins to sample, no more often in a second of CPU time than this, and seldom enough that the buffer holds
    /// `seconds`. Fails while another one samples.
    pub fn start(hertz_max: u32, seconds: u64) -> io::Result<Self> {
        let maps = std::fs::read_to_string(MAPS)?;
        let program = std::fs::read_link("/proc/self/exe")?;
        let code = code_of(&maps, &program.to_string_lossy())
            .ok_or_else(|| io::Error::other("the program's code is not in the list of mappings"))?;
        // It is loaded lazily, which takes locks.
        backtrace::trace(|_| false);
        if IS_TAKEN.swap(true, Ordering::SeqCst) {
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, "samples are being taken already"));
        }
        // SAFETY: atomics of integers may be all zeros. Nothing is touched, so that memory is taken as stacks come.
        let words = unsafe { Box::<[AtomicU64]>::new_zeroed_slice(WORDS_MAX).assume_init() };
        let stacks = Box::new(Stacks { words, used: AtomicUsize::new(0), lost: AtomicU64::new(0), code });
        let sampling = Self { stacks: Box::into_raw(stacks) };
        STACKS.store(sampling.stacks, Ordering::SeqCst);
        handle(take as *const () as usize)?;
        set_timer(hertz(hertz_max, seconds))?;
        Ok(sampling)
    }

    /// Ends it.
    pub fn stop(self) -> Samples {
        // SAFETY: `end` has made sure that no handler knows the buffer any more, and `forget` that it is freed once.
        let stacks = unsafe { Box::from_raw(self.end()) };
        std::mem::forget(self);
        IS_TAKEN.store(false, Ordering::SeqCst);
        Samples { stacks }
    }

    /// After this no handler is at work, nor will be.
    fn end(&self) -> *mut Stacks {
        // Neither fails with valid arguments; a late signal is ignored, as it would end the process otherwise.
        let _ = set_timer(0);
        let _ = handle(libc::SIG_IGN);
        STACKS.store(null_mut(), Ordering::SeqCst);
        while INSIDE.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now();
        }
        self.stacks
    }
}

impl Drop for Sampling {
    fn drop(&mut self) {
        // SAFETY: as in `stop`, which forgets the value.
        drop(unsafe { Box::from_raw(self.end()) });
        IS_TAKEN.store(false, Ordering::SeqCst);
    }
}

impl Samples {
    /// Samples that found no place.
    pub fn lost(&self) -> u64 {
        self.stacks.lost.load(Ordering::Relaxed)
    }

    /// Writes them with what it takes to find the names: where code is mapped, and how threads are called. Line by
    /// line, as [`crate::render`] reads it.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let program = std::fs::read_link("/proc/self/exe")?;
        writeln!(out, "program {}", program.display())?;
        let maps = std::fs::read_to_string(MAPS)?;
        for line in maps.lines().filter(|line| is_code(line)) {
            writeln!(out, "map {line}")?;
        }
        let threads: BTreeSet<u32> = self.iter().map(|(thread, _)| thread).collect();
        for thread in threads {
            // It may have ended.
            let name = std::fs::read_to_string(format!("/proc/self/task/{thread}/comm")).unwrap_or_default();
            writeln!(out, "thread {thread} {}", name.trim())?;
        }
        for (thread, frames) in self.iter() {
            write!(out, "stack {thread}")?;
            for frame in frames {
                write!(out, " {:x}", frame.load(Ordering::Relaxed))?;
            }
            writeln!(out)?;
        }
        writeln!(out, "lost {}", self.lost())
    }

    fn iter(&self) -> impl Iterator<Item = (u32, &[AtomicU64])> {
        let used = self.stacks.used.load(Ordering::Relaxed).min(WORDS_MAX);
        let mut rest = &self.stacks.words[..used];
        std::iter::from_fn(move || {
            let (head, behind) = rest.split_first()?;
            let head = head.load(Ordering::Relaxed);
            let count = (head & u64::from(u32::MAX)) as usize;
            // The last one may have found no place; its words are zeros.
            if count == 0 || count > behind.len() {
                return None;
            }
            let (frames, others) = behind.split_at(count);
            rest = others;
            Some(((head >> 32) as u32, frames))
        })
    }
}

impl Stacks {
    /// Takes one sample. In a handler: see the head of this file.
    fn take(&self, interrupted: u64) {
        let mut frames = [0_u64; DEPTH_MAX];
        let mut count = 0;
        if self.code.contains(&interrupted) {
            // SAFETY: no other thread is kept from unwinding, and this one does not unwind: code of the program itself
            // was interrupted, which takes no lock of the unwinder.
            unsafe {
                backtrace::trace_unsynchronized(|frame| {
                    let address = frame.ip() as u64;
                    // Frames of the handler come first.
                    if count > 0 || address == interrupted {
                        frames[count] = address;
                        count += 1;
                    }
                    count < DEPTH_MAX
                });
            }
        }
        if count == 0 {
            (frames[0], count) = (interrupted, 1);
        }
        let place = self.used.fetch_add(count + 1, Ordering::Relaxed);
        let Some(words) = self.words.get(place..place + count + 1) else {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        };
        // SAFETY: it has no preconditions.
        let thread = unsafe { libc::gettid() };
        for (word, frame) in words[1..].iter().zip(frames) {
            word.store(frame, Ordering::Relaxed);
        }
        words[0].store(u64::from(thread.cast_unsigned()) << 32 | count as u64, Ordering::Relaxed);
    }
}

extern "C" fn take(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the place of the thread's own error number, which whatever was interrupted may be about to read.
    let errno = unsafe { *libc::__errno_location() };
    INSIDE.fetch_add(1, Ordering::SeqCst);
    // SAFETY: while `INSIDE` counts this handler, what it finds here is not freed.
    if let Some(stacks) = unsafe { STACKS.load(Ordering::SeqCst).as_ref() } {
        stacks.take(interrupted(context));
    }
    INSIDE.fetch_sub(1, Ordering::SeqCst);
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// The address of the instruction that was interrupted.
fn interrupted(context: *mut c_void) -> u64 {
    if context.is_null() {
        return 0;
    }
    // SAFETY: the kernel passes such a context to handlers that were set with `SA_SIGINFO`.
    let context = unsafe { &*context.cast::<libc::ucontext_t>() };
    #[cfg(target_arch = "x86_64")]
    let address = context.uc_mcontext.gregs[libc::REG_RIP as usize].cast_unsigned();
    #[cfg(target_arch = "aarch64")]
    let address = context.uc_mcontext.pc;
    address
}

/// Sets what becomes of the signal.
fn handle(handler: libc::sighandler_t) -> io::Result<()> {
    // SAFETY: all zeros are a valid action, which is filled in; the handler is safe to run at any time.
    let failed = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigaction(libc::SIGPROF, &raw const action, null_mut())
    };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sets how often in a second of CPU time the signal comes; 0: never.
fn set_timer(hertz: u32) -> io::Result<()> {
    let period =
        libc::timeval { tv_sec: 0, tv_usec: if hertz == 0 { 0 } else { 1_000_000 / i64::from(hertz) } };
    let timer = libc::itimerval { it_interval: period, it_value: period };
    // SAFETY: the pointers are to a valid timer and to none.
    let failed = unsafe { libc::setitimer(libc::ITIMER_PROF, &raw const timer, null_mut()) };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// How often to sample so that the buffer lasts, however many processors are busy.
fn hertz(hertz_max: u32, seconds: u64) -> u32 {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    let lasting = WORDS_MAX as u64 / (WORDS_USUAL * processors * seconds.max(1));
    u32::try_from(lasting).unwrap_or(u32::MAX).clamp(2, hertz_max.clamp(2, 999))
}

fn is_code(line: &str) -> bool {
    line.split_ascii_whitespace().nth(1).is_some_and(|rights| rights.contains('x'))
}

/// Where code of a program is mapped.
fn code_of(maps: &str, program: &str) -> Option<Range<u64>> {
    let address = |text: &str| u64::from_str_radix(text, 16).ok();
    let mut ranges =
        maps.lines().filter(|line| is_code(line) && line.ends_with(program)).filter_map(|line| {
            let (start, end) = line.split_ascii_whitespace().next()?.split_once('-')?;
            Some(address(start)?..address(end)?)
        });
    let first = ranges.next()?;
    Some(ranges.fold(first, |all, one| all.start.min(one.start)..all.end.max(one.end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_lasts_as_long_as_is_sampled() {
        assert_eq!(hertz(199, 0), hertz(199, 1));
        for seconds in [1, 10, 60, 100_000] {
            let hertz = hertz(199, seconds);
            assert!((2..=199).contains(&hertz), "{hertz}");
        }
        assert!(hertz(199, 60) <= hertz(199, 1));
    }

    #[test]
    fn code_is_found_among_what_is_mapped() {
        let maps = "5500-5600 r--p 00000000 fe:00 12 /opt/baton\n5600-5700 r-xp 00000100 fe:00 12 /opt/baton\n\
                    7f00-7f10 r-xp 00000000 fe:00 13 /lib/libc.so.6\n";
        assert_eq!(code_of(maps, "/opt/baton"), Some(0x5600..0x5700));
        assert_eq!(code_of(maps, "/opt/other"), None);
    }
}
