/*
 * keys.h - numbers for names: 0, 1, 2 ... in the order they came up.
 *
 *     struct keys keys = {0};
 *     struct keys_name name = keys_name("one", 3);
 *     uint32_t number;
 *     int error = keys_number(&keys, &name, &number);
 *     ...
 *     keys_close(&keys);
 */
#ifndef SIM_KEYS_H
#define SIM_KEYS_H

#include <stddef.h>
#include <stdint.h>

enum { KEYS_LENGTH_MAX = 255 };

/* There is one number less than that, so that UINT32_MAX can mean none. */
#define KEYS_COUNT_MAX (UINT32_MAX - 1)

/* All zero is empty.  All fields are private but `count`. */
struct keys {
    uint32_t count;
    struct keys_slot *slots;
    size_t slot_count; /* a power of two, or 0 */
    char *texts;       /* of long keys: their length, then themselves */
    size_t texts_end, texts_room;
};

/* A name of up to KEYS_LENGTH_MAX bytes, which may be any, and its hash. */
struct keys_name {
    const char *at; /* the caller's */
    size_t length;
    uint64_t hash; /* private ... */
    uint64_t word; /* ... and all of it, if it is short */
};
struct keys_name keys_name(const char *at, size_t length);

/*
 * Find the number of a name, a new one if it is new.
 *
 * Returns 0, or with nothing changed:
 *   -ENOMEM     there is no memory;
 *   -EOVERFLOW  there are KEYS_COUNT_MAX names.
 */
int keys_number(struct keys *keys, const struct keys_name *name,
                uint32_t *number);
void keys_close(struct keys *keys);

/* Have the memory fetched that will be needed to find a name soon. */
void keys_prefetch(const struct keys *keys, const struct keys_name *name);

#endif
