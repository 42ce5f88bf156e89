//! A cluster that begins with a backup of another one.

use std::path::Path;
use std::time::Duration;

use broker::BackupState;
use tokio::time::{sleep, timeout};

use super::{BACKUPS, BROKERS, RECOVERY, World};
use crate::archive;
use crate::host::LifeEnd;

const BACKUP: u64 = 7;

impl World {
    /// All brokers end, and begin again with a backup that was taken before. One of them may lose its directory soon.
    pub(super) async fn begin_restored(&mut self) -> Result<(), String> {
        self.say("a backup is taken, and the cluster begins anew with it".to_owned());
        timeout(RECOVERY, self.back_up()).await.map_err(|_| "a backup is not taken in time".to_owned())?;
        for broker in BROKERS {
            self.end(broker, LifeEnd::DirectoryLost);
        }
        // Records that followed the backup are of a life that never was.
        archive::forget_all();
        for broker in BROKERS {
            let directory = &self.directories[broker as usize];
            std::fs::create_dir_all(directory).map_err(|error| error.to_string())?;
            broker::restore(directory, Path::new(BACKUPS), BACKUP).map_err(|error| error.to_string())?;
            self.start(broker);
        }
        timeout(RECOVERY * 2, self.scene.clone().deploy())
            .await
            .map_err(|_| "the restored cluster does not begin".to_owned())?;
        if self.random.one_in(2) {
            let broker = *self.random.pick(&BROKERS);
            self.say(format!("broker {broker} loses its data directory soon after"));
            self.has_lost = true;
            self.excused.insert(broker);
            self.end(broker, LifeEnd::DirectoryLost);
            archive::forget(broker);
            self.start(broker);
        }
        Ok(())
    }

    /// Takes a backup at any broker that can.
    async fn back_up(&mut self) {
        loop {
            let Some(life) = self.scene.life(*self.random.pick(&BROKERS)) else { continue };
            let taken = life.call(|node| async move {
                // One that is there is taken.
                let _ = node.take_backup(Some(BACKUP)).await;
                let backups = node.backups().await.unwrap_or_default();
                backups.iter().any(|backup| backup.id == BACKUP && backup.state == BackupState::Completed)
            });
            if timeout(RECOVERY, taken).await.ok().flatten() == Some(true) {
                return;
            }
            sleep(Duration::from_millis(50)).await;
        }
    }
}
