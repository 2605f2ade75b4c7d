/*
 * requests.h - requests that wait in a purgatory, in real time, nearly all of
 * which are completed before their timeout.
 *
 * As in a replicated log: a request waits until both of its two keys have gone
 * on, as writing does until the replicas of both partitions have the data.  Two
 * threads take turns through the keys, advance one and check it, and keep as
 * many requests outstanding as they should.  A few requests wait for what never
 * comes, and expire.
 *
 * Every request is watched by a judge of our own: whether it is completed once,
 * not too early, and not too late: whoever has both keys gone on by two was
 * checked when it was true, and must not expire.
 *
 *     requests_open(&requests, &settings);
 *     requests_start(&requests);
 *     ... requests_read_stats(&requests) ...
 *     requests_stop(&requests);
 *     requests_close(&requests);
 */
#ifndef REQUESTS_H
#define REQUESTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <tickwheel/purgatory.h>

enum { REQUESTS_THREADS = 2, REQUESTS_BINS = 60 };

struct requests_settings {
    uint64_t outstanding; /* kept at that */
    uint64_t keys;
    double timeout_s;
    double round_s;   /* each key is advanced and notified once in this time */
    uint64_t lost_in; /* one in so many waits for what never comes */
    uint64_t seed;
};

/* What has happened so far. */
struct requests_stats {
    uint64_t issued;
    uint64_t at_once;  /* completed when they came */
    uint64_t by_check; /* completed by a check, as checks say */
    uint64_t checks;
    uint64_t completed; /* called back; those expired included */
    uint64_t expired;
    uint64_t released;
    uint64_t early;    /* expired before their time: must stay 0 */
    uint64_t wrong;    /* twice completed, or expired though long true; rejected
                       but not for lack of memory: must stay 0 */
    uint64_t unissued; /* attempts to issue that failed with -ENOMEM; they are
                          not in `issued` */
    double late_min_ms, late_max_ms; /* of the expired */
    struct tkw_purgatory_stats purgatory;
};

struct requests_thread {
    struct requests *requests;
    unsigned number;
    pthread_t thread;
    uint64_t random;
    _Atomic uint64_t outstanding; /* requests it has issued */
};

struct requests {
    struct requests_settings settings;

    /* Private. */
    struct tkw_service *service;
    struct tkw_purgatory *purgatory;
    _Atomic uint64_t *offsets; /* by key: how far it has gone on */
    uint64_t timeout_ns;
    double began_ns; /* by the stopwatch */
    atomic_bool is_over;
    struct requests_thread threads[REQUESTS_THREADS];
    _Atomic uint64_t issued, at_once, by_check, checks, completed, expired,
        released, early, wrong, unissued;
    _Atomic uint64_t late_min_ns, late_max_ns;
    _Atomic uint64_t waits[REQUESTS_BINS];
};

/* Returns 0 or a negative errno, with nothing to close. */
int requests_open(struct requests *requests,
                  const struct requests_settings *settings);

/* Hand back what is left, and free everything.  Returns whether every request
 * that was issued is released by then. */
bool requests_close(struct requests *requests);

/* Returns whether the threads could be started; if not, none is. */
bool requests_start(struct requests *requests);

/* End the threads and the timeouts; what is pending stays so. */
void requests_stop(struct requests *requests);

struct requests_stats requests_read_stats(struct requests *requests);

/* Once stopped: whether the purgatory holds what it should, and says so. */
bool requests_add_up(struct requests *requests);

/* How long those completed have waited so far, in REQUESTS_BINS bins from 0 to
 * the timeout; the last has what is above, too. */
void requests_waits(struct requests *requests, uint64_t *bins);

#endif
