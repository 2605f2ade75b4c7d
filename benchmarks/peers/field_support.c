/*
 * field_support.c - what peers need to measure: words, memory, clocks, and how
 * late each timer was.
 */
#define _GNU_SOURCE

#include "field.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/measure.h"

void field_print(const char *name, double value)
{
    printf("%s %.6g\n", name, value);
}

void field_fail(const char *why)
{
    fprintf(stderr, "bench_field: %s\n", why);
    exit(1);
}

void field_decline(const char *why)
{
    enum { STATUS = 3 };
    fprintf(stderr, "%s\n", why);
    exit(STATUS);
}

void *field_memory(size_t count, size_t size)
{
    return bench_memory(count * size);
}

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t field_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t field_cpu_ns(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

void field_sleep_until(uint64_t ns)
{
    struct timespec then = {.tv_sec = (time_t)(ns / 1000000000),
                            .tv_nsec = (long)(ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL) ==
           EINTR)
        continue;
}

void field_record_open(struct field_record *record, size_t n)
{
    *record = (struct field_record){
        .asked_ns = field_memory(n, sizeof *record->asked_ns),
        .late_ns = field_memory(n, sizeof *record->late_ns),
        .n = n,
    };
}

void field_record_close(struct field_record *record)
{
    free(record->asked_ns);
    free(record->late_ns);
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void field_record_print(const struct field_record *record)
{
    static const char *const percents[] = {"0",  "1",    "10",    "25",
                                           "50", "75",   "90",    "95",
                                           "99", "99.9", "99.99", "100"};
    size_t early = 0;
    qsort(record->late_ns, record->n, sizeof *record->late_ns, compare);
    while (early < record->n && record->late_ns[early] < 0)
        early++;
    field_print("early", (double)early);
    for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++) {
        double share = strtod(percents[i], NULL) / 100;
        size_t at = (size_t)(share * (double)(record->n - 1) + 0.5);
        printf("late_us_%s %.3f\n", percents[i],
               (double)record->late_ns[at] / 1e3);
    }
}
