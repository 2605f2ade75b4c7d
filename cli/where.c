/*
 * where.c - `tickwheel where`: the way of one deadline through the levels.
 *
 * A dial is turned to the expiration of each slot the deadline is filed in,
 * and asked again, as the wheel does when the slot comes round.
 */
#include "commands.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

static const char usage_text[] =
    "usage: tickwheel where [--geometry SIZES] NOW DEADLINE\n"
    "\n"
    "Print the slots through which a timer falls that is armed at the tick\n"
    "NOW for the tick DEADLINE, and the tick until which it waits in each.\n"
    "\n"
    "    --geometry SIZES    slots of each level, lowest first: 20, 60,60,12;\n"
    "                        512r or 512,rounds for a hashed wheel;\n"
    "                        default 128,512,64\n"
    "    --help              print this text\n";

static void print_spot(const struct tkw_spot *spot)
{
    printf("level %" PRIu32 ", slot %" PRIu32, spot->level, spot->slot);
    if (spot->rounds == 1)
        printf(", passed over once");
    else if (spot->rounds > 1)
        printf(", passed over %" PRIu64 " times", spot->rounds);
    printf(", until %" PRIu64 "\n", spot->expiration);
}

static void print_way(const struct tkw_geometry *geometry, tkw_tick now,
                      tkw_tick deadline)
{
    if (deadline == TKW_NEVER) {
        puts("never");
        return;
    }
    if (deadline <= now) {
        puts("due now");
        return;
    }
    struct tkw_dial dial;
    tkw_dial_init(&dial, geometry, now, NULL);
    for (;;) {
        struct tkw_spot spot = tkw_dial_where(&dial, deadline);
        if (spot.level == 0)
            break;
        print_spot(&spot);
        tkw_dial_turn(&dial, spot.expiration);
    }
    printf("due at %" PRIu64 "\n", deadline);
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

/* getopt_long() takes a negative number for options. */
static void refuse(int answer, char **argv, const struct option *known)
{
    for (char **word = argv + 1; is_digit(optopt) && *word != NULL; word++) {
        if ((*word)[0] != '-' || !is_digit((*word)[1]))
            continue;
        fprintf(stderr,
                "tickwheel: '%s' is negative; give a whole number from 0 to "
                "%" PRIu64 "\n",
                *word, UINT64_MAX);
        return;
    }
    option_refuse(answer, argv, known);
}

int where_main(int argc, char **argv)
{
    static const struct option options[] = {
        {"geometry", required_argument, NULL, 'g'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct tkw_geometry geometry = {0};
    tkw_tick now, deadline;

    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        if (c == 'h')
            return fputs(usage_text, stdout) < 0 ? EXIT_FAILED : EXIT_FINE;
        if (c != 'g') {
            refuse(c, argv, options);
            return EXIT_USAGE;
        }
        if (!option_geometry("--geometry", optarg, &geometry))
            return EXIT_USAGE;
    }
    if (argc - optind != 2) {
        fprintf(stderr, "tickwheel: where needs NOW and DEADLINE; see "
                        "tickwheel where --help\n");
        return EXIT_USAGE;
    }
    if (!option_number("NOW", argv[optind], 0, UINT64_MAX, &now) ||
        !option_number("DEADLINE", argv[optind + 1], 0, UINT64_MAX, &deadline))
        return EXIT_USAGE;
    print_way(&geometry, now, deadline);
    return EXIT_FINE;
}
