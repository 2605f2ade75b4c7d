/*
 * hello_wheel.c - the smallest use of the intrusive wheel: arm, cancel,
 * advance, pop.
 */
#include <stdio.h>

#include <tickwheel/wheel.h>

static union {
    struct tkw_wheel wheel;
    char bytes[TKW_WHEEL_DEFAULT_BYTES];
} memory;

int main(void)
{
    struct tkw_wheel *wheel = &memory.wheel;
    struct tkw_timer egg = {0}, tea = {0};

    tkw_wheel_init(wheel, sizeof memory, NULL, 0);
    tkw_wheel_arm(wheel, &egg, 360000);
    tkw_wheel_arm(wheel, &tea, 180000);
    tkw_wheel_cancel(wheel, &tea);

    tkw_wheel_advance(wheel, 360000);
    for (struct tkw_timer *t; (t = tkw_wheel_pop(wheel)) != NULL;)
        printf("the %s is done\n", t == &egg ? "egg" : "tea");
    return 0;
}
