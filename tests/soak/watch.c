/*
 * watch.c - the end of a run that went wrong: by a violation, or because a
 * thread has not moved for a minute.
 *
 * The watchdog counts its own short sleeps, each for no more than it was to
 * take: a pause of the whole program is then no time at all.
 */
#define _GNU_SOURCE

#include "watch.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define CHECK_NS UINT64_C(100000000)
#define PATIENCE_NS UINT64_C(60000000000)

static struct {
    uint64_t seed;
    atomic_flag is_reported;
    struct station *stations;
    unsigned count;
    void (*print)(void);
    atomic_bool is_over;
    pthread_t thread;
} watch = {.is_reported = ATOMIC_FLAG_INIT};

void violated(const char *format, ...)
{
    if (atomic_flag_test_and_set(&watch.is_reported))
        for (;;)
            pause(); /* whoever was first is about to end it all */
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    fprintf(stderr, "soak: violated: ");
    /* The analyser does not see that it is, four lines above.
       NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    vfprintf(stderr, format, arguments);
    fprintf(stderr,
            "\nsoak: seed %" PRIu64 " (the threads' turns are not in it)\n",
            watch.seed);
    va_end(arguments);
    fflush(stderr);
    _Exit(1);
}

uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void sleep_ns(uint64_t ns)
{
    struct timespec left = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    while (nanosleep(&left, &left) != 0)
        continue;
}

static void print_stations(void)
{
    for (unsigned i = 0; i < watch.count; i++) {
        struct station *station = &watch.stations[i];
        fprintf(stderr, "soak: %s: %s%s, for %" PRIu64 " s\n", station->name,
                atomic_load(&station->where),
                atomic_load(&station->is_waiting) ? " (waits for others)" : "",
                station->still_ns / 1000000000);
    }
    watch.print();
}

static void check_station(struct station *station)
{
    uint64_t beats = atomic_load(&station->beats);
    if (beats != station->beats_seen || atomic_load(&station->is_waiting)) {
        station->beats_seen = beats;
        station->still_ns = 0;
        return;
    }
    station->still_ns += CHECK_NS;
    if (station->still_ns < PATIENCE_NS)
        return;
    print_stations();
    violated("%s has not moved for a minute: %s", station->name,
             atomic_load(&station->where));
}

static void *watch_run(void *nothing)
{
    while (!atomic_load(&watch.is_over)) {
        sleep_ns(CHECK_NS);
        for (unsigned i = 0; i < watch.count; i++)
            check_station(&watch.stations[i]);
    }
    return nothing;
}

void watch_start(struct station *stations, unsigned count, uint64_t seed,
                 void (*print)(void))
{
    watch.stations = stations;
    watch.count = count;
    watch.seed = seed;
    watch.print = print;
    int error = pthread_create(&watch.thread, NULL, watch_run, NULL);
    DEMAND(error == 0, "there is no thread for the watchdog");
}

void watch_stop(void)
{
    atomic_store(&watch.is_over, true);
    pthread_join(watch.thread, NULL);
}
