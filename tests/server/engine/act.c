/*
 * server/engine/act.c - acts as bytes that a client sends.
 */
#include <stdarg.h>

#include "model.h"

static void append(struct bytes *bytes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append(struct bytes *bytes, const char *format, ...)
{
    char line[TKD_LINE_MAX + 1];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    bytes_append(bytes, line, (size_t)length);
    bytes_append(bytes, "\r\n", 2);
}

static const char *const words[TKD_VERBS] = {
    [TKD_PEEK] = "peek",
    [TKD_PEEK_READY] = "peek-ready",
    [TKD_PEEK_DELAYED] = "peek-delayed",
    [TKD_PEEK_BURIED] = "peek-buried",
    [TKD_RESERVE] = "reserve",
    [TKD_RESERVE_WITH_TIMEOUT] = "reserve-with-timeout",
    [TKD_RESERVE_JOB] = "reserve-job",
    [TKD_DELETE] = "delete",
    [TKD_RELEASE] = "release",
    [TKD_BURY] = "bury",
    [TKD_KICK] = "kick",
    [TKD_KICK_JOB] = "kick-job",
    [TKD_TOUCH] = "touch",
    [TKD_STATS] = "stats",
    [TKD_STATS_JOB] = "stats-job",
    [TKD_STATS_TUBE] = "stats-tube",
    [TKD_USE] = "use",
    [TKD_WATCH] = "watch",
    [TKD_IGNORE] = "ignore",
    [TKD_LIST_TUBES] = "list-tubes",
    [TKD_LIST_TUBE_USED] = "list-tube-used",
    [TKD_LIST_TUBES_WATCHED] = "list-tubes-watched",
    [TKD_PAUSE_TUBE] = "pause-tube",
    [TKD_QUIT] = "quit",
};

static void append_put(const struct act *act, struct bytes *bytes)
{
    unsigned size = act->body_size;
    if (act->kind == ACT_PUT_BIG)
        size += MODEL_BODY_MAX + 1;
    append(bytes, "put %u %u %u %u%s", act->pri, act->delay, act->ttr, size,
           act->kind == ACT_PUT_GARBAGE ? " 1" : "");
    if (act->kind == ACT_PUT_LINE || act->kind == ACT_PUT_GARBAGE)
        return;
    for (unsigned i = 0; i < size; i++) {
        char byte = (char)('a' + (act->seed + i) % 26);
        bytes_append(bytes, &byte, 1);
    }
    bytes_append(bytes, act->kind == ACT_PUT_BAD_END ? "\r." : "\r\n", 2);
}

static void append_command(const struct act *act, struct bytes *bytes)
{
    const char *word = words[act->kind];
    unsigned long long id = act->id;
    switch (act->kind) {
    case TKD_PEEK:
    case TKD_RESERVE_JOB:
    case TKD_DELETE:
    case TKD_TOUCH:
    case TKD_KICK:
    case TKD_KICK_JOB:
    case TKD_STATS_JOB:
        append(bytes, "%s %llu", word, id);
        break;
    case TKD_RELEASE:
        append(bytes, "%s %llu %u %u", word, id, act->pri, act->delay);
        break;
    case TKD_BURY:
        append(bytes, "%s %llu %u", word, id, act->pri);
        break;
    case TKD_RESERVE_WITH_TIMEOUT:
        append(bytes, "%s %u", word, act->delay);
        break;
    case TKD_USE:
    case TKD_WATCH:
    case TKD_IGNORE:
    case TKD_STATS_TUBE:
        append(bytes, "%s %s", word, model_tubes[act->tube]);
        break;
    case TKD_PAUSE_TUBE:
        append(bytes, "%s %s %u", word, model_tubes[act->tube], act->delay);
        break;
    default:
        append(bytes, "%s", word);
    }
}

/* The body of ACT_PUT_BODY is that of the put line: the caller copies seed and
 * size. */
void act_format(const struct act *act, struct bytes *bytes)
{
    switch (act->kind) {
    case TKD_PUT:
    case ACT_PUT_LINE:
    case ACT_PUT_BAD_END:
    case ACT_PUT_GARBAGE:
    case ACT_PUT_BIG:
        append_put(act, bytes);
        break;
    case ACT_PUT_BODY:
        for (unsigned i = 0; i < act->body_size; i++) {
            char byte = (char)('a' + (act->seed + i) % 26);
            bytes_append(bytes, &byte, 1);
        }
        bytes_append(bytes, "\r\n", 2);
        break;
    case ACT_NONSENSE:
        append(bytes, "nonsense");
        break;
    default:
        append_command(act, bytes);
    }
}
