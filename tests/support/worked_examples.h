/*
 * support/worked_examples.h - the worked examples X1 to X25 as a table: where a
 * deadline is filed, and the path that it falls along.
 */
#ifndef TESTS_SUPPORT_WORKED_EXAMPLES_H
#define TESTS_SUPPORT_WORKED_EXAMPLES_H

#include "core.h"

#define TEN             \
    {                   \
        .sizes = { 10 } \
    }
#define TWENTY          \
    {                   \
        .sizes = { 20 } \
    }
#define FIVE           \
    {                  \
        .sizes = { 5 } \
    }
#define CLOCK                   \
    {                           \
        .sizes = { 60, 60, 12 } \
    }

struct step {
    uint32_t level; /* 0 ends the path */
    uint32_t slot;
    tkw_tick expiration;
};

struct example {
    const char *row;
    struct tkw_geometry geometry;
    tkw_tick start, now, deadline;
    struct step path[5];
};

static const struct example examples[] = {
    {"X1", TWENTY, 0, 0, 445, {{3, 1, 400}, {2, 2, 440}, {1, 5, 445}}},
    {"X2", TWENTY, 0, 0, 450, {{3, 1, 400}, {2, 2, 440}, {1, 10, 450}}},
    {"X3", TWENTY, 0, 0, 2, {{1, 2, 2}}},
    {"X4", TWENTY, 0, 2, 10, {{1, 10, 10}}},
    {"X5", TWENTY, 0, 2, 21, {{1, 1, 21}}},
    {"X6", TWENTY, 0, 2, 22, {{2, 1, 20}, {1, 2, 22}}},
    {"X7", TWENTY, 0, 2, 24, {{2, 1, 20}, {1, 4, 24}}},
    {"X8", TWENTY, 0, 2, 352, {{2, 17, 340}, {1, 12, 352}}},
    {"X9", TWENTY, 0, 0, 350, {{2, 17, 340}, {1, 10, 350}}},
    {"X10", TWENTY, 0, 2, 399, {{2, 19, 380}, {1, 19, 399}}},
    {"X11", TWENTY, 0, 2, 400, {{3, 1, 400}}},
    {"X12", TWENTY, 0, 2, 401, {{3, 1, 400}, {1, 1, 401}}},
    {"X13", TWENTY, 0, 0, 237, {{2, 11, 220}, {1, 17, 237}}},
    {"X14", TWENTY, 0, 0, 30000, {{4, 3, 24000}, {3, 15, 30000}}},
    {"X15",
     TWENTY,
     0,
     0,
     159999,
     {{4, 19, 152000}, {3, 19, 159600}, {2, 19, 159980}, {1, 19, 159999}}},
    {"X15", TWENTY, 0, 0, 160000, {{5, 1, 160000}}},
    {"X16", TWENTY, 100, 104, 122, {{1, 2, 122}}},
    {"X16", TWENTY, 100, 104, 123, {{1, 3, 123}}},
    {"X16", TWENTY, 100, 104, 124, {{2, 6, 120}, {1, 4, 124}}},
    {"X17", TEN, 0, 0, 2, {{1, 2, 2}}},
    {"X18", TEN, 0, 2, 11, {{1, 1, 11}}},
    {"X19", TEN, 0, 0, 15, {{2, 1, 10}, {1, 5, 15}}},
    {"X20", FIVE, 100, 100, 102, {{1, 2, 102}}},
    {"X20", FIVE, 100, 100, 101, {{1, 1, 101}}},
    {"X20", FIVE, 100, 100, 100, {{0}}},
    {"X21", FIVE, 100, 100, 106, {{2, 1, 105}, {1, 1, 106}}},
    {"X21", FIVE, 100, 100, 107, {{2, 1, 105}, {1, 2, 107}}},
    {"X23",
     CLOCK,
     0,
     0,
     43199,
     {{3, 11, 39600}, {2, 59, 43140}, {1, 59, 43199}}},
    {"X24", TWENTY, 0, 3600000, 3600005, {{1, 5, 3600005}}},
    {"X25", TWENTY, 0, 0, 400, {{3, 1, 400}}},
};

/* Follow one example after the other, saying which. */
static inline void follow_all(void (*follow)(const struct example *example))
{
    for (size_t i = 0; i < COUNT_OF(examples); i++) {
        print_message("%s ", examples[i].row);
        follow(&examples[i]);
    }
    print_message("\n");
}

#endif
