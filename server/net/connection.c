/*
 * net/connection.c - the socket of a session.
 *
 * The loop reports what a socket is ready for.  The report only marks the
 * connection: a turn reads, executes and sends.
 *
 *     report --> ready --visit: recv()--> touched --settle: send()--> wait
 *                  ^                                   |
 *                  +---- more to read or to execute ---+
 *
 * A socket is not watched for bytes while the session cannot execute commands.
 * Then the peer's bytes stay in the system's buffer, which is bounded, and the
 * peer has to wait.  Two ways of losing a peer need care:
 *
 * - A reserve waits, and the session has bytes of later commands.  Then the
 *   loop watches for the end of the connection alone (UV_DISCONNECT).
 * - The peer resets the connection.  libuv reports UV_EBADF and stops watching.
 *   Bytes that came before can still be read, and are executed.
 */
#define _GNU_SOURCE

#include "private.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/socket.h>
#include <unistd.h>

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct connection *connection = poll->data;
    if (status < 0) {
        connection->events = 0;
        tkd_session_cut(&connection->session);
    }
    if (status < 0 || (events & UV_READABLE) != 0)
        connection->is_readable = true;
    if ((events & UV_WRITABLE) != 0)
        connection->is_blocked = false;
    if ((events & UV_DISCONNECT) != 0) {
        connection->is_readable = true;
        tkd_session_hang_up(&connection->session);
    }
    link_append(&connection->server->ready, &connection->ready);
}

/* Opening and closing. */

static void log_opened(const struct connection *connection)
{
    const struct tkd_log *log = connection->server->config.log;
    if (log->level < TKD_LOG_CONNECTIONS)
        return;
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    char text[TKD_ADDRESS_MAX];
    getpeername(connection->fd, (struct sockaddr *)&address, &length);
    tkd_address_format(&address, length, text);
    tkd_log_write(log, TKD_LOG_CONNECTIONS,
                  "event=connected connection=%" PRIu64 " peer=%s",
                  connection->number, text);
}

static void free_connection(struct connection *connection)
{
    const struct tkw_allocator *allocator =
        connection->server->config.allocator;
    allocator->release(allocator->context, connection, sizeof *connection);
}

static void on_closed(uv_handle_t *handle)
{
    free_connection(handle->data);
}

static int start(struct connection *connection)
{
    struct tkd_server *server = connection->server;
    int error =
        tkd_session_open(&connection->session, &server->sessions, connection);
    if (error != 0)
        return error;
    error = uv_poll_init(&server->loop, &connection->poll, connection->fd);
    if (error != 0)
        tkd_session_close(&connection->session);
    connection->poll.data = connection;
    return error;
}

int tkd__connection_open(struct tkd_server *server, int fd)
{
    const struct tkw_allocator *allocator = server->config.allocator;
    struct connection *connection =
        allocator->allocate(allocator->context, sizeof *connection);
    if (connection == NULL)
        return -ENOMEM;
    *connection = (struct connection){.server = server, .fd = fd};
    int error = start(connection);
    if (error != 0) {
        free_connection(connection);
        return error;
    }
    connection->number = ++server->connection_number;
    link_init(&connection->all);
    link_init(&connection->ready);
    link_init(&connection->touched);
    link_append(&server->connections, &connection->all);
    server->connection_count++;
    touch(connection);
    log_opened(connection);
    return 0;
}

void tkd__connection_close(struct connection *connection)
{
    struct tkd_server *server = connection->server;
    link_remove(&connection->all);
    link_remove(&connection->ready);
    link_remove(&connection->touched);
    server->connection_count--;
    server->needs_turn = true;
    tkd_session_close(&connection->session);
    uv_close((uv_handle_t *)&connection->poll, on_closed);
    close(connection->fd);
    tkd_log_write(server->config.log, TKD_LOG_CONNECTIONS,
                  "event=closed connection=%" PRIu64, connection->number);
}

/* Reading. */

static size_t receive(struct connection *connection)
{
    struct tkd_session *session = &connection->session;
    char *bytes = connection->server->scratch;
    ssize_t size = recv(connection->fd, bytes, TKD_SESSION_INPUT_MAX, 0);
    if (size < 0 && errno == EINTR)
        return 0;
    /* A full buffer: there may be more. */
    connection->is_readable = size == TKD_SESSION_INPUT_MAX;
    if (size > 0)
        return tkd_session_receive(session, bytes, (size_t)size);
    if (size < 0 && errno == EAGAIN)
        return 0;
    tkd_session_end(session);
    return 0;
}

/* Return whether a visit would do something. */
static bool is_ready(const struct connection *connection)
{
    const struct tkd_session *session = &connection->session;
    return tkd_session_is_runnable(session) ||
           (connection->is_readable && tkd_session_wants_input(session));
}

static void queue_if_ready(struct connection *connection)
{
    if (is_ready(connection))
        link_append(&connection->server->ready, &connection->ready);
}

size_t tkd__connection_visit(struct connection *connection)
{
    struct tkd_session *session = &connection->session;
    size_t count = 0;
    if (tkd_session_is_runnable(session))
        count = tkd_session_run(session);
    else if (connection->is_readable && tkd_session_wants_input(session))
        count = receive(connection);
    touch(connection);
    queue_if_ready(connection);
    return count;
}

/* Sending. */

/* Send what the socket takes now. */
static void send_output(struct connection *connection)
{
    const char *bytes;
    size_t size = tkd_session_output(&connection->session, &bytes);
    if (size == 0 || connection->is_blocked)
        return;
    ssize_t sent = send(connection->fd, bytes, size, MSG_NOSIGNAL);
    if (sent >= 0) {
        connection->is_blocked = (size_t)sent < size;
        tkd_session_sent(&connection->session, (size_t)sent);
    } else if (errno == EAGAIN || errno == EINTR) {
        connection->is_blocked = true; /* EINTR: writable at once */
    } else {
        /* The peer is gone, but it may have sent commands before. */
        tkd_session_cut(&connection->session);
        connection->is_readable = true;
    }
}

/* Return what the connection waits for. */
static int wanted_events(const struct connection *connection)
{
    const struct tkd_session *session = &connection->session;
    int events = connection->is_blocked ? UV_WRITABLE : 0;
    if (tkd_session_wants_input(session))
        events |= UV_READABLE;
    else if (tkd_session_is_waiting(session))
        events |= UV_DISCONNECT;
    else if (!link_is_alone(&connection->ready))
        /* It will want input soon: changing that takes two system calls. */
        events |= connection->events & UV_READABLE;
    return events;
}

static void watch(struct connection *connection)
{
    int events = wanted_events(connection);
    if (events == connection->events)
        return;
    connection->events = events;
    /* No events stop it.  The call cannot fail: the loop has the descriptor. */
    (void)uv_poll_start(&connection->poll, events, on_poll);
}

void tkd__connection_settle(struct connection *connection)
{
    send_output(connection);
    if (tkd_session_is_over(&connection->session)) {
        tkd__connection_close(connection);
        return;
    }
    queue_if_ready(connection);
    watch(connection);
}
