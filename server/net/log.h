/*
 * net/log.h - one line for each event, to standard error.
 *
 * A line is a list of key=value.  The first key is "event".
 */
#ifndef TKD_NET_LOG_H
#define TKD_NET_LOG_H

enum tkd_log_level {
    TKD_LOG_SERVER,      /* start, stop, faults */
    TKD_LOG_CONNECTIONS, /* -V: each connection */
    TKD_LOG_COMMANDS,    /* -VV: each command */
};

struct tkd_log {
    enum tkd_log_level level; /* lines of higher levels are dropped */
};

/* Write a line.  `format` is that of printf(), without the newline. */
__attribute__((format(printf, 3, 4))) void
tkd_log_write(const struct tkd_log *log, enum tkd_log_level level,
              const char *format, ...);

#endif
