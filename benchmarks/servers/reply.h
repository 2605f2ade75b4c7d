/*
 * servers/reply.h - from the bytes of a server to replies.
 */
#ifndef SERVERS_REPLY_H
#define SERVERS_REPLY_H

#include <stddef.h>
#include <stdint.h>

enum reply_word {
    REPLY_INSERTED, /* number: the id */
    REPLY_RESERVED, /* number: the id; and a body */
    REPLY_DELETED,  /* number: how many, after delete-batch */
    REPLY_BATCH,    /* number: how many RESERVED replies follow */
    REPLY_USING,
    REPLY_WATCHING,
    REPLY_OK,    /* and a body */
    REPLY_FOUND, /* number: the id; and a body */
    REPLY_NOT_FOUND,
    REPLY_ERROR, /* all other words, and lines that are no reply */
};

/* The pointers lead into the text that was parsed. */
struct reply {
    enum reply_word word;
    uint64_t number;
    const char *line; /* without the line end */
    size_t line_size;
    const char *body;
    size_t body_size;
};

/*
 * Parses the reply at the start of `text`.  Returns the number of its bytes, or
 * 0 if `text` does not hold the whole reply yet.
 */
size_t reply_parse(struct reply *reply, const char *text, size_t size);

#endif
