//! The Zeebe gateway protocol as generated types: messages, client and server of `gateway_protocol.Gateway`.
//!
//! Only the codec is written by hand: a test compares `generated/` with what `proto/gateway.proto` gives, so that a
//! build needs no compiler of protocols. The server lives in `gateway`, the client in `client`.
#![allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]

pub mod codec;

include!("generated/gateway_protocol.rs");
