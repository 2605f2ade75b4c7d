/*
 * server/engine/model_test.c - the model test finds mistakes, and shrinks them
 * to a few operations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hunt.h"

/* Enough to find each mistake. */
enum { ACTS = 200000 };

static void an_engine_without_mistakes_is_sound(void **state)
{
    (void)state;
    struct hunt hunt = {.seed = 1, .acts_max = ACTS};
    if (!hunt_run(&hunt))
        fail_msg("%s\n%s", hunt.script.data, hunt.diagnosis.data);
    assert_true(hunt.acts >= ACTS);
    assert_true(hunt.cases > 10);
    hunt_free(&hunt);
}

/* A mistake of the model shows like one of the engine. */
static void every_planted_mistake_is_found_and_shrunk(void **state)
{
    (void)state;
    for (enum model_bug bug = MODEL_SOUND + 1; bug < MODEL_BUGS; bug++) {
        struct hunt hunt = {.seed = 1, .acts_max = ACTS, .bug = bug};
        assert_false(hunt_run(&hunt));
        print_message("    mistake %d: %u operations\n", (int)bug,
                      hunt.shrunk_count);
        assert_true(hunt.shrunk_count <= 20);

        struct hunt again = {.seed = 1,
                             .acts_max = ACTS,
                             .bug = bug,
                             .first_case = hunt.failed_case,
                             .is_single = true};
        assert_false(hunt_run(&again));
        assert_int_equal(again.shrunk_count, hunt.shrunk_count);
        assert_string_equal(again.script.data, hunt.script.data);
        hunt_free(&again);
        hunt_free(&hunt);
    }
}

/* An abort within a trial is reported and shrunk like a wrong reply. */
static void a_crash_is_described(void **state)
{
    (void)state;
    struct hunt hunt = {.seed = 1, .acts_max = ACTS, .bug = MODEL_CRASH};
    assert_false(hunt_run(&hunt));
    assert_non_null(strstr(hunt.diagnosis.data, "ends with signal"));
    assert_true(hunt.shrunk_count <= 20);
    hunt_free(&hunt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_engine_without_mistakes_is_sound),
        cmocka_unit_test(every_planted_mistake_is_found_and_shrunk),
        cmocka_unit_test(a_crash_is_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
