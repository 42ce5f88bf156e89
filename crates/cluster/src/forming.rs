//! The way of a broker to its vote: it asks the others how far they are.

use std::collections::BTreeMap;
use std::path::Path;

use data_directory::{Restored, describe};
use tokio::time::{Instant, sleep};

use crate::bootstrap::{ASK_INTERVAL, ASK_TIMEOUT, BootstrapError, SAY_INTERVAL, Stage, Vote};
use crate::links::Links;
use crate::peer_request::RequestKind;
use crate::readmission;

impl Vote {
    /// Waits until this broker has its vote, or a number that the leader has given. `log` is the directory of the log,
    /// which must be there before the vote.
    pub async fn obtain(&self, links: &Links, log: &Path) -> Result<(), BootstrapError> {
        let begin_log = || {
            let failed = |source| BootstrapError::Io { path: log.to_owned(), source };
            std::fs::create_dir_all(log).map_err(failed)
        };
        let mut said: Option<Instant> = None;
        while self.stage() != Stage::Voter {
            let answers = ask(links).await;
            let known = answers.iter().filter_map(|(broker, told)| Some((*broker, told.as_ref().ok()?)));
            let stages: BTreeMap<u32, Stage> =
                known.clone().map(|(broker, (stage, _))| (broker, *stage)).collect();
            let other = known.clone().find(|(_, (_, restored))| *restored != self.restored);
            let voter = stages.iter().find(|(_, stage)| **stage == Stage::Voter).map(|(broker, _)| *broker);
            let all = stages.len() == answers.len();
            let mut say = |reasons: Vec<String>, message: &str| {
                if said.is_none_or(|said| said.elapsed() >= SAY_INTERVAL) {
                    said = Some(Instant::now());
                    tracing::info!(?reasons, "{message}");
                }
            };
            if let Some((broker, (_, restored))) = other.filter(|_| voter.is_none()) {
                let theirs = format!("broker {broker} begins with {}", describe(restored.as_ref()));
                let reasons = vec![theirs, format!("this one with {}", describe(self.restored.as_ref()))];
                say(
                    reasons,
                    "the cluster begins when all of its brokers begin with the same backup, or with none",
                );
                sleep(ASK_INTERVAL).await;
                continue;
            }
            match (self.stage(), voter) {
                (Stage::Empty, Some(_)) => self.advance(Stage::Rejoining)?,
                (Stage::Rejoining, Some(_)) => {
                    if let Err(reasons) = self.rejoin(links, begin_log).await? {
                        say(vec![reasons], "this broker has no data, and the leader gives it no number yet");
                        sleep(ASK_INTERVAL).await;
                    }
                }
                (Stage::Empty, None) if all => self.advance(Stage::Prepared)?,
                (Stage::Prepared, Some(_)) => {
                    begin_log()?;
                    self.advance(Stage::Voter)?;
                }
                (Stage::Prepared, None) if all && stages.values().all(|stage| *stage == Stage::Prepared) => {
                    begin_log()?;
                    self.advance(Stage::Voter)?;
                }
                _ => {
                    let missing = answers
                        .into_iter()
                        .filter_map(|(broker, told)| Some(format!("{broker}: {}", told.err()?)))
                        .collect();
                    say(missing, "the cluster begins when all of its brokers are there");
                    sleep(ASK_INTERVAL).await;
                }
            }
        }
        Ok(())
    }

    /// Becomes another replica, if leaders give it a number. Else gives their reasons.
    async fn rejoin(
        &self,
        links: &Links,
        begin_log: impl FnOnce() -> Result<(), BootstrapError>,
    ) -> Result<Result<(), String>, BootstrapError> {
        let replica = match readmission::ask(links.peers.all(), links.identity.partitions()).await {
            Ok(replica) => replica,
            Err(reasons) => return Ok(Err(reasons)),
        };
        tracing::warn!(
            replica = replica.number(),
            "the data of this broker are gone, the others have theirs: it is a new replica"
        );
        begin_log()?;
        self.join_as(replica)?;
        Ok(Ok(()))
    }
}

/// A stage, and the backup that the broker begins with.
type ToldStage = (Stage, Option<Restored>);

/// The stages of the others, or why they do not tell.
async fn ask(links: &Links) -> Vec<(u32, Result<ToldStage, String>)> {
    let brokers = serde_json::to_vec(links.brokers()).expect("numbers and texts are JSON");
    let answers = links.ask_all(&RequestKind::Bootstrap.with(&brokers), ASK_TIMEOUT).await;
    answers.into_iter().map(|(broker, answer)| (broker, answer.and_then(|answer| read(&answer)))).collect()
}

fn read(answer: &[u8]) -> Result<ToldStage, String> {
    let other = || "an answer of another form".to_owned();
    let (stage, restored) = answer.split_first().ok_or_else(other)?;
    let stage = Stage::from_byte(*stage).ok_or_else(other)?;
    let restored = (!restored.is_empty()).then(|| serde_json::from_slice(restored)).transpose();
    Ok((stage, restored.map_err(|error| error.to_string())?))
}
