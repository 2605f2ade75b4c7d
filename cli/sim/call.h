/*
 * call.h - a line of C that calls a function of a wheel or a pool.
 *
 *     assert(tkw_wheel_postpone(wheel, &timers[1], UINT64_C(445)) == true);
 *
 * A call is told by the name of its function, the numbers in it and the value
 * that it is compared with.  This is for programs that another program wrote:
 * a call must be in one line, and its arguments are not judged but counted.
 */
#ifndef SIM_CALL_H
#define SIM_CALL_H

#include "text.h"

#include <tickwheel/dial.h>

enum verb {
    VERB_QUERY, /* changes nothing */
    VERB_ARM,
    VERB_POSTPONE,
    VERB_CANCEL,
    VERB_ADVANCE,
    VERB_POP,
    VERB_DRAIN,
    VERB_WALK,
};

struct numbers {
    uint64_t at[TKW_SIZES_MAX];
    unsigned count;
};

struct call {
    enum verb verb;
    struct numbers numbers; /* it is called with */
    bool is_refused;        /* it is compared with false */
    bool has_timer;         /* it is compared with a timer ... */
    uint64_t timer;         /* ... of this number */
};

/* Read "assert(NAME(...) == VALUE);" or "NAME(...);".  Returns whether it is a
 * call of a function that is known. */
bool call_read(struct text line, struct call *call);

/*
 * Collect the numbers up to where the bracket is closed that `*text` is in, and
 * move it there.  Digits in a name, such as UINT64_C, are no number.  Returns
 * whether it is closed, and the numbers are such.
 */
bool call_numbers(struct text *text, struct numbers *numbers);

#endif
