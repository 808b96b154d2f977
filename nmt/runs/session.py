"""A training session: all that is settled before the first step, and what follows the last one.

Which run it is, and whether it is resumed; its options, corpus, vocabulary, batches and devices;
the run that it begins with; the other machines that train with this one.
"""

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import keras

from nmt import UserError
from nmt.corpus import batches as batching
from nmt.corpus.corpora import Corpus, load_corpus
from nmt.corpus.source import CorpusSource
from nmt.corpus.vocabulary import train_tokenizer
from nmt.decoding.engines.choice import is_installed
from nmt.decoding.model import Model
from nmt.messages import log
from nmt.options import MAX_PAGE_PARAMETERS, Options
from nmt.results import run_report
from nmt.runs import conversion, finished_runs, train_corpus, train_messages, train_options
from nmt.runs import parent as parents
from nmt.runs.claim import claim
from nmt.runs.folder import Run
from nmt.runs.lock import LockedRun
from nmt.runs.parameters import Parameters
from nmt.runs.request import TrainingRequest
from nmt.runs.run_tokenizer import check_size
from nmt.runs.validation import new_epochs
from nmt.runs.weights import choose_weights
from nmt.text.tokenizer import Tokenizer
from nmt.training import averaging, checkpoints, cluster, devices, loop
from nmt.training.epoch_metrics import validation_metrics
from nmt.training.listeners import FinalRecord, Function, Listener, Listeners
from nmt.training.step import FastStep, Trainer, check_story, new_fast_step
from nmt.training.tensorboard import TensorBoard

__all__ = [
    "Session", "Tokenizer", "load_corpus", "prepare", "train_tokenizer",
]  # fmt: skip

KEPT_CHECKPOINTS = 3  # of the newest epochs, at least; more if more are averaged


@dataclasses.dataclass(frozen=True)
class Session:
    """What a training run is made of, before its network."""

    request: TrainingRequest
    run: LockedRun
    options: Options
    corpus: Corpus
    text: train_corpus.TrainingText
    source: CorpusSource  # of the corpus
    devices: devices.Devices
    workers: cluster.Cluster
    parent: parents.Parent | None  # the run to begin with
    listeners: Listeners  # get the records of training
    counters: loop.Counters  # how far it has come
    errors: list[OSError] = dataclasses.field(default_factory=list)  # to report at the end

    @property
    def tokenizer(self) -> Tokenizer:
        """The Tokenizer of the run."""
        return self.text.tokenizer

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to do; the same on all workers."""
        test_sha256, plots = self.text.survey.hashes["test"], self.request.plots
        complete = finished_runs.is_complete(self.run, self.options, test_sha256, plots)
        return bool(self.workers.broadcast(complete))

    def report_complete(self) -> None:
        """Prints the scores that the run has."""
        if self.request.prints:
            finished_runs.report(self.run, self.corpus)

    def batches(self) -> batching.Batches:
        """Returns the Batches to train on, and logs what will be done."""
        run, options, text = self.run, self.options, self.text
        if self.parent:
            self.parent.warn_of_held_out(self.source, self.text.survey.hashes["train"])
        run.remove_cache()  # left by a process that was killed
        replicas = self.devices.strategy.num_replicas_in_sync
        batches = batching.training_batches(
            options, self.corpus, text.tokenizer, replicas, run.cache
        )
        tokens = batches.buckets.tokens / replicas
        devices.check_logits(options, tokens, text.tokenizer.target.vocab_size)
        train_messages.announce(self.request, run, options, self.corpus, self.source, text, batches)
        return batches

    def fast_step(self) -> FastStep:
        """Returns the engine's step, of a new network."""
        vocabularies = self.tokenizer.vocab_size, self.tokenizer.target.vocab_size
        return new_fast_step(self.options, *vocabularies, *self.devices, self.counters.steps)

    @contextlib.contextmanager
    def epochs(
        self, step: Trainer, batches: batching.Batches
    ) -> Iterator[loop.Epochs]:  # fmt: skip
        """Yields the Epochs that are left to train by a step, from the newest checkpoint on."""
        epochs = new_epochs(step, self.options, self.counters, self.devices, self.workers)
        epochs.listeners = self.listeners
        if not self.request.plots:
            epochs.times.picture_seconds = 0  # of the time that a run is estimated to take
        if self.parent:
            self.parent.initialize(step.transformer.trainable_variables)
        text = batching.Text(self.corpus, self.tokenizer, batches)
        with self.keeper(epochs.checkpoint) as keeper, epochs:
            epochs.begin(keeper, text)
            train_messages.announce_training(self.run, self.corpus, epochs, batches)
            yield epochs

    def keeper(self, checkpoint: checkpoints.State) -> checkpoints.Keeper:
        """Returns the Keeper that saves and restores training."""
        kept_epochs = max(KEPT_CHECKPOINTS, self.options.average)
        minutes = self.options.checkpoint_minutes
        return checkpoints.Keeper(
            checkpoint, self.run, kept_epochs, minutes, self.workers,
            self.request.handles_signals,
        )  # fmt: skip

    # ---- After training: what the chief writes, prints and draws ----

    def final_model(self, epochs: loop.Epochs) -> Model:
        """Returns the Model of the run's final weights, which it saves; see averaging.py."""
        model: Model = epochs.validator.model
        variables = model.transformer.trainable_variables
        validation = averaging.average(
            epochs.checkpoint, variables, epochs.keeper, self.options.average,
            lambda: epochs.validator.validate(self.corpus, self.tokenizer, epochs.times),
        )  # fmt: skip
        self.write_validation(validation)
        self.convert(model)  # for CTranslate2, which translates on a CPU
        self.calibrate(model)  # how sure it is of a translation
        return model

    def write_validation(self, validation: dict[str, float]) -> None:
        """Writes the metrics of the final weights to scores.json, and for the listeners."""
        self.listeners.take(FinalRecord(validation_metrics(validation)))
        self.listeners.close()
        if self.workers.chief:
            final = choose_weights(self.run).record
            run_report.write_validation(self.run, self.corpus, final, validation)

    def convert(self, model: Model) -> None:
        """Writes the final weights for CTranslate2, if it is installed and can read them.

        A full disk is no error here: the first translation tries again.
        """
        if not self.workers.chief or not is_installed():
            return
        try:
            weights = choose_weights(self.run)
            conversion.write(self.run, weights, self.tokenizer, model.networks())
        except UserError as error:
            log.warning(f"{error}. The weights are converted for CTranslate2 when it needs them.")

    def calibrate(self, model: Model) -> None:
        """Fits how sure a translation is to the validation split; see results/calibration.py."""
        if not self.workers.chief:
            return
        from nmt.results import calibration, evaluation

        pairs = self.corpus.validation.take(calibration.MAX_PAIRS)
        if len(pairs) < calibration.MIN_PAIRS:
            log.info(
                f"Confidence: the run learns no measure of how sure it is, which takes at least "
                f"{calibration.MIN_PAIRS} validation pairs, and there are {len(pairs)}."
            )
            return
        checkpoint = choose_weights(self.run).record
        try:
            columns = evaluation.texts(pairs)
            calibration.calibrate(self.run, checkpoint, model, self.tokenizer, *columns)
        except UserError as error:
            log.warning(f"{error}. The run has no confidence yet: evaluate --calibrate.")

    def report(
        self, model: Model, scores: dict[str, Any], lines: list[run_report.TranslatedLine]
    ) -> None:
        """Writes and prints scores and translations of the test split.

        That stdout is closed is an error only at the end: the run is finished all the same.
        """
        if not self.workers.chief:
            return
        final = choose_weights(self.run).record
        report = run_report.report if self.request.prints else run_report.write_report
        try:
            report(self.run, self.corpus, model, final, scores, lines)
        except OSError as error:
            self.errors.append(error)

    def draw(
        self, model: Model, lines: list[run_report.TranslatedLine], batches: batching.Batches
    ) -> None:
        """Draws all pictures, and suggests commands."""
        from nmt.results.pictures import RunPictures

        if not self.workers.chief:
            return
        if self.request.plots:
            sentence = lines[0].source
            RunPictures(self.run, model, self.tokenizer, sentence, lambda: batches).draw_all()
        sizes = self.tokenizer.vocab_size, self.tokenizer.target.vocab_size
        explorable = self.options.parameters(*sizes) <= MAX_PAGE_PARAMETERS
        sources = (line.source for line in lines)
        train_messages.suggest_commands(self.run, sources, self.corpus.name, explorable)


class _Start(NamedTuple):
    """What is settled before the corpus is read."""

    run: Run
    choice: train_corpus.CorpusChoice
    options: Options
    parent: parents.Parent | None
    xla: bool
    devices: devices.Devices


@contextlib.contextmanager
def prepare(request: TrainingRequest) -> Iterator[Session]:
    """Settles all of a training run that comes before its network; reserves its folder meanwhile.

    Raises a UserError if the command line, the run folder or the corpus do not fit; or the network
    cannot fit into memory.
    """
    from nmt.results import scores  # noqa: F401  # fails before training if missing

    devices.run_plainly("train", request.plain, request.eager)
    workers = cluster.configured()
    start, corpus = _load_corpus(_choose(request, workers), request, workers)
    source = start.choice.loaded_source(corpus, start.parent)
    command = train_corpus.resuming_command(request, start.choice, corpus)
    with LockedRun(start.run) as run, noted(command):
        options = dataclasses.replace(
            start.options,
            data_path=corpus.name,
            tokenize=train_options.tokenizer_of_bleu(request, start.options, run, source, corpus),
            xla="on" if start.xla else "off",
        )
        train_messages.announce_corpus(request, run, corpus.name, source)

        # One pass over the text, and the vocabulary: learned from it, or that of the parent.
        text = train_corpus.read_text(run, workers, corpus, options, start.parent)
        entries, target_entries = text.tokenizer.vocab_size, text.tokenizer.target.vocab_size
        check_size(options, entries, target_vocab_size=target_entries)
        claimed = _claim(start, run, options, source, text)
        train_options.check_same(claimed.identity, workers)
        train_corpus.write_held_out(run, corpus, source)
        session = Session(
            request, run, options, corpus, text, source, start.devices, workers, start.parent,
            listeners(request), loop.Counters.of(start.devices.strategy),
        )  # fmt: skip
        yield session
        workers.barrier()  # one that ends before the others counts as lost
        for error in session.errors:
            raise error


@contextlib.contextmanager
def noted(command: str | None) -> Iterator[None]:
    """Adds to an exception in the block the command that resumes the run, if there is one."""
    try:
        yield
    except BaseException as error:
        if command:
            error.add_note(command)
        raise


def listeners(request: TrainingRequest) -> Listeners:
    """Returns what gets the records of training: TensorBoard, a function of an application."""
    chosen: list[Listener] = [TensorBoard()]
    if request.on_epoch:
        chosen.append(Function(request.on_epoch))
    return Listeners(chosen)


def _choose(request: TrainingRequest, workers: cluster.Cluster) -> _Start:
    """Returns what flags, the run that is resumed and the machine decide: all but the corpus."""
    resumed = train_options.resumed_parameters(request)
    choice = train_corpus.choose(request, resumed)
    run = train_corpus.run_of(request, choice.name, workers)
    parent = parents.find(request.parent, run, resumed, bool(request.train or request.dataset))
    inherited = parent.options if parent else None
    if request.parent and not parent:  # which is not there any more: what the run has inherited
        inherited = run.parameters.options
    options = train_options.choose(request, resumed, inherited)
    keras.utils.set_random_seed(options.seed)  # before a tokenizer exists: this resets its state
    xla = train_options.uses_xla(options, run.resumable, request.plain)
    saved_parts = run.resumable.parts if run.resumable else None
    on = devices.configure(xla, workers, saved_parts, mirrored=not request.plain)
    if request.plain:
        check_story(options, on.strategy)
    return _Start(run, choice, options, parent, xla, on)


def _load_corpus(
    start: _Start, request: TrainingRequest, workers: cluster.Cluster
) -> tuple[_Start, Corpus]:
    """Returns the corpus, which the chief downloads before the other workers read it, and a start.

    If another one replaces the default, which could not be downloaded, the start is that of its
    run, which may be resumed.
    """
    choice = start.choice
    corpus = workers.in_turn(
        lambda: load_corpus(choice.source, start.options.seed, may_fall_back=not choice.explicit)
    )
    if choice.explicit or corpus.name == choice.name:
        return start, corpus
    start = start._replace(run=train_corpus.run_of(request, corpus.name, workers))
    if saved := start.run.resumable:
        start = start._replace(
            xla=train_options.uses_xla(start.options, saved),
            devices=start.devices._replace(parts=saved.parts),
        )
    return start, corpus


def _claim(
    start: _Start, run: Run, options: Options, source: CorpusSource,
    text: train_corpus.TrainingText,
) -> Parameters:  # fmt: skip
    """Returns what identifies the run, which must be the same in a resumed one; see claim.py."""
    hashes = text.survey.hashes | {"tokenizer": text.tokenizer.sha256}
    origin = start.parent.origin if start.parent else None
    imported = start.parent.imported if start.parent else None
    parts, spells_numbers = start.devices.parts, text.tokenizer.spells_numbers
    return claim(run, options, source, hashes, parts, origin, spells_numbers, imported)
