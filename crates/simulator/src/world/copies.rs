//! Old copies of data directories, put back; and replicas that were made anew, which must have a reason.

use std::path::{Path, PathBuf};

use super::{BROKERS, World};
use crate::archive;
use crate::disk;
use crate::host::LifeEnd;

/// The parts of a copy that are put back.
const PARTS: [&[&str]; 4] = [&[], &[], &["log"], &["state"]];

impl World {
    /// A broker's directory is copied while it runs, or the copy is put back, once.
    pub(super) fn strike_with_copy(&mut self, broker: u32) {
        let Some(copy) = self.copies[broker as usize].take() else {
            let copy = PathBuf::from(format!("copy-{broker}"));
            self.say(format!("the data directory of broker {broker} is copied"));
            disk::copy(&self.directories[broker as usize], &copy)
                .expect("the scratch directory can be written");
            self.copies[broker as usize] = Some(copy);
            return;
        };
        let parts = *self.random.pick(&PARTS);
        self.say(format!(
            "broker {broker} is killed, and an old copy of its directory is put back {parts:?}"
        ));
        self.has_lost = true;
        self.excused.insert(broker);
        self.end(broker, LifeEnd::Killed);
        let directory = self.directories[broker as usize].clone();
        put_back(&copy, &directory, parts).expect("the scratch directory can be written");
        if parts.is_empty() {
            // It would have been in the directory.
            archive::forget(broker);
        }
        if self.random.one_in(2) {
            self.start(broker);
        }
    }

    /// A replica is made anew when its files were lost, damaged or old, and never else.
    pub(super) fn check_replicas(&self) -> Result<(), String> {
        for broker in BROKERS.into_iter().filter(|broker| !self.excused.contains(broker)) {
            let file = self.directories[broker as usize].join("replica.json");
            // One that has not begun has none.
            let Ok(text) = std::fs::read_to_string(file) else { continue };
            if !text.contains(&format!("\"replica\": {broker},")) {
                return Err(format!(
                    "broker {broker} has another replica, though its files are as it left them: {text}"
                ));
            }
        }
        Ok(())
    }
}

/// Puts a copy, or parts of it, in the place of what is there.
pub(super) fn put_back(copy: &Path, directory: &Path, parts: &[&str]) -> std::io::Result<()> {
    if parts.is_empty() {
        std::fs::remove_dir_all(directory)?;
        return disk::copy(copy, directory);
    }
    for part in parts {
        let (old, now) = (copy.join(part), directory.join(part));
        if old.exists() {
            std::fs::remove_dir_all(&now)?;
            disk::copy(&old, &now)?;
        }
    }
    Ok(())
}
