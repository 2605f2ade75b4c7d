/*
 * demo.c - `tickwheel demo`: a wheel at work, in virtual time.
 *
 * On a terminal that is a show.  Anywhere else it is one in lines if a pace is
 * asked for; if not, the load runs at full speed, and only the summary is
 * written.
 */
#include "commands.h"

#include "interrupt.h"
#include "load_option.h"
#include "report.h"
#include "screen.h"
#include "show.h"

#include <getopt.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>

static const char usage_text[] =
    "usage: tickwheel demo [OPTION...]\n"
    "\n"
    "Show a wheel at work: its levels, its hands, how timers fall and fire.\n"
    "Time is virtual; a tick is a millisecond.  Without a terminal, or with\n"
    "--plain, the command prints only the summary; with --seconds or --speed\n"
    "it prints lines before the summary.\n"
    "\n"
    "    --load NAME         burst: tasks created within a second, all due\n"
    "                            half an hour later (default)\n"
    "                        requests: answers cancel most timers\n"
    "                        idle: every packet postpones a timer\n"
    "    --timers N          number of timers, 1 to 100000000; default\n"
    "                        1000000, idle 100000\n"
    "    --delay MS          delay of each timer, 1 to 10^15; default\n"
    "                        1800000, half an hour; requests 10000,\n"
    "                        idle 30000\n"
    "    --geometry SIZES    slots of each level, lowest first: 20, 60,60,12;\n"
    "                        512r or 512,rounds for a hashed wheel;\n"
    "                        default 128,512,64\n"
    "    --seconds S         seconds to run, 0.1 to 86400; default 18\n"
    "    --speed X           virtual milliseconds per real millisecond; 0\n"
    "                        runs as fast as possible, without lines;\n"
    "                        default: varies, to fill --seconds\n"
    "    --seed N            seed of the random numbers; default 1\n"
    "    --plain             draw no picture, even on a terminal\n"
    "    --help              print this text\n";

static const double default_seconds = 18;

struct demo {
    struct load_settings load;
    double seconds; /* 0: not given */
    double speed;   /* negative: not given */
    bool is_plain;
};

static const struct option options[] = {
    LOAD_OPTIONS,
    {"geometry", required_argument, NULL, 'g'},
    {"seconds", required_argument, NULL, 's'},
    {"speed", required_argument, NULL, 'x'},
    {"plain", no_argument, NULL, 'p'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool read_option(struct demo *demo, int c, char **argv)
{
    if (load_option_is(c))
        return load_option_read(&demo->load, c, optarg);
    switch (c) {
    case 'g':
        return option_geometry("--geometry", optarg, &demo->load.geometry);
    case 's':
        return option_decimal("--seconds", optarg, 0.1, 86400, &demo->seconds);
    case 'x':
        return option_decimal("--speed", optarg, 0, 1e12, &demo->speed);
    case 'p':
        demo->is_plain = true;
        return true;
    default:
        option_refuse(c, argv, options);
        return false;
    }
}

static int show(struct demo *demo, struct load *load)
{
    bool is_plain = demo->is_plain || !screen_is_possible();
    bool is_paced = demo->seconds > 0 || demo->speed >= 0;
    double seconds = demo->seconds > 0 ? demo->seconds : default_seconds;
    double speed = is_plain && !is_paced ? 0 : demo->speed;
    struct show run = {.load = load};

    /* With a speed, the seconds only say when to leave. */
    if (demo->speed >= 0)
        run.seconds_max = demo->seconds;
    pace_init(&run.pace, load, seconds, speed);
    return is_plain ? show_in_lines(&run) : show_on_screen(&run);
}

static int run(struct demo *demo)
{
    struct load load;
    int error = load_open(&load, &demo->load);
    if (error != 0)
        return failure_report("the timers", error);
    interrupt_catch();
    int status = EXIT_FINE;
    error = show(demo, &load);
    if (error != 0) {
        status = failure_report("the terminal", error);
    } else {
        report(&load);
        if (!load_holds(&load)) {
            fprintf(stderr,
                    "tickwheel: bug: a timer was early, late or lost; "
                    "report it with --seed %" PRIu64 "\n",
                    demo->load.seed);
            status = EXIT_FAILED;
        }
    }
    if (status == EXIT_FINE && interrupt_signal() != 0)
        status = EXIT_SIGNAL + interrupt_signal();
    load_close(&load);
    return status;
}

int demo_main(int argc, char **argv)
{
    struct demo demo = {.load = load_option_defaults(), .speed = -1};

    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        if (c == 'h')
            return fputs(usage_text, stdout) < 0 ? EXIT_FAILED : EXIT_FINE;
        if (!read_option(&demo, c, argv))
            return EXIT_USAGE;
    }
    if (optind < argc) {
        fprintf(stderr,
                "tickwheel: demo does not take '%s'; see tickwheel demo "
                "--help\n",
                argv[optind]);
        return EXIT_USAGE;
    }
    load_option_complete(&demo.load);
    setlocale(LC_CTYPE, ""); /* for the glyphs; numbers keep their point */
    return run(&demo);
}
