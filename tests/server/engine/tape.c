#include "tape.h"

#include "random.h"

/* How often the operations are chosen.  Each tape multiplies the weights by
 * small random numbers, so that some operations are missing. */
static const uint8_t weights[ACT_KINDS] = {
    [TKD_PUT] = 60,
    [TKD_PEEK] = 4,
    [TKD_PEEK_READY] = 4,
    [TKD_PEEK_DELAYED] = 4,
    [TKD_PEEK_BURIED] = 4,
    [TKD_RESERVE] = 25,
    [TKD_RESERVE_WITH_TIMEOUT] = 25,
    [TKD_RESERVE_JOB] = 12,
    [TKD_DELETE] = 25,
    [TKD_RELEASE] = 20,
    [TKD_BURY] = 15,
    [TKD_KICK] = 6,
    [TKD_KICK_JOB] = 8,
    [TKD_TOUCH] = 10,
    [TKD_STATS] = 1,
    [TKD_STATS_JOB] = 6,
    [TKD_STATS_TUBE] = 4,
    [TKD_USE] = 8,
    [TKD_WATCH] = 8,
    [TKD_IGNORE] = 8,
    [TKD_LIST_TUBES] = 1,
    [TKD_LIST_TUBE_USED] = 1,
    [TKD_LIST_TUBES_WATCHED] = 1,
    [TKD_PAUSE_TUBE] = 4,
    [TKD_QUIT] = 1,
    [ACT_DISCONNECT] = 3,
    [ACT_TURN] = 50,
    [ACT_GIVE_UP] = 2,
    [ACT_PUT_LINE] = 2,
    [ACT_PUT_BAD_END] = 1,
    [ACT_PUT_GARBAGE] = 1,
    [ACT_PUT_BIG] = 1,
    [ACT_NONSENSE] = 1,
};

static unsigned weigh(uint8_t mine[ACT_KINDS], uint64_t *random)
{
    static const uint8_t factors[] = {0, 1, 1, 1, 1, 2, 2, 4};
    unsigned sum = 0;
    for (unsigned kind = 0; kind < ACT_KINDS; kind++) {
        unsigned factor = factors[random_below(random, sizeof factors)];
        if (kind == ACT_TURN && factor == 0)
            factor = 1;
        mine[kind] = (uint8_t)(weights[kind] * factor);
        sum += mine[kind];
    }
    return sum;
}

static uint8_t draw(const uint8_t mine[ACT_KINDS], unsigned sum,
                    uint64_t *random)
{
    unsigned at = random_below(random, sum);
    for (unsigned kind = 0;; kind++) {
        if (at < mine[kind])
            return (uint8_t)kind;
        at -= mine[kind];
    }
}

void tape_record(struct tape *tape, uint64_t seed)
{
    uint64_t random = seed;
    uint8_t mine[ACT_KINDS];
    unsigned sum = weigh(mine, &random);
    unsigned laziness = random_below(&random, 3) * 20; /* percent */
    bool is_drained = random_below(&random, 16) == 0;
    tape->clients = 1 + random_below(&random, MODEL_CLIENTS);
    tape->tubes = 1 + random_below(&random, MODEL_TUBES);
    tape->store = (enum tape_store)random_below(&random, 3);
    tape->count = TAPE_OPS >> random_below(&random, 3);
    for (unsigned i = 0; i < tape->count; i++) {
        uint64_t number = random_next(&random);
        tape->ops[i] = (struct op){
            .kind = draw(mine, sum, &random),
            .client = (uint8_t)random_below(&random, tape->clients),
            .is_lazy = random_below(&random, 100) < laziness,
            .detail = (uint32_t)number,
            .more = (uint32_t)(number >> 32),
        };
    }
    if (is_drained)
        tape->ops[random_below(&random, tape->count)].kind = ACT_DRAIN;
}

/* Choose a job: mostly one that the client holds, if there are any. */
static uint64_t choose_id(const struct op *op, const struct model *model)
{
    unsigned number = op->detail >> 8;
    unsigned held = 0;
    if (model->job_count == 0 || op->detail % 16 == 0)
        return op->detail % 32 == 0 ? model->next_id + number % 3
                                    : number % (model->next_id + 1);
    for (unsigned i = 0; i < model->job_count; i++)
        held += model->jobs[i].state == MODEL_RESERVED &&
                model->jobs[i].client == op->client;
    if (held == 0 || op->detail % 4 == 0)
        return model->jobs[number % model->job_count].id;
    held = number % held;
    for (unsigned i = 0;; i++)
        if (model->jobs[i].state == MODEL_RESERVED &&
            model->jobs[i].client == op->client && held-- == 0)
            return model->jobs[i].id;
}

/* Choose a time that is not before now. */
static uint64_t choose_time(const struct op *op, const struct model *model,
                            uint64_t engine_next)
{
    uint64_t next = model_next(model);
    uint64_t time = model->now;
    switch (op->detail % 16) {
    case 0:
        time += op->more % 1000;
        break;
    case 1:
        time += op->more % 1000000;
        break;
    case 2:
    case 3:
        time += op->more; /* up to 4.3 s */
        break;
    case 4:
    case 5:
    case 6:
        time = next;
        break;
    case 7:
        time = next - 1;
        break;
    case 8:
        time = engine_next;
        break;
    case 9:
        time = engine_next - 1;
        break;
    case 10:
        time += op->more * UINT64_C(30); /* up to 129 s */
        break;
    default:
        time += (op->more % 4) * MODEL_SECOND;
    }
    if (op->detail & 256)
        time = time / TKD_TICK_NS * TKD_TICK_NS;
    bool is_there = time < TKD_NEVER / 2;
    return is_there && time > model->now ? time : model->now;
}

struct act op_resolve(const struct op *op, const struct tape *tape,
                      const struct model *model, uint64_t next)
{
    static const uint32_t priorities[] = {0, 0,    1,    1,
                                          2, 1023, 1024, 4294967295};
    static const uint32_t delays[] = {0, 0, 0, 1, 1, 2, 3, 60};
    static const uint32_t ttrs[] = {0, 1, 1, 2, 3, 5, 60, 4294967295};
    struct act act = {.kind = op->kind, .client = op->client};
    act.tube = (uint8_t)(op->more % tape->tubes);
    act.seed = (uint8_t)op->more;
    act.pri = priorities[op->more >> 4 & 7];
    act.delay = delays[op->more >> 8 & 7];
    act.ttr = ttrs[op->more >> 12 & 7];
    act.body_size = (uint16_t)(op->detail >> 16) % 8;
    if (op->detail % 64 == 0)
        act.body_size = (uint16_t)(op->detail >> 16) % (MODEL_BODY_MAX + 1);
    if (op->kind == ACT_TURN)
        act.time = choose_time(op, model, next);
    else if (op->kind == TKD_KICK)
        act.id = op->detail & 1 ? 1 + (op->detail >> 8) % 6 : op->detail >> 24;
    else
        act.id = choose_id(op, model);
    return act;
}
