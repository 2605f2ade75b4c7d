/*
 * store/rocks_keys.c - keys and locators of the RocksDB store.
 */
#include <string.h>

#include "rocks_private.h"

static void add(struct key *key, uint64_t number, unsigned bytes)
{
    for (unsigned i = bytes; i-- > 0;)
        key->bytes[key->size++] = (char)(unsigned char)(number >> 8 * i);
}

struct key tkd__key_job(uint64_t id)
{
    struct key key = {0};
    add(&key, id, 8);
    return key;
}

struct key tkd__key_due(uint64_t at, uint64_t id)
{
    struct key key = {0};
    add(&key, at, 8);
    add(&key, id, 8);
    return key;
}

struct key tkd__key_body(uint64_t home, uint64_t id)
{
    return tkd__key_due(home, id);
}

struct key tkd__key_in_tube(uint32_t tube, uint64_t at, uint64_t id)
{
    struct key key = {0};
    add(&key, tube, 4);
    add(&key, at, 8);
    add(&key, id, 8);
    return key;
}

struct key tkd__key_row(uint32_t number)
{
    struct key key = {0};
    add(&key, number, 4);
    return key;
}

static uint64_t read_number(const char *bytes, unsigned count)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < count; i++)
        number = number << 8 | (unsigned char)bytes[i];
    return number;
}

uint32_t tkd__read_u32(const char *bytes)
{
    return (uint32_t)read_number(bytes, 4);
}

uint64_t tkd__read_u64(const char *bytes)
{
    return read_number(bytes, 8);
}

void tkd__locator_encode(const struct locator *locator,
                         char bytes[LOCATOR_SIZE])
{
    struct key tail =
        tkd__key_in_tube(locator->place.tube, locator->place.at, locator->home);
    bytes[0] = (char)locator->place.order;
    memcpy(bytes + 1, tail.bytes, tail.size);
}

bool tkd__locator_decode(struct locator *locator, const char *bytes,
                         size_t size)
{
    if (size != LOCATOR_SIZE ||
        (bytes[0] != TKD_ORDER_DUE && bytes[0] != TKD_ORDER_BURIED))
        return false;
    locator->place.order = (enum tkd_order)bytes[0];
    locator->place.tube = tkd__read_u32(bytes + 1);
    locator->place.at = tkd__read_u64(bytes + 5);
    locator->home = tkd__read_u64(bytes + 13);
    return true;
}

enum family tkd__record_key(const struct tkd_place *place, uint64_t id,
                            struct key *key)
{
    if (place->order == TKD_ORDER_BURIED) {
        *key = tkd__key_in_tube(place->tube, place->at, id);
        return FAMILY_BURIED;
    }
    *key = tkd__key_due(place->at, id);
    return FAMILY_DUE;
}
