"""An agent alone, without noise: the interface of sotto.Agent in plain numpy."""
import numpy


class StandInAgent:
    """Clips, averages over the expected batch, and steps."""

    def __init__(self, comm, dimension, records, initial=None, rounds=3, step_size=0.1, clip_norm=1.0, adjacency="record",
                 micro_batch=64, probability=0.5, batches=None, seed=0, evaluate_every=1):
        self.agent, self.agents, self.predictable = 0, 1, True
        self.round, self.rounds = 0, rounds
        self.dimension, self.clip_norm, self.adjacency = dimension, clip_norm, adjacency
        self.micro_batch, self.batch_size = micro_batch, max(1, round(probability * records))
        self.statement = None
        self.evaluations = []
        self.calls, self.sums = [], []
        self._model = numpy.zeros(dimension) if initial is None else numpy.array(initial, numpy.float64)
        self._step_size, self._probability, self._records = step_size, probability, records
        self._random = numpy.random.default_rng(seed)
        self._batches = batches
        self._evaluate_every = evaluate_every

    @property
    def model(self):
        view = self._model.view()
        view.flags.writeable = False
        return view

    def batch(self):
        if self._batches is not None:
            return numpy.array(self._batches[self.round], numpy.int64)
        return numpy.flatnonzero(self._random.random(self._records) < self._probability)

    def _clipped_sum(self, gradients, rows):
        total = numpy.zeros(self.dimension)
        for first in range(0, len(rows), self.micro_batch):
            part = rows[first:first + self.micro_batch]
            values = gradients(self.model, part)
            assert values.shape == (len(part), self.dimension)
            self.calls.append(values)
            norms = numpy.linalg.norm(values.astype(numpy.float64), axis=1, keepdims=True)
            total += (values * numpy.minimum(1, self.clip_norm / numpy.maximum(norms, 1e-300))).sum(0)
        return total

    def _handed_sum(self, sums, rows):
        total = numpy.zeros(self.dimension)
        for first in range(0, len(rows), self.micro_batch):
            part = rows[first:first + self.micro_batch]
            handed, norms = sums(self.model, part, self.clip_norm)
            assert handed.shape == (self.dimension,) and norms.shape == (len(part),)
            assert numpy.linalg.norm(handed) <= numpy.minimum(self.clip_norm, numpy.nan_to_num(norms)).sum() * (1 + 1e-6)
            self.sums.append((handed.copy(), norms))
            total += handed
        return total

    def tune(self, gradients, *, clipped=False):
        pass

    def step(self, gradients, *, clipped=False):
        rows = self.batch()
        if self.adjacency == "agent":
            direction = gradients(self.model, rows)
            assert direction.shape == (self.dimension,)
            self.calls.append(direction)
        else:
            direction = (self._handed_sum if clipped else self._clipped_sum)(gradients, rows) / max(1.0, self._probability * self._records)
        self._model -= self._step_size * direction
        self.round += 1
        if self.round % self._evaluate_every == 0:
            test = self.test(self.model, 0, 1) if self.test is not None else None
            self.evaluations.append({"train": self.train(self.model, 0, 1), "test": test})
        return self.more

    @property
    def more(self):
        return self.round < self.rounds

    def declare(self, statement):
        self.statement = statement

    def evaluate_by(self, *, train, test, test_records):
        self.train, self.test, self.test_records = train, test, test_records

    def finish(self):
        return {"rounds": self.round}
