/* Calls the rows of a table, some to warm up and some that count. */
#define ROW static __attribute__((noinline))

/* As in pair.rs. */
enum { WARM_UP = 150, COUNTED = 512 };

/* What is done before a message, its send, and its receive. Each may be none. */
typedef void (*const turn_rows[3])(void);

/* Whether the send and the receive need further steps, which are further calls. */
static int under_way[2];

static inline __attribute__((always_inline)) void begin(turn_rows row)
{
    for (int step = 0; step < 3; step++)
        if (row[step])
            row[step]();
}

static inline __attribute__((always_inline)) void step(turn_rows row)
{
    for (int end = 0; end < 2; end++)
        if (under_way[end])
            row[1 + end]();
}

static __attribute__((noinline)) void warm_up(turn_rows row, int turns)
{
    for (int turn = 0; turn < turns; turn++) {
        begin(row);
        while (under_way[0] || under_way[1])
            step(row);
    }
}

/* What is called from here are further steps of what counts: see callgrind.rs. */
static __attribute__((noinline)) void go_on(turn_rows row)
{
    while (under_way[0] || under_way[1])
        step(row);
}

/* What is called from here counts: see callgrind.rs. */
static __attribute__((noinline)) void count(turn_rows row, int turns)
{
    for (int turn = 0; turn < turns; turn++) {
        begin(row);
        go_on(row);
    }
}
