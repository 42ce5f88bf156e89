//! Losses of power: a disk in memory that forgets what was not synced, in all ways that it could.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::*;

/// A file or a directory, as a disk numbers them.
#[derive(Clone)]
enum Node {
    File { now: Vec<u8>, durable: Vec<u8> },
    Directory { now: Names, durable: Names },
}

type Names = BTreeMap<String, usize>;
/// The contents of files by their paths.
type World = BTreeMap<String, Vec<u8>>;

struct Forgetful {
    /// The first is the directory above all.
    nodes: RefCell<Vec<Node>>,
    /// The disk after each step.
    history: RefCell<Vec<Vec<Node>>>,
    syncs: Cell<usize>,
    /// The sync that does nothing.
    without: Option<usize>,
}

impl Forgetful {
    fn new(without: Option<usize>) -> Self {
        let (nodes, history) = (RefCell::new(vec![directory()]), RefCell::default());
        Self { nodes, history, syncs: Cell::new(0), without }
    }

    fn look_up(&self, path: &Path) -> io::Result<usize> {
        let nodes = self.nodes.borrow();
        let mut at = 0;
        for name in path.iter().skip(1) {
            let Node::Directory { now, .. } = &nodes[at] else { panic!("{path:?}") };
            at = *now.get(name.to_str().unwrap()).ok_or(io::ErrorKind::NotFound)?;
        }
        Ok(at)
    }

    /// Changes the names in the directory above a path.
    fn change(&self, path: &Path, change: impl FnOnce(&mut Names, String)) -> io::Result<()> {
        let above = self.look_up(path.parent().unwrap())?;
        let Node::Directory { now, .. } = &mut self.nodes.borrow_mut()[above] else { panic!("{path:?}") };
        change(now, path.file_name().unwrap().to_str().unwrap().to_owned());
        Ok(())
    }

    fn add(&self, path: &Path, node: Node) -> io::Result<()> {
        if self.look_up(path).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let at = self.nodes.borrow().len();
        self.nodes.borrow_mut().push(node);
        self.change(path, |names, name| _ = names.insert(name, at))?;
        self.remember();
        Ok(())
    }

    fn remember(&self) {
        self.history.borrow_mut().push(self.nodes.borrow().clone());
    }

    /// All that may be found when the power comes back after one of the steps so far.
    fn worlds(&self) -> Vec<World> {
        self.history.borrow().iter().flat_map(|nodes| worlds_of(nodes)).collect()
    }

    /// All that may be found when the power goes now.
    fn last_worlds(&self) -> Vec<World> {
        worlds_of(&self.nodes.borrow())
    }
}

fn directory() -> Node {
    Node::Directory { now: Names::new(), durable: Names::new() }
}

/// Each change that was not synced is there or not, by itself; of a content there may be a half.
fn worlds_of(nodes: &[Node]) -> Vec<World> {
    let mut disks: Vec<Vec<Node>> = vec![nodes.to_vec()];
    for (at, node) in nodes.iter().enumerate() {
        let variants: Vec<Node> = match node {
            Node::File { now, durable } => {
                let half = now[..now.len() / 2].to_vec();
                let left =
                    if now == durable { vec![now.clone()] } else { vec![now.clone(), durable.clone(), half] };
                left.into_iter().map(|now| Node::File { durable: now.clone(), now }).collect()
            }
            Node::Directory { now, durable } => {
                let changed =
                    now.keys().chain(durable.keys()).filter(|name| now.get(*name) != durable.get(*name));
                let mut all = vec![now.clone()];
                for name in changed {
                    for mut names in all.clone() {
                        match durable.get(name) {
                            Some(before) => names.insert(name.clone(), *before),
                            None => names.remove(name),
                        };
                        all.push(names);
                    }
                }
                all.into_iter().map(|now| Node::Directory { durable: now.clone(), now }).collect()
            }
        };
        let with = |disk: &Vec<Node>, variant: &Node| {
            let mut disk = disk.clone();
            disk[at] = variant.clone();
            disk
        };
        disks =
            disks.iter().flat_map(|disk| variants.iter().map(move |variant| with(disk, variant))).collect();
    }
    disks
        .iter()
        .map(|disk| {
            let mut world = World::new();
            walk(disk, 0, "", &mut world);
            world
        })
        .collect()
}

fn walk(disk: &[Node], at: usize, path: &str, world: &mut World) {
    match &disk[at] {
        Node::File { now, .. } => drop(world.insert(path.to_owned(), now.clone())),
        Node::Directory { now, .. } => {
            world.insert(format!("{path}/"), Vec::new());
            for (name, at) in now {
                walk(disk, *at, &format!("{path}/{name}"), world);
            }
        }
    }
}

impl Disk for Forgetful {
    fn is_there(&self, path: &Path) -> bool {
        self.look_up(path).is_ok()
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        match self.add(path, directory()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        }
    }

    fn write_new(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        self.add(path, Node::File { now: content.to_vec(), durable: Vec::new() })
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let at = self.look_up(from)?;
        if self.look_up(to).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.change(to, |names, name| _ = names.insert(name, at))?;
        self.remember();
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.look_up(path)?;
        self.change(path, |names, name| _ = names.remove(&name))?;
        self.remember();
        Ok(())
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        let at = self.look_up(path)?;
        let count = self.syncs.replace(self.syncs.get() + 1);
        if self.without != Some(count) {
            match &mut self.nodes.borrow_mut()[at] {
                Node::File { now, durable } => durable.clone_from(now),
                Node::Directory { now, durable } => durable.clone_from(now),
            }
        }
        self.remember();
        Ok(())
    }
}

const ROOT: &str = "/d";
const STAGED: &str = "/d/uploads/c_a";
const CONTENT: &str = "/d/contents/c";
const DESCRIPTION: &str = "/d/descriptions/a.json";

/// Makes a document of a content that is durable, as a staged one is. One of the syncs does nothing. Returns how
/// many there were, or what a loss of power can leave.
fn commit(without: Option<usize>) -> Result<usize, String> {
    let disk = Forgetful::new(None);
    for path in [ROOT, "/d/uploads"] {
        disk.make_directory(Path::new(path)).unwrap();
    }
    disk.write_new(Path::new(STAGED), b"content").unwrap();
    for path in [STAGED, "/d/uploads", ROOT, "/"] {
        disk.sync(Path::new(path)).unwrap();
    }
    let disk = Forgetful { history: RefCell::default(), syncs: Cell::new(0), without, ..disk };
    let is_whole = |world: &World| {
        world.get(DESCRIPTION).is_some_and(|text| text == b"description")
            && world.get(CONTENT).is_some_and(|content| content == b"content")
    };
    link(&disk, Path::new(ROOT), Path::new(STAGED), Path::new(CONTENT)).unwrap();
    write_once(&disk, Path::new(ROOT), Path::new(DESCRIPTION), b"description").unwrap();
    let torn = |world: &World| world.contains_key(DESCRIPTION) && !is_whole(world);
    if let Some(world) = disk.worlds().into_iter().find(torn) {
        return Err(format!("half of a document: {world:?}"));
    }
    match disk.last_worlds().into_iter().find(|world| !is_whole(world)) {
        Some(world) => Err(format!("acknowledged and not there: {world:?}")),
        None => Ok(disk.syncs.get()),
    }
}

#[test]
fn a_loss_of_power_leaves_a_document_or_none() {
    assert_eq!(commit(None), Ok(5));
}

#[test]
fn no_sync_is_one_too_many() {
    for at in 0..5 {
        assert!(commit(Some(at)).is_err(), "the sync {at} is not needed");
    }
}

#[test]
fn an_id_that_is_taken_is_told_and_nothing_is_left() {
    let disk = Forgetful::new(None);
    disk.make_directory(Path::new(ROOT)).unwrap();
    let write = |content: &[u8]| write_once(&disk, Path::new(ROOT), Path::new(DESCRIPTION), content);
    write(b"one").unwrap();
    assert_eq!(write(b"two").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    let now = World::from_iter(disk.last_worlds().into_iter().next().unwrap());
    let files: Vec<_> = now.iter().filter(|(path, _)| !path.ends_with('/')).collect();
    assert_eq!(files, [(&DESCRIPTION.to_owned(), &b"one".to_vec())]);
}

#[test]
fn a_directory_is_durable_with_all_above_it() {
    let make = |without| {
        let disk = Forgetful::new(without);
        make_root(&disk, Path::new("/a/b/c")).unwrap();
        let is_lost = |world: &World| !world.contains_key("/a/b/c/");
        (disk.last_worlds().iter().any(is_lost), disk.syncs.get())
    };
    assert_eq!(make(None), (false, 3));
    for at in 0..3 {
        assert!(make(Some(at)).0, "the sync {at} is not needed");
    }
}
