/*
 * purgatory_scene.c - the purgatory that scenarios race on.
 */
#define _DEFAULT_SOURCE

#include "purgatory_scene.h"

#include <string.h>
#include <sys/mman.h>

#include "service/private.h"

struct stage stage;

/*
 * Operations lie apart from what is known of them, each on a page of its own,
 * so that it can be taken away.  (Any page is at most as large as this.)
 */
enum { PAGE = 65536, SPOILED = 0xA5 };

static struct {
    char *pages; /* NULL: none yet */
    bool is_away[STAGE_REQUESTS];
} ground;

static const struct tkw_operation_type type;

static struct request *request_of(const struct tkw_operation *operation)
{
    ptrdiff_t distance = (const char *)operation - ground.pages;
    sched_require(distance >= 0 && distance < STAGE_REQUESTS * PAGE);
    return &stage.requests[distance / PAGE];
}

static void guard(size_t number, bool is_away)
{
    if (ground.is_away[number] == is_away)
        return;
    sched_require(mprotect(ground.pages + number * PAGE, PAGE,
                           is_away ? PROT_NONE : PROT_READ | PROT_WRITE) == 0);
    ground.is_away[number] = is_away;
}

static void make_ground(void)
{
    if (ground.pages != NULL)
        return;
    void *memory =
        mmap(NULL, (size_t)STAGE_REQUESTS * PAGE, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sched_require(memory != MAP_FAILED);
    ground.pages = memory;
}

/* Nobody is to touch it from here on, but who holds it. */
static void spoil(struct request *request)
{
    request->is_gone = true;
    if (request->holders > 0)
        return;
    memset(request->operation, SPOILED, sizeof *request->operation);
    if (stage.is_guarded)
        guard((size_t)(request - stage.requests), true);
}

static void check_spoiled(const struct request *request)
{
    const unsigned char *bytes = (const unsigned char *)request->operation;
    sched_require(request->holders == 0);
    if (!request->is_gone || stage.is_guarded)
        return;
    for (size_t i = 0; i < sizeof *request->operation; i++)
        sched_require(bytes[i] == SPOILED);
}

/* The callbacks. */

static void require_alive(const struct request *request)
{
    sched_require(request->lives > 0);
    sched_require(!request->is_gone);
    sched_require(!request->is_calling);
}

static void begin(struct request *request)
{
    require_alive(request);
    request->is_calling = true;
    SYNC_POINT(); /* it takes a while */
}

/*
 * The condition is read in the middle: what is made true after that was missed
 * by this try.  It may be beside handing back, for who has begun to try does
 * not know of that.
 */
static bool try_complete(struct tkw_operation *operation)
{
    struct request *request = request_of(operation);
    sched_require(request->lives > 0);
    sched_require(!request->is_gone);
    sched_require(!request->is_trying);
    sched_require(!request->has_completed);
    request->is_trying = true;
    request->tried++;
    SYNC_POINT();
    bool is_met = request->is_met;
    if (request->in_try != NULL)
        request->in_try(request);
    SYNC_POINT();
    sched_require(!request->is_gone);
    sched_require(!request->has_completed);
    request->is_trying = false;
    return is_met;
}

static void on_complete(struct tkw_operation *operation)
{
    struct request *request = request_of(operation);
    sched_require(!request->is_trying);
    sched_require(!request->has_completed);
    sched_require(!request->is_cancelled);
    request->has_completed = true;
    request->completed++;
    begin(request);
    if (request->in_complete != NULL)
        request->in_complete(request);
    request->is_calling = false;
}

static void on_expire(struct tkw_operation *operation)
{
    struct request *request = request_of(operation);
    sched_require(request->has_completed);
    sched_require(!request->has_expired);
    sched_require(stage.now >= request->not_before);
    request->has_expired = true;
    request->expired++;
    request->denied |= 1U << request->lives;
    begin(request);
    if (request->in_expire != NULL)
        request->in_expire(request);
    request->is_calling = false;
}

static void on_cancel(void *context, struct tkw_operation *operation)
{
    struct request *request = request_of(operation);
    sched_require(context == &stage);
    sched_require(!request->has_completed);
    sched_require(!request->is_cancelled);
    request->is_cancelled = true;
    request->cancelled++;
    begin(request);
    if (request->in_cancel != NULL)
        request->in_cancel(request);
    request->is_calling = false;
}

static void on_release(struct tkw_operation *operation)
{
    struct request *request = request_of(operation);
    require_alive(request);
    sched_require(!request->is_trying);
    sched_require(request->has_completed != request->is_cancelled);
    request->released++;
    if (request->in_release != NULL)
        request->in_release(request);
    else
        spoil(request);
}

static const struct tkw_operation_type type = {
    .try_complete = try_complete,
    .on_complete = on_complete,
    .on_expire = on_expire,
    .on_release = on_release,
};

/* Memory is the service's. */

static void *allocate(void *context, size_t bytes)
{
    const struct tkw_allocator *allocator = &scene.service->allocator;
    (void)context;
    return stage.fails ? NULL : allocator->allocate(allocator->context, bytes);
}

static void release(void *context, void *memory, size_t bytes)
{
    const struct tkw_allocator *allocator = &scene.service->allocator;
    (void)context;
    allocator->release(allocator->context, memory, bytes);
}

void stage_open(struct stage_config config)
{
    static const struct tkw_allocator allocator = {allocate, release, NULL};
    struct tkw_purgatory_config of_purgatory = {
        .shards = config.shards != 0 ? config.shards : 1,
        .allocator = &allocator,
        .secret = {22, 2}, /* of two shards A is in one, B and C in the other */
    };
    scene_open((struct scene_config){.has_no_driver = !config.has_driver,
                                     .timers_max = config.timers_max});
    stage = (struct stage){.is_guarded = config.is_guarded};
    sync_mutex_init(&stage.mutex);
    make_ground();
    for (size_t i = 0; i < STAGE_REQUESTS; i++) {
        guard(i, false);
        stage.requests[i].operation = (void *)(ground.pages + i * PAGE);
    }
    sched_require(tkw_purgatory_open(&stage.purgatory, scene.service,
                                     &of_purgatory) == 0);
}

void stage_turn(uint64_t ns)
{
    stage.now += ns;
    tkw_manual_clock_advance(scene.manual, ns);
}

static void never(void *argument, const struct tkw_firing *firing)
{
    (void)argument;
    (void)firing;
    sched_fail(__FILE__, __LINE__, "that it never comes");
}

void stage_fill(void)
{
    struct tkw_task task = {never, NULL, NULL};
    while (tkw_service_arm(scene.service, NULL, SCENE_FAR, task) == 0)
        stage.fillers++;
}

bool request_is_over(const struct request *request)
{
    return request->completed + request->cancelled == request->lives;
}

static void check_request(const struct request *request)
{
    unsigned ended = request->completed + request->cancelled;
    sched_require(!request->is_trying);
    sched_require(!request->is_calling);
    sched_require(request->released == ended);
    sched_require(ended == request->lives || ended + 1 == request->lives);
    check_spoiled(request);
}

static unsigned bit_count(unsigned set)
{
    return (unsigned)__builtin_popcount(set);
}

/* That others have ended it, and left the rest to who is watching it, is said
 * by both. */
static unsigned own_claims(const struct request *request)
{
    return request->forced + request->expired +
           bit_count(request->said & ~request->denied);
}

void stage_check(void)
{
    struct tkw_purgatory_stats notes = {0};
    unsigned keys = 0, claims = stage.checked;
    for (int i = 0; i < STAGE_REQUESTS; i++) {
        const struct request *request = &stage.requests[i];
        check_request(request);
        claims += own_claims(request);
        notes.completed += request->completed;
        notes.expired += request->expired;
        notes.cancelled += request->cancelled;
        if (request_is_over(request))
            continue;
        notes.delayed++;
        notes.watched += bit_count(request->keys);
        keys |= request->keys;
    }
    struct tkw_purgatory_stats stats =
        tkw_purgatory_read_stats(stage.purgatory);
    sched_require(stats.completed == notes.completed);
    sched_require(stats.expired == notes.expired);
    sched_require(stats.cancelled == notes.cancelled);
    sched_require(stats.watched == notes.watched);
    sched_require(stats.delayed == notes.delayed);
    sched_require(stats.keys == bit_count(keys));
    sched_require(claims == notes.completed);
    sched_require(stage.taken == notes.cancelled);
    sched_require(tkw_service_count(scene.service) ==
                  notes.delayed + stage.fillers);
    sched_require(tkw_purgatory_check(stage.purgatory));
}

void stage_close_purgatory(void)
{
    sched_require(tkw_purgatory_close(stage.purgatory, on_cancel, &stage) == 0);
    for (int i = 0; i < STAGE_REQUESTS; i++) {
        check_request(&stage.requests[i]);
        sched_require(request_is_over(&stage.requests[i]));
    }
    sched_require(tkw_service_count(scene.service) == stage.fillers);
}

void stage_end(void)
{
    stage_check();
    stage_close_purgatory();
    scene_close();
}

void stage_end_empty(void)
{
    for (int i = 0; i < STAGE_REQUESTS; i++)
        sched_require(request_is_over(&stage.requests[i]));
    stage_end();
}

static void run_actor(void *argument)
{
    unsigned at = *(const unsigned *)argument;
    stage.actors[at].run(stage.actors[at].request);
}

unsigned stage_spawn(void (*run)(struct request *request),
                     struct request *request)
{
    static const unsigned numbers[STAGE_ACTORS] = {0, 1, 2};
    unsigned at = stage.actor_count++;
    sched_require(at < STAGE_ACTORS);
    stage.actors[at].run = run;
    stage.actors[at].request = request;
    return sched_spawn(run_actor, (void *)&numbers[at]);
}

void stage_race(struct request *request, void (*first)(struct request *),
                void (*second)(struct request *),
                void (*third)(struct request *))
{
    unsigned others[2] = {0, 0};
    if (second != NULL)
        others[0] = stage_spawn(second, request);
    if (third != NULL)
        others[1] = stage_spawn(third, request);
    first(request);
    if (second != NULL)
        sched_join(others[0]);
    if (third != NULL)
        sched_join(others[1]);
}

/* What is written down, is before: callbacks may come before it returns. */
static void begin_life(struct request *request, unsigned keys,
                       uint64_t timeout_ns)
{
    request->lives++;
    request->keys = keys;
    request->not_before = stage.now + timeout_ns;
    request->has_completed = false;
    request->has_expired = false;
    request->is_cancelled = false;
    request->is_gone = false;
    *request->operation =
        (struct tkw_operation){.type = &type, .timeout_ns = timeout_ns};
}

int request_watch(struct request *request, unsigned keys, uint64_t timeout_ns)
{
    struct tkw_key list[KEY_COUNT];
    size_t count = 0;
    for (unsigned key = KEY_A; key <= KEY_C; key *= 2)
        if (keys & key)
            list[count++] = tkw_key_number(key);
    begin_life(request, keys, timeout_ns);
    unsigned ended = request->completed + request->cancelled;
    unsigned life = 1U << request->lives;

    int answer = tkw_purgatory_try_complete_else_watch(
        stage.purgatory, request->operation, list, count);
    request->answer = answer;
    if (answer == 1) {
        sched_require(request->completed + request->cancelled > ended);
        request->said |= life;
    } else if (answer < 0) {
        sched_require(request->completed + request->cancelled == ended);
        sched_require(!request->is_trying);
        request->lives--;
        request->refused++;
        spoil(request);
    }
    return answer;
}

struct request *must_watch(unsigned number, unsigned keys, uint64_t timeout_ns)
{
    struct request *request = &stage.requests[number];
    sched_require(request_watch(request, keys, timeout_ns) == 0);
    return request;
}

/* Counted at once if it says so: on_complete may be somebody else's, and come
 * later. */
bool request_complete(struct request *request)
{
    unsigned life = 1U << request->lives;
    bool did = tkw_purgatory_complete(stage.purgatory, request->operation);
    request->forced += did;
    request->denied |= did ? life : 0;
    return did;
}

void request_hold(struct request *request)
{
    request->holders++;
}

void request_unhold(struct request *request)
{
    sched_require(request->holders > 0);
    if (--request->holders == 0 && request->is_gone)
        spoil(request);
}

size_t notify_key(unsigned key)
{
    size_t count = tkw_purgatory_notify(stage.purgatory, tkw_key_number(key));
    unsigned completed = 0;
    stage.checked += (unsigned)count;
    for (int i = 0; i < STAGE_REQUESTS; i++)
        completed += stage.requests[i].completed;
    sched_require(stage.checked <= completed);
    return count;
}

size_t cancel_key(unsigned key)
{
    size_t count = tkw_purgatory_cancel(stage.purgatory, tkw_key_number(key),
                                        on_cancel, &stage);
    unsigned cancelled = 0;
    stage.taken += (unsigned)count;
    for (int i = 0; i < STAGE_REQUESTS; i++)
        cancelled += stage.requests[i].cancelled;
    sched_require(stage.taken <= cancelled);
    return count;
}
