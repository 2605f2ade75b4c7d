/*
 * options.h - the command line of tickwheeld.
 *
 * The letters are those of beanstalkd.
 */
#ifndef TKD_OPTIONS_H
#define TKD_OPTIONS_H

#include <net/listener.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TKD_OPTIONS_FAULT_MAX = 256 }; /* bytes of a message, with its 0 */

#define TKD_PORT_DEFAULT 11300
#define TKD_HOST_DEFAULT "127.0.0.1"
#define TKD_BODY_MAX_LIMIT 1073741824

/* The values of a command line.  Strings point into `argv`. */
struct tkd_options {
    const char *listen[TKD_LISTENERS_MAX]; /* -l: addresses, or "unix:PATH" */
    size_t listen_count;                   /* at least 1 */
    uint16_t port;                         /* -p */
    const char *user;                      /* -u, or NULL */
    uint32_t body_max;                     /* -z */
    uint64_t memory_max;                   /* --memory; 0: no limit */
    const char *directory;                 /* -b or --check, or NULL */
    int64_t sync_ms;                       /* -f; -F: -1 */
    uint64_t window_jobs;                  /* --window-jobs; 0: the default */
    uint64_t disk_reserve;                 /* --disk-reserve */
    uint64_t max_jump_s;                   /* --max-jump */
    bool accepts_time;                     /* --accept-time */
    bool is_strict;                        /* --strict */
    uint32_t connections_max;              /* --max-connections; 0: as many as
                                              the system allows */
    unsigned verbosity;                    /* -V: how often */
};

enum tkd_request {
    TKD_REQUEST_SERVE,
    TKD_REQUEST_HELP,
    TKD_REQUEST_VERSION,
    TKD_REQUEST_CHECK, /* verify the store in `directory` */
    TKD_REQUEST_BAD,   /* the message is in `fault` */
};

/* Read a command line. */
enum tkd_request tkd_options_read(struct tkd_options *options, int argc,
                                  char **argv,
                                  char fault[TKD_OPTIONS_FAULT_MAX]);

/* The text that --help prints. */
extern const char tkd_options_help[];

#endif
