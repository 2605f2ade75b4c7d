/*
 * time.c - time for libraries that ask the system for it.
 *
 * The program defines the functions of the C library that tell the time, and
 * those that event loops sleep in, and so is asked in its place by every shared
 * library.  In virtual time it says what it was told, and to sleep puts the
 * clock forward; else, and for clocks that no timer goes by, it asks the
 * original.
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <time.h>

#include "field.h"

/* Time 0 of the benchmark: zero seconds mean "unknown" to some. */
enum { BEGIN_S = 1000000 };

static struct {
    bool is_virtual;
    struct timespec now;
} virtual_time = {.now = {.tv_sec = BEGIN_S}};

void field_time_is_virtual(bool is_virtual)
{
    virtual_time.is_virtual = is_virtual;
}

void field_set_time(uint64_t ms)
{
    virtual_time.now.tv_sec = (time_t)(BEGIN_S + ms / 1000);
    virtual_time.now.tv_nsec = (long)(ms % 1000 * 1000000);
}

uint64_t field_time(void)
{
    return (uint64_t)(virtual_time.now.tv_sec - BEGIN_S) * 1000 +
           (uint64_t)virtual_time.now.tv_nsec / 1000000;
}

typedef int clock_reader(clockid_t clock, struct timespec *now);
typedef int epoll_waiter(int epoll, struct epoll_event *events, int most,
                         int timeout_ms);
typedef int epoll_signal_waiter(int epoll, struct epoll_event *events, int most,
                                int timeout_ms, const sigset_t *signals);
typedef int poller(struct pollfd *fds, nfds_t count, int timeout_ms);

/*
 * Find the original of a function, and tell it in `*function`, a pointer to
 * such.  It is kept in `*known`: libraries may ask before main(), and two
 * threads find the same.
 */
static void find_original(void *_Atomic *known, const char *name,
                          void *function)
{
    void *symbol = atomic_load_explicit(known, memory_order_relaxed);
    if (symbol == NULL) {
        symbol = dlsym(RTLD_NEXT, name);
        if (symbol == NULL)
            field_fail(name);
        atomic_store_explicit(known, symbol, memory_order_relaxed);
    }
    memcpy(function, &symbol, sizeof symbol);
}

/* Nothing comes in, and to wait for it takes no time. */
static int sleep_through(int timeout_ms)
{
    if (timeout_ms > 0)
        field_set_time(field_time() + (uint64_t)timeout_ms);
    return 0;
}

static bool is_virtual_clock(clockid_t clock)
{
    return virtual_time.is_virtual &&
           (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE ||
            clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ||
            clock == CLOCK_BOOTTIME);
}

/* Hidden, as the rest of the program is, they would not be found. */
#define ASKED_BY_LIBRARIES __attribute__((visibility("default")))

ASKED_BY_LIBRARIES int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (is_virtual_clock(clock)) {
        *now = virtual_time.now;
        return 0;
    }
    static void *_Atomic known;
    clock_reader *read;
    find_original(&known, "clock_gettime", &read);
    return read(clock, now);
}

ASKED_BY_LIBRARIES int gettimeofday(struct timeval *restrict now,
                                    void *restrict zone)
{
    struct timespec read;
    (void)zone; /* obsolete */
    if (clock_gettime(CLOCK_REALTIME, &read) != 0)
        return -1;
    now->tv_sec = read.tv_sec;
    now->tv_usec = (suseconds_t)(read.tv_nsec / 1000);
    return 0;
}

ASKED_BY_LIBRARIES time_t time(time_t *now)
{
    struct timespec read = {0};
    clock_gettime(CLOCK_REALTIME_COARSE, &read);
    if (now != NULL)
        *now = read.tv_sec;
    return read.tv_sec;
}

ASKED_BY_LIBRARIES int epoll_wait(int epoll, struct epoll_event *events,
                                  int most, int timeout_ms)
{
    if (virtual_time.is_virtual)
        return sleep_through(timeout_ms);
    static void *_Atomic known;
    epoll_waiter *wait;
    find_original(&known, "epoll_wait", &wait);
    return wait(epoll, events, most, timeout_ms);
}

ASKED_BY_LIBRARIES int epoll_pwait(int epoll, struct epoll_event *events,
                                   int most, int timeout_ms,
                                   const sigset_t *signals)
{
    if (virtual_time.is_virtual)
        return sleep_through(timeout_ms);
    static void *_Atomic known;
    epoll_signal_waiter *wait;
    find_original(&known, "epoll_pwait", &wait);
    return wait(epoll, events, most, timeout_ms, signals);
}

ASKED_BY_LIBRARIES int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    if (virtual_time.is_virtual)
        return sleep_through(timeout_ms);
    static void *_Atomic known;
    poller *wait;
    find_original(&known, "poll", &wait);
    return wait(fds, count, timeout_ms);
}
