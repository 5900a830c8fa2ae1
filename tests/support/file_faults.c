/* Fault injection for file I/O, loaded with LD_PRELOAD.
 *
 * Counts the calls that change files below one folder and, at the n-th of them, kills the process
 * or fails the call. Recorded calls can be replayed as after a loss of power. Calls on other files
 * pass through. One thread at a time is expected to write below the folder.
 *
 * Calls are not synced to the disk below the folder: the kernel keeps what a killed process wrote,
 * and power is lost in replays only. Tests take the same time on slow disks.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum mode { COUNT, KILL, KILL_HALFWAY, FAIL, SHORTEN };
enum verdict { PROCEED, HALVE, REFUSE };

struct record {
    char kind; /* w(rite) t(runcate) s(ync) c(reate) u(nlink) r(ename) a(cknowledged) */
    int64_t offset, size;
    int64_t name_length, data_length;
} __attribute__((packed));

static char folder[PATH_MAX];
static size_t folder_length;
static enum mode mode;
static long calls, first, last;
static int error_number, log_file = -1;

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL) abort();
    return function;
}

/* Interface for the tests. */

void faults_arm(const char *path, int new_mode, long from, long to, int number, int log) {
    folder_length = strlen(path);
    if (folder_length >= sizeof folder) abort();
    memcpy(folder, path, folder_length + 1);
    mode = new_mode, first = from, last = to, error_number = number, log_file = log, calls = 0;
}

void faults_disarm(void) { mode = COUNT, first = last = 0; }

long faults_calls(void) { return calls; }

static void record(char kind, const char *path, int64_t offset, int64_t size, const void *data) {
    if (log_file < 0) return;
    struct record head = {kind, offset, size, (int64_t)strlen(path), data ? size : 0};
    struct iovec parts[] = {{&head, sizeof head},
                            {(void *)path, (size_t)head.name_length},
                            {(void *)data, (size_t)head.data_length}};
    ssize_t whole = (ssize_t)sizeof head + head.name_length + head.data_length;
    if (REAL(writev)(log_file, parts, 3) != whole) abort();
}

void faults_acknowledge(void) { record('a', "", 0, 0, NULL); }

/* Whether a path or a descriptor is below the folder; `path` receives where it points. */

static int within(const char *path) {
    return folder_length > 0 && strncmp(path, folder, folder_length) == 0;
}

static int descriptor_within(int fd, char path[PATH_MAX]) {
    char link[40] = "/proc/self/fd/";
    if (folder_length == 0 || fd < 0) return 0;
    char digits[12];
    int count = 0;
    do digits[count++] = (char)('0' + fd % 10), fd /= 10;
    while (fd > 0);
    for (size_t end = strlen(link); count > 0;) link[end++] = digits[--count], link[end] = 0;
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return within(path);
}

static enum verdict next_call(void) {
    calls++;
    if (calls < first || calls > last) return PROCEED;
    if (mode == KILL) raise(SIGKILL);
    if (mode == FAIL) {
        errno = error_number;
        return REFUSE;
    }
    return mode == COUNT ? PROCEED : HALVE;
}

/* Calls that write bytes: they can be refused, or done by half. */

static ssize_t changed(int fd, const char *path, const void *data, size_t size, off_t offset,
                       int positioned) {
    enum verdict verdict = next_call();
    if (verdict == REFUSE) return -1;
    size_t some = verdict == HALVE && size > 1 ? size / 2 : size;
    if (!positioned) offset = lseek(fd, 0, SEEK_CUR);
    record('w', path, offset, (int64_t)some, data);
    ssize_t done = positioned ? REAL(pwrite64)(fd, data, some, offset) : REAL(write)(fd, data, some);
    if (verdict == HALVE && mode == KILL_HALFWAY) raise(SIGKILL);
    return done;
}

ssize_t write(int fd, const void *data, size_t size) {
    char path[PATH_MAX];
    if (!descriptor_within(fd, path)) return REAL(write)(fd, data, size);
    return changed(fd, path, data, size, 0, 0);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    char path[PATH_MAX];
    if (!descriptor_within(fd, path)) return REAL(pwrite64)(fd, data, size, offset);
    return changed(fd, path, data, size, offset, 1);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    return pwrite64(fd, data, size, offset);
}

/* SQLite uses none of these today; should it begin to, a test must fail, not pass them over. */
#define UNSUPPORTED(fd)                                   \
    do {                                                  \
        char path[PATH_MAX];                              \
        if (descriptor_within(fd, path)) abort();         \
    } while (0)

ssize_t writev(int fd, const struct iovec *parts, int count) {
    UNSUPPORTED(fd);
    return REAL(writev)(fd, parts, count);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
    UNSUPPORTED(fd);
    return REAL(pwritev)(fd, parts, count, offset);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
    UNSUPPORTED(fd);
    return REAL(pwritev64)(fd, parts, count, offset);
}

int fallocate(int fd, int how, off_t offset, off_t size) {
    UNSUPPORTED(fd);
    return REAL(fallocate)(fd, how, offset, size);
}

int posix_fallocate(int fd, off_t offset, off_t size) {
    UNSUPPORTED(fd);
    return REAL(posix_fallocate)(fd, offset, size);
}

/* Calls that are done or not done. */

#define EITHER(kind, path, size, call)               \
    do {                                             \
        if (next_call() == REFUSE) return -1;        \
        record(kind, path, 0, size, NULL);           \
        return call;                                 \
    } while (0)

int fsync(int fd) {
    char path[PATH_MAX];
    if (!descriptor_within(fd, path)) return REAL(fsync)(fd);
    EITHER('s', path, 0, 0);
}

int fdatasync(int fd) {
    char path[PATH_MAX];
    if (!descriptor_within(fd, path)) return REAL(fdatasync)(fd);
    EITHER('s', path, 0, 0);
}

int ftruncate64(int fd, off64_t size) {
    char path[PATH_MAX];
    if (!descriptor_within(fd, path)) return REAL(ftruncate64)(fd, size);
    EITHER('t', path, size, REAL(ftruncate64)(fd, size));
}

int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int unlink(const char *path) {
    if (!within(path) || access(path, F_OK) != 0) return REAL(unlink)(path);
    EITHER('u', path, 0, REAL(unlink)(path));
}

int rename(const char *from, const char *to) {
    if (!within(from) && !within(to)) return REAL(rename)(from, to);
    EITHER('r', from, 0, REAL(rename)(from, to));
}

static int opened(const char *name, const char *path, int flags, mode_t rights) {
    int (*open_file)(const char *, int, ...) = (int (*)(const char *, int, ...))real(name);
    if ((flags & O_CREAT) == 0 || !within(path) || access(path, F_OK) == 0)
        return open_file(path, flags, rights);
    EITHER('c', path, 0, open_file(path, flags, rights));
}

#define OPENING(name)                                                         \
    int name(const char *path, int flags, ...) {                              \
        va_list rest;                                                         \
        va_start(rest, flags);                                                \
        mode_t rights = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0; \
        va_end(rest);                                                         \
        return opened(#name, path, flags, rights);                            \
    }

OPENING(open)
OPENING(open64)
