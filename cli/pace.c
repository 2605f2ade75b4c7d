/*
 * pace.c - from the seconds of a show to virtual time.
 */
#include "pace.h"

#include <math.h>

/* Of a burst's show: creating the tasks, waiting, and their coming due. */
static const double burst_shares[PACE_SCENES] = {0.22, 0.36, 0.42};

/* The zoom ends here: closer than this, time no longer slows down. */
static const double zoom_ms = 100;

void pace_init(struct pace *pace, const struct load *load, double seconds,
               double speed)
{
    const struct load_kind *kind = load->settings.kind;
    tkw_tick end = load->end - LOAD_START_MS;
    tkw_tick arrived = load->arrivals_end - LOAD_START_MS;
    tkw_tick delay = load->settings.delay_ms;
    bool is_even = speed >= 0 || !kind->is_burst || delay <= arrived;

    *pace = (struct pace){.is_unlimited = speed == 0};
    if (!pace->is_unlimited)
        pace->length_s = speed > 0 ? (double)end / speed / 1000 : seconds;
    tkw_tick untils[] = {arrived, delay > arrived ? delay : arrived, end};
    double share = 0;
    for (unsigned i = 0; i < PACE_SCENES; i++) {
        share =
            is_even ? (double)untils[i] / (double)end : share + burst_shares[i];
        pace->scenes[i] = (struct pace_scene){
            .until_s = share * pace->length_s,
            .until = untils[i],
            .is_zooming = i == 1 && !is_even,
            .caption = kind->captions[i],
        };
    }
}

/* Ticks into a scene `length` long, of which the share `part` has passed. */
static double ticks_into(const struct pace_scene *scene, double length,
                         double part)
{
    if (!scene->is_zooming)
        return length * part;
    return length + zoom_ms - zoom_ms * pow(1 + length / zoom_ms, 1 - part);
}

tkw_tick pace_at(const struct pace *pace, double seconds)
{
    tkw_tick end = pace->scenes[PACE_SCENES - 1].until;
    if (pace->is_unlimited || seconds >= pace->length_s)
        return end;

    double began_s = 0;
    tkw_tick began = 0;
    for (unsigned i = 0; i < PACE_SCENES; i++) {
        const struct pace_scene *scene = &pace->scenes[i];
        if (seconds < scene->until_s)
            return began + (tkw_tick)ticks_into(scene,
                                                (double)(scene->until - began),
                                                (seconds - began_s) /
                                                    (scene->until_s - began_s));
        began_s = scene->until_s;
        began = scene->until;
    }
    return end;
}

const char *pace_caption(const struct pace *pace, tkw_tick elapsed)
{
    unsigned i = 0;
    while (i + 1 < PACE_SCENES && elapsed >= pace->scenes[i].until)
        i++;
    return pace->scenes[i].caption;
}
