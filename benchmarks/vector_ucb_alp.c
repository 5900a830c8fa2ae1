/* UCB-ALP on the paper's ten-context problem, as fast as we could write it for AVX2: the program that
 * benchmarks/speed.py holds the package against, beside literal_ucb_alp.c.
 *
 * Usage: vector_ucb_alp HORIZON BUDGET RUNS SEED  (runs are rounded up to a multiple of 16)
 * Prints: seconds of CPU time, rounds, mean reward per run.
 *
 * The rule is that of the literal program: index 1 without plays, else mean + sqrt(log t / 2n); equal
 * actions are drawn from evenly, and contexts with equal indices share what is left of the budget.
 * Every round computes all fifty indices. Nothing is approximated but by rounding:
 *
 * - Indices are in single precision, eight to a register; almoner's are in double precision. Money
 *   and counts are whole numbers below 2^16, exact in both.
 * - A run keeps mean and 1/sqrt(2n) of each pair, so that an index is one multiply-add. The roots,
 *   1/n, sqrt(log t) and 1/(rounds left) come out of tables, which are made once and timed too.
 * - No sort: the best indices of all contexts are compared with that of the context that arrived. The
 *   outcomes are the bits of a number, and a table has the probability of each set of contexts.
 *   "Serve with probability (room - ahead) / (upto - ahead)" is decided without the division.
 * - One register holds contexts 0 to 7 for one action, so that maxima over actions need no shuffles;
 *   contexts 8 and 9 share two registers. A second copy by context finds the best action.
 * - The random numbers of eight runs come from eight generators xoshiro128+ in one register, three
 *   words of 32 bits a round: context and choice among equal actions, lot, reward.
 * - Eight runs make a batch. Of two batches one looks up its next decisions while the other acts, so
 *   that no load waits for a store. Only the runs that serve are updated, the one branch on data.
 *
 * It is fair to the program in C: the problem's sizes are constants, neither regret nor curves are
 * kept, and a run cannot be played again alone. All of that almoner does and has to pay for.
 */
#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CONTEXTS = 10, ACTIONS = 5, BATCH = 8, BATCHES = 2, MOST_ROUNDS = 65535 };
enum { ROW = 8, PICKS = 60 }; /* a row of actions; 60 is divisible by 1 to 5 */

/* Probabilities of the contexts, times 40. */
static const int FORTIETHS[CONTEXTS] = {1, 2, 3, 6, 8, 8, 6, 3, 2, 1};

#define ALIGNED __attribute__((aligned(64)))
#define INLINE static inline __attribute__((always_inline))

typedef double __attribute__((may_alias)) TwoFloats;
typedef struct { __m256i a, b, c, d; } Generator;

/* One run: every pair twice, and its plays << 16 | rewards. */
typedef struct {
    float mean[64], width[64]; /* at place(context, action) */
    float row_mean[CONTEXTS * ROW], row_width[CONTEXTS * ROW];
    uint32_t tally[CONTEXTS * ROW];
} ALIGNED Run;

/* Eight runs, and what is handed from look to act. */
typedef struct {
    Run runs[BATCH];
    Generator generator;
    __m256 left, lot;
    uint32_t slot[BATCH], pick[BATCH], noise[BATCH], cell[BATCH];
    float ahead[BATCH], upto[BATCH];
} ALIGNED Batch;

static Batch batches[BATCHES];

static struct { float inverse, width; } by_plays[MOST_ROUNDS + 1];
static float level[MOST_ROUNDS + 1], per_round[MOST_ROUNDS + 1];
static float weight_of[1 << CONTEXTS];          /* of a set of contexts, see bit_of */
static uint8_t context_of[40], picked[32][64];  /* by set of equal actions and draw */
static uint8_t place_of[CONTEXTS * ROW];
static uint32_t below[CONTEXTS * ROW];          /* mean reward, times 2^32 */

/* Contexts 8 and 9 have register 5 for actions 0 to 3, and the start of register 6 for action 4. */
static int place(int j, int k)
{
    return j < 8 ? 8 * k + j : k < 4 ? 40 + 2 * k + j - 8 : 48 + j - 8;
}

/* The order in which comparisons leave their bits: contexts 0 to 3, 8, 9, 4 to 7. */
static int bit_of(int j) { return j < 4 ? j : j < 8 ? j + 2 : j - 4; }

static void fill_tables(long horizon)
{
    for (long n = 1; n <= horizon; n++) {
        by_plays[n].inverse = (float)(1 / (double)n);
        by_plays[n].width = (float)(1 / sqrt(2 * (double)n));
        level[n] = (float)sqrt(log((double)n));
        per_round[n] = (float)(1 / (double)(horizon - n + 1));
    }
    for (int set = 0; set < 1 << CONTEXTS; set++) {
        int fortieths = 0;
        for (int j = 0; j < CONTEXTS; j++)
            fortieths += (set >> bit_of(j) & 1) * FORTIETHS[j];
        weight_of[set] = (float)fortieths / 40;
    }
    for (int j = 0, slot = 0; j < CONTEXTS; j++)
        for (int i = 0; i < FORTIETHS[j]; i++)
            context_of[slot++] = (uint8_t)j;
    for (int set = 1; set < 1 << ACTIONS; set++)
        for (int draw = 0; draw < PICKS; draw++)
            for (int k = 0, nth = draw % __builtin_popcount((unsigned)set); k < ACTIONS; k++)
                if (set >> k & 1 && nth-- == 0)
                    picked[set][draw] = (uint8_t)k;
    for (int j = 0; j < CONTEXTS; j++)
        for (int k = 0; k < ACTIONS; k++) {
            double mean = (j + 1) * (k + 1) / (double)(CONTEXTS * ACTIONS);
            place_of[j * ROW + k] = (uint8_t)place(j, k);
            below[j * ROW + k] = mean < 1 ? (uint32_t)(mean * 0x1p32) : UINT32_MAX;
        }
}

static uint64_t seed;

static uint32_t seed_word(void) /* SplitMix64 */
{
    uint64_t x = seed += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return (uint32_t)((x ^ (x >> 31)) >> 32);
}

static __m256i eight_seed_words(void)
{
    uint32_t words[8];
    for (int i = 0; i < 8; i++)
        words[i] = seed_word();
    return _mm256_loadu_si256((const __m256i *)words);
}

INLINE __m256i next(Generator *g) /* xoshiro128+, eight of them */
{
    __m256i result = _mm256_add_epi32(g->a, g->d), shifted = _mm256_slli_epi32(g->b, 9);
    g->c = _mm256_xor_si256(g->c, g->a);
    g->d = _mm256_xor_si256(g->d, g->b);
    g->b = _mm256_xor_si256(g->b, g->c);
    g->a = _mm256_xor_si256(g->a, g->d);
    g->c = _mm256_xor_si256(g->c, shifted);
    g->d = _mm256_or_si256(_mm256_slli_epi32(g->d, 11), _mm256_srli_epi32(g->d, 21));
    return result;
}

/* Split eight products of 64 bits: *high is a number below factor, *low is what is left of the draw. */
INLINE void scale(__m256i bits, int factor, __m256i *high, __m256i *low)
{
    __m256i by = _mm256_set1_epi64x(factor);
    __m256i even = _mm256_mul_epu32(bits, by), odd = _mm256_mul_epu32(_mm256_srli_epi64(bits, 32), by);
    *high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
    *low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
}

static void start(Batch *batch, long budget)
{
    for (int i = 0; i < BATCH; i++) {
        Run *run = &batch->runs[i];
        memset(run, 0, sizeof *run);
        for (int at = 0; at < 64; at++)
            run->mean[at] = -1; /* never the largest */
        for (int at = 0; at < CONTEXTS * ROW; at++)
            run->row_mean[at] = -1;
        for (int j = 0; j < CONTEXTS; j++)
            for (int k = 0; k < ACTIONS; k++)
                run->mean[place(j, k)] = run->row_mean[j * ROW + k] = 1;
    }
    batch->generator.a = eight_seed_words(), batch->generator.b = eight_seed_words();
    batch->generator.c = eight_seed_words(), batch->generator.d = eight_seed_words();
    batch->left = _mm256_set1_ps((float)budget);
}

INLINE void draw(Batch *batch)
{
    __m256i high, low, unused, bits;
    scale(next(&batch->generator), 40, &high, &low);
    _mm256_store_si256((__m256i *)batch->slot, high);
    scale(low, PICKS, &high, &unused);
    _mm256_store_si256((__m256i *)batch->pick, high);
    bits = _mm256_srli_epi32(next(&batch->generator), 8);
    batch->lot = _mm256_mul_ps(_mm256_cvtepi32_ps(bits), _mm256_set1_ps(0x1p-24f));
    _mm256_store_si256((__m256i *)batch->noise, next(&batch->generator));
}

INLINE __m256 index_at(const float *mean, const float *width, __m256 l)
{
    return _mm256_fmadd_ps(l, _mm256_load_ps(width), _mm256_load_ps(mean));
}

INLINE __m128 twice(const float *two) /* a, b, a, b */
{
    return _mm_castpd_ps(_mm_set1_pd(*(const TwoFloats *)two));
}

/* Find, for each run of a batch, its best action, and the weight of the contexts that are ahead of the
 * one that arrived (index above its own) and of those up to it (at least its own). */
INLINE void look(Batch *batch, long t)
{
    const __m128i or_equal = _mm_setr_epi32(0, 0, -1, -1);
    __m256 l = _mm256_broadcast_ss(&level[t]);
    draw(batch);
#pragma GCC unroll 8
    for (int i = 0; i < BATCH; i++) {
        const Run *run = &batch->runs[i];
        const float *mean = run->mean, *width = run->width;
        uint32_t j = context_of[batch->slot[i]];

        __m256 best = _mm256_max_ps(index_at(mean, width, l), index_at(mean + 8, width + 8, l));
        best = _mm256_max_ps(best, _mm256_max_ps(index_at(mean + 16, width + 16, l),
                                                 index_at(mean + 24, width + 24, l)));
        best = _mm256_max_ps(best, index_at(mean + 32, width + 32, l)); /* contexts 0 to 7 */
        __m256 four = index_at(mean + 40, width + 40, l);
        __m128 last = _mm_max_ps(_mm256_castps256_ps128(four), _mm256_extractf128_ps(four, 1));
        last = _mm_max_ps(last, _mm_shuffle_ps(last, last, _MM_SHUFFLE(1, 0, 3, 2)));
        last = _mm_max_ps(last, _mm_fmadd_ps(_mm256_castps256_ps128(l), twice(width + 48),
                                             twice(mean + 48))); /* contexts 8, 9, 8, 9 */

        float bests[CONTEXTS + 2] ALIGNED;
        _mm256_store_ps(bests, best);
        _mm_store_ps(bests + 8, last);
        __m256 own = _mm256_broadcast_ss(&bests[j]);
        __m256 row = index_at(run->row_mean + j * ROW, run->row_width + j * ROW, l);
        int equal = _mm256_movemask_ps(_mm256_cmp_ps(row, own, _CMP_EQ_OQ));

        /* At least x is above the float before x, whose bits are those of x less 1. */
        __m256i own_bits = _mm256_castps_si256(own);
        __m128 bounds = _mm_castsi128_ps(_mm_add_epi32(_mm256_castsi256_si128(own_bits), or_equal));
        __m128i two = _mm_castps_si128(_mm_cmp_ps(last, bounds, _CMP_GT_OQ));
        __m256i above = _mm256_castps_si256(_mm256_cmp_ps(best, own, _CMP_GT_OQ));
        __m256i reaching = _mm256_castps_si256(_mm256_cmp_ps(best, own, _CMP_GE_OQ));
        __m256i eight = _mm256_packs_epi32(above, reaching);
        __m256i all = _mm256_packs_epi16(eight, _mm256_zextsi128_si256(two));
        uint32_t bits = (uint32_t)_mm256_movemask_epi8(all);
        batch->ahead[i] = weight_of[_pext_u32(bits, 0x000F050F)];
        batch->upto[i] = weight_of[_pext_u32(bits, 0x00F050F0)];
        batch->cell[i] = j * ROW + picked[equal][batch->pick[i]];
    }
}

/* Serve where the lot falls on it, and learn; return the rewards. */
INLINE unsigned act(Batch *batch, long t)
{
    __m256 ahead = _mm256_load_ps(batch->ahead);
    __m256 tied = _mm256_sub_ps(_mm256_load_ps(batch->upto), ahead);
    __m256 room = _mm256_fmsub_ps(batch->left, _mm256_broadcast_ss(&per_round[t]), ahead);
    __m256 serve = _mm256_cmp_ps(_mm256_mul_ps(batch->lot, tied), room, _CMP_LT_OQ);
    batch->left = _mm256_sub_ps(batch->left, _mm256_and_ps(serve, _mm256_set1_ps(1)));
    unsigned total = 0;
    for (unsigned served = (unsigned)_mm256_movemask_ps(serve); served; served &= served - 1) {
        int i = __builtin_ctz(served);
        Run *run = &batch->runs[i];
        uint32_t cell = batch->cell[i], reward = batch->noise[i] < below[cell];
        uint32_t tally = run->tally[cell] += 1 << 16 | reward;
        float mean = (float)(int)(tally & 0xFFFF) * by_plays[tally >> 16].inverse;
        float width = by_plays[tally >> 16].width;
        run->row_mean[cell] = run->mean[place_of[cell]] = mean;
        run->row_width[cell] = run->width[place_of[cell]] = width;
        total += reward;
    }
    return total;
}

static double play(long horizon, long budget)
{
    Batch *one = &batches[0], *other = &batches[1];
    double total = 0;
    start(one, budget);
    start(other, budget);
    look(one, 1);
    for (long t = 1; t <= horizon; t++) {
        look(other, t);
        total += act(one, t);
        if (t < horizon)
            look(one, t + 1);
        total += act(other, t);
    }
    return total;
}

int main(int argc, char **argv)
{
    if (argc != 5 || atol(argv[1]) > MOST_ROUNDS) {
        fprintf(stderr, "usage: %s HORIZON BUDGET RUNS SEED, at most %d rounds\n", argv[0], MOST_ROUNDS);
        return 2;
    }
    long horizon = atol(argv[1]), budget = atol(argv[2]);
    long sets = (atol(argv[3]) + BATCHES * BATCH - 1) / (BATCHES * BATCH);
    seed = (uint64_t)atol(argv[4]);
    double total = 0;
    clock_t begin = clock();
    fill_tables(horizon);
    for (long set = 0; set < sets; set++)
        total += play(horizon, budget);
    long runs = sets * BATCHES * BATCH;
    printf("%.6f %ld %.3f\n", (double)(clock() - begin) / CLOCKS_PER_SEC, runs * horizon,
           total / (double)runs);
    return 0;
}
