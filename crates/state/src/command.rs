//! The bracket around one command, shared by the tables it may write.

use std::sync::atomic::{AtomicU64, Ordering};

/// Tables that one `tables!` can hold.
pub(crate) const TABLES_MAX: usize = 128;

/// Which command is being applied and which tables it has written.
///
/// Written by the one thread that applies commands; atomic only so that tables can be read from others.
#[derive(Debug, Default)]
pub struct Command {
    /// 0 outside a command.
    epoch: AtomicU64,
    touched: [AtomicU64; TABLES_MAX / 64],
}

impl Command {
    /// The number of the command at hand, 0 if there is none.
    #[inline]
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }

    pub(crate) fn set_epoch(&self, epoch: u64) {
        self.epoch.store(epoch, Ordering::Relaxed);
    }

    pub(crate) fn touch(&self, position: usize) {
        self.touched[position / 64].fetch_or(1 << (position % 64), Ordering::Relaxed);
    }

    /// The tables written, a bit each.
    pub(crate) fn touched(&self) -> u128 {
        self.touched.iter().enumerate().fold(0, |touched, (index, part)| {
            touched | (u128::from(part.load(Ordering::Relaxed)) << (64 * index))
        })
    }

    /// The tables written, a bit each, and forgets them.
    pub(crate) fn take_touched(&self) -> u128 {
        self.touched.iter().enumerate().fold(0, |touched, (index, part)| {
            touched | (u128::from(part.swap(0, Ordering::Relaxed)) << (64 * index))
        })
    }
}
