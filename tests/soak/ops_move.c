/*
 * ops_move.c - rearming and postponing.
 *
 * What is asked for bounds from below when a probe may be called.  While a move
 * is under way the bound is the lower of the old one and the new; afterwards it
 * is the new one.  That is sound if those who move one probe take turns, by a
 * mutex that no callback of the service is waited for under, and if a move that
 * says 1 is not of a call that has begun and is yet to look at its bound: true
 * of postponing, and of a callback that arms itself again.  A callback that
 * knows of a higher bound takes its turn too, or leaves it.  Probes that all
 * may rearm have only the lowest bound ever.
 */
#include "ops.h"

#include <errno.h>
#include <inttypes.h>

#include "watch.h"

/* A move, and what it asks for. */
struct request {
    bool is_rearm;
    bool is_time;
    uint64_t when_ns;
    uint64_t floor; /* 0: unknown */
};

static struct request random_request(struct scene *scene, struct random *random,
                                     bool is_rearm)
{
    struct request request = {.is_rearm = is_rearm};
    uint64_t now = tkw_service_now(scene->service);
    uint64_t delay = random_log(random, random_percent(random, 90) ? 27 : 40);
    request.is_time = random_percent(random, 30);
    request.when_ns = request.is_time ? now + delay : delay;
    /* A wall clock may be set back before it is read for a delay. */
    if (request.is_time || !scene->is_on_wall)
        request.floor = now + delay;
    return request;
}

static int move_timer(struct tkw_service *service, tkw_handle handle,
                      struct request request)
{
    if (request.is_rearm)
        return request.is_time
                   ? tkw_service_rearm_at(service, handle, request.when_ns)
                   : tkw_service_rearm(service, handle, request.when_ns);
    return request.is_time
               ? tkw_service_postpone_at(service, handle, request.when_ns)
               : tkw_service_postpone(service, handle, request.when_ns);
}

static void check_answer(struct probe *probe, struct request request,
                         bool was_over, int answer)
{
    struct scene *scene = probe->scene;
    const char *verb = request.is_rearm ? "rearm" : "postpone";
    DEMAND(!was_over || answer != 1,
           "%s: %s moved timer %" PRIu32 ", which is over",
           kind_name(scene->kind), verb, probe->number);
    if (answer == 0 || answer == 1 ||
        (answer == -ESHUTDOWN && atomic_load(&scene->is_stopping)) ||
        (answer == -ENOMEM && atomic_load(&scene->account.fails_each) != 0) ||
        (answer == -EAGAIN && request.is_rearm &&
         scene->config.timers_max != 0))
        return;
    violated("%s: %s of timer %" PRIu32 " says %d", kind_name(scene->kind),
             verb, probe->number, answer);
}

static void lower_floor(struct probe *probe, uint64_t floor)
{
    uint64_t before = atomic_load(&probe->floor);
    while (floor < before &&
           !atomic_compare_exchange_weak(&probe->floor, &before, floor))
        continue;
}

static bool was_over_before(struct probe *probe)
{
    return atomic_load(&probe->is_over) ||
           atomic_load(&probe->scene->has_stopped);
}

static int move(struct probe *probe, tkw_handle handle, struct request request)
{
    bool was_over = was_over_before(probe);
    lower_floor(probe, request.floor);
    int answer = move_timer(probe->scene->service, handle, request);
    check_answer(probe, request, was_over, answer);
    if (answer == 1) {
        atomic_fetch_add(&probe->moved, 1);
        tally_add(&tally.moved, 1);
    }
    return answer;
}

static int move_in_turn(struct probe *probe, tkw_handle handle,
                        struct request request)
{
    if (probe->mover == MOVED_BY_ALL)
        return move(probe, handle, request);
    pthread_mutex_t *stripe = &probe->scene->stripes[probe->number % STRIPES];
    pthread_mutex_lock(stripe);
    uint64_t before = atomic_load(&probe->floor);
    int answer = move(probe, handle, request);
    atomic_store(&probe->floor, answer == 1 ? request.floor : before);
    pthread_mutex_unlock(stripe);
    return answer;
}

void op_move(struct scene *scene, struct random *random)
{
    struct probe *probe = op_pick(scene, random);
    if (probe == NULL)
        return;
    bool is_rearm = probe->mover == MOVED_BY_ALL && random_percent(random, 60);
    move_in_turn(probe, atomic_load(&probe->handle),
                 random_request(scene, random, is_rearm));
}

/* In its callback: start it again, perhaps move it then; postponing it is in
 * vain, unless somebody else has started it again.  Once a call. */
void op_revive_self(struct probe *self, tkw_handle handle,
                    struct random *random)
{
    struct scene *scene = self->scene;
    if (self->mover == MOVED_BY_POSTPONING || random_percent(random, 20)) {
        struct request request = random_request(scene, random, false);
        int answer = move_in_turn(self, handle, request);
        DEMAND(answer != 1 || self->mover == MOVED_BY_ALL,
               "%s: timer %" PRIu32 " has postponed itself in its callback",
               kind_name(scene->kind), self->number);
        return;
    }
    int answer =
        move_in_turn(self, handle, random_request(scene, random, true));
    if (answer != 1)
        return;
    self->revived_in = atomic_load(&self->started);
    if (self->mover == MOVED_BY_ITSELF)
        atomic_fetch_add(&self->revived, 1);
    if (random_percent(random, 30))
        move_in_turn(self, handle, random_request(scene, random, true));
}
