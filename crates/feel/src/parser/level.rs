//! Precedence of operators (DMN 1.5 §10.3.1.2).

/// Precedence of the binary operators, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Level {
    Or,
    And,
    Comparison,
    Additive,
    Multiplicative,
    Power,
    Unary,
}

impl Level {
    pub(super) fn tighter(self) -> Self {
        match self {
            Self::Or => Self::And,
            Self::And => Self::Comparison,
            Self::Comparison => Self::Additive,
            Self::Additive => Self::Multiplicative,
            Self::Multiplicative => Self::Power,
            Self::Power | Self::Unary => Self::Unary,
        }
    }
}
