/*
 * export.h - marks what the shared library offers.  Include the header of a
 * layer instead.
 *
 * Symbols are hidden unless marked, so only what carries a mark is part of the
 * binary interface.
 */
#ifndef TICKWHEEL_EXPORT_H
#define TICKWHEEL_EXPORT_H

#if defined(TKW_EXPORT)
/* As you say: where our sources are compiled with yours, to be hidden. */
#elif defined(__GNUC__)
#define TKW_EXPORT __attribute__((visibility("default")))
#else
#define TKW_EXPORT
#endif

/* Inline where that can be done; and in the library as well, for languages that
 * know nothing of headers. */
#if defined(__GNUC_GNU_INLINE__) && !defined(__cplusplus) /* of old */
#define TKW_INLINE TKW_EXPORT extern inline
#else
#define TKW_INLINE TKW_EXPORT inline
#endif

#endif
