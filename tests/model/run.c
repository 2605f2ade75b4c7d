/*
 * run.c - job j of n takes the cases j, j+n, j+2n ... and a share of the
 * operations; the first failure ends all.
 */
#define _POSIX_C_SOURCE 200809L

#include "run.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "generate.h"

double run_clock(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void add_work(struct run_part *part, const struct judge *judge)
{
    struct work *sum = &part->work;
    const struct work *work = &judge->work;

    sum->armed += work->armed;
    sum->fired += work->fired;
    sum->cancelled += work->cancelled;
    sum->drained += work->drained;
    sum->falls += work->falls;
    sum->refiles += work->refiles;
    sum->passes += work->passes;
    sum->visits += work->visits;
    sum->stops += work->stops;
    part->tick_count += (double)(judge->oracle.now - judge->world.start);
    part->case_count++;
    part->end_count += judge->oracle.now == UINT64_MAX;
}

/* Every operation is on the tape before it is done: it may be the last. */
static bool run_ops(struct trial *trial, struct generator *generator,
                    struct judge *judge)
{
    struct tape *tape = &trial->tape;

    tape->op_count = 0;
    while (tape->op_count < TAPE_OPS_MAX &&
           generate_op(generator, judge, &tape->ops[tape->op_count])) {
        trial->op_at = tape->op_count++;
        if (!trial_do(trial, judge))
            return false;
    }
    return trial_finish(trial, judge);
}

static bool run_case(const struct run_options *options, struct run_part *part)
{
    struct generator generator;
    struct trial *trial = &part->trial;
    struct judge judge;

    generate_world(&generator, options->seed, part->case_number,
                   &trial->tape.world);
    trial->tape.check_every = options->check_every;
    trial->tape.op_count = 0;
    trial->op_at = 0;
    trial->has_failed = false;
    if (!judge_open(&judge, options->engine, &trial->tape.world,
                    options->check_every))
        abort();

    bool is_fine = run_ops(trial, &generator, &judge);
    part->op_count += trial->tape.op_count;
    add_work(part, &judge);
    judge_close(&judge);
    return is_fine;
}

static bool run_part(const struct run_options *options, struct run_part *part)
{
    double end = run_clock() + (double)options->seconds_max;
    uint64_t ops_max = options->ops_max / options->job_count;

    do {
        alarm(options->patience);
        if (!run_case(options, part))
            return false;
        part->case_number += options->job_count;
        if (options->is_single)
            break;
        if (options->seconds_max > 0 && run_clock() >= end)
            break;
    } while (part->op_count < ops_max);
    return true;
}

static void stop_jobs(pid_t *children, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (children[i] <= 0)
            continue;
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
}

/* Wait for all, or for the first that failed. */
static struct run_part *wait_for(pid_t *children, uint32_t count,
                                 struct run_part *parts, enum verdict *verdict)
{
    for (uint32_t left = count; left > 0; left--) {
        int status = 0;
        uint32_t job = 0;
        pid_t child = waitpid(-1, &status, 0);

        while (job < count && children[job] != child)
            job++;
        if (job == count)
            continue;
        children[job] = 0;
        *verdict = trial_verdict(&parts[job].trial, status);
        if (*verdict != VERDICT_FINE) {
            stop_jobs(children, count);
            return &parts[job];
        }
    }
    return NULL;
}

struct run_part *run(const struct run_options *options, struct run_part *parts,
                     enum verdict *verdict)
{
    pid_t children[JOBS_MAX] = {0};

    for (uint32_t job = 0; job < options->job_count; job++) {
        parts[job].case_number = options->first_case + job;
        children[job] = fork();
        if (children[job] == 0)
            exit(run_part(options, &parts[job]) ? 0 : 1); /* with coverage */
        if (children[job] < 0) {
            stop_jobs(children, job);
            *verdict = VERDICT_CRASH;
            return &parts[job];
        }
    }
    return wait_for(children, options->job_count, parts, verdict);
}
