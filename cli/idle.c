/*
 * idle.c - `tickwheel idle`: who has gone silent, of 100,000 connections, in
 * real time.
 *
 * The picture is of ages: each connection is in the bar of how long ago it was
 * heard from.  A packet takes it back to the left end; those that fall silent
 * drift to the right, where no live one gets, and are found at the end.
 */
#define _POSIX_C_SOURCE 200809L

#include "commands.h"

#include "chart.h"
#include "gateway.h"
#include "interrupt.h"
#include "live.h"
#include "stopwatch.h"
#include "words.h"

#include <inttypes.h>
#include <locale.h>
#include <stdio.h>

static const char usage_text[] =
    "usage: tickwheel idle [OPTION...]\n"
    "\n"
    "Track connections in real time and find those that have gone silent.  A\n"
    "live connection sends a packet every 20 to 25 seconds (for a limit of\n"
    "30); some go silent.  The exit status is 1 if a silent connection was\n"
    "found early or not at all, and 3 if there was not enough memory.\n"
    "\n"
    "    --connections N     number of them, 1 to 10000000; default 100000\n"
    "    --limit S           seconds of silence, 0.1 to 86400; default 30\n"
    "    --tick MS           find a silent one at most MS late, 1 to 10000;\n"
    "                        default 100\n"
    "    --silent N          connections that go silent per second, 0 to\n"
    "                        100000; default 20\n"
    "    --seconds S         seconds to run, 0.1 to 86400; default 15\n"
    "    --seed N            seed of the random numbers; default 1\n"
    "    --plain             print lines instead of a picture, as without a\n"
    "                        terminal\n"
    "    --quiet             print only the summary\n"
    "    --help              print this text\n";

static const struct option known[] = {
    {"connections", required_argument, NULL, 'c'},
    {"limit", required_argument, NULL, 'l'},
    {"tick", required_argument, NULL, 't'},
    {"silent", required_argument, NULL, 'n'},
    {"seconds", required_argument, NULL, 's'},
    {"seed", required_argument, NULL, 'r'},
    {"plain", no_argument, NULL, 'p'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct idle {
    struct gateway_settings settings;
    struct live live;
    struct gateway gateway;
    struct live_rate packets, found, tracker, program;
};

static bool read_option(void *settings, int c, char **argv)
{
    struct idle *idle = settings;
    struct gateway_settings *s = &idle->settings;
    switch (c) {
    case 'c':
        return option_number("--connections", optarg, 1, 10000000,
                             &s->connections);
    case 'l':
        return option_decimal("--limit", optarg, 0.1, 86400, &s->limit_s);
    case 't':
        return option_decimal("--tick", optarg, 1, 10000, &s->tick_ms);
    case 'n':
        return option_decimal("--silent", optarg, 0, 100000, &s->silent_rate);
    case 's':
        return option_decimal("--seconds", optarg, 0.1, 86400,
                              &idle->live.seconds);
    case 'r':
        return option_number("--seed", optarg, 0, UINT64_MAX, &s->seed);
    case 'p':
        idle->live.is_plain = true;
        return true;
    case 'q':
        idle->live.is_quiet = true;
        return true;
    default:
        option_refuse(c, argv, known);
        return false;
    }
}

static void update_rates(struct idle *idle, const struct gateway_stats *f,
                         double elapsed_s)
{
    live_rate_update(&idle->packets, elapsed_s, (double)f->packets);
    live_rate_update(&idle->found, elapsed_s, (double)f->found);
    live_rate_update(&idle->tracker, elapsed_s, f->tracker_ns);
    live_rate_update(&idle->program, elapsed_s, live_program_ns());
}

/* Units stand below, so that no line begins with a name of the summary. */
static const char heads[] =
    "  time        held    packets       found  early                late  "
    "tracker\n"
    "                           /s                                           "
    "    %\n";

static struct words words_late(const struct gateway_stats *f)
{
    struct words words = {"-"};
    if (f->found > 0)
        snprintf(words.text, sizeof words.text, "%.1f to %.1f ms",
                 f->late_min_ms, f->late_max_ms);
    return words;
}

static void write_line(void *context, double elapsed_s)
{
    struct idle *idle = context;
    struct gateway_stats f = gateway_read_stats(&idle->gateway);
    update_rates(idle, &f, elapsed_s);
    printf("%4.0f s  %10s  %9.0f  %10s  %5" PRIu64 "  %18s  %7.2f\n", elapsed_s,
           words_count(f.idle.keys).text, idle->packets.per_s,
           words_count(f.found).text, f.early, words_late(&f).text,
           idle->tracker.per_s / 1e7);
}

/* Nanoseconds of the tracker for each packet, checks and finding included. */
static double packet_ns(const struct gateway_stats *f)
{
    return f->packets > 0 ? f->tracker_ns / (double)f->packets : 0;
}

static unsigned draw_panel(const struct idle *idle,
                           const struct gateway_stats *f, struct screen *screen,
                           unsigned row)
{
    chart_item(screen, row, 0, "held", "%s connections",
               words_count(f->idle.keys).text);
    chart_item(screen, row, 1, "packets", "%s, %.0f/s",
               words_count(f->packets).text, idle->packets.per_s);
    chart_item(screen, row, 2, "found", "%s silent, %.0f/s",
               words_count(f->found).text, idle->found.per_s);
    chart_item(screen, row, 3, "late", "%s", words_late(f).text);
    chart_item(screen, row, 4, "early", "%" PRIu64, f->early);
    chart_item(screen, row, 5, "checks", "%s expired timers examined",
               words_count(f->idle.checks).text);
    chart_item(screen, row, 6, "tracker", "%s",
               live_words_share(idle->tracker.per_s).text);
    chart_item(screen, row, 7, "a packet", "%.0f ns of the tracker",
               packet_ns(f));
    chart_item(screen, row, 8, "program", "%s",
               live_words_share(idle->program.per_s).text);
    chart_item(screen, row, 9, "memory", "%.0f bytes a connection",
               (double)f->idle.bytes / (double)idle->settings.connections);
    return row + 6;
}

static unsigned draw_recent(const struct gateway_stats *f,
                            struct screen *screen, unsigned row)
{
    for (unsigned i = 0; i < GATEWAY_RECENT && i < f->found; i++)
        screen_text(screen, row + i, 0, i == 0 ? TONE_HAND : TONE_DIM,
                    "connection %s was silent for %.3f s",
                    words_count(f->recent[i].id).text, f->recent[i].silence_s);
    return row + GATEWAY_RECENT + 1;
}

static unsigned draw(void *context, double elapsed_s, struct screen *screen)
{
    enum { OTHER_ROWS = 16, CHART_ROWS_MAX = 16 };
    struct idle *idle = context;
    const struct gateway_settings *s = &idle->settings;
    struct gateway_stats f = gateway_read_stats(&idle->gateway);
    uint64_t bins[CHART_BINS];
    unsigned rows = screen->rows > OTHER_ROWS ? screen->rows - OTHER_ROWS : 0;

    update_rates(idle, &f, elapsed_s);
    gateway_ages(&idle->gateway, bins, CHART_BINS);
    screen_text(screen, 0, 0, TONE_STRONG, "tickwheel");
    screen_text(screen, 0, CHART_LEFT, TONE_STRONG,
                "%s connections, closed after %s of silence",
                words_count(s->connections).text,
                words_duration(s->limit_s * 1000).text);
    screen_text(screen, 1, CHART_LEFT, TONE_PLAIN,
                "bars: time since the last packet; log scale");
    struct chart chart = {
        .bins = bins,
        .span_s = s->limit_s,
        .mark = CHART_BINS * 5 / 6,
        .full = s->connections / 10,
        .names = {"connections", "gone silent: to be found"},
    };
    unsigned row = chart_draw(&chart, screen, 3,
                              rows < CHART_ROWS_MAX ? rows : CHART_ROWS_MAX);
    row = draw_panel(idle, &f, screen, row + 1);
    return draw_recent(&f, screen, row);
}

/* A line begins with a name and a number, for scripts. */
static void report(const struct idle *idle, const struct gateway_stats *f,
                   double seconds)
{
    const struct gateway_settings *s = &idle->settings;
    printf("%-11s %12" PRIu64 "   held at the end, %.0f bytes each\n",
           "connections", f->idle.keys,
           (double)f->idle.bytes / (double)s->connections);
    words_write(stdout, LIVE_TEXT_COLUMN,
                "%-11s %12" PRIu64
                "   %.0f a second, from each every %.3g to %.3g s",
                "packets", f->packets, (double)f->packets / seconds,
                s->limit_s * 2 / 3, s->limit_s * 5 / 6);
    words_write(stdout, LIVE_TEXT_COLUMN,
                "%-11s %12" PRIu64 "   %" PRIu64 " early, %" PRIu64
                " lost, %" PRIu64 " wrong",
                "found", f->found, f->early, f->lost, f->wrong);
    if (f->found > 0)
        words_write(stdout, LIVE_TEXT_COLUMN,
                    "%-11s %12.1f   to %.1f ms after the limit of %g s; tick "
                    "%g ms",
                    "late", f->late_min_ms, f->late_max_ms, s->limit_s,
                    s->tick_ms);
    words_write(stdout, LIVE_TEXT_COLUMN,
                "%-11s %12" PRIu64 "   expired timers examined; %" PRIu64
                " filed again",
                "checks", f->idle.checks, f->idle.refiles);
    words_write(
        stdout, LIVE_TEXT_COLUMN,
        "%-11s %12.3f   %% of a core: %.0f ns a packet, with checks and "
        "finding",
        "tracker", f->tracker_ns / seconds / 1e7, packet_ns(f));
    printf("%-11s %12.3f   %% of a core, with the making of packets\n",
           "program", idle->program.per_s / 1e7);
}

static bool is_well(const struct gateway_stats *f)
{
    return f->early == 0 && f->lost == 0 && f->wrong == 0;
}

static int run(struct idle *idle)
{
    int error = gateway_open(&idle->gateway, &idle->settings);
    if (error != 0)
        return failure_report("the connections", error);
    int status = EXIT_FINE;
    double began = stopwatch_ns(), program = live_program_ns();
    idle->program.count = program;
    if (!gateway_start(&idle->gateway)) {
        fprintf(
            stderr,
            "tickwheel: cannot start a thread; check the limits (ulimit -u)\n");
        gateway_close(&idle->gateway);
        return EXIT_FAILED;
    }
    error = live_watch(&idle->live);
    if (error != 0)
        status = failure_report("the terminal", error);
    double seconds = (stopwatch_ns() - began) / 1e9;
    idle->program.per_s = (live_program_ns() - program) / seconds;
    gateway_stop(&idle->gateway);

    struct gateway_stats stats = gateway_read_stats(&idle->gateway);
    report(idle, &stats, seconds);
    if (stats.error != 0) {
        status = failure_report("the tracker", stats.error);
    } else if (!is_well(&stats)) {
        fprintf(stderr,
                "tickwheel: bug: a connection was found early or not at all, "
                "or the tracker gave a wrong answer; report it with --seed "
                "%" PRIu64 "\n",
                idle->settings.seed);
        status = EXIT_FAILED;
    }
    if (status == EXIT_FINE && interrupt_signal() != 0)
        status = EXIT_SIGNAL + interrupt_signal();
    gateway_close(&idle->gateway);
    return status;
}

int idle_main(int argc, char **argv)
{
    struct idle idle = {
        .settings = {.connections = 100000,
                     .limit_s = 30,
                     .tick_ms = 100,
                     .silent_rate = 20,
                     .seed = 1},
        .live = {.seconds = 15,
                 .draw = draw,
                 .heads = heads,
                 .line = write_line},
    };
    struct live_options options = {usage_text, known, read_option, &idle};

    int status = live_read_options(&options, argc, argv);
    if (status >= 0)
        return status;
    idle.live.context = &idle;
    interrupt_catch();
    setlocale(LC_CTYPE, ""); /* for the glyphs; numbers keep their point */
    return run(&idle);
}
