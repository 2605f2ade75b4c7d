/*
 * gateway.h - connections that are heard from now and then, and a tracker that
 * finds those that are not, in real time.
 *
 * A live connection sends a packet every 20 to 25 seconds, if the limit is 30,
 * and in proportion if not.  Now and then one falls silent.  When the tracker
 * hands it out it is judged, hung up on, and somebody else takes its place.
 *
 * At the start all this has been going on for long: the ages of the last
 * packets are spread as they would be, and some connections are silent already,
 * so that they are found from the first second on.
 *
 *     gateway_open(&gateway, &settings);
 *     gateway_start(&gateway);
 *     ... gateway_read_stats(&gateway) ...
 *     gateway_stop(&gateway);
 *     gateway_close(&gateway);
 *
 * Threads: the gateway's work is done in one of its own; stats and ages may
 * be asked for by another.
 */
#ifndef GATEWAY_H
#define GATEWAY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <tickwheel/idle.h>
#include <tickwheel/wheel.h>

struct gateway_settings {
    uint64_t connections;
    double limit_s;
    double tick_ms;
    double silent_rate; /* that many fall silent in a second */
    uint64_t seed;
};

/* The last connections that were found. */
enum { GATEWAY_RECENT = 4 };

struct gateway_found {
    uint64_t id;
    double silence_s;
    double late_ms; /* after its limit */
};

struct gateway_stats {
    uint64_t packets;
    uint64_t found;
    uint64_t early; /* of those found: before their limit; must stay 0 */
    uint64_t wrong; /* answers that the tracker must not give: must, too */
    int error;      /* -ENOMEM: the tracker had no memory, and work ended */
    uint64_t lost;  /* known once stopped: silent, and not found by then */
    double late_min_ms, late_max_ms;
    double tracker_ns; /* processor time that the tracker took */
    struct tkw_idle_stats idle;
    struct gateway_found recent[GATEWAY_RECENT]; /* the newest first */
};

struct gateway_connection {
    struct tkw_timer packet; /* when the next one comes; idle: never */
    uint64_t id;             /* its key; not used twice */
    _Atomic uint64_t last_ns;
};

struct gateway {
    struct gateway_settings settings;

    /* Private. */
    struct gateway_connection *connections;
    struct tkw_idle *idle;
    struct tkw_wheel *outside; /* holds the packets to come; a tick is a ms */
    uint64_t limit_ns, tick_ns, now_ns;
    uint64_t random;
    double began_ns;     /* by the stopwatch */
    double cpu_clock_ns; /* what it costs to read the clock of the processor */
    pthread_t thread;
    atomic_bool is_over;
    pthread_mutex_t lock; /* of what follows */
    struct gateway_stats shared;
    struct gateway_stats stats; /* the thread's own */
};

/* Returns 0 or -ENOMEM, with nothing to close. */
int gateway_open(struct gateway *gateway,
                 const struct gateway_settings *settings);
void gateway_close(struct gateway *gateway);

/* Returns whether the thread could be started. */
bool gateway_start(struct gateway *gateway);

/* End the thread, and look for what it has missed. */
void gateway_stop(struct gateway *gateway);

struct gateway_stats gateway_read_stats(struct gateway *gateway);

/* Count connections by how long ago they were heard from, in `count` bins from
 * 0 to the limit; the last bin has what is above, too. */
void gateway_ages(struct gateway *gateway, uint64_t *bins, unsigned count);

#endif
