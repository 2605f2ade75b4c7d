/* manual_clock_service.h - a service whose clock is turned by hand. */
#ifndef SNIPPETS_HAND_SERVICE_H
#define SNIPPETS_HAND_SERVICE_H

#include <tickwheel/service.h>

#include "harness.h"

struct manual_clock_service {
    struct tkw_manual_clock *manual;
    struct tkw_service *service;
};

static inline struct manual_clock_service manual_clock_service_open(void)
{
    struct manual_clock_service it;
    must(tkw_manual_clock_open(&it.manual, 0) == 0);
    struct tkw_service_config config = {.clock =
                                            tkw_manual_clock_source(it.manual)};
    must(tkw_service_open(&it.service, &config) == 0);
    return it;
}

/* Let so much time pass, and all that is due be called. */
static inline void manual_clock_service_advance(struct manual_clock_service it,
                                                uint64_t ns)
{
    tkw_manual_clock_advance(it.manual, ns);
    tkw_manual_clock_settle(it.manual);
}

static inline void manual_clock_service_close(struct manual_clock_service it)
{
    must(tkw_service_close(it.service, NULL, NULL) == 0);
    tkw_manual_clock_close(it.manual);
}

#endif
