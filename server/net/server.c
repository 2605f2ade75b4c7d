/*
 * net/server.c - opening, accepting, signals, and the end.
 *
 * An iteration of libuv's loop calls these functions, in this order:
 *
 *     idle           only if the last turn left work: the loop does not sleep
 *     (epoll_wait)
 *     on_acceptor    accepts connections
 *     on_poll        marks connections; see connection.c
 *     on_timer       nothing: the turn that follows reads the clock
 *     on_signal
 *     on_check       runs a turn; see turn.c
 *     on_closed      frees connections
 */
#define _GNU_SOURCE

#include "private.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

#include "notify.h"

enum {
    ACCEPTS_MAX = 64,   /* of one listener in a turn */
    PAUSE_MS = 100,     /* after accepting has failed */
    PATIENCE_MS = 5000, /* with peers that do not read the last replies */
};

/* Accepting. */

static bool has_room(const struct tkd_server *server)
{
    return server->connection_count < server->config.connections_max;
}

/* accept() has failed.  If the system lacks memory or descriptors, the listener
 * stays ready: without a pause the loop would not sleep. */
static void pause_accepting(struct tkd_server *server, int error)
{
    if (error == EAGAIN || error == EINTR || error == ECONNABORTED)
        return;
    tkd_log_write(server->config.log, TKD_LOG_CONNECTIONS,
                  "event=accept-failed error=\"%s\"", uv_strerror(-error));
    server->is_paused = true;
}

static void on_acceptor(uv_poll_t *poll, int status, int events)
{
    const struct acceptor *acceptor = poll->data;
    struct tkd_server *server = acceptor->server;
    (void)events;
    if (status < 0)
        server->is_paused = true; /* libuv has stopped the poll */
    for (int i = 0; i < ACCEPTS_MAX && has_room(server); i++) {
        int fd = accept4(acceptor->listener->fd, NULL, NULL,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            pause_accepting(server, errno);
            break;
        }
        if (tkd__connection_open(server, fd) != 0)
            close(fd);
    }
}

static void on_pause(uv_timer_t *timer)
{
    struct tkd_server *server = timer->data;
    server->is_paused = false;
}

/* Watch the listeners, or stop watching them. */
static void set_accepting(struct tkd_server *server, bool is_accepting)
{
    server->is_accepting = is_accepting;
    for (size_t i = 0; i < server->config.listener_count; i++)
        (void)uv_poll_start(&server->acceptors[i].poll,
                            is_accepting ? UV_READABLE : 0, on_acceptor);
    tkd_log_write(server->config.log, TKD_LOG_CONNECTIONS,
                  "event=%s connections=%" PRIu32,
                  is_accepting ? "accepting" : "not-accepting",
                  server->connection_count);
}

void tkd__server_adjust(struct tkd_server *server)
{
    if (server->is_stopping) {
        if (server->connection_count == 0)
            uv_stop(&server->loop);
        return;
    }
    if (server->is_paused && !uv_is_active((uv_handle_t *)&server->pause))
        uv_timer_start(&server->pause, on_pause, PAUSE_MS, 0);
    bool is_accepting = has_room(server) && !server->is_paused;
    if (is_accepting != server->is_accepting)
        set_accepting(server, is_accepting);
}

/* Signals. */

static void on_patience(uv_timer_t *timer)
{
    struct tkd_server *server = timer->data;
    tkd_log_write(server->config.log, TKD_LOG_SERVER,
                  "event=cut-off connections=%" PRIu32,
                  server->connection_count);
    uv_stop(&server->loop);
}

static void stop(struct tkd_server *server, int number)
{
    tkd_log_write(server->config.log, TKD_LOG_SERVER,
                  "event=stop signal=%s connections=%" PRIu32,
                  number == SIGINT ? "SIGINT" : "SIGTERM",
                  server->connection_count);
    tkd_notify("STOPPING=1");
    set_accepting(server, false);
    server->is_stopping = true;
    for (size_t i = 0; i < server->config.listener_count; i++) {
        uv_close((uv_handle_t *)&server->acceptors[i].poll, NULL);
        tkd_listener_close(&server->config.listeners[i]);
    }
    for (struct link *link = server->connections.next;
         link != &server->connections; link = link->next) {
        struct connection *connection =
            TKW_CONTAINER(link, struct connection, all);
        tkd_session_finish(&connection->session);
        touch(connection);
    }
    uv_timer_start(&server->patience, on_patience, PATIENCE_MS, 0);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct tkd_server *server = handle->data;
    if (number == SIGUSR1) {
        tkd_engine_drain(server->config.engine);
        tkd_log_write(server->config.log, TKD_LOG_SERVER, "event=drain");
    } else if (server->is_stopping) {
        uv_stop(&server->loop);
    } else {
        stop(server, number);
    }
}

/* The loop. */

static void on_timer(uv_poll_t *poll, int status, int events)
{
    (void)poll;
    (void)status;
    (void)events;
}

/* The store has answers: the turn that follows takes them. */
static void on_wake(uv_poll_t *poll, int status, int events)
{
    const struct tkd_server *server = poll->data;
    uint64_t count;
    ssize_t size = read(server->config.wake_fd, &count, sizeof count);
    (void)size;
    (void)status;
    (void)events;
}

static int start_wake(struct tkd_server *server)
{
    if (!server->config.has_wake_fd)
        return 0;
    server->wake.data = server;
    int error =
        uv_poll_init(&server->loop, &server->wake, server->config.wake_fd);
    if (error != 0)
        return error;
    return uv_poll_start(&server->wake, UV_READABLE, on_wake);
}

static void on_check(uv_check_t *check)
{
    tkd__turn(check->data);
}

static int start_signals(struct tkd_server *server)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGUSR1};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        uv_signal_t *handle = &server->signals[i];
        uv_signal_init(&server->loop, handle);
        handle->data = server;
        int error = uv_signal_start(handle, on_signal, numbers[i]);
        if (error != 0)
            return error;
    }
    return 0;
}

static int start_acceptors(struct tkd_server *server)
{
    for (size_t i = 0; i < server->config.listener_count; i++) {
        struct acceptor *acceptor = &server->acceptors[i];
        acceptor->server = server;
        acceptor->listener = &server->config.listeners[i];
        acceptor->poll.data = acceptor;
        int error = uv_poll_init(&server->loop, &acceptor->poll,
                                 acceptor->listener->fd);
        if (error != 0)
            return error;
    }
    return 0;
}

static int start(struct tkd_server *server)
{
    uv_check_init(&server->loop, &server->check);
    uv_idle_init(&server->loop, &server->idle);
    uv_timer_init(&server->loop, &server->pause);
    uv_timer_init(&server->loop, &server->patience);
    server->check.data = server;
    server->pause.data = server;
    server->patience.data = server;
    uv_check_start(&server->check, on_check);
    int error = uv_poll_init(&server->loop, &server->timer,
                             server->config.clock->timer);
    if (error == 0)
        error = uv_poll_start(&server->timer, UV_READABLE, on_timer);
    if (error == 0)
        error = start_wake(server);
    if (error == 0)
        error = start_signals(server);
    if (error == 0)
        error = start_acceptors(server);
    return error;
}

static void release(struct tkd_server *server)
{
    const struct tkw_allocator *allocator = server->config.allocator;
    allocator->release(allocator->context, server, sizeof *server);
}

int tkd_server_open(struct tkd_server **opened,
                    const struct tkd_server_config *config)
{
    const struct tkw_allocator *allocator = config->allocator;
    struct tkd_server *server =
        allocator->allocate(allocator->context, sizeof *server);
    if (server == NULL)
        return -ENOMEM;
    *server = (struct tkd_server){.config = *config};
    server->sessions = (struct tkd_session_config){
        .allocator = allocator,
        .engine = config->engine,
        .body_max = config->body_max,
        .observe = config->log->level >= TKD_LOG_COMMANDS ? tkd__trace : NULL,
    };
    link_init(&server->connections);
    link_init(&server->ready);
    link_init(&server->touched);
    int error = uv_loop_init(&server->loop);
    if (error != 0) {
        release(server);
        return error;
    }
    error = start(server);
    if (error != 0) {
        tkd_server_close(server);
        return error;
    }
    *opened = server;
    return 0;
}

int tkd_server_run(struct tkd_server *server)
{
    set_accepting(server, true);
    tkd_notify("READY=1");
    tkd__turn(server); /* jobs may be due already */
    uv_run(&server->loop, UV_RUN_DEFAULT);
    return server->has_failed ? -EIO : 0;
}

static void close_handle(uv_handle_t *handle, void *context)
{
    (void)context;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

void tkd_server_close(struct tkd_server *server)
{
    if (server == NULL)
        return;
    while (!link_is_alone(&server->connections))
        tkd__connection_close(
            TKW_CONTAINER(server->connections.next, struct connection, all));
    uv_walk(&server->loop, close_handle, NULL);
    uv_run(&server->loop, UV_RUN_DEFAULT);
    uv_loop_close(&server->loop);
    release(server);
}
