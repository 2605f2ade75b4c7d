/*
 * net/clock.h - the server's time.
 *
 * Server time is in nanoseconds.  It begins at the wall clock's time when the
 * clock is opened, and runs with CLOCK_BOOTTIME: it goes on while the machine
 * sleeps, never goes back, and does not follow steps of the wall clock.
 *
 *     tkd_clock_aim(&clock, tkd_engine_next(engine));
 *     poll(clock.timer);
 *     tkd_engine_advance(engine, tkd_clock_now(&clock), TKD_STEP);
 */
#ifndef TKD_NET_CLOCK_H
#define TKD_NET_CLOCK_H

#include <stdint.h>

struct tkd_clock {
    int timer;          /* read-only: a descriptor that is readable from the
                            aimed time on */
    uint64_t anchor_ns; /* server time minus CLOCK_BOOTTIME */
    uint64_t aimed_ns;  /* private: UINT64_MAX means never */
};

/* Returns 0 or a negative errno. */
int tkd_clock_open(struct tkd_clock *clock);
void tkd_clock_close(struct tkd_clock *clock);

uint64_t tkd_clock_now(const struct tkd_clock *clock);

/* Make the timer readable at `time_ns` and not before; UINT64_MAX means
 * never. */
void tkd_clock_aim(struct tkd_clock *clock, uint64_t time_ns);

#endif
