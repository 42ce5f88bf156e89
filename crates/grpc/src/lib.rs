//! The Zeebe gateway protocol as generated types: messages, client and server of `gateway_protocol.Gateway`.
//!
//! Nothing is written by hand here. The server lives in `gateway`, the client in `client`.
#![allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]

tonic::include_proto!("gateway_protocol");
