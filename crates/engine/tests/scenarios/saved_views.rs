//! Saved views: their owners, their readers, and their largest number.

use protocol::{
    Command, IdentityCommand, IdentityQuery, IdentityReply, Key, Name, PasswordHash, Query, QueryReply,
    RejectionType, Response, SavedView, SavedViewCommand, User,
};

use crate::support::Harness;

fn view(owner: &str, name: &str, is_shared: bool) -> SavedView {
    let (page, query) = ("operate/processes".into(), "active=true".into());
    SavedView { key: 0, owner: owner.into(), name: name.into(), page, query, is_shared, tenant_ids: None }
}

fn run(harness: &mut Harness, command: SavedViewCommand) -> Result<Response, RejectionType> {
    let command = Command::Identity(IdentityCommand::SavedView(command));
    harness.command(command).unwrap().map_err(|rejection| rejection.kind)
}

fn create(harness: &mut Harness, view: SavedView) -> Result<Key, RejectionType> {
    match run(harness, SavedViewCommand::Create(view))? {
        Response::SavedView(view) => Ok(view.key),
        other => panic!("{other:?}"),
    }
}

/// Names of the views that an owner sees.
fn seen(harness: &mut Harness, owner: &str) -> Vec<String> {
    let query = IdentityQuery::SavedViews { owner: owner.into() };
    match harness.read(&Query::Identity(query)).unwrap() {
        QueryReply::Identity(IdentityReply::SavedViews(views)) => {
            views.into_iter().map(|view| view.name.to_string()).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn views_belong_to_whoever_saved_them() {
    let mut harness = Harness::new();
    let mine = create(&mut harness, view("USER:ann", "mine", false)).unwrap();
    let ours = create(&mut harness, view("USER:ann", "ours", true)).unwrap();
    create(&mut harness, view("CLIENT:ann", "other", false)).unwrap();
    create(&mut harness, view("", "open", false)).unwrap();
    assert_eq!(seen(&mut harness, "USER:ann"), ["mine", "ours"]);
    assert_eq!(seen(&mut harness, "CLIENT:ann"), ["ours", "other"]);
    assert_eq!(seen(&mut harness, ""), ["ours", "open"]);

    let changed = SavedView { key: mine, ..view("USER:bob", "stolen", false) };
    assert_eq!(run(&mut harness, SavedViewCommand::Update(changed)), Err(RejectionType::NotFound));
    let changed = SavedView { key: ours, ..view("USER:bob", "stolen", false) };
    assert_eq!(run(&mut harness, SavedViewCommand::Update(changed)), Err(RejectionType::Forbidden));
    let delete = |key, owner: &str| SavedViewCommand::Delete { key, owner: owner.into() };
    assert_eq!(run(&mut harness, delete(mine, "USER:bob")), Err(RejectionType::NotFound));
    assert_eq!(run(&mut harness, delete(77, "USER:ann")), Err(RejectionType::NotFound));

    let changed = SavedView { key: ours, ..view("USER:ann", "private", false) };
    run(&mut harness, SavedViewCommand::Update(changed)).unwrap();
    assert_eq!(seen(&mut harness, "USER:bob"), Vec::<String>::new());
    assert_eq!(seen(&mut harness, "USER:ann"), ["mine", "private"]);
    run(&mut harness, delete(mine, "USER:ann")).unwrap();
    assert_eq!(seen(&mut harness, "USER:ann"), ["private"]);
    harness.verify_replay(1);
}

#[test]
fn nobody_finds_views_of_a_user_that_was_deleted() {
    let mut harness = Harness::new();
    let user = User {
        username: "ann".into(),
        name: Name::default(),
        email: Name::default(),
        password_hash: PasswordHash("h".into()),
    };
    harness.command(Command::Identity(IdentityCommand::CreateUser(user))).unwrap().unwrap();
    create(&mut harness, view("USER:ann", "mine", false)).unwrap();
    create(&mut harness, view("USER:ann", "ours", true)).unwrap();
    let delete = IdentityCommand::DeleteUser { username: "ann".into() };
    harness.command(Command::Identity(delete)).unwrap().unwrap();
    assert_eq!(seen(&mut harness, "USER:ann"), Vec::<String>::new());
    harness.verify_replay(1);
}

#[test]
fn an_owner_has_a_limited_number_of_views() {
    let mut harness = Harness::new();
    for number in 0..SavedView::OF_OWNER_MAX {
        create(&mut harness, view("USER:ann", &number.to_string(), false)).unwrap();
    }
    assert_eq!(create(&mut harness, view("USER:ann", "more", false)), Err(RejectionType::InvalidState));
    let key = create(&mut harness, view("USER:bob", "first", false)).unwrap();
    run(&mut harness, SavedViewCommand::Delete { key, owner: "USER:bob".into() }).unwrap();
    assert_eq!(seen(&mut harness, "USER:ann").len(), SavedView::OF_OWNER_MAX);
}

#[test]
fn an_owner_shares_a_limited_number_of_views() {
    let mut harness = Harness::new();
    let mut last = 0;
    for number in 0..SavedView::SHARED_OF_OWNER_MAX {
        last = create(&mut harness, view("USER:ann", &number.to_string(), true)).unwrap();
    }
    assert_eq!(create(&mut harness, view("USER:ann", "more", true)), Err(RejectionType::InvalidState));
    let own = create(&mut harness, view("USER:ann", "own", false)).unwrap();
    let shared = |key| SavedViewCommand::Update(SavedView { key, ..view("USER:ann", "again", true) });
    assert_eq!(run(&mut harness, shared(own)).unwrap_err(), RejectionType::InvalidState);
    run(&mut harness, shared(last)).unwrap();
    create(&mut harness, view("USER:bob", "first", true)).unwrap();
    for number in 0..=SavedView::SHARED_OF_OWNER_MAX {
        create(&mut harness, view("", &number.to_string(), true)).unwrap();
    }
    harness.verify_replay(1);
}
