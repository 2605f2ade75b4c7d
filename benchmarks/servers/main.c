/*
 * servers/main.c - a load generator for servers that speak the beanstalkd
 * protocol.  benchmarks/servers/run.py starts servers and runs this program on
 * each.
 *
 * Read in this order: workload.h, loop.h, connection.h, then puts.c and the
 * other workloads.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <unistd.h>

#include "options.h"
#include "report.h"
#include "support.h"
#include "workload.h"

void workload_tube(char name[TUBE_NAME_MAX], const char *purpose)
{
    snprintf(name, TUBE_NAME_MAX, "bench-%s-%ld-%llu", purpose, (long)getpid(),
             (unsigned long long)now_ns());
}

int main(int count, char **texts)
{
    static const struct workload *const workloads[] = {&puts_workload,
                                                       &cycles_workload,
                                                       &late_workload,
                                                       &crowd_workload,
                                                       &idle_workload,
                                                       &fill_workload,
                                                       NULL};
    struct options options;
    int status = options_read(&options, count, texts, workloads);
    if (status >= 0)
        return status;

    raise_file_limit();
    struct report report = {0};
    options.workload->run(&options, &report);
    report_print(&report, &options);
    return 0;
}
