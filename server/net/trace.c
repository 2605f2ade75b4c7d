/*
 * net/trace.c - commands in the log.
 */
#define _GNU_SOURCE

#include "private.h"

#include <inttypes.h>

static const char *const words[TKD_VERBS] = {
    [TKD_PUT] = "put",
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

void tkd__trace(void *user, const struct tkd_command *command)
{
    const struct connection *connection = user;
    const char *word = words[command->verb];
    tkd_log_write(connection->server->config.log, TKD_LOG_COMMANDS,
                  "event=command connection=%" PRIu64 " verb=%s id=%" PRIu64
                  " pri=%" PRIu32 " delay_ns=%" PRIu64 " ttr_ns=%" PRIu64
                  " bytes=%" PRIu32 " tube=%.*s",
                  connection->number, word != NULL ? word : "?", command->id,
                  command->pri, command->delay_ns, command->ttr_ns,
                  command->bytes, command->tube_length, command->tube);
}
