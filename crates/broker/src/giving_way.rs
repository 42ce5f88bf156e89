//! A broker without room hands over as long as another has some, and stands for no election.

use cluster::{LEADERLESS_MAX, ReplicaNumber, Rooms};
use partition::Partition;
use replication::Role;

use crate::node::Node;
use crate::successor::Successor;

/// Whether this broker may stand for election in a partition, as far as its disk goes.
pub(crate) fn may_stand(node: &Node, partition: &Partition, rooms: &Rooms) -> bool {
    let is_led = match *partition.group().role().borrow() {
        Role::Leader { .. } => true,
        Role::Follower { leader, .. } => {
            leader.is_some()
                && partition.group().leader_silence().is_some_and(|silence| silence < LEADERLESS_MAX)
        }
        Role::Unavailable => false,
    };
    let is_leaderless = rooms.is_leaderless(partition.number(), is_led);
    node.has_room() || !rooms.has_any() || is_leaderless
}

/// Hands over the partitions that this broker leads without room while another has some.
pub(crate) async fn give_way(node: &Node, rooms: &Rooms) {
    let Some(cluster) = node.cluster.as_ref() else { return };
    let led = node.led();
    if !rooms.gives_way(!led.is_empty() && !node.has_room()) {
        rooms.note_failure(None);
        return;
    }
    for partition in led {
        let Err(reason) = node.hand_over_here(cluster, &partition, Successor::Any).await else { continue };
        // Once for each reason: it is tried again each second.
        if rooms.note_failure(Some(&reason)) {
            tracing::warn!(
                partition = partition.number(),
                reason,
                "a broker whose disk has no room leads on"
            );
        }
    }
}

/// The leader's reason to refuse commands, at a broker that follows it.
pub(crate) fn leader_refuses(role: Role, rooms: &Rooms) -> Option<String> {
    match role {
        Role::Follower { leader: Some(leader), .. } => rooms.refuses(ReplicaNumber::of(leader).broker),
        Role::Leader { .. } | Role::Follower { leader: None, .. } | Role::Unavailable => None,
    }
}
