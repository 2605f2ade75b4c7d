/*
 * net/session.h - one connection, without its socket.
 *
 * A session passes the commands in a peer's bytes to an engine, and makes bytes
 * of the engine's replies.  It reads no clock and calls no operating system, so
 * a simulation can use it as well as the server:
 *
 *     tkd_session_open(&session, &config, user);
 *     ...
 *     if (tkd_session_wants_input(&session))
 *         tkd_session_receive(&session, bytes, size);
 *     else if (tkd_session_is_runnable(&session))
 *         tkd_session_run(&session);
 *     for (struct tkd_delivery d; tkd_engine_pop(engine, &d);)
 *         tkd_session_deliver(session_of(d.user), &d);
 *     size = tkd_session_output(&session, &bytes);
 *     tkd_session_sent(&session, send(socket, bytes, size));
 *     if (tkd_session_is_over(&session))
 *         tkd_session_close(&session);
 *
 * Promises:
 *   - the commands and their replies depend on the peer's bytes only, not on
 *     how they are split;
 *   - one call executes at most TKD_SESSION_COMMANDS_MAX commands;
 *   - memory is bounded: input by TKD_SESSION_INPUT_MAX, bodies of replies by
 *     TKD_SESSION_OUTPUT_MAX and the longest body, lines of replies by
 *     TKD_SESSION_OUTPUT_MAX and TKD_SESSION_REPLIES_MAX lines;
 *   - a session without input and output has no buffers;
 *   - each command that the peer has sent before it closes the connection, or
 *     its sending half, is executed.  A reserve that waits, or would wait, gets
 *     TIMED_OUT then.
 *
 * Threads: a session belongs to the thread of its engine.
 */
#ifndef TKD_NET_SESSION_H
#define TKD_NET_SESSION_H

#include <engine/engine.h>
#include <protocol/parser.h>

#include "buffer.h"
#include "http_line.h"

enum {
    TKD_SESSION_INPUT_MAX = 16384, /* bytes of one tkd_session_receive() */
    TKD_SESSION_COMMANDS_MAX = 64, /* commands that one call executes */
    TKD_SESSION_REPLIES_MAX =
        1024, /* with this many replies to be delivered ... */
    TKD_SESSION_OUTPUT_MAX = 262144 /* ... or bytes to be sent, the session
                                       executes no command */
};

/* What the sessions of a server share.  It must outlive them. */
struct tkd_session_config {
    const struct tkw_allocator *allocator;
    struct tkd_engine *engine;
    uint32_t body_max;
    /* NULL, or called before each command, with the user of the session. */
    void (*observe)(void *user, const struct tkd_command *command);
};

struct tkd_session {
    /* private */
    const struct tkd_session_config *config;
    struct tkd_client *client;
    void *user;
    struct tkd_buffer input;  /* received, not parsed */
    struct tkd_buffer output; /* not sent */
    struct tkd_http_line first_line;
    size_t expected;   /* bytes of bodies in replies that come */
    bool is_in_body;   /* of a put */
    bool has_hung_up;  /* the peer sends nothing more ... */
    bool has_ended;    /* ... and all of it has come */
    bool is_finishing; /* the session executes no more commands */
    bool is_cut;       /* the peer reads nothing more */
    bool has_failed;   /* there was no memory */
    struct tkd_parser parser;
};

/* Open a session in the caller's memory.  Replies come with `user`.  Returns 0
 * or -ENOMEM. */
int tkd_session_open(struct tkd_session *session,
                     const struct tkd_session_config *config, void *user);

/* Close the session and its client. */
void tkd_session_close(struct tkd_session *session);

/* Return whether tkd_session_receive() may be called. */
bool tkd_session_wants_input(const struct tkd_session *session);

/* Execute the commands in `size` bytes from the peer, at most
 * TKD_SESSION_INPUT_MAX, and keep the bytes that cannot be executed yet.
 * Returns the number of commands. */
size_t tkd_session_receive(struct tkd_session *session, const char *bytes,
                           size_t size);

/* Return whether tkd_session_run() would execute something.  That changes when
 * a reply is delivered, and when output is sent. */
bool tkd_session_is_runnable(const struct tkd_session *session);

/* Execute commands in bytes that were kept.  Returns the number of commands. */
size_t tkd_session_run(struct tkd_session *session);

/* The peer has closed its sending half, but bytes of it may come yet.  From now
 * on no reserve waits. */
void tkd_session_hang_up(struct tkd_session *session);

/* All bytes of the peer have come.  The session executes the commands that were
 * received, delivers their replies, and is over. */
void tkd_session_end(struct tkd_session *session);

/* The peer reads nothing more.  The session drops output, but still executes
 * the commands that it receives. */
void tkd_session_cut(struct tkd_session *session);

/* Execute no more commands.  The session delivers the replies to those that
 * were executed, and is over. */
void tkd_session_finish(struct tkd_session *session);

/* Add a reply of the session's client to the output. */
void tkd_session_deliver(struct tkd_session *session,
                         const struct tkd_delivery *delivery);

/* Store the address of the output in `*bytes`, and return its size. */
size_t tkd_session_output(const struct tkd_session *session,
                          const char **bytes);

/* The first `size` bytes of the output were sent. */
void tkd_session_sent(struct tkd_session *session, size_t size);

/* Return whether a reserve waits for a job.  Then the caller watches whether
 * the peer closes the connection, even if the session wants no input. */
bool tkd_session_is_waiting(const struct tkd_session *session);

/* Return whether nothing is left to do: the caller closes the connection. */
bool tkd_session_is_over(const struct tkd_session *session);

#endif
