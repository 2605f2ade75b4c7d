/*
 * store/rocksdb.c - the calls of store.h, on RocksDB.
 *
 *     engine's thread          committer               readers
 *     ---------------          ---------               -------
 *     write(), set() fill
 *     a batch
 *     submit()  -------------> writes and syncs it
 *     poll()    <------------- DURABLE
 *     ask(), list()  --------------------------------> read
 *     poll()    <------------------------------------- JOB, LIST
 *
 * The engine fills one batch while the committer has the other.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rocks_private.h"

enum { BATCH_MIN = 256 };

static struct rocks_store *rocks_of(const struct tkd_store *store)
{
    return TKW_CONTAINER(store, struct rocks_store, store);
}

static void *allocate(const struct rocks_store *rocks, size_t bytes)
{
    const struct tkw_allocator *allocator = rocks->config.allocator;
    return allocator->allocate(allocator->context, bytes);
}

static void release(const struct rocks_store *rocks, void *memory, size_t bytes)
{
    const struct tkw_allocator *allocator = rocks->config.allocator;
    if (memory != NULL)
        allocator->release(allocator->context, memory, bytes);
}

/* Make room for `wanted` elements of `size` bytes in an array.  Returns the
 * array, or NULL if the allocator refuses. */
static void *grow(const struct rocks_store *rocks, void *array, size_t *room,
                  size_t wanted, size_t size)
{
    if (wanted <= *room)
        return array;
    size_t larger = *room == 0 ? BATCH_MIN : 2 * *room;
    if (larger < wanted)
        larger = wanted;
    void *memory = allocate(rocks, larger * size);
    if (memory == NULL)
        return NULL;
    if (array != NULL)
        memcpy(memory, array, *room * size);
    release(rocks, array, *room * size);
    *room = larger;
    return memory;
}

static bool reserve_batch(struct tkd_store *store, size_t count)
{
    struct rocks_store *rocks = rocks_of(store);
    struct batch *batch = &rocks->filling;
    size_t writes = batch->write_count + count;
    size_t rows =
        batch->row_count + writes * TKD_ROWS_PER_WRITE + TKD_ROWS_PER_BATCH;
    void *array = grow(rocks, batch->writes, &batch->write_room, writes,
                       sizeof *batch->writes);
    if (array == NULL)
        return false;
    batch->writes = array;
    array =
        grow(rocks, batch->rows, &batch->row_room, rows, sizeof *batch->rows);
    if (array == NULL)
        return false;
    batch->rows = array;
    return true;
}

static void add_write(struct tkd_store *store, const struct tkd_write *write)
{
    struct batch *batch = &rocks_of(store)->filling;
    assert(batch->write_count < batch->write_room);
    batch->writes[batch->write_count++] = *write;
    if (write->body != NULL)
        tkd_body_hold(write->body);
}

static void set_row(struct tkd_store *store, const struct tkd_row *row)
{
    struct batch *batch = &rocks_of(store)->filling;
    assert(batch->row_count < batch->row_room);
    batch->rows[batch->row_count++] = *row;
    batch->must_sync = batch->must_sync || row->must_sync;
}

static bool has_room(const struct tkd_store *store)
{
    return !atomic_load_explicit(&rocks_of(store)->is_full,
                                 memory_order_relaxed);
}

static void submit(struct tkd_store *store, uint64_t number)
{
    struct rocks_store *rocks = rocks_of(store);
    assert(!rocks->is_busy);
    struct batch empty = rocks->flying;
    rocks->filling.number = number;
    rocks->flying = rocks->filling;
    rocks->filling = empty;
    rocks->submitted = number;
    rocks->is_busy = true;
    pthread_mutex_lock(&rocks->lock);
    rocks->has_batch = true;
    pthread_cond_signal(&rocks->commits);
    pthread_mutex_unlock(&rocks->lock);
}

static bool is_busy(const struct tkd_store *store)
{
    return rocks_of(store)->is_busy;
}

static void clear(struct rocks_store *rocks, struct batch *batch)
{
    for (size_t i = 0; i < batch->write_count; i++)
        tkd_body_release(rocks->config.allocator, batch->writes[i].body);
    batch->write_count = 0;
    batch->row_count = 0;
    batch->must_sync = false;
}

static bool enqueue(struct rocks_store *rocks, const struct request *request)
{
    struct request *copy = allocate(rocks, sizeof *copy);
    if (copy == NULL)
        return false;
    *copy = *request;
    pthread_mutex_lock(&rocks->lock);
    queue_push(&rocks->asked, copy);
    pthread_cond_broadcast(&rocks->reads);
    pthread_mutex_unlock(&rocks->lock);
    return true;
}

static bool ask(struct tkd_store *store, const struct tkd_question *question)
{
    return enqueue(rocks_of(store), &(struct request){.question = *question});
}

static bool list(struct tkd_store *store, const struct tkd_range *range)
{
    struct rocks_store *rocks = rocks_of(store);
    return enqueue(rocks, &(struct request){.is_list = true,
                                            .range = *range,
                                            .after = rocks->submitted});
}

void tkd__rocks_fail(struct rocks_store *rocks, const char *why)
{
    pthread_mutex_lock(&rocks->lock);
    if (!rocks->has_failed) {
        rocks->has_failed = true;
        snprintf(rocks->why, sizeof rocks->why, "%s", why);
    }
    pthread_cond_broadcast(&rocks->reads);
    pthread_mutex_unlock(&rocks->lock);
    if (rocks->config.wake != NULL)
        rocks->config.wake(rocks->config.wake_context);
}

/* Take the next event of the threads.  The caller holds the lock. */
static bool take(struct rocks_store *rocks, struct tkd_answer *answer,
                 struct request **request)
{
    *request = NULL;
    if (rocks->has_failed) {
        if (rocks->failure_is_told)
            return false;
        rocks->failure_is_told = true;
        rocks->store.failure = rocks->why;
        *answer = (struct tkd_answer){.kind = TKD_ANSWER_FAILED};
        return true;
    }
    if (rocks->written > rocks->reported) {
        rocks->reported = rocks->written;
        *answer = (struct tkd_answer){.kind = TKD_ANSWER_DURABLE,
                                      .token = rocks->reported};
        return true;
    }
    *request = queue_pop(&rocks->replies);
    return *request != NULL;
}

static bool poll_answer(struct tkd_store *store, struct tkd_answer *answer)
{
    struct rocks_store *rocks = rocks_of(store);
    struct request *request;
    pthread_mutex_lock(&rocks->lock);
    bool is_taken = take(rocks, answer, &request);
    pthread_mutex_unlock(&rocks->lock);
    if (request != NULL) {
        *answer = request->answer;
        release(rocks, request, sizeof *request);
    } else if (is_taken && answer->kind == TKD_ANSWER_DURABLE) {
        clear(rocks, &rocks->flying);
        rocks->is_busy = false;
    }
    return is_taken;
}

static bool find_row(struct tkd_store *store, struct tkd_row *row)
{
    struct rocks_store *rocks = rocks_of(store);
    enum family family =
        row->table == TKD_TABLE_TUBE ? FAMILY_TUBE : FAMILY_META;
    struct key from = tkd__key_row(row->key);
    rocksdb_iterator_t *iterator = rocksdb_create_iterator_cf(
        rocks->db.db, rocks->point_reads, rocks->db.families[family]);
    rocksdb_iter_seek(iterator, from.bytes, from.size);
    bool is_found = rocksdb_iter_valid(iterator);
    if (is_found) {
        size_t key_size, size;
        const char *key = rocksdb_iter_key(iterator, &key_size);
        const char *value = rocksdb_iter_value(iterator, &size);
        is_found = key_size == 4 && size <= TKD_ROW_MAX;
        if (is_found) {
            row->key = tkd__read_u32(key);
            row->size = (uint16_t)size;
            memcpy(row->bytes, value, size);
        }
    }
    rocksdb_iter_destroy(iterator);
    return is_found;
}

static bool read_list(struct tkd_store *store, const struct tkd_range *range,
                      struct tkd_answer *answer)
{
    struct rocks_store *rocks = rocks_of(store);
    rocks->why[0] = '\0';
    if (tkd__read_list(rocks, range, answer, rocks->why))
        return answer->body != NULL;
    store->failure = rocks->why;
    return false;
}

static void release_queue(struct rocks_store *rocks,
                          struct request_queue *queue)
{
    struct request *request;
    while ((request = queue_pop(queue)) != NULL) {
        tkd_body_release(rocks->config.allocator, request->answer.body);
        release(rocks, request, sizeof *request);
    }
}

static void stop_threads(struct rocks_store *rocks)
{
    pthread_mutex_lock(&rocks->lock);
    rocks->is_closing = true;
    pthread_cond_broadcast(&rocks->commits);
    pthread_cond_broadcast(&rocks->reads);
    pthread_mutex_unlock(&rocks->lock);
    if (rocks->thread_count > 0)
        pthread_join(rocks->committer, NULL);
    for (unsigned i = 1; i < rocks->thread_count; i++)
        pthread_join(rocks->readers[i - 1], NULL);
}

static void release_batch(struct rocks_store *rocks, struct batch *batch)
{
    clear(rocks, batch);
    release(rocks, batch->writes, batch->write_room * sizeof *batch->writes);
    release(rocks, batch->rows, batch->row_room * sizeof *batch->rows);
}

static void close_rocks(struct tkd_store *store)
{
    struct rocks_store *rocks = rocks_of(store);
    stop_threads(rocks);
    release_queue(rocks, &rocks->asked);
    release_queue(rocks, &rocks->replies);
    release_batch(rocks, &rocks->filling);
    release_batch(rocks, &rocks->flying);
    rocksdb_readoptions_destroy(rocks->point_reads);
    tkd__db_close(&rocks->db);
    pthread_cond_destroy(&rocks->reads);
    pthread_cond_destroy(&rocks->commits);
    pthread_mutex_destroy(&rocks->lock);
    release(rocks, rocks, sizeof *rocks);
}

static void measure(struct tkd_store *store, struct tkd_store_figures *figures)
{
    struct rocks_store *rocks = rocks_of(store);
    pthread_mutex_lock(&rocks->lock);
    *figures = rocks->figures;
    pthread_mutex_unlock(&rocks->lock);
}

static void init_lock(struct rocks_store *rocks)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&rocks->lock, NULL);
    pthread_cond_init(&rocks->commits, &attributes);
    pthread_cond_init(&rocks->reads, NULL);
    pthread_condattr_destroy(&attributes);
}

static int start_threads(struct rocks_store *rocks)
{
    int error = pthread_create(&rocks->committer, NULL, tkd__commit_run, rocks);
    for (unsigned i = 0; i < READERS && error == 0; i++) {
        rocks->thread_count++;
        error = pthread_create(&rocks->readers[i], NULL, tkd__read_run, rocks);
    }
    rocks->thread_count += error == 0;
    return -error;
}

int tkd_rocks_open(struct tkd_store **store,
                   const struct tkd_rocks_config *config, char *why)
{
    static const struct tkd_store_calls calls = {
        .reserve = reserve_batch,
        .write = add_write,
        .set = set_row,
        .has_room = has_room,
        .submit = submit,
        .is_busy = is_busy,
        .ask = ask,
        .list = list,
        .find_row = find_row,
        .read_list = read_list,
        .measure = measure,
        .poll = poll_answer,
        .close = close_rocks,
    };
    struct rocks_store *rocks =
        config->allocator->allocate(config->allocator->context, sizeof *rocks);
    snprintf(why, TKD_ROCKS_WHY_MAX, "%s: out of memory", config->directory);
    if (rocks == NULL)
        return -ENOMEM;
    memset(rocks, 0, sizeof *rocks);
    rocks->store.calls = &calls;
    rocks->config = *config;
    bool allows_gaps = config->sync_ms != 0 && !config->is_strict;
    int error = tkd__log_scan(config->directory, allows_gaps, why);
    if (error == 0)
        error = tkd__db_open(&rocks->db, config->directory, false, why);
    if (error != 0) {
        release(rocks, rocks, sizeof *rocks);
        return error;
    }
    rocks->point_reads = rocksdb_readoptions_create();
    init_lock(rocks);
    error = start_threads(rocks);
    if (error != 0) {
        snprintf(why, TKD_ROCKS_WHY_MAX, "%s: cannot start a thread: %s",
                 config->directory, strerror(-error));
        close_rocks(&rocks->store);
        return error;
    }
    *store = &rocks->store;
    return 0;
}
