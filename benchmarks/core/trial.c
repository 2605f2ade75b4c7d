/*
 * core/trial.c - the process of a trial, and its samples.
 */
#define _POSIX_C_SOURCE 200809L

#include "trial.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

bool trial_measure(struct trial *trial)
{
    double values[TRIAL_VALUES] = {0};
    int ends[2];
    if (trial->count == TRIAL_REPEATS_MAX || pipe(ends) != 0)
        return false;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        malloc_trim(0); /* or what the parent has freed is no new memory */
        trial->run(trial->setting, values);
        _exit(write(ends[1], values, sizeof values) == sizeof values ? 0 : 1);
    }
    close(ends[1]);
    bool is_whole =
        child > 0 && read(ends[0], values, sizeof values) == sizeof values;
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    if (!is_whole)
        return false;
    for (unsigned i = 0; i < TRIAL_VALUES; i++)
        trial->samples[i][trial->count] = values[i];
    trial->count++;
    return true;
}

static int compare(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return (*x > *y) - (*x < *y);
}

/* The sample at a place of the sorted ones. */
static double sorted_at(const struct trial *trial, unsigned value, unsigned at)
{
    double sorted[TRIAL_REPEATS_MAX];
    if (trial->count == 0)
        return 0;
    memcpy(sorted, trial->samples[value], sizeof sorted);
    qsort(sorted, trial->count, sizeof *sorted, compare);
    return sorted[at];
}

double trial_median(const struct trial *trial, unsigned value)
{
    /* Of an even count the two in the middle. */
    return (sorted_at(trial, value, (trial->count - 1) / 2) +
            sorted_at(trial, value, trial->count / 2)) /
           2;
}

double trial_least(const struct trial *trial, unsigned value)
{
    return sorted_at(trial, value, 0);
}

double trial_most(const struct trial *trial, unsigned value)
{
    return sorted_at(trial, value, trial->count - 1);
}

void trial_fail(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(1);
}

double trial_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

size_t trial_available_bytes(void)
{
    char line[128];
    unsigned long kilobytes = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %lu", &kilobytes) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return kilobytes * 1024;
}

unsigned trial_option(const char *name, const char *text, unsigned most)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    if (*end == '\0' && number >= 1 && number <= most)
        return (unsigned)number;
    fprintf(stderr, "%s is '%s'; give 1 to %u\n", name, text, most);
    return 0;
}
