#define _GNU_SOURCE

#include "place.h"

#include <time.h>

enum { PATIENCE = 60 }; /* seconds, for a store that never answers */

static struct counted *of(const struct tkd_store *store)
{
    return (struct counted *)(uintptr_t)store;
}

static bool reserve(struct tkd_store *store, size_t count)
{
    return tkd_store_reserve(of(store)->inner, count);
}

static void take_write(struct tkd_store *store, const struct tkd_write *write)
{
    tkd_store_write(of(store)->inner, write);
}

static void set(struct tkd_store *store, const struct tkd_row *row)
{
    tkd_store_set(of(store)->inner, row);
}

static bool has_room(const struct tkd_store *store)
{
    return tkd_store_has_room(of(store)->inner);
}

static void submit(struct tkd_store *store, uint64_t batch)
{
    of(store)->open++;
    tkd_store_submit(of(store)->inner, batch);
}

static bool is_busy(const struct tkd_store *store)
{
    return tkd_store_is_busy(of(store)->inner);
}

static bool ask(struct tkd_store *store, const struct tkd_question *question)
{
    bool is_asked = tkd_store_ask(of(store)->inner, question);
    of(store)->open += is_asked;
    return is_asked;
}

static bool list(struct tkd_store *store, const struct tkd_range *range)
{
    bool is_asked = tkd_store_list(of(store)->inner, range);
    of(store)->open += is_asked;
    return is_asked;
}

static bool find_row(struct tkd_store *store, struct tkd_row *row)
{
    return tkd_store_find_row(of(store)->inner, row);
}

static bool read_list(struct tkd_store *store, const struct tkd_range *range,
                      struct tkd_answer *answer)
{
    return tkd_store_read_list(of(store)->inner, range, answer);
}

static void measure(struct tkd_store *store, struct tkd_store_figures *figures)
{
    tkd_store_measure(of(store)->inner, figures);
}

static bool poll(struct tkd_store *store, struct tkd_answer *answer)
{
    struct counted *counted = of(store);
    if (counted->has_list && !counted->holds_lists) {
        *answer = counted->list;
        counted->has_list = false;
        return true;
    }
    bool is_taken = tkd_store_poll(counted->inner, answer);
    counted->open -= is_taken;
    store->failure = counted->inner->failure;
    if (is_taken && answer->kind == TKD_ANSWER_LIST && counted->holds_lists) {
        counted->list = *answer;
        counted->has_list = true;
        return poll(store, answer);
    }
    return is_taken;
}

static void close_inner(struct tkd_store *store)
{
    tkd_store_close(of(store)->inner);
}

static void *allocate(void *context, size_t bytes)
{
    (void)context;
    return malloc(bytes);
}

static void release(void *context, void *memory, size_t bytes)
{
    (void)context;
    (void)bytes;
    free(memory);
}

static const struct tkw_allocator allocator = {.allocate = allocate,
                                               .release = release};

static void wake(void *context)
{
    sem_post(context);
}

static void open_store(struct place *place)
{
    static const struct tkd_store_calls calls = {
        .reserve = reserve,
        .write = take_write,
        .set = set,
        .has_room = has_room,
        .submit = submit,
        .is_busy = is_busy,
        .ask = ask,
        .list = list,
        .find_row = find_row,
        .read_list = read_list,
        .measure = measure,
        .poll = poll,
        .close = close_inner,
    };
    char why[TKD_ROCKS_WHY_MAX] = "";
    struct tkd_rocks_config config = {
        .allocator = &allocator,
        .directory = place->directory,
        .wake = wake,
        .wake_context = &place->woken,
    };
    place->counted = (struct counted){.store.calls = &calls};
    place->store = &place->counted.store;
    if (tkd_rocks_open(&place->counted.inner, &config, why) != 0)
        fail_msg("%s", why);
}

void place_open_engine(struct place *place)
{
    struct scene *scene = scene_prepare();
    scene->store = place->store;
    struct tkd_engine_config config = scene_config(scene);
    config.allocator = &allocator;
    config.now_ns = place->now;
    config.window_jobs = place->window_jobs;
    memset(config.boot, 'b', sizeof config.boot);
    scene_begin(scene, &config, CONNECTIONS);
    place->scene = scene;
    place_settle(place);
}

/* scene_close() closes the store, too. */
void place_close_engine(struct place *place)
{
    place->now = place->scene->server.now;
    scene_close(place->scene);
    open_store(place);
}

int place_open(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    assert_non_null(place);
    directory_make(place->directory);
    sem_init(&place->woken, 0, 0);
    place->now = START;
    open_store(place);
    place_open_engine(place);
    *state = place;
    return 0;
}

int place_close(void **state)
{
    struct place *place = *state;
    scene_close(place->scene);
    directory_remove(place->directory);
    sem_destroy(&place->woken);
    free(place);
    return 0;
}

struct scene *place_restart(struct place *place)
{
    place_close_engine(place);
    place_open_engine(place);
    return place->scene;
}

void place_settle(struct place *place)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE;
    SETTLE(place->scene);
    while (place->counted.open > 0 && !place->scene->server.has_failed) {
        assert_int_equal(sem_timedwait(&place->woken, &until), 0);
        SETTLE(place->scene);
    }
    SETTLE(place->scene);
    if (place->store->failure != NULL)
        fail_msg("%s", place->store->failure);
}

bool place_hold_list(struct place *place)
{
    place->counted.holds_lists = true;
    place_settle(place);
    return place->counted.has_list;
}

void place_give_list(struct place *place)
{
    place->counted.holds_lists = false;
    place_settle(place);
}

void place_turn(struct place *place, uint64_t ns)
{
    turn(place->scene, ns);
    place_settle(place);
}
