/*
 * wheel/scene.h - a wheel with something of everything in it, for tests that
 * break it in one place.
 */
#ifndef TESTS_WHEEL_SCENE_H
#define TESTS_WHEEL_SCENE_H

#include "support/core.h"

/* Set a field to a wrong value, and assert how the fault is described; see
 * ASSERT_SEEN_BY(). */
#define ASSERT_SEEN(object, field, wrong, ...) \
    ASSERT_SEEN_BY(wheel, object, field, wrong, __VA_ARGS__)

/* Three a lane in one slot of level 1, in another slot two that fell there; two
   that were ready at the last advance, and two armed for the past since. */
struct scene {
    struct tkw_timer direct[3 * TKW_LANES], fallen[2 * TKW_LANES];
    struct tkw_timer ready[2], fresh[2], never[2];
    struct tkw_wheel *wheel;
};

static inline void set_scene(struct scene *scene)
{
    memset(scene, 0, sizeof(*scene));
    struct tkw_wheel *wheel = scene->wheel = wheel_of(&kafka, 0);
    for (size_t i = 0; i < COUNT_OF(scene->fallen); i++)
        tkw_wheel_arm(wheel, &scene->fallen[i], 30);
    tkw_wheel_advance(wheel, 22);
    for (size_t i = 0; i < COUNT_OF(scene->direct); i++)
        tkw_wheel_arm(wheel, &scene->direct[i], 35);
    for (size_t i = 0; i < 2; i++)
        tkw_wheel_arm(wheel, &scene->ready[i], i);
    tkw_wheel_advance(wheel, 22);
    for (size_t i = 0; i < 2; i++) {
        tkw_wheel_arm(wheel, &scene->fresh[i], i);
        tkw_wheel_arm(wheel, &scene->never[i], TKW_NEVER);
    }
    assert_place(wheel, &scene->direct[1], 1, 15);
    assert_place(wheel, &scene->fallen[1], 1, 10);
    assert_true(tkw_wheel_check(wheel));
}

#endif
