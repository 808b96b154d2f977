"""Before training: the options and the corpus that the flags name, and messages to the user."""

import itertools
import shlex
from pathlib import Path

import params
from nmt import UserError
from nmt.cli import flags
from nmt.messages import log, plural
from nmt.results import evaluation
from nmt.runs import listing, loading
from nmt.runs.folder import Run
from nmt.text import batches as batching
from nmt.text import bleu_tokenizer, corpora, files
from nmt.text import tokenizer as tokenizing
from nmt.training import cluster

ENOUGH_STEPS = 5  # times those of the warm-up
SAMPLE_PAIRS = 1000  # of the training text, for the share of tokens that are no words or parts
MAX_SHARE_WITHOUT_ENTRY = 0.2  # of the tokens; text of the same script has a few percent
KEPT_SHARE = 0.98  # of the training pairs, that a --max-length should keep


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
        options = parent.options_for(flags.given(args), options, args.preset)
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

    None, too, if --dataset is given, or --train where nothing was trained yet: then the flags
    describe the whole run.
    """
    if not args.run or args.data_path is not None:
        return None
    run = Run(args.run)
    if run.lost_parameters and not (args.train or args.preset):
        raise run.without_parameters()
    return None if args.train and not run.trained else run.options_so_far()


def check_encoding(path):
    """Raises a UserError if a path is not UTF-8, which TensorFlow and params.json need."""
    path = Path(path).resolve()
    try:
        str(path).encode()
    except UnicodeEncodeError:
        name = str(path).encode(errors="backslashreplace").decode()
        raise UserError(f"{name}: the path is not UTF-8; rename it") from None


def named_source(args, saved=None):
    """Returns the source of the corpus, for `load_corpus`, a name, and whether a flag names it.

    The name is that of the corpus, or of the preset that names the corpus.

    Args:
      args: the parsed command line.
      saved: from `saved_options`; --train, --valid and --test then name where its files are now.
    """
    if args.train and args.data_path is not None:
        raise UserError(f"--dataset {args.data_path} and --train both name the data; choose one")
    for flag, names in (("--valid", args.valid), ("--test", args.test)):
        if heavy := [name for name in names or () if files.weighted(name)[1] > 1]:
            raise UserError(f"{flag} {heavy[0]}: only --train takes weights; leave it out")
    named = {"train": args.train, "valid": args.valid, "test": args.test}
    for name in itertools.chain(*filter(None, named.values())):
        files.check_is_stored(name)
        check_encoding(name)
    for name in (args.run or listing.FOLDER, args.data_path or ""):
        check_encoding(name)
    source = {
        split: [str(Path(path).resolve()) for path in paths]
        for split, paths in named.items()
        if paths
    }
    if saved:
        source = saved["corpus"] | source
    if args.reverse:
        source["reverse"] = True
    if args.train:
        source.pop("dataset", None)
        name, known = corpora.file_names(args.train), True
    elif saved:
        name, known = saved["data_path"], True
    else:
        name, known = named_dataset(args, source)
    return source, corpora.full_name(name, source), known


def named_dataset(args, source):
    """Returns the last two of what `named_source` does, if no files are named with --train.

    Adds the dataset to `source`.
    """
    preset, name = preset_name(args), args.data_path
    if name is None and "data_path" in params.PRESETS[preset].values:
        source["dataset"] = params.PRESETS[preset].values["data_path"]
        return preset, True
    source["dataset"] = params.DATA_PATH if name is None else name
    files.check_is_stored(source["dataset"])
    if files.is_table(source["dataset"]):
        source["dataset"] = str(Path(name).resolve())
        return corpora.file_names([name]), True
    return source["dataset"], name is not None


def complete(source, corpus, named):
    """Adds to the source of a corpus what is known once it is loaded, for params.json."""
    if not named:
        source["dataset"] = corpus.name.removesuffix(corpora.REVERSED)
    if languages := corpora.languages(source):
        source["languages"] = languages


def tokenizer_of_bleu(args, options, run, source, corpus):
    """Returns sacreBLEU's tokenizer for a run, decided once: "auto" becomes that of its text.

    Args:
      args: the parsed command line.
      options: of the run.
      run: the folder.Run.
      source, corpus: the source of its corpus, complete, and the Corpus.

    Raises:
      UserError: the tokenizer is not installed.
    """
    name = options["tokenize"]
    if name == bleu_tokenizer.AUTO and args.tokenize is None:
        name = run.saved.get("tokenize", name)
    pairs = corpus.train.take(bleu_tokenizer.SAMPLE_LINES).as_numpy_iterator()
    targets = [target.decode() for _, target in pairs]
    return bleu_tokenizer.resolve(name, targets, corpora.target_language(source))


def resuming_command(args, source, named):
    """Returns the command that resumes a training run on the corpus of `source`."""
    data_flags = [] if named else ["--dataset", source["dataset"]]
    return shlex.join(["python", "run_demo.py", *args.given, *data_flags])


def vocabulary(run, workers, corpus, options, parent=None):
    """Returns the Tokenizer of a run: the chief of the workers learns it from the training text.

    Args:
      parent: the parent.Parent, whose tokenizer is taken instead.

    Raises:
      UserError: it cannot be learned, or this worker does not see what the chief has written.
    """
    if workers.chief and not run.trained:
        arguments = {name: options[name] for name in tokenizing.PARAMETERS}
        learned = None if parent else tokenizing.train_tokenizer(corpus.train, **arguments)
        run.write(run.tokenizer.name, learned or parent.tokenizer)
    workers.barrier()
    if not run.tokenizer.exists():
        raise UserError(
            f"{run.path}: does not contain the chief's files; name a --run on a disk that all "
            "workers see"
        )
    return loading.load_tokenizer(run)


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


def announce(args, run, options, corpus, tokenizer, training, batches):
    """Logs what will be done, and what the user may want to change."""
    if tokenizer.vocab_size < options["vocab_size"] and not args.parent:
        log.warning(
            f"Vocabulary: {tokenizer.vocab_size} entries instead of {options['vocab_size']}, "
            "because the training text is short, or repeats few words."
        )
    if args.parent:
        warn_of_other_letters(args.parent, corpus, tokenizer)
    own_choice = flags.given(args).keys() & {*params.names(params.NETWORK)}
    built_in = corpus.name.removesuffix(corpora.REVERSED) in corpora.BUILT_IN_CORPORA
    if not (args.preset or args.parent or own_choice or built_in or run.trained):
        suggest_preset(len(corpus.train))
    log.info(
        f"Training pairs: {batches.kept}; {dropped(corpus, tokenizer, batches, options)}. "
        f"{batches.steps} batches per epoch, in buckets of "
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
    warmup = options["warmup_steps"]
    if steps < warmup:
        tiny = params.PRESETS["tiny"].values
        epochs = -(-ENOUGH_STEPS * warmup // training.steps_per_epoch(batches))
        advice = " or --preset tiny" * (tiny["warmup_steps"] < warmup)
        log.warning(
            f"Only {plural(steps, 'step')}, fewer than --warmup-steps {warmup}: too few to learn "
            f"much. In a new --run, try --epochs {epochs}{advice}."
        )


def announce_rest(run, corpus, training, batches):
    """Logs what is left to do of a training run, whose newest checkpoint is restored."""
    epochs = training.options["epochs"] - int(training.epoch)
    done = -(-int(training.position) // training.options["accumulate"])  # steps of this epoch
    steps = training.steps_per_epoch(batches) * epochs - done
    work = (
        "no epoch" if training.finished else f"{plural(epochs, 'epoch')}, {plural(steps, 'step')}"
    )
    log.info(
        f"To do: {work}, of a Transformer of {training.transformer.count_params():,} parameters; "
        f"then the test split is scored, {plural(len(corpus.test), 'line')}. To follow the curves: "
        f"tensorboard --logdir {shlex.quote(str(run.logs))}"
    )


def warn_of_other_letters(parent, corpus, tokenizer):
    """Logs which side of the training text has letters that the parent's tokenizer lacks.

    Args:
      parent: the path of the run that --from names.
      corpus: a Corpus.
      tokenizer: the parent's Tokenizer.
    """
    sample = [*evaluation.texts(corpus.train.take(SAMPLE_PAIRS))]
    for side, lines in zip(("source", "target"), sample, strict=True):
        share = tokenizer.share_without_entry(lines)
        if share > MAX_SHARE_WITHOUT_ENTRY:
            log.warning(
                f"The tokenizer of {parent} lacks letters of the {side} text: {share:.0%} of the "
                "tokens are single bytes or unknown, so that sentences are long and hard to learn. "
                "Without --from, the new run has a tokenizer of its own."
            )


def dropped(corpus, tokenizer, batches, options):
    """Returns in words how many training pairs are too long; of many, what length keeps most."""
    share = batches.dropped / len(corpus.train)
    text = f"dropped for more than {options['max_length']} tokens: {batches.dropped} ({share:.1%})"
    if share <= 1 - KEPT_SHARE:
        return text
    length = batching.length_of(corpus.train, tokenizer, KEPT_SHARE)
    return f"{text}, and --max-length {length} would keep {KEPT_SHARE:.0%}"


def suggest_preset(pairs):
    """Logs which preset is for a number of training pairs, if there is one."""
    for name, preset in params.PRESETS.items():
        low, high = preset.pairs
        if low <= pairs < high:
            log.info(
                f"For a corpus of {plural(pairs, 'pair')}, try --preset {name} (its values: "
                "python run_demo.py train --help)."
            )


def suggest_commands(run, sentence):
    """Logs what can be done with a run that is trained."""
    log.info(f"Everything is in {run.path}. Next:")
    this, sentence = f"--run={shlex.quote(str(run.path))}", shlex.quote(sentence)
    if not str(run.path).startswith("-"):
        this = this.replace("=", " ", 1)
    if sentence.lstrip("'").startswith("-"):
        sentence = f"-- {sentence}"
    log.info(f"  python run_demo.py translate {this} {sentence}")
    log.info(f"  python run_demo.py explore {this} {sentence}")
    log.info(f"  python run_demo.py export {this}")
