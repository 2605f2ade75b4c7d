/*
 * base/fault.h - comparing a number with the value that an invariant requires,
 * and describing the difference.
 *
 * The functions that find faults return whether they found one.  Callers chain
 * them by ||, which stops at the first fault.
 */
#ifndef TKW_BASE_FAULT_H
#define TKW_BASE_FAULT_H

#include <tickwheel/base.h>

/* If `is_broken`, store a fault that `what`, a whole sentence, describes.
 * Returns `is_broken`. */
static inline bool fault_if(struct tkw_fault *fault, const char *what,
                            bool is_broken)
{
    if (is_broken)
        *fault = (struct tkw_fault){.what = what};
    return is_broken;
}

/* Return whether `found` differs from `expected`; if so, store the fault. */
static inline bool fault_unless(struct tkw_fault *fault, const char *what,
                                uint64_t found, uint64_t expected)
{
    if (found == expected)
        return false;
    *fault =
        (struct tkw_fault){.what = what, .found = found, .expected = expected};
    return true;
}

/* Like fault_unless(), but `found` may be more than `least`. */
static inline bool fault_if_below(struct tkw_fault *fault, const char *what,
                                  uint64_t found, uint64_t least)
{
    if (found >= least)
        return false;
    *fault = (struct tkw_fault){
        .what = what, .found = found, .expected = least, .bound = TKW_AT_LEAST};
    return true;
}

/* Like fault_unless(), but `found` may be less than `most`. */
static inline bool fault_if_above(struct tkw_fault *fault, const char *what,
                                  uint64_t found, uint64_t most)
{
    if (found <= most)
        return false;
    *fault = (struct tkw_fault){
        .what = what, .found = found, .expected = most, .bound = TKW_AT_MOST};
    return true;
}

/* Add a level and a slot to a fault.  Always returns true, so that callers can
 * tail-call it. */
static inline bool fault_in(struct tkw_fault *fault, uint32_t level,
                            uint32_t slot)
{
    fault->level = level;
    fault->slot = slot;
    return true;
}

#endif
