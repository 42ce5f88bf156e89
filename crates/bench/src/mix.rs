//! Weighted choices: which process, which size, which tenant the next instance has.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// Choices with their weights, as `a=3,b=1`; a choice without a weight counts once.
#[derive(Debug, Clone, PartialEq)]
pub struct Mix<T> {
    choices: Vec<(T, f64)>,
}

impl<T> Mix<T> {
    /// All choices.
    pub fn choices(&self) -> impl Iterator<Item = &T> {
        self.choices.iter().map(|(choice, _)| choice)
    }

    /// The choice of number `index`: the same for the same number, and in any stretch of numbers each has its share.
    pub(crate) fn of(&self, index: u64) -> &T {
        // Multiples of the golden ratio fill the unit interval evenly.
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let total: f64 = self.choices.iter().map(|(_, weight)| weight).sum();
        let mut place = (index as f64 * GOLDEN).fract() * total;
        for (choice, weight) in &self.choices {
            if place < *weight {
                return choice;
            }
            place -= weight;
        }
        &self.choices.last().expect("there is a choice").0
    }

    /// Choices made from those here, with their weights.
    pub(crate) fn map<U, E>(&self, mut to: impl FnMut(&T) -> Result<U, E>) -> Result<Mix<U>, E> {
        let choices = self.choices.iter().map(|(choice, weight)| Ok((to(choice)?, *weight)));
        Ok(Mix { choices: choices.collect::<Result<_, E>>()? })
    }

    /// One choice alone.
    pub(crate) fn only(choice: T) -> Self {
        Self { choices: vec![(choice, 1.0)] }
    }
}

impl<T: FromStr<Err: Display>> Mix<T> {
    /// Reads choices with their weights.
    pub fn parse(text: &str) -> Result<Self, String> {
        let one = |part: &str| {
            let (choice, weight) = part.rsplit_once('=').unwrap_or((part, "1"));
            let wrong = |reason: &str| format!("'{part}': {reason}");
            let weight =
                weight.trim().parse::<f64>().ok().filter(|weight| *weight > 0.0 && weight.is_finite());
            let weight = weight.ok_or_else(|| wrong("the weight is no number above zero"))?;
            let choice = choice.trim();
            if choice.is_empty() {
                return Err(wrong("there is nothing to choose"));
            }
            Ok((choice.parse::<T>().map_err(|error| wrong(&error.to_string()))?, weight))
        };
        Ok(Self { choices: text.split(',').map(one).collect::<Result<_, String>>()? })
    }
}

impl<T: Display> Display for Mix<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        for (index, (choice, weight)) in self.choices.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            if self.choices.len() == 1 {
                write!(f, "{choice}")?;
            } else {
                write!(f, "{choice} ({weight})")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_choice_has_its_share_in_any_stretch() {
        let mix = Mix::<String>::parse("order=3, benchmark").unwrap();
        for first in [0, 17, 1_000_000] {
            let orders = (first..first + 100).filter(|index| *mix.of(*index) == "order").count();
            assert!((73..=77).contains(&orders), "{orders}");
        }
        assert_eq!(mix.to_string(), "order (3), benchmark (1)");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, reason) in [("a=0", "'a=0'"), ("a=x", "no number"), ("=2", "nothing"), ("a,,b", "nothing")]
        {
            let error = Mix::<String>::parse(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
        assert!(Mix::<usize>::parse("200=1,large=2").unwrap_err().contains("'large=2'"));
    }
}
