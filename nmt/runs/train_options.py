"""The options of a training run: those of its flags, the run's, its parent's, or a preset's."""

import dataclasses

from nmt import UserError
from nmt.corpus import bleu_tokenizer, corpora
from nmt.corpus.source import CorpusSource
from nmt.options import Options
from nmt.runs import parent as parents
from nmt.runs.folder import Run, check_links, check_network
from nmt.runs.parameters import Parameters
from nmt.runs.request import TrainingRequest
from nmt.training import cluster, devices


def resumed_parameters(request: TrainingRequest) -> Parameters | None:
    """Returns the parameters of the run that --run names; None if there is no such run yet.

    None, too, if --dataset is given, or --train where nothing was trained yet: then the flags
    describe the whole run.
    """
    if not request.run or request.dataset is not None:
        return None
    run = Run(request.run)
    if request.train and not run.trained:
        return None
    check_links(run)
    run.check_can_train()
    check_network(run)
    return run.saved_parameters


def choose(
    request: TrainingRequest,
    resumed: Parameters | None = None,
    inherited: Options | None = None,
) -> Options:
    """Returns the options of a training run.

    Args:
      inherited: the options of the run that --from names.
    """
    options = request.options(request.preset_name)
    if resumed and not request.preset:
        options = dataclasses.replace(resumed.options, **request.given)
        if resumed.parent:  # the same command names only the symbols that the parent lacks
            symbols = parents.merge_symbols(resumed.options.symbols, options.symbols)
            options = dataclasses.replace(options, symbols=symbols)
    elif inherited:
        options = parents.inherit(inherited, request.given, options, request.preset)
    if options.d_model % options.num_heads:
        raise UserError(
            f"--d-model {options.d_model} is not a multiple of --num-heads "
            f"{options.num_heads}; choose one that is"
        )
    return options


def uses_xla(options: Options, saved: Parameters | None, plain: bool = False) -> bool:
    """Returns whether XLA compiles the training step: "auto" is decided where a run begins.

    Args:
      saved: the parameters of a run that is resumed.
    """
    if options.xla != "auto" or plain:
        return options.xla == "on"
    return saved.options.xla == "on" if saved else bool(devices.gpus().gpus)


def tokenizer_of_bleu(
    request: TrainingRequest,
    options: Options,
    run: Run,
    source: CorpusSource,
    corpus: corpora.Corpus,
) -> str:
    """Returns sacreBLEU's tokenizer for a run, decided once: "auto" becomes that of its text.

    Args:
      source, corpus: the CorpusSource, once it is loaded, and the Corpus.

    Raises a UserError if the tokenizer is not installed.
    """
    name = options.tokenize
    if name == bleu_tokenizer.AUTO and "tokenize" not in request.given and run.resumable:
        name = run.resumable.options.tokenize
    targets = [target for _, target in corpus.train.take(bleu_tokenizer.SAMPLE_LINES)]
    return bleu_tokenizer.resolve(name, targets, source.target_language)


def check_same(identity: int, workers: cluster.Cluster) -> None:
    """Raises a UserError if this worker's run is not the chief's."""
    if round(workers.broadcast(identity)) != identity:
        raise UserError(
            f"{cluster.VARIABLE}: this worker has other data or other flags than the chief; start "
            "all with the same command and files"
        )
