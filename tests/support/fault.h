/*
 * support/fault.h - asserting that a broken invariant is found, and how it is
 * described.
 */
#ifndef TESTS_SUPPORT_FAULT_H
#define TESTS_SUPPORT_FAULT_H

#include <inttypes.h>

#include <tickwheel/base.h>

/*
 * Fail unless tkw_fault_describe() writes the text that the format and its
 * arguments make, as printf() would.  `file` and `line` are named if it fails.
 */
__attribute__((format(printf, 4, 5))) void
assert_fault_at(const char *file, int line, const struct tkw_fault *fault,
                const char *format, ...);

#define ASSERT_FAULT(fault, ...) \
    assert_fault_at(__FILE__, __LINE__, fault, __VA_ARGS__)

/*
 * Assert that an object is broken, and that its fault is described by a format
 * and its arguments.  `kind` is what stands in tkw_KIND_find_fault().
 */
#define ASSERT_BROKEN(kind, object, ...)                            \
    do {                                                            \
        struct tkw_fault found_fault;                               \
        assert_true(tkw_##kind##_find_fault(object, &found_fault)); \
        ASSERT_FAULT(&found_fault, __VA_ARGS__);                    \
        assert_false(tkw_##kind##_check(object));                   \
    } while (0)

/* Set a field to a wrong value, assert that the object is broken, restore the
 * field, and assert that the object is sound. */
#define ASSERT_SEEN_BY(kind, object, field, wrong, ...) \
    do {                                                \
        __typeof__(field) right = (field);              \
        (field) = (wrong);                              \
        ASSERT_BROKEN(kind, object, __VA_ARGS__);       \
        (field) = right;                                \
        assert_true(tkw_##kind##_check(object));        \
    } while (0)

#endif
