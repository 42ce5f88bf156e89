//! Stands between the servers and a store, and takes the store away.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::error::LabError;

/// Treatment of connections and of the bytes that pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// They pass.
    Pass,
    /// None passes, and none is refused.
    Hang,
    /// Connections break, and new ones do, too.
    Refuse,
}

/// A proxy at work, as long as this lives.
pub(crate) struct StoreProxy {
    mode: watch::Sender<Mode>,
    task: tokio::task::JoinHandle<()>,
}

impl StoreProxy {
    /// Between the servers and the store of a URL; returns the URL that leads through it.
    pub(crate) async fn start(url: &str) -> Result<(Self, String), LabError> {
        let cannot = |error: std::io::Error| LabError::environment("listen for a store", error);
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?.to_string();
        let (store, through) = through(url, &address).ok_or_else(|| {
            LabError::Environment(format!(
                "{url}: expected the address of a store, such as scheme://host:port/…"
            ))
        })?;
        if let Err(error) = TcpStream::connect(&store).await {
            return Err(LabError::environment(&format!("reach the store at {store}"), error));
        }
        let (mode, watched) = watch::channel(Mode::Pass);
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(serve(client, store.clone(), watched.clone()));
            }
        });
        Ok((Self { mode, task }, through))
    }

    pub(crate) fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }
}

impl Drop for StoreProxy {
    fn drop(&mut self) {
        self.mode.send_replace(Mode::Refuse);
        self.task.abort();
    }
}

/// `host:port` of a URL, and the URL with another one.
fn through(url: &str, address: &str) -> Option<(String, String)> {
    let (scheme, rest) = url.split_once("://")?;
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let (user, store) = match authority.rsplit_once('@') {
        Some((user, store)) => (format!("{user}@"), store),
        None => (String::new(), authority),
    };
    store.rsplit_once(':')?.1.parse::<u16>().ok()?;
    Some((store.to_owned(), format!("{scheme}://{user}{address}{path}")))
}

async fn serve(client: TcpStream, store: String, mode: watch::Receiver<Mode>) {
    if *mode.borrow() == Mode::Refuse {
        return;
    }
    let Ok(store) = TcpStream::connect(store).await else { return };
    // Without it answers are late, which is no failure.
    let _ = (client.set_nodelay(true), store.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_store, to_store) = store.into_split();
    let mut broken = mode.clone();
    tokio::select! {
        () = pass(from_client, to_store, mode.clone()) => {}
        () = pass(from_store, to_client, mode) => {}
        _ = broken.wait_for(|mode| *mode == Mode::Refuse) => {}
    }
}

async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut mode: watch::Receiver<Mode>) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        if mode.wait_for(|mode| *mode != Mode::Hang).await.is_err()
            || to.write_all(&buffer[..read]).await.is_err()
        {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_leads_through_the_proxy() {
        let found = |url| through(url, "127.0.0.1:9");
        let pair = |store: &str, url: &str| Some((store.to_owned(), url.to_owned()));
        assert_eq!(
            found("postgres://me:p%40ss@host:5432/db?a=b"),
            pair("host:5432", "postgres://me:p%40ss@127.0.0.1:9/db?a=b")
        );
        assert_eq!(found("http://host:9200"), pair("host:9200", "http://127.0.0.1:9"));
        assert_eq!(found("postgres:///db?host=/tmp"), None);
        assert_eq!(found("http://host"), None);
        assert_eq!(found("host:9200"), None);
    }
}
