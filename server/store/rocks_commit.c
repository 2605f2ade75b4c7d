/*
 * store/rocks_commit.c - the thread that writes.
 *
 * It takes one batch at a time, writes it as one batch of RocksDB, and syncs
 * the log: after each batch, or after a while, or never.
 */
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>

#include "rocks_private.h"

#define NS_PER_SECOND UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

/* How often the free space of the disk is read. */
#define SPACE_NS (NS_PER_SECOND / 4)

struct committer {
    struct rocks_store *rocks;
    rocksdb_writebatch_t *changes;
    rocksdb_writeoptions_t *synced;
    rocksdb_writeoptions_t *unsynced;
    uint64_t sync_at_ns; /* 0: all is synced */
    uint64_t space_at_ns;
};

static uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static void put(struct committer *committer, enum family family,
                const struct key *key, const void *value, size_t size)
{
    rocksdb_writebatch_put_cf(committer->changes,
                              committer->rocks->db.families[family], key->bytes,
                              key->size, value, size);
}

static void erase(struct committer *committer, enum family family,
                  const struct key *key)
{
    rocksdb_writebatch_delete_cf(committer->changes,
                                 committer->rocks->db.families[family],
                                 key->bytes, key->size);
}

static bool is_same(const struct tkd_place *a, const struct tkd_place *b)
{
    return a->order == b->order && a->at == b->at && a->tube == b->tube;
}

static void leave_place(struct committer *committer,
                        const struct tkd_write *write)
{
    const struct tkd_place *place = &write->before;
    if (place->order == TKD_ORDER_NONE || is_same(place, &write->after))
        return;
    struct key key;
    enum family family = tkd__record_key(place, write->id, &key);
    erase(committer, family, &key);
    if (family == FAMILY_DUE) {
        key = tkd__key_in_tube(place->tube, place->at, write->id);
        erase(committer, FAMILY_TUBE_DUE, &key);
    }
}

static void enter_place(struct committer *committer,
                        const struct tkd_write *write)
{
    const struct tkd_place *place = &write->after;
    struct key key;
    enum family family = tkd__record_key(place, write->id, &key);
    put(committer, family, &key, write->record, write->record_size);
    if (is_same(place, &write->before))
        return;
    if (family == FAMILY_DUE) {
        key = tkd__key_in_tube(place->tube, place->at, write->id);
        put(committer, FAMILY_TUBE_DUE, &key, "", 0);
    }
    char bytes[LOCATOR_SIZE];
    struct locator locator = {*place, write->home};
    tkd__locator_encode(&locator, bytes);
    key = tkd__key_job(write->id);
    put(committer, FAMILY_JOB, &key, bytes, sizeof bytes);
}

static void add_write(struct committer *committer,
                      const struct tkd_write *write)
{
    struct key body = tkd__key_body(write->home, write->id);
    leave_place(committer, write);
    if (write->after.order != TKD_ORDER_NONE) {
        enter_place(committer, write);
    } else if (write->before.order != TKD_ORDER_NONE) {
        struct key job = tkd__key_job(write->id);
        erase(committer, FAMILY_JOB, &job);
        /* A body is put once, so that one deletion can cancel one put. */
        rocksdb_writebatch_singledelete_cf(
            committer->changes, committer->rocks->db.families[FAMILY_BODY],
            body.bytes, body.size);
    }
    if (write->body != NULL)
        put(committer, FAMILY_BODY, &body, write->body->bytes,
            write->body->size);
}

static void add_row(struct committer *committer, const struct tkd_row *row)
{
    enum family family =
        row->table == TKD_TABLE_TUBE ? FAMILY_TUBE : FAMILY_META;
    struct key key = tkd__key_row(row->key);
    if (row->size > 0)
        put(committer, family, &key, row->bytes, row->size);
    else
        erase(committer, family, &key);
}

/* Report a failed write or sync. */
static void fail(struct committer *committer, char *error)
{
    char why[TKD_ROCKS_WHY_MAX];
    tkd__explain(why, committer->rocks->config.directory, error);
    tkd__rocks_fail(committer->rocks, why);
}

/* Write a batch.  Returns false if that fails. */
static bool write_batch(struct committer *committer, const struct batch *batch)
{
    int64_t sync_ms = committer->rocks->config.sync_ms;
    bool is_synced = sync_ms == 0 || batch->must_sync;
    char *error = NULL;
    rocksdb_writebatch_clear(committer->changes);
    for (size_t i = 0; i < batch->write_count; i++)
        add_write(committer, &batch->writes[i]);
    for (size_t i = 0; i < batch->row_count; i++)
        add_row(committer, &batch->rows[i]);
    rocksdb_write(committer->rocks->db.db,
                  is_synced ? committer->synced : committer->unsynced,
                  committer->changes, &error);
    if (error != NULL) {
        fail(committer, error);
        return false;
    }
    if (is_synced)
        committer->sync_at_ns = 0;
    else if (sync_ms > 0 && committer->sync_at_ns == 0)
        committer->sync_at_ns = clock_ns() + (uint64_t)sync_ms * NS_PER_MS;
    return true;
}

/* Sync what was written, if its time has come.  Returns false if that fails. */
static bool sync_log(struct committer *committer, bool is_forced)
{
    if (committer->sync_at_ns == 0 && !is_forced)
        return true;
    if (!is_forced && clock_ns() < committer->sync_at_ns)
        return true;
    char *error = NULL;
    rocksdb_flush_wal(committer->rocks->db.db, 1, &error);
    committer->sync_at_ns = 0;
    if (error != NULL)
        fail(committer, error);
    return error == NULL;
}

static void measure_space(struct committer *committer)
{
    struct rocks_store *rocks = committer->rocks;
    uint64_t now_ns = clock_ns();
    if (rocks->config.disk_spare == 0 || now_ns < committer->space_at_ns)
        return;
    committer->space_at_ns = now_ns + SPACE_NS;
    struct statvfs disk;
    if (statvfs(rocks->config.directory, &disk) != 0)
        return;
    bool is_full =
        (uint64_t)disk.f_bavail * disk.f_frsize < rocks->config.disk_spare;
    atomic_store_explicit(&rocks->is_full, is_full, memory_order_relaxed);
}

/* Wait for a batch, for the time of a sync, or while the disk is full, a
 * moment.  The caller holds the lock. */
static void wait_for_work(struct committer *committer)
{
    struct rocks_store *rocks = committer->rocks;
    uint64_t until_ns = committer->sync_at_ns;
    if (until_ns == 0 &&
        atomic_load_explicit(&rocks->is_full, memory_order_relaxed))
        until_ns = committer->space_at_ns;
    if (until_ns == 0) {
        pthread_cond_wait(&rocks->commits, &rocks->lock);
        return;
    }
    struct timespec until = {(time_t)(until_ns / NS_PER_SECOND),
                             (long)(until_ns % NS_PER_SECOND)};
    pthread_cond_timedwait(&rocks->commits, &rocks->lock, &until);
}

/* Report a batch that is written.  The caller holds the lock. */
static void finish(struct rocks_store *rocks, uint64_t began_ns)
{
    uint64_t taken_ns = clock_ns() - began_ns;
    rocks->figures.batches++;
    rocks->figures.writes += rocks->flying.write_count;
    rocks->figures.commit_ns += taken_ns;
    if (taken_ns > rocks->figures.commit_ns_max)
        rocks->figures.commit_ns_max = taken_ns;
    rocks->written = rocks->flying.number;
    rocks->has_batch = false;
    pthread_cond_broadcast(&rocks->reads);
}

/* Write the batch that was submitted.  The caller holds the lock, which is
 * released meanwhile.  Returns false if that fails. */
static bool commit(struct committer *committer)
{
    struct rocks_store *rocks = committer->rocks;
    uint64_t began_ns = clock_ns();
    pthread_mutex_unlock(&rocks->lock);
    bool is_written = write_batch(committer, &rocks->flying);
    measure_space(committer);
    pthread_mutex_lock(&rocks->lock);
    if (!is_written)
        return false;
    finish(rocks, began_ns);
    if (rocks->config.wake != NULL)
        rocks->config.wake(rocks->config.wake_context);
    return true;
}

static void run(struct committer *committer)
{
    struct rocks_store *rocks = committer->rocks;
    bool is_sound = true;
    measure_space(committer);
    pthread_mutex_lock(&rocks->lock);
    while (is_sound && (rocks->has_batch || !rocks->is_closing)) {
        if (rocks->has_batch)
            is_sound = commit(committer);
        else
            wait_for_work(committer);
        pthread_mutex_unlock(&rocks->lock);
        is_sound = is_sound && sync_log(committer, false);
        measure_space(committer);
        pthread_mutex_lock(&rocks->lock);
    }
    pthread_mutex_unlock(&rocks->lock);
    if (is_sound)
        sync_log(committer, true);
}

void *tkd__commit_run(void *store)
{
    struct committer committer = {.rocks = store};
    committer.changes = rocksdb_writebatch_create();
    committer.synced = rocksdb_writeoptions_create();
    committer.unsynced = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(committer.synced, 1);
    run(&committer);
    rocksdb_writeoptions_destroy(committer.unsynced);
    rocksdb_writeoptions_destroy(committer.synced);
    rocksdb_writebatch_destroy(committer.changes);
    return NULL;
}
