//! PostgreSQL: a schema of its own in a database that somebody else runs. Each partition writes over one connection;
//! readers share a few.

mod bulk;
mod cleaner;
pub(crate) mod dialect;
mod loader;
mod reader;
mod schema;
mod text;
mod writer;

use std::fmt;
use std::str::FromStr as _;
use std::time::Duration;

use export::OwnRuntime;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions as _, Error};

pub use cleaner::PostgresCleaner;
pub use loader::PostgresLoader;
pub use reader::PostgresReader;
pub use writer::PostgresWriter;

use search::StoreError;

/// Statements that a connection keeps prepared.
const STATEMENTS_MAX: usize = 256;

/// Options of the store.
#[derive(Clone)]
pub struct PostgresOptions {
    /// `postgres://host:port/database`, with parameters as libpq names them.
    pub url: String,
    /// User name; that of the URL if empty.
    pub username: String,
    /// The password; that of the URL if empty.
    pub password: String,
    /// The schema that holds the tables. It is made if it is not there.
    pub schema: String,
    /// Queries at once.
    pub readers: usize,
    /// How long a query may take.
    pub query_timeout: Duration,
    /// Time limit for a connection.
    pub connect_timeout: Duration,
    /// How long one statement of the writer may take.
    pub write_timeout: Duration,
}

/// Shows no password; one may be in the URL, too.
impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl PostgresOptions {
    /// The defaults, for a URL.
    pub fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            username: String::new(),
            password: String::new(),
            schema: "baton".to_owned(),
            readers: 4,
            query_timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(60),
        }
    }

    /// Whether a text is a URL that can be connected to. Nothing is connected.
    pub fn is_url(text: &str) -> bool {
        let is_ours = text.starts_with("postgres://") || text.starts_with("postgresql://");
        is_ours && PgConnectOptions::from_str(text).is_ok()
    }

    /// A connection whose statements end after a time.
    async fn connect(&self, statement_timeout: Duration) -> Result<PgConnection, StoreError> {
        let mut options = PgConnectOptions::from_str(&self.url).map_err(failed)?;
        if !self.username.is_empty() {
            options = options.username(&self.username);
        }
        if !self.password.is_empty() {
            options = options.password(&self.password);
        }
        options = options
            .application_name("baton")
            .statement_cache_capacity(STATEMENTS_MAX)
            .disable_statement_logging();
        let connected = async {
            let mut connection = options.connect().await?;
            self.set_up(&mut connection, statement_timeout).await?;
            Ok(connection)
        };
        within(self.connect_timeout, connected).await
    }

    /// A connection that changes rows.
    async fn connect_to_change(&self) -> Result<PgConnection, StoreError> {
        let mut connection = self.connect(self.write_timeout).await?;
        // Acknowledged rows must survive a crash of the database. If this end vanishes, its locks shall not
        // stay. Rows are found one by one, by their identity.
        let settings = "SELECT set_config('idle_in_transaction_session_timeout', $1, false), \
             set_config('enable_hashjoin', 'off', false), set_config('enable_mergejoin', 'off', false), \
             set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' \
             ELSE current_setting('synchronous_commit') END, false)";
        let set_up = sqlx::query(settings).bind(milliseconds(self.write_timeout)).execute(&mut connection);
        within(self.write_timeout, set_up).await?;
        Ok(connection)
    }

    async fn set_up(&self, connection: &mut PgConnection, statement_timeout: Duration) -> Result<(), Error> {
        // Plans are made for the values at hand: a common state and a rare one want different indexes. Compiling a
        // plan takes longer than most searches.
        let settings = "SELECT set_config('search_path', quote_ident($1), false), \
             set_config('plan_cache_mode', 'force_custom_plan', false), set_config('jit', 'off', false), \
             set_config('statement_timeout', $2, false)";
        let settings = sqlx::query(settings).bind(&self.schema).bind(milliseconds(statement_timeout));
        settings.execute(connection).await.map(|_| ())
    }
}

/// A limit of time as PostgreSQL reads it; 0 would be none.
fn milliseconds(limit: Duration) -> String {
    limit.as_millis().clamp(1, i32::MAX as u128).to_string()
}

/// Waits for the database, but not forever.
async fn within<T>(timeout: Duration, work: impl Future<Output = Result<T, Error>>) -> Result<T, StoreError> {
    tokio::time::timeout(timeout, work).await.map_err(|_| late(timeout))?.map_err(failed)
}

fn late(timeout: Duration) -> StoreError {
    StoreError::Unavailable(format!("PostgreSQL did not answer within {} ms", timeout.as_millis()))
}

/// The code of an error that the database reports.
fn code(error: &Error) -> String {
    error.as_database_error().and_then(sqlx::error::DatabaseError::code).map(String::from).unwrap_or_default()
}

/// Whether the connection is of no use any more.
fn is_lost(error: &Error) -> bool {
    match error {
        Error::Database(_) => {
            let code = code(error);
            // 08: connections; 57P: the server stops, has crashed, or starts.
            code.starts_with("08") || code.starts_with("57P")
        }
        error => matches!(error, Error::Io(_) | Error::Tls(_) | Error::Protocol(_)),
    }
}

/// The runtime of a thread that may block on the database.
fn own_runtime() -> Result<OwnRuntime, StoreError> {
    OwnRuntime::new().map_err(|error| StoreError::Unavailable(format!("the runtime does not start: {error}")))
}

/// The error for writers.
fn failed(error: Error) -> StoreError {
    // 57014: cancelled, here by the limit of time.
    if code(&error) == "57014" { StoreError::too_slow() } else { StoreError::Unavailable(error.to_string()) }
}

/// The error for readers.
fn asked(error: Error) -> StoreError {
    let is_of_query = match &error {
        Error::Database(_) => is_of_query(&code(&error)),
        error => matches!(error, Error::Encode(_) | Error::Decode(_) | Error::ColumnDecode { .. }),
    };
    if is_of_query { StoreError::Query(error.to_string()) } else { failed(error) }
}

/// Whether a code of an error is about a query rather than about the database: about a value (22), memory or room
/// that one query may use (53200, 53400), its complexity (54), what is not supported (0A) or not understood (42,
/// but not rights and what is missing).
fn is_of_query(code: &str) -> bool {
    const MISSING: [&str; 5] = ["42501", "42703", "42704", "42883", "42P01"];
    match code.get(..2) {
        Some("0A" | "22" | "54") => true,
        Some("42") => !MISSING.contains(&code),
        _ => matches!(code, "53200" | "53400"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_show_no_password() {
        let mut options = PostgresOptions::new("postgres://user:hidden1@localhost/db");
        options.password = "hidden2".to_owned();
        let shown = format!("{options:?}");
        assert!(shown.contains("baton") && !shown.contains("hidden"), "{shown}");
    }

    #[test]
    fn only_the_database_itself_is_away() {
        for code in ["54001", "54000", "22021", "42601", "42P18", "53200", "53400", "0A000"] {
            assert!(is_of_query(code), "{code}");
        }
        for code in
            ["42P01", "42703", "42501", "3F000", "53100", "53300", "57P01", "08006", "XX001", "25006", ""]
        {
            assert!(!is_of_query(code), "{code}");
        }
        assert!(matches!(asked(Error::Encode("x".into())), StoreError::Query(_)));
        assert!(matches!(asked(Error::Protocol("x".into())), StoreError::Unavailable(_)));
    }

    #[test]
    fn urls() {
        for right in ["postgres://localhost/db", "postgresql://u:p@[::1]:5433/db?sslmode=require"] {
            assert!(PostgresOptions::is_url(right), "{right}");
        }
        for wrong in ["", "localhost:5432", "mysql://localhost/db", "postgres://localhost:port/db"] {
            assert!(!PostgresOptions::is_url(wrong), "{wrong}");
        }
    }
}
