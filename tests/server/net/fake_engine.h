/*
 * server/net/fake_engine.h - an engine that records commands, and replies when
 * the test says so.
 *
 * Each command, refusal and complete body leaves one reply.  The test decides
 * when a reply is popped and which body it has.  "reserve" closes the client to
 * commands until fake_serve().
 */
#ifndef TESTS_SERVER_NET_FAKE_ENGINE_H
#define TESTS_SERVER_NET_FAKE_ENGINE_H

#include <engine/engine.h>

enum { FAKE_LOG_MAX = 1 << 16 };

struct tkd_client {
    struct tkd_engine *engine;
    void *user;
    size_t pending_count;
    bool is_waiting;  /* a reserve waits for a job */
    bool is_fetching; /* closed to commands for another reason */
    bool is_in_body;
    unsigned log_length; /* what the client has done, as text */
    char log[FAKE_LOG_MAX];
};

struct tkd_engine {
    struct tkd_client client;
    bool refuses_clients;
    unsigned client_count;
};

/* Forget what the client has done. */
void fake_forget(struct tkd_client *client);

/* Give the waiting reserve a job: its reply can be popped. */
void fake_serve(struct tkd_client *client);

/* Pop the next reply: "DELETED", or if `body` is not NULL "RESERVED 1 n" and
 * the body. */
void fake_pop(struct tkd_client *client, const struct tkd_body *body,
              struct tkd_delivery *delivery);

#endif
