/* The yardstick: Algorithm 2 for the l1 ball and the logistic loss as a plain C loop.

   One step: the vertex of the ball at the largest |d|, b rows without replacement, the
   mirror step at each of them with Theorem 3.1's step size, and both averages kept lazily.
   The data are CSR. The batches are drawn here, or taken from `given` where it is not null
   (so that a test can hold the loop to the engine's iterates). */
#include <math.h>
#include <stdint.h>

static inline uint64_t rotated(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static inline double uniform(uint64_t *state) { /* xoshiro256+ */
    uint64_t result = state[0] + state[3], t = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= t;
    state[3] = rotated(state[3], 45);
    return (double)(result >> 11) * 0x1.0p-53;
}

static inline double derivative(double s, double y) {
    double z = y * s, e = exp(-fabs(z));
    return -y * (z > 0 ? e : 1.0) / (1.0 + e);
}

/* Steps start, ..., start+steps-1. s, w, lag: n numbers; d, beta: p; taken: n zeros. */
void run_steps(int n, int p, const int *ptr, const int *col, const double *val, const double *y,
               int b, int64_t start, int64_t steps, double radius, const int *given, double *s,
               double *w, double *lag, double *d, double *beta, int *batch, uint8_t *taken,
               uint64_t *state) {
    double blocks = (double)n / b;
    for (int64_t i = start; i < start + steps; i++) {
        double best = -1.0;
        int k = 0;
        for (int c = 0; c < p; c++)
            if (fabs(d[c]) > best) {
                best = fabs(d[c]);
                k = c;
            }
        double v = d[k] > 0 ? -radius : radius;
        double eta = 2 * blocks / (2 * blocks + i + 1), weight = 2 * blocks + i;
        double total = (i + 1) * (4 * blocks + i) / 2;
        beta[k] += weight * v;
        if (given)
            for (int t = 0; t < b; t++) batch[t] = given[(i - start) * b + t];
        else {
            for (int t = 0; t < b; t++) {
                int last = n - b + t, r = (int)(uniform(state) * (last + 1));
                if (taken[r]) r = last;
                taken[r] = 1;
                batch[t] = r;
            }
            for (int t = 0; t < b; t++) taken[batch[t]] = 0;
        }
        for (int t = 0; t < b; t++) {
            int j = batch[t];
            double x = 0.0;
            for (int q = ptr[j]; q < ptr[j + 1]; q++)
                if (col[q] == k) {
                    x = val[q];
                    break;
                }
            double s_new = s[j] + eta * (v * x - s[j]), w_new = derivative(s_new, y[j]);
            double change = w_new - w[j], pull = change / n;
            s[j] = s_new;
            w[j] = w_new;
            lag[j] += total * change;
            for (int q = ptr[j]; q < ptr[j + 1]; q++) d[col[q]] += pull * val[q];
        }
    }
}
