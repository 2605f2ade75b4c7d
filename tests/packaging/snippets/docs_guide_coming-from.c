/* docs_guide_coming-from.c - the snippet of docs/guide/coming-from.md. */
#include <tickwheel/wheel.h>

#include "harness.h"

static union {
    struct tkw_wheel wheel;
    char bytes[TKW_WHEEL_DEFAULT_BYTES];
} memory;

/* A timer of interval 100 stays in phase.  The call that is due at 230 is made
 * at 430; those of 330 and 430 are skipped, and the next one is due at 530. */
int main(void)
{
    struct tkw_wheel *wheel = &memory.wheel;
    struct tkw_timer beat = {0};
    const tkw_tick interval = 100;
    static const tkw_tick readings[] = {129, 130, 430, 535};
    static const tkw_tick deadlines[] = {130, 230, 530, 630};

    must(tkw_wheel_init(wheel, sizeof memory, NULL, 0) == 0);
    tkw_wheel_arm(wheel, &beat, 130);
    for (int i = 0; i < 4; i++) {
        tkw_tick now = readings[i];
        tkw_wheel_advance(wheel, now);

#include "docs_guide_coming-from.1.1"

        must(tkw_timer_is_armed(&beat) && beat.deadline == deadlines[i]);
    }
    must(tkw_wheel_cancel(wheel, &beat));
    return 0;
}
