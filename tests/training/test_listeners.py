"""What must hold of listeners: all get the records of training, and none changes the run."""

import sys
from types import SimpleNamespace

import pytest
from helpers import call, sentences, write_tsv
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams.metadata import SESSION_START_INFO_TAG
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

import nmt
from nmt import UserError
from nmt.training.listeners import (
    EpochRecord,
    FinalRecord,
    Function,
    Listeners,
    RunRecord,
    StepRecord,
    curves,
)
from nmt.training.run_folder import RunFolder
from nmt.training.tensorboard import TensorBoard, drop_later_events
from nmt.training.trackers import TRACKERS, tracker

STEP = StepRecord(20, 2.0, 0.5, 1.0, 1000.0, 0.1)
ROW = dict(epoch=1, loss=2.0, accuracy=0.5, val_loss=3.0, val_accuracy=0.25)
EPOCH = EpochRecord(30, ROW, [("um|", "one", "two")])
FINAL = FinalRecord(dict(loss=2.5, accuracy=0.375))


class Module:
    """Stands in for the module of a tracker: it notes what is called."""

    def __init__(self, name, runs=(), fails_at=""):
        self.__name__, self.calls, self.runs, self.fails_at = name, [], runs, fails_at

    def __getattr__(self, name):
        def called(*args, **options):
            print("for the terminal")
            self.calls.append((name, args, options))
            if name == self.fails_at:
                raise ConnectionError("no route to host")
            return self.runs

        return called

    def of(self, name):
        """Returns the arguments of all calls of a function."""
        return [(args, options) for called, args, options in self.calls if called == name]


@pytest.mark.parametrize("name", TRACKERS)
def test_a_tracker_gets_options_and_curves_and_is_closed(name, tmp_path, capsys):
    module = Module(name)
    listener = tracker(name, module)
    run = RunRecord(RunFolder(tmp_path / "a"), {"dff": 32}, 0)
    with Listeners([listener]) as listeners:
        listeners.begin(run)
        for record in (STEP, EPOCH, FINAL):
            listeners.take(record)
        listeners.close()
        listeners.take(STEP)  # which is too late
    assert capsys.readouterr().out == ""  # stdout is for results
    key = RunFolder(tmp_path / "a").key()
    if name == "mlflow":
        assert module.of("start_run") == [((), dict(run_name="a", tags={"run_key": key}))]
        assert module.of("log_params") == [(({"dff": 32},), {})]
        assert len(module.of("end_run")) == 1
    else:
        ((_, options),) = module.of("init")
        assert options["config"] == {"dff": 32}
        assert options["resume"] == "allow"
        assert key in (options.get("id"), options["name"].removeprefix("a-"))
        assert len(module.of("finish")) == 1
    sent = [(args[0], options["step"]) for args, options in
            module.of("log_metrics" if name == "mlflow" else "log")]  # fmt: skip
    assert sent == [(curves(STEP), 20), (curves(EPOCH), 30), (curves(FINAL), 30)]
    assert sent[0][0]["training/learning_rate"] == 0.1
    assert sent[1][0] == {"validation/loss": 3.0, "validation/accuracy": 0.25}
    assert sent[2][0] == {"final/loss": 2.5, "final/accuracy": 0.375}


def test_a_resumed_run_is_continued_at_the_tracker(tmp_path):
    module = Module("mlflow", [SimpleNamespace(info=SimpleNamespace(run_id="7"))])
    tracker("mlflow", module).begin(RunRecord(RunFolder(tmp_path), {"epochs": 9}, 40))
    assert module.of("start_run") == [((), dict(run_id="7"))]
    assert not module.of("log_params")  # which cannot be changed


def test_a_tracker_that_fails_ends_a_run_only_at_its_beginning(tmp_path, capsys):
    run = RunRecord(RunFolder(tmp_path), {}, 0)
    with pytest.raises(UserError, match="--tracker wandb: no route to host"):
        tracker("wandb", Module("wandb", fails_at="init")).begin(run)
    module = Module("wandb", fails_at="log")
    listener = tracker("wandb", module)
    listener.begin(run)
    for record in (STEP, EPOCH):
        listener.take(record)
    listener.close()
    assert len(module.of("log")) == 1
    assert "--tracker wandb: no route to host. It gets nothing more" in capsys.readouterr().err


def test_a_tracker_that_is_missing_is_named_with_its_extra(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)  # as where it is not installed
    tsv = write_tsv(tmp_path / "a.tsv", sentences(150))
    assert call("--dataset", tsv, "--run", tmp_path / "run", "--tracker", "wandb") == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert '--tracker wandb needs it; install: pip install -e ".[wandb]"' in said


def test_tensorboard_gets_the_options_once_and_the_final_result(tmp_path):
    folder = RunFolder(tmp_path)
    for step in (0, 30):  # begun, and resumed
        drop_later_events(folder.logs, step if step else -1)
        listener = TensorBoard()
        listener.begin(RunRecord(folder, {"dff": 32, "schedule": "cosine"}, step))
        for record in (STEP, EPOCH) if not step else (FINAL,):
            listener.take(record)
        listener.close()
    events = EventAccumulator(str(folder.logs)).Reload()
    content = events.SummaryMetadata(SESSION_START_INFO_TAG).plugin_data.content
    options = HParamsPluginData.FromString(content).session_start_info.hparams
    assert options["dff"].number_value == 32
    assert options["schedule"].string_value == "cosine"
    (final,) = events.Tensors("final/loss")
    assert final.step == 30
    assert {"training/loss", "validation/loss", "translations"} <= {*events.Tags()["tensors"]}
    files = [path.read_bytes() for path in folder.logs.glob("events*")]
    assert sum(data.count(SESSION_START_INFO_TAG.encode()) for data in files) == 1


def test_what_a_function_raises_ends_training_with_the_epoch_saved(tmp_path):
    rows = []

    def stop(row):
        rows.append(row)
        if row["epoch"] == 1:
            raise ArithmeticError("pruned")

    module = Module("wandb")
    listeners = Listeners([tracker("wandb", module), Function(stop)])
    listeners.begin(RunRecord(RunFolder(tmp_path / "a"), {}, 0))
    with pytest.raises(ArithmeticError, match="pruned"), listeners:
        listeners.take(EPOCH)
    assert module.of("finish")
    corpus = write_tsv(tmp_path / "numbers.tsv", sentences(300))
    sizes = dict(num_layers=1, d_model=16, dff=32, num_heads=2, vocab_size=320, epochs=2)
    arguments = dict(dataset=corpus, plots=False, on_epoch=stop, **sizes)
    with pytest.raises(ArithmeticError, match="pruned") as kept:  # as a notebook keeps the last one
        nmt.train(tmp_path / "run", **arguments)
    trained = nmt.train(tmp_path / "run", **arguments)
    assert kept.tb
    assert [row["epoch"] for row in rows] == [1, 1, 2]
    assert trained.history == rows[1:]
