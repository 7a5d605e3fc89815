/* Calls the rows of a table, some to warm up and some that count. */
#define ROW static __attribute__((noinline))

/* As in pair.rs. */
enum { WARM_UP = 150, COUNTED = 512 };

/* What is done before a message, its send, and its receive. Each may be none. */
typedef void (*const turn_rows[3])(void);

static __attribute__((noinline)) void warm_up(turn_rows row)
{
    for (int turn = 0; turn < WARM_UP; turn++) {
        for (int step = 0; step < 3; step++)
            if (row[step])
                row[step]();
    }
}

/* What is called from here counts: see callgrind.rs. */
static __attribute__((noinline)) void count(turn_rows row)
{
    for (int turn = 0; turn < COUNTED; turn++) {
        for (int step = 0; step < 3; step++)
            if (row[step])
                row[step]();
    }
}
