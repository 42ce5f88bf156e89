//! Dialects of FEEL.

/// The dialect, where Camunda and the standard differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Dialect {
    /// As Camunda 8 executes it.
    #[default]
    Camunda,
    /// Strictly as in DMN 1.5.
    Standard,
}
