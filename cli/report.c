/*
 * report.c - the closing summary of a demonstration.
 *
 * A line begins with a name and a number, for scripts; what follows is for
 * people.
 */
#include "report.h"

#include "words.h"

#include <inttypes.h>
#include <stdio.h>

/* Where the words begin. */
enum { TEXT_COLUMN = 26 };

static double each(double sum, uint64_t count)
{
    return count > 0 ? sum / (double)count : 0;
}

static void line(const char *name, uint64_t count)
{
    printf("%-10s %12" PRIu64, name, count);
}

static void cost(const char *name, double ns, uint64_t count, const char *what)
{
    if (count > 0)
        printf("%-10s %12.1f   ns each%s\n", name, each(ns, count), what);
}

static void outcomes(const struct load *load)
{
    struct tkw_wheel_stats stats = tkw_wheel_read_stats(load->wheel);
    words_write(stdout, TEXT_COLUMN,
                "%-10s %12" PRIu64 "   each %" PRIu64
                " ms ahead, within %" PRIu64 " ms",
                "armed", stats.armed, load->settings.delay_ms,
                load->arrivals_end - LOAD_START_MS + 1);
    line("fired", stats.fired);
    printf("   %" PRIu64 " early, %" PRIu64 " late\n", load->early, load->late);
    line("cancelled", stats.cancelled);
    printf("\n");
    line("pending", tkw_wheel_count(load->wheel));
    printf("\n");
    line("falls", stats.falls);
    printf("   %.2f a timer\n", each((double)stats.falls, stats.armed));
    if (load->postpone.count > 0) {
        line("postponed", load->postpone.count);
        printf("\n");
        line("refiles", stats.refiles);
        printf("   %.2f a postponing\n",
               each((double)stats.refiles, load->postpone.count));
    }
    if (load->settings.geometry.beyond == TKW_ROUNDS) {
        line("passes", stats.passes);
        printf("   over timers of later turns\n");
    }
    line("wake-ups", load->wakeups);
    printf("   in %" PRIu64 " ticks of 1 ms\n", load_elapsed(load));
}

void report(const struct load *load)
{
    outcomes(load);
    cost("arm", load->arm.ns, load->arm.count, "");
    cost("cancel", load->cancel.ns, load->cancel.count, "");
    cost("postpone", load->postpone.ns, load->postpone.count, "");

    /* Where few timers fire, time is spent on advancing, not on them. */
    if (load->settings.kind->is_burst)
        cost("fire", load->advance.ns, tkw_wheel_read_stats(load->wheel).fired,
             ", falls and wake-ups included");
    else
        cost("advance", load->advance.ns, load->advance.count,
             ", falls, refiles and firing included");
}
