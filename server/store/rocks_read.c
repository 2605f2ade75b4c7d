/*
 * store/rocks_read.c - the threads that read.
 *
 * They share a queue of questions.  A list waits until the batches that were
 * submitted before it are written; a question about one job waits for nothing.
 *
 * Each iterator has both bounds.  Without the lower one it would walk over the
 * remains of all jobs that are gone.
 */
#include <stdio.h>
#include <string.h>

#include "rocks_private.h"

/* Copy a value into a body.  Returns NULL if the allocator refuses. */
static struct tkd_body *body_of(const struct rocks_store *rocks,
                                const char *bytes, size_t size)
{
    struct tkd_body *body =
        tkd_body_open(rocks->config.allocator, (uint32_t)size);
    if (body != NULL && size > 0)
        memcpy(body->bytes, bytes, size);
    return body;
}

static rocksdb_pinnableslice_t *get(struct rocks_store *rocks,
                                    const rocksdb_readoptions_t *reads,
                                    enum family family, const struct key *key,
                                    char *why)
{
    char *error = NULL;
    rocksdb_pinnableslice_t *slice =
        rocksdb_get_pinned_cf(rocks->db.db, reads, rocks->db.families[family],
                              key->bytes, key->size, &error);
    if (error != NULL)
        tkd__explain(why, rocks->config.directory, error);
    return slice;
}

static void describe_damage(const struct rocks_store *rocks, uint64_t id,
                            char *why)
{
    snprintf(why, TKD_ROCKS_WHY_MAX,
             "%s: the store is damaged at job %llu; restore a backup",
             rocks->config.directory, (unsigned long long)id);
}

/* Read the body of a job.  Returns false if that fails. */
static bool read_body(struct rocks_store *rocks, uint64_t home, uint64_t id,
                      struct tkd_answer *answer, char *why)
{
    struct key key = tkd__key_body(home, id);
    rocksdb_pinnableslice_t *slice =
        get(rocks, rocks->point_reads, FAMILY_BODY, &key, why);
    if (slice == NULL)
        return why[0] == '\0';
    size_t size;
    const char *bytes = rocksdb_pinnableslice_value(slice, &size);
    answer->body = body_of(rocks, bytes, size);
    answer->is_found = answer->body != NULL;
    rocksdb_pinnableslice_destroy(slice);
    return true;
}

/* Read where a job is.  Returns false if it does not exist, or if reading
 * fails; then `why` has a line. */
static bool read_locator(struct rocks_store *rocks, uint64_t id,
                         struct locator *locator, char *why)
{
    struct key key = tkd__key_job(id);
    rocksdb_pinnableslice_t *slice =
        get(rocks, rocks->point_reads, FAMILY_JOB, &key, why);
    if (slice == NULL)
        return false;
    size_t size;
    const char *bytes = rocksdb_pinnableslice_value(slice, &size);
    bool is_sound = tkd__locator_decode(locator, bytes, size);
    if (!is_sound)
        describe_damage(rocks, id, why);
    rocksdb_pinnableslice_destroy(slice);
    return is_sound;
}

/* Copy a record.  Returns false if it is too large. */
static bool copy_record(unsigned char record[TKD_RECORD_MAX],
                        uint16_t *record_size, const char *bytes, size_t size)
{
    if (bytes == NULL || size > TKD_RECORD_MAX)
        return false;
    memcpy(record, bytes, size);
    *record_size = (uint16_t)size;
    return true;
}

static bool read_record(struct rocks_store *rocks,
                        const rocksdb_readoptions_t *reads,
                        const struct tkd_place *place, uint64_t id,
                        unsigned char record[TKD_RECORD_MAX],
                        uint16_t *record_size, char *why)
{
    struct key key;
    enum family family = tkd__record_key(place, id, &key);
    rocksdb_pinnableslice_t *slice = get(rocks, reads, family, &key, why);
    size_t size = 0;
    const char *bytes =
        slice == NULL ? NULL : rocksdb_pinnableslice_value(slice, &size);
    bool is_sound = copy_record(record, record_size, bytes, size);
    if (!is_sound && why[0] == '\0')
        describe_damage(rocks, id, why);
    rocksdb_pinnableslice_destroy(slice);
    return is_sound;
}

/* Answer a question about a job.  Returns false if reading fails. */
static bool read_job(struct rocks_store *rocks,
                     const struct tkd_question *question,
                     struct tkd_answer *answer, char *why)
{
    struct locator locator;
    *answer = (struct tkd_answer){
        .kind = TKD_ANSWER_JOB, .token = question->token, .id = question->id};
    if (question->is_body_only)
        return read_body(rocks, question->home, question->id, answer, why);
    if (!read_locator(rocks, question->id, &locator, why))
        return why[0] == '\0';
    return read_record(rocks, rocks->point_reads, &locator.place, question->id,
                       answer->record, &answer->record_size, why) &&
           read_body(rocks, locator.home, question->id, answer, why);
}

/* A walk along a list. */
struct walk {
    struct rocks_store *rocks;
    const struct tkd_range *range;
    enum family family;
    struct key from;
    struct key end;
    rocksdb_readoptions_t *reads;
    const rocksdb_snapshot_t *snapshot;
    rocksdb_iterator_t *iterator;
};

static void begin_walk(struct walk *walk, struct rocks_store *rocks,
                       const struct tkd_range *range)
{
    const struct tkd_position *from = &range->from;
    memset(walk, 0, sizeof *walk);
    walk->rocks = rocks;
    walk->range = range;
    switch (range->list) {
    case TKD_LIST_DUE:
        walk->family = FAMILY_DUE;
        walk->from = tkd__key_due(from->at, from->id);
        walk->end = tkd__key_due(range->end, 0);
        break;
    case TKD_LIST_TUBE_DUE:
        walk->family = FAMILY_TUBE_DUE;
        walk->from = tkd__key_in_tube(range->tube, from->at, from->id);
        walk->end = tkd__key_in_tube(range->tube, range->end, 0);
        break;
    case TKD_LIST_BURIED:
        walk->family = FAMILY_BURIED;
        walk->from = tkd__key_in_tube(from->tube, from->at, from->id);
        walk->end = tkd__key_in_tube(UINT32_MAX, UINT64_MAX, UINT64_MAX);
        break;
    }
    walk->reads = rocksdb_readoptions_create();
    walk->snapshot = rocksdb_create_snapshot(rocks->db.db);
    rocksdb_readoptions_set_snapshot(walk->reads, walk->snapshot);
    rocksdb_readoptions_set_iterate_lower_bound(walk->reads, walk->from.bytes,
                                                walk->from.size);
    rocksdb_readoptions_set_iterate_upper_bound(walk->reads, walk->end.bytes,
                                                walk->end.size);
    walk->iterator = rocksdb_create_iterator_cf(
        rocks->db.db, walk->reads, rocks->db.families[walk->family]);
    rocksdb_iter_seek(walk->iterator, walk->from.bytes, walk->from.size);
}

static void end_walk(struct walk *walk)
{
    rocksdb_iter_destroy(walk->iterator);
    rocksdb_readoptions_destroy(walk->reads);
    rocksdb_release_snapshot(walk->rocks->db.db, walk->snapshot);
}

/* Read the job that a walk is at.  The tube of a job in TKD_LIST_DUE is not in
 * its key: the record has it.  Returns false if reading fails. */
static bool read_item(struct walk *walk, struct tkd_item *item, char *why)
{
    size_t size, value_size;
    const char *key = rocksdb_iter_key(walk->iterator, &size);
    const char *value = rocksdb_iter_value(walk->iterator, &value_size);
    memset(item, 0, sizeof *item);
    item->place.order =
        walk->family == FAMILY_BURIED ? TKD_ORDER_BURIED : TKD_ORDER_DUE;
    if (walk->family != FAMILY_DUE) {
        item->place.tube = tkd__read_u32(key);
        key += 4;
    }
    item->place.at = tkd__read_u64(key);
    item->id = tkd__read_u64(key + 8);
    if (walk->family == FAMILY_TUBE_DUE)
        return read_record(walk->rocks, walk->reads, &item->place, item->id,
                           item->record, &item->record_size, why);
    if (copy_record(item->record, &item->record_size, value, value_size))
        return true;
    describe_damage(walk->rocks, item->id, why);
    return false;
}

/* Fill `items` with up to `range->most` jobs.  Returns how many; `why` has a
 * line if reading fails. */
static uint32_t fill(struct walk *walk, struct tkd_item *items, char *why)
{
    uint32_t count = 0;
    while (count < walk->range->most && rocksdb_iter_valid(walk->iterator)) {
        if (!read_item(walk, &items[count], why))
            return count;
        count++;
        rocksdb_iter_next(walk->iterator);
    }
    char *error = NULL;
    rocksdb_iter_get_error(walk->iterator, &error);
    if (error != NULL)
        tkd__explain(why, walk->rocks->config.directory, error);
    return count;
}

bool tkd__read_list(struct rocks_store *rocks, const struct tkd_range *range,
                    struct tkd_answer *answer, char *why)
{
    const struct tkw_allocator *allocator = rocks->config.allocator;
    struct walk walk;
    *answer =
        (struct tkd_answer){.kind = TKD_ANSWER_LIST, .token = range->token};
    struct tkd_body *items = tkd_body_open(
        allocator, (uint32_t)(range->most * sizeof(struct tkd_item)));
    if (items == NULL)
        return true; /* an answer without a body */
    begin_walk(&walk, rocks, range);
    uint32_t count = fill(&walk, (struct tkd_item *)(void *)items->bytes, why);
    answer->is_at_end = !rocksdb_iter_valid(walk.iterator);
    end_walk(&walk);
    if (why[0] == '\0')
        answer->body =
            body_of(rocks, items->bytes, count * sizeof(struct tkd_item));
    tkd_body_release(allocator, items);
    return why[0] == '\0';
}

/* Wait for a question.  The caller holds the lock.  Returns NULL if the store
 * is being closed. */
static struct request *next_request(struct rocks_store *rocks)
{
    while (!rocks->is_closing && rocks->asked.first == NULL)
        pthread_cond_wait(&rocks->reads, &rocks->lock);
    if (rocks->is_closing)
        return NULL;
    struct request *request = queue_pop(&rocks->asked);
    while (request->is_list && !rocks->is_closing && !rocks->has_failed &&
           rocks->written < request->after)
        pthread_cond_wait(&rocks->reads, &rocks->lock);
    return request;
}

static void answer(struct rocks_store *rocks, struct request *request)
{
    char why[TKD_ROCKS_WHY_MAX] = "";
    bool is_read;
    if (request->is_list)
        is_read = tkd__read_list(rocks, &request->range, &request->answer, why);
    else
        is_read = read_job(rocks, &request->question, &request->answer, why);
    if (!is_read)
        tkd__rocks_fail(rocks, why);
}

void *tkd__read_run(void *store)
{
    struct rocks_store *rocks = store;
    struct request *request;
    pthread_mutex_lock(&rocks->lock);
    while ((request = next_request(rocks)) != NULL) {
        pthread_mutex_unlock(&rocks->lock);
        answer(rocks, request);
        pthread_mutex_lock(&rocks->lock);
        queue_push(&rocks->replies, request);
        if (rocks->config.wake != NULL)
            rocks->config.wake(rocks->config.wake_context);
    }
    pthread_mutex_unlock(&rocks->lock);
    return NULL;
}
