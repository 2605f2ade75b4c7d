/*
 * support/purgatory.c - what the tests of the purgatory share.
 */
#define _POSIX_C_SOURCE 200809L

#include "purgatory.h"

/* Where a request is in its life. */
enum phase { YOURS, INSIDE, COMPLETED, EXPIRED, HANDED_BACK };

void hall_open_with(struct hall *hall, struct tkw_service_config service,
                    struct tkw_purgatory_config config)
{
    memset(hall, 0, sizeof *hall);
    scene_open(&hall->scene, 1000, service);
    account_init(&hall->account);
    if (config.allocator == NULL)
        config.allocator = &hall->account.allocator;
    assert_int_equal(
        tkw_purgatory_open(&hall->purgatory, hall->scene.service, &config), 0);
}

void hall_open(struct hall *hall, enum tkw_driver driver)
{
    hall_open_with(hall,
                   (struct tkw_service_config){
                       .tick_ns = 10, .shards = 1, .driver = driver},
                   (struct tkw_purgatory_config){0});
}

void hall_open_narrow(struct hall *hall, enum tkw_driver driver)
{
    hall_open_with(hall,
                   (struct tkw_service_config){
                       .tick_ns = 10, .shards = 1, .driver = driver},
                   (struct tkw_purgatory_config){.shards = 1});
}

void hall_rest(struct hall *hall)
{
    if (hall->scene.driver == TKW_DRIVER_THREAD) {
        tkw_manual_clock_settle(hall->scene.manual);
        return;
    }
    int called = 1;
    while (called > 0)
        called = tkw_service_run(hall->scene.service, 0);
    assert_int_equal(called, 0);
}

void hall_go(struct hall *hall, uint64_t now)
{
    tkw_manual_clock_set(hall->scene.manual, now);
    hall_rest(hall);
}

void hall_close(struct hall *hall)
{
    if (hall->purgatory != NULL) {
        assert_true(tkw_purgatory_check(hall->purgatory));
        assert_int_equal(tkw_purgatory_close(hall->purgatory, NULL, NULL), 0);
    }
    assert_int_equal(atomic_load(&hall->faults), 0);
    assert_int_equal(tkw_service_count(hall->scene.service), 0);
    account_done(&hall->account);
    scene_close(&hall->scene);
}

void assert_holds(struct hall *hall, uint64_t watched, uint64_t delayed,
                  uint64_t keys)
{
    struct tkw_purgatory_stats f = tkw_purgatory_read_stats(hall->purgatory);
    assert_int_equal(f.watched, watched);
    assert_int_equal(f.delayed, delayed);
    assert_int_equal(f.keys, keys);
    assert_int_equal(f.bytes, account_bytes(&hall->account));
    assert_int_equal(tkw_service_count(hall->scene.service), delayed);
    assert_true(tkw_purgatory_check(hall->purgatory));
    assert_int_equal(atomic_load(&hall->faults), 0);
}

void assert_ended(struct hall *hall, uint64_t completed, uint64_t expired,
                  uint64_t cancelled)
{
    struct tkw_purgatory_stats f = tkw_purgatory_read_stats(hall->purgatory);
    assert_int_equal(f.completed, completed);
    assert_int_equal(f.expired, expired);
    assert_int_equal(f.cancelled, cancelled);
}

size_t check_number(struct hall *hall, uint64_t number)
{
    return tkw_purgatory_notify(hall->purgatory, tkw_key_number(number));
}

size_t cancel_number(struct hall *hall, uint64_t number)
{
    return tkw_purgatory_cancel(hall->purgatory, tkw_key_number(number),
                                hand_back, hall);
}

bool complete(struct request *request)
{
    return tkw_purgatory_complete(request->hall->purgatory,
                                  &request->operation);
}

/* The operation is its first member. */
static struct request *request_of(struct tkw_operation *operation)
{
    return (struct request *)operation;
}

static void expect(struct request *request, bool is_lawful)
{
    if (!is_lawful)
        atomic_fetch_add(&request->hall->faults, 1);
}

static void move_on(struct request *request, enum phase from, enum phase to)
{
    unsigned phase = from;
    expect(request,
           atomic_compare_exchange_strong(&request->phase, &phase, to));
}

static void write_down(struct request *request, enum moment moment)
{
    unsigned place = atomic_fetch_add(&request->story_length, 1);
    if (place < STORY_MAX - 1)
        atomic_store(&request->story[place], "tcxhr"[moment]);
    request->places[moment] = 1 + atomic_fetch_add(&request->hall->turns, 1);
    request->threads[moment] = pthread_self();
    atomic_fetch_add(&request->counts[moment], 1);
}

/* The last that is done with the request at this moment. */
static void act_at(struct request *request, enum moment moment)
{
    if (request->act != NULL && request->moment == moment)
        request->act(request);
}

static bool is_ready(struct request *request)
{
    if (request->ready_at != 0 && count_of(request, TRY) >= request->ready_at)
        return true;
    if (request->level != NULL &&
        atomic_load(request->level) >= request->needed)
        return true;
    return atomic_load(&request->is_ready);
}

static bool request_try(struct tkw_operation *operation)
{
    struct request *request = request_of(operation);
    expect(request, atomic_fetch_add(&request->trying, 1) == 0);
    /* Another thread may hand it back just before. */
    unsigned phase = atomic_load(&request->phase);
    expect(request, phase == INSIDE || phase == HANDED_BACK);
    write_down(request, TRY);
    bool answer = is_ready(request);
    act_at(request, TRY);
    atomic_fetch_sub(&request->trying, 1);
    return answer;
}

static void request_complete(struct tkw_operation *operation)
{
    struct request *request = request_of(operation);
    expect(request, atomic_load(&request->trying) == 0);
    move_on(request, INSIDE, COMPLETED);
    write_down(request, COMPLETE);
    act_at(request, COMPLETE);
}

static void request_expire(struct tkw_operation *operation)
{
    struct request *request = request_of(operation);
    move_on(request, COMPLETED, EXPIRED);
    write_down(request, EXPIRE);
    act_at(request, EXPIRE);
}

static void request_release(struct tkw_operation *operation)
{
    struct request *request = request_of(operation);
    expect(request, atomic_load(&request->trying) == 0);
    expect(request, atomic_exchange(&request->phase, YOURS) != YOURS);
    write_down(request, RELEASE);
    act_at(request, RELEASE);
}

void hand_back(void *context, struct tkw_operation *operation)
{
    struct request *request = request_of(operation);
    expect(request, context == request->hall);
    move_on(request, INSIDE, HANDED_BACK);
    write_down(request, HAND_BACK);
    act_at(request, HAND_BACK);
}

static const struct tkw_operation_type request_type = {
    .try_complete = request_try,
    .on_complete = request_complete,
    .on_expire = request_expire,
    .on_release = request_release,
};

void request_init(struct request *request, uint64_t timeout_ns)
{
    memset(request, 0, sizeof *request);
    request->operation.type = &request_type;
    request->operation.timeout_ns = timeout_ns;
}

int request_watch(struct hall *hall, struct request *request,
                  const struct tkw_key *keys, size_t count)
{
    request->hall = hall;
    move_on(request, YOURS, INSIDE);
    int answer = tkw_purgatory_try_complete_else_watch(
        hall->purgatory, &request->operation, keys, count);
    if (answer < 0)
        move_on(request, INSIDE, YOURS);
    return answer;
}

int request_watch_numbers(struct hall *hall, struct request *request,
                          uint64_t first, size_t count)
{
    struct tkw_key keys[1000];
    for (size_t i = 0; i < count && i < COUNT_OF(keys); i++)
        keys[i] = tkw_key_number(first + i);
    return request_watch(hall, request, keys, count);
}

void request_wait(struct hall *hall, struct request *request, uint64_t first,
                  size_t count)
{
    assert_int_equal(request_watch_numbers(hall, request, first, count), 0);
}

void request_set_ready(struct request *request)
{
    atomic_store(&request->is_ready, true);
}

unsigned count_of(struct request *request, enum moment moment)
{
    return atomic_load(&request->counts[moment]);
}

void assert_story(struct request *request, const char *story)
{
    char text[STORY_MAX] = "";
    for (size_t i = 0; i < STORY_MAX - 1; i++)
        text[i] = atomic_load(&request->story[i]);
    assert_string_equal(text, story);
    assert_int_equal(atomic_load(&request->hall->faults), 0);
}

void bring_about(struct hall *hall, struct request *request, uint64_t number,
                 enum moment moment)
{
    switch (moment) {
    case EXPIRE:
        hall_go(hall, tkw_manual_clock_now(hall->scene.manual) +
                          request->operation.timeout_ns);
        break;
    case HAND_BACK:
        assert_true(cancel_number(hall, number) > 0);
        break;
    default:
        request_set_ready(request);
        assert_true(check_number(hall, number) > 0);
        break;
    }
}

void hold(struct request *request)
{
    struct probe probe = {.gate = request->gate};
    gate_hold(&probe);
}

void hold_try(struct request *request)
{
    if (count_of(request, TRY) == request->hold_at)
        hold(request);
}

void recursive_init(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

static void *run_errand(void *argument)
{
    struct errand *errand = argument;
    struct tkw_purgatory *purgatory = errand->hall->purgatory;
    switch (errand->deed) {
    case CHECK:
        errand->answer = (int64_t)tkw_purgatory_notify(purgatory, errand->key);
        break;
    case WATCH:
        errand->answer =
            request_watch(errand->hall, errand->request, &errand->key, 1);
        break;
    case FORCE:
        errand->answer = complete(errand->request);
        break;
    case CANCEL:
        errand->answer = (int64_t)tkw_purgatory_cancel(purgatory, errand->key,
                                                       hand_back, errand->hall);
        break;
    case CLOSE:
        errand->answer = tkw_purgatory_close(purgatory, NULL, NULL);
        break;
    }
    atomic_store(&errand->is_back, true);
    return NULL;
}

void errand_start(struct errand *errand)
{
    errand->thread = thread_start(run_errand, errand);
}

int64_t errand_end(struct errand *errand)
{
    thread_join(errand->thread);
    return errand->answer;
}

void meeting_begin(struct meeting *meeting, enum deed deed, unsigned number,
                   bool says_yes)
{
    memset(meeting, 0, sizeof *meeting);
    hall_open_narrow(&meeting->hall, TKW_DRIVER_THREAD);
    gate_init(&meeting->gate);
    request_init(&meeting->request, 100);
    meeting->request.gate = &meeting->gate;
    meeting->request.hold_at = number;
    meeting->request.act = hold_try;
    if (deed == CHECK)
        request_wait(&meeting->hall, &meeting->request, 1, 1);
    if (says_yes)
        request_set_ready(&meeting->request);
    meeting->errand.hall = &meeting->hall;
    meeting->errand.request = &meeting->request;
    meeting->errand.key = tkw_key_number(1);
    meeting->errand.deed = deed;
    errand_start(&meeting->errand);
    gate_await(&meeting->gate);
}

int64_t meeting_end(struct meeting *meeting)
{
    struct request *request = &meeting->request;
    assert_int_equal(count_of(request, COMPLETE), 0);
    assert_int_equal(count_of(request, RELEASE), 0);
    gate_open(&meeting->gate);
    return errand_end(&meeting->errand);
}

void meeting_close(struct meeting *meeting, enum moment moment)
{
    assert_true(pthread_equal(meeting->request.threads[moment],
                              meeting->errand.thread));
    assert_true(pthread_equal(meeting->request.threads[RELEASE],
                              meeting->errand.thread));
    assert_holds(&meeting->hall, 0, 0, 0);
    gate_done(&meeting->gate);
    hall_close(&meeting->hall);
}
