/*
 * ops_cancel.c - cancelling, asking and stopping.
 */
#include "ops.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "watch.h"

enum { MANY = 16, TEXT = 8192 };

/* Three out of four times one of the youngest: the others are mostly over. */
struct probe *op_pick(struct scene *scene, struct random *random)
{
    unsigned used = atomic_load(&scene->claimed);
    if (used > scene->room)
        used = scene->room;
    if (used == 0)
        return NULL;
    unsigned young = used < 256 || random_percent(random, 25) ? used : 256;
    struct probe *probe =
        &scene->probes[used - 1 - random_below(random, young)];
    return atomic_load(&probe->handle) != 0 ? probe : NULL;
}

void op_cancel(struct scene *scene, struct random *random)
{
    struct probe *probe = op_pick(scene, random);
    if (probe == NULL)
        return;
    bool was_over = atomic_load(&probe->is_over);
    int answer =
        tkw_service_cancel(scene->service, atomic_load(&probe->handle));
    probe_note_cancel(probe, was_over, answer);
}

/*
 * Callbacks wait only for those of a higher rank than their own, and if they
 * are in no other callback: so no two wait for each other.
 */
static uint64_t rank_of(const struct probe *probe)
{
    return (uint64_t)probe->group << 32 | probe->number;
}

void op_cancel_sync(struct scene *scene, struct random *random,
                    struct probe *self)
{
    struct probe *probe = op_pick(scene, random);
    if (probe == NULL || (self != NULL && rank_of(probe) <= rank_of(self)))
        return;
    bool was_over = atomic_load(&probe->is_over);
    int answer =
        tkw_service_cancel_sync(scene->service, atomic_load(&probe->handle));
    probe_note_sync(probe, was_over, answer);
}

void op_cancel_many(struct scene *scene, struct random *random)
{
    struct probe *probes[MANY];
    tkw_handle handles[MANY];
    bool was_over[MANY];
    int answers[MANY];
    unsigned count = 0;
    for (unsigned i = 0; i < MANY; i++) {
        struct probe *probe = op_pick(scene, random);
        if (probe == NULL)
            continue;
        probes[count] = probe;
        handles[count] = atomic_load(&probe->handle);
        was_over[count++] = atomic_load(&probe->is_over);
    }
    size_t stopped =
        tkw_service_cancel_many(scene->service, handles, count, answers);
    for (unsigned i = 0; i < count; i++) {
        probe_note_cancel(probes[i], was_over[i], answers[i]);
        stopped -= answers[i] == 1;
    }
    DEMAND(stopped == 0, "cancel_many does not say how many it stopped");
}

/*
 * Of shared owners others arm timers meanwhile: only the sum is known.  The
 * first one's timers all run on the driver, so its callbacks may wait for the
 * others of their own.
 */
void op_cancel_owner(struct scene *scene, struct random *random,
                     struct probe *self)
{
    unsigned group = 1 + random_below(random, OWNERS);
    struct tkw_owner *owner = &scene->owners[group - 1];
    bool may_wait =
        self == NULL || group > self->group || (group == 1 && self->group == 1);
    size_t stopped = may_wait && random_percent(random, 50)
                         ? tkw_service_cancel_owner_sync(scene->service, owner)
                         : tkw_service_cancel_owner(scene->service, owner);
    atomic_fetch_add(&scene->owner_stopped, stopped);
    tally_add(&tally.by_owner, stopped);
}

/* A handle of a round before: nothing moves, whatever is in its place now. */
void op_stale(struct scene *scene, struct random *random)
{
    tkw_handle handle = scene->stale[random_below(random, STALE_COUNT)];
    if (handle == 0)
        return;
    struct tkw_service *service = scene->service;
    int answer = tkw_service_cancel(service, handle);
    DEMAND(answer == 0, "cancel says %d of a stale handle", answer);
    answer = tkw_service_cancel_sync(service, handle);
    DEMAND(answer == 0, "cancel_sync says %d of a stale handle", answer);
    answer = tkw_service_rearm(service, handle, 0);
    DEMAND(answer == 0 || answer == -ESHUTDOWN,
           "rearm says %d of a stale handle", answer);
    answer = tkw_service_postpone(service, handle, 0);
    DEMAND(answer == 0 || answer == -ESHUTDOWN,
           "postpone says %d of a stale handle", answer);
    enum tkw_state state = tkw_service_query(service, handle, NULL);
    DEMAND(state == TKW_STALE || state == TKW_CANCELLED || state == TKW_DONE,
           "query says %d of a stale handle", (int)state);
}

void op_query(struct scene *scene, struct random *random)
{
    struct probe *probe = op_pick(scene, random);
    if (probe == NULL)
        return;
    bool was_over = atomic_load(&probe->is_over);
    struct tkw_outlook outlook = {0};
    enum tkw_state state = tkw_service_query(
        scene->service, atomic_load(&probe->handle), &outlook);
    bool is_over =
        state == TKW_STALE || state == TKW_CANCELLED || state == TKW_DONE;
    DEMAND(is_over || state == TKW_PENDING || state == TKW_READY ||
               state == TKW_RUNNING,
           "query says %d", (int)state);
    DEMAND(!was_over || is_over,
           "%s: query says %d of timer %" PRIu32 ", which is over",
           kind_name(scene->kind), (int)state, probe->number);
}

static void check_prometheus(struct tkw_service *service)
{
    char text[TEXT];
    size_t length =
        tkw_service_prometheus(service, "soak=\"1\"", text, sizeof text);
    size_t shown = strlen(text);
    DEMAND(length < sizeof text ? shown == length : shown == sizeof text - 1,
           "a text of %zu is said to be of %zu", shown, length);
}

void op_read_stats(struct scene *scene, struct random *random)
{
    struct tkw_service *service = scene->service;
    switch (random_below(random, 5)) {
    case 0:
        (void)tkw_service_read_stats(service);
        break;
    case 1:
        (void)tkw_service_read_stats(service);
        break;
    case 2:
        check_prometheus(service);
        break;
    case 3:
        (void)tkw_service_count(service);
        break;
    default:
        if (scene->config.driver == TKW_DRIVER_NONE) {
            (void)tkw_service_next(service);
            (void)tkw_service_poll_timeout(service);
        }
        break;
    }
}

void op_stop(struct scene *scene, bool is_in_callback)
{
    if (!scene->may_stop)
        return;
    atomic_store(&scene->is_stopping, true);
    tkw_service_stop(scene->service);
    if (!is_in_callback)
        atomic_store(&scene->has_stopped, true);
    tally_add(&tally.stops, 1);
}
