//! User name and password.

use std::sync::atomic::Ordering;

use auth::{Cost, HashLimits, Presented, Reason};
use futures::future::join_all;

use crate::fixture::{CHEAP, Server, ask, ask_from, basic};

#[tokio::test]
async fn a_password_is_hashed_once() {
    let server = Server::start().await;
    for _ in 0..20 {
        assert_eq!(server.ask("ann", "secret").await.unwrap().user_name(), Some("ann"));
    }
    assert_eq!(server.hashes(), 1);
    assert_eq!(server.users.look_ups.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn many_connections_of_one_user_cost_one_hash() {
    let server = Server::with(CHEAP, HashLimits { parallel: 1, waiting: 0 }, None).await;
    let results = join_all((0..100).map(|_| server.ask("ann", "secret"))).await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(server.hashes(), 1);
}

#[tokio::test]
async fn wrong_passwords_and_unknown_users_look_alike() {
    let server = Server::start().await;
    assert_eq!(server.ask("ann", "wrong").await.unwrap_err(), Reason::Credentials);
    assert_eq!(server.hashes(), 1);
    assert_eq!(server.ask("bob", "secret").await.unwrap_err(), Reason::Credentials);
    assert_eq!(server.hashes(), 2, "an unknown user costs as much");
    assert_eq!(server.ask("ann", "").await.unwrap_err(), Reason::Credentials);
}

#[tokio::test]
async fn the_same_wrong_password_again_costs_nothing() {
    let server = Server::start().await;
    for _ in 0..5 {
        assert_eq!(server.ask("ann", "wrong").await.unwrap_err(), Reason::Credentials);
    }
    assert_eq!(server.hashes(), 1);
}

#[tokio::test]
async fn a_changed_password_counts_at_once() {
    let server = Server::start().await;
    server.ask("ann", "secret").await.unwrap();
    assert_eq!(server.ask("ann", "better").await.unwrap_err(), Reason::Credentials);
    server.users.set("ann", &server.hasher.hash("better").await.unwrap());
    assert_eq!(server.ask("ann", "secret").await.unwrap_err(), Reason::Credentials);
    server.ask("ann", "better").await.unwrap();
}

#[tokio::test]
async fn a_removed_user_is_refused_at_once_and_a_new_one_let_in() {
    let server = Server::start().await;
    server.ask("ann", "secret").await.unwrap();
    server.users.remove("ann");
    assert_eq!(server.ask("ann", "secret").await.unwrap_err(), Reason::Credentials);
    server.users.set("ann", &server.hasher.hash("secret").await.unwrap());
    server.ask("ann", "secret").await.unwrap();
}

#[tokio::test]
async fn a_change_of_somebody_else_costs_a_look_up_but_no_hash() {
    let server = Server::start().await;
    server.ask("ann", "secret").await.unwrap();
    server.users.set("bob", "whatever");
    server.ask("ann", "secret").await.unwrap();
    server.ask("ann", "secret").await.unwrap();
    assert_eq!(server.hashes(), 1);
    assert_eq!(server.users.look_ups.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_store_that_does_not_tell_of_a_change_is_asked_again_in_time() {
    let server = Server::start().await;
    server.ask("ann", "secret").await.unwrap();
    server.users.set_silently("ann", &server.hasher.hash("better").await.unwrap());
    server.hand.pass_s(599);
    server.ask("ann", "secret").await.unwrap();
    server.hand.pass_s(1);
    assert_eq!(server.ask("ann", "secret").await.unwrap_err(), Reason::Credentials);
}

#[tokio::test]
async fn what_is_in_use_is_not_hashed_again_and_what_is_not_is_forgotten() {
    let server = Server::start().await;
    for _ in 0..10 {
        server.ask("ann", "secret").await.unwrap();
        server.hand.pass_s(1200);
    }
    assert_eq!(server.hashes(), 1);
    server.hand.pass_s(3600);
    server.ask("ann", "secret").await.unwrap();
    assert_eq!(server.hashes(), 2);
}

#[tokio::test]
async fn more_hashes_than_may_wait_are_refused() {
    // Slow enough that the first is not done before the others ask.
    let cost = Cost { memory_kib: 32 * 1024, passes: 2, lanes: 1 };
    let server = Server::with(cost, HashLimits { parallel: 1, waiting: 1 }, None).await;
    let guesses: Vec<_> = (0..8).map(|n| basic(&format!("user {n}"), "guess")).collect();
    let results = join_all(guesses.iter().map(|header| ask(&server.authenticator, header))).await;
    let busy = results.iter().filter(|result| **result == Err(Reason::Busy)).count();
    assert_eq!(busy, 6, "{results:?}");
    assert_eq!(Reason::Busy.status(), 503);
    server.ask("ann", "secret").await.unwrap();
}

#[tokio::test]
async fn a_guesser_does_not_lock_out_who_was_let_in_before() {
    let cost = Cost { memory_kib: 32 * 1024, passes: 2, lanes: 1 };
    let server = Server::with(cost, HashLimits { parallel: 1, waiting: 0 }, None).await;
    server.ask("ann", "secret").await.unwrap();
    let mut guess = Box::pin(server.ask("ann", "guess"));
    while server.users.look_ups.load(Ordering::Relaxed) < 2 {
        assert!(futures::poll!(&mut guess).is_pending());
        tokio::task::yield_now().await;
    }
    server.ask("ann", "secret").await.unwrap();
    assert_eq!(guess.await.unwrap_err(), Reason::Credentials);
}

#[tokio::test]
async fn a_store_that_is_away_keeps_out_only_whom_it_must() {
    let server = Server::start().await;
    server.ask("ann", "secret").await.unwrap();
    server.users.be_away();
    assert_eq!(server.ask("bob", "secret").await.unwrap_err(), Reason::UsersUnavailable);
    server.hand.pass_s(700);
    server.ask("ann", "secret").await.unwrap();
    // Now something has changed, and nobody can say whether it is about ann.
    server.users.set("bob", "whatever");
    assert_eq!(server.ask("ann", "secret").await.unwrap_err(), Reason::UsersUnavailable);
}

#[tokio::test]
async fn who_has_no_credentials_is_asked_for_them() {
    let server = Server::start().await;
    let refusal = server.authenticator.authenticate(&Presented::default()).await.unwrap_err();
    assert_eq!((refusal.reason, refusal.reason.status()), (Reason::Missing, 401));
    assert_eq!(refusal.challenge.as_deref(), Some("Basic realm=\"Baton\", charset=\"UTF-8\""));
    assert_eq!(ask(&server.authenticator, "Bearer abc").await.unwrap_err(), Reason::Scheme("Basic"));
    assert_eq!(server.hashes(), 0);
}

#[tokio::test]
async fn a_password_that_is_too_long_costs_nothing() {
    let server = Server::start().await;
    let result = server.ask("ann", &"x".repeat(5000)).await;
    assert_eq!(result.unwrap_err(), Reason::Malformed("the password is too long"));
    assert_eq!(server.hashes(), 0);
}

#[tokio::test]
async fn a_flood_from_one_address_leaves_room_for_a_first_login() {
    let cost = Cost { memory_kib: 32 * 1024, passes: 2, lanes: 1 };
    // As many may wait as one address may have, and one more.
    let server = Server::with(cost, HashLimits { parallel: 1, waiting: 16 }, None).await;
    let [here, there] = ["10.0.0.1", "10.0.0.2"].map(|text| Some(text.parse().unwrap()));
    let guesses: Vec<_> = (0..64).map(|n| basic(&format!("user {n}"), "guess")).collect();
    let flood = guesses.iter().map(|header| ask_from(&server.authenticator, here, header));
    let owner = basic("ann", "secret");
    let (results, owner) = futures::join!(join_all(flood), ask_from(&server.authenticator, there, &owner));
    owner.unwrap();
    assert_eq!(results.iter().filter(|result| **result == Err(Reason::Busy)).count(), 48, "{results:?}");
}

#[tokio::test]
async fn a_name_rests_alike_whether_anybody_has_it() {
    for name in ["ann", "nobody"] {
        let server = Server::start().await;
        let mut results = vec![];
        for guess in 0..7 {
            results.push(server.ask(name, &format!("guess {guess}")).await.unwrap_err());
        }
        let resting = Reason::Resting { seconds: 1 };
        assert_eq!(results, [[Reason::Credentials; 5].as_slice(), &[resting; 2]].concat(), "{name}");
        assert_eq!((server.hashes(), resting.status()), (5, 429), "what is refused costs no hash");
        server.hand.pass_s(1);
        assert_eq!(server.ask(name, "another").await.unwrap_err(), Reason::Credentials);
    }
}
