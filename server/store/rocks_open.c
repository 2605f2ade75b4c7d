/*
 * store/rocks_open.c - opening and closing a RocksDB database, and its options.
 *
 * What the options are for:
 *   - bodies of 1 KiB of 10 million jobs must not need memory: indexes and
 *     filters are partitioned, and they and the blocks share one cache;
 *   - one limit for the write buffers and one for the log, over all families;
 *   - recovery of the log ends at the first damaged record (mode 2): the others
 *     refuse the torn tail that a power cut leaves, or skip records.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rocks_private.h"

enum {
    POINT_IN_TIME = 2, /* a recovery mode */
    WARNINGS = 2,      /* a level of RocksDB's own log */
    FILTER_BITS = 10,
    FILES_MAX = 512, /* that are open */
    JOBS_MAX = 2,    /* flushes and compactions at once */
};

#define MIB (UINT64_C(1) << 20)
#define CACHE_BYTES (32 * MIB)
#define BUFFER_BYTES (32 * MIB) /* of all families */
#define LOG_BYTES (128 * MIB)
#define FILE_BYTES (16 * MIB)
#define BLOCK_BYTES (UINT64_C(8) << 10)

static const char *const names[FAMILY_COUNT] = {
    "default", "job",  "due",  "tubedue", "buried",
    "body",    "tube", "meta", "name",
};

void tkd__explain(char *why, const char *directory, char *error)
{
    snprintf(why, TKD_ROCKS_WHY_MAX, "%s: %s", directory, error);
    for (char *at = why; *at != '\0'; at++)
        if (*at == '\n')
            *at = ' ';
    rocksdb_free(error);
}

static rocksdb_block_based_table_options_t *table_options(struct rocks_db *db)
{
    rocksdb_block_based_table_options_t *table =
        rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_block_cache(table, db->cache);
    rocksdb_block_based_options_set_block_size(table, BLOCK_BYTES);
    rocksdb_block_based_options_set_filter_policy(
        table, rocksdb_filterpolicy_create_bloom_full(FILTER_BITS));
    rocksdb_block_based_options_set_index_type(
        table, rocksdb_block_based_table_index_type_two_level_index_search);
    rocksdb_block_based_options_set_partition_filters(table, 1);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
    rocksdb_block_based_options_set_pin_top_level_index_and_filter(table, 1);
    rocksdb_block_based_options_set_format_version(table, 5);
    return table;
}

static rocksdb_options_t *make_options(struct rocks_db *db)
{
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(options, 1);
    rocksdb_options_set_create_missing_column_families(options, 1);
    rocksdb_options_set_paranoid_checks(options, 1);
    rocksdb_options_set_wal_recovery_mode(options, POINT_IN_TIME);
    rocksdb_options_set_max_total_wal_size(options, LOG_BYTES);
    rocksdb_options_set_db_write_buffer_size(options, BUFFER_BYTES);
    rocksdb_options_set_write_buffer_size(options, BUFFER_BYTES);
    rocksdb_options_set_target_file_size_base(options, FILE_BYTES);
    rocksdb_options_set_max_bytes_for_level_base(options, 4 * FILE_BYTES);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 1);
    rocksdb_options_set_compression(options, rocksdb_lz4_compression);
    rocksdb_options_set_max_open_files(options, FILES_MAX);
    rocksdb_options_set_max_background_jobs(options, JOBS_MAX);
    rocksdb_options_set_bytes_per_sync(options, MIB);
    rocksdb_options_set_info_log_level(options, WARNINGS);
    rocksdb_options_set_keep_log_file_num(options, 2);
    rocksdb_options_set_max_log_file_size(options, MIB);
    rocksdb_options_set_stats_dump_period_sec(options, 0);
    rocksdb_options_set_stats_persist_period_sec(options, 0);
    rocksdb_options_set_skip_stats_update_on_db_open(options, 1);
    rocksdb_block_based_table_options_t *table = table_options(db);
    rocksdb_options_set_block_based_table_factory(options, table);
    rocksdb_block_based_options_destroy(table);
    return options;
}

/* Make a directory durable in its parent. */
static int sync_parent(const char *directory)
{
    char parent[4096];
    size_t length = strlen(directory);
    while (length > 1 && directory[length - 1] == '/')
        length--;
    if (length >= sizeof parent)
        return -ENAMETOOLONG;
    memcpy(parent, directory, length);
    parent[length] = '\0';
    char *slash = strrchr(parent, '/');
    if (slash == NULL)
        strcpy(parent, ".");
    else if (slash == parent)
        parent[1] = '\0';
    else
        *slash = '\0';
    int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int error = fsync(fd) == 0 ? 0 : -errno;
    close(fd);
    return error;
}

static int prepare_directory(const char *directory, char *why)
{
    if (mkdir(directory, 0700) != 0 && errno != EEXIST) {
        int error = errno;
        snprintf(why, TKD_ROCKS_WHY_MAX,
                 "%s: cannot make the directory: %s; make it, or name another",
                 directory, strerror(error));
        return error == EROFS || error == EACCES ? -EROFS : -error;
    }
    /* A process that died here may have made the directory: sync always. */
    int error = sync_parent(directory);
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_writable = fd >= 0 && access(directory, R_OK | W_OK | X_OK) == 0;
    if (error == 0 && !is_writable)
        error = errno == ENOTDIR ? -ENOTDIR : -EROFS;
    if (fd >= 0)
        close(fd);
    if (error != 0)
        snprintf(why, TKD_ROCKS_WHY_MAX,
                 "%s: cannot write in the directory: %s; change its owner or "
                 "mode, or name another",
                 directory, strerror(error == -EROFS ? EACCES : -error));
    return error;
}

/* Turn an error of opening into an errno and a line with a remedy. */
static int refuse(const char *directory, char *error, char *why)
{
    int number = -EIO;
    char text[TKD_ROCKS_WHY_MAX];
    tkd__explain(text, directory, error);
    const char *remedy = "check the disk";
    if (strstr(text, "/LOCK") != NULL) {
        number = strstr(text, "ermission") != NULL ? -EROFS : -EBUSY;
        remedy = "another process uses this store; stop it, or name another "
                 "directory";
    } else if (strstr(text, "Corruption") != NULL ||
               strstr(text, "No such file") != NULL ||
               strstr(text, "Invalid argument") != NULL ||
               strstr(text, "not opened") != NULL) {
        number = -EBADMSG;
        remedy = "the store is damaged; restore a backup";
    } else if (strstr(text, "ermission denied") != NULL ||
               strstr(text, "Read-only") != NULL) {
        number = -EROFS;
        remedy = "change the owner or the mode of that file";
    } else if (strstr(text, "No space") != NULL) {
        remedy = "make room on that disk";
    }
    snprintf(why, TKD_ROCKS_WHY_MAX, "%.380s; %s", text, remedy);
    return number;
}

/* Compare the format version of the store with ours, or write ours to a new
 * store. */
static int settle_format(struct rocks_db *db, const char *directory,
                         bool is_read_only, char *why)
{
    static const char key[] = "format";
    char *error = NULL;
    size_t size = 0;
    rocksdb_readoptions_t *reads = rocksdb_readoptions_create();
    char *value = rocksdb_get_cf(db->db, reads, db->families[FAMILY_DEFAULT],
                                 key, sizeof key - 1, &size, &error);
    rocksdb_readoptions_destroy(reads);
    if (error != NULL)
        return refuse(directory, error, why);
    if (value != NULL) {
        uint32_t format = size == 4 ? tkd__read_u32(value) : UINT32_MAX;
        rocksdb_free(value);
        if (format <= FORMAT)
            return 0;
        snprintf(why, TKD_ROCKS_WHY_MAX,
                 "%s: a newer version of tickwheeld has written this store "
                 "(format %u, this one knows %d); run that version",
                 directory, (unsigned)format, FORMAT);
        return -EPROTO;
    }
    if (is_read_only)
        return 0;
    struct key format = tkd__key_row(FORMAT);
    rocksdb_writeoptions_t *writes = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(writes, 1);
    rocksdb_put_cf(db->db, writes, db->families[FAMILY_DEFAULT], key,
                   sizeof key - 1, format.bytes, format.size, &error);
    rocksdb_writeoptions_destroy(writes);
    return error == NULL ? 0 : refuse(directory, error, why);
}

static int open_families(struct rocks_db *db, const char *directory,
                         bool is_read_only, char *why)
{
    char *error = NULL;
    const rocksdb_options_t *options[FAMILY_COUNT];
    for (int i = 0; i < FAMILY_COUNT; i++)
        options[i] = db->options[i];
    if (is_read_only)
        db->db = rocksdb_open_for_read_only_column_families(
            db->options[0], directory, FAMILY_COUNT, names, options,
            db->families, 0, &error);
    else
        db->db = rocksdb_open_column_families(db->options[0], directory,
                                              FAMILY_COUNT, names, options,
                                              db->families, &error);
    if (error != NULL) {
        db->db = NULL;
        return refuse(directory, error, why);
    }
    return settle_format(db, directory, is_read_only, why);
}

int tkd__db_open(struct rocks_db *db, const char *directory, bool is_read_only,
                 char *why)
{
    memset(db, 0, sizeof *db);
    int error = is_read_only ? 0 : prepare_directory(directory, why);
    if (error != 0)
        return error;
    db->cache = rocksdb_cache_create_lru(CACHE_BYTES);
    for (int i = 0; i < FAMILY_COUNT; i++)
        db->options[i] = make_options(db);
    error = open_families(db, directory, is_read_only, why);
    if (error != 0)
        tkd__db_close(db);
    return error;
}

void tkd__db_close(struct rocks_db *db)
{
    for (int i = 0; i < FAMILY_COUNT; i++)
        if (db->db != NULL)
            rocksdb_column_family_handle_destroy(db->families[i]);
    if (db->db != NULL)
        rocksdb_close(db->db);
    for (int i = 0; i < FAMILY_COUNT; i++)
        if (db->options[i] != NULL)
            rocksdb_options_destroy(db->options[i]);
    if (db->cache != NULL)
        rocksdb_cache_destroy(db->cache);
    memset(db, 0, sizeof *db);
}
