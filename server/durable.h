/*
 * durable.h - a store in a directory: its thread's wakeups, and the time that
 * goes on where it ended.
 *
 * Server time never goes back.  A restart on the same boot of the machine
 * continues it exactly, whatever happens to the wall clock.  After a boot it is
 * the wall clock's time, or the stored time if that is later.  If the two
 * differ by more than `max_jump_s`, one of them is wrong, and the store is
 * refused unless `accepts_time`.
 */
#ifndef TKD_DURABLE_H
#define TKD_DURABLE_H

#include <engine/engine.h>
#include <net/clock.h>
#include <stdbool.h>
#include <stdint.h>

enum { TKD_DURABLE_FAULT_MAX = 512 };

#define TKD_MAX_JUMP_DEFAULT (UINT64_C(7) * 86400)
#define TKD_DISK_RESERVE_DEFAULT (UINT64_C(256) << 20)

struct tkd_durable_config {
    const struct tkw_allocator *allocator;
    const char *directory;
    int64_t sync_ms;       /* as in struct tkd_rocks_config */
    uint64_t disk_reserve; /* bytes that are to stay free */
    uint64_t max_jump_s;
    bool accepts_time;
    bool is_strict;
};

struct tkd_durable {
    struct tkd_store *store; /* read-only: NULL: not open */
    int wake_fd;             /* read-only: readable when the store can be
                                polled; -1: not open */
    unsigned char boot[TKD_BOOT_SIZE]; /* read-only: for the engine */
};

/* Open the store, and set the clock.  Returns false and writes a line to
 * `fault` if that fails. */
bool tkd_durable_open(struct tkd_durable *durable,
                      const struct tkd_durable_config *config,
                      struct tkd_clock *clock,
                      char fault[TKD_DURABLE_FAULT_MAX]);

/* Close the store.  One that is not open has a `wake_fd` of -1. */
void tkd_durable_close(struct tkd_durable *durable);

/* Verify the store of a directory, and write a line to `report`.  Returns
 * whether it is sound. */
bool tkd_durable_check(const char *directory,
                       char report[TKD_DURABLE_FAULT_MAX]);

#endif
