/*
 * engine/rows.c - facts besides jobs that the store keeps: tubes, the ids that
 * were given out, and the time.
 *
 * Numbers in rows are little-endian:
 *
 *     tube number      jobs in order of due time, buried jobs, jobs so far: 8
 *                      bytes each; then the name
 *     META_TIME        the server time; then the bytes that the caller of
 *                      tkd_engine_open() has given
 *     META_IDS         no id from this one on was given out
 *     META_TUBES       the largest number of a tube
 *
 * Each batch that changes a job of a tube has the tube's row as it is after the
 * batch.  So counters and jobs always agree.
 *
 * Ids are reserved in blocks.  The row goes into the same batch as the first
 * job of the block or an earlier one, and that batch is synced.  So a reply
 * never shows an id that could be given out again.
 */
#include <string.h>

#include "private.h"

enum { META_TIME = 1, META_IDS = 2, META_TUBES = 3 };
enum { ID_BLOCK = 10000, COUNTERS_SIZE = 24, BURIED_PAGE = 1000 };

_Static_assert(COUNTERS_SIZE + TKD_TUBE_MAX <= TKD_ROW_MAX, "each row fits");

static void write_number(unsigned char *at, uint64_t number)
{
    for (unsigned i = 0; i < 8; i++)
        at[i] = (unsigned char)(number >> 8 * i);
}

static uint64_t read_number(const unsigned char *at)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < 8; i++)
        number |= (uint64_t)at[i] << 8 * i;
    return number;
}

static void set_number(struct tkd_engine *engine, uint32_t key, uint64_t number,
                       bool must_sync)
{
    struct tkd_row row = {
        .table = TKD_TABLE_META, .key = key, .size = 8, .must_sync = must_sync};
    write_number(row.bytes, number);
    tkd_store_set(engine->store, &row);
}

static void set_time(struct tkd_engine *engine)
{
    struct tkd_row row = {.table = TKD_TABLE_META, .key = META_TIME};
    write_number(row.bytes, engine->now_ns);
    memcpy(row.bytes + 8, engine->boot, TKD_BOOT_SIZE);
    row.size = 8 + TKD_BOOT_SIZE;
    tkd_store_set(engine->store, &row);
    engine->time_saved_ns = engine->now_ns;
}

static void set_tube(struct tkd_engine *engine, struct tube *tube)
{
    struct tkd_row row = {.table = TKD_TABLE_TUBE, .key = tube->number};
    write_number(row.bytes, (uint64_t)tube->in.ready + tube->in.reserved +
                                tube->in.delayed + tube->far);
    write_number(row.bytes + 8, tube->in.buried);
    write_number(row.bytes + 16, tube->total_jobs);
    memcpy(row.bytes + COUNTERS_SIZE, tube->name, tube->name_length);
    row.size = (uint16_t)(COUNTERS_SIZE + tube->name_length);
    tkd_store_set(engine->store, &row);
    tube->is_stored = true;
}

bool tkd__rows_write(struct tkd_engine *engine)
{
    if (!tkd_store_reserve(engine->store, 0))
        return false;
    while (!link_is_alone(&engine->changed_tubes)) {
        struct tube *tube =
            TKW_CONTAINER(engine->changed_tubes.next, struct tube, changed);
        link_remove(&tube->changed);
        set_tube(engine, tube);
    }
    if (engine->are_ids_new)
        set_number(engine, META_IDS, engine->id_ceiling, true);
    if (engine->are_tubes_new)
        set_number(engine, META_TUBES, engine->tube_number, false);
    engine->are_ids_new = false;
    engine->are_tubes_new = false;
    set_time(engine);
    return true;
}

void tkd__rows_remove_tube(struct tkd_engine *engine, const struct tube *tube)
{
    /* Without memory the row stays.  It has no jobs, and the next start removes
     * it. */
    if (!tube->is_stored || !tkd_store_reserve(engine->store, 1))
        return;
    struct tkd_row row = {.table = TKD_TABLE_TUBE, .key = tube->number};
    tkd_store_set(engine->store, &row);
    engine->is_batch_dirty = true;
}

uint64_t tkd__next_id(struct tkd_engine *engine)
{
    uint64_t id = engine->next_id++;
    if (!engine->store->is_volatile && id >= engine->id_ceiling) {
        engine->id_ceiling = id + ID_BLOCK;
        engine->are_ids_new = true;
        engine->is_batch_dirty = true;
    }
    return id;
}

static bool read_meta(struct tkd_store *store, uint32_t key,
                      struct tkd_row *row)
{
    *row = (struct tkd_row){.table = TKD_TABLE_META, .key = key};
    return tkd_store_find_row(store, row) && row->key == key && row->size >= 8;
}

bool tkd_engine_stored_time(struct tkd_store *store, uint64_t *time_ns,
                            unsigned char boot[TKD_BOOT_SIZE])
{
    struct tkd_row row;
    if (!read_meta(store, META_TIME, &row) || row.size != 8 + TKD_BOOT_SIZE)
        return false;
    *time_ns = read_number(row.bytes);
    memcpy(boot, row.bytes + 8, TKD_BOOT_SIZE);
    return true;
}

static bool load_tube(struct tkd_engine *engine, const struct tkd_row *row)
{
    uint64_t far = read_number(row->bytes);
    uint64_t buried = read_number(row->bytes + 8);
    if (far > UINT32_MAX || buried > UINT32_MAX)
        return tkd__damaged(engine);
    if (far + buried == 0) {
        if (!tkd_store_reserve(engine->store, 1))
            return false;
        struct tkd_row gone = {.table = row->table, .key = row->key};
        tkd_store_set(engine->store, &gone);
        engine->is_batch_dirty = true;
        return true;
    }
    struct tube *tube = tkd__tube_load(engine, row->key,
                                       (const char *)row->bytes + COUNTERS_SIZE,
                                       (uint8_t)(row->size - COUNTERS_SIZE));
    if (tube == NULL)
        return false;
    tube->far = (uint32_t)far;
    tube->references += tube->far;
    tube->total_jobs = read_number(row->bytes + 16);
    engine->far += tube->far;
    return true;
}

/* Make the tubes that have jobs. */
static bool load_tubes(struct tkd_engine *engine)
{
    struct tkd_row row = {.table = TKD_TABLE_TUBE};
    while (tkd_store_find_row(engine->store, &row)) {
        if (row.size <= COUNTERS_SIZE ||
            row.size > COUNTERS_SIZE + TKD_TUBE_MAX)
            return tkd__damaged(engine);
        if (row.key > engine->tube_number)
            engine->tube_number = row.key;
        if (!load_tube(engine, &row))
            return false;
        row.key++;
    }
    return engine->store->failure == NULL;
}

/* File one page of buried jobs.  Returns false if that fails. */
static bool load_buried_page(struct tkd_engine *engine, struct tkd_range *range,
                             bool *is_at_end)
{
    struct tkd_answer answer;
    if (!tkd_store_read_list(engine->store, range, &answer))
        return false;
    const struct tkd_item *items = (const void *)answer.body->bytes;
    size_t count = answer.body->size / sizeof *items;
    size_t done = 0;
    while (done < count && tkd__file_item(engine, &items[done])) {
        const struct tkd_place *place = &items[done].place;
        range->from =
            (struct tkd_position){place->at, items[done].id + 1, place->tube};
        if (place->at >= engine->next_buried)
            engine->next_buried = place->at + 1;
        done++;
    }
    *is_at_end = answer.is_at_end;
    tkd_body_release(&engine->allocator, answer.body);
    return done == count;
}

static bool load_buried(struct tkd_engine *engine)
{
    struct tkd_range range = {.list = TKD_LIST_BURIED, .most = BURIED_PAGE};
    bool is_at_end = false;
    while (!is_at_end)
        if (!load_buried_page(engine, &range, &is_at_end))
            return false;
    return true;
}

bool tkd__rows_load(struct tkd_engine *engine)
{
    struct tkd_row row;
    if (engine->store->is_volatile)
        return true;
    if (read_meta(engine->store, META_IDS, &row)) {
        engine->next_id = read_number(row.bytes);
        engine->id_ceiling = engine->next_id;
    }
    if (read_meta(engine->store, META_TUBES, &row))
        engine->tube_number = (uint32_t)read_number(row.bytes);
    return load_tubes(engine) && load_buried(engine);
}
