/*
 * net/session.c - from bytes to the engine, and back.
 *
 *     receive() --> parser --> engine --> deliver() --> output --> sent()
 *         |           ^          |
 *         +-> input --+          +-- closed to commands: parsing stops
 *
 * While the session cannot execute commands, the bytes stay in `input`, and the
 * session wants no more of them.  So the peer's own buffer fills up, and the
 * peer has to wait.
 */
#include "session.h"

#include <assert.h>

/* More than stats, stats-job and stats-tube reply. */
enum { STATS_BYTES = 4096 };

int tkd_session_open(struct tkd_session *session,
                     const struct tkd_session_config *config, void *user)
{
    *session = (struct tkd_session){.config = config, .user = user};
    tkd_parser_init(&session->parser, config->body_max);
    return tkd_client_open(config->engine, &session->client, user);
}

void tkd_session_close(struct tkd_session *session)
{
    tkd_buffer_clear(&session->input, session->config->allocator);
    tkd_buffer_clear(&session->output, session->config->allocator);
    tkd_client_close(session->client);
}

/* Limits. */

/* Return the most bytes that the reply to a command is expected to have,
 * besides its line. */
static size_t expected_bytes(const struct tkd_session *session,
                             enum tkd_verb verb)
{
    switch (verb) {
    case TKD_PEEK:
    case TKD_PEEK_READY:
    case TKD_PEEK_DELAYED:
    case TKD_PEEK_BURIED:
    case TKD_RESERVE:
    case TKD_RESERVE_WITH_TIMEOUT:
    case TKD_RESERVE_JOB:
        return session->config->body_max;
    case TKD_STATS:
    case TKD_STATS_JOB:
    case TKD_STATS_TUBE:
        return STATS_BYTES;
    case TKD_LIST_TUBES:
    case TKD_LIST_TUBES_WATCHED:
        /* A list may be very long: do not make a second one. */
        return TKD_SESSION_OUTPUT_MAX;
    default:
        return 0;
    }
}

static bool is_full(const struct tkd_session *session)
{
    size_t output = tkd_buffer_size(&session->output);
    return output + session->expected >= TKD_SESSION_OUTPUT_MAX ||
           tkd_client_pending_count(session->client) >= TKD_SESSION_REPLIES_MAX;
}

/* Return whether the session can pass bytes to the parser now. */
static bool can_parse(const struct tkd_session *session)
{
    if (session->is_finishing || session->has_failed)
        return false;
    if (session->is_in_body)
        return true;
    return tkd_client_is_open_to_commands(session->client) && !is_full(session);
}

bool tkd_session_wants_input(const struct tkd_session *session)
{
    if (session->has_ended || session->is_finishing || session->has_failed)
        return false;
    if (tkd_buffer_size(&session->input) > 0)
        return false;
    /* A reserve that waits must not hide the end of the connection. */
    return can_parse(session) || tkd_session_is_waiting(session);
}

bool tkd_session_is_runnable(const struct tkd_session *session)
{
    return tkd_buffer_size(&session->input) > 0 && can_parse(session);
}

bool tkd_session_is_waiting(const struct tkd_session *session)
{
    return tkd_client_is_waiting(session->client);
}

/* Executing. */

static void execute(struct tkd_session *session,
                    const struct tkd_command *command)
{
    if (session->config->observe != NULL)
        session->config->observe(session->user, command);
    if (command->verb == TKD_QUIT) {
        tkd_session_finish(session);
        return;
    }
    session->is_in_body = command->verb == TKD_PUT;
    session->expected += expected_bytes(session, command->verb);
    tkd_client_command(session->client, command);
}

/* Pass an event to the engine.  Returns whether it counts as a command. */
static bool handle(struct tkd_session *session, const struct tkd_event *event)
{
    switch (event->kind) {
    case TKD_EVENT_NONE:
        return false;
    case TKD_EVENT_COMMAND:
        execute(session, &event->command);
        return true;
    case TKD_EVENT_BODY:
        tkd_client_body(session->client, event->bytes, event->size);
        return false;
    case TKD_EVENT_BODY_END:
        session->is_in_body = false;
        tkd_client_body_end(session->client, event->has_crlf);
        return false;
    case TKD_EVENT_REFUSED:
        break;
    }
    tkd_client_refuse(session->client, event->refusal, event->counted);
    return true;
}

/* The peer cannot send anything after a reserve that waits, so let it wait no
 * longer.  beanstalkd does the same. */
static void give_up_after_end(struct tkd_session *session)
{
    if (session->has_hung_up)
        tkd_client_give_up(session->client);
}

/* Parse bytes until a limit is reached.  Returns how many were parsed, and adds
 * the commands to `*count`. */
static size_t parse(struct tkd_session *session, const char *bytes, size_t size,
                    size_t *count)
{
    size_t used = 0;
    while (used < size && *count < TKD_SESSION_COMMANDS_MAX &&
           can_parse(session)) {
        struct tkd_event event;
        used += tkd_parser_feed(&session->parser, bytes + used, size - used,
                                &event);
        *count += handle(session, &event);
        give_up_after_end(session);
    }
    return used;
}

/* Return whether the connection begins with HTTP, which gets one reply. */
static bool refuse_http(struct tkd_session *session, const char *bytes,
                        size_t size)
{
    if (session->first_line.state == TKD_HTTP_NO)
        return false;
    tkd_http_line_feed(&session->first_line, bytes, size);
    if (session->first_line.state != TKD_HTTP_YES)
        return false;
    tkd_client_refuse(session->client, TKD_REFUSED_UNKNOWN, TKD_VERBS);
    tkd_session_finish(session);
    return true;
}

size_t tkd_session_receive(struct tkd_session *session, const char *bytes,
                           size_t size)
{
    assert(tkd_session_wants_input(session));
    assert(size <= TKD_SESSION_INPUT_MAX);
    size_t count = 0;
    if (refuse_http(session, bytes, size))
        return 1;
    size_t used = parse(session, bytes, size, &count);
    if (!session->is_finishing &&
        !tkd_buffer_append(&session->input, session->config->allocator,
                           bytes + used, size - used))
        session->has_failed = true;
    return count;
}

size_t tkd_session_run(struct tkd_session *session)
{
    size_t count = 0;
    size_t used = parse(session, tkd_buffer_bytes(&session->input),
                        tkd_buffer_size(&session->input), &count);
    if (!session->is_finishing)
        tkd_buffer_consume(&session->input, session->config->allocator, used);
    return count;
}

/* Endings. */

void tkd_session_hang_up(struct tkd_session *session)
{
    session->has_hung_up = true;
    give_up_after_end(session);
}

void tkd_session_end(struct tkd_session *session)
{
    session->has_ended = true;
    session->has_hung_up = true;
    give_up_after_end(session);
}

void tkd_session_cut(struct tkd_session *session)
{
    session->is_cut = true;
    tkd_buffer_clear(&session->output, session->config->allocator);
}

void tkd_session_finish(struct tkd_session *session)
{
    session->is_finishing = true;
    tkd_buffer_clear(&session->input, session->config->allocator);
}

bool tkd_session_is_over(const struct tkd_session *session)
{
    if (session->has_failed)
        return true;
    /* The peer would not read the job. */
    bool is_waiting = tkd_session_is_waiting(session);
    if (is_waiting && session->is_cut)
        return true;
    if (!session->has_ended && !session->is_finishing)
        return false;
    /* A reserve that waits counts as one reply, and is given up. */
    return tkd_client_pending_count(session->client) == is_waiting &&
           tkd_buffer_size(&session->output) == 0 &&
           (is_waiting || tkd_buffer_size(&session->input) == 0);
}

/* Replies. */

static bool append_reply(struct tkd_session *session,
                         const struct tkd_delivery *delivery)
{
    const struct tkw_allocator *allocator = session->config->allocator;
    char line[TKD_REPLY_LINE_MAX];
    size_t length = tkd_reply_format(&delivery->reply, line);
    if (!tkd_buffer_append(&session->output, allocator, line, length))
        return false;
    const struct tkd_body *body = delivery->body;
    return body == NULL ||
           (tkd_buffer_append(&session->output, allocator, body->bytes,
                              body->size) &&
            tkd_buffer_append(&session->output, allocator, "\r\n", 2));
}

void tkd_session_deliver(struct tkd_session *session,
                         const struct tkd_delivery *delivery)
{
    assert(delivery->client == session->client);
    /* Which command a reply belongs to is not known: begin to count again when
     * all replies were delivered. */
    if (tkd_client_pending_count(session->client) == 0)
        session->expected = 0;
    if (!session->is_cut && !append_reply(session, delivery))
        session->has_failed = true;
}

size_t tkd_session_output(const struct tkd_session *session, const char **bytes)
{
    *bytes = tkd_buffer_bytes(&session->output);
    return tkd_buffer_size(&session->output);
}

void tkd_session_sent(struct tkd_session *session, size_t size)
{
    tkd_buffer_consume(&session->output, session->config->allocator, size);
}
