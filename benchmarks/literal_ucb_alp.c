/* UCB-ALP as the paper's Algorithm 1 reads, with nothing done to make it fast: every round takes a
 * logarithm, a square root per context-action pair, and a sort of the contexts. It is what a careful
 * C programmer writes first, and what benchmarks/speed.py compares the package with.
 *
 * Usage: literal_ucb_alp HORIZON BUDGET RUNS SEED  (the paper's ten-context problem)
 * Prints: seconds of CPU time, rounds, mean reward per run.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CONTEXTS = 10, ACTIONS = 5 };

static const double PROBS[CONTEXTS] = {.025, .05, .075, .15, .2, .2, .15, .075, .05, .025};

static uint64_t rng_state;

static double uniform(void) /* SplitMix64, as in the package */
{
    uint64_t x = rng_state += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

/* An insertion sort: faster than qsort for ten elements, and no less literal. Ties fall in random
 * order. */
static void sort_descending(int order[CONTEXTS], const double index[], const double tie_breaker[])
{
    for (int end = 1; end < CONTEXTS; end++) {
        int j = order[end], place = end;
        for (; place > 0; place--) {
            int before = order[place - 1];
            if (index[before] > index[j]
                || (index[before] == index[j] && tie_breaker[before] >= tie_breaker[j]))
                break;
            order[place] = before;
        }
        order[place] = j;
    }
}

static double play(long horizon, long budget)
{
    double count[CONTEXTS][ACTIONS] = {{0}}, sum[CONTEXTS][ACTIONS] = {{0}}, total = 0;
    long left = budget;
    for (long t = 1; t <= horizon; t++) {
        double draw = uniform();
        int context = 0;
        while (context < CONTEXTS - 1 && draw >= PROBS[context])
            draw -= PROBS[context++];

        double log_t = log((double)t), best_index[CONTEXTS], tie_breaker[CONTEXTS];
        int best_action[CONTEXTS], order[CONTEXTS];
        for (int j = 0; j < CONTEXTS; j++) {
            best_index[j] = -1;
            int ties = 0;
            for (int k = 0; k < ACTIONS; k++) {
                double index = 1;
                if (count[j][k] > 0)
                    index = sum[j][k] / count[j][k] + sqrt(log_t / (2 * count[j][k]));
                if (index > best_index[j]) {
                    best_index[j] = index, best_action[j] = k, ties = 1;
                } else if (index == best_index[j] && uniform() * ++ties < 1) {
                    best_action[j] = k;
                }
            }
            order[j] = j;
            tie_breaker[j] = uniform();
        }
        if (left <= 0)
            continue;
        sort_descending(order, best_index, tie_breaker);

        double room = (double)left / (double)(horizon - t + 1), probability[CONTEXTS];
        for (int place = 0; place < CONTEXTS; place++) {
            double share = room / PROBS[order[place]];
            share = share < 0 ? 0 : share > 1 ? 1 : share;
            probability[order[place]] = share;
            room -= share * PROBS[order[place]];
        }
        if (uniform() < probability[context]) {
            int action = best_action[context];
            double mean = (context + 1) * (action + 1) / (double)(CONTEXTS * ACTIONS);
            double reward = uniform() < mean ? 1 : 0;
            count[context][action] += 1;
            sum[context][action] += reward;
            total += reward;
            left -= 1;
        }
    }
    return total;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: %s HORIZON BUDGET RUNS SEED\n", argv[0]);
        return 2;
    }
    long horizon = atol(argv[1]), budget = atol(argv[2]), runs = atol(argv[3]);
    rng_state = (uint64_t)atol(argv[4]);
    double total = 0;
    clock_t start = clock();
    for (long run = 0; run < runs; run++)
        total += play(horizon, budget);
    printf("%.6f %ld %.3f\n", (double)(clock() - start) / CLOCKS_PER_SEC, runs * horizon,
           total / (double)runs);
    return 0;
}
