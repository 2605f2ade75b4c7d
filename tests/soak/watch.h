/*
 * watch.h - what all parts of the soak test share: what to do when something is
 * not as promised, and who looks whether everybody gets on.
 */
#ifndef SOAK_WATCH_H
#define SOAK_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SOAK_IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SOAK_IS_SANITIZED 1
#endif
#endif
#ifndef SOAK_IS_SANITIZED
#define SOAK_IS_SANITIZED 0
#endif

/* Print what is wrong, with the seed, and end the program.  The first one
 * only. */
_Noreturn __attribute__((format(printf, 1, 2))) void
violated(const char *format, ...);

#define DEMAND(is_so, ...)         \
    do {                           \
        if (!(is_so))              \
            violated(__VA_ARGS__); \
    } while (0)

/* Where a thread is, for the watchdog.  One that waits for others on purpose
 * is not looked at. */
struct station {
    const char *name;
    _Atomic(const char *) where;
    atomic_uint_fast64_t beats;
    atomic_bool is_waiting;
    uint64_t beats_seen; /* the watchdog's */
    uint64_t still_ns;
};

static inline void station_at(struct station *station, const char *where)
{
    atomic_store_explicit(&station->where, where, memory_order_relaxed);
    atomic_fetch_add_explicit(&station->beats, 1, memory_order_relaxed);
}

/* Watch these from now on; `tell` prints what else may be of use. */
void watch_start(struct station *stations, unsigned count, uint64_t seed,
                 void (*print)(void));
void watch_stop(void);

/* The time that never steps. */
uint64_t monotonic_ns(void);
void sleep_ns(uint64_t ns);

#endif
