/*
 * service/recorder.h - the ring of operations that tkw_service_record()
 * allocates: see service/record.c.
 */
#ifndef TKW_SERVICE_RECORDER_H
#define TKW_SERVICE_RECORDER_H

#include <tickwheel/service.h>

#include "base/attributes.h"
#include "os/sync.h"

enum recorded_kind {
    RECORDED_ARM,
    RECORDED_POSTPONE,
    RECORDED_CANCEL,
    RECORDED_NONE, /* no operation: only `left_out` is valid */
};

struct recorded {
    uint64_t time_ns;
    uint64_t due_ns;
    tkw_handle handle;
    uint64_t left_out; /* operations omitted before this one */
    enum recorded_kind kind;
};

struct recorder {
    struct sync_mutex mutex; /* guards all fields */
    struct recorded *ring;   /* NULL: nothing was ever recorded */
    size_t room;
    size_t at; /* index of the oldest */
    size_t count;
    uint64_t last_ns;
    uint64_t left_out; /* omitted since the newest */
    bool has_head;     /* the header lines are yet to be written */
};

void tkw__service_note_recorded(struct tkw_service *service,
                                enum recorded_kind kind, tkw_handle handle,
                                uint64_t due_ns) RARE;
void tkw__recorder_close(struct tkw_service *service);

#endif
