/*
 * server/engine/failing_test.c - an allocator that refuses: a command gets its
 * right reply or OUT_OF_MEMORY, and then nothing has changed.
 *
 * The tapes and the model are those of the model test.
 */
#include "random.h"
#include "scene.h"
#include "trial.h"

enum { SEEDS = 24, OPS = 250, GROWTH = 20000 };

static struct tape tape;
static struct trial trial;

/* Record a short tape with many kinds of operations. */
static void record(uint64_t seed)
{
    tape_record(&tape, seed);
    if (tape.count > OPS)
        tape.count = OPS;
    if (tape.store == TAPE_SLOW)
        tape.store = TAPE_MEMORY;
}

/* Play the tape with failures.  Returns how many acts were refused. */
static uint64_t play(uint64_t seed, uint64_t from, uint64_t count)
{
    struct bytes script = {0};
    struct trial_options options = {
        .fail_from = from, .fail_count = count, .script = &script};
    if (!trial_play(&trial, &tape, &options)) {
        fputs(script.data, stderr);
        fprintf(stderr, "received: %s\nexpected: %s\n",
                trial.received.size > 0 ? trial.received.data : "",
                trial.expected.size > 0 ? trial.expected.data : "");
        fail_msg("seed %llu, %llu failures from request %llu on: %s",
                 (unsigned long long)seed, (unsigned long long)count,
                 (unsigned long long)from, trial.fault);
    }
    uint64_t refusals = trial.refusals;
    trial_free(&trial);
    bytes_free(&script);
    return refusals;
}

/* Return the number of requests for memory when none fails. */
static uint64_t count_requests(uint64_t seed)
{
    play(seed, UINT64_MAX, 1);
    return trial.memory.requests;
}

/* Each request fails once. */
static void any_request_can_fail(void **state)
{
    (void)state;
    uint64_t requests = 0, refusals = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        record(seed);
        uint64_t end = count_requests(seed);
        for (uint64_t from = 1; from <= end; from++)
            refusals += play(seed, from, 1);
        requests += end;
    }
    print_message("    %llu requests, %llu commands refused\n",
                  (unsigned long long)requests, (unsigned long long)refusals);
    assert_true(refusals > requests / 4);
}

/* All requests fail for a while, or from some request on for ever. */
static void all_requests_can_fail_for_a_while(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        record(seed);
        uint64_t end = count_requests(seed);
        for (uint64_t from = 1; from <= end; from += 1 + seed % 3) {
            play(seed, from, 2 + from % 30);
            play(seed, from, UINT64_MAX);
        }
    }
}

/* What a growing engine has acknowledged. */
struct ledger {
    uint64_t put, deleted, refused;
};

/* Return a random command of a client.  Its replies need no bodies. */
static void write_command(char *line, size_t size, uint64_t *random,
                          uint64_t put)
{
    unsigned id = 1 + random_below(random, (uint32_t)put + 1);
    switch (random_below(random, 12)) {
    case 0:
    case 1:
    case 2:
    case 3:
        snprintf(line, size, "put %u 0 100 1\r\na", id % 7);
        break;
    case 4:
    case 5:
        snprintf(line, size, "put 0 %u 100 1\r\na", 1 + id);
        break;
    case 6:
        snprintf(line, size, "delete %u", id);
        break;
    case 7:
        snprintf(line, size, "reserve-with-timeout 0\r\nbury %u 0", id);
        break;
    case 8:
        snprintf(line, size, "reserve-job %u\r\nbury %u 0", id, id);
        break;
    case 9:
        snprintf(line, size, "reserve-job %u\r\nrelease %u 0 %u", id, id, id);
        break;
    case 10:
        snprintf(line, size, "use %u\r\nkick 3", id % 1000);
        break;
    default:
        snprintf(line, size, "watch %u", id % 1000);
    }
}

static uint64_t count_of(const char *text, const char *word)
{
    uint64_t count = 0;
    for (; (text = strstr(text, word)) != NULL; text++)
        count++;
    return count;
}

static void enter(struct ledger *ledger, struct bytes *out)
{
    if (out->size == 0)
        return;
    ledger->put += count_of(out->data, "INSERTED");
    ledger->deleted += count_of(out->data, "DELETED");
    ledger->refused += count_of(out->data, "OUT_OF_MEMORY");
    bytes_clear(out);
}

static uint64_t job_count(struct scene *scene)
{
    return number_of(scene, "stats", "current-jobs-ready") +
           number_of(scene, "stats", "current-jobs-reserved") +
           number_of(scene, "stats", "current-jobs-delayed") +
           number_of(scene, "stats", "current-jobs-buried");
}

/* Tables that grow while memory is refused again and again lose nothing. */
static void a_growing_engine_survives_refusals(void **state)
{
    (void)state;
    struct scene *scene = scene_open();
    struct ledger ledger = {0};
    uint64_t random = 7;
    scene->is_unchecked = true;
    for (unsigned n = 0; n < CONNECTIONS; n++)
        join(scene, n);
    for (unsigned i = 0; i < GROWTH; i++) {
        unsigned n = 1 + random_below(&random, CONNECTIONS - 1);
        char line[128];
        if (scene->memory.requests >= scene->memory.fail_from)
            memory_fail(&scene->memory, random_below(&random, 4),
                        1 + random_below(&random, 3));
        write_command(line, sizeof line, &random, ledger.put);
        SEND(scene, n, line);
        enter(&ledger, &scene->server.connections[n].out);
        if (i % 100 == 0)
            turn(scene, SECOND);
        if (i % 997 == 0) {
            scene->memory.fail_count = 0;
            assert_true(tkd_engine_check(scene->server.engine));
            assert_int_equal(job_count(scene), ledger.put - ledger.deleted);
        }
    }
    print_message("    %llu puts, %llu commands refused\n",
                  (unsigned long long)ledger.put,
                  (unsigned long long)ledger.refused);
    assert_true(ledger.put > GROWTH / 10);
    assert_true(ledger.refused > GROWTH / 10);
    scene->memory.fail_count = 0;
    scene_close(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_request_can_fail),
        cmocka_unit_test(all_requests_can_fail_for_a_while),
        cmocka_unit_test(a_growing_engine_survives_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
