/*
 * cli/sim/picture_test.c - films as pictures: whatever is written on them can
 * be read, and stays on the page.
 */
#include "film_support.h"

static const struct tkw_geometry toy = {.sizes = {64}};
static const struct tkw_geometry binary = {.sizes = {2}};
static const struct tkw_geometry usual = {0};

static const struct trace_op example = {.deadline = 445, .kind = TRACE_ARM};

/* Names of files can be anything, and of any length. */
static void any_title_is_shown_as_text(void **state)
{
    (void)state;
    char title[600];
    memset(title, 'x', sizeof title);
    memcpy(title, "<a> & \x01\xff\xc3\xa4\xed\xa0\x80", 13);
    title[sizeof title - 1] = '\0';
    char *film = shoot(TRACE_OF(example),
                       (struct scene){&engine_wheel, &kafka, 6, 0, 0, title});
    assert_has(film, ">&lt;a&gt; &amp; ??\xc3\xa4???x");
    assert_has(film, "xxx...</text>");
    free(film);
}

/* The end of time, and numbers of twenty digits, all at once. */
static void times_of_any_length_stay_on_the_page(void **state)
{
    (void)state;
    const tkw_tick end = TKW_NEVER;
    char *film = shoot(TRACE_OF({end - 2000, end - 1, 0, TRACE_ARM},
                                {end - 2000, end - 1, 1, TRACE_ARM},
                                {end - 2000, end - 900, 2, TRACE_ARM},
                                {end - 1999, end, 2, TRACE_POSTPONE}),
                       (struct scene){&engine_wheel, &usual, 12, 0, 0, NULL});
    assert_has(film, "never<");
    free(film);
}

/* The same beside the rightmost slot of the last frame. */
static void a_long_deadline_stays_in_its_frame(void **state)
{
    (void)state;
    const tkw_tick start = TKW_NEVER - 12;
    char *film =
        shoot(TRACE_OF({start, start + 2, 0, TRACE_ARM},
                       {start, start + 2, 1, TRACE_ARM},
                       {start, start + 2, 2, TRACE_ARM}),
              (struct scene){&engine_wheel, &kafka, 6, 0, start, NULL});
    assert_int_equal(frame_count(film), 3);
    /* A line of each caption; and keys of one, two and three timers, whose
       letters are beside the slot. */
    assert_int_equal(count_of(film, ">18,446,744,073,709,551,605<"), 3);
    assert_int_equal(count_of(film, ">a: 18,446,744,073,709,551,605<"), 3);
    assert_int_equal(count_of(film, ">b: 18,446,744,073,709,551,605<"), 2);
    assert_int_equal(count_of(film, ">c: 18,446,744,073,709,551,605<"), 1);
    assert_int_equal(count_of(film, ">a<"), 3);
    assert_int_equal(count_of(film, ">b<"), 2);
    assert_int_equal(count_of(film, ">c<"), 1);
    struct extent key, legend;
    next_text(strstr(film, ">b: 18,446"), &key); /* of c, below */
    const char *text = strstr(film, "<text class=\"dim small\"");
    next_text(text, &legend);
    assert_has(text, "timers in a slot:");
    assert_true(key.bottom < legend.top);
    free(film);
}

/* Slot 32 of level 1 is next to that of level 2. */
static void a_label_is_on_no_slot_that_has_one(void **state)
{
    (void)state;
    char *film =
        shoot(TRACE_OF({0, 32, 0, TRACE_ARM}, {0, 32 * 64, 1, TRACE_ARM},
                       {0, 32 * 4096, 2, TRACE_ARM}),
              (struct scene){&engine_wheel, &toy, 20, 0, 0, NULL});
    const char *labels = strstr(film, "<g class=\"labels\">");
    for (unsigned i = 0; i < 2; i++)
        labels = strstr(labels + 1, "<g class=\"labels\">");
    struct extent first;
    assert_has(next_text(labels, &first), ">32<");
    double y = attribute(strstr(frame_at(film, 2), "<use"), "y");
    double width = (FRAME_RADIUS - FRAME_HOLE) / 3.0;
    assert_true(first.top > y + FRAME_HOLE + 1.5 * width);
    free(film);
}

/* Or who reads along would take one timer for another. */
static void a_timer_keeps_its_letter(void **state)
{
    (void)state;
    const tkw_tick start = 1000000;
    char *film = shoot(TRACE_OF({start, start + 7, 0, TRACE_ARM},
                                {start, start + 9, 1, TRACE_ARM}),
                       (struct scene){&engine_wheel, &kafka, 9, 0, 0, NULL});
    const char *fired = frame_at(film, 2);
    assert_has(fired, ">b: 1,000,009<");
    const char *last = strstr(film, "<g class=\"labels\">");
    for (const char *next;
         (next = strstr(last + 1, "class=\"labels\"")) != NULL;)
        last = next;
    assert_has(last, ">b<");
    assert_lacks(last, ">a<");
    free(film);
}

/* Wherever it is: below the dial, where the caption is, beside it, inside. */
static void labels_of_every_slot_are_apart(void **state)
{
    (void)state;
    static const tkw_tick steps[] = {1, 20, 400};
    char title[300] = ""; /* all along above them */
    memset(title, 'x', sizeof title - 1);
    for (tkw_tick slot = 1; slot < 20; slot++) {
        for (size_t i = 0; i < COUNT_OF(steps); i++) {
            tkw_tick a = slot * steps[i], b = a + (i > 0);
            tkw_tick c = i < 2 ? slot * steps[i + 1] : a;
            free(shoot(TRACE_OF({0, a, 0, TRACE_ARM}, {0, b, 1, TRACE_ARM},
                                {0, c, 2, TRACE_ARM}),
                       (struct scene){&engine_wheel, &kafka, 20, 0, 0, title}));
        }
    }
}

/* The lines of the names of levels, which lead over all rings further out. */
static void no_line_crosses_the_number_of_a_slot(void **state)
{
    (void)state;
    static const struct tkw_geometry mixed = {.sizes = {24, 12, 20}};
    const struct tkw_geometry *const geometries[] = {&kafka, &mixed};
    for (size_t i = 0; i < COUNT_OF(geometries); i++) {
        char *film =
            shoot(TRACE_OF({0, 5000, 0, TRACE_ARM}),
                  (struct scene){&engine_wheel, geometries[i], 9, 0, 0, NULL});
        unsigned lines = 0;
        for (const char *line = strstr(film, "</defs>");
             (line = strstr(line, "<line class=\"dim\"")) != NULL; line++) {
            assert_true(distance_to_numbers(film, line) > 4.5);
            lines++;
        }
        assert_int_equal(lines, 6);
        free(film);
    }
}

/* However many lines that takes: from one slot down to eighteen levels. */
static void a_caption_is_never_cut(void **state)
{
    (void)state;
    struct trace trace = {.unit = 1, .key_count = 180};
    const tkw_tick far = 1 << 20;
    for (uint32_t i = 0; i < trace.key_count; i++)
        assert_true(trace_append(
            &trace, (struct trace_op){0, far + (1 << i % 18), i, TRACE_ARM}));
    char *film =
        shoot(trace, (struct scene){&engine_wheel, &binary, 4, 0, far, NULL});
    assert_int_equal(frame_count(film), 2);
    const char *line = strstr(frame_at(film, 1), ">at 1,048,576:");
    assert_non_null(line);
    assert_has(line, "10 fall from level 21 to 18");
    assert_has(line, "120 more fall lower down");
    const char *end = strstr(line, "180 pending<");
    assert_non_null(end);
    unsigned lines = 0;
    for (; line < end; line = strstr(line + 1, "<text"))
        lines++;
    assert_true(lines > 5);
    free(film);
}

static void every_shape_stays_on_the_page(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        for (uint32_t frames = 2; frames <= 9; frames += 7) {
            free(shoot(
                crowd(3000, 1, 3000, 50),
                (struct scene){&engine_wheel, &shapes[i], frames, 0, 0, NULL}));
            free(shoot(
                crowd(3000, 1, 3000, 50),
                (struct scene){&engine_pool, &shapes[i], frames, 0, 0, NULL}));
        }
    }
}

static void a_film_of_six_frames_is_small(void **state)
{
    (void)state;
    char *film = shoot(crowd(100000, 1, 5000000, 0),
                       (struct scene){&engine_wheel, &usual, 6, 0, 0, NULL});
    assert_int_equal(frame_count(film), 6);
    assert_true(strlen(film) < 200000);
    free(film);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_title_is_shown_as_text),
        cmocka_unit_test(times_of_any_length_stay_on_the_page),
        cmocka_unit_test(a_long_deadline_stays_in_its_frame),
        cmocka_unit_test(a_label_is_on_no_slot_that_has_one),
        cmocka_unit_test(a_timer_keeps_its_letter),
        cmocka_unit_test(labels_of_every_slot_are_apart),
        cmocka_unit_test(no_line_crosses_the_number_of_a_slot),
        cmocka_unit_test(a_caption_is_never_cut),
        cmocka_unit_test(every_shape_stays_on_the_page),
        cmocka_unit_test(a_film_of_six_frames_is_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
