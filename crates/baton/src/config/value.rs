//! How settings are written: one text form per type, the same in the file, in variables and in flags.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use gateway::management::Loggers;
use secondary::{AuditCategory, AuditSettings};

pub(super) const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// The longest time that makes sense anywhere.
pub(super) const DAY: Duration = s(86_400);

pub(super) const fn s(count: u64) -> Duration {
    Duration::from_secs(count)
}

pub(super) const fn days(count: u64) -> Duration {
    s(count * 86_400)
}

/// A value that has a text form.
pub(crate) trait Setting: Sized {
    /// The expected value, for people.
    const EXPECTED: &'static str;
    /// Whether the value is secret: errors and the printed configuration do not show it.
    const IS_SECRET: bool = false;

    /// Reads the text form.
    fn parse(text: &str) -> Option<Self>;

    /// Writes it.
    fn show(&self) -> String;
}

macro_rules! plain {
    ($($type:ty: $expected:literal;)*) => {
        $(impl Setting for $type {
            const EXPECTED: &'static str = $expected;
            fn parse(text: &str) -> Option<Self> {
                text.parse().ok()
            }
            fn show(&self) -> String {
                self.to_string()
            }
        })*
    };
}
plain! {
    bool: "true or false";
    u16: "a whole number";
    u32: "a whole number";
    u64: "a whole number";
    usize: "a whole number";
}

impl Setting for f64 {
    const EXPECTED: &'static str = "a number";

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok().filter(|number: &Self| number.is_finite())
    }

    fn show(&self) -> String {
        format!("{self:?}")
    }
}

impl Setting for PathBuf {
    const EXPECTED: &'static str = "a path";

    fn parse(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| text.into())
    }

    fn show(&self) -> String {
        self.display().to_string()
    }
}

/// Units of time with their length in nanoseconds, the longest first.
const TIMES: [(&str, u64); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1000),
    ("ns", 1),
];

impl Setting for Duration {
    const EXPECTED: &'static str = "a duration such as 200ms, 5s, 1.5m, 1h or 30d";

    fn parse(text: &str) -> Option<Self> {
        let (number, unit) = with_unit(text)?;
        let (_, nanos) =
            TIMES.iter().find(|(name, _)| *name == unit || (unit.is_empty() && number == 0.0))?;
        Self::try_from_secs_f64(number * (*nanos as f64 / 1e9)).ok()
    }

    fn show(&self) -> String {
        let nanos = self.as_nanos();
        let exact = TIMES.iter().find(|(_, length)| nanos != 0 && nanos.is_multiple_of(u128::from(*length)));
        exact.map_or_else(
            || "0s".to_owned(),
            |(unit, length)| format!("{}{unit}", nanos / u128::from(*length)),
        )
    }
}

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

impl Size {
    /// So many mebibytes.
    pub(crate) const fn mib(count: u64) -> Self {
        Self(count << 20)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.show())
    }
}

/// Units of size. Decimal ones are read, but never written.
const SIZES: [(&str, u64); 8] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1000),
];

impl Setting for Size {
    const EXPECTED: &'static str = "a size such as 64KiB, 4MiB or 2GiB";

    fn parse(text: &str) -> Option<Self> {
        let (number, unit) = with_unit(text)?;
        let (_, bytes) = SIZES
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(unit) || (unit.is_empty() && number == 0.0))?;
        let bytes = number * *bytes as f64;
        // 2^63: larger is no size, and would be cut.
        (bytes.fract() == 0.0 && bytes < 9.3e18).then_some(Self(bytes as u64))
    }

    fn show(&self) -> String {
        let exact = SIZES.iter().find(|(_, length)| self.0 != 0 && self.0.is_multiple_of(*length));
        exact.map_or_else(|| "0B".to_owned(), |(unit, length)| format!("{}{unit}", self.0 / length))
    }
}

fn with_unit(text: &str) -> Option<(f64, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number = number.parse::<f64>().ok().filter(|number| number.is_finite())?;
    Some((number, unit.trim_start()))
}

/// Where a server listens: `host:port`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenAddress(String);

impl ListenAddress {
    /// On every interface.
    pub(crate) fn any(port: u16) -> Self {
        Self(format!("0.0.0.0:{port}"))
    }

    /// For programs of this machine.
    pub(crate) fn loopback(port: u16) -> Self {
        Self(format!("127.0.0.1:{port}"))
    }

    /// The text, as `host:port`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether only this machine reaches it. A name that is not localhost may be anything.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.0.rsplit_once(':').map_or(&*self.0, |(host, _)| host).trim_matches(['[', ']']);
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// The host, if it is a name.
    pub(crate) fn name(&self) -> Option<&str> {
        let (host, _) = self.0.rsplit_once(':')?;
        (!host.starts_with('[') && host.parse::<Ipv4Addr>().is_err()).then_some(host)
    }
}

impl Setting for ListenAddress {
    const EXPECTED: &'static str =
        "an address such as 0.0.0.0:8080, localhost:8080 or [::1]:8080; port 0 takes a free one";

    fn parse(text: &str) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        port.parse::<u16>().ok()?;
        let bracketed = host.starts_with('[') && host.ends_with(']');
        let well_formed =
            !host.is_empty() && !host.contains(['/', ' ']) && (bracketed || !host.contains(':'));
        well_formed.then(|| Self(text.to_owned()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

/// Which levels are logged, such as `info` or `info,broker=debug`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Levels(pub String);

impl Setting for Levels {
    const EXPECTED: &'static str =
        "a level (off, error, warn, info, debug, trace) or a list such as info,broker=debug";

    fn parse(text: &str) -> Option<Self> {
        Loggers::new(text).is_ok().then(|| Self(text.to_owned()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

/// Any text but none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text(pub String);

impl Setting for Text {
    const EXPECTED: &'static str = "some text";

    fn parse(text: &str) -> Option<Self> {
        (!text.trim().is_empty()).then(|| Self(text.to_owned()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

/// A path before all others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BasePath(pub gateway::BasePath);

impl Setting for BasePath {
    const EXPECTED: &'static str = "a path that begins and ends with '/', such as /tools/baton/, and that does not \
                                    begin as a page or the API does";

    fn parse(text: &str) -> Option<Self> {
        gateway::BasePath::parse(text).map(Self)
    }

    fn show(&self) -> String {
        self.0.as_str().to_owned()
    }
}

/// Kinds of operation that the audit log keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Categories(pub Vec<AuditCategory>);

impl Categories {
    /// Every kind.
    pub fn all() -> Self {
        Self(AuditCategory::ALL.to_vec())
    }

    /// No kind.
    pub const fn none() -> Self {
        Self(Vec::new())
    }
}

impl Setting for Categories {
    const EXPECTED: &'static str = "some of admin, deployed_resources and user_tasks, or none";

    fn parse(text: &str) -> Option<Self> {
        if text.trim().eq_ignore_ascii_case("none") {
            return Some(Self::none());
        }
        let mut categories = Vec::new();
        for word in text.split(',') {
            let word = word.trim();
            let named =
                AuditCategory::ALL.into_iter().find(|known| known.as_str().eq_ignore_ascii_case(word))?;
            if !categories.contains(&named) {
                categories.push(named);
            }
        }
        Some(Self(categories))
    }

    fn show(&self) -> String {
        if self.0.is_empty() {
            return "none".to_owned();
        }
        let names: Vec<_> = self.0.iter().map(|category| category.as_str().to_ascii_lowercase()).collect();
        names.join(",")
    }
}

/// Kinds of things that the audit log does not tell of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntityTypes(pub Vec<&'static str>);

impl Setting for EntityTypes {
    const EXPECTED: &'static str = "none, or some of authorization, batch, decision, group, incident, job, mapping_rule, process_instance, \
                                    resource, role, tenant, user, user_task and variable";

    fn parse(text: &str) -> Option<Self> {
        if text.trim().eq_ignore_ascii_case("none") {
            return Some(Self::default());
        }
        let known = AuditSettings::ENTITY_TYPES;
        let named = |word: &str| known.into_iter().find(|name| name.eq_ignore_ascii_case(word.trim()));
        text.split(',').map(named).collect::<Option<_>>().map(Self)
    }

    fn show(&self) -> String {
        if self.0.is_empty() {
            return "none".to_owned();
        }
        self.0.join(",").to_ascii_lowercase()
    }
}

impl Setting for Option<bool> {
    const EXPECTED: &'static str = "true or false, or nothing";

    fn parse(text: &str) -> Option<Self> {
        if text.is_empty() { Some(None) } else { bool::parse(text).map(Some) }
    }

    fn show(&self) -> String {
        self.as_ref().map(Setting::show).unwrap_or_default()
    }
}

impl Setting for Option<u32> {
    const EXPECTED: &'static str = "a whole number, or nothing";

    fn parse(text: &str) -> Option<Self> {
        if text.is_empty() { Some(None) } else { u32::parse(text).map(Some) }
    }

    fn show(&self) -> String {
        self.as_ref().map(Setting::show).unwrap_or_default()
    }
}

impl Setting for Option<Text> {
    const EXPECTED: &'static str = "some text, or nothing";

    fn parse(text: &str) -> Option<Self> {
        Some(Text::parse(text))
    }

    fn show(&self) -> String {
        self.as_ref().map(Setting::show).unwrap_or_default()
    }
}

impl Setting for Option<PathBuf> {
    const EXPECTED: &'static str = "a path, or nothing";

    fn parse(text: &str) -> Option<Self> {
        Some(PathBuf::parse(text))
    }

    fn show(&self) -> String {
        self.as_ref().map(Setting::show).unwrap_or_default()
    }
}

/// Names with commas between.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

impl Setting for Names {
    const EXPECTED: &'static str = "names with commas between, or nothing";

    fn parse(text: &str) -> Option<Self> {
        if text.trim().is_empty() {
            return Some(Self::default());
        }
        let names: Vec<_> = text.split(',').map(|name| name.trim().to_owned()).collect();
        names.iter().all(|name| !name.is_empty()).then_some(Self(names))
    }

    fn show(&self) -> String {
        self.0.join(",")
    }
}

macro_rules! words {
    ($($(#[$meta:meta])* $type:ident: $expected:literal { $($(#[$vmeta:meta])* $variant:ident = $word:literal,)* })*) => {
        $($(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $type {
            $($(#[$vmeta])* $variant,)*
        }

        impl Setting for $type {
            const EXPECTED: &'static str = $expected;

            fn parse(text: &str) -> Option<Self> {
                match text.to_ascii_lowercase().as_str() {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }

            fn show(&self) -> String {
                match self { $(Self::$variant => $word,)* }.to_owned()
            }
        })*
    };
}
words! {
    /// How the limit of flow control moves.
    Algorithm: "aimd, fixed, vegas or gradient" {
        /// Up by one while requests are fast, down by a factor when they are slow.
        Aimd = "aimd",
        /// Not at all.
        Fixed = "fixed",
        /// By the number of requests that seem to wait.
        Vegas = "vegas",
        /// By how latency changes.
        Gradient = "gradient",
    }
    /// Authentication of requests.
    AuthenticationMethod: "none, basic or oidc" {
        /// Not at all.
        None = "none",
        /// By the names and passwords of users that Baton keeps.
        Basic = "basic",
        /// By tokens of an OpenID Connect issuer.
        Oidc = "oidc",
    }
    /// Whether clients show certificates.
    ClientCertificateMode: "none, optional or required" {
        /// They are not asked.
        None = "none",
        /// Shown certificates must be valid.
        Optional = "optional",
        /// Without one there is no connection.
        Required = "required",
    }
    /// Compression of connections between brokers.
    Compression: "lz4 or none" {
        /// Fast, for slow networks.
        Lz4 = "lz4",
        /// Nothing is compressed.
        None = "none",
    }
    /// Kinds of secondary storage.
    StorageKind: "sqlite, postgres, opensearch or none" {
        /// A file beside the data.
        Sqlite = "sqlite",
        /// A schema in a PostgreSQL database.
        Postgres = "postgres",
        /// Indices in OpenSearch or Elasticsearch.
        Opensearch = "opensearch",
        /// None at all.
        None = "none",
    }
    /// Kinds of stores of documents.
    DocumentStoreKind: "directory, memory, s3, gcs, azure or none" {
        /// A directory beside the data.
        Directory = "directory",
        /// Memory.
        Memory = "memory",
        /// A bucket of Amazon S3, or of what speaks its language.
        S3 = "s3",
        /// A bucket of Google Cloud Storage.
        Gcs = "gcs",
        /// A container of Azure Blob Storage.
        Azure = "azure",
        /// None but those that have names.
        None = "none",
    }

    /// Policies for requests over the limit.
    Overflow: "wait or reject" {
        /// They wait for a place, bounded in number and time.
        Wait = "wait",
        /// They are refused at once.
        Reject = "reject",
    }
    /// The shape of log lines.
    LogFormat: "text or json" {
        /// For people.
        Text = "text",
        /// For machines: one object per line.
        Json = "json",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, shown) in [
            ("200ms", "200ms"),
            ("5s", "5s"),
            ("1.5m", "90s"),
            ("120s", "2m"),
            ("1h", "1h"),
            ("0", "0s"),
            ("250us", "250us"),
        ] {
            assert_eq!(Duration::parse(text).map(|d| d.show()).as_deref(), Some(shown), "{text}");
        }
        for wrong in ["", "5", "s", "-1s", "1 day", "1e9s", "NaNs", "99999999999999999999h"] {
            assert_eq!(Duration::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn categories() {
        assert_eq!(Categories::parse("none"), Some(Categories::none()));
        assert_eq!(Categories::parse("ADMIN, user_tasks,admin").unwrap().show(), "admin,user_tasks");
        assert_eq!(Categories::parse(&Categories::all().show()), Some(Categories::all()));
        for wrong in ["", "admin,", "jobs"] {
            assert_eq!(Categories::parse(wrong), None, "{wrong}");
        }
        assert_eq!(EntityTypes::parse(&EntityTypes::default().show()), Some(EntityTypes::default()));
        assert_eq!(EntityTypes::parse("user_task, JOB").unwrap().show(), "user_task,job");
        for wrong in ["", "job,", "admin"] {
            assert_eq!(EntityTypes::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sizes() {
        for (text, bytes, shown) in [
            ("64MiB", 64 << 20, "64MiB"),
            ("1.5 KiB", 1536, "1536B"),
            ("1MB", 1_000_000, "1000000B"),
            ("0", 0, "0B"),
            ("2gib", 2 << 30, "2GiB"),
        ] {
            assert_eq!(Size::parse(text), Some(Size(bytes)), "{text}");
            assert_eq!(Size(bytes).show(), shown);
        }
        for wrong in ["", "5", "MiB", "-1MiB", "0.3B", "99999999TiB"] {
            assert_eq!(Size::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn addresses() {
        for right in ["0.0.0.0:8080", "localhost:0", "[::1]:26500"] {
            assert!(ListenAddress::parse(right).is_some(), "{right}");
        }
        let is_loopback = |text| ListenAddress::parse(text).unwrap().is_loopback();
        assert!(
            ["127.0.0.1:1", "localhost:1", "[::1]:1", "127.9.9.9:1"].iter().all(|text| is_loopback(text))
        );
        assert!(!["0.0.0.0:1", "[::]:1", "host-a:1", "10.0.0.1:1"].iter().any(|text| is_loopback(text)));
        for wrong in ["", "8080", ":8080", "http://localhost:8080", "::1:80", "localhost:65536", "localhost:"]
        {
            assert!(ListenAddress::parse(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn words_are_read_in_any_case() {
        assert_eq!(Algorithm::parse("AIMD"), Some(Algorithm::Aimd));
        assert_eq!(Overflow::parse("drop"), None);
        assert_eq!(f64::parse("nan"), None);
        assert_eq!(Levels::parse("loud"), None);
    }
}
