/*
 * cli/sim/film_test.c - films: which frames there are, and what happens on
 * them.
 */
#include "film_support.h"

#include "cli/sim/film_caption.h"

static const struct tkw_geometry toy = {.sizes = {64}};
static const struct tkw_geometry binary = {.sizes = {2}};
static const struct tkw_geometry ring = {.sizes = {512}, .beyond = TKW_ROUNDS};
static const struct tkw_geometry usual = {0};

static const struct trace_op example = {.deadline = 445, .kind = TRACE_ARM};

/* X1 of docs/internals/laws.md, as it is told there. */
static void a_timer_has_a_frame_for_each_slot_it_is_in(void **state)
{
    (void)state;
    static const struct engine_kind *const kinds[] = {&engine_wheel,
                                                      &engine_pool};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        char *film = shoot(TRACE_OF(example),
                           (struct scene){kinds[i], &kafka, 6, 0, 0, NULL});
        assert_int_equal(frame_count(film), 4);
        assert_has(film, ">at 0: arm a timer for 445<");
        assert_has(film, ">at 400: 1 falls from level 3 to 2<");
        assert_has(film, ">at 440: 1 falls from level 2 to 1<");
        assert_has(film, ">at 445: 1 fires<");
        assert_has(film, ">level 3: 20 slots of 400<");
        assert_int_equal(count_of(film, ">445<"), 3);
        free(film);
    }
}

static void an_arrow_leads_from_the_old_slot_to_the_new_one(void **state)
{
    (void)state;
    char *film = shoot(TRACE_OF(example),
                       (struct scene){&engine_wheel, &kafka, 6, 0, 0, NULL});
    const char *frame = frame_at(film, 1);
    const char *arrow = strstr(frame, "<polygon class=\"fall\"");
    struct svg_point left = corner(arrow, 0), right = corner(arrow, 6);
    struct svg_point begin = {(left.x + right.x) / 2, (left.y + right.y) / 2};

    assert_true(arrow < frame_at(film, 2));
    assert_near(begin, in_slot(frame, 3, 1, FRAME_LEAVE));
    assert_near(corner(arrow, 3), in_slot(frame, 2, 2, 0.5));
    free(film);
}

static void who_fires_goes_to_the_middle(void **state)
{
    (void)state;
    char *film = shoot(TRACE_OF(example),
                       (struct scene){&engine_wheel, &kafka, 6, 0, 0, NULL});
    const char *frame = frame_at(film, 3);
    const char *arrow = strstr(frame, "<polygon class=\"fall\"");
    const char *dot = strstr(frame, "<circle class=\"fall\"");
    struct svg_point tip = corner(arrow, 3);

    assert_true(hypot(tip.x - attribute(dot, "cx"),
                      tip.y - attribute(dot, "cy")) < FRAME_HOLE);
    assert_has(frame, ">1</text>");
    free(film);
}

/* Leaving a slot is not always a fall. */
static void who_is_cancelled_has_no_arrow(void **state)
{
    (void)state;
    char *film = shoot(TRACE_OF(example, {.time = 5, .kind = TRACE_CANCEL},
                                {.time = 6, .kind = TRACE_CANCEL}),
                       (struct scene){&engine_wheel, &kafka, 6, 0, 0, NULL});
    assert_int_equal(frame_count(film), 3);
    assert_has(film, ">at 5: cancel 445<");
    assert_has(film, ">at 6: cancel what is not armed<");
    /* but that of the legend */
    assert_int_equal(count_of(film, "<polygon class=\"fall\""), 1);
    free(film);
}

/* It stays where it is until its slot comes round. */
static void who_is_postponed_is_filed_anew_later(void **state)
{
    (void)state;
    char *film = shoot(TRACE_OF(example, {10, 900, 0, TRACE_POSTPONE}),
                       (struct scene){&engine_wheel, &kafka, 9, 0, 0, NULL});
    assert_has(film, ">at 10: postpone 445 to 900<");
    assert_has(film, ">at 400: 1 filed anew<");
    assert_true(strstr(film, "<polygon class=\"dim\"") > frame_at(film, 2));
    assert_has(frame_at(film, 2), "<polygon class=\"dim\"");
    assert_has(film, ">armed or filed anew<");
    free(film);
}

/* Arrows of them all would hide the rest. */
static void a_crowd_that_is_filed_anew_is_described_in_words(void **state)
{
    (void)state;
    struct trace trace = crowd(1000, 2000, 4000, 0);
    for (uint32_t i = 0; i < 1000; i++)
        assert_true(trace_append(
            &trace, (struct trace_op){10, 5000 + i, i, TRACE_POSTPONE}));
    char *film =
        shoot(trace, (struct scene){&engine_wheel, &toy, 2, 0, 4000, NULL});
    assert_has(film, "1,000 filed anew");
    assert_lacks(film, "<polygon class=\"dim\"");
    free(film);
}

/* One more event than frames, and it is time that is divided. */
static void many_events_have_frames_at_even_distances(void **state)
{
    (void)state;
    char *film = shoot(crowd(1000, 1, 1001, 0),
                       (struct scene){&engine_wheel, &kafka, 6, 0, 0, NULL});
    assert_int_equal(frame_count(film), 6);
    assert_has(film, ">at 0: 1,000 pending<");
    assert_has(film, ">at 200: ");
    assert_has(film, ">at 400: ");
    assert_has(film, ">at 600: ");
    assert_has(film, ">at 800: ");
    assert_has(film, ">at 1,000: 200 fire<");
    free(film);
}

/* Where nothing happens for long, nothing is shown twice. */
static void frames_are_not_spent_on_silence(void **state)
{
    (void)state;
    char *film = shoot(crowd(1000, 1000000, 1000100, 0),
                       (struct scene){&engine_wheel, &usual, 6, 0, 0, NULL});
    assert_int_equal(frame_count(film), 6);
    assert_int_equal(count_of(film, ">at 0: "), 1);
    assert_has(film, "fall from level 3 to 2");
    assert_has(film, ">at 1,000,099: ");
    free(film);
}

static void a_film_begins_and_ends_at_the_ticks_of_its_options(void **state)
{
    (void)state;
    char *film =
        shoot(crowd(1000, 1, 1001, 0),
              (struct scene){&engine_wheel, &kafka, 5, 300, 500, NULL});
    assert_int_equal(frame_count(film), 5);
    assert_has(film, ">at 300: 700 pending<");
    assert_has(film, ">at 500: ");
    assert_lacks(film, ">at 1,000: ");
    free(film);

    film = shoot(TRACE_OF(example),
                 (struct scene){&engine_wheel, &kafka, 6, 1, 440, NULL});
    assert_int_equal(frame_count(film), 2);
    assert_has(film, ">at 400: 1 falls from level 3 to 2<");
    free(film);
}

static void a_slot_of_many_timers_is_stronger(void **state)
{
    (void)state;
    char *film = shoot(TRACE_OF({0, 30, 0, TRACE_ARM}, {0, 50, 1, TRACE_ARM},
                                {0, 51, 2, TRACE_ARM}),
                       (struct scene){&engine_wheel, &kafka, 20, 0, 0, NULL});
    const char *frame = frame_at(film, 2);
    const char *weak = strstr(frame, "<path");
    const char *strong = strstr(weak + 1, "<path");
    assert_true(attribute(weak, "fill-opacity") > 0.3);
    assert_true(attribute(weak, "fill-opacity") < 0.5);
    assert_false(has_attribute(strong, "fill-opacity"));
    free(film);
}

static void a_large_ring_is_drawn_in_groups(void **state)
{
    (void)state;
    char *film = shoot(crowd(5000, 1, 2001, 0),
                       (struct scene){&engine_wheel, &ring, 4, 0, 0, NULL});
    assert_has(film, ">level 1: 512 slots of 1<");
    assert_has(film, "in 64 groups of 8 slots<");
    const char *next = frame_at(film, 1);
    unsigned sectors = 0;
    for (const char *c = frame_at(film, 0); (c = strstr(c, "<path")) < next;
         c++)
        sectors++;
    assert_int_equal(sectors, 64 + 1); /* and the hand */
    const char *defs = strstr(film, "<defs>");
    const char *after = strstr(defs, "</defs>");
    assert_int_equal(count_of(defs, "<line") - count_of(after, "<line"), 64);
    free(film);
}

/* L9: what falls in shares is seen in both levels for several frames. */
static void a_crowd_of_a_pool_falls_in_shares(void **state)
{
    (void)state;
    char *film = shoot(crowd(40000, 8300, 8360, 20),
                       (struct scene){&engine_pool, &toy, 6, 7900, 8180, NULL});
    assert_true(count_of(film, "fall from level 3 to 2") >= 3);
    assert_true(count_of(film, "40,000 pending") >= 4);
    free(film);
}

/* With more levels than rings the lowest are in the middle. */
static void a_film_of_many_levels_shows_the_upper_ones(void **state)
{
    (void)state;
    char *film = shoot(crowd(50, 900, 950, 0),
                       (struct scene){&engine_wheel, &binary, 8, 0, 0, NULL});
    assert_has(film, ">level 10: 2 slots of 512<");
    assert_has(film, ">level 6: 2 slots of 32<");
    assert_lacks(film, ">level 5: ");
    assert_has(film, ">inside: level 5 and lower<");
    free(film);
}

static void a_film_of_a_time_without_events_says_so(void **state)
{
    (void)state;
    char *film = shoot(TRACE_OF(example), (struct scene){&engine_wheel, &kafka,
                                                         6, 500, 600, NULL});
    assert_int_equal(frame_count(film), 0);
    assert_has(film, ">nothing happens in this time<");
    free(film);
}

/* What was there is not just gone. */
static void a_slot_that_was_emptied_is_marked(void **state)
{
    (void)state;
    char *film = shoot(TRACE_OF(example),
                       (struct scene){&engine_wheel, &kafka, 6, 0, 0, NULL});
    const char *mark = "<path class=\"emptied outline\"";
    assert_true(strstr(film, mark) > frame_at(film, 1));
    for (unsigned i = 1; i < 4; i++)
        assert_has(frame_at(film, i), mark);
    assert_int_equal(count_of(film, mark), 3 + 1); /* and in the legend */
    assert_has(film, ">emptied<");
    free(film);

    film = shoot(TRACE_OF(example),
                 (struct scene){&engine_wheel, &kafka, 6, 0, 1, NULL});
    assert_int_equal(frame_count(film), 1);
    assert_lacks(film, mark);
    assert_lacks(film, ">emptied<");
    free(film);
}

/* Half of a crowd is to be told from all of it. */
static void a_crowd_that_leaves_fades(void **state)
{
    (void)state;
    struct film_page page = {.full = 10000};
    assert_true(film_frame_shade(&page, 5000) < 0.9);
    assert_true(film_frame_shade(&page, 2500) < 0.8);
    assert_true(film_frame_shade(&page, 1) > 0.3);
    assert_true(film_frame_shade(&page, 10000) >= 1);
}

/* What is not told singly is counted; and the longest of all has room. */
static void falls_that_are_too_many_are_counted_together(void **state)
{
    (void)state;
    char text[FILM_CAPTION_MAX];
    struct film_news news = {.now = 7};
    for (uint32_t i = 1; i <= 6; i++)
        news.falls[i + 9][i + 8] = i;
    film_caption(text, &news);
    assert_has(text, "at 7: 6 fall from level 16 to 15, 5 fall");
    assert_has(text, "1 falls from level 11 to 10");
    assert_lacks(text, "more");
    news.falls[5][4] = 30;
    news.falls[5][3] = 5;
    film_caption(text, &news);
    assert_has(text, "1 falls from level 11 to 10, 35 more fall lower down");

    memset(&news, 0xFF, sizeof news);
    news.deed = NULL;
    film_caption(text, &news);
    assert_has(text, "pending");
}

/* The one after so many fails; -1: none. */
static int allocations_left = -1;

/* The names are the linker's. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier) */
void *__real_calloc(size_t count, size_t size);
/* NOLINTNEXTLINE(bugprone-reserved-identifier) */
void *__wrap_calloc(size_t count, size_t size);
/* NOLINTNEXTLINE(bugprone-reserved-identifier) */
void *__wrap_calloc(size_t count, size_t size)
{
    if (allocations_left >= 0 && allocations_left-- == 0)
        return NULL;
    return __real_calloc(count, size);
}

static void without_memory_there_is_no_film(void **state)
{
    (void)state;
    struct trace trace = TRACE_OF(example);
    struct scene scene = {&engine_wheel, &kafka, 6, 0, 0, NULL};
    struct film_settings settings = settings_of(&trace, &scene);
    struct film *film = NULL;
    int failures = 0;
    for (; film == NULL && failures < 100; failures += film == NULL) {
        allocations_left = failures;
        film = film_open(&trace, &settings);
    }
    allocations_left = -1;
    assert_int_equal(failures, 7);
    film_close(film);
    film_close(NULL);
    trace_close(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_has_a_frame_for_each_slot_it_is_in),
        cmocka_unit_test(an_arrow_leads_from_the_old_slot_to_the_new_one),
        cmocka_unit_test(who_fires_goes_to_the_middle),
        cmocka_unit_test(who_is_cancelled_has_no_arrow),
        cmocka_unit_test(who_is_postponed_is_filed_anew_later),
        cmocka_unit_test(a_crowd_that_is_filed_anew_is_described_in_words),
        cmocka_unit_test(many_events_have_frames_at_even_distances),
        cmocka_unit_test(frames_are_not_spent_on_silence),
        cmocka_unit_test(a_film_begins_and_ends_at_the_ticks_of_its_options),
        cmocka_unit_test(a_slot_of_many_timers_is_stronger),
        cmocka_unit_test(a_large_ring_is_drawn_in_groups),
        cmocka_unit_test(a_crowd_of_a_pool_falls_in_shares),
        cmocka_unit_test(a_film_of_many_levels_shows_the_upper_ones),
        cmocka_unit_test(a_film_of_a_time_without_events_says_so),
        cmocka_unit_test(a_slot_that_was_emptied_is_marked),
        cmocka_unit_test(a_crowd_that_leaves_fades),
        cmocka_unit_test(falls_that_are_too_many_are_counted_together),
        cmocka_unit_test(without_memory_there_is_no_film),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
