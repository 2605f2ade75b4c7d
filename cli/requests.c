/*
 * requests.c - requests that wait in a purgatory, in real time, nearly all of
 * which are completed before their timeout.
 *
 * A key belongs to one thread, which goes through its keys round after round:
 * so each is checked once a round, and a request that waits for two of them
 * takes two thirds of a round on average, and never more than one.
 */
#define _POSIX_C_SOURCE 200809L

#include "requests.h"

#include "live.h"
#include "stopwatch.h"

#include <errno.h>
#include <stdlib.h>

/* What never comes. */
#define NEVER UINT64_MAX

struct request {
    struct tkw_operation operation; /* first: its address is the request's */
    struct requests_thread *thread;
    uint64_t keys[2];
    uint64_t wanted[2]; /* how far each must have gone on */
    uint64_t issued_ns;
    atomic_bool is_completed;
};

/* Counts are read now and then by another thread, at its leisure. */
static uint64_t count_of(_Atomic uint64_t *count)
{
    return atomic_load_explicit(count, memory_order_relaxed);
}

static void add(_Atomic uint64_t *count, uint64_t more)
{
    atomic_fetch_add_explicit(count, more, memory_order_relaxed);
}

/* A random number below `below`, by splitmix64. */
static uint64_t pick(struct requests_thread *thread, uint64_t below)
{
    uint64_t z = thread->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % below;
}

/* How far beyond what it wants the key that is behind has gone on. */
static int64_t surplus(const struct request *request)
{
    const struct requests *r = request->thread->requests;
    int64_t least = INT64_MAX;
    for (int i = 0; i < 2; i++) {
        if (request->wanted[i] == NEVER)
            return -1;
        int64_t more = (int64_t)(atomic_load(&r->offsets[request->keys[i]]) -
                                 request->wanted[i]);
        least = more < least ? more : least;
    }
    return least;
}

static bool has_both(struct tkw_operation *operation)
{
    return surplus((struct request *)operation) >= 0;
}

static void answer(struct tkw_operation *operation)
{
    struct request *request = (struct request *)operation;
    struct requests *r = request->thread->requests;
    uint64_t waited = tkw_service_now(r->service) - request->issued_ns;
    uint64_t bin = waited / (r->timeout_ns / REQUESTS_BINS + 1);

    if (atomic_exchange(&request->is_completed, true))
        add(&r->wrong, 1);
    add(&r->completed, 1);
    add(&r->waits[bin < REQUESTS_BINS ? bin : REQUESTS_BINS - 1], 1);
}

/* Timeouts are called one at a time: nobody else writes what this writes. */
static void apologise(struct tkw_operation *operation)
{
    struct request *request = (struct request *)operation;
    struct requests *r = request->thread->requests;
    uint64_t due = request->issued_ns + r->timeout_ns;
    uint64_t now = tkw_service_now(r->service);

    if (now < due) {
        add(&r->early, 1);
    } else {
        if (now - due < count_of(&r->late_min_ns))
            atomic_store(&r->late_min_ns, now - due);
        if (now - due > count_of(&r->late_max_ns))
            atomic_store(&r->late_max_ns, now - due);
    }
    /* Both keys have gone on again since it was true, so the calls that
     * notified them then have returned. */
    if (surplus(request) >= 1 || !atomic_load(&request->is_completed))
        add(&r->wrong, 1);
    add(&r->expired, 1);
}

static void release_request(struct tkw_operation *operation)
{
    struct request *request = (struct request *)operation;
    add(&request->thread->requests->released, 1);
    atomic_fetch_sub_explicit(&request->thread->outstanding, 1,
                              memory_order_relaxed);
    free(request);
}

static const struct tkw_operation_type request_type = {
    .try_complete = has_both,
    .on_complete = answer,
    .on_expire = apologise,
    .on_release = release_request,
};

/* A request that the purgatory has rejected was never issued. */
static void take_back(struct request *request, int error)
{
    struct requests *r = request->thread->requests;
    add(error == -ENOMEM ? &r->unissued : &r->wrong, 1);
    atomic_fetch_sub_explicit(&r->issued, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&request->thread->outstanding, 1,
                              memory_order_relaxed);
    free(request);
}

/* Returns whether the request was issued. */
static bool issue(struct requests_thread *thread)
{
    struct requests *r = thread->requests;
    struct request *request = calloc(1, sizeof *request);
    if (request == NULL) {
        add(&r->unissued, 1);
        return false;
    }
    bool is_lost = pick(thread, r->settings.lost_in) == 0;

    request->operation.type = &request_type;
    request->operation.timeout_ns = r->timeout_ns;
    request->thread = thread;
    request->keys[0] = pick(thread, r->settings.keys);
    request->keys[1] =
        (request->keys[0] + 1 + pick(thread, r->settings.keys - 1)) %
        r->settings.keys;
    for (int i = 0; i < 2; i++)
        request->wanted[i] =
            is_lost ? NEVER : atomic_load(&r->offsets[request->keys[i]]) + 1;
    request->issued_ns = tkw_service_now(r->service);

    const struct tkw_key keys[] = {tkw_key_number(request->keys[0]),
                                   tkw_key_number(request->keys[1])};
    add(&thread->outstanding, 1);
    add(&r->issued, 1);
    int status = tkw_purgatory_try_complete_else_watch(
        r->purgatory, &request->operation, keys, 2);
    if (status == 1)
        add(&r->at_once, 1);
    if (status < 0)
        take_back(request, status);
    return status >= 0;
}

/* A key goes on: first make it so, then notify. */
static void advance(struct requests *r, uint64_t key)
{
    atomic_fetch_add(&r->offsets[key], 1);
    add(&r->by_check, tkw_purgatory_notify(r->purgatory, tkw_key_number(key)));
    add(&r->checks, 1);
}

/* How many a thread should have outstanding: all of its share, but at first
 * they come little by little, as they will go. */
static uint64_t share(const struct requests_thread *thread, double elapsed_s)
{
    const struct requests_settings *s = &thread->requests->settings;
    uint64_t whole = (s->outstanding + REQUESTS_THREADS - 1 - thread->number) /
                     REQUESTS_THREADS;
    double part = elapsed_s / (s->round_s * 2 / 3);
    return part < 1 ? (uint64_t)(part * (double)whole) : whole;
}

static void *work(void *argument)
{
    struct requests_thread *thread = argument;
    struct requests *r = thread->requests;
    uint64_t key_count =
        (r->settings.keys + REQUESTS_THREADS - 1 - thread->number) /
        REQUESTS_THREADS;
    uint64_t done = 0;

    while (!atomic_load(&r->is_over)) {
        double now = stopwatch_ns();
        double elapsed_s = (now - r->began_ns) / 1e9;
        uint64_t target =
            (uint64_t)(elapsed_s / r->settings.round_s * (double)key_count);
        for (; done < target && !atomic_load(&r->is_over); done++)
            advance(r, done % key_count * REQUESTS_THREADS + thread->number);

        uint64_t wanted = share(thread, elapsed_s);
        while (count_of(&thread->outstanding) < wanted &&
               !atomic_load(&r->is_over)) {
            if (!issue(thread))
                break;
        }
        live_sleep_until(now + 1e6);
    }
    return NULL;
}

int requests_open(struct requests *r, const struct requests_settings *settings)
{
    *r = (struct requests){
        .settings = *settings,
        .timeout_ns = (uint64_t)(settings->timeout_s * 1e9),
        .late_min_ns = UINT64_MAX,
    };
    r->offsets = calloc(settings->keys, sizeof *r->offsets);
    if (r->offsets == NULL)
        return -ENOMEM;
    int error = tkw_service_open(&r->service, NULL);
    if (error == 0)
        error = tkw_purgatory_open(&r->purgatory, r->service, NULL);
    if (error != 0) {
        tkw_service_close(r->service, NULL, NULL);
        free(r->offsets);
    }
    return error;
}

static void end_threads(struct requests *r, unsigned count)
{
    atomic_store(&r->is_over, true);
    for (unsigned i = 0; i < count; i++)
        pthread_join(r->threads[i].thread, NULL);
}

bool requests_start(struct requests *r)
{
    r->began_ns = stopwatch_ns();
    for (unsigned i = 0; i < REQUESTS_THREADS; i++) {
        struct requests_thread *thread = &r->threads[i];
        thread->requests = r;
        thread->number = i;
        thread->random = r->settings.seed + i;
        if (!live_start(&thread->thread, work, thread)) {
            end_threads(r, i);
            return false;
        }
    }
    return true;
}

void requests_stop(struct requests *r)
{
    end_threads(r, REQUESTS_THREADS);
    tkw_service_stop(r->service);
}

bool requests_add_up(struct requests *r)
{
    struct requests_stats f = requests_read_stats(r);
    uint64_t pending = f.issued - f.completed;
    /* One that expires while it is being placed is told of twice. */
    uint64_t reported = f.at_once + f.by_check + f.expired;
    return f.released == f.completed && f.purgatory.delayed == pending &&
           f.purgatory.watched == 2 * pending &&
           f.purgatory.completed == f.completed &&
           f.purgatory.expired == f.expired && f.purgatory.cancelled == 0 &&
           f.by_check + f.expired <= f.completed && f.completed <= reported &&
           tkw_purgatory_check(r->purgatory);
}

static void keep_nothing(void *context, struct tkw_operation *operation)
{
    (void)context;
    (void)operation;
}

bool requests_close(struct requests *r)
{
    /* Handed back, not completed: on_release is all they get. */
    tkw_purgatory_close(r->purgatory, keep_nothing, NULL);
    tkw_service_close(r->service, NULL, NULL);
    free(r->offsets);
    return count_of(&r->released) == count_of(&r->issued);
}

struct requests_stats requests_read_stats(struct requests *r)
{
    uint64_t late_min = count_of(&r->late_min_ns);
    return (struct requests_stats){
        .issued = count_of(&r->issued),
        .at_once = count_of(&r->at_once),
        .by_check = count_of(&r->by_check),
        .checks = count_of(&r->checks),
        .completed = count_of(&r->completed),
        .expired = count_of(&r->expired),
        .released = count_of(&r->released),
        .early = count_of(&r->early),
        .wrong = count_of(&r->wrong),
        .unissued = count_of(&r->unissued),
        .late_min_ms = late_min == UINT64_MAX ? 0 : (double)late_min / 1e6,
        .late_max_ms = (double)count_of(&r->late_max_ns) / 1e6,
        .purgatory = tkw_purgatory_read_stats(r->purgatory),
    };
}

void requests_waits(struct requests *r, uint64_t *bins)
{
    for (unsigned i = 0; i < REQUESTS_BINS; i++)
        bins[i] = count_of(&r->waits[i]);
}
