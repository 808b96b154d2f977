"""Before training: the options and the corpus that the flags name, and messages to the user."""

import shlex
from pathlib import Path

import params
from nmt import UserError
from nmt.messages import log
from nmt.program import flags
from nmt.text import batches as batching
from nmt.text import corpora
from nmt.training import cluster


def training_options(args):
    """Returns the options of a training run, by name: the preset's, and those of flags.

    Raises:
      UserError: they contradict each other.
    """
    preset = args.data_path if args.data_path in params.PRESETS else "tutorial"
    options = flags.chosen(args, args.preset or preset)
    if options["d_model"] % options["num_heads"]:
        raise UserError(
            f"--d-model {options['d_model']} is not a multiple of --num-heads "
            f"{options['num_heads']}; choose one that is"
        )
    if options["non_autoregressive"]:
        options["beam"] = args.beam or 1  # whatever the preset
        if options["beam"] > 1:
            raise UserError(
                f"--beam {args.beam}: --non-autoregressive finds one translation; leave it out"
            )
    return options


def named_source(args):
    """Returns the source of the corpus, for `load_corpus`, and its name; of flags or by default."""
    if args.train and args.data_path is not None:
        raise UserError(f"--dataset {args.data_path} and --train both name the data; choose one")
    files = {"train": args.train, "valid": args.valid, "test": args.test}
    source = {
        split: [str(Path(path).resolve()) for path in paths]
        for split, paths in files.items()
        if paths
    }
    if args.train:
        return source, corpora.file_names(args.train)
    name = source["dataset"] = params.DATA_PATH if args.data_path is None else args.data_path
    if name.endswith(".tsv"):
        source["dataset"] = str(Path(name).resolve())
        name = corpora.file_names([name])
    return source, name


def is_source(corpus):
    """Returns whether `corpus` is a source for `load_corpus`: a data set, or files by split."""
    if not isinstance(corpus, dict) or not ("dataset" in corpus or "train" in corpus):
        return False
    files = (names for split, names in corpus.items() if split != "dataset")
    return isinstance(corpus.get("dataset", ""), str) and all(
        isinstance(names, list) and names and all(isinstance(name, str) for name in names)
        for names in files
    )


def check_shared(run):
    """Raises a UserError if a worker does not see what the chief wrote into the run folder."""
    if not run.tokenizer.exists():
        raise UserError(
            f"{run.path}: does not contain the chief's files; name a --run on a disk that all "
            "workers see"
        )


def check_same(identity, workers):
    """Raises a UserError if this worker's run is not the chief's.

    Args:
      identity: of the run, from `Run.claim`.
      workers: the cluster.Cluster.
    """
    if round(workers.broadcast(identity)) != identity:
        raise UserError(
            f"{cluster.VARIABLE}: this worker has other data or other flags than the chief; start "
            "all with the same command and files"
        )


def announce(run, options, corpus, tokenizer, training, batches):
    """Logs what will be done, and what the user may want to change."""
    if tokenizer.vocab_size < options["vocab_size"]:
        log.warning(
            f"Vocabulary: {tokenizer.vocab_size} entries instead of {options['vocab_size']}, "
            "because the training text is short."
        )
    log.info(
        f"Training pairs: {batches.kept}; dropped for more than {options['max_length']} tokens: "
        f"{batches.dropped}. {batches.steps} batches per epoch, in buckets of "
        f"{', '.join(map(str, batches.lengths))} tokens."
    )
    batching.warn_of_truncation(corpus.validation, tokenizer, "validation")
    steps = training.steps_per_epoch(batches) * options["epochs"]
    log.info(
        f"To do: {options['epochs']} epochs, {steps} steps, of a Transformer of "
        f"{training.transformer.count_params():,} parameters; then {len(corpus.test)} test lines "
        f"are translated and scored, and pictures drawn. Output goes to {run.path}. To follow the "
        f"curves: tensorboard --logdir {shlex.quote(str(run.logs))}"
    )
    if steps < options["warmup_steps"]:
        log.warning(
            f"Only {steps} steps in all, fewer than --warmup-steps {options['warmup_steps']}: the "
            "learning rate never reaches its peak. Use more --epochs or fewer --warmup-steps; this "
            "raises the peak, 1 / sqrt(d_model x warmup_steps), and a lower --learning-rate-scale "
            "reduces it again (without --pre-norm, keep it below 0.002)."
        )


def suggest_commands(run, sentence):
    """Logs what can be done with a run that is trained."""
    log.info(f"Scores, translations and pictures are in {run.path}. Next:")
    this, sentence = f"--run {shlex.quote(str(run.path))}", shlex.quote(sentence)
    log.info(f"  python run_demo.py translate {this} {sentence}")
    log.info(f"  python run_demo.py explore {this} {sentence}")
    log.info(f"  python run_demo.py export {this}")
