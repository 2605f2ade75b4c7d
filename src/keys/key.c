/*
 * keys/key.c - external definitions of the inline functions of key.h.
 */
#include <tickwheel/key.h>

extern inline struct tkw_key tkw_key_number(uint64_t number);
extern inline struct tkw_key tkw_key_bytes(const void *bytes, size_t count);
extern inline struct tkw_key tkw_key_text(const char *text);
