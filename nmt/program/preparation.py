"""Before training: the options and the corpus that the flags name, and messages to the user."""

import shlex
from pathlib import Path

import params
from nmt import UserError
from nmt.messages import log, plural
from nmt.program import flags, run_folder
from nmt.text import batches as batching
from nmt.text import corpora
from nmt.training import cluster

ENOUGH_STEPS = 5  # times those of the warm-up


def preset_name(args):
    """Returns the name of the preset that the command line asks for."""
    named_as_dataset = args.data_path if args.data_path in params.PRESETS else "tutorial"
    return args.preset or named_as_dataset


def training_options(args, saved=None, parent=None):
    """Returns the options of a training run, by name: those of flags, the run's or the preset's.

    Args:
      args: the parsed command line.
      saved: from `saved_options`.
      parent: the parent.Parent that --from names.

    Raises:
      UserError: they contradict each other.
    """
    options = flags.chosen(args, preset_name(args))
    if saved and not args.preset:
        options = {name: saved[name] for name in options} | flags.given(args)
    elif parent:
        options = parent.options_for(args, options)
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


def saved_options(args):
    """Returns the saved options of the run that --run names; None if there is no such run yet.

    None, too, if --dataset is given: then the flags describe the whole run.
    """
    if not args.run or args.data_path is not None:
        return None
    return run_folder.Run(args.run).options_so_far()


def named_source(args, saved=None):
    """Returns the source of the corpus, for `load_corpus`, a name, and whether a flag names it.

    The name is that of the corpus, or of the preset that names the corpus.

    Args:
      args: the parsed command line.
      saved: from `saved_options`; --train, --valid and --test then name where its files are now.
    """
    if args.train and args.data_path is not None:
        raise UserError(f"--dataset {args.data_path} and --train both name the data; choose one")
    files = {"train": args.train, "valid": args.valid, "test": args.test}
    source = {
        split: [str(Path(path).resolve()) for path in paths]
        for split, paths in files.items()
        if paths
    }
    if saved:
        source = saved["corpus"] | source
    if args.train:
        source.pop("dataset", None)
        return source, corpora.file_names(args.train), True
    if saved:
        return source, saved["data_path"], True
    preset, name = preset_name(args), args.data_path
    if name is None and "data_path" in params.PRESETS[preset].values:
        source["dataset"] = params.PRESETS[preset].values["data_path"]
        return source, preset, True
    source["dataset"] = params.DATA_PATH if name is None else name
    if source["dataset"].endswith(".tsv"):
        source["dataset"] = str(Path(name).resolve())
        return source, corpora.file_names([name]), True
    return source, source["dataset"], name is not None


def complete(source, corpus, named):
    """Adds to the source of a corpus what is known once it is loaded, for params.json."""
    if not named:
        source["dataset"] = corpus.name
    if languages := corpora.languages(source):
        source["languages"] = languages


def resuming_command(args, corpus, named):
    """Returns the command that resumes a training run."""
    more = [] if named else ["--dataset", corpus.name]
    return shlex.join(["python", "run_demo.py", *args.given, *more])


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
    of_validation, of_test = corpora.overlap(corpus)
    if of_validation or of_test:
        log.warning(
            f"{plural(of_validation, 'validation pair')} and {plural(of_test, 'test pair')} occur "
            "in the training text: their scores measure memory. To find them: run_demo.py data"
        )
    batching.warn_of_truncation(corpus.validation, tokenizer, "validation")
    steps = training.steps_per_epoch(batches) * options["epochs"]
    log.info(
        f"To do: {plural(options['epochs'], 'epoch')}, {plural(steps, 'step')}, of a Transformer "
        f"of {training.transformer.count_params():,} parameters; then the test split is scored, "
        f"{plural(len(corpus.test), 'line')}. To follow the curves: tensorboard --logdir "
        f"{shlex.quote(str(run.logs))}"
    )
    warmup = options["warmup_steps"]
    if steps < warmup:
        tiny = params.PRESETS["tiny"].values
        epochs = -(-ENOUGH_STEPS * warmup // training.steps_per_epoch(batches))
        more = "--preset tiny" if tiny["warmup_steps"] < warmup else f"--epochs {epochs}"
        log.warning(
            f"Only {plural(steps, 'step')}, fewer than --warmup-steps {warmup}: too few to learn "
            f"much. For so few pairs, in a new --run: {more}"
        )


def suggest_commands(run, sentence):
    """Logs what can be done with a run that is trained."""
    log.info(f"Everything is in {run.path}. Next:")
    this, sentence = f"--run {shlex.quote(str(run.path))}", shlex.quote(sentence)
    log.info(f"  python run_demo.py translate {this} {sentence}")
    log.info(f"  python run_demo.py explore {this} {sentence}")
    log.info(f"  python run_demo.py export {this}")
