/* Calls the rows of a table, some to warm up and some that count. */
#define ROW static __attribute__((noinline))

/* As in pair.rs. */
enum { WARM_UP = 150, COUNTED = 512 };

/* A send, and the receive of what was sent. */
typedef void (*const turn_rows[2])(void);

static __attribute__((noinline)) void warm_up(turn_rows row)
{
    for (int turn = 0; turn < WARM_UP; turn++) {
        row[0]();
        row[1]();
    }
}

/* What is called from here counts: see callgrind.rs. */
static __attribute__((noinline)) void count(turn_rows row)
{
    for (int turn = 0; turn < COUNTED; turn++) {
        row[0]();
        row[1]();
    }
}
