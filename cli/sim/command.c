/*
 * command.c - `tickwheel sim`: which geometry is best for a load?
 *
 * The command reads a trace or makes up a load, and replays it on every
 * geometry.  A film is drawn in a replay of its own, on the first geometry,
 * because drawing would disturb the measurement.  The command moves its files
 * into place before it writes the table: if the reader of the table leaves
 * early, no draft remains.
 */
#define _DEFAULT_SOURCE /* for realpath() */

#include "../commands.h"
#include "../draft.h"
#include "../interrupt.h"
#include "../words.h"
#include "film.h"
#include "options.h"
#include "plot.h"
#include "progress.h"
#include "table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sim {
    const struct sim_options *options;
    struct trace trace;
    char title[200];
    struct sim_row *rows;
    size_t row_count;
    struct progress progress;
    struct draft chart, film, write;
};

static const struct tkw_geometry usual[] = {
    {.sizes = {128, 512, 64}}, {.sizes = {20}},
    {.sizes = {64}},           {.sizes = {256}},
    {.sizes = {60, 60, 24}},   {.sizes = {65536}, .beyond = TKW_ROUNDS},
};

enum {
    USUAL = sizeof usual / sizeof usual[0],
    REPEATS = 3, /* of what takes no longer than this ... */
};

static const double repeated_ns = 3e8;

/* ... and what nobody asked for is left out if it would pass timers over more
 * often: a minute or so. */
static const double passes_most = 5e9;

/* Timers that wait so long on the average are rather told in other units. */
static const double delay_most = 1e9;

/* Say what went wrong; who was asked to end need not. */
static int fail(struct sim *sim, const char *what, int error)
{
    progress_close(&sim->progress);
    if (interrupt_signal() != 0)
        return EXIT_SIGNAL + interrupt_signal();
    if (error != -EIO)
        return failure_report(what, error);
    fprintf(stderr, "tickwheel: cannot write %s; is the disk full?\n", what);
    return EXIT_FAILED;
}

static int read_trace(struct sim *sim)
{
    const char *path = sim->options->trace;
    bool is_standard = strcmp(path, "-") == 0;
    const char *name = is_standard ? "standard input" : path;
    FILE *in = is_standard ? stdin : fopen(path, "r");
    struct trace_fault fault;

    if (in == NULL)
        return fail(sim, path, -errno);
    const char *slash = strrchr(name, '/');
    snprintf(sim->title, sizeof sim->title, "%s", slash ? slash + 1 : name);
    progress_begin(&sim->progress, "reading", 0, sim->row_count);
    int error = trace_read(&sim->trace, in, name, sim->options->unit,
                           progress_report, &sim->progress, &fault);
    if (!is_standard)
        fclose(in);
    if (error == 0)
        return EXIT_FINE;
    progress_close(&sim->progress);
    if (interrupt_signal() != 0)
        return EXIT_SIGNAL + interrupt_signal();
    fprintf(stderr, "tickwheel: %s\n", fault.text);
    return error == -ENOMEM ? EXIT_MEMORY : EXIT_FAILED;
}

static int make_trace(struct sim *sim)
{
    const struct load_settings *load = &sim->options->load;
    snprintf(sim->title, sizeof sim->title, "%s %s %s",
             words_count(load->task_count).text, load->kind->title,
             words_duration((double)load->delay_ms).text);
    int error = trace_generate(&sim->trace, load);
    return error == 0 ? EXIT_FINE : fail(sim, "the load", error);
}

static void name_row(struct sim_row *row)
{
    const uint32_t *sizes = row->geometry.sizes;
    size_t room = sizeof row->name, end;
    end = (size_t)snprintf(row->name, room, "%s ", row->kind->name);
    for (unsigned i = 0; i < TKW_SIZES_MAX && sizes[i] != 0 && end < room; i++)
        end += (size_t)snprintf(row->name + end, room - end, "%s%" PRIu32,
                                i > 0 ? "," : "", sizes[i]);
    if (row->geometry.beyond == TKW_ROUNDS && end < room)
        snprintf(row->name + end, room - end, "r");
}

/* How long timers wait that are armed, all of them together. */
static double delays_of(const struct trace *trace)
{
    double sum = 0;
    for (size_t i = 0; i < trace->op_count; i++) {
        const struct trace_op *op = &trace->ops[i];
        if (op->kind <= TRACE_POSTPONE && op->deadline > op->time &&
            op->deadline != TKW_NEVER)
            sum += (double)(op->deadline - op->time);
    }
    return sum;
}

/* A ring that goes round may take for ever, and be there by default only. */
static size_t count_usual(const struct trace *trace, double delays)
{
    const struct tkw_geometry *last = &usual[USUAL - 1];
    double turns = (double)replay_span(trace) / last->sizes[0];
    double passes = delays / last->sizes[0];
    if (turns + passes < passes_most)
        return USUAL;
    fprintf(stderr,
            "tickwheel: %" PRIu32 "r is left out: its hand would pass over "
            "%.2g timers; give --geometry to try it\n",
            last->sizes[0], turns + passes);
    return USUAL - 1;
}

/* What is odd about a trace, but may be meant. */
static void remark(const struct sim *sim, double delays)
{
    const struct trace *trace = &sim->trace;
    if (trace->left_out > 0)
        fprintf(stderr,
                "tickwheel: the trace is incomplete: %" PRIu64
                " operations were "
                "left out when it was recorded\n",
                trace->left_out);
    if (trace->unit == 1 && sim->options->unit == 0 &&
        delays > delay_most * (double)trace->op_count)
        fprintf(stderr,
                "tickwheel: timers wait for %.2g ticks on average; if the unit "
                "of the trace is shorter than a tick, give --tick\n",
                delays / (double)trace->op_count);
}

/* A row for each geometry and engine. */
static int make_rows(struct sim *sim)
{
    const struct sim_options *options = sim->options;
    const struct tkw_geometry *geometries = options->geometries;
    size_t count = options->geometry_count;
    double delays = delays_of(&sim->trace);
    if (options->trace != NULL)
        remark(sim, delays);
    if (count == 0 && sim->trace.has_geometry) {
        geometries = &sim->trace.geometry;
        count = 1;
    } else if (count == 0) {
        geometries = usual;
        count = count_usual(&sim->trace, delays);
    }
    sim->row_count = count * options->kind_count;
    sim->rows = calloc(sim->row_count, sizeof *sim->rows);
    if (sim->rows == NULL)
        return fail(sim, "the table", -ENOMEM);
    for (size_t i = 0; i < sim->row_count; i++) {
        struct sim_row *row = &sim->rows[i];
        row->geometry = geometries[i / options->kind_count];
        if (row->geometry.sizes[0] == 0) /* a name wants sizes */
            memcpy(row->geometry.sizes, usual[0].sizes, sizeof usual[0].sizes);
        row->kind = options->kinds[i % options->kind_count];
        name_row(row);
    }
    return EXIT_FINE;
}

static int open_draft(struct sim *sim, struct draft *draft, const char *path)
{
    int error = draft_open(draft, path);
    return error == 0 ? EXIT_FINE : fail(sim, path, error);
}

/* Whatever they are called: two that are written, or the trace and one.  Says
 * which, if they are not. */
static bool are_apart(const struct sim *sim)
{
    const struct sim_options *options = sim->options;
    bool is_file = options->trace != NULL && strcmp(options->trace, "-") != 0;
    char *read = is_file ? realpath(options->trace, NULL) : NULL;
    const struct {
        const char *name, *path, *target;
    } files[] = {
        {"--chart", options->chart, sim->chart.target},
        {"--film", options->film, sim->film.target},
        {"--write", options->write, sim->write.target},
        {"the trace", options->trace, read},
    };
    bool are_same = false;
    for (size_t i = 1; i < sizeof files / sizeof files[0] && !are_same; i++) {
        for (size_t j = 0; j < i && files[i].target != NULL && !are_same; j++) {
            are_same = files[j].target != NULL &&
                       strcmp(files[i].target, files[j].target) == 0;
            if (are_same)
                fprintf(stderr,
                        "tickwheel: %s and %s are the same file, %s; give two "
                        "files\n",
                        files[j].name, files[i].name, files[j].path);
        }
    }
    free(read);
    return !are_same;
}

/* Before the work, lest it was for nothing. */
static int open_files(struct sim *sim)
{
    int status = open_draft(sim, &sim->chart, sim->options->chart);
    if (status == EXIT_FINE)
        status = open_draft(sim, &sim->film, sim->options->film);
    if (status == EXIT_FINE)
        status = open_draft(sim, &sim->write, sim->options->write);
    if (status == EXIT_FINE && !are_apart(sim))
        status = EXIT_USAGE;
    return status;
}

/* Once, and if that was short again and again: the least time is the one that
 * nothing else was in. */
static int replay_row(struct sim *sim, struct sim_row *row)
{
    double ns = 0;
    for (int i = 0; i < REPEATS && ns < repeated_ns; i++) {
        struct replay_outcome again;
        int error = replay(&sim->trace, row->kind, &row->geometry, NULL,
                           progress_report, &sim->progress, &again);
        if (error != 0)
            return error;
        ns += again.ns;
        if (i == 0)
            row->outcome = again;
        if (again.ns < row->outcome.ns)
            row->outcome.ns = again.ns;
        if (again.worst_ns < row->outcome.worst_ns)
            row->outcome.worst_ns = again.worst_ns;
        row->outcome.is_sound &= again.is_sound;
        if (again.fault.what != NULL)
            row->outcome.fault = again.fault;
    }
    return 0;
}

static int replay_all(struct sim *sim)
{
    for (size_t i = 0; i < sim->row_count; i++) {
        struct sim_row *row = &sim->rows[i];
        progress_begin(&sim->progress, row->name, i + 1, sim->row_count);
        int error = replay_row(sim, row);
        if (error != 0)
            return fail(sim, row->name, error);
    }
    return EXIT_FINE;
}

static int shoot_film(struct sim *sim)
{
    struct sim_row *row = &sim->rows[0];
    char title[sizeof sim->title + sizeof row->name + sizeof ": "];
    snprintf(title, sizeof title, "%s: %s", row->name, sim->title);

    const struct sim_options *options = sim->options;
    tkw_tick start = row->outcome.start, end = row->outcome.last;
    struct film_settings settings = {
        .title = title,
        .kind = row->kind,
        .geometry = &row->geometry,
        .frames_max = (uint32_t)options->frames,
        .events = row->outcome.operations + row->outcome.wakeups,
        .from = options->from > start ? options->from : start,
        .to = options->to < end ? options->to : end,
    };
    struct film *film = film_open(&sim->trace, &settings);
    if (film == NULL)
        return fail(sim, "the film", -ENOMEM);

    struct replay_watcher watcher = film_watcher(film);
    struct replay_outcome outcome;
    progress_begin(&sim->progress, "film", sim->row_count, sim->row_count);
    int error = replay(&sim->trace, row->kind, &row->geometry, &watcher,
                       progress_report, &sim->progress, &outcome);
    if (error == 0 && !film_write(film, sim->film.file))
        error = -EIO;
    film_close(film);
    return error == 0 ? EXIT_FINE : fail(sim, options->film, error);
}

static int finish(struct sim *sim, struct draft *draft, bool is_written,
                  const char *path)
{
    int error = is_written ? draft_finish(draft) : -EIO;
    return error == 0 ? EXIT_FINE : fail(sim, path, error);
}

static int write_files(struct sim *sim)
{
    const struct sim_options *options = sim->options;
    int status = EXIT_FINE;
    if (options->film != NULL) {
        status = shoot_film(sim);
        if (status == EXIT_FINE)
            status = finish(sim, &sim->film, true, options->film);
    }
    if (options->chart != NULL && status == EXIT_FINE)
        status = finish(
            sim, &sim->chart,
            plot_write(sim->rows, sim->row_count, sim->title, sim->chart.file),
            options->chart);
    if (options->write != NULL && status == EXIT_FINE)
        status =
            finish(sim, &sim->write, trace_write(&sim->trace, sim->write.file),
                   options->write);
    return status;
}

/* A film must have something to show. */
static int check_film(const struct sim *sim)
{
    const struct sim_options *options = sim->options;
    tkw_tick start = sim->trace.start;
    tkw_tick end = start + replay_span(&sim->trace);
    if (options->film == NULL || (options->from <= end && options->to >= start))
        return EXIT_FINE;
    fprintf(stderr,
            "tickwheel: nothing happens from --from to --to; give ticks "
            "from %" PRIu64 " to %" PRIu64 "\n",
            start, end);
    return EXIT_USAGE;
}

static void report_fault(const struct sim_row *row)
{
    fprintf(
        stderr,
        "tickwheel: bug: with %s a timer was early, late or lost; report it "
        "with the TRACE or the options\n",
        row->name);
    if (row->outcome.fault.what == NULL)
        return;
    char text[TKW_FAULT_TEXT_MAX];
    tkw_fault_describe(&row->outcome.fault, text, sizeof text);
    fprintf(stderr, "tickwheel: %s: %s\n", row->name, text);
}

static int print_results(const struct sim *sim)
{
    int status = EXIT_FINE;
    if (sim->options->is_csv)
        table_write_csv(sim->rows, sim->row_count, stdout);
    else
        table_write(sim->rows, sim->row_count, stdout);
    for (size_t i = 0; i < sim->row_count; i++) {
        if (sim->rows[i].outcome.is_sound)
            continue;
        report_fault(&sim->rows[i]);
        status = EXIT_FAILED;
    }
    return status;
}

static int run(struct sim *sim)
{
    int status = check_film(sim);
    if (status == EXIT_FINE)
        status = open_files(sim);
    if (status == EXIT_FINE)
        status = make_rows(sim);
    if (status == EXIT_FINE)
        status = replay_all(sim);
    if (status == EXIT_FINE)
        status = write_files(sim);
    progress_close(&sim->progress);
    if (status == EXIT_FINE)
        status = print_results(sim);

    draft_drop(&sim->chart);
    draft_drop(&sim->film);
    draft_drop(&sim->write);
    free(sim->rows);
    return status;
}

/* Called in a signal handler. */
static void remove_drafts(void *context)
{
    const struct sim *sim = context;
    draft_unlink(&sim->chart);
    draft_unlink(&sim->film);
    draft_unlink(&sim->write);
}

int sim_main(int argc, char **argv)
{
    struct sim_options options;
    int status;
    if (!sim_options_read(&options, argc, argv, &status))
        return status;

    static struct sim sim; /* a signal handler may use it until the end */
    sim.options = &options;
    progress_open(&sim.progress, options.is_quiet);
    /* Making a load up asks nobody whether to go on: there, signals still end
       the program, and there is nothing to put right. */
    if (options.trace == NULL)
        status = make_trace(&sim);
    interrupt_catch();
    interrupt_clean(remove_drafts, &sim);
    if (options.trace != NULL)
        status = read_trace(&sim);
    if (status != EXIT_FINE)
        return status;
    status = run(&sim);
    trace_close(&sim.trace);
    return status;
}
