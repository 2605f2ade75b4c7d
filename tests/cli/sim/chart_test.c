/*
 * cli/sim/chart_test.c - charts: what is on them, that it is XML, and that
 * nothing lies outside the page.
 */
#include "picture_support.h"

#include "cli/sim/plot.h"

static void a_full_disk_is_reported(void **state)
{
    (void)state;
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL)
        skip();
    struct sim_row row = {.name = "wheel 20", .kind = &engine_wheel};
    assert_false(plot_write(&row, 1, "a chart", full));
    fclose(full);
}

/* Rows of made-up numbers; the chart is to be freed. */
static char *chart(const struct sim_row *rows, size_t count)
{
    FILE *out = tmpfile();
    assert_non_null(out);
    assert_true(plot_write(rows, count, "a chart", out));
    char *picture = text_of(out);
    assert_is_xml(picture);
    assert_is_in_view(picture);
    assert_texts_are_apart(picture);
    return picture;
}

static struct sim_row row(const char *name, const struct engine_kind *kind,
                          uint64_t wakeups, uint64_t worst)
{
    struct sim_row made = {.kind = kind};
    snprintf(made.name, sizeof made.name, "%s", name);
    made.outcome.operations = 1000;
    made.outcome.work.armed = 1000;
    made.outcome.work.falls = 1000;
    made.outcome.wakeups = wakeups;
    made.outcome.worst_moved = worst;
    made.outcome.worst_at = 77;
    made.outcome.end = 5000;
    made.outcome.bins[120] = worst;
    return made;
}

static void the_best_of_a_chart_is_bold(void **state)
{
    (void)state;
    struct sim_row rows[] = {row("wheel 20", &engine_wheel, 123, 7),
                             row("pool 20", &engine_pool, 124, 7),
                             row("wheel 64", &engine_wheel, 999, 7)};
    char *picture = chart(rows, COUNT_OF(rows));
    const char *best = strstr(picture, ">123<");
    assert_non_null(best);
    const char *tag = best;
    while (*tag != '<')
        tag--;
    assert_true(strstr(tag, SVG_BOLD) < best);
    /* the titles, and one number: all others are the same or worse */
    assert_int_equal(count_of(picture, SVG_BOLD "\""), 3);
    assert_has(picture, "<rect class=\"wheel\"");
    assert_has(picture, "<rect class=\"pool\"");
    free(picture);
}

static void a_chart_says_where_its_scale_is_logarithmic(void **state)
{
    (void)state;
    struct sim_row rows[] = {row("wheel 20", &engine_wheel, 10, 7),
                             row("wheel 64", &engine_wheel, 500, 7)};
    char *picture = chart(rows, COUNT_OF(rows));
    assert_int_equal(count_of(picture, ">log scale<"), 0);
    free(picture);
    rows[1].outcome.wakeups = 501;
    picture = chart(rows, COUNT_OF(rows));
    assert_int_equal(count_of(picture, ">log scale<"), 1);
    free(picture);
}

/* As high as the largest of all, where it happened. */
static void a_curve_is_high_where_the_worst_step_was(void **state)
{
    (void)state;
    struct sim_row rows[] = {row("wheel 20", &engine_wheel, 1, 1000),
                             row("wheel 64", &engine_wheel, 1, 1)};
    char *picture = chart(rows, COUNT_OF(rows));
    const char *high = strstr(picture, "<polygon class=\"wheel\"");
    const char *low = strstr(high + 1, "<polygon class=\"wheel\"");
    double base = corner(high, 0).y;
    assert_true(base - corner(high, 2).y > 50);
    assert_true(base - corner(high, 2).y < 57);
    base = corner(low, 0).y;
    assert_true(base - corner(low, 2).y > 2);
    assert_true(base - corner(low, 2).y < 10);
    assert_has(picture, ">wheel 20: at most 1,000, at 77<");
    free(picture);
}

/* Or one would take it for all of the name. */
static void a_name_that_is_cut_ends_in_dots(void **state)
{
    (void)state;
    struct sim_row rows[] = {
        row("wheel 1234567890,123456", &engine_wheel, 1, 7),
        row("wheel 1234567890,1234567890,345", &engine_wheel, 1, 7)};
    char *picture = chart(rows, COUNT_OF(rows));
    assert_has(picture, ">wheel 1234567890,123456<");
    assert_has(picture, ">wheel 1234567890,123456: at most");
    assert_has(picture, ">wheel 1234567890,1234567890...<");
    assert_has(picture, ">wheel 1234567890,1234...: at most");
    free(picture);
}

/* A curve of no length cannot be seen. */
static void a_load_of_one_tick_has_a_curve_of_one_step(void **state)
{
    (void)state;
    struct sim_row rows[] = {row("wheel 20", &engine_wheel, 1, 5),
                             row("wheel 64", &engine_wheel, 1, 0)};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        rows[i].outcome.start = rows[i].outcome.end = 77;
        rows[i].outcome.bins[0] = rows[i].outcome.worst_moved;
    }
    char *picture = chart(rows, COUNT_OF(rows));
    const char *curves = strstr(picture, "over time");
    const char *step = strstr(curves, "<rect class=\"wheel\"");
    assert_non_null(step);
    assert_true(attribute(step, "width") > 300);
    assert_true(attribute(step, "height") > 20);
    assert_int_equal(count_of(curves, "<rect"), 1); /* 0 has no height */
    assert_int_equal(count_of(curves, "<polygon"), 0);
    assert_int_equal(count_of(curves, ">tick 77<"), 2);
    assert_int_equal(count_of(curves, ">77<"), 0);
    free(picture);
}

static void charts_of_any_number_of_rows_stay_on_the_page(void **state)
{
    (void)state;
    struct sim_row rows[32];
    char name[sizeof rows[0].name];
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        memset(name, 'x', sizeof name);
        name[i * 5 + 1] = '\0';
        rows[i] = row(name, i % 2 > 0 ? &engine_pool : &engine_wheel, i << 30,
                      i * i * i);
        rows[i].outcome.end = TKW_NEVER - 1;
        rows[i].outcome.worst_at = TKW_NEVER - 1;
        for (size_t j = 0; j < REPLAY_BINS; j++)
            rows[i].outcome.bins[j] = j * i * i * i / REPLAY_BINS;
        free(chart(rows, i + 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_disk_is_reported),
        cmocka_unit_test(the_best_of_a_chart_is_bold),
        cmocka_unit_test(a_chart_says_where_its_scale_is_logarithmic),
        cmocka_unit_test(a_curve_is_high_where_the_worst_step_was),
        cmocka_unit_test(a_name_that_is_cut_ends_in_dots),
        cmocka_unit_test(a_load_of_one_tick_has_a_curve_of_one_step),
        cmocka_unit_test(charts_of_any_number_of_rows_stay_on_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
