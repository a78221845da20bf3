"""Whether a training of a figure has the same bits with one MPI rank an agent as in one process: `deploy/figures NAME --check-mpi`."""
import json
import pathlib
import tempfile

import common
import grid

# What summary.json holds of the trained models.
KEPT = ["test_loss", "test_loss_worst", "test_loss_mean_model", "test_accuracy", "test_accuracy_mean_model", "train_loss_mean_model",
        "consensus_distance", "epsilon", "mu"]


def trained(options, launch, folder):
    """The summary's figures and every agent's model, as bytes."""
    threads = {"threads": 1}
    text = common.output_of([*launch, common.SOTTO, "train", "--json", "-", "--quiet", "--run-directory", folder,
                             *grid.arguments(options | threads)],
                            OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1")
    summary = json.loads(text)
    models = {path.parent.name: path.read_bytes() for path in sorted(pathlib.Path(folder).glob("agents/*/model.npy"))}
    return {key: summary[key] for key in KEPT}, models, summary["agents"]


def check(options):
    """{"agents": n, "same": whether figures and models agree in all bits, "differs": what does not} of one training, made twice."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        figures, models, agents = trained(options, [], folder / "one")
        if len(models) != agents:
            raise SystemExit(f"figures: {len(models)} models of {agents} agents were kept: nothing to compare")
        other_figures, other_models, _ = trained(options, common.mpirun(agents), folder / "many")
    differs = [key for key in KEPT if figures[key] != other_figures[key]]
    differs += [f"model of agent {agent}" for agent in models if models[agent] != other_models.get(agent)]
    return {"agents": agents, "same": not differs, "differs": differs[:5]}


def sentence(found):
    """Of the line 'Made by'."""
    if found is None:
        return "not compared with one MPI rank an agent (`--check-mpi`)"
    if found["same"]:
        return f"one training repeated with {found['agents']} MPI ranks, one an agent: the same bits"
    return f"one training repeated with {found['agents']} MPI ranks, one an agent: NOT the same bits ({', '.join(found['differs'])})"
