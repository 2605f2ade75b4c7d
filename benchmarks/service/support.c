/*
 * service/support.c - clocks, threads, and a record of how late timers were.
 */
#define _GNU_SOURCE

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

void fail(const char *what)
{
    fprintf(stderr, "bench service: %s failed\n", what);
    _exit(1);
}

void *must_allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL)
        fail("memory");
    return memory;
}

static uint64_t clock_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * TKW_SECOND + (uint64_t)now.tv_nsec;
}

uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

uint64_t cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void sleep_ns(uint64_t ns)
{
    struct timespec span = {(time_t)(ns / TKW_SECOND), (long)(ns % TKW_SECOND)};
    nanosleep(&span, NULL);
}

uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

double resident_bytes(void)
{
    unsigned long size = 0;
    unsigned long resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%lu %lu", &size, &resident) != 2)
        fail("/proc/self/statm");
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

struct tkw_service *open_service(uint64_t tick_ns, uint32_t shards)
{
    struct tkw_service *service;
    struct tkw_service_config config = {.tick_ns = tick_ns, .shards = shards};
    if (tkw_service_open(&service, &config) != 0)
        fail("open");
    return service;
}

void do_nothing(void *argument, const struct tkw_firing *firing)
{
    (void)argument;
    (void)firing;
}

tkw_handle arm(struct tkw_service *service, uint64_t delay_ns)
{
    tkw_handle handle;
    struct tkw_task task = {do_nothing, NULL, NULL};
    if (tkw_service_arm(service, &handle, delay_ns, task) != 0)
        fail("arm");
    return handle;
}

uint64_t far_delay(uint64_t *dice)
{
    return 300 * TKW_SECOND + next_random(dice) % (60 * TKW_SECOND);
}

void shuffle(tkw_handle *handles, size_t n, uint64_t *dice)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)(next_random(dice) % i);
        tkw_handle swapped = handles[i - 1];
        handles[i - 1] = handles[j];
        handles[j] = swapped;
    }
}

void be_before(uint64_t start_ns)
{
    if (now_ns() > start_ns)
        _exit(EXIT_TOO_LATE);
}

uint64_t wait_for_all(struct tkw_service *service)
{
    uint64_t before = cpu_ns();
    while (tkw_service_count(service) > 0)
        sleep_ns(20 * TKW_MILLISECOND);
    return cpu_ns() - before;
}

void in_threads(unsigned count, void *(*run)(void *argument), void *argument)
{
    pthread_t started[THREADS_MAX];
    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&started[i], NULL, run, argument) != 0)
            fail("a thread");
    for (unsigned i = 0; i < count; i++)
        pthread_join(started[i], NULL);
}

void record_open(struct record *record, size_t room)
{
    *record = (struct record){0};
    for (unsigned i = 0; i < LANES_MAX; i++) {
        size_t bytes = room * sizeof(uint64_t);
        record->lanes[i].late_ns = must_allocate(room, sizeof(uint64_t));
        memset(record->lanes[i].late_ns, 1, bytes);
    }
}

void record_close(struct record *record)
{
    for (unsigned i = 0; i < LANES_MAX; i++)
        free(record->lanes[i].late_ns);
    free(record->sorted);
}

/* The lane of the calling thread.  There are never more threads that note than
 * lanes, and they are counted one after the other. */
static struct lane *own_lane(struct record *record)
{
    static _Atomic unsigned threads;
    static _Thread_local unsigned number; /* from 1 */
    if (number == 0)
        number = ++threads;
    return &record->lanes[number % LANES_MAX];
}

void record_note(struct record *record, uint64_t due_ns)
{
    struct lane *lane = own_lane(record);
    uint64_t now = now_ns();
    lane->early_count += now < due_ns;
    lane->late_ns[lane->count++] = now - due_ns;
}

void note_late(void *record, const struct tkw_firing *firing)
{
    record_note(record, firing->due_ns);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

size_t record_total(const struct record *record)
{
    size_t total = 0;
    for (unsigned i = 0; i < LANES_MAX; i++)
        total += record->lanes[i].count;
    return total;
}

void record_sort(struct record *record, size_t count)
{
    size_t early_count = 0;
    if (record_total(record) != count)
        fail("all of them, once each");
    record->sorted = must_allocate(count, sizeof *record->sorted);
    for (unsigned i = 0; i < LANES_MAX; i++) {
        const struct lane *lane = &record->lanes[i];
        early_count += lane->early_count;
        memcpy(record->sorted + record->count, lane->late_ns,
               lane->count * sizeof *lane->late_ns);
        record->count += lane->count;
    }
    if (early_count > 0)
        fail("never early");
    qsort(record->sorted, count, sizeof *record->sorted, compare);
}

double record_us(const struct record *record, double share)
{
    size_t at = (size_t)((double)record->count * share);
    return (double)record->sorted[at < record->count ? at : at - 1] / 1e3;
}
