#define _GNU_SOURCE

#include "options.h"

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
    "  -l, --listen ADDRESS       listen here (127.0.0.1); an address, a name "
    "or\n"
    "                             unix:PATH; may be repeated\n"
    "  -p, --port PORT            port of TCP (11300); 0: any free port\n"
    "  -z, --max-job-size BYTES   longest body of a job (65535); at most 2^30\n"
    "      --memory BYTES         refuse puts when jobs need more; K, M, G: "
    "1G\n"
    "      --max-connections N    more have to wait (as the system allows)\n"
    "  -u, --user USER            become this user when the sockets are open\n"
    "  -b, --dir DIR              keep jobs on disk: not in this version\n"
    "  -f, --sync-ms MS           with -b: sync every MS milliseconds\n"
    "  -F, --no-sync              with -b: never sync\n"
    "  -V, --verbose              log connections; -VV: commands, too\n"
    "  -v, --version              print the version\n"
    "  -h, --help                 print this help\n"
    "\n"
    "The options -s BYTES, -c and -n of beanstalkd are accepted and ignored.\n"
    "Sockets of systemd (LISTEN_FDS) replace -l and -p.  Signals: TERM and "
    "INT\n"
    "end the server, USR1 makes it refuse new jobs.\n";

/* Options without a letter. */
enum { MEMORY = 256, CONNECTIONS };

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
    case 'b':
        return fail(fault, "-b: this version keeps jobs in memory only");
    case 'f':
        return read_number("-f", text, 0, UINT32_MAX, &number, fault);
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
        if (option == 'V')
            options->verbosity++;
        else if (optarg != NULL && !read_value(options, option, optarg, fault))
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
    };
    if (!read_all(options, &request, argc, argv, fault))
        return TKD_REQUEST_BAD;
    if (options->listen_count == 0)
        options->listen[options->listen_count++] = TKD_HOST_DEFAULT;
    return request;
}
