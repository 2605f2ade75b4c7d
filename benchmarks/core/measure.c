/*
 * core/measure.c - the clock, the memory and the process of a measurement.
 */
#define _GNU_SOURCE

#include "measure.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char *bench_compiler(void)
{
#ifdef __clang__
    return __VERSION__;
#else
    return "gcc " __VERSION__;
#endif
}

double bench_now_ns(void)
{
    /* Raw, which peers/time.c leaves alone. */
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

size_t bench_resident_bytes(void)
{
    unsigned long size = 0;
    unsigned long resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL)
        return 0;
    int found = fscanf(file, "%lu %lu", &size, &resident);
    fclose(file);
    return found == 2 ? resident * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

static bool use_huge_pages;

void bench_use_huge_pages(bool is_wanted)
{
    use_huge_pages = is_wanted;
}

/* Where a measurement continues that runs out of memory.  NULL: outside of
 * measure(), running out of memory ends the program. */
static jmp_buf *on_no_memory;

static void *plain_memory(size_t bytes)
{
    /* Aligned, so that an element of 32 bytes is in one cache line, for
     * everybody. */
    const size_t huge = (size_t)2 << 20;
    size_t unit = use_huge_pages && bytes >= huge ? huge : 64;
    size_t size = (bytes + unit - 1) / unit * unit;
    void *memory = aligned_alloc(unit, size);
    if (memory == NULL && on_no_memory != NULL)
        longjmp(*on_no_memory, 1);
    if (memory == NULL) {
        fprintf(stderr, "bench: no memory for %zu bytes\n", bytes);
        exit(1);
    }
    if (unit == huge)
        madvise(memory, size, MADV_HUGEPAGE);
    return memory;
}

void *bench_memory(size_t bytes)
{
    /* Not calloc: its pages would be touched under the clock. */
    void *memory = plain_memory(bytes);
    volatile unsigned char *page = memory;
    for (size_t i = 0; i < bytes; i += 4096)
        page[i] = 0;
    return memset(memory, 0, bytes);
}

static bool pages_are_counted;

void bench_count_pages(void)
{
    pages_are_counted = true;
}

void *bench_arena(size_t bytes)
{
    return pages_are_counted ? plain_memory(bytes) : bench_memory(bytes);
}

uint32_t *bench_order(size_t n, uint64_t seed)
{
    uint32_t *order = bench_memory(n * sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)bench_below(&seed, i);
        uint32_t swapped = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swapped;
    }
    return order;
}

/* Enough rounds of a small n that a clock reading does not matter. */
static unsigned rounds_for(const struct cell *cell)
{
    const size_t enough = 1000000;
    return cell->is_timed ? 1 + (unsigned)(enough / (cell->n + 1)) : 1;
}

static double run_rounds(const struct cell *cell, uint64_t seed,
                         unsigned rounds)
{
    uint32_t *order = bench_order(cell->n, seed);
    struct bench_load load = {
        .n = cell->n, .spread = cell->spread, .seed = seed, .order = order};
    double sum = 0;
    for (unsigned i = 0; i < rounds; i++)
        sum += cell->run(&load);
    free(order);
    return sum / rounds;
}

/* Like run_rounds(), but returns -ENOMEM if there is not enough memory, and 0
 * with the result in `*result` if there is. */
static int try_rounds(const struct cell *cell, uint64_t seed, unsigned rounds,
                      double *result)
{
    jmp_buf place;
    if (setjmp(place) != 0) {
        on_no_memory = NULL;
        return -ENOMEM;
    }
    on_no_memory = &place;
    *result = run_rounds(cell, seed, rounds);
    on_no_memory = NULL;
    return 0;
}

/* What the child process writes to its parent. */
struct outcome {
    double result;
    int error;
};

/* Does not return.  The child ends with its parent: a signal that ends the
 * parent must not leave a measurement running. */
static void be_child(const struct cell *cell, uint64_t seed, pid_t parent,
                     int out)
{
    struct outcome outcome = {0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    outcome.error = try_rounds(cell, seed, rounds_for(cell), &outcome.result);
    _exit(write(out, &outcome, sizeof outcome) == sizeof outcome ? 0 : 1);
}

/* Wait for the child's end.  Returns its error, or -EIO if it has written no
 * whole outcome; `*signal` is the signal that ended it, or 0. */
static int wait_for_child(pid_t child, int in, double *result, int *signal)
{
    struct outcome outcome;
    int status = 0;
    bool is_whole = read(in, &outcome, sizeof outcome) == sizeof outcome;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    *signal = !is_whole && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (!is_whole)
        return -EIO;
    *result = outcome.result;
    return outcome.error;
}

static int run_in_child(const struct cell *cell, uint64_t seed, double *result,
                        int *signal)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe(ends) != 0)
        return -errno;
    fflush(NULL);
    pid_t child = fork();
    int error = child < 0 ? -errno : 0;
    if (child == 0)
        be_child(cell, seed, parent, ends[1]);
    close(ends[1]);
    if (child > 0)
        error = wait_for_child(child, ends[0], result, signal);
    close(ends[0]);
    return error;
}

bool measure(struct cell *cell, uint64_t seed, bool is_in_process)
{
    double result = 0;
    if (is_in_process) /* one round: instructions do not vary */
        cell->error = try_rounds(cell, seed, 1, &result);
    else
        cell->error = run_in_child(cell, seed, &result, &cell->signal);
    if (cell->error != 0)
        return false;
    if (cell->sample_count < SAMPLES_MAX)
        cell->samples[cell->sample_count++] = result;
    return true;
}

bool cell_has_failed(const struct cell *cell)
{
    return cell->error != 0;
}

static int compare(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return (*x > *y) - (*x < *y);
}

/* The sample at a share (0 to 1) of the sorted ones. */
static double quantile(const struct cell *cell, double share)
{
    double sorted[SAMPLES_MAX];
    if (cell->sample_count == 0)
        return 0;
    memcpy(sorted, cell->samples, sizeof sorted);
    qsort(sorted, cell->sample_count, sizeof *sorted, compare);
    double at = share * (cell->sample_count - 1);
    unsigned low = (unsigned)at;
    unsigned high = low + 1 < cell->sample_count ? low + 1 : low;
    return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}

double cell_median(const struct cell *cell)
{
    return quantile(cell, 0.5);
}

double cell_least(const struct cell *cell)
{
    return quantile(cell, 0);
}

double cell_most(const struct cell *cell)
{
    return quantile(cell, 1);
}
