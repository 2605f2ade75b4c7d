/*
 * purgatory/ours.c - the purgatory of purgatory.h, on a service.
 */
#include <stdlib.h>
#include <tickwheel/purgatory.h>

#include "request.h"

struct way {
    struct tkw_service *service;
    struct tkw_purgatory *purgatory;
    size_t outstanding;
    struct tkw_allocator allocator; /* of the service */
    _Atomic size_t service_bytes;
};

struct ours {
    struct request request;
    struct tkw_operation operation;
};

static struct ours *ours_of(struct tkw_operation *operation)
{
    return (struct ours *)(void *)((char *)operation -
                                   offsetof(struct ours, operation));
}

static bool try_complete(struct tkw_operation *operation)
{
    return request_is_met(&ours_of(operation)->request);
}

static void on_complete(struct tkw_operation *operation)
{
    request_complete(&ours_of(operation)->request);
}

static void on_expire(struct tkw_operation *operation)
{
    (void)operation;
    trial_must(false, "a request has expired");
}

static void on_release(struct tkw_operation *operation)
{
    free(ours_of(operation));
}

static void *allocate(void *context, size_t bytes)
{
    struct way *way = context;
    way->service_bytes += bytes;
    return malloc(bytes);
}

static void release(void *context, void *memory, size_t bytes)
{
    struct way *way = context;
    way->service_bytes -= bytes;
    free(memory);
}

static struct way *way_open(const struct purgatory_setting *setting)
{
    struct way *way = calloc(1, sizeof *way);
    trial_must(way != NULL, "there is no memory");
    way->outstanding = setting->outstanding;
    way->allocator = (struct tkw_allocator){allocate, release, way};
    struct tkw_service_config config = {.allocator = &way->allocator};
    trial_must(tkw_service_open(&way->service, &config) == 0 &&
                   tkw_purgatory_open(&way->purgatory, way->service, NULL) == 0,
               "the purgatory does not open");
    return way;
}

static void count_one(void *context, struct tkw_operation *operation)
{
    (void)operation;
    ++*(uint64_t *)context;
}

static void way_close(struct way *way, uint64_t made, uint64_t completed)
{
    struct tkw_purgatory_stats stats = tkw_purgatory_read_stats(way->purgatory);
    uint64_t left = made - completed;
    trial_must(stats.completed == completed && stats.expired == 0 &&
                   stats.delayed == left && stats.watched == 2 * left,
               "the purgatory counts otherwise");
    uint64_t back = 0;
    tkw_purgatory_close(way->purgatory, count_one, &back);
    trial_must(back == left, "not all that were left were handed back");
    tkw_service_close(way->service, NULL, NULL);
    free(way);
}

static void way_report_bytes(struct way *way, struct purgatory_bytes *bytes)
{
    double count = (double)way->outstanding;
    bytes->request = sizeof(struct ours);
    bytes->purgatory =
        (double)tkw_purgatory_read_stats(way->purgatory).bytes / count;
    bytes->service = (double)way->service_bytes / count;
}

static struct request *way_make(void)
{
    struct ours *ours = calloc(1, sizeof *ours);
    trial_must(ours != NULL, "there is no memory");
    return &ours->request;
}

static bool way_watch(struct way *way, struct request *request)
{
    static const struct tkw_operation_type type = {
        .try_complete = try_complete,
        .on_complete = on_complete,
        .on_expire = on_expire,
        .on_release = on_release,
    };
    struct ours *ours = (struct ours *)request;
    struct tkw_key keys[2] = {tkw_key_number(request->keys[0]),
                              tkw_key_number(request->keys[1])};
    ours->operation.type = &type;
    ours->operation.timeout_ns = PURGATORY_TIMEOUT_NS;
    int answer = tkw_purgatory_try_complete_else_watch(
        way->purgatory, &ours->operation, keys, 2);
    trial_must(answer >= 0, "a request cannot be watched");
    return answer == 1;
}

static size_t way_check(struct way *way, uint64_t key)
{
    return tkw_purgatory_notify(way->purgatory, tkw_key_number(key));
}

#define WAY ours
#define WAY_NAME "tkw_purgatory"
#include "play.h"
