/* docs_guide_recipes.c - the snippets of docs/guide/recipes.md. */
#define _POSIX_C_SOURCE 200809L

#include <assert.h>
#include <poll.h>
#include <stdatomic.h>
#include <time.h>

#include "manual_clock_service.h"

#define HOUR (3600 * TKW_SECOND)

static void count(void *argument, const struct tkw_firing *firing)
{
    (void)firing;
    atomic_fetch_add((atomic_int *)argument, 1);
}

struct box {
    struct tkw_service *service;
    struct tkw_task task;
    tkw_handle search;
};

#include "docs_guide_recipes.1.1"

/* Key presses that are 200 ms apart lead to one search, 300 ms after the last
 * one; a later key press leads to a second search. */
static void searches_once_the_user_stops_typing(void)
{
    struct manual_clock_service it = manual_clock_service_open();
    atomic_int searches = 0;
    struct box box = {it.service, {count, &searches, NULL}, 0};
    for (int i = 0; i < 5; i++) {
        on_key(&box);
        must(tkw_service_count(it.service) == 1);
        manual_clock_service_advance(it, 200 * TKW_MILLISECOND);
    }
    manual_clock_service_advance(it, 99 * TKW_MILLISECOND);
    must(searches == 0);
    manual_clock_service_advance(it, TKW_MILLISECOND);
    must(searches == 1);

    on_key(&box);
    manual_clock_service_advance(it, 300 * TKW_MILLISECOND);
    must(searches == 2);
    manual_clock_service_close(it);
}

struct request {
    struct tkw_service *service;
    tkw_handle timeout;
    int retries, failures_left, sent, finished;
    uint64_t sent_ns;
};

static void finish(struct request *request)
{
    request->finished++;
}

#include "docs_guide_recipes.2.1"

static void uses_a_reply_only_before_the_timeout(void)
{
    struct manual_clock_service it = manual_clock_service_open();
    atomic_int timeouts = 0;
    struct tkw_task task = {count, &timeouts, NULL};
    struct request quick = {.service = it.service};
    struct request slow = {.service = it.service};
    must(tkw_service_arm(it.service, &quick.timeout, TKW_SECOND, task) == 0);
    must(tkw_service_arm(it.service, &slow.timeout, TKW_SECOND, task) == 0);

    on_reply(&quick);
    manual_clock_service_advance(it, TKW_SECOND);
    on_reply(&slow);
    must(timeouts == 1);
    must(quick.finished == 1);
    must(slow.finished == 0);
    manual_clock_service_close(it);
}

static bool send_request(struct request *request)
{
    request->sent++;
    request->sent_ns = tkw_service_now(request->service);
    return request->failures_left-- <= 0;
}

#include "docs_guide_recipes.3.1"

/* Advance the clock by `seconds` in steps of a second, so that no call is
 * late. */
static void pass(struct manual_clock_service it, int seconds)
{
    for (int i = 0; i < seconds; i++)
        manual_clock_service_advance(it, TKW_SECOND);
}

static void doubles_the_delay_of_each_retry(void)
{
    struct manual_clock_service it = manual_clock_service_open();
    struct request mail = {.service = it.service, .failures_left = 3};
    struct request news = {.service = it.service, .failures_left = 100};
    struct tkw_task mail_task = {attempt, &mail, NULL};
    struct tkw_task news_task = {attempt, &news, NULL};
    must(tkw_service_arm(it.service, NULL, 0, mail_task) == 0);
    must(tkw_service_arm(it.service, NULL, 0, news_task) == 0);
    manual_clock_service_advance(it, 0);

    pass(it, 100);
    must(mail.sent == 4);
    must(mail.sent_ns == (1 + 2 + 4) * TKW_SECOND);
    must(news.sent == 6);
    must(news.sent_ns == (1 + 2 + 4 + 8 + 16) * TKW_SECOND);
    must(tkw_service_count(it.service) == 0);
    manual_clock_service_close(it);
}

struct calls {
    int count;
    uint64_t now_ns, overruns; /* of the last one */
};

static void record(void *argument, const struct tkw_firing *firing)
{
    struct calls *calls = argument;
    calls->count++;
    calls->now_ns = firing->now_ns;
    calls->overruns = firing->overruns;
}

/* The call that is due at 20 s runs at 45 s.  The next one, at 50 s, reports
 * the periods of 30 s and 40 s as overruns. */
static void skips_missed_periods(void)
{
    struct manual_clock_service it = manual_clock_service_open();
    struct tkw_service *service = it.service;
    struct calls calls = {0};
    struct tkw_task task = {record, &calls, NULL};
    tkw_handle handle;

#include "docs_guide_recipes.4.1"

    pass(it, 10);
    must(calls.count == 1 && calls.overruns == 0);
    manual_clock_service_advance(it, 35 * TKW_SECOND);
    must(calls.count == 2 && calls.now_ns == 45 * TKW_SECOND);
    pass(it, 5);
    must(calls.count == 3 && calls.now_ns == 50 * TKW_SECOND);
    must(calls.overruns == 2);
    must(tkw_service_cancel(service, handle) == 1);
    manual_clock_service_close(it);
}

static void makes_a_call_each_midnight(void)
{
    struct manual_clock_service it;
    struct calls calls = {0};
    struct tkw_task task = {record, &calls, NULL};
    must(tkw_manual_clock_open(&it.manual, 1000 * HOUR) == 0); /* 16:00 */
    tkw_manual_clock_set_wall(it.manual, true);
    struct tkw_service_config config = {.clock =
                                            tkw_manual_clock_source(it.manual)};
    must(tkw_service_open(&it.service, &config) == 0);
    struct tkw_service *service = it.service;

#include "docs_guide_recipes.5.1"

    manual_clock_service_advance(it, 8 * HOUR - 1);
    must(calls.count == 0);
    manual_clock_service_advance(it, 1);
    must(calls.count == 1 && calls.now_ns == 42 * 24 * HOUR);
    manual_clock_service_advance(it, 24 * HOUR);
    must(calls.count == 2 && calls.now_ns == 43 * 24 * HOUR);
    manual_clock_service_close(it);

    /* The zero of the system's wall clock is a midnight UTC as well. */
    config = (struct tkw_service_config){.clock_kind = TKW_WALL};
    must(tkw_service_open(&service, &config) == 0);
    must(tkw_service_now(service) / TKW_SECOND - (uint64_t)time(NULL) + 5 < 10);
    must(tkw_service_close(service, NULL, NULL) == 0);
}

struct connection {
    struct tkw_owner timers;
};

static void cancels_all_timers_of_a_connection(void)
{
    struct manual_clock_service it = manual_clock_service_open();
    struct tkw_service *service = it.service;
    struct connection *connection = calloc(1, sizeof *connection);
    atomic_int calls = 0;
    struct tkw_task login = {count, &calls, NULL};
    struct tkw_task idle = {count, &calls, NULL};
    must(tkw_service_arm(service, NULL, HOUR, idle) == 0); /* of no owner */

#include "docs_guide_recipes.6.1"

    must(tkw_service_count(service) == 3);

#include "docs_guide_recipes.6.2"

    must(tkw_service_count(service) == 1);
    manual_clock_service_advance(it, HOUR);
    must(calls == 1);
    manual_clock_service_close(it);
}

static void stop_at_three(void *argument, const struct tkw_firing *firing)
{
    if (++*(int *)argument == 3)
        must(tkw_service_cancel(firing->service, firing->handle) != 1);
}

static void runs_in_a_poll_loop(void)
{
    struct tkw_service *service;
    struct tkw_service_config config = {.driver = TKW_DRIVER_NONE};
    int calls = 0;
    struct tkw_plan plan = {.task = {stop_at_three, &calls, NULL},
                            .period_ns = 2 * TKW_MILLISECOND};
    must(tkw_service_open(&service, &config) == 0);
    must(tkw_service_arm_plan(service, NULL, &plan) == 0);

#include "docs_guide_recipes.7.1"

    must(calls == 3);
    must(tkw_service_close(service, NULL, NULL) == 0);
}

struct vault {
    bool is_open;
};

static void open_vault(void *vault, const struct tkw_firing *firing)
{
    (void)firing;
    ((struct vault *)vault)->is_open = true;
}

static void tests_without_waiting(void)
{
    struct manual_clock_service it = manual_clock_service_open();
    struct tkw_manual_clock *clock = it.manual;
    struct vault vault = {false};
    struct tkw_task task = {open_vault, &vault, NULL};
    must(tkw_service_arm(it.service, NULL, HOUR, task) == 0);

#include "docs_guide_recipes.8.1"

    must(vault.is_open);
    manual_clock_service_close(it);
}

int main(void)
{
    searches_once_the_user_stops_typing();
    uses_a_reply_only_before_the_timeout();
    doubles_the_delay_of_each_retry();
    skips_missed_periods();
    makes_a_call_each_midnight();
    cancels_all_timers_of_a_connection();
    runs_in_a_poll_loop();
    tests_without_waiting();
    return 0;
}
