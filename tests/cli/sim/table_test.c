/*
 * cli/sim/table_test.c - the table of a simulation: what it recommends, what it
 * marks, and that it fits.
 */
#include "cli/sim/table.h"
#include "cli/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A geometry that cost so much, with so many timers in the worst step. */
static struct sim_row row(const char *name, double ns, uint64_t worst)
{
    struct sim_row made = {
        .kind = &engine_wheel,
        .outcome = {.work = {.armed = 1000, .fired = 1000},
                    .operations = 100000,
                    .ns = ns * 100000,
                    .worst_moved = worst,
                    .is_sound = true},
    };
    snprintf(made.name, sizeof made.name, "wheel %s", name);
    return made;
}

struct page {
    char text[8192];
};

static struct page print(void (*write)(const struct sim_row *rows, size_t count,
                                       FILE *out),
                         const struct sim_row *rows, size_t count)
{
    struct page page = {""};
    FILE *file = tmpfile();
    assert_non_null(file);
    write(rows, count, file);
    rewind(file);
    size_t length = fread(page.text, 1, sizeof page.text - 1, file);
    assert_true(length < sizeof page.text - 1);
    fclose(file);
    return page;
}

static void assert_recommended(const struct sim_row *rows, size_t count,
                               const char *name)
{
    char sentence[200];
    struct page page = print(table_write, rows, count);
    snprintf(sentence, sizeof sentence, "\nFor this load: wheel %s, ", name);
    if (strstr(page.text, sentence) == NULL)
        fail_msg("not '%s' in\n%s", sentence, page.text);
}

static void the_smallest_worst_step_wins_among_the_cheap(void **state)
{
    (void)state;
    struct sim_row rows[] = {row("20", 50, 700), row("64", 99, 600),
                             row("256", 101, 10)};
    assert_recommended(rows, 3, "64"); /* 256 costs more than twice as much */
    rows[2] = row("256", 100, 10);
    assert_recommended(rows, 3, "256");
}

static void the_cheapest_wins_among_equal_steps(void **state)
{
    (void)state;
    struct sim_row rows[] = {row("20", 60, 700), row("64", 50, 700),
                             row("256", 70, 700)};
    assert_recommended(rows, 3, "64");
}

static void the_smallest_wins_among_those_that_are_equal(void **state)
{
    (void)state;
    struct sim_row rows[] = {row("20", 50, 700), row("64", 50, 700),
                             row("256", 50, 700)};
    rows[0].outcome.bytes_max = 3000;
    rows[1].outcome.bytes_max = 2000;
    rows[2].outcome.bytes_max = 4000;
    assert_recommended(rows, 3, "64");
    struct page page = print(table_write, rows, 3);
    assert_non_null(strstr(page.text, "it takes the least memory."));
    rows[0].outcome.ns -= 1;
    assert_recommended(rows, 3, "20");
    page = print(table_write, rows, 3);
    assert_null(strstr(page.text, "least memory"));
}

/* Two operations say nothing about a geometry: to name one would be a guess. */
static void nothing_is_recommended_where_nothing_was_moved(void **state)
{
    (void)state;
    struct sim_row rows[] = {row("20", 50, 0), row("64", 50, 0),
                             row("256", 50, 0)};
    for (unsigned i = 0; i < 3; i++) {
        rows[i].outcome.operations = 2;
        rows[i].outcome.bytes_max = 3000 - i * 1000;
    }
    struct page page = print(table_write, rows, 2);
    assert_null(strstr(page.text, "For this load"));
    assert_non_null(strstr(page.text, "\nToo little happens to compare 2 of "
                                      "them: "));
    assert_non_null(strstr(page.text, "\nOf these wheel 64 takes the least "
                                      "memory.\n"));

    /* One that had nothing to move where the others had is better. */
    rows[0].outcome.work.visits = rows[2].outcome.work.visits = 1;
    assert_recommended(rows, 3, "64");
}

static void who_broke_a_promise_is_not_recommended(void **state)
{
    (void)state;
    struct sim_row rows[] = {row("20", 1, 1), row("64", 50, 700),
                             row("256", 60, 600)};
    rows[0].outcome.is_sound = false;
    assert_recommended(rows, 3, "256");
    rows[1].outcome.is_sound = rows[2].outcome.is_sound = false;
    struct page page = print(table_write, rows, 3);
    assert_null(strstr(page.text, "For this load"));
}

/* Where a microsecond decides, work does: it is the same each time. */
static void few_operations_are_not_judged_by_time(void **state)
{
    (void)state;
    struct sim_row rows[] = {row("20", 1, 9), row("64", 50, 9)};
    for (unsigned i = 0; i < 2; i++)
        rows[i].outcome.operations = 9999;
    rows[0].outcome.work.falls = 3000;
    rows[1].outcome.work.falls = 2000;
    assert_recommended(rows, 2, "64");
    rows[0].outcome.operations = rows[1].outcome.operations = 10000;
    assert_recommended(rows, 2, "20");
}

static void one_geometry_is_not_recommended_over_others(void **state)
{
    (void)state;
    struct sim_row only = row("20", 50, 9);
    struct page page = print(table_write, &only, 1);
    assert_null(strstr(page.text, "For this load"));
    assert_null(strchr(page.text, '*'));
}

static size_t count_of(const char *text, char c)
{
    size_t count = 0;
    for (; *text != '\0'; text++)
        count += *text == c;
    return count;
}

static void only_the_best_of_a_column_is_marked(void **state)
{
    (void)state;
    struct sim_row rows[] = {row("20", 50, 9), row("64", 60, 9),
                             row("256", 55, 9)};
    struct page page = print(table_write, rows, 3);
    assert_int_equal(count_of(page.text, '*'), 1);
    assert_non_null(strstr(page.text, "50*\n"));
    rows[2] = row("256", 55, 8);
    page = print(table_write, rows, 3);
    assert_int_equal(count_of(page.text, '*'), 2);
}

static void passes_are_printed_only_for_wheels_with_rounds(void **state)
{
    (void)state;
    struct sim_row rows[] = {row("20", 50, 9), row("512r", 60, 9)};
    struct page page = print(table_write, rows, 2);
    assert_null(strstr(page.text, "passed"));
    rows[1].geometry.beyond = TKW_ROUNDS;
    page = print(table_write, rows, 2);
    assert_non_null(strstr(page.text, "passed"));
}

/* However large the numbers and long the names, and whatever is behind the
 * point. */
static void no_line_is_wider_than_a_terminal(void **state)
{
    (void)state;
    struct sim_row rows[] = {
        row("2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,268435456r", 9e9, UINT64_MAX),
        row("1024,1024,512", 123456.7, 12345678901)};
    rows[0].geometry.beyond = TKW_ROUNDS;
    for (unsigned i = 0; i < 2; i++) {
        struct replay_outcome *o = &rows[i].outcome;
        o->work.falls = o->work.visits = o->work.passes = 1234567890123;
        o->wakeups = o->wakeups_empty = o->bytes_max = 98765432109876;
        o->last = UINT64_MAX;
        o->pending_max = o->ignored = 4294967295;
        o->worst_ns = 1.2345e14;
    }
    rows[1].outcome.work.falls = 12; /* 0.012 a timer */
    rows[1].outcome.worst_ns = 99.9;
    struct page page = print(table_write, rows, 2);
    assert_non_null(strstr(page.text, " 0.012"));
    assert_non_null(strstr(page.text, "0.100"));
    assert_non_null(strstr(page.text, " 98.8T"));
    for (char *line = strtok(page.text, "\n"); line != NULL;
         line = strtok(NULL, "\n"))
        assert_in_range(strlen(line), 1, 79);
}

/* What the longest that fits leaves over is just enough for the others. */
static void a_name_is_beside_its_numbers_if_it_fits(void **state)
{
    (void)state;
    struct sim_row rows[] = {row("20000,2000,200,20", 50, 9),
                             row("20000,2000,2000,20", 60, 9)};
    struct page page = print(table_write, rows, 2);
    assert_non_null(strstr(page.text, "\nwheel 20000,2000,200,20     0 "));
    assert_non_null(strstr(page.text, "\nwheel 20000,2000,2000,20\n   "));
    rows[0] = row("128,512,64", 50, 9);
    rows[1] = row("128,512,641", 50, 9);
    rows[0].geometry.beyond = TKW_ROUNDS;
    page = print(table_write, rows, 2);
    assert_non_null(strstr(page.text, "\nwheel 128,512,64     0 "));
    assert_non_null(strstr(page.text, "\nwheel 128,512,641\n   "));
}

/* Fold `letters` letters and then `text`: behind the letters is `wanted`. */
static void assert_folded(int letters, unsigned indent, const char *text,
                          const char *wanted)
{
    struct page page = {""};
    char word[200];
    FILE *file = tmpfile();
    assert_non_null(file);
    memset(word, 'x', sizeof word);
    words_write(file, indent, "%.*s%s", letters, word, text);
    rewind(file);
    assert_true(fread(page.text, 1, sizeof page.text - 1, file) > 0);
    fclose(file);
    assert_string_equal(page.text + letters, wanted);
}

/* 79 columns are a line, and a single word is one, however long. */
static void a_sentence_goes_on_in_the_next_line(void **state)
{
    (void)state;
    assert_folded(69, 0, " and eight", " and eight\n");
    assert_folded(70, 0, " and eight", " and\neight\n");
    assert_folded(75, 3, " and eight", " and\n   eight\n");
    assert_folded(76, 3, " and eight", "\n   and eight\n");
    assert_folded(120, 2, " and eight", "\n  and eight\n");
    assert_folded(120, 2, "", "\n");
}

/* The next line is shorter by what it is moved in, and may have one more. */
static void an_indented_line_is_folded_again(void **state)
{
    (void)state;
    char blanks[71], wanted[200];
    memset(blanks, ' ', 70);
    blanks[70] = '\0';
    snprintf(wanted, sizeof wanted, "\n%sand eight\n", blanks);
    assert_folded(79, 70, " and eight", wanted);
    snprintf(wanted, sizeof wanted, "\n%sand\n%sninety\n", blanks, blanks);
    assert_folded(79, 70, " and ninety", wanted);
}

/* A name, a number, and then a word that has no room: they stay together. */
static void blanks_in_front_of_the_words_are_kept(void **state)
{
    (void)state;
    const char *text = "   12   a-word-that-is-wider-than-all-that-is-left-of-"
                       "a-line-of-seventy-nine-columns and one";
    char wanted[200];
    snprintf(wanted, sizeof wanted, "%.*s\n%12sand one\n",
             (int)strlen(text) - 8, text, "");
    assert_folded(4, 12, text, wanted);
}

static void a_program_finds_a_value_for_each_name(void **state)
{
    (void)state;
    struct sim_row rows[] = {row("60,60,12", 50, 9), row("512r", 60, 9)};
    struct page page = print(table_write_csv, rows, 2);
    char *names = strtok(page.text, "\n");
    char *first = strtok(NULL, "\n"), *second = strtok(NULL, "\n");
    assert_int_equal(count_of(first, ',') - 2, count_of(names, ','));
    assert_int_equal(count_of(second, ','), count_of(names, ','));
    assert_int_equal(strncmp(first, "wheel,\"60,60,12\",100000,", 24), 0);
    assert_int_equal(strncmp(second, "wheel,\"512r\",100000,", 20), 0);
    assert_null(strtok(NULL, "\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_worst_step_wins_among_the_cheap),
        cmocka_unit_test(the_cheapest_wins_among_equal_steps),
        cmocka_unit_test(the_smallest_wins_among_those_that_are_equal),
        cmocka_unit_test(nothing_is_recommended_where_nothing_was_moved),
        cmocka_unit_test(who_broke_a_promise_is_not_recommended),
        cmocka_unit_test(few_operations_are_not_judged_by_time),
        cmocka_unit_test(one_geometry_is_not_recommended_over_others),
        cmocka_unit_test(only_the_best_of_a_column_is_marked),
        cmocka_unit_test(passes_are_printed_only_for_wheels_with_rounds),
        cmocka_unit_test(no_line_is_wider_than_a_terminal),
        cmocka_unit_test(a_name_is_beside_its_numbers_if_it_fits),
        cmocka_unit_test(a_sentence_goes_on_in_the_next_line),
        cmocka_unit_test(an_indented_line_is_folded_again),
        cmocka_unit_test(blanks_in_front_of_the_words_are_kept),
        cmocka_unit_test(a_program_finds_a_value_for_each_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
