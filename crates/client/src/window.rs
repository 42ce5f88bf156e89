//! The bounded in-flight window: a request waits for room. It is never refused and never piles up in a queue.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// At most so many requests at a time; who comes later waits, in order of arrival.
#[derive(Debug, Clone)]
pub struct Window {
    permits: Arc<Semaphore>,
    size: usize,
}

/// Room for one request; given back when dropped.
#[derive(Debug)]
pub struct WindowPermit(#[allow(dead_code)] OwnedSemaphorePermit);

impl Window {
    /// Room for `size` requests, at least one.
    pub fn new(size: usize) -> Self {
        let size = size.clamp(1, Semaphore::MAX_PERMITS);
        Self { permits: Arc::new(Semaphore::new(size)), size }
    }

    /// Waits for room.
    pub async fn enter(&self) -> WindowPermit {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        WindowPermit(permit.expect("the semaphore is never closed"))
    }

    /// How many requests fit at a time.
    pub fn size(&self) -> usize {
        self.size
    }

    /// How many requests are in flight now.
    pub fn in_flight(&self) -> usize {
        self.size - self.permits.available_permits()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn waits_instead_of_refusing() {
        let window = Window::new(3);
        let peak = Arc::new(AtomicUsize::new(0));
        let done = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..100)
            .map(|_| {
                let (window, peak, done) = (window.clone(), Arc::clone(&peak), Arc::clone(&done));
                tokio::spawn(async move {
                    let _permit = window.enter().await;
                    peak.fetch_max(window.in_flight(), Ordering::SeqCst);
                    tokio::task::yield_now().await;
                    done.fetch_add(1, Ordering::SeqCst);
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(done.load(Ordering::SeqCst), 100);
        assert_eq!(peak.load(Ordering::SeqCst), 3);
        assert_eq!(window.in_flight(), 0);
    }

    #[tokio::test]
    async fn a_window_of_nothing_still_lets_one_through() {
        let window = Window::new(0);
        assert_eq!(window.size(), 1);
        drop(window.enter().await);
    }
}
