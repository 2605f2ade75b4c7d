/*
 * purgatory/threads_test.c - many threads at the same operations: each is
 * completed once, by one of them (P2), no completion is lost, and at rest all
 * adds up.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/core.h"
#include "support/purgatory.h"

#define KEYS 10

/* What the threads of a test share, and what they have found. */
struct crowd {
    struct hall *hall;
    struct request *requests;
    atomic_size_t checked;   /* what checks returned, added up */
    atomic_size_t cancelled; /* the same of cancels */
    atomic_size_t forced;
    atomic_size_t at_once; /* watches that returned 1 */
    atomic_uint errors;
    pthread_barrier_t barrier;
};

struct worker {
    struct crowd *crowd;
    unsigned number;
    uint64_t random;
    pthread_t thread;
};

static void crowd_run(struct crowd *crowd, uint64_t *random, unsigned count,
                      void *(*function)(void *))
{
    struct worker workers[20];
    assert_true(count <= COUNT_OF(workers));
    pthread_barrier_init(&crowd->barrier, NULL, count);
    for (unsigned i = 0; i < count; i++) {
        workers[i].crowd = crowd;
        workers[i].number = i;
        workers[i].random = random_next(random);
    }
    for (unsigned i = 0; i < count; i++)
        workers[i].thread = thread_start(function, &workers[i]);
    for (unsigned i = 0; i < count; i++)
        thread_join(workers[i].thread);
    pthread_barrier_destroy(&crowd->barrier);
    assert_int_equal(atomic_load(&crowd->errors), 0);
}

static void check_some(struct crowd *crowd, uint64_t key)
{
    atomic_fetch_add(&crowd->checked, check_number(crowd->hall, key));
}

static void cancel_some(struct crowd *crowd, uint64_t key)
{
    atomic_fetch_add(&crowd->cancelled, cancel_number(crowd->hall, key));
}

/* Request i is on up to four numbers from i % KEYS on. */
static void enter_all(struct crowd *crowd, unsigned count, uint64_t timeout)
{
    for (unsigned i = 0; i < count; i++) {
        request_init(&crowd->requests[i], timeout);
        request_wait(crowd->hall, &crowd->requests[i], i % KEYS, 1 + i % 4);
    }
}

#define HUNDRED 100
#define TWENTY 20

/* Each sees to five requests, and checks keys at random besides. */
static void *see_to_five(void *argument)
{
    struct worker *worker = argument;
    struct crowd *crowd = worker->crowd;
    pthread_barrier_wait(&crowd->barrier);
    for (unsigned i = worker->number; i < HUNDRED; i += TWENTY) {
        check_some(crowd, random_below(&worker->random, KEYS + 3));
        request_set_ready(&crowd->requests[i]);
        check_some(crowd, i % KEYS + random_below(&worker->random, 1 + i % 4));
    }
    return NULL;
}

/* Whatever is made true before a key is checked is completed, by that check or
   by whoever was trying: nobody sweeps up afterwards. */
static void a_hundred_operations_checked_by_twenty_threads(void **state)
{
    (void)state;
    uint64_t random = random_seed();
    for (int round = 0; round < 30; round++) {
        struct hall hall;
        static struct request requests[HUNDRED];
        struct crowd crowd = {.hall = &hall, .requests = requests};
        hall_open(&hall, TKW_DRIVER_NONE);
        enter_all(&crowd, HUNDRED, 100);
        crowd_run(&crowd, &random, TWENTY, see_to_five);
        for (unsigned i = 0; i < HUNDRED; i++) {
            assert_int_equal(count_of(&requests[i], COMPLETE), 1);
            assert_int_equal(count_of(&requests[i], RELEASE), 1);
        }
        assert_int_equal(atomic_load(&crowd.checked), HUNDRED);
        assert_holds(&hall, 0, 0, 0);
        assert_ended(&hall, HUNDRED, 0, 0);
        hall_close(&hall);
    }
}

/* Some check, one cancels, one turns the clock; all at once. */
static void *end_somehow(void *argument)
{
    struct worker *worker = argument;
    struct crowd *crowd = worker->crowd;
    pthread_barrier_wait(&crowd->barrier);
    for (unsigned i = 0; i < KEYS + 3; i++) {
        uint64_t key = random_below(&worker->random, KEYS + 3);
        if (worker->number == 0)
            tkw_manual_clock_advance(crowd->hall->scene.manual, 10);
        else if (worker->number == 1)
            cancel_some(crowd, key);
        else
            check_some(crowd, key);
    }
    return NULL;
}

/* A check, a cancel and the timeout at the same operations: one of them gets
   each, and knows it. */
static void each_operation_ends_once(void **state)
{
    (void)state;
    uint64_t random = random_seed();
    uint64_t completed = 0, expired = 0, cancelled = 0;
    for (int round = 0; round < 100; round++) {
        struct hall hall;
        static struct request requests[HUNDRED];
        struct crowd crowd = {.hall = &hall, .requests = requests};
        hall_open(&hall, TKW_DRIVER_THREAD);
        enter_all(&crowd, HUNDRED, 60);
        for (unsigned i = 0; i < HUNDRED; i++)
            requests[i].ready_at = 3 + i % 3;
        crowd_run(&crowd, &random, 4, end_somehow);
        hall_go(&hall, 2000);
        assert_holds(&hall, 0, 0, 0);
        struct tkw_purgatory_stats f = tkw_purgatory_read_stats(hall.purgatory);
        assert_int_equal(f.completed + f.cancelled, HUNDRED);
        assert_int_equal(f.completed, atomic_load(&crowd.checked) + f.expired);
        assert_int_equal(f.cancelled, atomic_load(&crowd.cancelled));
        for (unsigned i = 0; i < HUNDRED; i++)
            assert_int_equal(count_of(&requests[i], RELEASE), 1);
        completed += f.completed - f.expired;
        expired += f.expired;
        cancelled += f.cancelled;
        hall_close(&hall);
    }
    print_message("%llu completed, %llu expired, %llu cancelled\n",
                  (unsigned long long)completed, (unsigned long long)expired,
                  (unsigned long long)cancelled);
}

#define RACES 4000

/* What requests wait for: a level to rise, and then its key to be checked. */
static struct request racers[2][RACES];
static atomic_uint levels[2];

/* Two bring in requests for a level that is just being reached, two raise it.
   The last check is after the last rise. */
static void *race_with_the_level(void *argument)
{
    struct worker *worker = argument;
    struct crowd *crowd = worker->crowd;
    unsigned side = worker->number % 2;
    pthread_barrier_wait(&crowd->barrier);
    for (unsigned i = 0; i < RACES; i++) {
        struct request *request = &racers[side][i];
        if (worker->number >= 2) {
            atomic_fetch_add(&levels[side], 1);
            check_some(crowd, side);
            continue;
        }
        unsigned level = atomic_load(&levels[side]) + 1;
        request_init(request, UINT64_MAX);
        request->level = &levels[side];
        request->needed = level < RACES ? level : RACES;
        int answer = request_watch_numbers(crowd->hall, request, side, 1);
        atomic_fetch_add(&crowd->at_once, answer == 1);
        atomic_fetch_add(&crowd->errors, answer < 0);
    }
    return NULL;
}

/* Between a try that fails and being watched no completion is lost: there is no
   timeout that would cover it up. */
static void what_comes_true_while_it_is_being_watched_is_seen(void **state)
{
    (void)state;
    uint64_t random = random_seed();
    struct hall hall;
    struct crowd crowd = {.hall = &hall};
    memset(levels, 0, sizeof levels);
    hall_open(&hall, TKW_DRIVER_NONE);
    crowd_run(&crowd, &random, 4, race_with_the_level);
    for (unsigned i = 0; i < 2 * RACES; i++) {
        struct request *request = &racers[i % 2][i / 2];
        assert_int_equal(count_of(request, COMPLETE), 1);
        assert_int_equal(count_of(request, RELEASE), 1);
    }
    assert_int_equal(atomic_load(&crowd.checked) + atomic_load(&crowd.at_once),
                     2 * RACES);
    assert_holds(&hall, 0, 0, 0);
    hall_close(&hall);
}

/* A request on the heap, freed when it is released, and the place by which
   others find it while it can be completed by force. */
struct order {
    struct request request;
    struct place *place;
    bool is_over;   /* it must not be put there any more; guarded by its lock */
    unsigned lives; /* times that it comes again */
};

struct place {
    pthread_mutex_t lock; /* recursive: who completes it holds it */
    struct order *order;
};

#define STEPS 4000
#define PLACES 64

static struct place places[PLACES];
static atomic_size_t entered, released;
static struct crowd *crowd_of_orders;
static struct tkw_operation_type order_type, type_of_requests;

static struct order *order_of(struct tkw_operation *operation)
{
    return (struct order *)operation;
}

/* While it is tried it is in the purgatory; unless just handed back. */
static bool order_try(struct tkw_operation *operation)
{
    struct order *order = order_of(operation);
    pthread_mutex_lock(&order->place->lock);
    if (!order->is_over)
        order->place->order = order;
    pthread_mutex_unlock(&order->place->lock);
    return type_of_requests.try_complete(operation);
}

/* Before it can be released: in on_complete, or when it is handed back. */
static void place_leave(struct order *order)
{
    pthread_mutex_lock(&order->place->lock);
    order->is_over = true;
    if (order->place->order == order)
        order->place->order = NULL;
    pthread_mutex_unlock(&order->place->lock);
}

static void order_complete(struct tkw_operation *operation)
{
    place_leave(order_of(operation));
    type_of_requests.on_complete(operation);
}

static void order_hand_back(void *context, struct tkw_operation *operation)
{
    place_leave(order_of(operation));
    hand_back(context, operation);
}

static void order_watch(struct order *order, uint64_t dice)
{
    struct crowd *crowd = crowd_of_orders;
    order->is_over = false;
    atomic_fetch_add(&entered, 1);
    int answer = request_watch_numbers(crowd->hall, &order->request,
                                       dice % KEYS, 1 + dice / KEYS % 4);
    atomic_fetch_add(&crowd->at_once, answer == 1);
    atomic_fetch_add(&crowd->errors, answer < 0);
}

static void order_release(struct request *request)
{
    struct order *order = (struct order *)request;
    atomic_fetch_add(&released, 1);
    if (order->lives-- > 0)
        order_watch(order, count_of(request, TRY));
    else
        free(order);
}

static void order_enter(uint64_t dice)
{
    struct order *order = malloc(sizeof *order);
    if (order == NULL)
        abort();
    request_init(&order->request, dice % 3 == 0 ? 0 : dice / 7 % 300);
    order->request.operation.type = &order_type;
    order->request.ready_at = (unsigned)(1 + dice % 17);
    order->request.moment = RELEASE;
    order->request.act = order_release;
    order->place = &places[dice / 11 % PLACES];
    order->lives = (unsigned)(dice / 13 % 3);
    order_watch(order, dice / 17);
}

static void force_some(struct crowd *crowd, struct place *place)
{
    pthread_mutex_lock(&place->lock);
    if (place->order != NULL)
        atomic_fetch_add(&crowd->forced, complete(&place->order->request));
    pthread_mutex_unlock(&place->lock);
}

static void *do_everything(void *argument)
{
    struct worker *worker = argument;
    struct crowd *crowd = worker->crowd;
    pthread_barrier_wait(&crowd->barrier);
    for (unsigned i = 0; i < STEPS; i++) {
        uint64_t dice = random_next(&worker->random);
        order_enter(dice >> 8);
        check_some(crowd, (dice >> 16) % (KEYS + 3));
        if (dice % 8 == 0)
            force_some(crowd, &places[(dice >> 24) % PLACES]);
        if (dice % 16 == 1)
            atomic_fetch_add(
                &crowd->cancelled,
                tkw_purgatory_cancel(crowd->hall->purgatory,
                                     tkw_key_number((dice >> 32) % (KEYS + 3)),
                                     order_hand_back, crowd->hall));
        if (dice % 32 == 2)
            tkw_manual_clock_advance(crowd->hall->scene.manual,
                                     (dice >> 40) % 50);
    }
    return NULL;
}

static void places_init(void)
{
    for (size_t i = 0; i < PLACES; i++) {
        recursive_init(&places[i].lock);
        places[i].order = NULL;
    }
}

static void order_type_init(void)
{
    struct request request;
    request_init(&request, 0);
    type_of_requests = order_type = *request.operation.type;
    order_type.try_complete = order_try;
    order_type.on_complete = order_complete;
}

/* All that came in has come out, once; by whom, they know. */
static void assert_all_adds_up(struct crowd *crowd)
{
    struct tkw_purgatory_stats f =
        tkw_purgatory_read_stats(crowd->hall->purgatory);
    uint64_t by_calls =
        atomic_load(&crowd->checked) + atomic_load(&crowd->forced) + f.expired;
    assert_int_equal(f.completed + f.cancelled, atomic_load(&entered));
    assert_int_equal(atomic_load(&released), atomic_load(&entered));
    assert_int_equal(f.cancelled, atomic_load(&crowd->cancelled));
    /* One that was forced while it was coming in may count as both. */
    assert_true(by_calls <= f.completed);
    assert_true(f.completed <= by_calls + atomic_load(&crowd->at_once));
    assert_holds(crowd->hall, 0, 0, 0);
    print_message("%zu entered: %zu at once, %zu checked, %zu forced, "
                  "%llu expired, %zu cancelled\n",
                  atomic_load(&entered), atomic_load(&crowd->at_once),
                  atomic_load(&crowd->checked), atomic_load(&crowd->forced),
                  (unsigned long long)f.expired,
                  atomic_load(&crowd->cancelled));
}

/* Watching, checking, forcing and cancelling while time flies, and operations
   that are freed, or come again, as soon as they are released. */
static void outcomes_add_up_whatever_the_threads_do(void **state)
{
    (void)state;
    struct hall hall;
    struct crowd crowd = {.hall = &hall};
    uint64_t random = random_seed();
    hall_open(&hall, TKW_DRIVER_THREAD);
    places_init();
    order_type_init();
    crowd_of_orders = &crowd;
    atomic_store(&entered, 0);
    atomic_store(&released, 0);
    crowd_run(&crowd, &random, 4, do_everything);
    for (unsigned i = 0; i < 20; i++)
        hall_go(&hall, tkw_manual_clock_now(hall.scene.manual) + 1000);
    assert_all_adds_up(&crowd);
    hall_close(&hall);
    for (size_t i = 0; i < PLACES; i++)
        pthread_mutex_destroy(&places[i].lock);
}

static void bring_in_the_other(struct request *request)
{
    request->answer =
        request_watch_numbers(request->hall, request->other, 2, 3);
}

/* A callback is half-way through watching when close comes: its operation is
   refused or ended, or else close would wait for it for ever. */
static void close_ends_what_a_callback_is_bringing_in(void **state)
{
    (void)state;
    for (unsigned number = 1; number <= 2; number++) {
        struct hall hall;
        struct gate gate;
        struct request request, late;
        struct errand closer = {.hall = &hall, .deed = CLOSE};
        hall_open(&hall, TKW_DRIVER_THREAD);
        gate_init(&gate);
        request_init(&late, UINT64_MAX);
        late.gate = &gate;
        late.hold_at = number;
        late.act = hold_try;
        request_init(&request, 100);
        request.moment = EXPIRE;
        request.act = bring_in_the_other;
        request.other = &late;
        request_wait(&hall, &request, 1, 1);
        tkw_manual_clock_set(hall.scene.manual, 1100);
        gate_await(&gate);
        errand_start(&closer);
        have_patience();
        assert_false(atomic_load(&closer.is_back));
        gate_open(&gate);
        assert_int_equal(errand_end(&closer), 0);
        bool is_in = request.answer != -ESHUTDOWN;
        assert_true(request.answer >= 0 || !is_in);
        assert_int_equal(count_of(&late, COMPLETE), is_in);
        assert_int_equal(count_of(&late, RELEASE), is_in);
        hall.purgatory = NULL;
        gate_done(&gate);
        hall_close(&hall);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_operations_checked_by_twenty_threads),
        cmocka_unit_test(each_operation_ends_once),
        cmocka_unit_test(what_comes_true_while_it_is_being_watched_is_seen),
        cmocka_unit_test(outcomes_add_up_whatever_the_threads_do),
        cmocka_unit_test(close_ends_what_a_callback_is_bringing_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
