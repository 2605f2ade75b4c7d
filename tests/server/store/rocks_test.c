/*
 * What is RocksDB's own: refusing stores, the scan of the log, and the check.
 */
#define _GNU_SOURCE

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <errno.h>
#include <rocksdb/c.h>

#include "shelf.h"

/* Open a store that must be refused: with `error`, and a line that has both
 * words. */
static void assert_refused(const struct tkd_rocks_config *config, int error,
                           const char *word, const char *remedy)
{
    struct tkd_store *store;
    char why[TKD_ROCKS_WHY_MAX] = "";
    assert_int_equal(tkd_rocks_open(&store, config, why), error);
    if (strstr(why, word) == NULL || strstr(why, remedy) == NULL ||
        strchr(why, '\n') != NULL)
        fail_msg("the line does not name '%s' and '%s': %s", word, remedy, why);
}

static void a_store_in_use_is_refused(void **state)
{
    struct shelf *shelf = *state;
    assert_refused(&shelf->config, -EBUSY, shelf->directory,
                   "another process uses this store");
}

static void a_newer_format_is_refused(void **state)
{
    struct shelf *shelf = *state;
    tkd_store_close(shelf->store);
    char *error = NULL;
    static const char *const names[] = {"default", "job",    "due",
                                        "tubedue", "buried", "body",
                                        "tube",    "meta",   "name"};
    enum { COUNT = sizeof names / sizeof *names };
    const rocksdb_options_t *options[COUNT];
    rocksdb_column_family_handle_t *families[COUNT];
    rocksdb_options_t *option = rocksdb_options_create();
    for (int i = 0; i < COUNT; i++)
        options[i] = option;
    rocksdb_t *db = rocksdb_open_column_families(
        option, shelf->directory, COUNT, names, options, families, &error);
    assert_null(error);
    rocksdb_writeoptions_t *writes = rocksdb_writeoptions_create();
    rocksdb_put(db, writes, "format", 6, "\0\0\0\2", 4, &error);
    assert_null(error);
    rocksdb_writeoptions_destroy(writes);
    for (int i = 0; i < COUNT; i++)
        rocksdb_column_family_handle_destroy(families[i]);
    rocksdb_close(db);
    rocksdb_options_destroy(option);
    assert_refused(&shelf->config, -EPROTO, shelf->directory,
                   "a newer version");
    shelf->store = NULL;
}

static void a_directory_that_cannot_be_written_is_refused(void **state)
{
    struct shelf *shelf = *state;
    if (geteuid() == 0)
        skip();
    tkd_store_close(shelf->store);
    shelf->store = NULL;
    chmod(shelf->directory, 0500);
    assert_refused(&shelf->config, -EROFS, shelf->directory, "owner or mode");
}

static void a_missing_parent_is_refused(void **state)
{
    struct shelf *shelf = *state;
    char path[DIRECTORY_MAX + 16];
    snprintf(path, sizeof path, "%s/no/store", shelf->directory);
    struct tkd_rocks_config config = shelf->config;
    config.directory = path;
    assert_refused(&config, -ENOENT, path, "make it");
}

static void flip_a_bit(const char *path, long offset)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, offset, SEEK_SET), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, offset, SEEK_SET), 0);
    fputc(byte ^ 4, file);
    assert_int_equal(fclose(file), 0);
}

/* Copy the store as it is after `jobs` batches: that is what a crash leaves. */
static void crash(struct shelf *shelf, int jobs, char *copy, char *log,
                  size_t size)
{
    for (int i = 1; i <= jobs; i++) {
        shelf_put(shelf, (uint64_t)i, due(1, (uint64_t)i), "some record");
        shelf_commit(shelf);
    }
    snprintf(copy, DIRECTORY_MAX + 16, "%s-copy", shelf->directory);
    directory_copy(shelf->directory, copy);
    directory_newest(copy, ".log", log, size);
}

static void a_bit_that_flips_before_durable_batches_is_refused(void **state)
{
    struct shelf *shelf = *state;
    char copy[DIRECTORY_MAX + 16], log[512];
    crash(shelf, 40, copy, log, sizeof log);
    flip_a_bit(log, 1000);
    struct tkd_rocks_config config = shelf->config;
    config.directory = copy;
    assert_refused(&config, -EBADMSG, log, "damaged at byte");
    directory_remove(copy);
}

/* Without a sync for each batch, a power cut can leave such a log. */
static void without_syncs_only_a_strict_store_refuses_it(void **state)
{
    struct shelf *shelf = *state;
    char copy[DIRECTORY_MAX + 16], log[512], why[TKD_ROCKS_WHY_MAX];
    crash(shelf, 40, copy, log, sizeof log);
    flip_a_bit(log, 1000);
    struct tkd_rocks_config config = shelf->config;
    config.directory = copy;
    config.sync_ms = 50;
    config.is_strict = true;
    assert_refused(&config, -EBADMSG, log, "damaged at byte");
    config.is_strict = false;
    struct tkd_store *store;
    assert_int_equal(tkd_rocks_open(&store, &config, why), 0);
    tkd_store_close(store);
    directory_remove(copy);
}

/* Every length that a power cut can leave keeps a prefix of the batches. */
static void a_log_that_is_cut_off_keeps_what_was_before(void **state)
{
    struct shelf *shelf = *state;
    char copy[DIRECTORY_MAX + 16], log[512], why[TKD_ROCKS_WHY_MAX];
    crash(shelf, 12, copy, log, sizeof log);
    struct stat status;
    struct tkd_rocks_config config = shelf->config;
    struct tkd_store *open_store = shelf->store;
    config.directory = copy;
    for (int cut = 0; cut < 8; cut++) {
        assert_int_equal(stat(log, &status), 0);
        assert_int_equal(truncate(log, status.st_size * 9 / 10), 0);
        char again[DIRECTORY_MAX + 32];
        snprintf(again, sizeof again, "%s-again", copy);
        directory_copy(copy, again);
        config.directory = again;
        if (tkd_rocks_open(&shelf->store, &config, why) != 0)
            fail_msg("%s", why);
        bool has_ended = false;
        for (uint64_t id = 1; id <= 12; id++) {
            struct tkd_answer answer = shelf_ask(shelf, id);
            assert_false(has_ended && answer.is_found);
            has_ended = has_ended || !answer.is_found;
            shelf_release(&answer);
        }
        tkd_store_close(shelf->store);
        directory_remove(again);
    }
    shelf->store = open_store;
    directory_remove(copy);
}

static void a_damaged_file_is_refused(void **state)
{
    struct shelf *shelf = *state;
    char path[512];
    shelf_put(shelf, 1, due(1, 1), "x");
    shelf_commit(shelf);
    tkd_store_close(shelf->store);
    shelf->store = NULL;
    directory_newest(shelf->directory, "CURRENT", path, sizeof path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs("nonsense\n", file);
    fclose(file);
    assert_refused(&shelf->config, -EBADMSG, shelf->directory,
                   "restore a backup");
}

static void the_check_counts_jobs_and_finds_one_without_a_tube(void **state)
{
    struct shelf *shelf = *state;
    char why[TKD_ROCKS_WHY_MAX];
    uint64_t jobs;
    shelf_set(shelf, TKD_TABLE_TUBE, 1, "tube");
    shelf_put(shelf, 1, due(1, 5), "x");
    shelf_put(shelf, 2, buried(1, 5), "x");
    shelf_commit(shelf);
    tkd_store_close(shelf->store);
    if (!tkd_rocks_check(shelf->directory, &jobs, why))
        fail_msg("%s", why);
    assert_int_equal(jobs, 2);
    char unused[TKD_ROCKS_WHY_MAX];
    assert_int_equal(tkd_rocks_open(&shelf->store, &shelf->config, unused), 0);
    shelf_put(shelf, 3, due(9, 5), "x");
    shelf_commit(shelf);
    tkd_store_close(shelf->store);
    shelf->store = NULL;
    assert_false(tkd_rocks_check(shelf->directory, &jobs, why));
    assert_non_null(strstr(why, "job 3 is in a tube without a name"));
}

/* Batches are written, and readable, before they are synced. */
static void a_store_that_syncs_later_answers_all_the_same(void **state)
{
    struct shelf *shelf = *state;
    for (int i = 0; i < 2; i++) {
        shelf->config.sync_ms = i == 0 ? 20 : -1;
        shelf_reopen(shelf);
        shelf_put(shelf, (uint64_t)i + 1, due(1, 1), "x");
        shelf_commit(shelf);
    }
    shelf_reopen(shelf);
    struct tkd_answer answer = shelf_ask(shelf, 1);
    assert_true(answer.is_found);
    shelf_release(&answer);
}

static void a_disk_with_little_space_has_no_room(void **state)
{
    struct shelf *shelf = *state;
    assert_true(tkd_store_has_room(shelf->store));
    shelf->config.disk_spare = UINT64_MAX;
    shelf_reopen(shelf);
    shelf_put(shelf, 1, due(1, 1), "x");
    shelf_commit(shelf);
    assert_false(tkd_store_has_room(shelf->store));
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, shelf_open, shelf_close)
    const struct CMUnitTest tests[] = {
        TEST(a_store_in_use_is_refused),
        TEST(a_newer_format_is_refused),
        TEST(a_directory_that_cannot_be_written_is_refused),
        TEST(a_missing_parent_is_refused),
        TEST(a_bit_that_flips_before_durable_batches_is_refused),
        TEST(without_syncs_only_a_strict_store_refuses_it),
        TEST(a_log_that_is_cut_off_keeps_what_was_before),
        TEST(a_damaged_file_is_refused),
        TEST(the_check_counts_jobs_and_finds_one_without_a_tube),
        TEST(a_store_that_syncs_later_answers_all_the_same),
        TEST(a_disk_with_little_space_has_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
