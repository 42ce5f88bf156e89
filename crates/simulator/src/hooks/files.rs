//! Writes to files and their syncs: `disk` says what becomes of them.

use libc::{c_int, c_void, off_t, off64_t, size_t, ssize_t};

use super::{fail, real};
use crate::disk;
use crate::scheduler;

/// # Safety
/// As in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn write(file: c_int, buffer: *const c_void, length: size_t) -> ssize_t {
    if scheduler::is_simulated()
        && let Some(written) = disk::File::of(file)
        && let Err(error) = written.before_write(None, length)
    {
        return fail(error) as ssize_t;
    }
    real!(c"write": fn(file => c_int, buffer => *const c_void, length => size_t) -> ssize_t)
}

fn write_at(file: c_int, buffer: *const c_void, length: size_t, offset: off64_t) -> ssize_t {
    if scheduler::is_simulated()
        && let Some(written) = disk::File::of(file)
        && let Err(error) = written.before_write(Some(offset as u64), length)
    {
        return fail(error) as ssize_t;
    }
    real!(c"pwrite64": fn(file => c_int, buffer => *const c_void, length => size_t, offset => off64_t) -> ssize_t)
}

/// # Safety
/// As in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwrite(
    file: c_int,
    buffer: *const c_void,
    length: size_t,
    offset: off_t,
) -> ssize_t {
    write_at(file, buffer, length, offset)
}

/// # Safety
/// As in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwrite64(
    file: c_int,
    buffer: *const c_void,
    length: size_t,
    offset: off64_t,
) -> ssize_t {
    write_at(file, buffer, length, offset)
}

fn truncate(file: c_int, size: off64_t) -> c_int {
    if scheduler::is_simulated()
        && let Some(written) = disk::File::of(file)
        && let Err(error) = written.before_resize(size as u64)
    {
        return fail(error);
    }
    real!(c"ftruncate64": fn(file => c_int, size => off64_t) -> c_int)
}

/// # Safety
/// As in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ftruncate(file: c_int, size: off_t) -> c_int {
    truncate(file, size)
}

/// # Safety
/// As in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ftruncate64(file: c_int, size: off64_t) -> c_int {
    truncate(file, size)
}

fn allocate(file: c_int, mode: c_int, offset: off64_t, length: off64_t) -> c_int {
    if scheduler::is_simulated()
        && let Some(written) = disk::File::of(file)
        && let Err(error) = written.before_resize(u64::MAX)
    {
        return fail(error);
    }
    real!(c"fallocate64": fn(file => c_int, mode => c_int, offset => off64_t, length => off64_t) -> c_int)
}

/// # Safety
/// As in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fallocate(file: c_int, mode: c_int, offset: off_t, length: off_t) -> c_int {
    allocate(file, mode, offset, length)
}

/// # Safety
/// As in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fallocate64(file: c_int, mode: c_int, offset: off64_t, length: off64_t) -> c_int {
    allocate(file, mode, offset, length)
}

fn sync(file: c_int) -> Option<c_int> {
    if !scheduler::is_simulated() {
        return None;
    }
    // The real sync would take real time, and tell nothing.
    let synced = disk::File::of(file)?;
    Some(synced.sync().map_or_else(fail, |()| 0))
}

/// # Safety
/// As in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fsync(file: c_int) -> c_int {
    sync(file).unwrap_or_else(|| real!(c"fsync": fn(file => c_int) -> c_int))
}

/// # Safety
/// As in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fdatasync(file: c_int) -> c_int {
    sync(file).unwrap_or_else(|| real!(c"fdatasync": fn(file => c_int) -> c_int))
}

fn read_at(file: c_int, buffer: *mut c_void, length: size_t, offset: off64_t) -> ssize_t {
    if scheduler::is_simulated()
        && let Some(read) = disk::File::of(file)
        && let Err(error) = read.before_read()
    {
        return fail(error) as ssize_t;
    }
    disk::real_read_at(file, buffer, length, offset)
}

/// # Safety
/// As in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pread(file: c_int, buffer: *mut c_void, length: size_t, offset: off_t) -> ssize_t {
    read_at(file, buffer, length, offset)
}

/// # Safety
/// As in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pread64(
    file: c_int,
    buffer: *mut c_void,
    length: size_t,
    offset: off64_t,
) -> ssize_t {
    read_at(file, buffer, length, offset)
}

/// # Safety
/// As in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn close(file: c_int) -> c_int {
    if scheduler::is_simulated() {
        disk::File::forget(file);
    }
    real!(c"close": fn(file => c_int) -> c_int)
}
