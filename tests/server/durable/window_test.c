/*
 * The gap between memory and the store: commands that race the loader.
 *
 * Jobs are put with due times around the end of the window, and changed while a
 * list that was read before is on its way to the engine.  A model knows when
 * each job is due.  Whatever happens, the number of jobs that are ready must be
 * the model's, and no job may be lost or come twice.
 */
#include "place.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { JOBS = 4000, STEPS = 400 };

struct model {
    struct place *place;
    uint64_t random;
    uint64_t due[JOBS]; /* by id; 0: does not exist */
    unsigned count;     /* ids that were given out, and 1 */
};

static unsigned pick(struct model *model, unsigned below)
{
    model->random ^= model->random << 13;
    model->random ^= model->random >> 7;
    model->random ^= model->random << 17;
    return (unsigned)(model->random >> 11) % below;
}

static uint64_t now_of(const struct model *model)
{
    return model->place->scene->server.now;
}

/* Send a command and drop the reply. */
static void tell(struct model *model, const char *command)
{
    struct bytes *out = &model->place->scene->server.connections[ANN].out;
    SEND(model->place->scene, ANN, command);
    place_settle(model->place);
    bytes_clear(out);
}

static void put(struct model *model)
{
    static const unsigned delays[] = {0, 1, 3, 500, 540, 590, 600, 601, 660};
    char command[64];
    unsigned delay = delays[pick(model, COUNT_OF(delays))] + pick(model, 20);
    if (model->count == JOBS)
        return;
    snprintf(command, sizeof command, "put 1 %u 60 1\r\nx", delay);
    model->due[model->count++] = now_of(model) + delay * SECOND;
    tell(model, command);
}

/* Choose a job that exists, or return 0. */
static unsigned choose(struct model *model)
{
    for (unsigned i = 0; i < 20 && model->count > 1; i++) {
        unsigned id = 1 + pick(model, model->count - 1);
        if (model->due[id] != 0)
            return id;
    }
    return 0;
}

static void change(struct model *model)
{
    char command[64];
    unsigned id = choose(model), what = pick(model, 4);
    if (id == 0)
        return;
    if (what == 0) {
        snprintf(command, sizeof command, "delete %u", id);
        model->due[id] = 0;
    } else if (what == 1) {
        snprintf(command, sizeof command, "kick-job %u", id);
        if (model->due[id] > now_of(model))
            model->due[id] = now_of(model);
    } else if (what == 2) {
        snprintf(command, sizeof command, "peek %u", id);
    } else {
        unsigned delay = 1 + pick(model, 700);
        snprintf(command, sizeof command, "reserve-job %u\r\nrelease %u 1 %u",
                 id, id, delay);
        model->due[id] = now_of(model) + delay * SECOND;
    }
    tell(model, command);
}

static void act(struct model *model)
{
    if (pick(model, 2) == 0)
        put(model);
    else
        change(model);
}

static void compare(struct model *model)
{
    uint64_t ready = 0, delayed = 0;
    for (unsigned id = 1; id < model->count; id++) {
        ready += model->due[id] != 0 && model->due[id] <= now_of(model);
        delayed += model->due[id] > now_of(model);
    }
    struct scene *scene = model->place->scene;
    assert_int_equal(number_of(scene, "stats", "current-jobs-ready"), ready);
    assert_int_equal(number_of(scene, "stats", "current-jobs-delayed"),
                     delayed);
}

/* One step: the time goes on, and commands come while a list is held back. */
static void step(struct model *model)
{
    struct place *place = model->place;
    place->counted.holds_lists = true;
    server_turn(&place->scene->server,
                now_of(model) + pick(model, 90) * SECOND);
    if (place_hold_list(place))
        for (unsigned i = pick(model, 6); i > 0; i--)
            act(model);
    place_give_list(place);
    for (unsigned i = pick(model, 4); i > 0; i--)
        act(model);
    compare(model);
}

static void run(struct place *place, uint64_t seed, uint64_t window_jobs)
{
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    *model = (struct model){.place = place, .random = seed, .count = 1};
    place->window_jobs = window_jobs;
    place_restart(place);
    for (unsigned i = 0; i < STEPS; i++)
        step(model);
    free(model);
}

static uint64_t fresh_seed(void)
{
    struct timespec now;
    const char *given = getenv("SEED");
    timespec_get(&now, TIME_UTC);
    uint64_t seed =
        given != NULL ? strtoull(given, NULL, 10) : (uint64_t)now.tv_nsec | 1;
    print_message("replay with SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

static void no_job_falls_into_the_gap(void **state)
{
    run(*state, fresh_seed(), 0);
}

static void no_job_falls_into_the_gap_of_a_small_window(void **state)
{
    run(*state, fresh_seed(), 20);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, place_open, place_close)
    const struct CMUnitTest tests[] = {
        TEST(no_job_falls_into_the_gap),
        TEST(no_job_falls_into_the_gap_of_a_small_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
