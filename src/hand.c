/*
 * hand.c - the clock that is turned by hand.
 */
#include <tickwheel/clock.h>

#include <errno.h>

#include "allocator.h"
#include "sync.h"

struct tkw_hand {
    struct tkw_clock clock;
    struct sync_mutex mutex;
    struct sync_cond cond; /* any of these has changed */
    uint64_t now;
    uint64_t until; /* what the sleeper waits for */
    bool is_asleep;
    bool woken;
};

/* Has the sleeper nothing to do?  Not if it could go on but has not yet. */
static bool is_settled(const struct tkw_hand *hand)
{
    bool has_come = hand->until <= hand->now && hand->until != UINT64_MAX;
    return hand->is_asleep && !hand->woken && !has_come;
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

int tkw_hand_open(struct tkw_hand **hand, uint64_t now_ns)
{
    struct tkw_hand *made = allocator_plain.allocate(NULL, sizeof *made);
    if (made == NULL)
        return -ENOMEM;
    *made = (struct tkw_hand){
        .clock = {hand_now, hand_wait_until, hand_wake, made, false},
        .now = now_ns,
    };
    sync_mutex_init(&made->mutex);
    sync_cond_init(&made->cond);
    *hand = made;
    return 0;
}

void tkw_hand_close(struct tkw_hand *hand)
{
    if (hand == NULL)
        return;
    sync_mutex_destroy(&hand->mutex);
    sync_cond_destroy(&hand->cond);
    allocator_plain.release(NULL, hand, sizeof *hand);
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
    sync_broadcast(&hand->cond);
    sync_unlock(&hand->mutex);
}

void tkw_hand_set(struct tkw_hand *hand, uint64_t now_ns)
{
    sync_lock(&hand->mutex);
    if (now_ns < hand->now)
        hand->woken = true; /* who waits is to see that time went back */
    hand->now = now_ns;
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
