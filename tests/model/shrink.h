/*
 * shrink.h - make a failing tape small, so that a person can read it.
 */
#ifndef MODEL_SHRINK_H
#define MODEL_SHRINK_H

#include "trial.h"

/*
 * Shrink the tape of `trial`, which failed with `verdict`, for at most about 8
 * times `patience`, in seconds; a smaller one counts if it fails by the same
 * law, or hangs for `patience` if the first one did.  Leaves the smallest one
 * found in `trial`, as it played.  Returns the verdict of that: VERDICT_FINE
 * means that the tape did not fail again, and is as it was.
 */
enum verdict shrink(struct trial *trial, const struct engine *engine,
                    enum verdict verdict, unsigned patience);

#endif
