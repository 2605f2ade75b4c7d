/*
 * servers/report.c - the values that a workload measured.
 */
#include "report.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "support.h"
#include "workload.h"

void report_add(struct report *report, const char *name, double number)
{
    assert(report->count < VALUES_MAX);
    struct value *value = &report->values[report->count++];
    snprintf(value->name, sizeof value->name, "%s", name);
    value->number = number;
}

static void add_part(struct report *report, const char *name, const char *part,
                     double number)
{
    char whole[VALUE_NAME_MAX];
    snprintf(whole, sizeof whole, "%s_%s", name, part);
    report_add(report, whole, number);
}

/* `part` names the quantile at `share`, and its unit. */
static void add_quantile(struct report *report, const char *name,
                         const struct histogram *times, const char *part,
                         double share)
{
    add_part(report, name, part,
             (double)histogram_quantile(times, share) / NS_PER_US);
}

static void add_greatest(struct report *report, const char *name,
                         const struct histogram *times)
{
    add_part(report, name, "max_us", (double)times->greatest / NS_PER_US);
}

void report_times(struct report *report, const char *name,
                  const struct histogram *times)
{
    add_part(report, name, "count", (double)times->count);
    if (times->count == 0)
        return;
    add_quantile(report, name, times, "p50_us", 0.5);
    add_quantile(report, name, times, "p90_us", 0.9);
    add_quantile(report, name, times, "p99_us", 0.99);
    add_quantile(report, name, times, "p99.9_us", 0.999);
    add_greatest(report, name, times);
}

void report_times_briefly(struct report *report, const char *name,
                          const struct histogram *times)
{
    add_part(report, name, "count", (double)times->count);
    if (times->count == 0)
        return;
    add_quantile(report, name, times, "p50_us", 0.5);
    add_quantile(report, name, times, "p99_us", 0.99);
    add_greatest(report, name, times);
}

/* Prints `text` as JSON prints strings. */
static void print_quoted(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        unsigned char letter = (unsigned char)*text;
        if (letter == '"' || letter == '\\')
            printf("\\%c", letter);
        else if (letter < ' ')
            printf("\\u%04x", letter);
        else
            putchar(letter);
    }
    putchar('"');
}

static void print_json(const struct report *report,
                       const struct options *options)
{
    printf("{\"workload\": \"%s\", \"connect\": ", options->workload->name);
    print_quoted(options->address.text);
    printf(", \"settings\": {");
    const char *separator = "";
    for (unsigned i = 0; i < SETTINGS; i++) {
        if (!(options->workload->takes & TAKES(i)))
            continue;
        printf("%s\"%s\": %" PRIu64, separator, setting_name(i),
               options->number[i]);
        separator = ", ";
    }
    printf("}, \"values\": {");
    separator = "";
    for (size_t i = 0; i < report->count; i++, separator = ", ")
        printf("%s\"%s\": %.10g", separator, report->values[i].name,
               report->values[i].number);
    printf("}}\n");
}

static void print_table(const struct report *report,
                        const struct options *options)
{
    printf("%s at %s\n", options->workload->name, options->address.text);
    for (unsigned i = 0; i < SETTINGS; i++)
        if (options->workload->takes & TAKES(i) && options->number[i] != 0)
            printf("    --%s %" PRIu64 "\n", setting_name(i),
                   options->number[i]);
    for (size_t i = 0; i < report->count; i++) {
        double number = report->values[i].number;
        printf("  %-28s", report->values[i].name);
        printf(number < 10000 && number > -10000 ? " %12.5g\n" : " %12.0f\n",
               number);
    }
}

void report_print(const struct report *report, const struct options *options)
{
    if (options->is_json)
        print_json(report, options);
    else
        print_table(report, options);
    if (fflush(stdout) != 0 || ferror(stdout))
        fail("cannot write the result");
}
