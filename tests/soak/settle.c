/*
 * settle.c - one outcome per arming, exactly: every probe's account, then the
 * sums against the service's own stats.
 *
 * Of a timer that does not repeat, an arming ends by a call or by a drop (or if
 * it has no drop function, by a cancel that said 1, or by being handed back).
 * How often it was armed is known unless all may rearm it: then a move that
 * said 1 may have moved it or started it again.  One that repeats is dropped
 * once; whether a cancel that found it running ended an arming is the service's
 * to say.
 */
#include "scene.h"

#include <inttypes.h>
#include <string.h>

#include "watch.h"

/* A probe's account, at rest. */
struct result {
    unsigned calls;
    unsigned dropped; /* armings that ended without a call, if it is single */
    unsigned stopped;
    unsigned handed_back;
};

/* What the owners of this round may have stopped. */
struct owners {
    uint64_t least;
    uint64_t most;
};

#define FORMAT                                                     \
    "%s, timer %" PRIu32 " (%u calls, %u dropped, %u stopped, %u " \
    "handed back, %u busy, %u moved, %u revived): "
#define ARGUMENTS(probe, result)                                       \
    kind_name((probe)->scene->kind), (probe)->number, (result)->calls, \
        (result)->dropped, (result)->stopped, (result)->handed_back,   \
        atomic_load(&(probe)->busy), atomic_load(&(probe)->moved),     \
        atomic_load(&(probe)->revived)

static void settle_unarmed(struct probe *probe)
{
    DEMAND(atomic_load(&probe->started) == 0 &&
               atomic_load(&probe->dropped) == 0 &&
               atomic_load(&probe->handed_back) == 0,
           "%s: what was never armed has an end",
           kind_name(probe->scene->kind));
}

static void settle_single(struct probe *probe, const struct result *result)
{
    unsigned armed = result->calls + result->dropped;
    unsigned moved = atomic_load(&probe->moved);
    unsigned revived = atomic_load(&probe->revived);
    if (probe->mover == MOVED_BY_ALL)
        DEMAND(armed >= 1 && armed <= 1 + moved,
               FORMAT "armed 1 to %u times, %u ends", ARGUMENTS(probe, result),
               1 + moved, armed);
    else
        DEMAND(armed == 1 + revived, FORMAT "armed %u times, %u ends",
               ARGUMENTS(probe, result), 1 + revived, armed);

    struct sums *sums = &probe->scene->sums;
    sums->armed_least += armed;
    sums->armed_most += armed;
    sums->cancelled_least += result->dropped - result->handed_back;
    sums->cancelled_most += result->dropped - result->handed_back;
}

static void settle_repeating(struct probe *probe, const struct result *result)
{
    DEMAND(result->dropped == 1, FORMAT "not dropped once",
           ARGUMENTS(probe, result));
    bool is_by_others = result->stopped + result->handed_back == 1;
    bool is_by_itself =
        atomic_load(&probe->has_ended_itself) && atomic_load(&probe->busy) == 0;
    unsigned doubt = !is_by_others && !is_by_itself;

    struct sums *sums = &probe->scene->sums;
    unsigned armed = result->calls + result->stopped + result->handed_back;
    sums->armed_least += armed;
    sums->armed_most += armed + doubt;
    sums->cancelled_least += result->stopped;
    sums->cancelled_most += result->stopped + doubt;
}

/* What a probe that is over must have in common, of whatever kind. */
static void settle_one(struct probe *probe, struct owners *owners)
{
    struct result result = {
        .calls = atomic_load(&probe->started),
        .dropped = atomic_load(&probe->dropped),
        .stopped = atomic_load(&probe->stopped),
        .handed_back = atomic_load(&probe->handed_back),
    };
    if (!probe->has_drop)
        result.dropped = result.stopped + result.handed_back;
    DEMAND(!atomic_load(&probe->is_running), FORMAT "runs",
           ARGUMENTS(probe, &result));
    DEMAND(result.calls <= atomic_load(&probe->calls_max),
           FORMAT "called too often", ARGUMENTS(probe, &result));
    DEMAND(result.stopped + result.handed_back <= result.dropped &&
               result.dropped <= 1,
           FORMAT "ended more than once", ARGUMENTS(probe, &result));
    if (result.calls != 0 && atomic_load(&probe->moved) == 0)
        DEMAND(atomic_load(&probe->first_due) <= probe->ceiling,
               FORMAT "due at %" PRIu64 ", asked for %" PRIu64 " at the latest",
               ARGUMENTS(probe, &result), atomic_load(&probe->first_due),
               probe->ceiling);

    bool is_by_else = result.dropped - result.stopped - result.handed_back == 1;
    DEMAND(!is_by_else || probe->group != 0 || atomic_load(&probe->busy) != 0 ||
               atomic_load(&probe->has_ended_itself) ||
               atomic_load(&probe->has_said_never),
           FORMAT "dropped by nobody", ARGUMENTS(probe, &result));
    if (is_by_else && probe->group != 0) {
        owners->most++;
        owners->least += result.calls == 0;
    }
    struct sums *sums = &probe->scene->sums;
    sums->fired += result.calls;
    sums->handed_back += result.handed_back;
    if (probe->executor == TKW_BY_SUBMIT)
        sums->by_submit += result.calls;
    if (probe->repeats)
        settle_repeating(probe, &result);
    else
        settle_single(probe, &result);
}

static void probe_renew(struct scene *scene, uint32_t number)
{
    struct probe *probe = &scene->probes[number];
    memset(probe, 0, sizeof *probe);
    probe->scene = scene;
    probe->number = number;
    atomic_store(&probe->calls_max, UINT32_MAX);
}

void scene_settle(struct scene *scene)
{
    struct owners owners = {0};
    unsigned used = atomic_load(&scene->claimed);
    if (used > scene->room)
        used = scene->room;
    for (unsigned i = 0; i < used; i++) {
        struct probe *probe = &scene->probes[i];
        tkw_handle handle = atomic_load(&probe->handle);
        if (handle == 0)
            settle_unarmed(probe);
        else
            settle_one(probe, &owners);
        if (handle != 0)
            scene->stale[i % STALE_COUNT] = handle;
        probe_renew(scene, i);
    }
    uint64_t stopped = atomic_exchange(&scene->owner_stopped, 0);
    DEMAND(owners.least <= stopped && stopped <= owners.most,
           "%s: owners had %" PRIu64
           " timers stopped, they say; it was %" PRIu64 " to %" PRIu64,
           kind_name(scene->kind), stopped, owners.least, owners.most);
    DEMAND(atomic_load(&scene->repeating) == 0,
           "%s: %u timers that repeat were not dropped", kind_name(scene->kind),
           atomic_load(&scene->repeating));
    DEMAND(atomic_load(&scene->inside) == 0, "%s: a callback is left",
           kind_name(scene->kind));
    atomic_store(&scene->claimed, 0);
}

static void demand_sum(const struct scene *scene, const char *what,
                       uint64_t value, uint64_t least, uint64_t most)
{
    DEMAND(least <= value && value <= most,
           "%s: %s %" PRIu64 ", it says; it was %" PRIu64 " to %" PRIu64,
           kind_name(scene->kind), what, value, least, most);
}

void scene_compare(const struct scene *scene,
                   const struct tkw_service_stats *stats)
{
    const struct sums *sums = &scene->sums;
    demand_sum(scene, "fired", stats->fired, sums->fired, sums->fired);
    demand_sum(scene, "pending", stats->pending, sums->handed_back,
               sums->handed_back);
    demand_sum(scene, "armed", stats->armed, sums->armed_least,
               sums->armed_most);
    demand_sum(scene, "cancelled", stats->cancelled, sums->cancelled_least,
               sums->cancelled_most);
    DEMAND(stats->armed == stats->fired + stats->cancelled + stats->pending,
           "%s: armings have no end", kind_name(scene->kind));
}
