/* hand_service.h - a service whose clock is turned by hand. */
#ifndef SNIPPETS_HAND_SERVICE_H
#define SNIPPETS_HAND_SERVICE_H

#include <tickwheel/service.h>

#include "harness.h"

struct hand_service {
    struct tkw_hand *hand;
    struct tkw_service *service;
};

static inline struct hand_service hand_service_open(void)
{
    struct hand_service it;
    must(tkw_hand_open(&it.hand, 0) == 0);
    struct tkw_service_config config = {.clock = tkw_hand_clock(it.hand)};
    must(tkw_service_open(&it.service, &config) == 0);
    return it;
}

/* Let so much time pass, and all that is due be called. */
static inline void hand_service_turn(struct hand_service it, uint64_t ns)
{
    tkw_hand_turn(it.hand, ns);
    tkw_hand_settle(it.hand);
}

static inline void hand_service_close(struct hand_service it)
{
    must(tkw_service_close(it.service, NULL, NULL) == 0);
    tkw_hand_close(it.hand);
}

#endif
