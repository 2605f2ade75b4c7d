/*
 * os/probes.h - where tracers can look into a running service.
 *
 * Where the system has <sys/sdt.h> each of these is a place in the program that
 * a tracer knows by name: a single instruction that does nothing, until one is
 * attached.  Elsewhere they are nothing at all.
 *
 *     arm      service, handle, due_ns
 *     cancel   service, handle            it was pending, and is stopped
 *     fire     service, handle, callback, ns late
 *     done     service, handle, callback, ns taken
 *     sleep    service, until_ns          the driver goes to sleep
 *     wake     service                    and is awake again
 *     full     service, thread count      a crew has no room
 *
 * docs/guide/observing.md shows how to use them.
 */
#ifndef TKW_OS_PROBES_H
#define TKW_OS_PROBES_H

#if defined(__has_include) && !defined(TKW_NO_PROBES)
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>

/* Clang finds fault with what the system's macros expand to. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#endif

#define PROBE1(name, a) DTRACE_PROBE1(tickwheel, name, a)
#define PROBE2(name, a, b) DTRACE_PROBE2(tickwheel, name, a, b)
#define PROBE3(name, a, b, c) DTRACE_PROBE3(tickwheel, name, a, b, c)
#define PROBE4(name, a, b, c, d) DTRACE_PROBE4(tickwheel, name, a, b, c, d)
#endif
#endif

#ifndef PROBE1
#define PROBE1(name, a) ((void)0)
#define PROBE2(name, a, b) ((void)0)
#define PROBE3(name, a, b, c) ((void)0)
#define PROBE4(name, a, b, c, d) ((void)0)
#endif

#endif
