"""Solves an SDPA file with CVXOPT and prints what CSDP prints: primal value and time without reading."""
import sys
import time

from cvxopt import matrix, solvers, spmatrix


def read_sdpa(path):
    """min c.x  s.t.  sum_i x_i F_i - F_0 >= 0, as CVXOPT wants it: G_k x + slack = h_k, slack >= 0."""
    with open(path, encoding="ascii") as lines:
        variables = int(next(lines))
        next(lines)
        sizes = [int(word) for word in next(lines).split()]
        costs = matrix([float(word) for word in next(lines).split()])
        values, rows, columns = ([[] for _ in sizes] for _ in range(3))
        right = [matrix(0.0, (size, size)) for size in sizes]
        for line in lines:
            words = line.split()
            variable, block, i, j = int(words[0]), int(words[1]) - 1, int(words[2]) - 1, int(words[3]) - 1
            value = float(words[4])
            for row, column in {(i, j), (j, i)}:
                if variable == 0:
                    right[block][row, column] = -value
                else:
                    values[block].append(-value)
                    rows[block].append(row + column * sizes[block])
                    columns[block].append(variable - 1)
    left = [spmatrix(v, r, c, (size * size, variables))
            for v, r, c, size in zip(values, rows, columns, sizes)]
    return costs, left, right


problem_costs, problem_left, problem_right = read_sdpa(sys.argv[1])
solvers.options["show_progress"] = False
start = time.perf_counter()
solution = solvers.sdp(problem_costs, Gs=problem_left, hs=problem_right)
seconds = time.perf_counter() - start
if solution["status"] != "optimal":
    raise SystemExit(f"CVXOPT ended with status {solution['status']}")
print(f"Primal objective value: {solution['primal objective']:.10e}")
print(f"Total time: {seconds:.6f}")
