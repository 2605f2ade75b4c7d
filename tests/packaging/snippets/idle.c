/* idle.c - the snippets of idle.h. */
#include <tickwheel/idle.h>

#include "harness.h"

static uint64_t hung_up, woken_at;

static void hang_up(uint64_t user)
{
    hung_up = user;
}

static void sleep_until(uint64_t time_ns)
{
    woken_at = time_ns;
}

static void look_for_the_silent(struct tkw_idle *idle, uint64_t now)
{
#include "idle.1.3"
}

/* Whoever was heard of twice is hung up on 30 seconds after the second time,
 * not before; and whoever sleeps as long as they are told gets there. */
static void hangs_up_on_the_silent(void)
{
    uint64_t user = 7, now = 0;

#include "idle.1.1"

    must(error == 0);

#include "idle.1.2"

    must(tkw_idle_refresh(idle, tkw_key_number(user), now));
    now = 10 * TKW_SECOND;
    tkw_idle_touch(idle, tkw_key_number(user), now);
    while (hung_up == 0) {
        look_for_the_silent(idle, now);
        must(hung_up == 0 || now >= 40 * TKW_SECOND);
        must(hung_up != 0 || now < 41 * TKW_SECOND);
        now = woken_at;
    }
    must(hung_up == user && woken_at == UINT64_MAX);
    tkw_idle_close(idle);
}

#define printf note

static void walks_over_all_keys(void)
{
    struct tkw_idle *idle;
    must(tkw_idle_open(&idle, NULL) == 0);
    for (uint64_t user = 7; user <= 9; user++)
        tkw_idle_touch(idle, tkw_key_number(user), 0);

#include "idle.2.1"

    must(strstr(noted(), "7\n") != NULL);
    must(strstr(noted(), "8\n") != NULL);
    must(strstr(noted(), "9\n") != NULL);
    must(strlen(noted()) == 3 * strlen("7\n"));
    tkw_idle_close(idle);
}

int main(void)
{
    hangs_up_on_the_silent();
    walks_over_all_keys();
    return 0;
}
