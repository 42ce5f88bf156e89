//! State that the hosts of a simulation share, without locks.
//!
//! A host may be held up, or end, while it has a lock; others would wait for it for ever. One thread runs at a time, so
//! it is enough that the turn is not passed on.

use std::cell::UnsafeCell;

use crate::scheduler::quietly;

/// A value that one thread looks at, at a time.
#[derive(Default)]
pub struct Exclusive<T>(UnsafeCell<T>);

// SAFETY: one thread of the simulation runs at a time, and does not pass the turn on while it looks.
unsafe impl<T: Send> Sync for Exclusive<T> {}

impl<T> Exclusive<T> {
    /// A value.
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Looks at the value. `look` must neither wait nor look again.
    pub fn with<R>(&self, look: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: see `Sync`.
        quietly(|| look(unsafe { &mut *self.0.get() }))
    }

    /// Looks at the value from within a look at another one.
    pub fn peek<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        // SAFETY: see `Sync`.
        look(unsafe { &*self.0.get() })
    }
}
