/*
 * os/probes.h - tracepoints of a running service.
 *
 * Where the system has <sys/sdt.h>, each probe is a place in the program that a
 * tracer knows by name: a single instruction that does nothing until a tracer
 * is attached.  Elsewhere a probe compiles to nothing.
 *
 *     arm      service, handle, due_ns
 *     cancel   service, handle            it was pending
 *     fire     service, handle, callback, ns late
 *     done     service, handle, callback, ns taken
 *     sleep    service, until_ns          the driver begins to wait
 *     wake     service                    its wait has ended
 *     full     service, thread count      a crew has no room
 *
 * docs/guide/observing.md shows how to use them.
 */
#ifndef TKW_OS_PROBES_H
#define TKW_OS_PROBES_H

#if defined(__has_include) && !defined(TKW_NO_PROBES)
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>

/* Clang warns about the expansion of the system's macros. */
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
