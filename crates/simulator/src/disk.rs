//! Disks: files that lose what was not synced when the power goes, and syncs that take time or fail.
//!
//! Files are real, in a directory of each life of a broker. Each write is done at once, and what it wrote over is kept
//! until the next sync of the file. When the power goes, any part of what was written since, sector by sector, is as it
//! was before. New names, removals and renames are on the disk at once.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::FromRawFd as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use libc::{c_int, c_void, off64_t, size_t, ssize_t};

use crate::exclusive::Exclusive;
use crate::hooks::real;
use crate::random::Random;
use crate::scheduler;

/// Bytes that are written whole or not at all.
const SECTOR: u64 = 512;

/// Faults of a disk, and its pace.
#[derive(Debug, Clone)]
pub struct DiskFaults {
    /// Time of a sync, from and to, nanoseconds.
    pub sync_ns: (u64, u64),
    /// Nothing can be written.
    pub is_full: bool,
    /// Syncs fail.
    pub fails_syncs: bool,
    /// Nothing can be read.
    pub fails_reads: bool,
}

impl Default for DiskFaults {
    fn default() -> Self {
        Self { sync_ns: (100_000, 2_000_000), is_full: false, fails_syncs: false, fails_reads: false }
    }
}

/// The disk of a host.
struct HostDisk {
    directory: PathBuf,
    faults: DiskFaults,
    /// Files with writes that are not synced, by their numbers.
    unsynced: BTreeMap<u64, Vec<Overwritten>>,
    /// Writes until now.
    writes: u64,
}

/// Bytes before a write, or before another size.
struct Overwritten {
    /// Its place in the order of writes.
    number: u64,
    path: PathBuf,
    is_resize: bool,
    offset: u64,
    length: u64,
    bytes: Vec<u8>,
    size: u64,
}

struct Disks {
    of_hosts: BTreeMap<u32, HostDisk>,
    /// The host and the path of open files; `None`: not of a disk.
    open: BTreeMap<c_int, Option<(u32, PathBuf)>>,
    random: Random,
}

static DISKS: Exclusive<Option<Disks>> = Exclusive::new(None);

fn with<T>(look: impl FnOnce(&mut Disks) -> T) -> T {
    DISKS.with(|disks| look(disks.as_mut().expect("disks are there from the beginning")))
}

/// Begins with no disks.
pub fn begin(random: Random) {
    DISKS.with(|disks| *disks = Some(Disks { of_hosts: BTreeMap::new(), open: BTreeMap::new(), random }));
}

/// Gives a host a disk: what it writes below a directory.
pub fn add(host: u32, directory: &Path, faults: DiskFaults) {
    let directory = std::path::absolute(directory).expect("there is a current directory");
    let disk = HostDisk { directory, faults, unsynced: BTreeMap::new(), writes: 0 };
    with(|disks| disks.of_hosts.insert(host, disk));
}

/// Changes the faults of a host's disk.
pub fn change(host: u32, change: impl FnOnce(&mut DiskFaults)) {
    with(|disks| change(&mut disks.of_hosts.get_mut(&host).expect("the host has a disk").faults));
}

pub(crate) fn real_read_at(file: c_int, buffer: *mut c_void, length: size_t, offset: off64_t) -> ssize_t {
    real!(c"pread64": fn(file => c_int, buffer => *mut c_void, length => size_t, offset => off64_t) -> ssize_t)
}

/// An open file of a disk.
pub(crate) struct File {
    number: c_int,
    host: u32,
    path: PathBuf,
}

impl File {
    /// The file of a number, if it is of the disk of this thread's host.
    pub fn of(number: c_int) -> Option<Self> {
        let host = scheduler::host();
        if host == scheduler::CONTROLLER {
            return None;
        }
        DISKS.with(|disks| {
            let disks = disks.as_mut()?;
            let of_hosts = &disks.of_hosts;
            let known = disks.open.entry(number).or_insert_with(|| {
                let path = std::fs::read_link(format!("/proc/self/fd/{number}")).ok()?;
                path.starts_with(&of_hosts.get(&host)?.directory).then_some((host, path))
            });
            let (host, path) = known.clone()?;
            Some(Self { number, host, path })
        })
    }

    /// The number is free for another file.
    pub fn forget(number: c_int) {
        DISKS.with(|disks| {
            if let Some(disks) = disks {
                disks.open.remove(&number);
            }
        });
    }

    fn faults(&self) -> DiskFaults {
        with(|disks| disks.of_hosts[&self.host].faults.clone())
    }

    /// As a file of the standard library, which does not close it.
    fn borrowed(&self) -> std::mem::ManuallyDrop<std::fs::File> {
        // SAFETY: the caller of the hook has it open, and it is not closed here.
        std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(self.number) })
    }

    /// Keeps what a write is about to change. An error is that of the write.
    pub fn before_write(&self, offset: Option<u64>, length: usize) -> Result<(), c_int> {
        if self.faults().is_full {
            return Err(libc::ENOSPC);
        }
        let size = self.borrowed().metadata().map_err(|_| libc::EIO)?.len();
        // SAFETY: the file is open.
        let place = || unsafe { libc::lseek64(self.number, 0, libc::SEEK_CUR) } as u64;
        // SAFETY: the file is open.
        let appends = || unsafe { libc::fcntl(self.number, libc::F_GETFL) } & libc::O_APPEND != 0;
        let offset = offset.unwrap_or_else(|| if appends() { size } else { place() });
        self.keep(false, offset, length as u64, size)
    }

    /// Keeps the bytes that a change of the file's size is about to remove. An error is that of the change.
    pub fn before_resize(&self, size: u64) -> Result<(), c_int> {
        let before = self.borrowed().metadata().map_err(|_| libc::EIO)?.len();
        if size > before && self.faults().is_full {
            return Err(libc::ENOSPC);
        }
        self.keep(true, size.min(before), before.saturating_sub(size), before)
    }

    fn keep(&self, is_resize: bool, offset: u64, length: u64, size: u64) -> Result<(), c_int> {
        let known = length.min(size.saturating_sub(offset));
        let mut bytes = vec![0; known as usize];
        let mut read = 0;
        while read < bytes.len() {
            let rest = &mut bytes[read..];
            let at = (offset + read as u64) as off64_t;
            match real_read_at(self.number, rest.as_mut_ptr().cast(), rest.len(), at) {
                more @ 1.. => read += more as usize,
                _ => break,
            }
        }
        let inode = self.borrowed().metadata().map_err(|_| libc::EIO)?.ino();
        let path = self.path.clone();
        with(|disks| {
            let disk = disks.of_hosts.get_mut(&self.host).expect("the host has a disk");
            disk.writes += 1;
            let overwritten =
                Overwritten { number: disk.writes, path, is_resize, offset, length, bytes, size };
            disk.unsynced.entry(inode).or_default().push(overwritten);
        });
        Ok(())
    }

    /// Makes durable what was written before; takes its time.
    pub fn sync(&self) -> Result<(), c_int> {
        let inode = self.borrowed().metadata().map_err(|_| libc::EIO)?.ino();
        let (upto, wait_ns) = with(|disks| {
            let disk = &disks.of_hosts[&self.host];
            let (least, most) = disk.faults.sync_ns;
            let wait_ns = disks.random.between(least, most + 1);
            (disk.unsynced.get(&inode).map_or(0, Vec::len), wait_ns)
        });
        scheduler::wait(0, Some(scheduler::now_ns() + wait_ns));
        if self.faults().fails_syncs {
            return Err(libc::EIO);
        }
        with(|disks| {
            let disk = disks.of_hosts.get_mut(&self.host).expect("the host has a disk");
            if let Some(unsynced) = disk.unsynced.get_mut(&inode) {
                unsynced.drain(..upto.min(unsynced.len()));
            }
        });
        Ok(())
    }

    pub fn before_read(&self) -> Result<(), c_int> {
        if self.faults().fails_reads { Err(libc::EIO) } else { Ok(()) }
    }
}

/// The power of a host goes: its files lose any part of what was not synced. Its threads must not run any more.
pub fn lose_power(host: u32) -> io::Result<()> {
    let (unsynced, mut random) = with(|disks| {
        let random = disks.random.fork();
        let disk = disks.of_hosts.get_mut(&host).expect("the host has a disk");
        (std::mem::take(&mut disk.unsynced), random)
    });
    // The kernel gives inode numbers by processor, so their order differs between two runs.
    let mut unsynced: Vec<_> = unsynced.into_values().filter(|writes| !writes.is_empty()).collect();
    unsynced.sort_unstable_by_key(|writes| writes[0].number);
    for writes in unsynced {
        // Whole, or in part, or not at all.
        let keeps = *random.pick(&[0, 1, 1, 2]);
        if keeps == 2 {
            continue;
        }
        // Sizes go back in order, whole; bytes in any part.
        let resized = if keeps == 0 { 0 } else { random.below(writes.len() as u64 + 1) as usize };
        for (number, write) in writes.into_iter().enumerate().rev() {
            if !write.is_resize {
                undo(&write, keeps == 1, &mut random)?;
            } else if number >= resized {
                undo(&write, false, &mut random)?;
            }
        }
    }
    Ok(())
}

fn undo(write: &Overwritten, in_part: bool, random: &mut Random) -> io::Result<()> {
    // It may have been removed since.
    let Ok(file) = std::fs::OpenOptions::new().write(true).open(&write.path) else { return Ok(()) };
    let (end, mut size) = (write.offset + write.length, write.size);
    let mut begin = write.offset;
    while begin < end {
        let next = ((begin / SECTOR + 1) * SECTOR).min(end);
        let from = ((begin - write.offset) as usize).min(write.bytes.len());
        let to = ((next - write.offset) as usize).min(write.bytes.len());
        if in_part && random.one_in(2) {
            size = size.max(next);
        } else if from < to {
            file.write_all_at(&write.bytes[from..to], begin)?;
        } else if begin < file.metadata()?.len() {
            let zeros = next.min(file.metadata()?.len()) - begin;
            file.write_all_at(&vec![0; zeros as usize], begin)?;
        }
        begin = next;
    }
    if file.metadata()?.len() > size.max(write.size) {
        file.set_len(size.max(write.size))?;
    }
    Ok(())
}

/// Flips a bit of a file of a directory, among the bytes that are not zero.
pub fn flip_bit(directory: &Path, random: &mut Random) -> io::Result<()> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.sort_unstable();
    let mut places = Vec::new();
    for file in &files {
        let bytes = std::fs::read(file)?;
        places.extend((0..bytes.len()).filter(|place| bytes[*place] != 0).map(|place| (file, place as u64)));
    }
    if places.is_empty() {
        return Ok(());
    }
    let (file, place) = *random.pick(&places);
    let file = std::fs::OpenOptions::new().read(true).write(true).open(file)?;
    let mut byte = [0];
    file.read_exact_at(&mut byte, place)?;
    file.write_all_at(&[byte[0] ^ (1 << random.below(8))], place)
}

/// Copies a directory.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
