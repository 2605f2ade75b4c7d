/*
 * servers/options.c - the options of the command line.
 *
 * Each number has a range; a workload has defaults, and rejects the options
 * that it does not take.
 */
#define _GNU_SOURCE /* for getopt_long() */

#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "support.h"
#include "workload.h"

struct range {
    const char *name;
    uint64_t least;
    uint64_t most;
};

/* Delays are sent in milliseconds of 32 bits: --delay and --span together
 * must fit. */
static const struct range ranges[SETTINGS] = {
    [CONNECTIONS] = {"connections", 1, 60000},
    [PIPELINE] = {"pipeline", 1, 100000},
    [BODY] = {"body", 10, 65535},
    [JOBS] = {"jobs", 1, 1000000000},
    [SECONDS] = {"seconds", 1, 86400},
    [DELAY] = {"delay", 0, 2000000},
    [SPAN] = {"span", 1, 2000000},
    [BATCH] = {"batch", 1, 1000},
    [BYSTANDERS] = {"bystanders", 1, 1000},
    [FRACTIONS] = {"fractions", 1, 1},
    [PID] = {"pid", 1, INT32_MAX},
};

/* Values that getopt_long() returns; settings are returned as themselves. */
enum { OPTION_CONNECT = 256, OPTION_JSON, OPTION_HELP };

const char *setting_name(enum setting setting)
{
    return ranges[setting].name;
}

static void print_help(const struct workload *const *workloads)
{
    fputs(help_text, stdout);
    putchar('\n');
    for (; *workloads != NULL; workloads++) {
        printf("    %-7s", (*workloads)->name);
        for (unsigned i = 0; i < SETTINGS; i++)
            if ((*workloads)->defaults[i] != 0)
                printf(" --%s %" PRIu64, ranges[i].name,
                       (*workloads)->defaults[i]);
        putchar('\n');
    }
}

/* Call after a message that says what is wrong. */
static int refuse(void)
{
    fputs("see bench_servers --help\n", stderr);
    return 2;
}

static const struct workload *find(const struct workload *const *workloads,
                                   const char *name)
{
    for (; *workloads != NULL; workloads++)
        if (strcmp((*workloads)->name, name) == 0)
            return *workloads;
    return NULL;
}

static bool read_setting(struct options *options, enum setting setting,
                         const char *text)
{
    const struct range *range = &ranges[setting];
    if (!(options->workload->takes & TAKES(setting))) {
        fprintf(stderr, "bench_servers: %s takes no --%s\n",
                options->workload->name, range->name);
        return false;
    }
    if (setting == FRACTIONS) {
        options->number[setting] = 1;
        return true;
    }
    uint64_t least =
        setting == DELAY ? options->workload->delay_min : range->least;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 ||
        number < least || number > range->most) {
        fprintf(stderr,
                "bench_servers: --%s is '%s'; give %" PRIu64 " to %" PRIu64
                "\n",
                range->name, text, least, range->most);
        return false;
    }
    options->number[setting] = number;
    return true;
}

static bool read_address(struct options *options, const char *text)
{
    const char *wrong = address_parse(&options->address, text);
    if (wrong != NULL)
        fprintf(stderr, "bench_servers: --connect is '%s': %s\n", text, wrong);
    return wrong == NULL;
}

static bool take_option(struct options *options, int option)
{
    if (option >= 0 && option < SETTINGS)
        return read_setting(options, (enum setting)option, optarg);
    if (option == OPTION_CONNECT)
        return read_address(options, optarg);
    options->is_json = option == OPTION_JSON;
    return options->is_json;
}

/* Fills the table for getopt_long(), which ends with a zero-filled element. */
static void list_options(struct option *known)
{
    for (int i = 0; i < SETTINGS; i++)
        *known++ = (struct option){ranges[i].name, i != FRACTIONS, NULL, i};
    *known++ = (struct option){"connect", 1, NULL, OPTION_CONNECT};
    *known++ = (struct option){"json", 0, NULL, OPTION_JSON};
    *known++ = (struct option){"help", 0, NULL, OPTION_HELP};
}

static bool is_help(int count, char **texts)
{
    for (int i = 1; i < count; i++)
        if (strcmp(texts[i], "--help") == 0 || strcmp(texts[i], "-h") == 0)
            return true;
    return false;
}

/* Sets the workload and its defaults.  Returns false after a message. */
static bool choose(struct options *options, const char *name,
                   const struct workload *const *workloads)
{
    *options = (struct options){0};
    if (name == NULL) {
        fputs("bench_servers: give a workload\n", stderr);
        return false;
    }
    options->workload = find(workloads, name);
    if (options->workload == NULL) {
        fprintf(stderr, "bench_servers: there is no workload '%s'\n", name);
        return false;
    }
    memcpy(options->number, options->workload->defaults,
           sizeof options->number);
    return read_address(options, "127.0.0.1:11300");
}

int options_read(struct options *options, int count, char **texts,
                 const struct workload *const *workloads)
{
    static char name[] = "bench_servers"; /* getopt_long() prints it */
    struct option known[SETTINGS + 4] = {{0}};
    if (is_help(count, texts)) {
        print_help(workloads);
        return 0;
    }
    if (!choose(options, count > 1 ? texts[1] : NULL, workloads))
        return refuse();
    texts[1] = name;
    list_options(known);
    for (int option;
         (option = getopt_long(count - 1, texts + 1, "", known, NULL)) != -1;)
        if (!take_option(options, option))
            return refuse();
    if (optind < count - 1) {
        fprintf(stderr, "bench_servers: there is no '%s'\n", texts[1 + optind]);
        return refuse();
    }
    return -1;
}
