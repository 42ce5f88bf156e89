//! The system to compare with, as the command line names it.

use crate::error::LabError;

/// Systems that can stand beside ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum PeerChoice {
    /// A broker of Camunda 8, or whatever else speaks its gRPC and REST API.
    Zeebe,
    /// Temporal's server, set up as its development server.
    Temporal,
    /// Restate.
    Restate,
    /// Operaton's engine.
    Operaton,
}

/// A peer, and how it is driven.
#[derive(Debug, Clone)]
pub(crate) struct PeerPlace {
    pub(crate) choice: PeerChoice,
    pub(crate) access: PeerAccess,
}

/// How a peer is driven.
#[derive(Debug, Clone)]
pub(crate) enum PeerAccess {
    /// It runs, and speaks our API; its process, if it is on this machine.
    Runs { rest: String, grpc: String, process: Option<u32> },
    /// The command line of a driver.
    Driver(Vec<String>),
}

impl PeerPlace {
    /// From the options of the command line.
    pub(crate) fn of(
        choice: PeerChoice,
        driver: Option<&str>,
        (rest, grpc): (Option<&str>, Option<&str>),
        process: Option<u32>,
    ) -> Result<Self, LabError> {
        let words: Vec<String> = driver.unwrap_or_default().split_whitespace().map(str::to_owned).collect();
        let access = match (words.is_empty(), rest, grpc) {
            (false, _, _) => PeerAccess::Driver(words),
            (true, Some(rest), Some(grpc)) if choice == PeerChoice::Zeebe => {
                PeerAccess::Runs { rest: rest.to_owned(), grpc: grpc.to_owned(), process }
            }
            _ => {
                let name = choice.name();
                let more = match choice {
                    PeerChoice::Zeebe => ", or --peer-rest and --peer-grpc".to_owned(),
                    _ => format!("; `make lab-peer PEER={name}` builds one and runs it"),
                };
                return Err(LabError::Environment(format!("--against {name} needs --peer-driver{more}")));
            }
        };
        Ok(Self { choice, access })
    }
}

impl PeerChoice {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Zeebe => "zeebe",
            Self::Temporal => "temporal",
            Self::Restate => "restate",
            Self::Operaton => "operaton",
        }
    }
}
