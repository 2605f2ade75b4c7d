#define _GNU_SOURCE

#include "options.h"
#include "durable.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <protocol/command.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char tkd_options_help[] =
    "usage: tickwheeld [OPTION...]\n"
    "\n"
    "A server for delayed jobs.  It speaks the protocol of beanstalkd.\n"
    "\n"
    "  -l, --listen ADDRESS       listen here (127.0.0.1) or at unix:PATH; "
    "many\n"
    "  -p, --port PORT            port of TCP (11300); 0: any free port\n"
    "  -z, --max-job-size BYTES   longest body of a job (65535); at most 2^30\n"
    "      --memory BYTES         refuse puts when jobs need more; K, M, G: "
    "1G\n"
    "      --max-connections N    more have to wait (as the system allows)\n"
    "  -u, --user USER            become this user when the sockets are open\n"
    "  -b, --dir DIR              keep jobs here; replies wait for the disk\n"
    "  -f, --sync-ms MS           sync within MS milliseconds instead\n"
    "  -F, --no-sync              leave that to the system\n"
    "      --window-jobs N        delayed jobs in memory (1000000)\n"
    "      --disk-reserve BYTES   refuse puts when less is free (256M)\n"
    "      --max-jump SECONDS     refuse a store whose time differs by more "
    "(604800)\n"
    "      --accept-time          start although the time differs\n"
    "      --strict               with -f or -F: refuse any gap in the log\n"
    "      --check DIR            verify a store, and end\n"
    "  -V, --verbose              log connections; -VV: commands, too\n"
    "  -v, -h, --version, --help  print the version; print this\n"
    "\n"
    "Sockets of systemd (LISTEN_FDS) replace -l and -p.  -s, -c and -n are "
    "ignored.\n"
    "Signals: TERM and INT end the server, USR1 makes it refuse new jobs.\n";

/* Options without a letter. */
enum {
    MEMORY = 256,
    CONNECTIONS,
    WINDOW_JOBS,
    DISK_RESERVE,
    MAX_JUMP,
    ACCEPT_TIME,
    STRICT,
    CHECK,
};

static const char letters[] = "+:b:f:Fl:p:u:z:Vvhs:cn";

static const struct option names[] = {
    {"dir", required_argument, NULL, 'b'},
    {"sync-ms", required_argument, NULL, 'f'},
    {"no-sync", no_argument, NULL, 'F'},
    {"listen", required_argument, NULL, 'l'},
    {"port", required_argument, NULL, 'p'},
    {"user", required_argument, NULL, 'u'},
    {"max-job-size", required_argument, NULL, 'z'},
    {"verbose", no_argument, NULL, 'V'},
    {"version", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {"memory", required_argument, NULL, MEMORY},
    {"max-connections", required_argument, NULL, CONNECTIONS},
    {"window-jobs", required_argument, NULL, WINDOW_JOBS},
    {"disk-reserve", required_argument, NULL, DISK_RESERVE},
    {"max-jump", required_argument, NULL, MAX_JUMP},
    {"accept-time", no_argument, NULL, ACCEPT_TIME},
    {"strict", no_argument, NULL, STRICT},
    {"check", required_argument, NULL, CHECK},
    {NULL, 0, NULL, 0},
};

/* Write a message.  Always returns false, so that callers can tail-call it. */
__attribute__((format(printf, 2, 3))) static bool
fail(char fault[TKD_OPTIONS_FAULT_MAX], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    vsnprintf(fault, TKD_OPTIONS_FAULT_MAX, format, arguments);
    va_end(arguments);
    return false;
}

/* Numbers. */

/* Read digits.  `*end` becomes the first byte after them. */
static bool read_digits(const char *text, uint64_t *number, const char **end)
{
    char *after;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *number = strtoull(text, &after, 10);
    *end = after;
    return errno == 0;
}

static bool read_number(const char *option, const char *text, uint64_t least,
                        uint64_t most, uint64_t *number,
                        char fault[TKD_OPTIONS_FAULT_MAX])
{
    const char *end;
    if (read_digits(text, number, &end) && *end == '\0' && *number >= least &&
        *number <= most)
        return true;
    return fail(fault,
                "%s: '%s' is not possible; give a whole number from %" PRIu64
                " to %" PRIu64,
                option, text, least, most);
}

/* Return the power of two that a suffix stands for, or -1. */
static int shift_of(const char *suffix)
{
    static const char known[] = "KMG";
    if (*suffix == '\0')
        return 0;
    const char *at = strchr(known, *suffix);
    return at != NULL && suffix[1] == '\0' ? 10 * (int)(at - known + 1) : -1;
}

static bool read_bytes(const char *option, const char *text, uint64_t *number,
                       char fault[TKD_OPTIONS_FAULT_MAX])
{
    const char *end;
    if (read_digits(text, number, &end)) {
        int shift = shift_of(end);
        if (shift >= 0 && *number > 0 && *number <= UINT64_MAX >> shift) {
            *number <<= shift;
            return true;
        }
    }
    return fail(fault,
                "%s: '%s' is not possible; give a number of bytes, such as "
                "500M or 2G",
                option, text);
}

/* Options. */

static bool add_address(struct tkd_options *options, const char *text,
                        char fault[TKD_OPTIONS_FAULT_MAX])
{
    if (*text == '\0')
        return fail(fault, "-l: the address is empty; give an address, or "
                           "unix:PATH");
    if (options->listen_count == TKD_LISTENERS_MAX)
        return fail(fault, "-l: there are more than %d addresses; give fewer",
                    TKD_LISTENERS_MAX);
    options->listen[options->listen_count++] = text;
    return true;
}

/* Read an option with a value. */
static bool read_value(struct tkd_options *options, int option,
                       const char *text, char fault[TKD_OPTIONS_FAULT_MAX])
{
    uint64_t number = 0;
    bool is_good = true;
    switch (option) {
    case 'f':
        is_good = read_number("-f", text, 0, UINT32_MAX, &number, fault);
        options->sync_ms = (int64_t)number;
        return is_good;
    case WINDOW_JOBS:
        return read_number("--window-jobs", text, 1, UINT32_MAX,
                           &options->window_jobs, fault);
    case MAX_JUMP:
        return read_number("--max-jump", text, 0, UINT32_MAX,
                           &options->max_jump_s, fault);
    case DISK_RESERVE:
        return read_bytes("--disk-reserve", text, &options->disk_reserve,
                          fault);
    case 's':
        return read_number("-s", text, 0, UINT64_MAX, &number, fault);
    case 'l':
        return add_address(options, text, fault);
    case 'u':
        options->user = text;
        return true;
    case 'p':
        is_good = read_number("-p", text, 0, UINT16_MAX, &number, fault);
        options->port = (uint16_t)number;
        return is_good;
    case 'z':
        is_good =
            read_number("-z", text, 0, TKD_BODY_MAX_LIMIT, &number, fault);
        options->body_max = (uint32_t)number;
        return is_good;
    case CONNECTIONS:
        is_good = read_number("--max-connections", text, 1, UINT32_MAX, &number,
                              fault);
        options->connections_max = (uint32_t)number;
        return is_good;
    default:
        return read_bytes("--memory", text, &options->memory_max, fault);
    }
}

/* Read -b or --check. */
static bool read_directory(struct tkd_options *options, int option,
                           const char *text, enum tkd_request *request,
                           char fault[TKD_OPTIONS_FAULT_MAX])
{
    if (*text == '\0')
        return fail(fault, "%s: the name is empty; give a directory",
                    option == 'b' ? "-b" : "--check");
    options->directory = text;
    if (option == CHECK)
        *request = TKD_REQUEST_CHECK;
    return true;
}

/* Take an option without a value. */
static void take_flag(struct tkd_options *options, int option)
{
    if (option == 'V')
        options->verbosity++;
    else if (option == 'F')
        options->sync_ms = -1;
    else if (option == ACCEPT_TIME)
        options->accepts_time = true;
    else if (option == STRICT)
        options->is_strict = true;
}

/* getopt has found a fault in an argument. */
static bool refuse(int answer, char **argv, char fault[TKD_OPTIONS_FAULT_MAX])
{
    const char *text = argv[optind - 1];
    char letter[] = {'-', (char)optopt, '\0'};
    /* Inside a bundle of letters such as -Vx getopt has not moved on yet. */
    if (strncmp(text, "--", 2) != 0)
        text = letter;
    if (answer == ':')
        return fail(fault, "%s needs a value; see tickwheeld --help", text);
    return fail(fault, "'%s' is no option; see tickwheeld --help", text);
}

static bool read_all(struct tkd_options *options, enum tkd_request *request,
                     int argc, char **argv, char fault[TKD_OPTIONS_FAULT_MAX])
{
    optind = 0; /* GNU: begin anew */
    opterr = 0;
    int option;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
    while ((option = getopt_long(argc, argv, letters, names, NULL)) != -1) {
        if (option == 'h' || option == 'v') {
            *request = option == 'h' ? TKD_REQUEST_HELP : TKD_REQUEST_VERSION;
            return true;
        }
        if (option == '?' || option == ':')
            return refuse(option, argv, fault);
        bool is_good = true;
        if (optarg == NULL)
            take_flag(options, option);
        else if (option == 'b' || option == CHECK)
            is_good = read_directory(options, option, optarg, request, fault);
        else
            is_good = read_value(options, option, optarg, fault);
        if (!is_good)
            return false;
    }
    if (optind < argc)
        return fail(fault, "'%s' is no option; see tickwheeld --help",
                    argv[optind]);
    return true;
}

enum tkd_request tkd_options_read(struct tkd_options *options, int argc,
                                  char **argv,
                                  char fault[TKD_OPTIONS_FAULT_MAX])
{
    enum tkd_request request = TKD_REQUEST_SERVE;
    *options = (struct tkd_options){
        .port = TKD_PORT_DEFAULT,
        .body_max = TKD_BODY_MAX_DEFAULT,
        .disk_reserve = TKD_DISK_RESERVE_DEFAULT,
        .max_jump_s = TKD_MAX_JUMP_DEFAULT,
    };
    if (!read_all(options, &request, argc, argv, fault))
        return TKD_REQUEST_BAD;
    if (options->listen_count == 0)
        options->listen[options->listen_count++] = TKD_HOST_DEFAULT;
    return request;
}
