#include "commands/cli/options.hpp"
#include "run/task.hpp"
#include "sotto/core/names.hpp"
#include "sotto/noise/mechanism.hpp"
#include "sotto/views/view_record.hpp"

namespace sotto::cli {

OptionGroup graph_options() {
    return {"Graph",
            {{"topology", "erdos-renyi", join(topology_names(), ", ")},
             {"agents", "20", "number of agents (under mpirun: the number of ranks)"},
             {"edge-probability", "0.5", "erdos-renyi: probability of every edge, in (0, 1]"},
             {"radius", "", "geometric: two agents nearer than this are joined"},
             {"graph-seed", "0", "seed of random topologies"},
             {"graph", "", "edge list FILE instead of a topology (plain or .gz)"},
             {"mixing", "metropolis", join(mixing_names(), ", ") + ", or FILE (text or .npy)"},
             {"mixing-schedule",
              "fixed",
              "fixed, random (a fresh graph of the topology every round), one-peer (exponential "
              "topology), or FILE.npy: mixing matrices of consecutive rounds, one below the "
              "other"}}};
}

OptionGroup plan_options() {
    return {"Noise plan",
            {{"mechanism", "pairs", join(mechanism_names(), ", ")},
             {"utility",
              "horizon:200",
              "what the noise plan minimises: one-step, horizon:H, trajectory, final"},
             {"spatial-mechanism",
              "pairs",
              "how space-time correlates agents: ldp, decor, corn, corn-hbc, pairs"},
             {"temporal",
              "dense",
              "temporal factor of mafalda and space-time: dense, banded:B, one-lag"},
             {"temporal-restart",
              "",
              "H: the temporal factor begins anew every H rounds, independent of those before"},
             {"epsilon", "10", "privacy budget, > 0"},
             {"delta", "1e-5", "privacy budget, in (0, 1)"},
             {"noise-std",
              "",
              "S instead of a budget: in every round noise of this standard deviation hides an "
              "agent whose messages all are seen"},
             {"calibration", "exact", "exact, rdp, paper"},
             {"adjacency",
              "agent",
              "what is protected: agent, record (replaced), record-zero-out, record-add-remove"},
             {"clip-norm", "0.1", "L2 clip C of a gradient, > 0"},
             {"rounds", "1000", "training rounds T"},
             {"step-size", "0.05", "eta, > 0"},
             {"step-schedule",
              "constant",
              "of the step size: constant, inverse-sqrt, inverse (eta / t), "
              "piecewise:ROUND:FACTOR,... (eta times FACTOR from that round on)"},
             {"gossip-steps", "1", "mixing steps K a round, each of which sends messages"},
             {"batch-size", "128", "records an agent uses a round: a number, or all"},
             {"participation", "every", "every, cyclic:b (record adjacencies)"},
             {"coalition-size",
              "",
              "colluding agents q to withstand (default: 1 for pairs and corn-hbc, else 0)"},
             {"seed-groups",
              "",
              "who may share a seed (pairs, corn-hbc): all, edges, all-pairs, neighbourhoods, "
              "circulant:K, FILE (default all-pairs; circulant:10 above 62 agents)"},
             {"common-variance",
              "",
              "one private variance for all agents (pairs, corn-hbc)",
              Option::Kind::flag},
             {"variance-cap", "1e4", "largest R_uu kappa_u where the optimum would diverge, > 1"},
             {"budgets", "", "FILE with an epsilon for every agent"},
             {"plan", "", "use the saved plan FILE instead of solving"}}};
}

OptionGroup task_options() {
    return {
        "Task",
        {{"task",
          "logistic",
          join(task_names(), ", ") +
              ", or FILE.so (a task of your own); averaging has other defaults: step-size 1, "
              "step-schedule inverse, l2 1, clip-norm 1, batch-size all, partition iid"},
         {"standardise",
          "on",
          "on, off: CSV columns by mean and deviation of the training data, which no guarantee "
          "counts"},
         {"hidden", "", "mlp: units of the hidden layer (default 128; for values 64)"},
         {"data",
          "synthetic",
          "synthetic, or FILE[,FILE...]: LIBSVM, IDX images, CSV or LEAF JSON, plain or .gz; %r is "
          "the agent's number"},
         {"test-data", "", "FILE[,FILE...] to test on, instead of splitting the data"},
         {"test-fraction", "0.2", "part of the data to test on, in (0, 1)"},
         {"partition",
          "",
          "iid, dirichlet:ALPHA, by-label:k, by-writer:k (LEAF; k writers an agent, default 10); "
          "default dirichlet:10, iid for values to predict"},
         {"l2", "0", "regularisation, added outside the clip"},
         {"seed", "1", "data, partition, batches and initialisation; never noise"}}};
}

OptionGroup run_options() {
    return {
        "Run",
        {{"eval-every", "0", "rounds between evaluations (0: fifty times a run)"},
         {"optimality-gap",
          "",
          "on, off: compare with the lowest loss possible, which shows rank 0 exact derivatives of "
          "every agent's loss (default: off over MPI where every agent has a data file of its "
          "own)"},
         {"secure-sum",
          "off",
          "on, off: agents learn only weighted sums of their neighbours' messages"},
         {"view",
          "",
          "additional views of the ledger, separated by ';': " +
              view_placeholders(ViewUse::ledger)},
         {"record-view",
          "",
          "a,b,...: agents whose received messages, gradients, noise and seeds are written to the "
          "run directory; eavesdropper (alone or among them): what every agent sends"},
         {"checkpoint-every",
          "0",
          "rounds between checkpoints to go on from after a failure (0: only where a run is "
          "stopped)"},
         {"resume",
          "",
          "DIR: take up the run in this directory, with its options",
          Option::Kind::value,
          false},
         {"without",
          "",
          "a,b,...: agents that leave the run that is taken up",
          Option::Kind::value,
          false},
         {"dry-run",
          "",
          "only print plan, epsilon, memory and estimated time",
          Option::Kind::flag,
          false}}};
}

OptionGroup peer_options() {
    return {
        "Peers and keys",
        {{"run-directory",
          "",
          "DIR to write to (default runs/<time>-<mechanism>)",
          Option::Kind::value,
          false},
         {"noise-seed", "", "reproducible noise: INSECURE, for experiments; the ledger says so"},
         {"roster",
          "",
          "FILE with the public keys of the agents that may take part (with --identity)"},
         {"identity", "", "FILE with this agent's identity, of `sotto keygen`; %r is its number"},
         {"bootstrap",
          "central",
          "who builds graph, mixing and plan: central (rank 0), distributed (every rank; all must "
          "come to the same)"},
         {"link-encryption",
          "on",
          "on, off: encrypt and authenticate every message between agents (over MPI; in one "
          "process nothing crosses a wire)"},
         {"mask-partners",
          "16",
          "secure-sum: mask partners H on each side; up to 2H+1 neighbours all are joined, above a "
          "sum withstands 2H-1 colluding ones"},
         {"past-noise-memory",
          "2048",
          "MiB of past noise a process keeps where noise is correlated over rounds; beyond, it is "
          "drawn again every round"},
         {"stall-warn",
          "30",
          "seconds a rank waits for others before it asks and names those that do "
          "not "
          "answer (0: never; at most half of --stall-abort by default)",
          Option::Kind::value,
          false},
         {"stall-abort",
          "300",
          "seconds after which it gives up and ends the job with exit code 5; ten times as long "
          "before "
          "the first round (0: never)",
          Option::Kind::value,
          false},
         {"threads", "0", "threads of one process hosting many agents (0: all cores)"}}};
}

OptionGroup common_options() {
    return {"General",
            {{"config",
              "",
              "INI FILE with any of these options; the command line wins",
              Option::Kind::value,
              false},
             {"json",
              "",
              "write one JSON object to FILE, or to standard output with -",
              Option::Kind::output,
              false},
             {"quiet", "", "no progress and no report", Option::Kind::flag, false},
             {"help", "", "this text", Option::Kind::flag, false}}};
}

}  // namespace sotto::cli
