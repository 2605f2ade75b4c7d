/* key.c - the snippets of key.h: keys of both kinds, in one tracker. */
#include <tickwheel/idle.h>
#include <tickwheel/key.h>

#include "harness.h"

struct connection {
    uint64_t id;
};

int main(void)
{
    struct connection seventh = {.id = 7}, *connection = &seventh;
    uint64_t now = TKW_SECOND;
    struct tkw_idle_key silent;
    struct tkw_idle *idle;
    must(tkw_idle_open(&idle, NULL) == 0);

#include "key.1.1"

    must(tkw_idle_count(idle) == 2);
    must(tkw_idle_query(idle, tkw_key_number(7), &silent));
    must(silent.last_ns == TKW_SECOND);
    must(tkw_idle_query(idle, tkw_key_text("alice"), &silent));
    must(silent.last_ns == TKW_SECOND);
    tkw_idle_close(idle);
    return 0;
}
