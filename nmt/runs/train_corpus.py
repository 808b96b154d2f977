"""The corpus that the flags of a training run name, and its vocabulary."""

import dataclasses
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nmt import UserError
from nmt.corpus import corpora, files
from nmt.corpus.source import REVERSED, CorpusSource, file_names
from nmt.corpus.survey import Survey, survey
from nmt.neighbors import params
from nmt.options import Options
from nmt.runs import listing, run_tokenizer
from nmt.runs.folder import Run
from nmt.runs.parameters import Parameters
from nmt.runs.parent import Parent
from nmt.runs.request import TrainingRequest
from nmt.text import languages
from nmt.text import tokenizer as tokenizing
from nmt.text.tokenizer import LineSample, NumberCount, Tokenizer
from nmt.training import cluster
from nmt.training.cluster import Cluster
from nmt.training.run_folder import HELD_OUT_FILES


class CorpusChoice(NamedTuple):
    """The corpus to train on, before it is loaded."""

    source: CorpusSource
    name: str  # of the corpus, or of the preset that names it
    explicit: bool  # whether a flag names it: it is then never replaced by another

    def loaded_source(self, corpus: corpora.Corpus, parent: Parent | None = None) -> CorpusSource:
        """Returns the source with what is known once the Corpus is loaded, for params.json.

        Languages that neither flags nor files name are those of the `parent`.
        """
        source = self.source
        if not self.explicit:
            dataset = corpus.name.removesuffix(REVERSED)
            source = dataclasses.replace(source, dataset=dataset)
        source = source.with_known_languages()
        if parent and not source.languages:
            return dataclasses.replace(source, languages=parent.run.parameters.corpus.languages)
        return source


def choose(request: TrainingRequest, resumed: Parameters | None = None) -> CorpusChoice:
    """Returns the corpus that the flags, the resumed run or the preset name.

    Args:
      resumed: the parameters of the run; --train, --valid and --test then name where its files are
        now.
    """
    _check(request)
    if resumed:
        source, name, explicit = resumed.corpus, resumed.options.data_path, True
    elif request.train:
        source, name, explicit = CorpusSource(train=_resolved(request.train)), "", True
    else:
        source, name, explicit = _choose_dataset(request)
    if request.train:
        name = file_names(request.train)
    source = source.with_files(
        _resolved(request.train), _resolved(request.valid), _resolved(request.test)
    )
    reverse = request.reverse or source.reverse
    codes = request.languages or source.languages
    if request.languages and reverse:  # they are those of the files
        codes = languages.as_pair(codes)[::-1]
    source = dataclasses.replace(
        source,
        reverse=reverse,
        languages=codes,
        columns=request.columns or source.columns,
        sheet=request.sheet or source.sheet,
        header=source.header and request.header,
    )
    return CorpusChoice(source, source.full_name(name), explicit)


def _resolved(paths: Sequence[str]) -> tuple[str, ...]:
    """Returns the absolute paths of the files that a flag names."""
    return tuple(str(Path(path).resolve()) for path in paths)


def run_of(request: TrainingRequest, corpus_name: str, workers: Cluster) -> Run:
    """Returns the Run that --run names, or the default one of a corpus.

    Args:
      corpus_name: the name of the corpus, or of the preset that names it.
      workers: the Cluster; all workers but the chief write to folders of their own.
    """
    worker_folder = None if workers.chief else cluster.temporary_folder()
    return Run(request.run or listing.default(corpus_name), worker_folder)


def _check(request: TrainingRequest) -> None:
    """Raises a UserError if flags of the data contradict each other, or name what is not there."""
    if request.train and request.dataset is not None:
        raise UserError(f"--dataset {request.dataset} and --train both name the data; choose one")
    for flag, names in (("--valid", request.valid), ("--test", request.test)):
        if heavy := [name for name in names if files.weighted(name).weight > 1]:
            raise UserError(f"{flag} {heavy[0]}: only --train takes weights; leave it out")
    files.check_sheet(request.sheet, [*request.files, request.dataset or ""])
    for name in request.files:
        files.check_is_stored(name)
        check_encoding(name)
    for path in (request.run or listing.FOLDER, request.dataset or ""):
        check_encoding(path)


def check_encoding(path: str | Path) -> None:
    """Raises a UserError if a path is not UTF-8, which TensorFlow and params.json need."""
    path = Path(path).resolve()
    try:
        str(path).encode()
    except UnicodeEncodeError:
        name = str(path).encode(errors="backslashreplace").decode()
        raise UserError(f"{name}: the path is not UTF-8; rename it") from None


def _choose_dataset(request: TrainingRequest) -> CorpusChoice:
    """Returns the data set that --dataset or the preset names, or else the default one."""
    if request.dataset is None:
        name = request.preset_name
        if dataset := params.PRESETS[name].values.get("data_path"):
            return CorpusChoice(CorpusSource(dataset=dataset), name, explicit=True)
        default = CorpusSource(dataset=params.DATA_PATH)
        return CorpusChoice(default, params.DATA_PATH, explicit=False)
    path = name = request.dataset
    files.check_is_stored(path)
    if files.is_table(path):
        path, name = str(Path(path).resolve()), file_names([path])
    return CorpusChoice(CorpusSource(dataset=path), name, explicit=True)


def resuming_command(
    request: TrainingRequest, choice: CorpusChoice, corpus: corpora.Corpus
) -> str | None:
    """Returns the command that resumes a run on a loaded Corpus; None if none was typed."""
    if not request.command:
        return None
    source = choice.loaded_source(corpus)
    data_flags = [] if choice.explicit else ["--dataset", str(source.dataset)]
    return shlex.join([*request.command, *data_flags])


def write_held_out(run: Run, corpus: corpora.Corpus, source: CorpusSource) -> None:
    """Writes the pairs that are held out of the training files into the run folder.

    Their sides are in the order of these files.

    An earlier start that trained nothing may have left those of other text there, which go, unless
    this run is to read them.
    """
    splits = {"valid": corpus.validation, "test": corpus.test}
    named_files = {"valid": source.valid, "test": source.test}
    for split, name in HELD_OUT_FILES.items():
        if split not in source.held_out:
            path = run.worker_folder / name
            if path.resolve() not in [Path(named).resolve() for named in named_files[split]]:
                path.unlink(missing_ok=True)
        elif not (run.trained and (run.path / name).exists()):
            order = -1 if source.reverse else 1  # of the files, not of the corpus
            lines = [
                corpora.as_line([side.replace("\t", " ") for side in pair[::order]])
                for pair in splits[split]  # a file of one side may hold tabs
            ]
            run.write(name, b"".join(lines))


class TrainingText(NamedTuple):
    """What one pass over the text of a corpus gives."""

    survey: Survey
    tokenizer: Tokenizer


def read_text(
    run: Run,
    workers: Cluster,
    corpus: corpora.Corpus,
    options: Options,
    parent: Parent | None = None,
) -> TrainingText:
    """Reads the text once; the chief of the workers learns the vocabulary of a new run from it.

    Args:
      parent: the Parent, whose vocabulary is taken instead, with more symbols if there are some.

    Raises a UserError if it cannot be learned, or this worker does not see what the chief has
    written.
    """
    count = None
    if not run.resumable:
        tokenizing.symbol_entries(options.symbols)  # a wrong one is reported before reading
        count = LineSample() if workers.chief and not (parent or run.trained) else NumberCount()
    text_survey = survey(corpus, count)
    imported = parent.imported if parent else None
    if count is not None and workers.chief and not run.trained:
        run.write(run.tokenizer.name, _vocabulary(count, options, parent))
        if parent and imported and imported.has_two_models:
            run.write(run.target_tokenizer.name, parent.tokenizer.target.model)
    workers.barrier()
    if not (workers.chief or run.tokenizer.exists()):
        raise UserError(
            f"{run.path}: does not contain the chief's files; name a --run on a disk that all "
            "workers see"
        )
    spells_numbers = count.spells_numbers if count else None
    tokenizer = run_tokenizer.load_tokenizer(run, spells_numbers, imported)
    return TrainingText(text_survey, tokenizer)


def _vocabulary(count: NumberCount, options: Options, parent: Parent | None) -> bytes:
    """Returns the vocabulary of a new run: learned from a LineSample, or that of the Parent."""
    if parent:
        symbols = tokenizing.symbol_entries(options.symbols)
        if symbols and parent.imported:
            raise UserError(
                "the vocabulary of an imported model takes no symbols; leave --symbols out"
            )
        return tokenizing.with_symbols(parent.tokenizer.model, symbols)
    assert isinstance(count, LineSample)
    arguments = {name: getattr(options, name) for name in tokenizing.PARAMETERS}
    return tokenizing.learn_vocabulary(count, **arguments)
