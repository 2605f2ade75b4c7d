#include "fake_engine.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void
note(struct tkd_client *client, const char *format, ...)
{
    va_list arguments;
    size_t room = sizeof client->log - client->log_length;
    va_start(arguments, format);
    char *end = client->log + client->log_length;
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    int length = vsnprintf(end, room, format, arguments);
    va_end(arguments);
    assert(length >= 0 && (size_t)length < room);
    client->log_length += (unsigned)length;
}

void fake_forget(struct tkd_client *client)
{
    client->log_length = 0;
    client->log[0] = '\0';
}

void fake_serve(struct tkd_client *client)
{
    assert(client->is_waiting);
    client->is_waiting = false;
}

void tkd_client_give_up(struct tkd_client *client)
{
    if (!client->is_waiting)
        return;
    note(client, "g ");
    client->is_waiting = false;
}

void fake_pop(struct tkd_client *client, const struct tkd_body *body,
              struct tkd_delivery *delivery)
{
    assert(client->pending_count > 0);
    client->pending_count--;
    *delivery = (struct tkd_delivery){
        .client = client,
        .user = client->user,
        .reply.kind = TKD_REPLY_DELETED,
        .body = body,
    };
    if (body != NULL) {
        delivery->reply.kind = TKD_REPLY_RESERVED;
        delivery->reply.id = 1;
        delivery->reply.number = body->size;
    }
}

int tkd_client_open(struct tkd_engine *engine, struct tkd_client **client,
                    void *user)
{
    if (engine->refuses_clients)
        return -ENOMEM;
    engine->client = (struct tkd_client){.engine = engine, .user = user};
    engine->client_count++;
    *client = &engine->client;
    return 0;
}

void tkd_client_close(struct tkd_client *client)
{
    client->engine->client_count--;
}

bool tkd_client_is_open_to_commands(const struct tkd_client *client)
{
    return !client->is_waiting && !client->is_fetching && !client->is_in_body;
}

bool tkd_client_is_waiting(const struct tkd_client *client)
{
    return client->is_waiting;
}

size_t tkd_client_pending_count(const struct tkd_client *client)
{
    return client->pending_count;
}

void tkd_client_command(struct tkd_client *client,
                        const struct tkd_command *command)
{
    assert(tkd_client_is_open_to_commands(client));
    note(client, "%d:%.*s ", (int)command->verb, command->tube_length,
         command->tube);
    client->is_waiting = command->verb == TKD_RESERVE;
    client->is_in_body = command->verb == TKD_PUT;
    client->pending_count += !client->is_in_body;
}

void tkd_client_body(struct tkd_client *client, const char *bytes, size_t size)
{
    assert(client->is_in_body);
    note(client, "%.*s", (int)size, bytes);
}

void tkd_client_body_end(struct tkd_client *client, bool has_crlf)
{
    assert(client->is_in_body);
    note(client, "%s ", has_crlf ? "." : "!");
    client->is_in_body = false;
    client->pending_count++;
}

void tkd_client_refuse(struct tkd_client *client, enum tkd_refusal refusal,
                       enum tkd_verb counted)
{
    assert(tkd_client_is_open_to_commands(client));
    note(client, "r%d%s ", (int)refusal, counted == TKD_PUT ? "p" : "");
    client->pending_count++;
}
