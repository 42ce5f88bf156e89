//! The data directory of a broker: its places, and files that outlast a power failure.

pub mod durable_file;
mod layout;
mod restored;
mod room;
mod synced_file;

pub use layout::{log_directory, move_replica, remove_replica, set_aside, state_file};
pub use restored::{Restored, describe};
pub use room::check_room;
pub use synced_file::SyncedFile;
