//! broker.
