//! A command with its caller and its idempotency key, and as bytes.

use super::Command;
use crate::{Caller, Idempotency};

/// Counts what is written.
struct Count(usize);

impl minicbor::encode::Write for Count {
    type Error = std::convert::Infallible;

    fn write_all(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.0 += bytes.len();
        Ok(())
    }
}

impl Command {
    /// Goes on with steps left over, as much as one command may.
    pub const GO_ON: Self = Self::Continue { max_records: Some(u32::MAX) };

    /// How many bytes it takes in the log.
    pub fn encoded_bytes(&self) -> usize {
        let mut count = Count(0);
        minicbor::encode(self, &mut count).expect("counting does not fail");
        count.0
    }

    /// The command as somebody asks for it.
    #[must_use]
    pub fn asked_by(self, caller: Option<Caller>) -> Self {
        match caller {
            Some(caller) => Self::Asked { by: Box::new(caller), command: Box::new(self) },
            None => self,
        }
    }

    /// The bytes that stand in the log.
    pub fn encode(&self) -> Vec<u8> {
        minicbor::to_vec(self).expect("encoding to memory does not fail")
    }

    /// With an idempotency key, if the client gave one.
    #[must_use]
    pub fn once(self, by: Option<Idempotency>) -> Self {
        match by {
            Some(by) => Self::Idempotent { by, command: Box::new(self) },
            None => self,
        }
    }

    /// The command without its caller and idempotency key.
    pub fn asked(&self) -> &Self {
        let mut asked = self;
        while let Self::Asked { command, .. } | Self::Idempotent { command, .. } = asked {
            asked = command;
        }
        asked
    }

    /// The command without its caller and idempotency key.
    pub fn asked_mut(&mut self) -> &mut Self {
        let mut asked = self;
        while matches!(asked, Self::Asked { .. } | Self::Idempotent { .. }) {
            let (Self::Asked { command, .. } | Self::Idempotent { command, .. }) = asked else {
                unreachable!("looked at before")
            };
            asked = command;
        }
        asked
    }

    /// The command without its caller and idempotency key.
    #[must_use]
    pub fn into_asked(self) -> Self {
        let mut asked = self;
        while let Self::Asked { command, .. } | Self::Idempotent { command, .. } = asked {
            asked = *command;
        }
        asked
    }

    /// The caller, if known.
    pub fn caller(&self) -> Option<&Caller> {
        let mut command = self;
        while let Self::Idempotent { command: inner, .. } = command {
            command = inner;
        }
        if let Self::Asked { by, .. } = command { Some(by) } else { None }
    }
}
