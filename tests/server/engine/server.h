/*
 * server/engine/server.h - a server without a network: an engine, connections,
 * and a time that tests turn by hand.
 *
 * What a connection sends passes the real parser, and what it receives is the
 * bytes that a socket would get.  If the engine breaks a promise that can be
 * seen in any test, `fault` describes it.
 */
#ifndef TESTS_SERVER_ENGINE_SERVER_H
#define TESTS_SERVER_ENGINE_SERVER_H

#include <engine/engine.h>

#include "bytes.h"

struct connection {
    struct tkd_client *client; /* NULL: not connected */
    struct tkd_parser parser;
    bool is_in_body;  /* the engine waits for the rest of a body */
    struct bytes in;  /* sent, but not passed to the parser yet */
    struct bytes out; /* received */
};

struct server {
    struct tkd_engine *engine;
    uint64_t now;
    size_t budget; /* of each tkd_engine_advance() */
    struct connection *connections;
    unsigned connection_max;
    uint32_t body_max;
    bool has_failed;   /* tkd_engine_sync() has returned false */
    const char *fault; /* NULL, or a promise that the engine has broken */
};

/* The values that stats shows for the process. */
extern const struct tkd_facts server_facts;

/* Open an engine with room for `connection_max` connections.  Returns 0, or the
 * error of tkd_engine_open(). */
int server_open(struct server *server, const struct tkd_engine_config *config,
                unsigned connection_max);

/* Close the engine and the connections. */
void server_close(struct server *server);

/* Connect number `n`.  Returns 0, or the error of tkd_client_open(). */
int server_connect(struct server *server, unsigned n);

/* Disconnect number `n`.  What it has received remains. */
void server_disconnect(struct server *server, unsigned n);

/* Append bytes to what connection `n` has sent, without passing them on. */
void server_queue(struct server *server, unsigned n, const char *bytes,
                  size_t size);

/* Pass on what connection `n` has sent, as far as the client takes commands,
 * but pop no reply.  Returns whether a command, or a part of one, was passed
 * on. */
bool server_feed(struct server *server, unsigned n);

/* Synchronize with the store, and collect the replies that can be sent. */
void server_collect(struct server *server);

/* Set the time to `now`, and collect all replies. */
void server_turn(struct server *server, uint64_t now);

/* Pass on and collect until nothing happens any more, at the current time. */
void server_settle(struct server *server);

#endif
