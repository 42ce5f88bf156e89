//! `cargo +nightly fuzz run peer --features libfuzzer`; see README.md.
#![no_main]
#![allow(unsafe_code, reason = "the macro exports a C function")]
#![allow(missing_docs, reason = "the macro generates undocumented items")]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::peer(data));
