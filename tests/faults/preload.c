// A library to preload: counts the calls that change files below a folder, and at one of them kills the
// process, fails, or writes only half of the bytes. It also shifts the wall clock. Written for Linux and the
// GNU C library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { NOTHING, KILL, FAIL, SHORT };

static char folder[PATH_MAX];  // empty: nothing is counted
static long count, when;
static int action, failure, trace = -1;

// Counts calls below this folder. At call number `at`, counted from 1, does what `what` says; 0 is never.
void faults_arm(const char* below, long at, int what, int error, int trace_descriptor) {
  strncpy(folder, below, sizeof folder - 1);
  count = 0, when = at, action = what, failure = error, trace = trace_descriptor;
}

long faults_disarm(void) {
  folder[0] = 0;
  return count;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// The absolute path of a descriptor, or of a path as seen from a descriptor.
static void find(int descriptor, const char* path, char* found) {
  char link[64], base[PATH_MAX] = "";
  if (path && path[0] == '/') {
    snprintf(found, PATH_MAX, "%s", path);
    return;
  }
  if (path && descriptor == AT_FDCWD) {
    if (!getcwd(base, sizeof base)) base[0] = 0;
  } else {
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t n = readlink(link, base, sizeof base - 1);
    base[n > 0 ? n : 0] = 0;
  }
  if (path)
    snprintf(found, PATH_MAX, "%.2000s/%.2000s", base, path);
  else
    snprintf(found, PATH_MAX, "%s", base);
}

static void write_all(const void* bytes, size_t n) {
  const char* at = bytes;
  while (n > 0) {
    ssize_t written = syscall(SYS_write, trace, at, n);
    if (written <= 0) return;
    at += written, n -= written;
  }
}

static void tell(const char* name, const char* path, const char* other, long offset, const void* bytes,
                 size_t n) {
  if (trace < 0) return;
  char line[2 * PATH_MAX + 100];
  int length = snprintf(line, sizeof line, "%s\t%s\t%s\t%ld\t%zu\n", name, path, other, offset, n);
  write_all(line, length);
  write_all(bytes, n);
}

// Counts a call. Returns what is to be done with it: nothing, FAIL (errno is set) or SHORT.
static int counted(const char* path) {
  size_t n = strlen(folder);
  if (n == 0 || strncmp(path, folder, n) != 0) return NOTHING;
  if (++count != when) return NOTHING;
  if (action == KILL) {
    kill(getpid(), SIGKILL);
    pause();
  }
  if (action == FAIL) errno = failure;
  return action;
}

static int opened(const char* name, int base, const char* path, int flags, int descriptor) {
  (void)name;
  char found[PATH_MAX];
  if (descriptor >= 0 && folder[0] && (flags & (O_CREAT | O_TRUNC))) {
    find(base, path, found);
    if (strncmp(found, folder, strlen(folder)) == 0)
      tell(flags & O_TRUNC ? "truncate" : "create", found, "", 0, "", 0);
  }
  return descriptor;
}

#define OPEN(name, base, ...)                                                         \
  {                                                                                   \
    int mode = 0;                                                                     \
    if (flags & (O_CREAT | O_TMPFILE)) {                                              \
      va_list more;                                                                   \
      va_start(more, flags);                                                          \
      mode = va_arg(more, int);                                                       \
      va_end(more);                                                                   \
    }                                                                                 \
    char found[PATH_MAX];                                                             \
    find(base, path, found);                                                          \
    if ((flags & (O_WRONLY | O_RDWR | O_CREAT)) && counted(found) == FAIL) return -1; \
    return opened(#name, base, path, flags, NEXT(name)(__VA_ARGS__, flags, mode));    \
  }
int open(const char* path, int flags, ...)
    OPEN(open, AT_FDCWD, path) int open64(const char* path, int flags, ...)
        OPEN(open64, AT_FDCWD, path) int openat(int base, const char* path, int flags, ...)
            OPEN(openat, base, base, path) int openat64(int base, const char* path, int flags, ...)
                OPEN(openat64, base, base, path)

                    ssize_t write(int descriptor, const void* bytes, size_t n) {
  if (!folder[0]) return NEXT(write)(descriptor, bytes, n);
  char path[PATH_MAX];
  find(descriptor, NULL, path);
  int todo = counted(path);
  if (todo == FAIL) return -1;
  if (todo == SHORT && n > 1) n /= 2;
  long end = fcntl(descriptor, F_GETFL) & O_APPEND ? SEEK_END : SEEK_CUR;
  long offset = lseek(descriptor, 0, end);
  ssize_t written = NEXT(write)(descriptor, bytes, n);
  if (written > 0 && strncmp(path, folder, strlen(folder)) == 0)
    tell("write", path, "", offset, bytes, written);
  return written;
}

#define ON_DESCRIPTOR(name, word, size, ...)                                                          \
  {                                                                                                   \
    if (!folder[0]) return NEXT(name)(__VA_ARGS__);                                                   \
    char path[PATH_MAX];                                                                              \
    find(descriptor, NULL, path);                                                                     \
    if (counted(path) == FAIL) return -1;                                                             \
    int result = NEXT(name)(__VA_ARGS__);                                                             \
    if (result == 0 && strncmp(path, folder, strlen(folder)) == 0) tell(word, path, "", size, "", 0); \
    return result;                                                                                    \
  }
int fsync(int descriptor) ON_DESCRIPTOR(fsync, "sync", 0, descriptor) int fdatasync(int descriptor)
    ON_DESCRIPTOR(fdatasync, "sync", 0, descriptor) int ftruncate(int descriptor, off_t size)
        ON_DESCRIPTOR(ftruncate, "resize", size, descriptor, size) int ftruncate64(int descriptor,
                                                                                   off64_t size)
            ON_DESCRIPTOR(ftruncate64, "resize", size, descriptor, size)

#define ON_PATH(name, word, base, ...)                                                               \
  {                                                                                                  \
    if (!folder[0]) return NEXT(name)(__VA_ARGS__);                                                  \
    char found[PATH_MAX];                                                                            \
    find(base, path, found);                                                                         \
    if (counted(found) == FAIL) return -1;                                                           \
    int result = NEXT(name)(__VA_ARGS__);                                                            \
    if (result == 0 && strncmp(found, folder, strlen(folder)) == 0) tell(word, found, "", 0, "", 0); \
    return result;                                                                                   \
  }
                int unlink(const char* path) ON_PATH(unlink, "unlink", AT_FDCWD,
                                                     path) int unlinkat(int base, const char* path, int flags)
                    ON_PATH(unlinkat, "unlink", base, base, path, flags) int rmdir(const char* path)
                        ON_PATH(rmdir, "unlink", AT_FDCWD, path) int mkdir(const char* path, mode_t mode)
                            ON_PATH(mkdir, "mkdir", AT_FDCWD, path,
                                    mode) int mkdirat(int base, const char* path, mode_t mode)
                                ON_PATH(mkdirat, "mkdir", base, base, path, mode)

#define ON_TWO_PATHS(name, from_base, to_base, ...)                  \
  {                                                                  \
    if (!folder[0]) return NEXT(name)(__VA_ARGS__);                  \
    char source[PATH_MAX], target[PATH_MAX];                         \
    find(from_base, from, source);                                   \
    find(to_base, to, target);                                       \
    if (counted(target) == FAIL) return -1;                          \
    int result = NEXT(name)(__VA_ARGS__);                            \
    if (result == 0 && strncmp(target, folder, strlen(folder)) == 0) \
      tell("rename", source, target, 0, "", 0);                      \
    return result;                                                   \
  }
                                    int rename(const char* from, const char* to)
                                        ON_TWO_PATHS(rename, AT_FDCWD, AT_FDCWD, from,
                                                     to) int renameat(int base, const char* from, int other,
                                                                      const char* to)
                                            ON_TWO_PATHS(renameat, base, other, base, from, other, to)

    // -- the wall clock: shifted by the seconds in the file that FAULTS_CLOCK names, which may change at any
    // time

    static const volatile long* shift;

__attribute__((constructor)) static void map_clock(void) {
  const char* path = getenv("FAULTS_CLOCK");
  int descriptor = path ? syscall(SYS_openat, AT_FDCWD, path, O_RDONLY) : -1;
  if (descriptor < 0) return;
  void* mapped = mmap(NULL, sizeof(long), PROT_READ, MAP_SHARED, descriptor, 0);
  if (mapped != MAP_FAILED) shift = mapped;
  syscall(SYS_close, descriptor);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  int result = NEXT(clock_gettime)(clock, now);
  if (result == 0 && shift && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    now->tv_sec += *shift;
  return result;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  int result = NEXT(gettimeofday)(now, zone);
  if (result == 0 && shift) now->tv_sec += *shift;
  return result;
}

time_t time(time_t* where) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (where) *where = now.tv_sec;
  return now.tv_sec;
}
