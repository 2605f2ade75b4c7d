/*
 * key.h - keys: a 64-bit number or a string of bytes that names a connection, a
 * request or another object of yours.
 *
 *     tkw_idle_touch(idle, tkw_key_number(connection->id), now);
 *     tkw_idle_touch(idle, tkw_key_text("alice"), now);
 *
 * Promises:
 *   - a number and a string of bytes are never equal;
 *   - a function that stores a key copies its bytes: you may free yours after
 *     the call;
 *   - bytes that the library returns are followed by a 0, as C strings are;
 *   - the library hashes keys with a secret, so that an attacker cannot choose
 *     keys that collide.
 *
 * The address of your object, cast to a number, can be its key.
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
    const void *bytes; /* NULL: the key is `number` */
    uint64_t number;   /* else the number of bytes, less than 2^31 */
};

/* Return the key of a number.  Any number is valid, also 0. */
TKW_INLINE struct tkw_key tkw_key_number(uint64_t number)
{
    struct tkw_key key = {NULL, number};
    return key;
}

/* Return the key of `count` bytes.  With a `count` of 0, `bytes` may be
 * NULL. */
TKW_INLINE struct tkw_key tkw_key_bytes(const void *bytes, size_t count)
{
    struct tkw_key key = {bytes != NULL ? bytes : "", count};
    return key;
}

/* Return the key of a C string, without its final 0.  `text` must not be
 * NULL. */
TKW_INLINE struct tkw_key tkw_key_text(const char *text)
{
    struct tkw_key key = {text, strlen(text)};
    return key;
}

#ifdef __cplusplus
}
#endif

#endif
