/*
 * core/report.c - the table and the JSON.
 */
#define _POSIX_C_SOURCE 200809L

#include "report.h"

#include <inttypes.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

/* The median of another structure at the same workload, size and spread. */
static double median_of(const struct report *report, const struct cell *like,
                        const char *structure, const char *workload)
{
    for (size_t i = 0; i < report->cell_count; i++) {
        const struct cell *cell = &report->cells[i];
        bool is_floor = strcmp(cell->structure, "floor") == 0;
        if (cell->n == like->n && (is_floor || cell->spread == like->spread) &&
            strcmp(cell->structure, structure) == 0 &&
            strcmp(cell->workload, workload) == 0)
            return cell_median(cell);
    }
    return 0;
}

static void print_ratio(FILE *out, double value, double base)
{
    if (base > 0)
        fprintf(out, "  %9.2fx", value / base);
    else
        fprintf(out, "  %10s", "-");
}

static void print_row(const struct report *report, const struct cell *cell,
                      FILE *out)
{
    double median = cell_median(cell);
    const char *unit = strcmp(cell->workload, "bytes") == 0 ? "B " : "ns";
    double scale = 1;
    if (strstr(cell->workload, "worst") != NULL) {
        unit = "us";
        scale = 1000;
    }
    fprintf(out, "  %-9s  %10.1f %s  %10.1f  %10.1f", cell->structure,
            median / scale, unit, cell_least(cell) / scale,
            cell_most(cell) / scale);

    /* A byte and a worst step have no floor. */
    bool has_floor = cell->is_timed && strcmp(cell->structure, "floor") != 0;
    print_ratio(out, median,
                has_floor ? median_of(report, cell, "floor", "independent")
                          : 0);
    print_ratio(out, median, median_of(report, cell, "heap", cell->workload));
    fputc('\n', out);
}

/* Whether another work begins with this cell. */
static bool is_first(const struct report *report, const struct cell *cell)
{
    return cell == report->cells || cell->n != cell[-1].n ||
           cell->spread != cell[-1].spread ||
           strcmp(cell->workload, cell[-1].workload) != 0;
}

/* Rows stand below the work that they did: all of it in each of them would be
 * too wide for a terminal. */
void report_table(const struct report *report, FILE *out)
{
    fprintf(out, "  %-9s  %10s     %10s  %10s  %10s  %10s\n", "structure",
            "median", "least", "most", "/floor", "/heap");
    for (size_t i = 0; i < report->cell_count; i++) {
        const struct cell *cell = &report->cells[i];
        if (is_first(report, cell))
            fprintf(out, "\n%s, n = %zu, %s\n", cell->workload, cell->n,
                    spread_names[cell->spread]);
        if (cell_has_failed(cell))
            fprintf(out, "  %-9s  %10s\n", cell->structure, "failed");
        else
            print_row(report, cell, out);
    }
}

static void print_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        if ((unsigned char)*text >= ' ')
            fputc(*text, out);
    }
    fputc('"', out);
}

static void cpu_model(char *model, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(model, size, "unknown");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            snprintf(model, size, "%s", colon + 2);
            break;
        }
    }
    if (file != NULL)
        fclose(file);
}

static void json_pair(FILE *out, const char *name, const char *value)
{
    fprintf(out, "  \"%s\": ", name);
    print_string(out, value);
    fprintf(out, ",\n");
}

static void json_machine(FILE *out)
{
    struct utsname machine;
    char model[256];
    char when[32];
    time_t now = time(NULL);
    struct tm utc;

    cpu_model(model, sizeof model);
    json_pair(out, "cpu", model);
    if (uname(&machine) == 0) {
        json_pair(out, "system", machine.sysname);
        json_pair(out, "release", machine.release);
        json_pair(out, "architecture", machine.machine);
    }
    json_pair(out, "compiler", bench_compiler());
    if (gmtime_r(&now, &utc) != NULL &&
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc) > 0)
        json_pair(out, "time", when);
}

void report_json(const struct report *report, FILE *out)
{
    fprintf(out, "{\n");
    json_machine(out);
    json_pair(out, "commit", report->commit);
    fprintf(out, "  \"seed\": %" PRIu64 ",\n  \"repeats\": %u,\n", report->seed,
            report->repeats);
    fprintf(out, "  \"cells\": [");
    for (size_t i = 0; i < report->cell_count; i++) {
        const struct cell *cell = &report->cells[i];
        fprintf(
            out,
            "%s\n    {\"n\": %zu, \"delays\": \"%s\", \"workload\": \"%s\", "
            "\"structure\": \"%s\", \"median\": %.3f, \"samples\": [",
            i == 0 ? "" : ",", cell->n, spread_names[cell->spread],
            cell->workload, cell->structure, cell_median(cell));
        for (unsigned k = 0; k < cell->sample_count; k++)
            fprintf(out, "%s%.3f", k == 0 ? "" : ", ", cell->samples[k]);
        fprintf(out, "]}");
    }
    fprintf(out, "\n  ]\n}\n");
}
