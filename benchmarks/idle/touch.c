/*
 * idle/touch.c - what a touch costs, each way; and what the steady load takes
 * of a processor.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "core/bench.h"
#include "core/trial.h"

enum {
    ROWS_MAX = 10,
    BYTES_PER_KEY_MAX = 250, /* with what all of it takes beside the keys */
};

struct touch_setting {
    const struct idle_way *way;
    struct idle_load load;
    size_t touches;
};

struct row {
    const char *name;
    bool is_scan;
    bool is_load;    /* no way, but what it costs to make the load */
    bool is_monitor; /* in real time */
    struct touch_setting touch;
    struct idle_monitor_setting monitor;
    struct trial trial;
};

/*
 * Add all keys, and go on until their timers come round, and until nothing has
 * the order any more in which they were added, which makes a heap twice as
 * fast.  The timers of the frequent load would not come round for long, so
 * there the keys are added over most of a limit; then they are heard of within
 * a second.
 */
static void start(const struct touch_setting *setting, void *state,
                  struct idle_play *play)
{
    struct idle_load load = setting->load;
    if (load.rhythm == FREQUENT)
        load.gap_ns =
            (IDLE_LIMIT_NS - TKW_SECOND - TKW_SECOND / 10) / load.keys;
    setting->way->play(state, &load, play, load.keys);
    setting->way->play(state, &setting->load, play, 2 * load.keys);
    play->upkeep_ns = 0;
    play->upkeeps = 0;
}

static void run_touches(const void *argument, double *values)
{
    const struct touch_setting *setting = argument;
    const struct idle_way *way = setting->way;
    const struct idle_load *load = &setting->load;
    struct idle_play play = {0};
    double bytes = (double)bench_resident_bytes();
    void *state = way->open(load->keys);
    start(setting, state, &play);
    bytes = (double)bench_resident_bytes() - bytes;

    double began = trial_cpu_ns();
    way->play(state, load, &play, setting->touches);
    double took = trial_cpu_ns() - began;
    double touches = (double)setting->touches;
    values[TOUCH_NS] = took / touches;
    values[MEGA_TOUCHES] = 1e3 * touches / took;
    values[UPKEEP_NS] = play.upkeep_ns / touches;
    values[UPKEEP_MS] = play.upkeep_ns / 1e6 / (double)play.upkeeps;
    values[KEY_BYTES] = bytes / (double)load->keys;
    values[CPU_PER_CENT] = took / touches / (double)load->gap_ns * 100;
    trial_must(play.silent == 0, "a key that was touched is silent");

    began = trial_cpu_ns();
    size_t count = way->expire(state, play.now_ns + IDLE_LIMIT_NS + TKW_SECOND);
    values[HAND_OUT_NS] = (trial_cpu_ns() - began) / (double)load->keys;
    trial_must(count == load->keys || way == &idle_way_nothing,
               "not all keys have gone silent in the end");
    way->close(state);
}

static size_t touches_of(const struct idle_load *load)
{
    const size_t least = 1000000;
    return load->keys / 2 > least ? load->keys / 2 : least;
}

static struct row row_of(const struct idle_way *way,
                         const struct idle_load *load)
{
    return (struct row){
        .name = way->name,
        .is_scan = way == &idle_way_scan || way == idle_way_uthash,
        .is_load = way == &idle_way_nothing,
        .touch = {.way = way, .load = *load, .touches = touches_of(load)},
        .trial.run = run_touches,
    };
}

static struct row row_of_text(const struct idle_way *way,
                              const struct idle_load *load, const char *name)
{
    struct row row = row_of(way, load);
    row.name = name;
    row.touch.load.is_text = true;
    return row;
}

static struct row row_of_monitor(const struct idle_load *load, unsigned threads,
                                 const char *name)
{
    return (struct row){
        .name = name,
        .is_monitor = true,
        .monitor = {load, threads, touches_of(load) / threads},
        .trial.run = idle_monitor_run,
    };
}

/* The heap is the first of them: the others are compared with it.  Ten million
 * keys take long: then some rows are left out. */
static unsigned choose_rows(struct row *rows, const struct idle_load *load)
{
    bool is_large = load->keys > 1000000;
    bool is_frequent = load->rhythm == FREQUENT;
    unsigned count = 0;
    rows[count++] = row_of(&idle_way_heap, load);
    if (is_frequent || !is_large)
        rows[count++] = row_of(&idle_way_scan, load);
    if (!is_large && idle_way_uthash != NULL)
        rows[count++] = row_of(idle_way_uthash, load);
    rows[count++] = row_of(&idle_way_tracker, load);
    if (is_frequent || !is_large)
        rows[count++] =
            row_of_text(&idle_way_tracker, load, "tkw_idle, keys of 13 bytes");
    if (is_frequent) {
        rows[count++] = row_of_monitor(load, 1, "tkw_monitor, 1 thread");
        rows[count++] = row_of_monitor(load, 2, "tkw_monitor, 2 threads");
    }
    rows[count++] = row_of(&idle_way_nothing, load);
    rows[count++] = row_of_text(&idle_way_nothing, load,
                                "the load alone, keys of 13 bytes");
    return count;
}

static void measure_rows(struct row *rows, unsigned count, unsigned repeats)
{
    for (unsigned repeat = 0; repeat < repeats; repeat++) {
        for (unsigned i = 0; i < count; i++) {
            struct row *row = &rows[i];
            row->trial.setting = row->is_monitor ? (const void *)&row->monitor
                                                 : (const void *)&row->touch;
            trial_must(trial_measure(&row->trial), row->name);
        }
    }
}

static void print_row(const struct row *row, const struct trial *heap)
{
    const struct trial *trial = &row->trial;
    double ns = trial_median(trial, TOUCH_NS);
    double upkeep = trial_median(trial, UPKEEP_NS);
    printf("%-33s %7.1f", row->name, ns - upkeep);
    if (row->is_monitor || row->is_load)
        printf(" %7s", "");
    else
        printf(" %7.1f", upkeep);
    printf(" %7.1f %7.1f..%-7.1f %6.1f", ns, trial_least(trial, TOUCH_NS),
           trial_most(trial, TOUCH_NS), trial_median(trial, MEGA_TOUCHES));
    if (!row->is_load) {
        double heap_ns = trial_median(heap, TOUCH_NS);
        double heap_upkeep = trial_median(heap, UPKEEP_NS);
        printf(" %6.0f %7.2f %6.2f", trial_median(trial, KEY_BYTES),
               (heap_ns - heap_upkeep) / (ns - upkeep), heap_ns / ns);
    }
    if (!row->is_load && !row->is_monitor)
        printf(" %9.1f", trial_median(trial, HAND_OUT_NS));
    putchar('\n');
}

static void print_rows(const struct row *rows, unsigned count,
                       const struct idle_load *load)
{
    printf("\n%zu keys, each touched %s\n", load->keys,
           load->rhythm == STEADY ? "every 20 to 25 s"
                                  : "once every second, at any time in it");
    printf("%-33s %7s %7s %7s %16s %6s %6s %7s %6s %9s\n", "", "touch",
           "upkeep", "sum, ns", "least..most", "M/s", "bytes", "x touch",
           "x sum", "hand out");
    for (unsigned i = 0; i < count; i++)
        print_row(&rows[i], &rows[0].trial);
    for (unsigned i = 0; i < count; i++) {
        double ms = trial_median(&rows[i].trial, UPKEEP_MS);
        if (rows[i].is_scan)
            printf("  %s: a scan takes %.2f ms, %.2f%% of a core; silence is "
                   "noticed up to 1 s late\n",
                   rows[i].name, ms, ms / 10);
    }
}

static void report_load(enum idle_rhythm rhythm, size_t keys, unsigned repeats)
{
    struct row rows[ROWS_MAX];
    struct idle_load load = idle_load_open(rhythm, keys);
    unsigned count = choose_rows(rows, &load);
    measure_rows(rows, count, repeats);
    print_rows(rows, count, &load);
    fflush(stdout);
    idle_load_close(&load);
}

static const char touches_text[] =
    "Touches.  Virtual time, limit 30 s, one thread unless it says otherwise;\n"
    "ns of CPU per touch, medians.  Upkeep is finding the silent, per touch: "
    "to\n"
    "file timers anew that come round, or to scan.  Making the load is "
    "included\n"
    "and not subtracted; the last two rows are what it costs alone.  Bytes "
    "are\n"
    "resident, a key.  x: how many times as fast as with the heap it is.\n"
    "Hand out is what each key costs when all go silent.  The monitor is in\n"
    "real time and reads the clock at each touch; its M/s are by the clock, "
    "of\n"
    "all threads; timers do not come round in so short a time.\n";

static void report_size(size_t keys, unsigned repeats)
{
    size_t bytes = keys * BYTES_PER_KEY_MAX;
    if (trial_available_bytes() < bytes) {
        printf("\n%zu keys: skipped, less than %zu MB are available\n", keys,
               bytes / 1000000);
        return;
    }
    report_load(STEADY, keys, repeats);
    report_load(FREQUENT, keys, repeats);
}

void idle_report_touches(const struct idle_options *options)
{
    fputs(touches_text, stdout);
    if (options->keys > 0) {
        report_size(options->keys, options->repeats);
        return;
    }
    report_size(100000, options->repeats);
    report_size(1000000, options->repeats);
    report_size(10000000, 1);
}

void idle_report_virtual(const struct idle_options *options)
{
    enum { KEYS = 100000, MINUTES = 10 };
    const struct idle_way *ways[] = {&idle_way_tracker, &idle_way_heap,
                                     &idle_way_scan, idle_way_uthash};
    struct idle_load load = idle_load_open(STEADY, KEYS);
    struct row rows[4];
    unsigned count = idle_way_uthash != NULL ? 4 : 3;
    for (unsigned i = 0; i < count; i++) {
        rows[i] = row_of(ways[i], &load);
        rows[i].touch.touches = MINUTES * 60 * TKW_SECOND / load.gap_ns;
    }
    measure_rows(rows, count, options->repeats);

    printf("\n%d connections, limit 30 s, each heard of every 20 to 25 s: %.0f "
           "packets a second.\n%d minutes of that in virtual time: CPU "
           "seconds over them, %% of a core.\n\n%-33s %8s %18s\n",
           KEYS, 1e9 / (double)load.gap_ns, MINUTES, "", "%", "least..most");
    for (unsigned i = 0; i < count; i++) {
        const struct trial *trial = &rows[i].trial;
        printf("%-33s %8.4f %8.4f..%-8.4f\n", rows[i].name,
               trial_median(trial, CPU_PER_CENT),
               trial_least(trial, CPU_PER_CENT),
               trial_most(trial, CPU_PER_CENT));
    }
    fflush(stdout);
    idle_load_close(&load);
}
