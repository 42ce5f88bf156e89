//! feel.
