//! Numbers of replicas in their groups. Each is given out once: a broker that lost its data comes back with another.

/// The broker of a replica, and how many replicas that broker had before. A group knows both as one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReplicaNumber {
    /// Number of the broker.
    pub broker: u32,
    /// Replicas that the broker had before.
    pub generation: u32,
}

impl ReplicaNumber {
    /// The first replica of a broker. Its number in groups is that of the broker.
    pub fn first(broker: u32) -> Self {
        Self { broker, generation: 0 }
    }

    /// The replica with a number in groups.
    pub fn of(number: u64) -> Self {
        Self { broker: number as u32, generation: (number >> u32::BITS) as u32 }
    }

    /// The number in groups.
    pub fn number(self) -> u64 {
        u64::from(self.generation) << u32::BITS | u64::from(self.broker)
    }

    /// The replica that takes the place of this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self { generation: self.generation.checked_add(1).expect("a disk is lost less often"), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_tells_the_broker_and_the_generation() {
        let mut replica = ReplicaNumber::first(7);
        assert_eq!(replica.number(), 7);
        for generation in 1..4 {
            let next = replica.next();
            assert_eq!((next.broker, next.generation), (7, generation));
            assert!(next.number() > replica.number());
            assert_eq!(ReplicaNumber::of(next.number()), next);
            replica = next;
        }
    }
}
