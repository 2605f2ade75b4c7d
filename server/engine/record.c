/*
 * engine/record.c - a job as the bytes that the store keeps.
 *
 * Format version 1; all numbers are little-endian:
 *
 *     bytes  0   1  version
 *            1   1  1 if the job is buried, else 0
 *            2   2  reserved, 0
 *            4   4  number of the tube
 *            8  40  created, due, home, delay, ttr: 8 bytes each
 *           48  28  pri, size, reserves, timeouts, releases, buries, kicks: 4
 *                   bytes each
 *
 * `due` of a buried job is its number in the order.
 */
#include <string.h>

#include "private.h"

enum { VERSION = 1, WIDE_AT = 8, NARROW_AT = 48, SIZE = 76 };
enum { WIDE_COUNT = 5, NARROW_COUNT = 7 };

_Static_assert(NARROW_AT == WIDE_AT + 8 * WIDE_COUNT, "no gap");
_Static_assert(SIZE == NARROW_AT + 4 * NARROW_COUNT, "no gap");
_Static_assert(SIZE <= (int)TKD_RECORD_MAX, "each record fits");

static void write_number(unsigned char *at, uint64_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (unsigned char)(number >> 8 * i);
}

static uint64_t read_number(const unsigned char *at, unsigned bytes)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < bytes; i++)
        number |= (uint64_t)at[i] << 8 * i;
    return number;
}

size_t tkd__record_encode(const struct job *job,
                          unsigned char record[TKD_RECORD_MAX])
{
    const uint64_t wide[WIDE_COUNT] = {job->created_ns, job->stored.at,
                                       job->home_ns, job->delay_ns,
                                       job->ttr_ns};
    const uint32_t narrow[NARROW_COUNT] = {
        job->pri,      job->size,   job->reserves, job->timeouts,
        job->releases, job->buries, job->kicks};
    memset(record, 0, WIDE_AT);
    record[0] = VERSION;
    record[1] = job->stored.order == TKD_ORDER_BURIED;
    write_number(record + 4, job->tube->number, 4);
    for (unsigned i = 0; i < WIDE_COUNT; i++)
        write_number(record + WIDE_AT + 8 * i, wide[i], 8);
    for (unsigned i = 0; i < NARROW_COUNT; i++)
        write_number(record + NARROW_AT + 4 * i, narrow[i], 4);
    return SIZE;
}

bool tkd__record_decode(struct record *record, const unsigned char *bytes,
                        size_t size)
{
    if (size != SIZE || bytes[0] != VERSION || bytes[1] > 1)
        return false;
    uint64_t *const wide[WIDE_COUNT] = {&record->created_ns, &record->due_ns,
                                        &record->home_ns, &record->delay_ns,
                                        &record->ttr_ns};
    uint32_t *const narrow[NARROW_COUNT] = {
        &record->pri,      &record->size,     &record->reserves,
        &record->timeouts, &record->releases, &record->buries,
        &record->kicks};
    for (unsigned i = 0; i < WIDE_COUNT; i++)
        *wide[i] = read_number(bytes + WIDE_AT + 8 * i, 8);
    for (unsigned i = 0; i < NARROW_COUNT; i++)
        *narrow[i] = (uint32_t)read_number(bytes + NARROW_AT + 4 * i, 4);
    record->is_buried = bytes[1] == 1;
    record->tube = (uint32_t)read_number(bytes + 4, 4);
    return true;
}
