/*
 * store/rocks_check.c - verifies a store that no process uses.
 *
 * Each job must have its record, its body, and its row in `tubedue`.  Then the
 * other families must have no more rows than that.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rocks_private.h"

/* Jobs that were found in `job`. */
struct census {
    uint64_t due;
    uint64_t buried;
};

static rocksdb_iterator_t *begin(struct rocks_db *db,
                                 const rocksdb_readoptions_t *reads,
                                 enum family family)
{
    rocksdb_iterator_t *iterator =
        rocksdb_create_iterator_cf(db->db, reads, db->families[family]);
    rocksdb_iter_seek_to_first(iterator);
    return iterator;
}

/* Destroy an iterator.  Returns false and writes a line if it has failed. */
static bool end(rocksdb_iterator_t *iterator, const char *directory, char *why)
{
    char *error = NULL;
    rocksdb_iter_get_error(iterator, &error);
    rocksdb_iter_destroy(iterator);
    if (error != NULL)
        tkd__explain(why, directory, error);
    return error == NULL;
}

static bool has(struct rocks_db *db, const rocksdb_readoptions_t *reads,
                enum family family, const struct key *key)
{
    char *error = NULL;
    rocksdb_pinnableslice_t *slice = rocksdb_get_pinned_cf(
        db->db, reads, db->families[family], key->bytes, key->size, &error);
    bool is_found = slice != NULL && error == NULL;
    if (error != NULL)
        rocksdb_free(error);
    rocksdb_pinnableslice_destroy(slice);
    return is_found;
}

/* Return what a job lacks, or NULL. */
static const char *fault_of(struct rocks_db *db,
                            const rocksdb_readoptions_t *reads, uint64_t id,
                            const struct locator *locator)
{
    struct key key;
    const struct tkd_place *place = &locator->place;
    enum family family = tkd__record_key(place, id, &key);
    if (!has(db, reads, family, &key))
        return "has no record";
    key = tkd__key_body(locator->home, id);
    if (!has(db, reads, FAMILY_BODY, &key))
        return "has no body";
    key = tkd__key_in_tube(place->tube, place->at, id);
    if (family == FAMILY_DUE && !has(db, reads, FAMILY_TUBE_DUE, &key))
        return "is not in its tube";
    key = tkd__key_row(place->tube);
    if (!has(db, reads, FAMILY_TUBE, &key))
        return "is in a tube without a name";
    return NULL;
}

static bool check_jobs(struct rocks_db *db, const rocksdb_readoptions_t *reads,
                       const char *directory, struct census *census, char *why)
{
    const char *fault = NULL;
    uint64_t id = 0;
    rocksdb_iterator_t *iterator = begin(db, reads, FAMILY_JOB);
    for (; fault == NULL && rocksdb_iter_valid(iterator);
         rocksdb_iter_next(iterator)) {
        size_t key_size, size;
        const char *key = rocksdb_iter_key(iterator, &key_size);
        const char *value = rocksdb_iter_value(iterator, &size);
        struct locator locator = {0};
        id = key_size == 8 ? tkd__read_u64(key) : 0;
        if (!tkd__locator_decode(&locator, value, size))
            fault = "is not readable";
        else
            fault = fault_of(db, reads, id, &locator);
        census->due += locator.place.order == TKD_ORDER_DUE;
        census->buried += locator.place.order == TKD_ORDER_BURIED;
    }
    if (!end(iterator, directory, why))
        return false;
    if (fault != NULL)
        snprintf(why, TKD_ROCKS_WHY_MAX, "%s: job %" PRIu64 " %s", directory,
                 id, fault);
    return fault == NULL;
}

static bool check_count(struct rocks_db *db, const rocksdb_readoptions_t *reads,
                        const char *directory, enum family family,
                        uint64_t expected, char *why)
{
    uint64_t count = 0;
    rocksdb_iterator_t *iterator = begin(db, reads, family);
    for (; rocksdb_iter_valid(iterator); rocksdb_iter_next(iterator))
        count++;
    if (!end(iterator, directory, why))
        return false;
    if (count != expected)
        snprintf(why, TKD_ROCKS_WHY_MAX,
                 "%s: family %d has %" PRIu64
                 " rows, but the jobs need %" PRIu64,
                 directory, (int)family, count, expected);
    return count == expected;
}

static bool check(struct rocks_db *db, const rocksdb_readoptions_t *reads,
                  const char *directory, uint64_t *jobs, char *why)
{
    struct census census = {0};
    if (!check_jobs(db, reads, directory, &census, why))
        return false;
    *jobs = census.due + census.buried;
    return check_count(db, reads, directory, FAMILY_DUE, census.due, why) &&
           check_count(db, reads, directory, FAMILY_TUBE_DUE, census.due,
                       why) &&
           check_count(db, reads, directory, FAMILY_BURIED, census.buried,
                       why) &&
           check_count(db, reads, directory, FAMILY_BODY, *jobs, why);
}

bool tkd_rocks_check(const char *directory, uint64_t *jobs, char *why)
{
    struct rocks_db db;
    why[0] = '\0';
    if (tkd__log_scan(directory, false, why) != 0 ||
        tkd__db_open(&db, directory, true, why) != 0)
        return false;
    rocksdb_readoptions_t *reads = rocksdb_readoptions_create();
    rocksdb_readoptions_set_fill_cache(reads, 0);
    rocksdb_readoptions_set_verify_checksums(reads, 1);
    bool is_sound = check(&db, reads, directory, jobs, why);
    rocksdb_readoptions_destroy(reads);
    tkd__db_close(&db);
    return is_sound;
}
