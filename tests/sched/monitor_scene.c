/*
 * monitor_scene.c - the monitor that scenarios race on.
 */
#include "monitor_scene.h"

#include <string.h>

#include "service/private.h"

struct post post;

static const char *const texts[POST_KEYS] = {"nobody", "somebody"};

struct tkw_key post_key(unsigned number)
{
    return post.has_texts ? tkw_key_text(texts[number])
                          : tkw_key_number(number);
}

unsigned post_number(struct tkw_key key)
{
    if (!post.has_texts) {
        sched_require(key.bytes == NULL);
        sched_require(key.number < POST_KEYS);
        return (unsigned)key.number;
    }
    for (unsigned i = 0; i < POST_KEYS; i++)
        if (key.number == strlen(texts[i]) &&
            memcmp(key.bytes, texts[i], (size_t)key.number) == 0)
            return i;
    sched_fail(__FILE__, __LINE__, "the bytes of a key");
}

/* Touches that have been answered are known to the adding that is handed out,
 * if that is the last one and no other is under way. */
static void note_silence(const struct tkw_idle_key *silent)
{
    unsigned number = post_number(silent->key);
    struct key_log *key = &post.keys[number];
    key->handed_out++;
    sched_require(post.now >= silent->last_ns + silent->limit_ns);
    if (key->touching == 0 && key->handed_out == key->added)
        sched_require(silent->last_ns >= key->touched_ns);
    if (key->in_silence != NULL)
        key->in_silence(number);
}

static void on_silent(void *context, const struct tkw_idle_key *silent,
                      size_t count)
{
    sched_require(context == &post);
    sched_require(count > 0);
    sched_require(!post.is_closed);
    sched_require(!post.is_inside);
    post.is_inside = true;
    SYNC_POINT(); /* it takes a while */
    for (size_t i = 0; i < count; i++)
        note_silence(&silent[i]);
    post.is_inside = false;
}

void post_open(struct post_config config)
{
    scene_open((struct scene_config){.has_no_driver = !config.has_driver});
    post = (struct post){.has_texts = config.has_texts};
    struct tkw_monitor_config of_monitor = {
        .idle = {.limit_ns = POST_LIMIT,
                 .tick_ns = SCENE_TICK,
                 .keys_max = config.keys_max,
                 .geometry = {.sizes = {4}, .beyond = TKW_ROUNDS},
                 .allocator = &scene.service->allocator,
                 .secret = {22, 2}},
        .on_silent = on_silent,
        .context = &post,
        .shards = config.shards != 0 ? config.shards : 1,
    };
    sched_require(tkw_monitor_open(&post.monitor, scene.service, &of_monitor) ==
                  0);
}

void post_turn(uint64_t ns)
{
    post.now += ns;
    tkw_manual_clock_advance(scene.manual, ns);
    post.shown = post.now;
}

static struct key_log *begin_touch(unsigned number)
{
    post.keys[number].touching++;
    return &post.keys[number];
}

static void end_touch(struct key_log *key, uint64_t begin_ns, int answer)
{
    key->touching--;
    key->answer = answer;
    key->added += answer == 1;
    if (answer >= 0 && key->touched_ns < begin_ns)
        key->touched_ns = begin_ns;
}

struct key_log *touch(unsigned number)
{
    struct key_log *key = begin_touch(number);
    uint64_t now = post.shown;
    end_touch(key, now, tkw_monitor_touch(post.monitor, post_key(number)));
    return key;
}

struct key_log *touch_limit(unsigned number, uint64_t limit_ns)
{
    struct key_log *key = begin_touch(number);
    uint64_t now = post.shown;
    end_touch(
        key, now,
        tkw_monitor_touch_limit(post.monitor, post_key(number), limit_ns));
    return key;
}

bool post_holds(unsigned number)
{
    return tkw_monitor_query(post.monitor, post_key(number), NULL);
}

void touch_0(void *unused)
{
    (void)unused;
    touch(0);
}

void touch_1(void *unused)
{
    (void)unused;
    touch(1);
}

void touch_1_for_a_tick(void *unused)
{
    (void)unused;
    touch_limit(1, SCENE_TICK);
}

void touch_0_for_a_tick(void *unused)
{
    (void)unused;
    touch_limit(0, SCENE_TICK);
}

void forget_0(void *unused)
{
    struct key_log *key = &post.keys[0];
    (void)unused;
    key->forgotten += tkw_monitor_forget(post.monitor, post_key(0));
}

void run_due(void *unused)
{
    (void)unused;
    sched_require(tkw_service_run(scene.service, 0) >= 0);
}

void post_check(void)
{
    struct tkw_idle_stats stats = tkw_monitor_read_stats(post.monitor);
    uint64_t added = 0, handed_out = 0, forgotten = 0;
    for (unsigned i = 0; i < POST_KEYS; i++) {
        const struct key_log *key = &post.keys[i];
        sched_require(key->added ==
                      key->handed_out + key->forgotten + post_holds(i));
        added += key->added;
        handed_out += key->handed_out;
        forgotten += key->forgotten;
    }
    sched_require(stats.added == added);
    sched_require(stats.silent == handed_out);
    sched_require(stats.forgotten == forgotten);
    sched_require(stats.keys == added - handed_out - forgotten);
    sched_require(tkw_monitor_count(post.monitor) == stats.keys);
}

void post_close_monitor(void)
{
    sched_require(tkw_monitor_close(post.monitor) == 0);
    sched_require(!post.is_inside);
    post.is_closed = true;
    sched_require(tkw_service_count(scene.service) == 0);
}

void post_end(void)
{
    post_check();
    post_close_monitor();
    scene_close();
}

void post_end_silent(void)
{
    post_check();
    post_turn(POST_LIMIT + SCENE_TICK);
    scene_settle();
    sched_require(tkw_monitor_count(post.monitor) == 0);
    post_end();
}

struct key_log *one_silent(struct post_config config)
{
    post_open(config);
    struct key_log *key = touch(0);
    sched_require(key->answer == 1);
    post_turn(POST_LIMIT + SCENE_TICK);
    return key;
}

void post_race(void (*first)(void *), void (*second)(void *))
{
    unsigned other = sched_spawn(second, NULL);
    first(NULL);
    sched_join(other);
}
