"""Predicts with a model that `sotto train` has made of CSV data, without sotto: logistic models.

    python3 examples/read_model.py runs/heart new.csv
"""

import csv
import json
import sys

import numpy

run, data = sys.argv[1:3]
card = json.load(open(f"{run}/agents/0/model.json"))
model = numpy.load(f"{run}/agents/0/model.npy")  # a weight an input, and the bias


def feature(record: dict[str, str], i: dict) -> float:
    cell = record[i["column"]]
    if "missing" in i:
        return float(cell == "")
    if "category" in i:
        return float(cell == i["category"])
    if cell == "":
        return 0.0
    number = min(max(float(cell), i.get("low", -numpy.inf)), i.get("high", numpy.inf))
    return (number - i["offset"]) / i["scale"]


for record in csv.DictReader(open(data)):
    score = sum(w * feature(record, i) for w, i in zip(model, card["inputs"])) + model[-1]
    print(card["classes"][int(score > 0)])
