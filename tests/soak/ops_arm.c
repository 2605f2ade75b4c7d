/*
 * ops_arm.c - arming, in all ways.
 */
#define _GNU_SOURCE

#include "ops.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "watch.h"

enum { MANY = 16 };

/* Mostly within a quarter of a second, so that much is due in a round; some so
 * late that they are handed back; some never. */
static uint64_t random_delay(struct random *random)
{
    switch (random_below(random, 32)) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX - random_log(random, 20);
    case 2:
        return random_log(random, 45);
    default:
        return random_log(random, 28);
    }
}

static enum tkw_executor pick_executor(struct scene *scene,
                                       struct random *random, unsigned group)
{
    if (group == 1)
        return TKW_ON_DRIVER;
    switch (random_below(random, 6)) {
    case 0:
        return TKW_ON_DRIVER;
    case 1:
        return scene->config.workers != 0 ? TKW_ON_WORKERS : TKW_ANYWHERE;
    case 2:
        return scene->config.submit != NULL ? TKW_BY_SUBMIT : TKW_ANYWHERE;
    default:
        return TKW_ANYWHERE;
    }
}

/* Where it will run. */
static enum tkw_executor place_of(const struct scene *scene,
                                  enum tkw_executor executor)
{
    if (executor == TKW_ANYWHERE)
        executor = scene->config.executor;
    if (executor != TKW_ANYWHERE)
        return executor;
    if (scene->config.submit != NULL)
        return TKW_BY_SUBMIT;
    return scene->config.workers != 0 ? TKW_ON_WORKERS : TKW_ON_DRIVER;
}

static void plan_repeating(struct probe *probe, struct tkw_plan *plan,
                           struct random *random)
{
    probe->repeats = true;
    probe->has_drop = true;
    probe->lives = 1 + random_below(random, 20);
    if (random_percent(random, 30)) {
        plan->next = probe_next;
        return;
    }
    plan->period_ns = TKW_MILLISECOND / 2 + random_log(random, 26);
    plan->missed = (enum tkw_missed)random_below(random, 3);
    probe->period_ns = plan->period_ns;
}

/* A probe that nobody has used in this round. */
static struct probe *claim(struct scene *scene, unsigned count)
{
    if (atomic_load(&scene->claimed) > scene->room)
        return NULL; /* so that it does not wrap */
    unsigned at = atomic_fetch_add(&scene->claimed, count);
    return at + count <= scene->room ? &scene->probes[at] : NULL;
}

/* Before a call of the service: what `when_ns` will mean at the earliest. */
static void plan_when(struct probe *probe, struct tkw_plan *plan,
                      struct random *random)
{
    struct scene *scene = probe->scene;
    uint64_t delay = random_delay(random);
    uint64_t now = tkw_service_now(scene->service);
    uint64_t then = delay < UINT64_MAX - now ? now + delay : UINT64_MAX;
    if (random_percent(random, 30)) {
        plan->is_time = true;
        if (random_percent(random, 5)) /* or a while ago */
            then = now - random_log(random, 25);
        plan->when_ns = then;
        atomic_store(&probe->floor, then);
    } else {
        plan->when_ns = delay;
        /* A wall clock may be set back before it is read for this. */
        atomic_store(&probe->floor, scene->is_on_wall ? 0 : then);
    }
}

static void plan_probe(struct probe *probe, struct tkw_plan *plan,
                       struct random *random, unsigned group)
{
    struct scene *scene = probe->scene;
    *plan = (struct tkw_plan){
        .executor = pick_executor(scene, random, group),
        .task = {probe_call, probe, NULL},
    };
    probe->group = group;
    probe->executor = place_of(scene, plan->executor);
    probe->mover = (enum mover)random_below(random, 3);
    probe->lives = 1 + random_below(random, 6);
    probe->has_drop = group != 0 || probe->mover != MOVED_BY_POSTPONING ||
                      random_percent(random, 50);
    if (random_percent(random, 15))
        plan->jitter_ns = random_log(random, 24);
    if (random_percent(random, 15))
        plan->slack_ns = random_log(random, 24);
    if (random_percent(random, 15) &&
        atomic_load(&scene->repeating) < REPEATING_MAX)
        plan_repeating(probe, plan, random);
    if (probe->has_drop)
        plan->task.drop = probe_drop;
    if (group >= 1 && group <= OWNERS)
        plan->owner = &scene->owners[group - 1];
    if (probe->repeats)
        atomic_fetch_add(&scene->repeating, 1);
    plan_when(probe, plan, random);
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

/* After the call: it was armed. */
static void note_armed(struct probe *probe, const struct tkw_plan *plan,
                       tkw_handle handle)
{
    struct scene *scene = probe->scene;
    DEMAND(handle != 0, "a handle of 0");
    uint64_t latest = plan->when_ns;
    if (!plan->is_time)
        latest = add(latest, tkw_service_now(scene->service));
    if (scene->is_on_wall && !plan->is_time)
        latest = UINT64_MAX;
    probe->ceiling = add(latest, add(plan->jitter_ns, plan->slack_ns));
    atomic_store(&probe->handle, handle);
    tally_add(&tally.armed, 1);
}

/* After the call: it was not.  Is there a reason? */
static void note_refusal(struct probe *probe, int answer)
{
    struct scene *scene = probe->scene;
    if (answer == -ESHUTDOWN && atomic_load(&scene->is_stopping))
        tally_add(&tally.refused_stopped, 1);
    else if (answer == -EAGAIN && scene->config.timers_max != 0)
        tally_add(&tally.refused_limit, 1);
    else if (answer == -ENOMEM && atomic_load(&scene->account.fails_each) != 0)
        tally_add(&tally.refused_memory, 1);
    else
        violated("%s: arming says %d", kind_name(scene->kind), answer);
    DEMAND(atomic_load(&probe->started) == 0, "what was refused has run");
    DEMAND(atomic_load(&probe->dropped) == 0, "what was refused was dropped");
    if (probe->repeats)
        atomic_fetch_sub(&scene->repeating, 1);
}

/* A plan that is no more than arm() or arm_at() can say goes by them. */
static int arm(struct scene *scene, tkw_handle *handle,
               const struct tkw_plan *plan)
{
    if (plan->executor != TKW_ANYWHERE || plan->period_ns != 0 ||
        plan->next != NULL || plan->jitter_ns != 0 || plan->slack_ns != 0 ||
        plan->owner != NULL)
        return tkw_service_arm_plan(scene->service, handle, plan);
    if (plan->is_time)
        return tkw_service_arm_at(scene->service, handle, plan->when_ns,
                                  plan->task);
    return tkw_service_arm(scene->service, handle, plan->when_ns, plan->task);
}

static unsigned random_group(struct random *random)
{
    return random_percent(random, 25) ? 1 + random_below(random, OWNERS) : 0;
}

void op_arm(struct scene *scene, struct random *random)
{
    struct tkw_plan plan;
    tkw_handle handle = 0;
    struct probe *probe = claim(scene, 1);
    if (probe == NULL)
        return;
    plan_probe(probe, &plan, random, random_group(random));
    bool had_stopped = atomic_load(&scene->has_stopped);
    int answer = arm(scene, &handle, &plan);
    DEMAND(!had_stopped || answer != 0, "armed after stop has returned");
    if (answer == 0)
        note_armed(probe, &plan, handle);
    else
        note_refusal(probe, answer);
}

/* Arm so many.  Returns how many were, from the first on. */
static unsigned arm_many(struct probe *probes, const struct tkw_plan *plans,
                         unsigned count)
{
    struct scene *scene = probes->scene;
    tkw_handle handles[MANY] = {0};
    bool had_stopped = atomic_load(&scene->has_stopped);
    ptrdiff_t answer =
        tkw_service_arm_many(scene->service, handles, plans, count);
    DEMAND(answer != 0 && answer <= (ptrdiff_t)count, "arm_many says %td",
           answer);
    DEMAND(!had_stopped || answer < 0, "armed after stop has returned");
    unsigned armed = answer > 0 ? (unsigned)answer : 0;
    for (unsigned i = 0; i < armed; i++)
        note_armed(&probes[i], &plans[i], handles[i]);
    if (answer < 0)
        note_refusal(&probes[0], (int)answer);
    /* Of the others it is not known why. */
    for (unsigned i = answer < 0 ? 1 : armed; i < count; i++)
        if (probes[i].repeats)
            atomic_fetch_sub(&scene->repeating, 1);
    return armed;
}

void op_arm_many(struct scene *scene, struct random *random)
{
    struct tkw_plan plans[MANY];
    unsigned count = 1 + random_below(random, MANY);
    struct probe *probes = claim(scene, count);
    if (probes == NULL)
        return;
    for (unsigned i = 0; i < count; i++)
        plan_probe(&probes[i], &plans[i], random, random_group(random));
    arm_many(probes, plans, count);
}

/*
 * Timers of an owner that nobody else knows, ended by it: what is left of them
 * is known exactly, and the owner's memory is ours again.
 */
void op_company(struct scene *scene, struct random *random)
{
    struct tkw_plan plans[MANY];
    unsigned count = 1 + random_below(random, MANY);
    struct probe *probes = claim(scene, count);
    if (probes == NULL)
        return;
    struct tkw_owner *owner = calloc(1, sizeof *owner);
    DEMAND(owner != NULL, "there is no memory");
    for (unsigned i = 0; i < count; i++) {
        plan_probe(&probes[i], &plans[i], random, OWNER_PRIVATE);
        plans[i].owner = owner;
    }
    unsigned armed = arm_many(probes, plans, count);
    if (random_percent(random, 50))
        sleep_ns(random_log(random, 22));
    bool is_sync = random_percent(random, 50);
    size_t stopped = is_sync
                         ? tkw_service_cancel_owner_sync(scene->service, owner)
                         : tkw_service_cancel_owner(scene->service, owner);
    memset(owner, 0xee, sizeof *owner);
    free(owner);
    DEMAND(stopped <= armed, "an owner of %u has had %zu stopped", armed,
           stopped);
    atomic_fetch_add(&scene->owner_stopped, stopped);
    tally_add(&tally.by_owner, stopped);
    for (unsigned i = 0; i < armed; i++)
        if (is_sync)
            probe_set_over(&probes[i]);
        else
            probe_runs_no_more(&probes[i]);
}
