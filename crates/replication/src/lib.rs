//! replication.
