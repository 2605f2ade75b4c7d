/*
 * os/manual_clock.c - a clock that changes only when its owner advances or
 * sets it.
 */
#include <tickwheel/clock.h>

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/allocator.h"
#include "lock_order.h"
#include "sync.h"

struct tkw_manual_clock {
    struct tkw_clock clock;
    struct sync_mutex mutex;
    struct sync_cond cond; /* a field below has changed */
    uint64_t now;
    uint64_t until; /* the time that the sleeper waits for */
    bool is_asleep;
    bool woken;
    int fd;         /* for event loops, or -1; readable ... */
    uint64_t aimed; /* ... from this time on */
    bool is_readable;
};

/* Returns whether a sleeper waits, and its wait is not about to end. */
static bool is_settled(const struct tkw_manual_clock *manual)
{
    bool is_due = manual->until <= manual->now && manual->until != UINT64_MAX;
    return manual->is_asleep && !manual->woken && !is_due;
}

/* Make the descriptor readable or unreadable.  The caller holds the mutex. */
static void set_readable(struct tkw_manual_clock *manual, bool is_readable)
{
    uint64_t count = 1;
    if (manual->fd < 0 || manual->is_readable == is_readable)
        return;
    if (is_readable)
        (void)!write(manual->fd, &count, sizeof count);
    else
        (void)!read(manual->fd, &count, sizeof count);
    manual->is_readable = is_readable;
}

/* Returns whether the descriptor's time has come. */
static bool is_hit(const struct tkw_manual_clock *manual)
{
    return manual->aimed <= manual->now && manual->aimed != UINT64_MAX;
}

static uint64_t manual_now(void *context)
{
    struct tkw_manual_clock *manual = context;
    order_lock(&manual->mutex, ORDER_LEAF);
    uint64_t now = manual->now;
    order_unlock(&manual->mutex, ORDER_LEAF);
    return now;
}

static void manual_wait_until(void *context, uint64_t time)
{
    struct tkw_manual_clock *manual = context;
    order_lock(&manual->mutex, ORDER_LEAF);
    manual->until = time;
    manual->is_asleep = true;
    sync_broadcast(&manual->cond);
    while (is_settled(manual))
        sync_wait(&manual->cond, &manual->mutex);
    manual->is_asleep = false;
    manual->woken = false;
    order_unlock(&manual->mutex, ORDER_LEAF);
}

static void manual_wake(void *context)
{
    struct tkw_manual_clock *manual = context;
    order_lock(&manual->mutex, ORDER_LEAF);
    manual->woken = true;
    sync_broadcast(&manual->cond);
    order_unlock(&manual->mutex, ORDER_LEAF);
}

static int manual_fd(void *context)
{
    struct tkw_manual_clock *manual = context;
    order_lock(&manual->mutex, ORDER_LEAF);
    if (manual->fd < 0)
        manual->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int fd = manual->fd >= 0 ? manual->fd : -errno;
    order_unlock(&manual->mutex, ORDER_LEAF);
    return fd;
}

static void manual_aim(void *context, uint64_t time)
{
    struct tkw_manual_clock *manual = context;
    order_lock(&manual->mutex, ORDER_LEAF);
    manual->aimed = time;
    set_readable(manual, is_hit(manual));
    order_unlock(&manual->mutex, ORDER_LEAF);
}

int tkw_manual_clock_open(struct tkw_manual_clock **manual, uint64_t now_ns)
{
    struct tkw_manual_clock *made =
        tkw__allocator_plain.allocate(NULL, sizeof *made);
    if (made == NULL)
        return -ENOMEM;
    *made = (struct tkw_manual_clock){
        .clock = {manual_now, manual_wait_until, manual_wake, made, false,
                  manual_fd, manual_aim},
        .now = now_ns,
        .fd = -1,
        .aimed = UINT64_MAX,
    };
    sync_mutex_init(&made->mutex);
    tkw__sync_cond_init(&made->cond);
    *manual = made;
    return 0;
}

void tkw_manual_clock_close(struct tkw_manual_clock *manual)
{
    if (manual == NULL)
        return;
    if (manual->fd >= 0)
        close(manual->fd);
    sync_mutex_destroy(&manual->mutex);
    sync_cond_destroy(&manual->cond);
    tkw__allocator_plain.release(NULL, manual, sizeof *manual);
}

const struct tkw_clock *
tkw_manual_clock_source(const struct tkw_manual_clock *manual)
{
    return &manual->clock;
}

void tkw_manual_clock_set_wall(struct tkw_manual_clock *manual, bool is_wall)
{
    manual->clock.is_wall = is_wall;
}

uint64_t tkw_manual_clock_now(struct tkw_manual_clock *manual)
{
    return manual_now(manual);
}

void tkw_manual_clock_advance(struct tkw_manual_clock *manual, uint64_t ns)
{
    order_lock(&manual->mutex, ORDER_LEAF);
    manual->now = ns < UINT64_MAX - manual->now ? manual->now + ns : UINT64_MAX;
    set_readable(manual, manual->is_readable || is_hit(manual));
    sync_broadcast(&manual->cond);
    order_unlock(&manual->mutex, ORDER_LEAF);
}

void tkw_manual_clock_set(struct tkw_manual_clock *manual, uint64_t now_ns)
{
    order_lock(&manual->mutex, ORDER_LEAF);
    bool is_back = now_ns < manual->now; /* ends waits and polls */
    manual->woken = manual->woken || is_back;
    manual->now = now_ns;
    set_readable(manual, manual->is_readable || is_back || is_hit(manual));
    sync_broadcast(&manual->cond);
    order_unlock(&manual->mutex, ORDER_LEAF);
}

void tkw_manual_clock_settle(struct tkw_manual_clock *manual)
{
    order_lock(&manual->mutex, ORDER_LEAF);
    while (!is_settled(manual))
        sync_wait(&manual->cond, &manual->mutex);
    order_unlock(&manual->mutex, ORDER_LEAF);
}
