/* Rows around a ring of nodes by one chain: block-stride copies from device to device, and a word behind them.
 *
 *     cc -Iinclude examples/c/tca_ring.c -o tca_ring -Ltarget/release -lhostwire_tca
 *     hostwire run -n 4 ./tca_ring
 */
#include <hostwire_tca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 300, BLOCK = 64, PITCH = 2 * BLOCK, STEPS = 3 };

static void check(tcaError status, const char *what)
{
    if (status != tcaSuccess) {
        fprintf(stderr, "node %d: %s: %s\n", tcaNode(), what, tcaGetErrorString());
        exit(1);
    }
}

int main(void)
{
    check(tcaInit(0), "tcaInit");
    int node = tcaNode(), nodes = tcaNodes();
    int device = tcaDevices() > 0 ? 0 : TCA_HOST;
    int left = (node + nodes - 1) % nodes, right = (node + 1) % nodes;

    /* A field of rows: the own block of each, and behind it room for that of the right neighbour. */
    tcaAddress field, words;
    check(tcaMalloc(&field, device, ROWS * PITCH, 64), "tcaMalloc");
    check(tcaMalloc(&words, TCA_HOST, 64, 64), "tcaMalloc");
    tcaAddress *fields = calloc(nodes, sizeof *fields), *flags = calloc(nodes, sizeof *flags);
    check(tcaExchange(&field, fields, sizeof field), "tcaExchange");
    check(tcaExchange(&words, flags, sizeof words), "tcaExchange");

    tcaStream stream;
    tcaChain chain;
    check(tcaStreamCreate(&stream), "tcaStreamCreate");
    check(tcaChainCreate(&chain), "tcaChainCreate");
    check(tcaChainStride(chain, fields[left] + BLOCK, left, device, PITCH, field, device, PITCH, BLOCK, ROWS),
          "tcaChainStride");
    check(tcaChainPrepare(chain), "tcaChainPrepare");

    unsigned char block[BLOCK];
    for (int step = 1; step <= STEPS; step++) {
        for (int row = 0; row < ROWS; row++) {
            memset(block, node * 50 + step * 10 + row % 10, BLOCK);
            check(tcaWrite(field + row * PITCH, device, block, BLOCK), "tcaWrite");
        }
        check(tcaChainStart(chain, stream), "tcaChainStart");
        check(tcaSignalAsync(flags[left], left, step, stream), "tcaSignalAsync");
        check(tcaWait(words, step), "tcaWait");
        for (int row = 0; row < ROWS; row++) {
            check(tcaRead(block, field + row * PITCH + BLOCK, device, BLOCK), "tcaRead");
            unsigned char expected = right * 50 + step * 10 + row % 10;
            for (int at = 0; at < BLOCK; at++)
                if (block[at] != expected) {
                    fprintf(stderr, "node %d: row %d: expected %d, got %d\n", node, row, expected, block[at]);
                    return 1;
                }
        }
        check(tcaStreamSynchronize(stream), "tcaStreamSynchronize");
        check(tcaBarrier(), "tcaBarrier");
    }

    /* A misuse is an error with a text. */
    if (tcaMemcpyPeer(field, nodes, device, field, device, 1) != tcaErrorCaller ||
        tcaMemcpyPeer(fields[right], right, device, field, device, ROWS * PITCH + 1) != tcaErrorCaller ||
        tcaHostPointer(words) == NULL || tcaFree(field + 1, device) != tcaErrorCaller ||
        tcaFinalize() != tcaErrorCaller) {
        fprintf(stderr, "node %d: a mistake was not seen\n", node);
        return 1;
    }
    check(tcaStreamQuery(NULL), "tcaStreamQuery");
    check(tcaChainDestroy(chain), "tcaChainDestroy");
    check(tcaStreamDestroy(stream), "tcaStreamDestroy");
    check(tcaFree(field, device), "tcaFree");
    check(tcaFree(words, TCA_HOST), "tcaFree");
    check(tcaFinalize(), "tcaFinalize");
    printf("node %d of %d: %d rows came %d times, %s\n", node, nodes, ROWS, STEPS,
           device == TCA_HOST ? "host to host" : "device to device");
    free(fields);
    free(flags);
    return 0;
}
