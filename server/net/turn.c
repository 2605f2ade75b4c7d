/*
 * net/turn.c - one turn of the loop.
 *
 * A turn is bounded, so that the next one, with its due jobs, comes soon.  The
 * work of a turn is counted in commands: a visit counts as some, because its
 * system calls take as long.
 */
#define _GNU_SOURCE

#include "private.h"

enum {
    TURN_WORK = 4096,
    VISIT_WORK = 16,
    TURN_REPLIES = 4096, /* that are delivered */
};

static struct connection *first_ready(struct tkd_server *server)
{
    if (link_is_alone(&server->ready))
        return NULL;
    return TKW_CONTAINER(server->ready.next, struct connection, ready);
}

/* Visit connections that are ready.  One that is ready again goes to the end of
 * the ring. */
static void visit(struct tkd_server *server)
{
    size_t work = 0;
    struct connection *connection = first_ready(server);
    while (connection != NULL && work < TURN_WORK &&
           !tkd_engine_is_behind(server->config.engine)) {
        link_remove(&connection->ready);
        work += VISIT_WORK + tkd__connection_visit(connection);
        connection = first_ready(server);
    }
}

/* Pass replies to their sessions.  Returns whether these were all. */
static bool deliver(struct tkd_server *server)
{
    for (size_t i = 0; i < TURN_REPLIES; i++) {
        struct tkd_delivery delivery;
        if (!tkd_engine_pop(server->config.engine, &delivery))
            return true;
        struct connection *connection = delivery.user;
        tkd_session_deliver(&connection->session, &delivery);
        touch(connection);
    }
    return false;
}

static void settle(struct tkd_server *server)
{
    while (!link_is_alone(&server->touched)) {
        struct connection *connection =
            TKW_CONTAINER(server->touched.next, struct connection, touched);
        link_remove(&connection->touched);
        tkd__connection_settle(connection);
    }
}

static void stay_awake(uv_idle_t *idle)
{
    (void)idle;
}

/* Have the loop sleep until the engine's next time, or not at all. */
static void plan(struct tkd_server *server, bool is_done)
{
    if (!is_done) {
        uv_idle_start(&server->idle, stay_awake);
        return;
    }
    uv_idle_stop(&server->idle);
    tkd_clock_aim(server->config.clock, tkd_engine_next(server->config.engine));
}

void tkd__turn(struct tkd_server *server)
{
    struct tkd_engine *engine = server->config.engine;
    uint64_t now_ns = tkd_clock_now(server->config.clock);
    server->needs_turn = false;
    tkd_process_describe(server->config.process, engine, now_ns);
    bool is_advanced = tkd_engine_advance(engine, now_ns, TKD_STEP);
    visit(server);
    if (!tkd_engine_sync(engine)) {
        server->has_failed = true;
        uv_stop(&server->loop);
        return;
    }
    bool is_delivered = deliver(server);
    settle(server);
    tkd__server_adjust(server);
    bool is_visited = link_is_alone(&server->ready) ||
                      tkd_engine_is_behind(engine); /* the store wakes it */
    plan(server,
         is_advanced && is_delivered && !server->needs_turn && is_visited);
}
