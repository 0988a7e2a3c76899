/* Moves the wall clock of a process by the seconds in the file CHAOS_CLOCK (a signed integer).

   Preloaded with LD_PRELOAD. The monotonic clock, sleeps and waits stay as they are, as they do when
   the clock of a machine is set. libfaketime 0.9.10 breaks the waits of Python 3.11 (clock_nanosleep
   and sem_clockwait), so it is not used. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long read_offset(void) {
    const char *path = getenv("CHAOS_CLOCK");
    char text[32] = {0};
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return 0;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    return length > 0 ? atol(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int code = real(clock, now);
    if (code == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += read_offset();
    return code;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec moved;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &moved) != 0) return -1;
    now->tv_sec = moved.tv_sec;
    now->tv_usec = moved.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec moved;
    clock_gettime(CLOCK_REALTIME, &moved);
    if (result) *result = moved.tv_sec;
    return moved.tv_sec;
}
