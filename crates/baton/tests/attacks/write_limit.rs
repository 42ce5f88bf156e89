//! E20: endless loops under a write limit: others keep their share, and have everything back soon after the loops
//! are cancelled.

use std::time::{Duration, Instant};

use crate::creation::{self, Creation};
use crate::models;
use crate::report::Row;
use crate::server::{Data, Server};
use crate::siege::{Size, cancel, deploy};

const NAME: &str = "loops under a write limit";
/// Records a second.
const LIMIT: u32 = 2_000;
const LOOPS: usize = 4;
/// The others' instances a second: a small part of the limit.
const PER_SECOND: u32 = 20;
/// Everything is back after so long.
const BACK_MAX: Duration = Duration::from_secs(2);
/// Share of their demand that others get, while the loops run and afterwards.
const SHARE_MIN: f64 = 0.5;
const BACK_MIN: f64 = 0.9;

pub(crate) async fn leaves_others_their_share(size: Size) -> Vec<Row> {
    let data = Data::new();
    let settings =
        ["flow_control.write.enabled=true".to_owned(), format!("flow_control.write.limit={LIMIT}")];
    let mut server = Server::spawn(&data, &settings);
    server.ready().await;
    let client = creation::client(server.address("rest"), 64);
    creation::deploy_one_task(&client, "others").await;
    deploy(&client, &models::endless_loops()).await;
    let others = Creation::start(client.clone(), "others", PER_SECOND, "{}".to_owned());
    let mut keys = Vec::new();
    for _ in 0..LOOPS {
        let command = client::CreateInstance::latest(models::HOSTILE);
        // The first loops may leave no room for the next.
        keys.extend(client.create_instance_key(&command).await);
    }
    // The loops have used up the limit.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let rate = async |length: Duration| {
        let (began, before) = (Instant::now(), others.created.count());
        tokio::time::sleep(length).await;
        (others.created.count() - before) as f64 / began.elapsed().as_secs_f64()
    };
    let during = rate(size.length).await;
    let cancelled = cancel(&client, &keys).await;
    tokio::time::sleep(BACK_MAX).await;
    let after = rate(size.length).await;
    let wanted = f64::from(PER_SECOND);
    server.kill_after(Duration::ZERO).await;
    vec![
        Row::at_least(NAME, "others' creations/s beside the loops", during, wanted * SHARE_MIN),
        Row::at_most(
            NAME,
            "seconds for a cancellation, at the most",
            cancelled,
            size.cancel_max.as_secs_f64(),
        ),
        Row::at_least(NAME, "others' creations/s two seconds after it", after, wanted * BACK_MIN),
    ]
}
