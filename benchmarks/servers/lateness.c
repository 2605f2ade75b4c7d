/*
 * servers/lateness.c - how late delayed jobs arrive.
 */
#include "lateness.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

struct job_times {
    uint64_t sent_ns; /* 0: not put */
    uint64_t inserted_ns;
    uint64_t delay_ns;
    bool is_received;
};

void lateness_close(struct lateness *lateness)
{
    free(lateness->jobs);
    *lateness = (struct lateness){0};
}

static void grow(struct lateness *lateness, uint32_t index)
{
    size_t size = 2 * (size_t)index + 1024;
    lateness->jobs =
        must_reallocate(lateness->jobs, size, sizeof *lateness->jobs);
    memset(lateness->jobs + lateness->size, 0,
           (size - lateness->size) * sizeof *lateness->jobs);
    lateness->size = size;
}

void lateness_sent(struct lateness *lateness, uint32_t index, uint64_t delay_ms,
                   uint64_t sent_ns)
{
    if (index >= lateness->size)
        grow(lateness, index);
    lateness->jobs[index] = (struct job_times){
        .sent_ns = sent_ns, .delay_ns = delay_ms * NS_PER_MS};
}

void lateness_inserted(struct lateness *lateness, uint32_t index,
                       uint64_t inserted_ns)
{
    lateness->jobs[index].inserted_ns = inserted_ns;
}

struct late lateness_received(struct lateness *lateness, uint32_t index,
                              uint64_t received_ns)
{
    if (index >= lateness->size || lateness->jobs[index].sent_ns == 0)
        fail("the server sent job %u, which was not put", index);
    struct job_times *job = &lateness->jobs[index];
    if (job->is_received)
        fail("the server sent job %u twice", index);
    job->is_received = true;

    /* A job that overtakes its INSERTED reply was accepted, too, before it was
     * received. */
    uint64_t inserted = job->inserted_ns == 0 ? received_ns : job->inserted_ns;
    int64_t waited = (int64_t)(received_ns - job->sent_ns);
    int64_t waited_least = (int64_t)(received_ns - inserted);
    return (struct late){.due_ns = job->sent_ns + job->delay_ns,
                         .most_ns = waited - (int64_t)job->delay_ns,
                         .least_ns = waited_least - (int64_t)job->delay_ns};
}

void late_summary_add(struct late_summary *summary, const struct late *late)
{
    histogram_add(&summary->most, late->most_ns);
    histogram_add(&summary->least, late->least_ns);
}

void late_summary_report(const struct late_summary *summary, const char *name,
                         struct report *report)
{
    char part[VALUE_NAME_MAX];
    report_times(report, name, &summary->most);
    if (summary->most.count == 0)
        return;
    snprintf(part, sizeof part, "%s_least", name);
    report_times_briefly(report, part, &summary->least);
    snprintf(part, sizeof part, "%s_earliest_us", name);
    report_add(report, part, (double)summary->most.least / NS_PER_US);
}
