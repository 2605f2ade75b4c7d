#include "server.h"

const struct tkd_facts server_facts = {
    .version = "1.2.3",
    .id = "0123456789abcdef",
    .hostname = "host",
    .os = "#1 SMP",
    .platform = "x86_64",
    .pid = 4711,
    .user_us = 12345678,
    .system_us = 9000001,
};

static void blame(struct server *server, const char *fault)
{
    if (server->fault == NULL)
        server->fault = fault;
}

int server_open(struct server *server, const struct tkd_engine_config *config,
                unsigned connection_max)
{
    *server = (struct server){
        .now = config->now_ns,
        .budget = TKD_STEP,
        .connection_max = connection_max,
        .body_max =
            config->body_max != 0 ? config->body_max : TKD_BODY_MAX_DEFAULT,
    };
    int error = tkd_engine_open(&server->engine, config);
    if (error != 0)
        return error;
    tkd_engine_describe(server->engine, &server_facts);
    server->connections = calloc(connection_max, sizeof *server->connections);
    if (server->connections == NULL)
        abort();
    return 0;
}

void server_close(struct server *server)
{
    tkd_engine_close(server->engine);
    for (unsigned n = 0; n < server->connection_max; n++) {
        bytes_free(&server->connections[n].in);
        bytes_free(&server->connections[n].out);
    }
    free(server->connections);
    server->connections = NULL;
}

int server_connect(struct server *server, unsigned n)
{
    struct connection *connection = &server->connections[n];
    int error =
        tkd_client_open(server->engine, &connection->client, connection);
    if (error != 0) {
        connection->client = NULL;
        return error;
    }
    tkd_parser_init(&connection->parser, server->body_max);
    connection->is_in_body = false;
    bytes_clear(&connection->in);
    bytes_clear(&connection->out);
    return 0;
}

void server_disconnect(struct server *server, unsigned n)
{
    struct connection *connection = &server->connections[n];
    tkd_client_close(connection->client);
    connection->client = NULL;
    bytes_clear(&connection->in);
}

void server_queue(struct server *server, unsigned n, const char *bytes,
                  size_t size)
{
    bytes_append(&server->connections[n].in, bytes, size);
}

static void handle_command(struct server *server, struct connection *connection,
                           const struct tkd_command *command)
{
    if (command->verb == TKD_QUIT) {
        server_collect(server);
        server_disconnect(server, (unsigned)(connection - server->connections));
        return;
    }
    connection->is_in_body = command->verb == TKD_PUT;
    tkd_client_command(connection->client, command);
}

static void handle(struct server *server, struct connection *connection,
                   const struct tkd_event *event)
{
    switch (event->kind) {
    case TKD_EVENT_NONE:
        break;
    case TKD_EVENT_COMMAND:
        handle_command(server, connection, &event->command);
        break;
    case TKD_EVENT_BODY:
        tkd_client_body(connection->client, event->bytes, event->size);
        break;
    case TKD_EVENT_BODY_END:
        connection->is_in_body = false;
        tkd_client_body_end(connection->client, event->has_crlf);
        break;
    case TKD_EVENT_REFUSED:
        tkd_client_refuse(connection->client, event->refusal, event->counted);
        break;
    }
}

bool server_feed(struct server *server, unsigned n)
{
    struct connection *connection = &server->connections[n];
    size_t at = 0;
    while (connection->client != NULL && at < connection->in.size &&
           (connection->is_in_body ||
            tkd_client_is_open_to_commands(connection->client))) {
        struct tkd_event event;
        at += tkd_parser_feed(&connection->parser, connection->in.data + at,
                              connection->in.size - at, &event);
        handle(server, connection, &event);
    }
    if (connection->client != NULL)
        bytes_consume(&connection->in, at);
    return at > 0;
}

static bool has_body(enum tkd_reply_kind kind)
{
    return kind == TKD_REPLY_RESERVED || kind == TKD_REPLY_FOUND ||
           kind == TKD_REPLY_OK;
}

static void receive(struct server *server, const struct tkd_delivery *delivery)
{
    struct connection *connection = delivery->user;
    if (connection->client != delivery->client) {
        blame(server, "a reply is for a client that is not its user's");
        return;
    }
    if (has_body(delivery->reply.kind) != (delivery->body != NULL))
        blame(server, "a reply has a body that its kind has not, or has none");
    char line[TKD_REPLY_LINE_MAX];
    size_t length = tkd_reply_format(&delivery->reply, line);
    bytes_append(&connection->out, line, length);
    if (delivery->body == NULL)
        return;
    if (delivery->reply.number != delivery->body->size)
        blame(server, "the number of a reply is not the size of its body");
    bytes_append(&connection->out, delivery->body->bytes, delivery->body->size);
    bytes_append(&connection->out, "\r\n", 2);
}

void server_collect(struct server *server)
{
    if (!tkd_engine_sync(server->engine))
        server->has_failed = true;
    for (struct tkd_delivery delivery;
         tkd_engine_pop(server->engine, &delivery);)
        receive(server, &delivery);
}

void server_turn(struct server *server, uint64_t now)
{
    server->now = now;
    while (!tkd_engine_advance(server->engine, now, server->budget)) {
        if (tkd_engine_next(server->engine) > now)
            blame(server, "there is more to do, but tkd_engine_next() is "
                          "not the current time");
        server_collect(server);
    }
    if (tkd_engine_next(server->engine) <= now)
        blame(server, "there is nothing to do, but tkd_engine_next() is the "
                      "current time");
    server_collect(server);
}

void server_settle(struct server *server)
{
    bool is_busy;
    do {
        is_busy = false;
        server_collect(server);
        server_turn(server, server->now);
        for (unsigned n = 0; n < server->connection_max; n++)
            if (server_feed(server, n))
                is_busy = true;
    } while (is_busy);
}
