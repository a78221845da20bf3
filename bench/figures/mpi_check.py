"""`deploy/figures NAME --check-mpi`: whether a training has the same bits with one MPI rank per agent as in one process."""
import json
import pathlib
import tempfile

import common
import grid

# Figures of the trained models in summary.json.
KEPT = ["test_loss", "test_loss_worst", "test_loss_mean_model", "test_accuracy", "test_accuracy_mean_model", "train_loss_mean_model",
        "consensus_distance", "epsilon", "mu"]


def trained(options, launch, folder):
    """The summary's figures, every agent's model as bytes, and the number of agents."""
    threads = {"threads": 1}
    text = common.output_of([*launch, common.SOTTO, "train", "--json", "-", "--quiet", "--run-directory", folder,
                             *grid.arguments(options | threads)],
                            OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1")
    summary = json.loads(text)
    models = {path.parent.name: path.read_bytes() for path in sorted(pathlib.Path(folder).glob("agents/*/model.npy"))}
    return {key: summary[key] for key in KEPT}, models, summary["agents"]


def check(options):
    """Trains twice: {"agents": n, "same": whether figures and models agree in all bits, "differs": names of those that do not}."""
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
    """The result of a check, for the line 'Made by'."""
    if found is None:
        return "Not compared over MPI (`--check-mpi`)"
    if found["same"]:
        return f"One training repeated with {found['agents']} MPI ranks: the same bits"
    return f"One training repeated with {found['agents']} MPI ranks: NOT the same bits ({', '.join(found['differs'])})"
