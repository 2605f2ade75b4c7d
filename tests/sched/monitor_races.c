/*
 * monitor_races.c - scenarios: a key that is touched in time is never handed
 * out, one that goes silent is, once for each time it was added, and whoever is
 * added with a shorter limit is found in time.
 */
#include "purgatory_races.h"

#include "monitor_scene.h"

/* 0: it was held, and is; 1: it was handed out, and is held anew. */
void touch_against_silence(void)
{
    struct key_log *key = one_silent((struct post_config){0});
    post_race(run_due, touch_0);
    sched_require(key->handed_out == (unsigned)key->answer);
    sched_require(post_holds(0));
    post_check();
    post_turn(POST_LIMIT - 1);
    scene_settle();
    sched_require(post_holds(0));
    post_end_silent();
}

/* It was touched in time, so the look finds nothing. */
void touch_in_time_against_a_look(void)
{
    post_open((struct post_config){0});
    struct key_log *key = touch(0);
    post_turn(SCENE_TICK);
    touch(0);
    post_turn(SCENE_TICK);
    post_race(run_due, touch_0);
    sched_require(key->answer == 0);
    sched_require(key->handed_out == 0);
    post_turn(POST_LIMIT - 1);
    scene_settle();
    sched_require(key->handed_out == 0);
    post_end_silent();
}

void touch_against_the_driver(void)
{
    post_open((struct post_config){.has_driver = true});
    struct key_log *key = touch(0);
    scene_settle();
    unsigned other = sched_spawn(touch_0, NULL);
    post_turn(POST_LIMIT);
    sched_join(other);
    scene_settle();
    sched_require(key->handed_out <= key->added);
    post_end_silent();
}

void two_touch_against_silence(void)
{
    struct key_log *key = one_silent((struct post_config){0});
    unsigned others[] = {sched_spawn(touch_0, NULL),
                         sched_spawn(touch_0, NULL)};
    run_due(NULL);
    sched_join(others[0]);
    sched_join(others[1]);
    sched_require(key->added == 1 + key->handed_out);
    sched_require(post_holds(0));
    post_end_silent();
}

static void touch_inside(unsigned number)
{
    touch(number);
}

/* One of them adds it again. */
void touch_inside_against_touch(void)
{
    struct key_log *key = one_silent((struct post_config){0});
    key->in_silence = touch_inside;
    post_race(run_due, touch_0);
    key->in_silence = NULL;
    sched_require(key->added == 1 + key->handed_out);
    sched_require(post_holds(0));
    post_end_silent();
}

/* Who was forgotten is not heard of; who was not, is. */
void forget_against_silence(void)
{
    struct key_log *key = one_silent((struct post_config){0});
    post_race(run_due, forget_0);
    sched_require(key->handed_out + key->forgotten == 1);
    sched_require(!post_holds(0));
    post_end();
}

void forget_against_the_driver(void)
{
    post_open((struct post_config){.has_driver = true});
    struct key_log *key = touch(0);
    scene_settle();
    unsigned other = sched_spawn(forget_0, NULL);
    post_turn(POST_LIMIT);
    sched_join(other);
    scene_settle();
    sched_require(key->handed_out + key->forgotten == 1);
    post_end();
}

static void silence_against_touch_and_forget(struct post_config config)
{
    struct key_log *key = one_silent(config);
    unsigned others[] = {sched_spawn(touch_0, NULL),
                         sched_spawn(forget_0, NULL)};
    run_due(NULL);
    sched_join(others[0]);
    sched_join(others[1]);
    sched_require(key->added <= 2);
    post_end_silent();
}

void forget_against_touch(void)
{
    silence_against_touch_and_forget((struct post_config){0});
}

/* Key 0's timer comes round, and is filed again; key 1 goes silent before
 * that. */
static struct key_log *one_to_be_filed_again(struct post_config config)
{
    post_open(config);
    touch(0);
    if (config.has_driver)
        scene_settle();
    post_turn(POST_LIMIT - 1);
    touch(0);
    post_turn(1);
    return &post.keys[1];
}

/* A tick after it was added it is there, and not before. */
static void expect_after_a_tick(const struct key_log *key)
{
    scene_settle();
    sched_require(key->answer == 1);
    sched_require(key->handed_out == 0);
    post_turn(SCENE_TICK);
    scene_settle();
    sched_require(key->handed_out == 1);
}

/* The look says when the next will be; who is added meanwhile knows better. */
void add_sooner_against_a_look(void)
{
    struct key_log *key = one_to_be_filed_again((struct post_config){0});
    post_race(run_due, touch_1_for_a_tick);
    expect_after_a_tick(key);
    post_end_silent();
}

void add_sooner_against_the_driver(void)
{
    struct key_log *key =
        one_to_be_filed_again((struct post_config){.has_driver = true});
    touch_1_for_a_tick(NULL);
    expect_after_a_tick(key);
    post_end_silent();
}

/* The last key goes, and with it the reason to look; the next one comes. */
void add_against_the_last_going(void)
{
    struct key_log *key = one_silent((struct post_config){0});
    post_race(run_due, touch_1_for_a_tick);
    sched_require(key->handed_out == 1);
    expect_after_a_tick(&post.keys[1]);
    post_end();
}

/* With a driver that falls asleep meanwhile. */
void add_against_the_driver(void)
{
    post_open((struct post_config){.has_driver = true});
    touch(0);
    scene_settle();
    unsigned other = sched_spawn(touch_1, NULL);
    post_turn(POST_LIMIT);
    sched_join(other);
    scene_settle();
    sched_require(post.keys[0].handed_out == 1);
    post_end_silent();
}

/* Both are found, each in time. */
void two_add_against_each_other(void)
{
    post_open((struct post_config){0});
    post_race(touch_0, touch_1_for_a_tick);
    sched_require(post.keys[0].answer == 1);
    expect_after_a_tick(&post.keys[1]);
    sched_require(post.keys[0].handed_out == 0);
    post_end_silent();
}

/* A key that is held gets a shorter limit while its timer is filed again. */
void shorten_against_a_look(void)
{
    one_to_be_filed_again((struct post_config){0});
    struct key_log *key = &post.keys[0];
    post_race(run_due, touch_0_for_a_tick);
    sched_require(key->answer == 0);
    scene_settle();
    sched_require(key->handed_out == 0);
    post_turn(SCENE_TICK);
    scene_settle();
    sched_require(key->handed_out == 1);
    post_end();
}

/* Refused is only who is one too many; keys are in two shards. */
void limit_against_two_adding(void)
{
    post_open((struct post_config){.shards = 2, .keys_max = 1});
    post_race(touch_0, touch_1);
    int first = post.keys[0].answer, second = post.keys[1].answer;
    sched_require(first == 1 || first == -EAGAIN);
    sched_require(second == 1 || second == -EAGAIN);
    sched_require(first == 1 || second == 1);
    sched_require(first != 1 || second != 1);
    post_end_silent();
}

/* The only key there may be is never refused: it was held, or is gone. */
void limit_against_silence(void)
{
    struct key_log *key = one_silent((struct post_config){.keys_max = 1});
    post_race(run_due, touch_0);
    sched_require(key->answer == 0 || key->answer == 1);
    sched_require(post_holds(0));
    post_end_silent();
}

/* The same of one that is being forgotten. */
void limit_against_forget(void)
{
    post_open((struct post_config){.keys_max = 1});
    struct key_log *key = touch(0);
    post_race(forget_0, touch_0);
    sched_require(key->answer == 0 || key->answer == 1);
    sched_require(key->forgotten == 1);
    post_end_silent();
}

static void forget_and_touch_0(void *unused)
{
    forget_0(unused);
    touch(0);
}

/* Who is refused takes no room, not for a moment. */
void limit_against_refusing(void)
{
    post_open((struct post_config){.keys_max = 1, .shards = 2});
    touch(0);
    post_race(forget_and_touch_0, touch_1);
    sched_require(post_holds(0) != post_holds(1));
    sched_require((post.keys[0].answer == 1) != (post.keys[1].answer == 1));
    post_end_silent();
}

/* A key that is added again, and forgotten, is not the one that is being handed
 * out, though it has the same bytes. */
void bytes_against_touch_and_forget(void)
{
    silence_against_touch_and_forget((struct post_config){.has_texts = true});
}

static void meet(void *context, const struct tkw_idle_key *silent, size_t count)
{
    unsigned *met = context;
    SYNC_POINT();
    for (size_t i = 0; i < count; i++)
        met[post_number(silent[i].key)]++;
}

/* The bytes of keys stay good while they are told, whatever becomes of the
 * keys. */
static void walk(void *unused)
{
    unsigned met[POST_KEYS] = {0};
    (void)unused;
    tkw_monitor_walk(post.monitor, meet, met);
    sched_require(met[0] <= 1);
    sched_require(met[1] == 1);
}

/* Key 1 is held for long, key 0 has gone silent. */
static struct key_log *one_silent_of_two(void)
{
    post_open((struct post_config){.has_texts = true});
    sched_require(touch(0)->answer == 1);
    sched_require(touch_limit(1, TKW_NO_LIMIT)->answer == 1);
    post_turn(POST_LIMIT + SCENE_TICK);
    return &post.keys[0];
}

void walk_against_silence(void)
{
    struct key_log *key = one_silent_of_two();
    post_race(run_due, walk);
    sched_require(key->handed_out == 1);
    post_end();
}

void walk_against_forget(void)
{
    struct key_log *key = one_silent_of_two();
    post_race(forget_0, walk);
    sched_require(key->forgotten == 1);
    post_end();
}

/* What one walk keeps, another must not free. */
void walk_against_walk_and_forget(void)
{
    struct key_log *key = one_silent_of_two();
    unsigned others[] = {sched_spawn(walk, NULL), sched_spawn(forget_0, NULL)};
    walk(NULL);
    sched_join(others[0]);
    sched_join(others[1]);
    sched_require(key->forgotten == 1);
    post_end();
}

/* When it returns nothing is being handed out, or ever will be. */
void close_against_silence(void)
{
    one_silent((struct post_config){0});
    unsigned other = sched_spawn(run_due, NULL);
    post_close_monitor();
    sched_join(other);
    scene_close();
}

void close_against_the_monitors_driver(void)
{
    post_open((struct post_config){.has_driver = true, .shards = 2});
    touch(0);
    touch(1);
    scene_settle();
    post_turn(POST_LIMIT);
    post_close_monitor();
    scene_settle();
    scene_close();
}

static void close_inside(unsigned number)
{
    (void)number;
    sched_require(tkw_monitor_close(post.monitor) == -EDEADLK);
}

/* Refused inside, and nothing has changed. */
void close_inside_on_silent(void)
{
    struct key_log *key = one_silent((struct post_config){0});
    key->in_silence = close_inside;
    post_race(run_due, touch_1);
    sched_require(key->handed_out == 1);
    post_end_silent();
}

static void stop_it(void *unused)
{
    (void)unused;
    tkw_service_stop(scene.service);
}

/* A key that is refused is not held; one that is will never be handed out. */
void stop_against_add(void)
{
    post_open((struct post_config){0});
    post_race(touch_0, stop_it);
    int answer = post.keys[0].answer;
    sched_require(answer == 1 || answer == -ESHUTDOWN);
    sched_require(post_holds(0) == (answer == 1));
    sched_require(touch(1)->answer == -ESHUTDOWN || answer == 1);
    post_end();
}
