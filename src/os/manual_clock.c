/*
 * os/manual_clock.c - the clock that is turned by hand.
 */
#include <tickwheel/clock.h>

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/allocator.h"
#include "sync.h"

struct tkw_hand {
    struct tkw_clock clock;
    struct sync_mutex mutex;
    struct sync_cond cond; /* any of these has changed */
    uint64_t now;
    uint64_t until; /* what the sleeper waits for */
    bool is_asleep;
    bool woken;
    int fd;         /* for event loops, or -1; to be readable ... */
    uint64_t aimed; /* ... from this time on */
    bool is_readable;
};

/* Has the sleeper nothing to do?  Not if it could go on but has not yet. */
static bool is_settled(const struct tkw_hand *hand)
{
    bool has_come = hand->until <= hand->now && hand->until != UINT64_MAX;
    return hand->is_asleep && !hand->woken && !has_come;
}

/* Make the descriptor readable, or not.  With the mutex. */
static void show(struct tkw_hand *hand, bool is_readable)
{
    uint64_t count = 1;
    if (hand->fd < 0 || hand->is_readable == is_readable)
        return;
    if (is_readable)
        (void)!write(hand->fd, &count, sizeof count);
    else
        (void)!read(hand->fd, &count, sizeof count);
    hand->is_readable = is_readable;
}

/* Has the time come that the descriptor is aimed at? */
static bool is_hit(const struct tkw_hand *hand)
{
    return hand->aimed <= hand->now && hand->aimed != UINT64_MAX;
}

static uint64_t hand_now(void *context)
{
    struct tkw_hand *hand = context;
    sync_lock(&hand->mutex);
    uint64_t now = hand->now;
    sync_unlock(&hand->mutex);
    return now;
}

static void hand_wait_until(void *context, uint64_t time)
{
    struct tkw_hand *hand = context;
    sync_lock(&hand->mutex);
    hand->until = time;
    hand->is_asleep = true;
    sync_broadcast(&hand->cond);
    while (is_settled(hand))
        sync_wait(&hand->cond, &hand->mutex);
    hand->is_asleep = false;
    hand->woken = false;
    sync_unlock(&hand->mutex);
}

static void hand_wake(void *context)
{
    struct tkw_hand *hand = context;
    sync_lock(&hand->mutex);
    hand->woken = true;
    sync_broadcast(&hand->cond);
    sync_unlock(&hand->mutex);
}

static int hand_fd(void *context)
{
    struct tkw_hand *hand = context;
    sync_lock(&hand->mutex);
    if (hand->fd < 0)
        hand->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int fd = hand->fd >= 0 ? hand->fd : -errno;
    sync_unlock(&hand->mutex);
    return fd;
}

static void hand_aim(void *context, uint64_t time)
{
    struct tkw_hand *hand = context;
    sync_lock(&hand->mutex);
    hand->aimed = time;
    show(hand, is_hit(hand));
    sync_unlock(&hand->mutex);
}

int tkw_hand_open(struct tkw_hand **hand, uint64_t now_ns)
{
    struct tkw_hand *made = tkw__allocator_plain.allocate(NULL, sizeof *made);
    if (made == NULL)
        return -ENOMEM;
    *made = (struct tkw_hand){
        .clock = {hand_now, hand_wait_until, hand_wake, made, false, hand_fd,
                  hand_aim},
        .now = now_ns,
        .fd = -1,
        .aimed = UINT64_MAX,
    };
    sync_mutex_init(&made->mutex);
    tkw__sync_cond_init(&made->cond);
    *hand = made;
    return 0;
}

void tkw_hand_close(struct tkw_hand *hand)
{
    if (hand == NULL)
        return;
    if (hand->fd >= 0)
        close(hand->fd);
    sync_mutex_destroy(&hand->mutex);
    sync_cond_destroy(&hand->cond);
    tkw__allocator_plain.release(NULL, hand, sizeof *hand);
}

const struct tkw_clock *tkw_hand_clock(const struct tkw_hand *hand)
{
    return &hand->clock;
}

void tkw_hand_be_wall(struct tkw_hand *hand, bool is_wall)
{
    hand->clock.is_wall = is_wall;
}

uint64_t tkw_hand_now(struct tkw_hand *hand)
{
    return hand_now(hand);
}

void tkw_hand_turn(struct tkw_hand *hand, uint64_t ns)
{
    sync_lock(&hand->mutex);
    hand->now = ns < UINT64_MAX - hand->now ? hand->now + ns : UINT64_MAX;
    show(hand, hand->is_readable || is_hit(hand));
    sync_broadcast(&hand->cond);
    sync_unlock(&hand->mutex);
}

void tkw_hand_set(struct tkw_hand *hand, uint64_t now_ns)
{
    sync_lock(&hand->mutex);
    bool is_back = now_ns < hand->now; /* who waits or polls is to see it */
    hand->woken = hand->woken || is_back;
    hand->now = now_ns;
    show(hand, hand->is_readable || is_back || is_hit(hand));
    sync_broadcast(&hand->cond);
    sync_unlock(&hand->mutex);
}

void tkw_hand_settle(struct tkw_hand *hand)
{
    sync_lock(&hand->mutex);
    while (!is_settled(hand))
        sync_wait(&hand->cond, &hand->mutex);
    sync_unlock(&hand->mutex);
}
