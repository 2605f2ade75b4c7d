/*
 * export.h - marks what the shared library offers.  Include the header of a
 * layer instead.
 *
 * Symbols are hidden unless marked, so only what carries a mark is part of the
 * binary interface.
 */
#ifndef TICKWHEEL_EXPORT_H
#define TICKWHEEL_EXPORT_H

#if defined(__GNUC__)
#define TKW_EXPORT __attribute__((visibility("default")))
#else
#define TKW_EXPORT
#endif

/* Inline where that can be done; and in the library as well, for languages that
 * know nothing of headers. */
#define TKW_INLINE TKW_EXPORT inline

#endif
