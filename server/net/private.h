/*
 * net/private.h - a server and its connections, as server.c, turn.c,
 * connection.c and trace.c see them.
 */
#ifndef TKD_NET_PRIVATE_H
#define TKD_NET_PRIVATE_H

#include <uv.h>

#include "list.h"
#include "server.h"
#include "session.h"

struct connection {
    struct link all;     /* in `connections` of the server */
    struct link ready;   /* in `ready` until it is visited */
    struct link touched; /* in `touched` until it is settled */
    struct tkd_server *server;
    uint64_t number; /* for the log */
    int fd;
    int events;       /* that `poll` waits for; 0: it is stopped */
    bool is_readable; /* the socket may have bytes, or be at its end */
    bool is_blocked;  /* the socket takes no more output now */
    uv_poll_t poll;
    struct tkd_session session;
};

/* A listener in the loop. */
struct acceptor {
    uv_poll_t poll;
    struct tkd_server *server;
    struct tkd_listener *listener;
};

struct tkd_server {
    struct tkd_server_config config;
    struct tkd_session_config sessions;
    struct link connections;
    struct link ready;   /* connections to be visited, in rotation */
    struct link touched; /* connections to be settled at the end of the turn */
    uint64_t connection_number;
    uint32_t connection_count;
    bool is_accepting;
    bool is_paused; /* accepting has failed; `pause` ends it */
    bool is_stopping;
    bool has_failed; /* the store has */
    bool needs_turn; /* a connection was closed, and the engine has made
                           replies of its jobs for others */
    uv_loop_t loop;
    uv_check_t check;    /* runs a turn after each poll of the loop */
    uv_idle_t idle;      /* active: the loop does not sleep */
    uv_poll_t timer;     /* of the clock */
    uv_poll_t wake;      /* of the store */
    uv_timer_t pause;    /* accepting failed; until it is tried again */
    uv_timer_t patience; /* a signal came; until connections are cut off */
    uv_signal_t signals[3];
    struct acceptor acceptors[TKD_LISTENERS_MAX];
    char scratch[TKD_SESSION_INPUT_MAX]; /* what one recv() returns */
};

/* connection.c */

/* Add a connection; it owns `fd`.  Returns 0, or a negative errno and leaves
 * `fd` open. */
int tkd__connection_open(struct tkd_server *server, int fd);

/* Remove a connection.  Its memory is freed by the loop. */
void tkd__connection_close(struct connection *connection);

/* Read once, or execute commands that were read before.  Returns the number of
 * commands. */
size_t tkd__connection_visit(struct connection *connection);

/* Send output, decide what to wait for, and close the connection if it is
 * over. */
void tkd__connection_settle(struct connection *connection);

/* Have the connection settled at the end of the turn. */
static inline void touch(struct connection *connection)
{
    link_append(&connection->server->touched, &connection->touched);
}

/* turn.c */

/* Run a turn. */
void tkd__turn(struct tkd_server *server);

/* server.c */

/* Accept connections, or stop accepting, as the number of connections
 * demands. */
void tkd__server_adjust(struct tkd_server *server);

/* trace.c */

/* Write a command to the log.  `user` is the connection. */
void tkd__trace(void *user, const struct tkd_command *command);

#endif
