/*
 * key.h - what connections, requests and the like are known by: a number of 64
 * bits, or any bytes.
 *
 *     tkw_idle_touch(idle, tkw_key_number(connection->id), now);
 *     tkw_idle_touch(idle, tkw_key_text("alice"), now);
 *
 * A number and bytes are never the same key.  Bytes are copied where a key is
 * kept; you need them only for the call.  Where they are handed out a 0 follows
 * them, so that text can be used as such.  The address of your object, made a
 * number, is a fine key as well: what is handed out later leads back to it.
 *
 * Keys may come from strangers: where they are looked up they are hashed with
 * a secret, so that nobody can choose keys that collide.
 *
 * Threads: *any thread*.
 */
#ifndef TICKWHEEL_KEY_H
#define TICKWHEEL_KEY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <tickwheel/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A key; make one by the functions below. */
struct tkw_key {
    const void *bytes; /* NULL: the number is the key ... */
    uint64_t number;   /* ... else so many bytes are; less than 2^31 */
};

/* Any number is a key, 0 as well. */
TKW_INLINE struct tkw_key tkw_key_number(uint64_t number)
{
    struct tkw_key key = {NULL, number};
    return key;
}

/* No bytes at all are a key as well, whatever the pointer. */
TKW_INLINE struct tkw_key tkw_key_bytes(const void *bytes, size_t count)
{
    struct tkw_key key = {bytes != NULL ? bytes : "", count};
    return key;
}

/* Text, without the 0 that ends it; not NULL. */
TKW_INLINE struct tkw_key tkw_key_text(const char *text)
{
    struct tkw_key key = {text, strlen(text)};
    return key;
}

#ifdef __cplusplus
}
#endif

#endif
