/* dial.c - the snippets of dial.h. */
#include <tickwheel/dial.h>

#include "harness.h"

static struct tkw_dial dial_of(struct tkw_geometry geometry)
{
    struct tkw_dial dial;
    must(tkw_geometry_fault(&geometry) == NULL);
    must(tkw_dial_init(&dial, &geometry, 0, NULL) == 0);
    return dial;
}

int main(void)
{
#include "dial.1.1"

    /* Levels of 20 slots, as many as it takes. */
    struct tkw_dial dial = dial_of(kafka);
    must(dial.level_count > 3 && dial.levels[3].tick == 20 * 20 * 20);
    must(tkw_dial_where(&dial, 445).level == 3);

    /* Seconds, minutes, hours; a quarter past three and twelve. */
    dial = dial_of(clock);
    must(dial.levels[1].tick == 60 && dial.levels[2].tick == 3600);
    struct tkw_spot spot = tkw_dial_where(&dial, 3 * 3600 + 15 * 60 + 12);
    must(spot.level == 3 && spot.slot == 3);

    /* One ring, gone round as often as it takes. */
    dial = dial_of(netty);
    spot = tkw_dial_where(&dial, 10 * 512 + 7);
    must(dial.level_count == 1 && spot.slot == 7 && spot.rounds == 10);
    return 0;
}
