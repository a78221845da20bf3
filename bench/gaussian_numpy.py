"""numpy's standard normals, in place, as a fast user would draw them. Argument: repetitions."""
import json
import sys
import time

import numpy as np

VALUES = 100_000
CALLS = 100
generator = np.random.Generator(np.random.PCG64(1))
out = np.empty(VALUES)
rates = []
for repetition in range(int(sys.argv[1])):
    start = time.perf_counter()
    for call in range(CALLS):
        generator.standard_normal(out=out)
    rates.append(CALLS * VALUES / (time.perf_counter() - start) / 1e6)
print(json.dumps({"numpy": np.__version__, "million_a_second": rates}))
