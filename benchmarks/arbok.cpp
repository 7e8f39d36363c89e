// What graphs.py calls of arbok (arXiv 2208.02590), which it compiles if ARBOK names its source.
#include <arbok/gabow/gabow.h>
#include <arbok/tarjan/tarjan_hollow.h>
#include <arbok/tarjan/tarjan_pq.h>

template <class Algorithm>
static long long solve(int nodes, int m, const int *from, const int *to, const int *cost) {
    Algorithm algorithm(nodes, m);
    for (int i = 0; i < m; i++) algorithm.create_edge(from[i], to[i], cost[i]);
    long long total = algorithm.run(0);
    return algorithm.reconstruct(0).size() == size_t(nodes - 1) ? total : -1;
}

extern "C" long long solve_pq(int n, int m, const int *from, const int *to, const int *cost) {
    return solve<arbok::TarjanPQ>(n, m, from, to, cost);
}

extern "C" long long solve_hollow(int n, int m, const int *from, const int *to, const int *cost) {
    return solve<arbok::TarjanHollow>(n, m, from, to, cost);
}

extern "C" long long solve_gabow(int n, int m, const int *from, const int *to, const int *cost) {
    return solve<arbok::Gabow>(n, m, from, to, cost);
}
