/*
 * service/prometheus_test.c - the stats as text: read as strictly as by the
 * pickiest reader, and written into buffers of every size.
 */
#define _POSIX_C_SOURCE 200809L

#include "plans.h"

#include <stdio.h>

#define SAMPLES_MAX 64

struct sample {
    char name[64];
    char labels[128]; /* what is in the braces, or nothing */
    char value[64];
};

/* All samples, and the family that is being read. */
struct reading {
    struct sample samples[SAMPLES_MAX];
    size_t count;
    char family[64];
    char kind[16];
    char families[SAMPLES_MAX][64];
    size_t families_count;
};

static const char letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:0123456789";

static bool ends_in(const char *name, const char *end)
{
    size_t long_ = strlen(name), short_ = strlen(end);
    return long_ >= short_ && strcmp(name + long_ - short_, end) == 0;
}

/* Read a name into `name`.  Returns what is behind it. */
static const char *read_name(const char *line, char name[64])
{
    size_t length = strspn(line, letters);
    assert_true(length > 0 && length < 64);
    assert_true(line[0] < '0' || line[0] > '9');
    memcpy(name, line, length);
    name[length] = '\0';
    return line + length;
}

/* HELP comes first, once, and says something. */
static void read_help(struct reading *reading, const char *line)
{
    line = read_name(line, reading->family);
    assert_true(line[0] == ' ' && line[1] != ' ' && line[1] != '\0');
    for (size_t i = 0; i < reading->families_count; i++)
        assert_string_not_equal(reading->families[i], reading->family);
    assert_true(reading->families_count < SAMPLES_MAX);
    memcpy(reading->families[reading->families_count++], reading->family,
           sizeof reading->family);
    reading->kind[0] = '\0';
}

/* TYPE comes next, once.  Counters are totals, and nothing else is. */
static void read_type(struct reading *reading, const char *line)
{
    char name[64];
    line = read_name(line, name);
    assert_string_equal(name, reading->family);
    assert_string_equal(reading->kind, "");
    assert_int_equal(*line++, ' ');
    assert_true(strcmp(line, "counter") == 0 || strcmp(line, "gauge") == 0 ||
                strcmp(line, "summary") == 0);
    memcpy(reading->kind, line, strlen(line) + 1);
    assert_int_equal(ends_in(name, "_total"), strcmp(line, "counter") == 0);
}

/* Labels: a name, a value in quotes, and a comma between them. */
static const char *read_labels(const char *line, char labels[128])
{
    const char *begin = line;
    do {
        char name[64];
        line = read_name(line, name);
        assert_int_equal(*line++, '=');
        assert_int_equal(*line++, '"');
        for (; *line != '"'; line++)
            assert_true(*line != '\0' && *line != '\\');
        line++;
    } while (*line == ',' && *line++ == ',');
    assert_true(line - begin < 128);
    memcpy(labels, begin, (size_t)(line - begin));
    labels[line - begin] = '\0';
    assert_int_equal(*line, '}');
    return line + 1;
}

/* A sample belongs to the family above it. */
static void read_sample(struct reading *reading, const char *line)
{
    struct sample *sample = &reading->samples[reading->count++];
    size_t family = strlen(reading->family);
    assert_true(reading->count < SAMPLES_MAX);
    line = read_name(line, sample->name);
    assert_true(reading->kind[0] != '\0');
    assert_int_equal(strncmp(sample->name, reading->family, family), 0);
    const char *rest = sample->name + family;
    if (strcmp(reading->kind, "summary") == 0)
        assert_true(strcmp(rest, "_sum") == 0 || strcmp(rest, "_count") == 0 ||
                    strcmp(rest, "") == 0);
    else
        assert_string_equal(rest, "");
    if (*line == '{')
        line = read_labels(line + 1, sample->labels);
    assert_int_equal(*line++, ' ');
    size_t digits = strspn(line, "0123456789.");
    assert_true(digits > 0 && digits < 64);
    assert_int_equal(line[digits], '\0');
    assert_true(strchr(line, '.') == strrchr(line, '.'));
    memcpy(sample->value, line, digits + 1);
}

static void read_text(struct reading *reading, char *text)
{
    memset(reading, 0, sizeof *reading);
    assert_true(text[0] != '\0');
    while (*text != '\0') {
        char *end = strchr(text, '\n');
        assert_non_null(end); /* the last line has one, too */
        *end = '\0';
        assert_int_equal(strspn(text, "\t\r"), 0);
        if (strncmp(text, "# HELP ", 7) == 0)
            read_help(reading, text + 7);
        else if (strncmp(text, "# TYPE ", 7) == 0)
            read_type(reading, text + 7);
        else
            read_sample(reading, text);
        text = end + 1;
    }
}

/* The one sample of this name, and of this quantile. */
static const char *value_of(const struct reading *reading, const char *name,
                            const char *quantile)
{
    const char *found = NULL;
    for (size_t i = 0; i < reading->count; i++) {
        const struct sample *sample = &reading->samples[i];
        const char *its = strstr(sample->labels, "quantile=");
        if (strcmp(sample->name, name) != 0 ||
            (its == NULL) != (quantile == NULL))
            continue;
        if (its != NULL && quantile != NULL && strcmp(its, quantile) != 0)
            continue;
        assert_null(found);
        found = sample->value;
    }
    assert_non_null(found);
    return found;
}

static void assert_count(const struct reading *reading, const char *name,
                         uint64_t expected)
{
    assert_int_equal(strtoull(value_of(reading, name, NULL), NULL, 10),
                     expected);
    assert_null(strchr(value_of(reading, name, NULL), '.'));
}

/* Seconds, to the last nanosecond: as text, since a double has not room. */
static void assert_seconds(const char *value, uint64_t expected_ns)
{
    char expected[64];
    snprintf(expected, sizeof expected, "%llu.%09llu",
             (unsigned long long)(expected_ns / TKW_SECOND),
             (unsigned long long)(expected_ns % TKW_SECOND));
    assert_string_equal(value, expected);
}

static void turn_a_while(struct diary *diary)
{
    if (diary->count == 2)
        tkw_manual_clock_advance(diary->probe.scene->manual,
                                 3 * TKW_SECOND + 7);
}

/* A service that has something to tell of everything. */
static void scene_open_busy(struct scene *scene, struct diary *diary,
                            struct probe *probes, enum tkw_driver driver)
{
    scene_open_tens(scene, 0, driver);
    diary->also = turn_a_while;
    arm_diary(scene, diary,
              (struct tkw_plan){.when_ns = 100, .period_ns = TKW_SECOND});
    for (size_t k = 0; k < 100; k++)
        probe_arm(scene, &probes[k], 20000 * (k + 1));
    for (size_t k = 0; k < 100; k += 10)
        tkw_service_cancel(scene->service, probes[k].handle);
    for (uint64_t now = 0; now <= 1000000; now += 100)
        scene_go(scene, now);
    scene_go(scene, 3 * TKW_SECOND);
    scene_go(scene, 9 * TKW_SECOND);
    for (size_t k = 0; k < 3; k++)
        probe_arm(scene, &probes[k], HOUR);
    scene_rest(scene);
}

static void assert_same(const struct reading *reading,
                        const struct tkw_service_stats *stats)
{
    assert_count(reading, "tickwheel_armed_total", stats->armed);
    assert_count(reading, "tickwheel_fired_total", stats->fired);
    assert_count(reading, "tickwheel_cancelled_total", stats->cancelled);
    assert_count(reading, "tickwheel_handed_back_total", stats->handed_back);
    assert_count(reading, "tickwheel_pending", stats->pending);
    assert_count(reading, "tickwheel_wakeups_total", stats->wakeups);
    assert_count(reading, "tickwheel_woken_total", stats->woken);
    assert_count(reading, "tickwheel_clock_steps_back_total",
                 stats->steps_back);
    assert_count(reading, "tickwheel_falls_total", stats->falls);
    assert_count(reading, "tickwheel_overruns_total", stats->overruns);
    const char *late = "tickwheel_late_seconds";
    assert_seconds(value_of(reading, late, "quantile=\"0.5\""),
                   stats->late_p50_ns);
    assert_seconds(value_of(reading, late, "quantile=\"0.9\""),
                   stats->late_p90_ns);
    assert_seconds(value_of(reading, late, "quantile=\"0.99\""),
                   stats->late_p99_ns);
    assert_seconds(value_of(reading, late, "quantile=\"0.999\""),
                   stats->late_p999_ns);
    assert_seconds(value_of(reading, "tickwheel_late_seconds_sum", NULL),
                   stats->late_sum_ns);
    assert_count(reading, "tickwheel_late_seconds_count", stats->fired);
    assert_seconds(value_of(reading, "tickwheel_late_max_seconds", NULL),
                   stats->late_max_ns);
    assert_seconds(
        value_of(reading, "tickwheel_slowest_callback_seconds", NULL),
        stats->slowest_ns);
}

/* Netty 65, 6681, 10962.  Every line is well-formed, and what it says is what
   stats say; labels go with each sample, or none. */
static void the_text_says_what_the_stats_say(void **state)
{
    (void)state;
    static const char *const labels[] = {NULL, "service=\"mail\"",
                                         "a=\"1\",b=\"two, or 3\""};
    static struct reading reading;
    for (size_t i = 0; i < COUNT_OF(both) * COUNT_OF(labels); i++) {
        struct scene scene;
        struct diary diary = {0};
        static struct probe probes[100];
        char text[10000];
        memset(probes, 0, sizeof probes);
        scene_open_busy(&scene, &diary, probes, both[i % 2]);
        size_t length = tkw_service_prometheus(scene.service, labels[i / 2],
                                               text, sizeof text);
        assert_true(length < sizeof text);
        assert_int_equal(strlen(text), length);
        struct tkw_service_stats stats = tkw_service_read_stats(scene.service);
        assert_true(stats.overruns > 0 && stats.falls > 0);
        assert_true(stats.late_p50_ns > 0 && stats.slowest_ns > TKW_SECOND);
        read_text(&reading, text);
        assert_same(&reading, &stats);
        for (size_t k = 0; k < reading.count; k++) {
            const char *its = reading.samples[k].labels;
            if (labels[i / 2] == NULL)
                assert_true(*its == '\0' || strncmp(its, "quantile=", 9) == 0);
            else
                assert_non_null(strstr(its, labels[i / 2]));
        }
        scene_close(&scene);
    }
}

static void assert_cut_off(struct scene *scene, const char *labels,
                           const char *whole, size_t size)
{
    char text[10000];
    size_t length = strlen(whole);
    memset(text, '\x7f', sizeof text);
    assert_int_equal(tkw_service_prometheus(scene->service, labels, text, size),
                     length);
    if (size > 0) {
        size_t kept = size > length ? length : size - 1;
        assert_memory_equal(text, whole, kept);
        assert_int_equal(text[kept], '\0');
    }
    for (size_t k = size; k < sizeof text; k++)
        assert_int_equal(text[k], '\x7f');
}

/* Cut off at any size: ended by a 0, nothing written behind it, and always
   told how long it would have been. */
static void the_text_is_cut_off_at_any_size(void **state)
{
    (void)state;
    static const char *const labels[] = {NULL, "service=\"mail\""};
    for (size_t i = 0; i < COUNT_OF(labels); i++) {
        struct scene scene;
        struct diary diary = {0};
        static struct probe probes[100];
        char whole[10000];
        memset(probes, 0, sizeof probes);
        scene_open_busy(&scene, &diary, probes, TKW_DRIVER_NONE);
        size_t length =
            tkw_service_prometheus(scene.service, labels[i], NULL, 0);
        assert_int_equal(tkw_service_prometheus(scene.service, labels[i], whole,
                                                sizeof whole),
                         length);
        assert_true(length > 0 && length + 10 < sizeof whole);
        for (size_t size = 0; size <= length + 2; size++)
            assert_cut_off(&scene, labels[i], whole, size);
        scene_close(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_says_what_the_stats_say),
        cmocka_unit_test(the_text_is_cut_off_at_any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
