/*
 * version.h - which tickwheel this is.
 *
 *     printf("compiled for %s, running %s\n", TKW_VERSION, tkw_version());
 *
 * Versions are semantic.  Until 1.0 a new minor version may change the
 * interface, and is another library to the linker (libtickwheel.so.0.10); from
 * 1.0 on only a new major version may.  A patch changes neither.
 *
 * Threads: *any thread*.
 */
#ifndef TICKWHEEL_VERSION_H
#define TICKWHEEL_VERSION_H

#include <tickwheel/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is compiled against. */
#define TKW_VERSION_MAJOR 0
#define TKW_VERSION_MINOR 10
#define TKW_VERSION_PATCH 0
#define TKW_VERSION "0.10.0"

/* What is being run, as TKW_VERSION is written.  A later patch may take the
 * place of what was compiled against. */
TKW_EXPORT const char *tkw_version(void);

#ifdef __cplusplus
}
#endif

#endif
