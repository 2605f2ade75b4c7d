/*
 * base/fault_test.c - what tkw_fault_describe() writes, and how much of it.
 */
#include "support/core.h"

static void assert_described(struct tkw_fault fault, const char *expected)
{
    char text[TKW_FAULT_TEXT_MAX];
    assert_int_equal(tkw_fault_describe(&fault, text, sizeof(text)),
                     strlen(expected));
    assert_string_equal(text, expected);
}

static void names_level_slot_and_numbers(void **state)
{
    (void)state;
    assert_described(
        (struct tkw_fault){"occupancy bit of the slot", 2, 17, 0, 1, 0},
        "level 2, slot 17: occupancy bit of the slot is 0, expected 1");
    assert_described((struct tkw_fault){"number", 64, 0, UINT64_MAX, 7, 0},
                     "level 64, slot 0: number is 18446744073709551615, "
                     "expected 7");
}

/* TKW_NO_SLOT leaves out the slot, and level 0 both. */
static void leaves_out_a_place_that_a_fault_has_not(void **state)
{
    (void)state;
    assert_described(
        (struct tkw_fault){"busy bit of the level", 3, TKW_NO_SLOT, 0, 1, 0},
        "level 3: busy bit of the level is 0, expected 1");
    assert_described((struct tkw_fault){.what = "number", .found = 4},
                     "number is 4, expected 0");
}

static void says_how_the_expected_number_bounds(void **state)
{
    (void)state;
    assert_described((struct tkw_fault){"number", 0, 0, 5, 6, TKW_AT_LEAST},
                     "number is 5, expected at least 6");
    assert_described((struct tkw_fault){"number", 0, 0, 7, 6, TKW_AT_MOST},
                     "number is 7, expected at most 6");
}

/* Equal numbers say nothing: `what` is a whole sentence then. */
static void leaves_out_numbers_that_are_equal(void **state)
{
    (void)state;
    assert_described((struct tkw_fault){.what = "a link is broken"},
                     "a link is broken");
    assert_described(
        (struct tkw_fault){.what = "a link is broken", .level = 1, .slot = 9},
        "level 1, slot 9: a link is broken");
}

/* However little room there is, the text is ended by a 0 within it, and the
 * length returned is that of the whole. */
static void cuts_the_text_off_where_the_room_ends(void **state)
{
    (void)state;
    static const char whole[] = "level 2, slot 17: number is 0, expected 1";
    struct tkw_fault fault = {"number", 2, 17, 0, 1, 0};
    for (size_t size = 1; size <= sizeof(whole) + 1; size++) {
        char text[sizeof(whole) + 2];
        memset(text, '#', sizeof(text));
        assert_int_equal(tkw_fault_describe(&fault, text, size),
                         sizeof(whole) - 1);
        size_t kept = size < sizeof(whole) ? size - 1 : sizeof(whole) - 1;
        assert_memory_equal(text, whole, kept);
        assert_int_equal(text[kept], 0);
        assert_int_equal(text[size], '#');
    }
}

static void writes_nothing_where_there_is_no_room(void **state)
{
    (void)state;
    struct tkw_fault fault = {"number", 2, 17, 0, 1, 0};
    char text[1] = {'#'};
    assert_int_equal(tkw_fault_describe(&fault, text, 0), 41);
    assert_int_equal(text[0], '#');
    assert_int_equal(tkw_fault_describe(&fault, NULL, 0), 41);
    fault.level = 0;
    assert_int_equal(tkw_fault_describe(&fault, NULL, 0), 23);
}

/* A program may print the text only if there is a fault: where there is none,
 * nothing is stored. */
static void a_sound_object_leaves_the_fault_untouched(void **state)
{
    (void)state;
    struct tkw_fault fault = {"untouched", 7, 7, 7, 7, 0};
    struct tkw_fault before = fault;
    struct tkw_wheel *wheel = wheel_of(NULL, 0);
    assert_false(tkw_wheel_find_fault(wheel, &fault));
    assert_false(tkw_dial_find_fault(tkw_wheel_dial(wheel), &fault));
    assert_memory_equal(&fault, &before, sizeof(fault));
    wheel_done(wheel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_level_slot_and_numbers),
        cmocka_unit_test(leaves_out_a_place_that_a_fault_has_not),
        cmocka_unit_test(says_how_the_expected_number_bounds),
        cmocka_unit_test(leaves_out_numbers_that_are_equal),
        cmocka_unit_test(cuts_the_text_off_where_the_room_ends),
        cmocka_unit_test(writes_nothing_where_there_is_no_room),
        cmocka_unit_test(a_sound_object_leaves_the_fault_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
