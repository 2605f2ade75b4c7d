/*
 * timerfd.c - a timer of the kernel for each, as a file, and all in one epoll.
 *
 * They are edge-triggered, so that none has to be read: setting it anew makes
 * it unready.
 */
#define _GNU_SOURCE

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "loop.h"

struct facility {
    int epoll;
    int *files;
    size_t n;
};

static void fired(struct facility *f, uint32_t id);

static void allow_files(size_t n)
{
    enum { OTHERS = 16 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || n + OTHERS > limit.rlim_max)
        field_decline("more files than a process may have open (ulimit -Hn)");
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static struct facility *facility_open(size_t n)
{
    allow_files(n);
    struct facility *f = field_memory(1, sizeof *f);
    f->files = field_memory(n, sizeof *f->files);
    f->n = n;
    f->epoll = epoll_create1(EPOLL_CLOEXEC);
    for (uint32_t i = 0; i < n; i++) {
        struct epoll_event event = {EPOLLIN | EPOLLET, {.u32 = i}};
        f->files[i] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
        if (epoll_ctl(f->epoll, EPOLL_CTL_ADD, f->files[i], &event) != 0)
            field_fail("no timerfd, or not in the epoll");
    }
    return f;
}

static void facility_close(struct facility *f)
{
    for (size_t i = 0; i < f->n; i++)
        close(f->files[i]);
    close(f->epoll);
    free(f->files);
    free(f);
}

static inline void set(struct facility *f, uint32_t id, uint64_t delay_ms)
{
    struct itimerspec delay = {
        .it_value = {.tv_sec = (time_t)(delay_ms / 1000),
                     .tv_nsec = (long)(delay_ms % 1000 * 1000000)}};
    timerfd_settime(f->files[id], 0, &delay, NULL);
}

static inline void clear(struct facility *f, uint32_t id)
{
    set(f, id, 0);
}

static void run_until(struct facility *f, uint64_t ns)
{
    enum { AT_ONCE = 64 };
    struct epoll_event events[AT_ONCE];
    uint64_t left_ms;
    do {
        left_ms = ms_until(ns);
        int count = epoll_wait(f->epoll, events, AT_ONCE, (int)left_ms);
        for (int i = 0; i < count; i++)
            fired(f, events[i].data.u32);
    } while (left_ms > 0);
}

#define HAS_THREADS
#define MEMORY_IS_THE_KERNELS
#include "real.h"

/* Without what its builder has called it. */
static const char *version(void)
{
    static struct utsname kernel;
    if (uname(&kernel) != 0)
        return "";
    kernel.release[strcspn(kernel.release, "-+")] = '\0';
    return kernel.release;
}

const struct field_peer peer_timerfd = {
    .name = "timerfd",
    .title = "timerfd, one for each timer",
    .settings = "in one epoll, edge-triggered; at most as many as a process "
                "may have files open; the kernel's memory is not counted",
    .version = version,
    .why_not_virtual = "goes by the kernel's clock",
    .real = real_workloads,
};
