/*
 * store/rocks.h - a store that keeps jobs on disk, by RocksDB.
 *
 * Each kind of fact is a column family.  Keys are big-endian, so that their
 * order is the order of their numbers:
 *
 *     family   key              value
 *     -------+----------------+---------------------------------------------
 *     job      id               order, tube, at, home: where the job is
 *     due      due, id          the record of a job that is not buried
 *     tubedue  tube, due, id    nothing
 *     buried   tube, number, id the record of a buried job
 *     body     home, id         the body, written once
 *     tube     number           a row of TKD_TABLE_TUBE
 *     meta     key              a row of TKD_TABLE_META
 *     name     name             for jobs with names; empty so far
 *     default  "format"         the version of this table
 *
 * A record is stored once, at the place that the job is in.  So the loader
 * reads records in the order of their due times, and a change of a job's due
 * time rewrites one small row and not the body.
 *
 * A lookup by id reads `job`, then the record, then the body.
 */
#ifndef TKD_STORE_ROCKS_H
#define TKD_STORE_ROCKS_H

#include "store.h"

enum { TKD_ROCKS_WHY_MAX = 512 };

struct tkd_rocks_config {
    /* Must be safe to be called from several threads, and outlive the store.
     * Bodies in answers are allocated by it. */
    const struct tkw_allocator *allocator;
    const char *directory;
    int64_t sync_ms;     /* 0: sync each batch; -1: leave that to the system;
                            larger: sync at most this much later */
    uint64_t disk_spare; /* has_room() is false while less is free */
    bool is_strict;      /* refuse a log that is damaged before its end even
                            if a power cut can explain it */
    /* Called by threads of the store when an answer can be polled.  May be
     * NULL. */
    void (*wake)(void *context);
    void *wake_context;
};

/*
 * Open the store in a directory, which is made if it is missing.  Returns 0 and
 * stores it in `*store`.  Otherwise returns a negative errno, and writes a line
 * that names the file and the remedy to `why`, of TKD_ROCKS_WHY_MAX bytes:
 *
 *     -EBUSY    another process uses the store
 *     -EROFS    the directory cannot be written
 *     -EPROTO   a newer version has written the store
 *     -EBADMSG  the store is damaged
 *     -ENOMEM, -EIO
 */
int tkd_rocks_open(struct tkd_store **store,
                   const struct tkd_rocks_config *config, char *why);

/*
 * Verify a store that no process uses: that the families agree with `job`.
 * Returns true and stores the number of jobs in `*jobs` if they do.  Otherwise
 * returns false and writes one line to `why`.
 */
bool tkd_rocks_check(const char *directory, uint64_t *jobs, char *why);

#endif
