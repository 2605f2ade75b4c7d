/*
 * protocol/command.h - the commands of the beanstalkd protocol.
 */
#ifndef TKD_PROTOCOL_COMMAND_H
#define TKD_PROTOCOL_COMMAND_H

#include <stdint.h>

enum {
    TKD_LINE_MAX = 224, /* bytes of a command line, with its CRLF */
    TKD_TUBE_MAX = 200, /* bytes of a tube's name */
};

/* The default of the largest body, in bytes. */
#define TKD_BODY_MAX_DEFAULT 65535

enum tkd_verb {
    TKD_PUT,
    TKD_PEEK,
    TKD_PEEK_READY,
    TKD_PEEK_DELAYED,
    TKD_PEEK_BURIED,
    TKD_RESERVE,
    TKD_RESERVE_WITH_TIMEOUT,
    TKD_RESERVE_JOB,
    TKD_DELETE,
    TKD_RELEASE,
    TKD_BURY,
    TKD_KICK,
    TKD_KICK_JOB,
    TKD_TOUCH,
    TKD_STATS,
    TKD_STATS_JOB,
    TKD_STATS_TUBE,
    TKD_USE,
    TKD_WATCH,
    TKD_IGNORE,
    TKD_LIST_TUBES,
    TKD_LIST_TUBE_USED,
    TKD_LIST_TUBES_WATCHED,
    TKD_PAUSE_TUBE,
    TKD_QUIT,
    TKD_VERBS
};

/* A command line.  Fields that a verb does not have are 0. */
struct tkd_command {
    enum tkd_verb verb;
    uint32_t pri;      /* put, release, bury */
    uint64_t id;       /* of a job; kick: the most jobs to kick, < 2^32 */
    uint64_t delay_ns; /* put, release: the delay; reserve-with-timeout: the
                          timeout; pause-tube: how long */
    uint64_t ttr_ns;   /* put; as it was sent: 0 stays 0 */
    uint32_t bytes;    /* put: the length of the body, without its CRLF */
    uint8_t tube_length;
    char tube[TKD_TUBE_MAX]; /* use, watch, ignore, stats-tube, pause-tube; not
                                ended by a 0; bytes after `tube_length` are not
                                set */
};

#endif
