// Faults of the clock and the disk, loaded into a broker with LD_PRELOAD.
//
// FAULTS_PAGE names a file of 16 numbers, which is shared with the test: what to do, then how often it was done. So
// a call costs one load while nothing is wrong. Only files below FAULTS_DIRECTORY fail.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum fault { CLOCK_SECONDS, SYNC_DELAY_MS, SYNCS_FAIL, DISK_FULL, READS_FAIL, FAULTS = 8 };

static _Atomic int64_t nothing[2 * FAULTS];
static _Atomic int64_t *page = nothing;
static const char *directory = "";
static int (*real_clock_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void begin(void) {
    real_clock_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    const char *file = getenv("FAULTS_PAGE"), *below = getenv("FAULTS_DIRECTORY");
    if (!file || !below) return;
    int fd = open(file, O_RDWR | O_CLOEXEC);
    void *shared = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof nothing, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED) {
        perror(file);
        abort();
    }
    close(fd);
    directory = below;
    page = shared;
}

static int64_t wanted(enum fault fault) {
    return atomic_load_explicit(&page[fault], memory_order_relaxed);
}

static void done(enum fault fault) {
    atomic_fetch_add_explicit(&page[FAULTS + fault], 1, memory_order_relaxed);
}

// What is wanted for a file; nothing for pipes, sockets and files elsewhere.
static int64_t wanted_of(enum fault fault, int fd) {
    int64_t value = wanted(fault);
    if (!value) return 0;
    struct stat stat;
    char link[64], path[4096];
    if (fstat(fd, &stat) || !S_ISREG(stat.st_mode)) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    if (strncmp(path, directory, strlen(directory))) return 0;
    done(fault);
    return value;
}

static int fails(enum fault fault, int fd, int reason) {
    if (!wanted_of(fault, fd)) return 0;
    errno = reason;
    return 1;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int failed = real_clock_gettime ? real_clock_gettime(clock, time) : (int)syscall(SYS_clock_gettime, clock, time);
    int64_t seconds = wanted(CLOCK_SECONDS);
    if (!failed && seconds && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        time->tv_sec += seconds;
        done(CLOCK_SECONDS);
    }
    return failed;
}

static int sync_of(long call, int fd) {
    int64_t delay_ms = wanted_of(SYNC_DELAY_MS, fd);
    if (delay_ms) usleep((useconds_t)delay_ms * 1000);
    if (fails(SYNCS_FAIL, fd, EIO)) return -1;
    return (int)syscall(call, fd);
}

int fsync(int fd) { return sync_of(SYS_fsync, fd); }
int fdatasync(int fd) { return sync_of(SYS_fdatasync, fd); }

#define REFUSED fails(DISK_FULL, fd, ENOSPC)

ssize_t write(int fd, const void *from, size_t size) {
    return REFUSED ? -1 : syscall(SYS_write, fd, from, size);
}
ssize_t writev(int fd, const struct iovec *from, int count) {
    return REFUSED ? -1 : syscall(SYS_writev, fd, from, count);
}
ssize_t pwrite64(int fd, const void *from, size_t size, off64_t at) {
    return REFUSED ? -1 : syscall(SYS_pwrite64, fd, from, size, at);
}
ssize_t pwrite(int fd, const void *from, size_t size, off_t at) { return pwrite64(fd, from, size, at); }
// A full disk lets go of what it has.
int ftruncate64(int fd, off64_t size) {
    struct stat stat;
    int grows = wanted(DISK_FULL) && !fstat(fd, &stat) && size > stat.st_size;
    return grows && REFUSED ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }
int fallocate64(int fd, int mode, off64_t at, off64_t size) {
    return REFUSED ? -1 : (int)syscall(SYS_fallocate, fd, mode, at, size);
}
int fallocate(int fd, int mode, off_t at, off_t size) { return fallocate64(fd, mode, at, size); }

#define UNREADABLE fails(READS_FAIL, fd, EIO)

ssize_t read(int fd, void *into, size_t size) {
    return UNREADABLE ? -1 : syscall(SYS_read, fd, into, size);
}
ssize_t readv(int fd, const struct iovec *into, int count) {
    return UNREADABLE ? -1 : syscall(SYS_readv, fd, into, count);
}
ssize_t pread64(int fd, void *into, size_t size, off64_t at) {
    return UNREADABLE ? -1 : syscall(SYS_pread64, fd, into, size, at);
}
ssize_t pread(int fd, void *into, size_t size, off_t at) { return pread64(fd, into, size, at); }
