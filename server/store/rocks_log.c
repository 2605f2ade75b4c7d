/*
 * store/rocks_log.c - the scan of RocksDB's log before it is opened.
 *
 * RocksDB's recovery ends at the first bad record, also if good ones follow it.
 * That is right after a power cut, which loses the end of the log.  But a bit
 * that flips in the middle would make RocksDB drop durable batches without a
 * word.  So this scan refuses a log in which a complete batch follows a bad
 * record.
 *
 * A log file consists of blocks of 32 KiB.  A record never crosses a block:
 *
 *     bytes 0  4  CRC-32C of the type and the data, rotated and offset
 *           4  2  length of the data, little-endian
 *           6  1  type: full, or the first, a middle or the last part
 *           7     data
 *
 * A batch is one full record, or a first, some middle and a last one.  Space
 * that was allocated and not written is zero, which is no record.
 *
 * Damage in the last batch cannot be told from a power cut.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rocks_private.h"

enum { BLOCK = 32768, HEADER = 7, FULL = 1, FIRST = 2, MIDDLE = 3, LAST = 4 };

/* Where a scan is, over all files. */
struct scan {
    uint32_t table[256]; /* of the checksum */
    bool has_damage;     /* a bad record was met */
    bool is_in_batch;    /* a first part was met, and nothing bad since */
    bool has_gap;        /* a complete batch follows a bad record */
    char file[304];      /* of the bad record */
    unsigned long long offset;
    unsigned char block[BLOCK];
};

static void fill_table(struct scan *scan)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; bit++)
            value = value >> 1 ^ (value & 1 ? UINT32_C(0x82f63b78) : 0);
        scan->table[i] = value;
    }
}

static uint32_t checksum(const struct scan *scan, const unsigned char *bytes,
                         size_t size)
{
    uint32_t value = UINT32_MAX;
    for (size_t i = 0; i < size; i++)
        value = value >> 8 ^ scan->table[(value ^ bytes[i]) & 255];
    value = ~value;
    return (value >> 15 | value << 17) + UINT32_C(0xa282ead8);
}

static uint32_t read_little(const unsigned char *bytes, unsigned count)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < count; i++)
        value |= (uint32_t)bytes[i] << 8 * i;
    return value;
}

static void note_damage(struct scan *scan, const char *file,
                        unsigned long long offset)
{
    scan->is_in_batch = false;
    if (scan->has_damage)
        return;
    scan->has_damage = true;
    scan->offset = offset;
    snprintf(scan->file, sizeof scan->file, "%.300s", file);
}

static void note_record(struct scan *scan, unsigned type)
{
    bool is_complete = type == FULL || (type == LAST && scan->is_in_batch);
    if (is_complete && scan->has_damage)
        scan->has_gap = true;
    if (type == FIRST)
        scan->is_in_batch = true;
    else if (type != MIDDLE)
        scan->is_in_batch = false;
}

/* Return the length of the record at `at`, or -1 if it is none. */
static int length_at(const struct scan *scan, size_t at, size_t size)
{
    const unsigned char *record = scan->block + at;
    uint32_t length = read_little(record + 4, 2);
    if (record[6] < FULL || record[6] > LAST || at + HEADER + length > size ||
        read_little(record, 4) != checksum(scan, record + 6, length + 1))
        return -1;
    return (int)length;
}

/* Scan the records of a block.  Behind a bad one the next good one is searched
 * byte by byte, because the length of the bad one may be wrong. */
static void scan_block(struct scan *scan, const char *file,
                       unsigned long long offset, size_t size)
{
    size_t at = 0;
    while (at + HEADER <= size) {
        int length = length_at(scan, at, size);
        if (length < 0) {
            note_damage(scan, file, offset + at);
            at++;
            continue;
        }
        note_record(scan, scan->block[at + 6]);
        at += HEADER + (size_t)length;
    }
    if (size < BLOCK && at < size)
        note_damage(scan, file, offset + at);
}

static int scan_file(struct scan *scan, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return -errno;
    unsigned long long offset = 0;
    size_t size;
    while ((size = fread(scan->block, 1, BLOCK, file)) > 0) {
        scan_block(scan, path, offset, size);
        offset += size;
    }
    int error = ferror(file) ? -EIO : 0;
    fclose(file);
    /* A batch does not go on in the next file. */
    scan->is_in_batch = false;
    return error;
}

static int is_log(const struct dirent *entry)
{
    const char *name = entry->d_name;
    size_t digits = strspn(name, "0123456789");
    return digits > 0 && strcmp(name + digits, ".log") == 0;
}

/* Compare by number: the names have six digits at least. */
static int compare(const struct dirent **a, const struct dirent **b)
{
    size_t a_size = strlen((*a)->d_name), b_size = strlen((*b)->d_name);
    if (a_size != b_size)
        return a_size < b_size ? -1 : 1;
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int scan_files(struct scan *scan, const char *directory,
                      struct dirent **entries, int count, char *why)
{
    char path[4096];
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name);
        int error = scan_file(scan, path);
        if (error == 0)
            continue;
        snprintf(why, TKD_ROCKS_WHY_MAX, "%.400s: cannot read the log: %s",
                 path, strerror(-error));
        return error == -EACCES ? -EROFS : error;
    }
    return 0;
}

int tkd__log_scan(const char *directory, bool allows_gaps, char *why)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, is_log, compare);
    if (count < 0)
        return 0; /* opening will make the directory or explain */
    struct scan scan = {0};
    fill_table(&scan);
    int error = scan_files(&scan, directory, entries, count, why);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    if (error != 0 || !scan.has_gap || allows_gaps)
        return error;
    snprintf(why, TKD_ROCKS_WHY_MAX,
             "%s: the log is damaged at byte %llu, and durable batches follow; "
             "restore a backup",
             scan.file, scan.offset);
    return -EBADMSG;
}
