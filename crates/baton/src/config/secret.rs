//! Settings that are told to nobody.

use std::fmt;

#[cfg(feature = "postgres")]
use secondary::PostgresOptions;

use super::value::Setting;

/// A password; none if it is empty. It is shown nowhere.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

impl Setting for Secret {
    const EXPECTED: &'static str = "some text or none";
    const IS_SECRET: bool = true;

    fn parse(text: &str) -> Option<Self> {
        Some(Self(text.to_owned()))
    }

    fn show(&self) -> String {
        if self.0.is_empty() { String::new() } else { "(hidden)".to_owned() }
    }
}

/// Where a PostgreSQL is. A password may stand in it, so it is shown as the default only.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresUrl(pub String);

impl PostgresUrl {
    const DEFAULT: &'static str = "postgres://localhost:5432/baton";
}

impl Default for PostgresUrl {
    fn default() -> Self {
        Self(Self::DEFAULT.to_owned())
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.show())
    }
}

#[cfg(feature = "postgres")]
fn is_url(text: &str) -> bool {
    PostgresOptions::is_url(text)
}

/// It is refused for want of PostgreSQL before anybody connects.
#[cfg(not(feature = "postgres"))]
fn is_url(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

impl Setting for PostgresUrl {
    const EXPECTED: &'static str = "a URL such as postgres://host:5432/database";
    const IS_SECRET: bool = true;

    fn parse(text: &str) -> Option<Self> {
        is_url(text).then(|| Self(text.to_owned()))
    }

    fn show(&self) -> String {
        if self.0 == Self::DEFAULT { self.0.clone() } else { "(hidden)".to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let url = PostgresUrl::parse("postgres://user:hush@host/db").unwrap();
        let password = Secret::parse("hush").unwrap();
        assert!(!format!("{url:?} {} {password:?} {}", url.show(), password.show()).contains("hush"));
        assert_eq!(PostgresUrl::parse("mysql://host/db"), None);
    }
}
