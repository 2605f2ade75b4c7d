/*
 * purgatory/request.h - whether a request can be completed, and that it was.
 */
#ifndef PURGATORY_REQUEST_H
#define PURGATORY_REQUEST_H

#include "bench.h"
#include "core/trial.h"

static inline bool request_is_met(const struct request *request)
{
    if (request->events == NULL)
        return request->is_met;
    const _Atomic uint32_t *counts = request->events->counts;
    return counts[request->keys[0]] != request->seen[0] ||
           counts[request->keys[1]] != request->seen[1];
}

static inline void request_complete(struct request *request)
{
    trial_must(++request->completions == 1, "a request was completed twice");
}

#endif
