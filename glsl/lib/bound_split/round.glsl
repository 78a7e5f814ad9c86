// The state of a round of bound/split.

#ifndef ROUND_GLSL
#define ROUND_GLSL

#define ROUND_MEMBERS                                                                       \
    uint round_count;            /* subpatches in the list */                               \
    uint round_splits;           /* of them to be split, so far */                          \
    uint round_dropped;          /* lost at the eye plane, in all rounds */                 \
    uint round_dropped_instance; /* one of those they belong to */                          \
    uint round_needed;           /* longest list that any round asked for */                \
    uint round_last_splits;      /* splits of the round before; 0: the list is final */     \
    uint round_open;             /* subpatches of the list that are no grids yet */         \
    uint round_next_open;        /* of the next list, so far */

#endif
