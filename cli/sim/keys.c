/*
 * keys.c - a table of names, open addressing, linear probing.
 *
 * A short name is in its slot, a longer one in a heap of texts that the slot
 * points into: most names of a trace are short, and so cost one cache miss.
 *
 *     | mark | number | word |      a short name itself, or ...
 *                        |
 *                        `-> ... | a longer name |
 *
 * The mark is a part of the hash and the length, which tells most names apart
 * that meet in the table.
 */
#include "keys.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_LEAST = 1024, TEXTS_LEAST = 4096, SHORT = sizeof(uint64_t) };

struct keys_slot {
    uint32_t mark; /* 0: there is no name */
    uint32_t number;
    uint64_t word;
};

static uint64_t load_word(const char *at, size_t length)
{
    uint64_t word = 0;
    memcpy(&word, at, length);
    return word;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 32);
}

struct keys_name keys_name(const char *at, size_t length)
{
    assert(length <= KEYS_LENGTH_MAX);
    struct keys_name name = {at, length, length, 0};
    while (length > SHORT) {
        name.hash = mix(name.hash, load_word(at, SHORT));
        at += SHORT;
        length -= SHORT;
    }
    name.word = load_word(at, length);
    name.hash = mix(mix(name.hash, name.word), 0);
    return name;
}

/* The length in the lowest byte, hash above it, and never 0. */
static uint32_t mark_of(const struct keys_name *name)
{
    uint32_t high = (uint32_t)(name->hash >> 32) << 8;
    return high | (uint32_t)name->length | UINT32_C(1) << 31;
}

static bool is_same(const struct keys *keys, const struct keys_slot *slot,
                    const struct keys_name *name)
{
    if (slot->mark != mark_of(name))
        return false;
    if (name->length <= SHORT)
        return slot->word == name->word;
    return memcmp(keys->texts + slot->word, name->at, name->length) == 0;
}

/* The slot of a name, or the free one where it belongs. */
static struct keys_slot *find(const struct keys *keys,
                              const struct keys_name *name)
{
    size_t i = name->hash & (keys->slot_count - 1);
    while (keys->slots[i].mark != 0 && !is_same(keys, &keys->slots[i], name))
        i = (i + 1) & (keys->slot_count - 1);
    return &keys->slots[i];
}

static struct keys_name name_in(const struct keys *keys,
                                const struct keys_slot *slot)
{
    size_t length = slot->mark & KEYS_LENGTH_MAX;
    const char *at =
        length <= SHORT ? (const char *)&slot->word : keys->texts + slot->word;
    return keys_name(at, length);
}

/* Keep at least every other slot free. */
static int grow_slots(struct keys *keys)
{
    struct keys grown = *keys;
    if (keys->count < keys->slot_count / 2)
        return 0;
    grown.slot_count =
        keys->slot_count > 0 ? keys->slot_count * 2 : SLOTS_LEAST;
    grown.slots = calloc(grown.slot_count, sizeof *grown.slots);
    if (grown.slots == NULL)
        return -ENOMEM;

    for (size_t i = 0; i < keys->slot_count; i++) {
        struct keys_name name;
        if (keys->slots[i].mark == 0)
            continue;
        name = name_in(keys, &keys->slots[i]);
        *find(&grown, &name) = keys->slots[i];
    }
    free(keys->slots);
    keys->slots = grown.slots;
    keys->slot_count = grown.slot_count;
    return 0;
}

static int grow_texts(struct keys *keys, size_t length)
{
    if (length <= keys->texts_room - keys->texts_end)
        return 0;
    size_t room = keys->texts_room > 0 ? keys->texts_room * 2 : TEXTS_LEAST;
    char *texts = realloc(keys->texts, room);
    if (texts == NULL)
        return -ENOMEM;
    keys->texts = texts;
    keys->texts_room = room;
    return 0;
}

static int add(struct keys *keys, const struct keys_name *name)
{
    if (keys->count == KEYS_COUNT_MAX)
        return -EOVERFLOW;
    if (grow_slots(keys) != 0 || grow_texts(keys, name->length) != 0)
        return -ENOMEM;

    struct keys_slot *slot = find(keys, name);
    *slot = (struct keys_slot){mark_of(name), keys->count++, name->word};
    if (name->length > SHORT) {
        memcpy(keys->texts + keys->texts_end, name->at, name->length);
        slot->word = keys->texts_end;
        keys->texts_end += name->length;
    }
    return 0;
}

int keys_number(struct keys *keys, const struct keys_name *name,
                uint32_t *number)
{
    if (keys->slot_count > 0) {
        const struct keys_slot *slot = find(keys, name);
        if (slot->mark != 0) {
            *number = slot->number;
            return 0;
        }
    }
    *number = keys->count;
    return add(keys, name);
}

void keys_close(struct keys *keys)
{
    free(keys->slots);
    free(keys->texts);
    *keys = (struct keys){0};
}

void keys_prefetch(const struct keys *keys, const struct keys_name *name)
{
    if (keys->slot_count > 0)
        __builtin_prefetch(&keys->slots[name->hash & (keys->slot_count - 1)]);
}
