/*
 * net/server.h - the loop: sockets, the engine, and the time.
 *
 *     struct tkd_server *server;
 *     tkd_server_open(&server, &config);
 *     tkd_server_run(server);
 *     tkd_server_close(server);
 *
 * The server works in turns.  A turn advances the engine to the current time,
 * executes commands of the connections that are ready, and sends the replies.
 * It executes a few thousand commands at most, in rotation over the
 * connections, so that no connection and no time that has come waits long.  If
 * work is left, the next turn follows at once.  Otherwise the thread sleeps
 * until a socket is ready or the engine's next time has come.
 *
 * Signals: SIGTERM and SIGINT end tkd_server_run().  SIGUSR1 drains the engine.
 * The process must ignore SIGPIPE.
 *
 * Limits: libuv aborts the process if there is no memory for its table of
 * descriptors.
 *
 * Threads: a server belongs to one thread.
 */
#ifndef TKD_NET_SERVER_H
#define TKD_NET_SERVER_H

#include <engine/engine.h>

#include "clock.h"
#include "listener.h"
#include "log.h"
#include "process.h"

struct tkd_server;

struct tkd_server_config {
    const struct tkw_allocator *allocator;
    struct tkd_engine *engine;
    struct tkd_clock *clock;
    struct tkd_process *process;
    const struct tkd_log *log;
    struct tkd_listener *listeners; /* closed by the caller, or earlier by
                                       tkd_server_run() after a signal */
    size_t listener_count;
    bool has_wake_fd; /* the store has threads ... */
    int wake_fd;      /* ... and an eventfd that is readable after their work */
    uint32_t body_max;
    uint32_t connections_max; /* more wait in the queues of the listeners */
};

/* Open a server.  All that `config` points to must outlive it.  Returns 0 and
 * stores it in `*server`, or returns a negative errno. */
int tkd_server_open(struct tkd_server **server,
                    const struct tkd_server_config *config);

/*
 * Serve until a signal comes.  Then accept and execute nothing more, deliver
 * the replies to commands that were executed, for 5 seconds at most, and return
 * 0.  A second signal ends that at once.  Returns -EIO as soon as the store has
 * failed.
 */
int tkd_server_run(struct tkd_server *server);

/* Close the server with its connections.  `server` may be NULL: the call does
 * nothing. */
void tkd_server_close(struct tkd_server *server);

#endif
