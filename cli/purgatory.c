/*
 * purgatory.c - `tickwheel purgatory`: hundreds of thousands of requests that
 * wait for a condition or a timeout, in real time.
 *
 * The picture is of waits: each request that is done is in the bar of how long
 * it took.  Nearly all are completed well before the timeout; those few that
 * expire make the bar at the right end.
 */
#define _POSIX_C_SOURCE 200809L

#include "commands.h"

#include "chart.h"
#include "interrupt.h"
#include "live.h"
#include "requests.h"
#include "stopwatch.h"
#include "words.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>

static const char usage_text[] =
    "usage: tickwheel purgatory [OPTION...]\n"
    "\n"
    "Keep requests outstanding in real time.  Each request waits until its\n"
    "two keys have advanced, or for its timeout.  Two threads issue requests,\n"
    "advance the keys and notify the purgatory.  The exit status is 1 if a\n"
    "request expired early, was lost or completed twice, and 3 if there was\n"
    "not enough memory.\n"
    "\n"
    "    --requests N        requests outstanding, 1 to 10000000;\n"
    "                        default 300000\n"
    "    --keys N            number of keys, 2 to 10000000; default 30000\n"
    "    --timeout S         seconds until a request expires, 0.1 to 3600;\n"
    "                        default 5\n"
    "    --round S           notify each key once in S seconds, 0.1 to 3600;\n"
    "                        default 3\n"
    "    --never N           one request in N never completes, and expires;\n"
    "                        default 5000\n"
    "    --seconds S         seconds to run, 0.1 to 86400; default 12\n"
    "    --seed N            seed of the random numbers; default 1\n"
    "    --plain             print lines instead of a picture, as without a\n"
    "                        terminal\n"
    "    --quiet             print only the summary\n"
    "    --help              print this text\n";

static const struct option known[] = {
    {"requests", required_argument, NULL, 'n'},
    {"keys", required_argument, NULL, 'k'},
    {"timeout", required_argument, NULL, 't'},
    {"round", required_argument, NULL, 'o'},
    {"never", required_argument, NULL, 'v'},
    {"seconds", required_argument, NULL, 's'},
    {"seed", required_argument, NULL, 'r'},
    {"plain", no_argument, NULL, 'p'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

_Static_assert((int)REQUESTS_BINS == (int)CHART_BINS, "a chart of the waits");

struct purgatory {
    struct requests_settings settings;
    struct live live;
    struct requests requests;
    struct live_rate completed, expired, checks, program;
};

static bool read_option(void *settings, int c, char **argv)
{
    struct purgatory *purgatory = settings;
    struct requests_settings *s = &purgatory->settings;
    switch (c) {
    case 'n':
        return option_number("--requests", optarg, 1, 10000000,
                             &s->outstanding);
    case 'k':
        return option_number("--keys", optarg, 2, 10000000, &s->keys);
    case 't':
        return option_decimal("--timeout", optarg, 0.1, 3600, &s->timeout_s);
    case 'o':
        return option_decimal("--round", optarg, 0.1, 3600, &s->round_s);
    case 'v':
        return option_number("--never", optarg, 1, UINT64_MAX, &s->lost_in);
    case 's':
        return option_decimal("--seconds", optarg, 0.1, 86400,
                              &purgatory->live.seconds);
    case 'r':
        return option_number("--seed", optarg, 0, UINT64_MAX, &s->seed);
    case 'p':
        purgatory->live.is_plain = true;
        return true;
    case 'q':
        purgatory->live.is_quiet = true;
        return true;
    default:
        option_refuse(c, argv, known);
        return false;
    }
}

/* Units stand below, so that no line begins with a name of the summary. */
static const char heads[] =
    "  time     watched    delayed completed expired early               late"
    " memory\n"
    "                                     /s      /s                         "
    "     MB\n";

static struct words words_late(const struct requests_stats *f)
{
    struct words words = {"-"};
    if (f->expired > 0)
        snprintf(words.text, sizeof words.text, "%.2f to %.2f ms",
                 f->late_min_ms, f->late_max_ms);
    return words;
}

static uint64_t answered(const struct requests_stats *f)
{
    return f->completed - f->expired;
}

static double bytes_each(const struct requests_stats *f)
{
    return f->purgatory.delayed > 0
               ? (double)f->purgatory.bytes / (double)f->purgatory.delayed
               : 0;
}

static struct requests_stats take_stock(struct purgatory *purgatory,
                                        double elapsed_s)
{
    struct requests_stats f = requests_read_stats(&purgatory->requests);
    live_rate_update(&purgatory->completed, elapsed_s, (double)answered(&f));
    live_rate_update(&purgatory->expired, elapsed_s, (double)f.expired);
    live_rate_update(&purgatory->checks, elapsed_s, (double)f.checks);
    live_rate_update(&purgatory->program, elapsed_s, live_program_ns());
    return f;
}

static void write_line(void *context, double elapsed_s)
{
    struct purgatory *purgatory = context;
    struct requests_stats f = take_stock(purgatory, elapsed_s);
    printf("%4.0f s  %10s %10s %9s %7.0f %5" PRIu64 " %18s %6.1f\n", elapsed_s,
           words_count(f.purgatory.watched).text,
           words_count(f.purgatory.delayed).text,
           words_short(purgatory->completed.per_s).text,
           purgatory->expired.per_s, f.early, words_late(&f).text,
           (double)f.purgatory.bytes / 1e6);
}

static unsigned draw_panel(const struct purgatory *purgatory,
                           const struct requests_stats *f,
                           struct screen *screen, unsigned row)
{
    chart_item(screen, row, 0, "delayed", "%s timeouts pending",
               words_count(f->purgatory.delayed).text);
    chart_item(screen, row, 1, "watched", "%s, on %s keys",
               words_count(f->purgatory.watched).text,
               words_count(f->purgatory.keys).text);
    chart_item(screen, row, 2, "completed", "%s, %s/s",
               words_count(answered(f)).text,
               words_short(purgatory->completed.per_s).text);
    chart_item(screen, row, 3, "expired", "%s, %.0f/s",
               words_count(f->expired).text, purgatory->expired.per_s);
    chart_item(screen, row, 4, "notified", "%s, %s/s",
               words_count(f->checks).text,
               words_short(purgatory->checks.per_s).text);
    chart_item(screen, row, 5, "late", "%s", words_late(f).text);
    chart_item(screen, row, 6, "early", "%" PRIu64, f->early);
    chart_item(screen, row, 7, "memory", "%.1f MB, %.0f bytes each",
               (double)f->purgatory.bytes / 1e6, bytes_each(f));
    chart_item(screen, row, 8, "program", "%s",
               live_words_share(purgatory->program.per_s).text);
    return row + 6;
}

static unsigned draw(void *context, double elapsed_s, struct screen *screen)
{
    enum { OTHER_ROWS = 11, CHART_ROWS_MAX = 20 };
    struct purgatory *purgatory = context;
    const struct requests_settings *s = &purgatory->settings;
    struct requests_stats f = take_stock(purgatory, elapsed_s);
    uint64_t bins[REQUESTS_BINS];
    unsigned rows = screen->rows > OTHER_ROWS ? screen->rows - OTHER_ROWS : 0;

    requests_waits(&purgatory->requests, bins);
    screen_text(screen, 0, 0, TONE_STRONG, "tickwheel");
    screen_text(screen, 0, CHART_LEFT, TONE_STRONG,
                "%s requests outstanding, each on 2 of %s keys",
                words_count(s->outstanding).text, words_count(s->keys).text);
    screen_text(screen, 1, CHART_LEFT, TONE_PLAIN,
                "bars: how long ended requests waited; log scale");
    struct chart chart = {
        .bins = bins,
        .span_s = s->timeout_s,
        .mark = CHART_BINS - 1,
        .full = f.completed / 10 + 10,
        .names = {"completed", "expired, at the timeout"},
    };
    unsigned row = chart_draw(&chart, screen, 3,
                              rows < CHART_ROWS_MAX ? rows : CHART_ROWS_MAX);
    return draw_panel(purgatory, &f, screen, row + 1);
}

/* A line begins with a name and a number, for scripts. */
static void report(const struct purgatory *purgatory,
                   const struct requests_stats *f, double seconds)
{
    const struct requests_settings *s = &purgatory->settings;
    words_write(stdout, LIVE_TEXT_COLUMN,
                "%-11s %12" PRIu64
                "   each on 2 of %s keys, with a timeout of %g s",
                "issued", f->issued, words_count(s->keys).text, s->timeout_s);
    words_write(stdout, LIVE_TEXT_COLUMN,
                "%-11s %12" PRIu64 "   in time, %s a second, %s keys notified",
                "completed", answered(f),
                words_short((double)answered(f) / seconds).text,
                words_count(f->checks).text);
    printf("%-11s %12" PRIu64 "   %" PRIu64 " early", "expired", f->expired,
           f->early);
    if (f->expired > 0)
        printf(", %s late", words_late(f).text);
    printf("\n");
    words_write(stdout, LIVE_TEXT_COLUMN,
                "%-11s %12" PRIu64 "   at the end: %s watched, %s delayed",
                "pending", f->issued - f->completed,
                words_count(f->purgatory.watched).text,
                words_count(f->purgatory.delayed).text);
    printf("%-11s %12" PRIu64 "   completed twice, rejected, or expired though "
           "true\n",
           "wrong", f->wrong);
    printf("%-11s %12.1f   MB, %.0f bytes for each pending request\n", "memory",
           (double)f->purgatory.bytes / 1e6, bytes_each(f));
    words_write(
        stdout, LIVE_TEXT_COLUMN,
        "%-11s %12.1f   %% of a core, %.2f us a completion, with issuing",
        "program", purgatory->program.per_s / 1e7,
        answered(f) > 0
            ? purgatory->program.per_s * seconds / 1e3 / (double)answered(f)
            : 0);
}

static int stop_and_report(struct purgatory *purgatory, double seconds)
{
    struct requests *requests = &purgatory->requests;
    requests_stop(requests);
    struct requests_stats stats = requests_read_stats(requests);
    bool is_well =
        stats.early == 0 && stats.wrong == 0 && requests_add_up(requests);

    report(purgatory, &stats, seconds);
    is_well = requests_close(requests) && is_well;
    if (!is_well) {
        fprintf(stderr,
                "tickwheel: bug: a request expired early, was lost or "
                "completed twice; report it with --seed %" PRIu64 "\n",
                purgatory->settings.seed);
        return EXIT_FAILED;
    }
    if (stats.unissued > 0)
        return failure_report("all requests", -ENOMEM);
    return EXIT_FINE;
}

static int run(struct purgatory *purgatory)
{
    struct requests *requests = &purgatory->requests;
    int error = requests_open(requests, &purgatory->settings);
    if (error != 0)
        return failure_report("the purgatory", error);
    double began = stopwatch_ns(), program = live_program_ns();
    purgatory->program.count = program;
    if (!requests_start(requests)) {
        fprintf(
            stderr,
            "tickwheel: cannot start a thread; check the limits (ulimit -u)\n");
        requests_close(requests);
        return EXIT_FAILED;
    }
    error = live_watch(&purgatory->live);
    double seconds = (stopwatch_ns() - began) / 1e9;
    purgatory->program.per_s = (live_program_ns() - program) / seconds;

    int status = stop_and_report(purgatory, seconds);
    if (error != 0)
        status = failure_report("the terminal", error);
    if (status == EXIT_FINE && interrupt_signal() != 0)
        status = EXIT_SIGNAL + interrupt_signal();
    return status;
}

int purgatory_main(int argc, char **argv)
{
    struct purgatory purgatory = {
        .settings = {.outstanding = 300000,
                     .keys = 30000,
                     .timeout_s = 5,
                     .round_s = 3,
                     .lost_in = 5000,
                     .seed = 1},
        .live = {.seconds = 12,
                 .draw = draw,
                 .heads = heads,
                 .line = write_line},
    };
    struct live_options options = {usage_text, known, read_option, &purgatory};

    int status = live_read_options(&options, argc, argv);
    if (status >= 0)
        return status;
    purgatory.live.context = &purgatory;
    interrupt_catch();
    setlocale(LC_CTYPE, ""); /* for the glyphs; numbers keep their point */
    return run(&purgatory);
}
