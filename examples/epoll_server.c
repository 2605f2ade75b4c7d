/*
 * epoll_server.c - timers in your own event loop: an echo server that hangs up
 * on connections that have been silent for half a second.
 *
 * One thread, one epoll: sockets and timers take turns in it, and need no lock.
 * The program is its own two clients: one says something every 100 ms, six
 * times, the other nothing at all.
 */
#define _POSIX_C_SOURCE 200809L

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <tickwheel/epoll.h>

#define IDLE_LIMIT (500 * TKW_MILLISECOND)
#define PACE (100 * TKW_MILLISECOND)

struct server {
    int epoll;
    struct tkw_service *timers;
    int clients; /* that have not been hung up on */
};

/* What epoll knows a descriptor by. */
struct peer {
    struct server *server;
    int fd;
    void (*ready)(struct peer *peer);
    /* of a connection: */
    tkw_handle idle;
    /* of a client: */
    const char *name;
    int words_left;
    int echoes;
};

static int watch(struct peer *peer)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = peer};
    return epoll_ctl(peer->server->epoll, EPOLL_CTL_ADD, peer->fd, &event);
}

static void let_go(struct peer *connection)
{
    close(connection->fd);
    free(connection);
}

/* The time has come; but what has arrived and not been looked at is no
 * silence. */
static void hang_up(void *argument, const struct tkw_firing *firing)
{
    struct peer *connection = argument;
    char byte;
    if (recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0) {
        tkw_service_rearm(firing->service, firing->handle, IDLE_LIMIT);
        return;
    }
    let_go(connection);
}

static void echo(struct peer *connection)
{
    char bytes[64];
    ssize_t count = recv(connection->fd, bytes, sizeof bytes, 0);
    if (count <= 0) {
        /* They hang up.  In one thread this is always 1. */
        if (tkw_service_cancel(connection->server->timers, connection->idle) ==
            1)
            let_go(connection);
        return;
    }
    (void)!send(connection->fd, bytes, (size_t)count, MSG_NOSIGNAL);
    tkw_service_postpone(connection->server->timers, connection->idle,
                         IDLE_LIMIT);
}

static void welcome(struct peer *listener)
{
    struct peer *connection = calloc(1, sizeof *connection);
    if (connection == NULL)
        abort();
    connection->server = listener->server;
    connection->ready = echo;
    connection->fd = accept(listener->fd, NULL, NULL);
    if (connection->fd < 0 || watch(connection) != 0 ||
        tkw_service_arm(listener->server->timers, &connection->idle, IDLE_LIMIT,
                        (struct tkw_task){hang_up, connection, NULL}) != 0)
        abort();
}

/* A client's word, and when to say the next. */
static uint64_t next_word(void *argument, uint64_t due_ns, uint64_t now_ns)
{
    struct peer *client = argument;
    (void)now_ns;
    return client->words_left > 0 ? due_ns + PACE : UINT64_MAX;
}

static void say(void *argument, const struct tkw_firing *firing)
{
    struct peer *client = argument;
    (void)firing;
    client->words_left--;
    (void)!send(client->fd, "!", 1, MSG_NOSIGNAL);
}

static void listen_to_server(struct peer *client)
{
    char bytes[64];
    ssize_t count = recv(client->fd, bytes, sizeof bytes, 0);
    if (count > 0) {
        client->echoes += (int)count;
        return;
    }
    printf("%s: %d echoes, then the server hung up\n", client->name,
           client->echoes);
    close(client->fd);
    client->server->clients--;
}

static int start_client(struct peer *client, const struct sockaddr_in *address)
{
    client->ready = listen_to_server;
    client->fd = socket(AF_INET, SOCK_STREAM, 0);
    client->server->clients++;
    if (client->fd < 0 || watch(client) != 0 ||
        connect(client->fd, (const struct sockaddr *)address,
                sizeof *address) != 0)
        return -1;
    if (client->words_left == 0)
        return 0;
    struct tkw_plan plan = {
        .task = {say, client, NULL}, .when_ns = PACE, .next = next_word};
    return tkw_service_arm_plan(client->server->timers, NULL, &plan);
}

/* On any port; the system says which. */
static int start_listener(struct peer *listener, struct sockaddr_in *address)
{
    socklen_t bytes = sizeof *address;
    *address = (struct sockaddr_in){.sin_family = AF_INET};
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener->ready = welcome;
    listener->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (listener->fd < 0 ||
        bind(listener->fd, (const struct sockaddr *)address, bytes) != 0 ||
        getsockname(listener->fd, (struct sockaddr *)address, &bytes) != 0 ||
        listen(listener->fd, 16) != 0)
        return -1;
    return watch(listener);
}

static void serve(struct server *server)
{
    struct epoll_event events[16];
    while (server->clients > 0) {
        int count = epoll_wait(server->epoll, events, 16, -1);
        bool has_timers = false;
        for (int i = 0; i < count; i++) {
            struct peer *peer = events[i].data.ptr;
            if (peer != NULL)
                peer->ready(peer);
            else
                has_timers = true;
        }
        /* Last: a timer may free a peer whose event is among these. */
        if (has_timers)
            tkw_service_run(server->timers, 256);
    }
}

int main(void)
{
    struct server server = {.epoll = epoll_create1(EPOLL_CLOEXEC)};
    struct tkw_service_config config = {.driver = TKW_DRIVER_NONE};
    if (server.epoll < 0 || tkw_service_open(&server.timers, &config) != 0 ||
        tkw_epoll_add(server.timers, server.epoll,
                      (epoll_data_t){.ptr = NULL}) != 0)
        return 1;

    struct sockaddr_in address;
    struct peer listener = {.server = &server};
    struct peer quiet = {.server = &server, .name = "quiet"};
    struct peer chatty = {.server = &server, .name = "chatty", .words_left = 6};
    if (start_listener(&listener, &address) != 0 ||
        start_client(&quiet, &address) != 0 ||
        start_client(&chatty, &address) != 0)
        return 1;
    serve(&server);

    close(listener.fd);
    tkw_service_close(server.timers, NULL, NULL);
    close(server.epoll);
    return 0;
}
